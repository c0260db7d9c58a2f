"""Cells to rows: files of workers, output and groups, read as a whole or not at all.

A file is read in two passes. The first detects the conventions of the whole file: the decimal mark, and whether dates
put the day or the month first. The second parses the rows and collects every error.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from crewlearn.advisor.files.cells import (
    NUMBER,
    WORKER_ID_OR_BLANK,
    CellRefused,
    CellType,
    Conventions,
    DateOrder,
    Decimal,
    date_order_in,
    decimal_mark_in,
    shortened,
)
from crewlearn.advisor.files.cells import date_order as checked_order
from crewlearn.advisor.files.cells import decimal_mark as checked_mark
from crewlearn.advisor.files.columns import GROUPS, OUTPUT, WORKERS, Columns, GroupRow, OutputRow, WorkerRow
from crewlearn.advisor.files.tables import (
    MOST_BYTES,
    MOST_ROWS,
    ErrorCollector,
    FileTable,
    check_width,
    read_table,
)
from crewlearn.advisor.ledger.events import AWAY, OBSERVED
from crewlearn.problem.errors import InvalidInput

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_CACHED = 1 << 16
_TELLING = (",", ";")
"""Delimiters that imply the decimal mark: spreadsheets use a semicolon where the comma is the decimal mark."""


# Whole files
def read_workers(
    data: bytes,
    mapping: Mapping[str, str] | None = None,
    *,
    what: str = "workers.csv",
    decimal: Decimal | None = None,
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> list[WorkerRow]:
    """Read a file of workers, or raise `CsvErrors` with every error in it.

    >>> (row,) = read_workers(b"Badge no;Name;In team;Fee\\n007;Ann;x;1.250,50\\n")
    >>> row.worker_id, row.name, row.active, row.fee
    ('007', 'Ann', True, 1250.5)
    """
    table = read_table(data, what, WORKERS, mapping, most_bytes=most_bytes, most_rows=most_rows)
    return worker_rows(scan(table, WORKERS, decimal))


def read_output(
    data: bytes,
    mapping: Mapping[str, str] | None = None,
    *,
    what: str = "output.csv",
    decimal: Decimal | None = None,
    dates: DateOrder | None = None,
    day_of: Callable[[datetime], date] = datetime.date,
    allow_negative: bool = False,
    blank_ids: bool = False,
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> list[OutputRow]:
    """Read a file of output, or raise `CsvErrors` with every error in it.

    `day_of` maps a date with a time of day to its day, as a calendar with a cut-off hour does. Midnight counts as a
    time only if some date of the file has another one, because spreadsheets write it after plain dates. With
    `blank_ids`, rows without a worker id, such as exported rows of erased people, are returned for the caller to skip.

    >>> row = read_output(b"date,worker,units\\n2026-11-16,007,41.5\\n")[0]
    >>> row.line, row.day, row.worker_id, row.units, row.attendance
    (2, datetime.date(2026, 11, 16), '007', 41.5, 'worked')
    """
    table = read_table(data, what, OUTPUT, mapping, most_bytes=most_bytes, most_rows=most_rows)
    scanned = scan(table, OUTPUT, decimal, dates, day_of)
    return output_rows(scanned, allow_negative=allow_negative, blank_ids=blank_ids)


def read_groups(data: bytes, mapping: Mapping[str, str] | None = None, *, what: str = "groups.csv") -> list[GroupRow]:
    """Read a file of groups, each worker once, or raise `CsvErrors` with every error in it.

    >>> read_groups(b"Badge no;Group\\n007;a\\n")
    [GroupRow(line=2, worker_id='007', group='a')]
    """
    return group_rows(scan(read_table(data, what, GROUPS, mapping), GROUPS))


# The first pass


@dataclass(frozen=True)
class ScannedTable:
    """A table with its detected conventions, its number of rows, and the errors so far."""

    table: FileTable
    conventions: Conventions
    rows: int
    errors: ErrorCollector


def scan(
    table: FileTable,
    columns: Columns,
    decimal: Decimal | None = None,
    dates: DateOrder | None = None,
    day_of: Callable[[datetime], date] = datetime.date,
) -> ScannedTable:
    """Count a table's rows and detect its conventions from unambiguous cells."""
    checked_mark(decimal)
    checked_order(dates)
    errors = ErrorCollector(table.what)
    shown = {name: columns[name].type.shows for name in table.positions}
    numeric = [(name, at) for name, at in table.positions.items() if shown[name] == "decimal mark" and decimal is None]
    dated = [(name, at) for name, at in table.positions.items() if shown[name] == "date order"]
    order_of = lru_cache(_CACHED)(date_order_in)
    counts = {",": 0, ".": 0, "?": 0, "day-first": 0, "month-first": 0, "": 0}
    first: dict[str, tuple[int, str, str]] = {}
    timed = False
    rows = 0
    for line, cells in table.rows():
        rows += 1
        for name, at in numeric:
            cell = cells[at]
            if "," in cell or "." in cell:
                mark = decimal_mark_in(cell)
                if not counts[mark]:
                    first[mark] = (line, name, cell)
                counts[mark] += 1
        for name, at in dated:
            cell = cells[at]
            order, with_time = order_of(cell)
            timed = timed or with_time
            if not counts[order]:
                first[order] = (line, name, cell)
            counts[order] += 1
    chosen: Decimal
    if decimal is not None:
        chosen = decimal
    elif table.source.decimal:
        chosen = "," if table.source.decimal == "," else "."
    elif counts[","] or counts["."]:
        chosen = "," if counts[","] > counts["."] else "."
    else:
        chosen = "," if table.delimiter == ";" else "."
        if counts["?"] and table.delimiter not in _TELLING:
            errors.add(*first["?"], "an unambiguous number; say whether decimal is , or .")
    month_first = counts["month-first"] and not counts["day-first"]
    chosen_order: DateOrder = dates or ("month-first" if month_first else "day-first")
    reasons = _as_in(first.get(chosen)), _as_in(first.get(chosen_order))
    return ScannedTable(table, Conventions(chosen, reasons[0], chosen_order, reasons[1], timed, day_of), rows, errors)


def _as_in(example: tuple[int, str, str] | None) -> str:
    return f", as {shortened(example[2].strip(), 40)!r} in line {example[0]}" if example else ""


# The second pass


def worker_rows(scanned: ScannedTable) -> list[WorkerRow]:
    """Parse the rows of a file of workers."""
    errors = scanned.errors
    seen: dict[str, int] = {}
    rows = []
    for line, values, sound in parsed_rows(scanned, WORKERS, WorkerRow):
        if not sound:
            continue
        row = WorkerRow(*values)
        if row.prior_n and row.prior_mean is None:
            errors.add(line, "prior_mean", "", f"the mean of the {row.prior_n} earlier observations in prior_n")
        if row.prior_mean is not None and row.prior_n is None:
            errors.add(line, "prior_n", "", f"the number of earlier observations whose mean is {row.prior_mean:g}")
        _check_once(errors, seen, line, row.worker_id)
        rows.append(row)
    errors.raise_any()
    return rows


def output_rows(scanned: ScannedTable, *, allow_negative: bool = False, blank_ids: bool = False) -> list[OutputRow]:
    """Parse the rows of a file of output, with units and attendance as `normalised` has them."""
    rows = sound_output_rows(scanned, allow_negative=allow_negative, blank_ids=blank_ids)
    scanned.errors.raise_any()
    return rows


def sound_output_rows(
    scanned: ScannedTable, *, allow_negative: bool = False, blank_ids: bool = False
) -> list[OutputRow]:
    """Parse the rows of a file of output, and return those without errors; the errors are collected."""
    errors = scanned.errors
    types: dict[str, CellType] = {}
    if allow_negative:
        types["units"] = NUMBER
    if blank_ids:
        types["worker_id"] = WORKER_ID_OR_BLANK
    places = {field.name: at for at, field in enumerate(fields(OutputRow)[1:])}
    day, period, shift, worker_id = (places[name] for name in ("day", "period", "shift", "worker_id"))
    units, hours, attendance = (places[name] for name in ("units", "hours", "attendance"))
    seen: dict[date | int | tuple[date, int], dict[str, int]] = {}
    rows = []
    for line, values, sound in parsed_rows(scanned, OUTPUT.with_types(types), OutputRow):
        if not sound:
            continue
        when, turn, who = values[day], values[shift], values[worker_id]
        key = values[period] or (when if when is None or turn is None else (when, turn))  # a day may have several
        if key is None:
            either = " or ".join(name for name in OUTPUT.either if name in scanned.table.positions)
            errors.add(line, either, "", "the day or period of the output")
            continue
        try:
            values[units], values[hours], values[attendance] = normalised(
                values[units], values[hours], values[attendance]
            )
        except InvalidInput as error:
            errors.add_error(line, error)
            continue
        first = seen.setdefault(key, {}).setdefault(who, line) if who else line
        if first != line:
            at = f"{when}, shift {turn}" if isinstance(key, tuple) else key
            where = f"each worker once for each day or period; lines {first} and {line} have {who} at {at}"
            errors.add(line, "worker_id", who, where)
            continue
        rows.append(OutputRow(line, *values))
    return rows


def normalised(
    units: float | None, hours: float | None, attendance: str | None
) -> tuple[float | None, float | None, str]:
    """Return a row's units, hours and attendance, or raise if they contradict each other.

    Negative zero becomes zero, as databases do not preserve it.
    """
    units, how = attended(units, hours, attendance)
    return None if units is None else units + 0.0, None if hours is None else hours + 0.0, how


def attended(units: float | None, hours: float | None, attendance: str | None) -> tuple[float | None, str]:
    """Return a row's units and attendance, or raise if they contradict each other; absence is not zero output.

    Somebody who was sent home may have produced something before.
    """
    how = attendance or "worked"
    if units is None and attendance is None:
        raise InvalidInput("units", "", "the units made, or an attendance such as absent for someone not at work")
    if units is None and how in OBSERVED:
        raise InvalidInput("units", "", f"the units made, as attendance is {how}")
    if units and how in AWAY:
        raise InvalidInput("units", f"{units:g}", f"nothing or 0, as attendance is {how}")
    if not units and how not in OBSERVED:
        units = None
    if hours == 0.0 and units is not None:
        raise InvalidInput("hours", "0", f"more than 0, as attendance is {how}")
    return units, how


def group_rows(scanned: ScannedTable) -> list[GroupRow]:
    """Parse the rows of a file of groups."""
    seen: dict[str, int] = {}
    rows = []
    for line, (who, group), _ in parsed_rows(scanned, GROUPS, GroupRow):
        if who is None:
            continue
        _check_once(scanned.errors, seen, line, who)
        if group is not None:
            rows.append(GroupRow(line, who, group))
    scanned.errors.raise_any()
    return rows


def _check_once(errors: ErrorCollector, seen: dict[str, int], line: int, worker: str) -> None:
    first = seen.setdefault(worker, line)
    if first != line:
        errors.add(line, "worker_id", worker, f"each worker once; lines {first} and {line} have the same")


def parsed_rows(
    scanned: ScannedTable, columns: Columns, row_type: type["DataclassInstance"]
) -> Iterator[tuple[int, list[Any], bool]]:
    """Yield each row's line, its values in the order of the row type's fields, and whether all were parsed.

    A value is None if the file lacks the column or the cell could not be parsed.
    """
    table, errors = scanned.table, scanned.errors
    order = [field.name for field in fields(row_type) if field.name != "line"]
    parsers = [
        (order.index(column.row_field), table.positions[column.name], _parser(scanned, columns, column.name))
        for column in columns.columns
        if column.name in table.positions
    ]
    names = [column.name for column in columns.columns if column.name in table.positions]
    nothing: list[Any] = [None] * len(order)
    width = len(table.headers)
    for line, cells in table.rows():
        before = errors.total
        if len(cells) > width:
            check_width(table, errors, line, cells)
        values = nothing.copy()
        try:
            for place, at, parse in parsers:
                values[place] = parse(cells[at])
        except CellRefused:  # parse again, to collect every error in the row
            for name, (place, at, parse) in zip(names, parsers, strict=True):
                try:
                    values[place] = parse(cells[at])
                except CellRefused as refused:
                    errors.add(line, name, cells[at], str(refused))
        yield line, values, errors.total == before


def _parser(scanned: ScannedTable, columns: Columns, name: str) -> Callable[[str], Any]:
    """Return a caching parser for a column's cells."""
    column = columns[name]
    parse = column.type.parser(scanned.conventions)
    if not column.blank_is_none:
        return lru_cache(_CACHED)(parse)
    return lru_cache(_CACHED)(lambda cell: parse(cell) if cell and not cell.isspace() else None)
