"""What a file's columns hold, by their headers and by the cells below."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from crewlearn.advisor.files.cells import attendance_in, key_of
from crewlearn.advisor.files.detection.layout import Layout, column_in
from crewlearn.advisor.files.detection.row_reader import shift_number
from crewlearn.advisor.files.detection.site_view import SiteView
from crewlearn.advisor.files.detection.words.names import KnownPeople, id_form, looks_like_name
from crewlearn.advisor.files.detection.words.values import duration_of, is_number, moment_of, time_of_day
from crewlearn.advisor.files.detection.words.vocabulary import MEASURED, roles_of, words_of

_SURE = 0.5
_MOST_CATEGORIES = 40
_MOST_CELLS = 50_000
"""Cells that tell what the columns hold: all of the sample, if there are no more than 100 columns."""


@dataclass(frozen=True)
class ColumnFacts:
    """A column of a file: its position and header, the first cells that are not blank, and the number of rows."""

    at: int
    header: str
    cells: Sequence[str] = field(repr=False)
    rows: int

    @cached_property
    def fits(self) -> Mapping[str, float]:
        """How well the header fits each role."""
        return roles_of(self.header)

    def fit(self, *roles: str) -> float:
        """Return how well the header fits the best of these roles."""
        return max((self.fits.get(role, 0.0) for role in roles), default=0.0)

    def _share(self, hits: int) -> float:
        return hits / len(self.cells) if self.cells else 0.0

    @cached_property
    def filled(self) -> float:
        """The share of rows that have a cell."""
        return len(self.cells) / self.rows if self.rows else 0.0

    @cached_property
    def numbers(self) -> float:
        """The share of cells that are numbers."""
        return self._share(sum(map(is_number, self.cells)))

    @cached_property
    def durations(self) -> float:
        """The share of cells that are durations such as 7:30."""
        return self._share(sum(duration_of(cell) is not None for cell in self.cells))

    @cached_property
    def dates(self) -> float:
        """The share of cells that are dates; bare numbers count only under a header that says so."""
        bare = self.fit("date") >= _SURE
        return self._share(
            sum(
                (bare or not cell.strip().replace(".", "").isdigit() or cell.count(".") == 2)
                and (moment_of(cell, "day-first") or moment_of(cell, "month-first")) is not None
                for cell in self.cells
            )
        )

    @cached_property
    def clocks(self) -> float:
        """The share of cells that are times of day."""
        return self._share(sum(time_of_day(cell) is not None for cell in self.cells))

    @cached_property
    def people(self) -> float:
        """The share of cells that look like names of people."""
        return self._share(sum(map(looks_like_name, self.cells)))

    @cached_property
    def distinct(self) -> int:
        """The number of different cells."""
        return len({cell.strip() for cell in self.cells})

    def known_ids(self, people: KnownPeople) -> float:
        """Return the share of cells that are ids of people known."""
        return self._share(sum(map(people.has_id, self.cells))) if people.names else 0.0

    def known_names(self, people: KnownPeople) -> float:
        """Return the share of cells that are names of people known."""
        return self._share(sum(map(people.has_name, self.cells))) if people.names else 0.0


@dataclass(frozen=True)
class Roles:
    """The columns found, by role, how a worker's cell is written, the categories, and the columns left over."""

    columns: Mapping[str, ColumnFacts]
    id_form: str
    categories: tuple[ColumnFacts, ...]
    rest: tuple[ColumnFacts, ...]


def facts_of(layout: Layout) -> tuple[ColumnFacts, ...]:
    """Return what can be told of each column; of a wide table, by fewer of its first rows, spread over them."""
    rows = layout.rows[:: max(1, len(layout.rows) * len(layout.headers) // _MOST_CELLS)]
    return tuple(ColumnFacts(at, header, column_in(rows, at), len(rows)) for at, header in enumerate(layout.headers))


def find_roles(layout: Layout, site: SiteView, mapping: Mapping[str, str]) -> Roles:
    """Return what the columns hold; `mapping` names the header of some of them, or that there is none."""
    free = list(facts_of(layout))
    by_key = {key_of(column.header): column for column in reversed(free)}
    found: dict[str, ColumnFacts] = {}

    def take(role: str, column: ColumnFacts | None) -> None:
        if column is not None and role not in found and mapping.get(role) != "":
            found[role] = column
            free.remove(column)

    for role, header in mapping.items():
        if key_of(header) in by_key and by_key[key_of(header)] in free:
            take(role, by_key[key_of(header)])
    take("date", _best(free, _date_score))
    if "date" not in found:
        take(
            "period", _best(free, lambda column: (1.0 if words_of(column.header) in _PERIODS else 0.0) * column.numbers)
        )
    _take_people(free, take, found, site.people)
    clocked = "date" in found
    take("start", _best(free, lambda column: _clock_score(column, "start")) if clocked else None)
    take("end", _best(free, lambda column: _clock_score(column, "end")) if "start" in found else None)
    if clocked and "start" not in found:
        take("time", _best(free, lambda column: _clock_score(column, "time")))
    take("hours", _best(free, _hours_score))
    if "end" in found and "hours" not in found:
        take("break", _best(free, lambda column: column.fit("break") * (column.numbers + column.durations)))
    take("attendance", _best(free, _attendance_score))
    if site.calendar.shifts_per_day > 1:
        take("shift", _best(free, _shift_score))
    form = id_form(list(found["worker_id"].cells[:200])) if "worker_id" in found else "name"
    if "worker_id" in found and form == "name":
        form = "id"  # a code of letters, such as a login
    categories = tuple(
        column
        for column in free
        if max(column.numbers, column.dates, column.durations) < 0.5
        and len({cell.strip() for cell in column_in(layout.rows, column.at)}) <= _MOST_CATEGORIES
    )
    return Roles(found, form, categories, tuple(free))


_PERIODS = ("period", "period no", "period number")


def _best(columns: Sequence[ColumnFacts], score: Callable[[ColumnFacts], float]) -> ColumnFacts | None:
    """Return the column with the best score of at least one half, the leftmost if several have it."""
    best, best_score = None, _SURE - 1e-9
    for column in columns:
        if column.cells and (value := score(column)) > best_score + 1e-9:
            best, best_score = column, value
    return best


def _date_score(column: ColumnFacts) -> float:
    if column.dates < 0.8:
        return 0.0
    named = column.fit("date", "start")
    other = 0.4 if column.fit("end", "other") > named else 0.0
    return 0.5 + named + 0.3 * column.filled - other


def _clock_score(column: ColumnFacts, role: str) -> float:
    share = max(column.clocks, column.dates if role != "time" else 0.0)
    fit = column.fit(role)
    return fit if share >= 0.8 and fit >= column.fit("handle", "total_handle", "hours", "break", "other") else 0.0


def _hours_score(column: ColumnFacts) -> float:
    fit = column.fit("hours")
    if max(column.numbers, column.durations) < 0.8 or fit < max(
        column.fit("earned", "other", "rate", "handle", "total_handle"), _SURE
    ):
        return 0.0
    return fit + 0.1 * column.filled


def _attendance_score(column: ColumnFacts) -> float:
    words = sum(bool(attendance_in(cell)) for cell in column.cells) / max(1, len(column.cells))
    return column.fit("attendance") if words >= 0.9 else 0.0


def _shift_score(column: ColumnFacts) -> float:
    told = sum(shift_number(cell) is not None for cell in column.cells) / max(1, len(column.cells))
    return column.fit("shift") if told >= 0.9 else 0.0


def _take_people(
    free: Sequence[ColumnFacts],
    take: Callable[[str, ColumnFacts | None], None],
    found: Mapping[str, ColumnFacts],
    people: KnownPeople,
) -> None:
    """Find the columns of ids and names."""
    first = _best(free, lambda column: column.fit("first") if column.fit("first") >= column.fit("last") else 0.0)
    last = _best([column for column in free if column is not first], lambda column: column.fit("last"))
    pair = first is not None and last is not None
    usable = [column for column in free if column.dates < 0.5 and not (pair and column in (first, last))]
    texts = [column for column in usable if column.durations < 0.5]

    def id_score(column: ColumnFacts) -> float:
        named = column.fit("worker")
        if not named and column.fit(*MEASURED, "hours", "category", "other") >= _SURE:
            return 0.0
        if column.people >= 0.5 and id_form(list(column.cells[:200])) == "name" and not column.known_ids(people):
            return 0.0
        fraction = any("." in cell or "," in cell for cell in column.cells[:50]) and column.numbers > 0.5
        return named + 1.5 * column.known_ids(people) - (0.6 if fraction else 0.0) - _all_different(column)

    def name_score(column: ColumnFacts) -> float:
        if column.numbers >= 0.5 or (column.fit("category") > column.fit("name") and column.people < 0.9):
            return 0.0
        named = column.fit("name") if column.people >= 0.3 or column.fit("name") == 1.0 else 0.0
        return named + 0.5 * column.people + column.known_names(people)

    take("worker_id", _best(texts, id_score))
    rest = [column for column in texts if column is not found.get("worker_id")]
    named = _best(rest, lambda column: name_score(column) if column.fit("name", "worker") >= _SURE else 0.0)
    if pair and named is None:
        take("first", first)
        take("last", last)
        return
    if named is None and "worker_id" not in found:
        named = _best(rest, lambda column: column.people if column.people >= 0.9 else 0.0)
    if named is None and "worker_id" not in found:
        codes = [column for column in rest if column.numbers < 0.5 and column.fit("category", "other") < _SURE]
        take("worker_id", _best(codes, lambda column: 0.6 if column.distinct >= 2 else 0.0))
        return
    take("name", named)


def _all_different(column: ColumnFacts) -> float:
    """Return how much speaks against an id whose every cell differs, as the numbers of transactions do."""
    return 0.35 if len(column.cells) >= 20 and column.distinct > 0.95 * len(column.cells) else 0.0
