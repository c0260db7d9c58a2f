"""How a whole file writes numbers and dates, from the cells that leave no doubt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from crewlearn.advisor.files.cells import DateOrder, Decimal, decimal_mark_in
from crewlearn.advisor.files.detection.words.values import moment_of, order_in, stripped
from crewlearn.advisor.files.sources.source import Source

_CACHED = 1 << 16
_MOST_DATES = 5_000


@dataclass(frozen=True)
class Writing:
    """The decimal mark and the order of dates, and whether each is certain; and whether dates have a time of day.

    `order_matters` is whether some date means another day in the other order.
    """

    decimal: Decimal
    order: DateOrder
    decimal_certain: bool
    order_certain: bool
    timed: bool
    rows: int
    order_matters: bool = True


def writing_of(
    source: Source, rows: Iterable[tuple[int, list[str]]], numeric: Sequence[int], dated: Sequence[int], today: date
) -> Writing:
    """Read all rows once, and return how they are written."""
    marks = {",": 0, ".": 0, "?": 0, "": 0}
    orders = {"day-first": 0, "month-first": 0, "": 0}
    order_of = lru_cache(_CACHED)(order_in)
    mark_of = lru_cache(_CACHED)(lambda cell: decimal_mark_in(stripped(cell)))
    timed, count = False, 0
    doubtful: set[str] = set()
    for _, cells in rows:
        count += 1
        for at in numeric:
            cell = cells[at]
            if "," in cell or "." in cell:
                marks[mark_of(cell)] += 1
        for at in dated:
            cell = cells[at]
            order, with_time = order_of(cell)
            timed = timed or with_time
            orders[order] += 1
            if not order and len(doubtful) < _MOST_DATES:
                doubtful.add(cell)
    certain_mark = bool(source.decimal or marks[","] or marks["."])
    decimal: Decimal
    if source.decimal:
        decimal = "," if source.decimal == "," else "."
    elif certain_mark:
        decimal = "," if marks[","] > marks["."] else "."
    else:
        decimal = "," if source.delimiter == ";" else "."
    matters = True
    clear = orders["day-first"] != orders["month-first"]
    if clear:
        order = "day-first" if orders["day-first"] > orders["month-first"] else "month-first"
    else:
        order, matters = _likelier(doubtful, today)
    chosen: DateOrder = "month-first" if order == "month-first" else "day-first"
    return Writing(decimal, chosen, certain_mark, clear, timed, count, matters)


def _likelier(cells: Iterable[str], today: date) -> tuple[str, bool]:
    """Return the order under which dates that fit both are more plausible, and whether it matters.

    Exports cover a few days or weeks up to now: the wrong order spreads them over the year, and into the future.
    """
    pairs = []
    for cell in cells:
        first, second = moment_of(cell, "day-first"), moment_of(cell, "month-first")
        if first is not None and second is not None:
            pairs.append((first[0], second[0]))
    if all(day == month for day, month in pairs):
        return "day-first", False
    faults = []
    for days in zip(*pairs, strict=True):
        future = sum(day > today for day in days)
        faults.append((future, (max(days) - min(days)).days))
    return ("month-first" if faults[1] < faults[0] else "day-first"), True
