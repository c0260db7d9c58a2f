"""A plan for reading a file of output: where its header is, what its columns hold, and how rows become days.

A plan is plain data, so that a site can keep it as a profile for the next file of the same shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from crewlearn.advisor.files.cells import DateOrder, Decimal, date_order, decimal_mark
from crewlearn.problem.errors import InvalidInput, one_of, real, whole

MeasureKind = Literal["sum", "count", "mean", "ratio", "product"]
MEASURES: tuple[MeasureKind, ...] = ("sum", "count", "mean", "ratio", "product")
ROLES = (
    *("date", "time", "period", "worker_id", "name", "first", "last", "hours", "start", "end", "break"),
    *("attendance", "shift"),
)
_LONGEST = 500
_MOST_ENTRIES = 50


@dataclass(frozen=True)
class Measure:
    """What of a day's rows is the output.

    - `sum`: column `of` added up;
    - `count`: the number of rows;
    - `mean`: the mean of `of`, weighted by column `per` if there is one;
    - `ratio`: the sum of `of` divided by the sum of `per`;
    - `product`: `of` times `per`, added up.

    The result is multiplied by `scale`. Durations in `of` are read in units of `clock` seconds.
    """

    kind: MeasureKind = "sum"
    of: str = ""
    per: str = ""
    scale: float = 1.0
    clock: float = 1.0

    @property
    def is_level(self) -> bool:
        """Whether it is a level, such as a percentage or a rate, that is not added up over a day."""
        return self.kind in ("mean", "ratio")


@dataclass(frozen=True)
class ReadingPlan:
    """How a file is read.

    Parameters
    ----------
    columns
        The header of each role that the file has, by role.
    measure
        What is the output.
    sheet
        The sheet of a workbook; empty for text.
    shape
        How the table is turned into rows, such as `days across`; empty if it has rows already.
    header_line
        The line of the header in the file the plan was made for; in others the header is looked for.
    categories
        Headers of areas, tasks and the like, which may name totals.
    where
        Only rows with one of these values are used, by header.
    decimal, dates
        The decimal mark and the order of dates; None where each file decides.
    cutoff
        The hour before which a moment belongs to the day before; None for the site's own.
    hours_unit
        How many seconds a number in the hours column stands for.
    shifts
        The shift that each name stands for.
    carried
        Whether a blank worker or date stands for the one above.
    id_form
        How a worker's cell holds id and name: `id`, `id name`, `name id`, or `name` if there is no id.
    newcomers
        Whether people not known yet are enrolled.
    overtime, team_from_output
        Whether days that are not working days are taken in, and whether the team follows from the output.
    """

    columns: Mapping[str, str]
    measure: Measure = field(default_factory=Measure)
    sheet: str = ""
    shape: str = ""
    header_line: int = 1
    categories: tuple[str, ...] = ()
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    decimal: Decimal | None = None
    dates: DateOrder | None = None
    cutoff: int | None = None
    hours_unit: float = 3600.0
    shifts: Mapping[str, int] = field(default_factory=dict)
    carried: bool = False
    id_form: str = "id"
    newcomers: bool = True
    overtime: bool = True
    team_from_output: bool = False

    @property
    def headers(self) -> tuple[str, ...]:
        """The headers that a file must have to be read by this plan."""
        wanted = (*self.columns.values(), self.measure.of, self.measure.per, *(header for header, _ in self.where))
        return tuple(dict.fromkeys(header for header in wanted if header))

    def to_json(self) -> dict[str, Any]:
        """Describe the plan as plain data; fields at their defaults are left out."""
        usual = ReadingPlan({})
        plain = {
            name: value
            for name, value in vars(self).items()
            if name not in ("columns", "measure") and value != getattr(usual, name)
        }
        if "where" in plain:
            plain["where"] = [[header, list(values)] for header, values in self.where]
        if "categories" in plain:
            plain["categories"] = list(self.categories)
        if "shifts" in plain:
            plain["shifts"] = dict(self.shifts)
        return {"columns": dict(self.columns), "measure": dict(vars(self.measure)), **plain}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ReadingPlan":
        """Rebuild what `to_json` described; raise if it is not such a description."""
        try:
            return cls._from_json(data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(
                "profile", "a reading", f"cannot be read ({error!r}); import a file with `yes`"
            ) from error

    @classmethod
    def _from_json(cls, data: Mapping[str, Any]) -> "ReadingPlan":
        plain = dict(data)
        columns = {one_of("column", role, ROLES): _text(header) for role, header in plain.pop("columns").items()}
        measured = dict(plain.pop("measure"))
        wanted = one_of("measure", measured.pop("kind"), MEASURES)
        kind = next(name for name in MEASURES if name == wanted)
        measure = Measure(
            kind,
            _text(measured.pop("of", "")),
            _text(measured.pop("per", "")),
            real("scale", float(measured.pop("scale", 1.0)), 0.0, 1e6, above=True),
            real("clock", float(measured.pop("clock", 1.0)), 0.0, 1e6, above=True),
        )
        if measured:
            raise TypeError(f"unknown: {sorted(measured)}")
        where = tuple((_text(header), tuple(map(_text, values))) for header, values in plain.pop("where", ()))
        plan = cls(
            columns,
            measure,
            sheet=_text(plain.pop("sheet", "")),
            shape=_text(plain.pop("shape", "")),
            header_line=whole("header_line", plain.pop("header_line", 1), 1),
            categories=tuple(map(_text, plain.pop("categories", ()))),
            where=where,
            decimal=decimal_mark(plain.pop("decimal", None)),
            dates=date_order(plain.pop("dates", None)),
            cutoff=None if (cutoff := plain.pop("cutoff", None)) is None else whole("cutoff", cutoff, 0, 23),
            hours_unit=real("hours_unit", float(plain.pop("hours_unit", 3600.0)), 0.0, 1e6, above=True),
            shifts={_text(name): whole("shift", number, 1, 24) for name, number in plain.pop("shifts", {}).items()},
            id_form=one_of("id_form", plain.pop("id_form", "id"), ("id", "id name", "name id", "name")),
        )
        plan = replace(
            plan,
            carried=_flag(plain.pop("carried", False)),
            newcomers=_flag(plain.pop("newcomers", True)),
            overtime=_flag(plain.pop("overtime", True)),
            team_from_output=_flag(plain.pop("team_from_output", False)),
        )
        if plain:
            raise TypeError(f"unknown: {sorted(plain)}")
        if len(columns) + len(where) + len(plan.categories) + len(plan.shifts) > _MOST_ENTRIES:
            raise TypeError("it has too many entries")
        return plan


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise TypeError(f"{str(value)[:40]!r} is not a short text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value
