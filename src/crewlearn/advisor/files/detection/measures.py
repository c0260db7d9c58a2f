"""What of a file is the output: the candidates among its columns, and which of them fits the site's range."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.detection.plan import Measure
from crewlearn.advisor.files.detection.roles import ColumnFacts, Roles
from crewlearn.advisor.files.detection.site_view import SiteView
from crewlearn.advisor.files.detection.words.vocabulary import MEASURED, words_of

_SURE = 0.5
_WORDS = {"units": 3.0, "counts": 2.6, "calls": 2.0, "percent": 2.7, "rate": 2.3, "handle": 2.0, "errors": 1.6}
_MINUTES, _SECONDS = (
    ("min", "mins", "minutes", "minuten", "minute"),
    ("sec", "secs", "seconds", "sekunden", "s", "secondes"),
)


@dataclass(frozen=True)
class Candidate:
    """A way to take the output from a file, with how well its words fit."""

    measure: Measure
    words: float


def hours_unit(column: ColumnFacts | None, numbers: Sequence[float]) -> float:
    """Return how many seconds a number in the hours column stands for, by its header and its size."""
    if column is None:
        return 3600.0
    words = words_of(column.header).split()
    if any(word in _MINUTES or word.endswith("minuten") for word in words):
        return 60.0
    if any(word in _SECONDS for word in words):
        return 1.0
    usual = median(numbers) if numbers else 0.0
    return 3600.0 if usual <= 24.0 else 60.0 if usual <= 1440.0 else 1.0


def candidates(roles: Roles, site: SiteView, mapped: bool) -> list[Candidate]:
    """Return what may be the output; with `mapped`, only the column that the caller named."""
    named = roles.columns.get("units")
    if mapped and named is not None:
        return _of_column(named, kind_of(named), 9.0, roles, site)
    columns = [column for column in roles.rest if max(column.numbers, column.durations) >= 0.6]
    by_kind: dict[str, list[ColumnFacts]] = {}
    for column in columns:
        by_kind.setdefault(kind_of(column), []).append(column)
    found: list[Candidate] = []
    for kind, listed in by_kind.items():
        for column in listed:
            found += _of_column(column, kind, _weight(column, kind, site), roles, site)
    found += _of_two(by_kind, roles)
    if "date" in roles.columns and (_is_log(roles) or not found):
        found.append(Candidate(Measure("count"), 0.9))
    return found


def kind_of(column: ColumnFacts) -> str:
    """Return the role that a number's header fits best, empty if it fits none of those of output."""
    others = ("standard", "earned", "per_piece", "other", "hours", "worker", "category")
    best, fit = "", 0.0
    for role in (*MEASURED, *others):
        value = column.fits.get(role, 0.0)
        if "%" in words_of(column.header) and role == "percent":
            value += 0.3
        if value > fit + 1e-9:
            best, fit = role, value
    return best if fit >= _SURE - 0.05 else ""


def _weight(column: ColumnFacts, kind: str, site: SiteView) -> float:
    """Return how much the words speak for a column of its kind, at this site."""
    lower = site.units.lower_is_better
    weight = _WORDS.get(kind, 0.3 if kind in ("", "standard") else 0.0)
    if kind in ("handle", "errors") and lower:
        weight += 1.6
    elif kind in ("units", "counts", "calls", "percent", "rate") and lower:
        weight -= 1.2
    return weight * (0.6 + 0.4 * column.fit(kind)) - (0.6 if column.filled < 0.3 else 0.0)


def _of_column(column: ColumnFacts, kind: str, words: float, roles: Roles, site: SiteView) -> list[Candidate]:
    """Return the ways to take the output from one column."""
    if words <= 0.0 or kind in ("earned", "per_piece", "other", "hours", "worker", "category", "total_handle"):
        return [] if words < 9.0 else [Candidate(Measure("sum", column.header), words)]
    hours = roles.columns.get("hours")
    if kind == "percent":
        weight = _first_of(roles, "standard") or hours
        per = weight.header if weight is not None else ""
        return [
            Candidate(Measure("mean", column.header, per, scale), words - penalty)
            for scale, penalty in ((1.0, 0.0), (100.0, 0.4), (0.01, 0.4))
        ]
    if kind == "rate":
        return [Candidate(Measure("mean", column.header, hours.header if hours is not None else ""), words)]
    if kind == "handle":
        calls = _first_of(roles, "calls")
        per = calls.header if calls is not None else ""
        clocks = (1.0, 60.0) if column.durations >= 0.5 else (1.0,)
        return [Candidate(Measure("mean", column.header, per, clock=clock), words) for clock in clocks]
    return [Candidate(Measure("sum", column.header), words)]


def _first_of(roles: Roles, kind: str) -> ColumnFacts | None:
    return next((column for column in roles.rest if kind_of(column) == kind and column.numbers >= 0.6), None)


def _of_two(by_kind: Mapping[str, Sequence[ColumnFacts]], roles: Roles) -> list[Candidate]:
    """Return the ways to take the output from two columns, such as percent of standard."""

    def first(*kinds: str) -> str:
        return next((by_kind[kind][0].header for kind in kinds if kind in by_kind), "")

    hours = roles.columns["hours"].header if "hours" in roles.columns else ""
    made, calls = first("units", "counts"), first("calls")
    pairs = (
        (Measure("ratio", made, first("standard"), 100.0), 2.75),
        (Measure("ratio", first("earned"), hours, 100.0), 2.2),
        (Measure("product", made, first("per_piece")), 1.9),
        (Measure("ratio", first("total_handle"), calls), 2.1),
    )
    return [Candidate(measure, words) for measure, words in pairs if measure.of and measure.per]


def _is_log(roles: Roles) -> bool:
    """Return whether the file has many rows a day, each with a moment of its own."""
    date = roles.columns.get("date")
    if date is None:
        return False
    moments = roles.columns.get("time", date)
    return moments.distinct > 0.3 * len(moments.cells) and (
        moments is not date or any(":" in cell for cell in date.cells)
    )


def fit(rows: Sequence[OutputRow], site: SiteView) -> float:
    """Return how well daily output fits the site's range: within it, and not all at one end."""
    values = [site.units.policy_output(row.units, row.hours) for row in rows if row.units is not None]
    if not values or not site.range_known:
        return 0.0
    inside = sum(not value.clipped for value in values) / len(values)
    middle = median(value.value for value in values)
    return 2.0 * inside + 0.5 * (1.0 - abs(middle - 0.55) / 0.55) * inside
