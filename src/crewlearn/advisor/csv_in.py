"""Files of workers, of output and of groups, read whole or not at all.

A file is gone through twice. The first time settles what only the whole file can tell: which mark is the decimal one
and whether dates put the day or the month first. The second time reads the rows and collects every error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from crewlearn.advisor.csv_cells import (
    DateOrder,
    Decimal,
    as_attendance,
    as_id,
    as_id_or_blank,
    as_name,
    as_yes_or_no,
    at_least_zero,
    column_reader,
    conventions_of,
    days_of,
    numbers_of,
    optional,
    whole_from,
    within_a_day,
)
from crewlearn.advisor.csv_table import (
    MOST_BYTES,
    MOST_ROWS,
    Column,
    Columns,
    CsvErrors,
    Found,
    check_width,
    read_table,
)
from crewlearn.advisor.events import AWAY, OBSERVED
from crewlearn.problem.errors import InvalidInput

__all__ = [
    "GROUPS",
    "OUTPUT",
    "WORKERS",
    "CsvErrors",
    "DateOrder",
    "Decimal",
    "GroupRow",
    "OutputRow",
    "WorkerRow",
    "attended",
    "read_groups",
    "read_output",
    "read_workers",
]


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker as the file has them; `active` is None throughout if the file does not say who is in the team."""

    worker_id: str
    name: str | None = None
    active: bool | None = None
    fee: float | None = None
    prior_n: int | None = None
    prior_mean: float | None = None
    status: str | None = None
    interview: float | None = None
    pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One worker's output of one day or period; without units, nothing was observed."""

    line: int
    day: date | None
    period: int | None
    worker_id: str
    units: float | None
    hours: float | None
    attendance: str
    shift: int | None = None


@dataclass(frozen=True, slots=True)
class GroupRow:
    """Which group a worker belongs to, for those who compare groups."""

    line: int
    worker_id: str
    group: str


_WORKER_ID = Column(
    "worker_id",
    (
        *("worker", "worker no", "worker number", "id", "employee", "employee id", "employee no", "employee number"),
        *("badge", "badge id", "badge no", "badge number", "personnel id", "personnel no", "personnel number"),
        *("staff id", "staff no", "staff number", "operator", "operator id", "associate", "associate id"),
        *("Personalnummer", "Personal-Nr", "Mitarbeiter", "matricule"),
    ),
    required=True,
)
WORKERS = Columns(
    (
        _WORKER_ID,
        Column("name", ("full name", "worker name", "employee name")),
        Column("active", ("in team", "on team", "is active", "in the team", "on the team")),
        Column("fee", ("cost", "own fee", "replacement fee", "replacement cost")),
        Column("prior_n", ("prior count", "prior days", "prior observations")),
        Column("prior_mean", ("prior average", "prior output")),
        Column("status", ("state",)),
        Column("interview", ("interview score", "score")),
        Column("pinned", ("pin", "keep")),
    )
)
GROUPS = Columns((_WORKER_ID, Column("group", ("group name", "category", "Gruppe", "groupe"), required=True)))
OUTPUT = Columns(
    (
        Column("date", ("day", "datum", "shift date", "work date", "working day")),
        Column("period", ("period no", "period number")),
        Column("shift", ("shift no", "shift number", "Schicht")),
        _WORKER_ID,
        Column("units", ("output", "quantity", "qty", "pieces", "amount", "count", "Menge"), required=True),
        Column("hours", ("time", "hrs", "hours worked", "Stunden")),
        Column("attendance", ("status", "presence", "attendance status")),
    ),
    either=("date", "period"),
)


def read_workers(
    data: bytes,
    mapping: Mapping[str, str] | None = None,
    *,
    what: str = "workers.csv",
    decimal: Decimal | None = None,
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> list[WorkerRow]:
    """Read a file of workers, or raise `CsvErrors` with all that is wrong in it.

    >>> (row,) = read_workers(b"Badge no;Name;In team;Fee\\n007;Ann;x;1.250,50\\n")
    >>> row.worker_id, row.name, row.active, row.fee
    ('007', 'Ann', True, 1250.5)
    """
    table = read_table(data, what, WORKERS, mapping, most_bytes=most_bytes, most_rows=most_rows)
    found = Found(what)
    numbers = numbers_of(conventions_of(table, found, decimal, None))
    worker_id = column_reader(table, found, "worker_id", as_id)
    name = column_reader(table, found, "name", optional(as_name))
    active = column_reader(table, found, "active", as_yes_or_no)
    fee = column_reader(table, found, "fee", optional(at_least_zero(numbers)))
    prior_n = column_reader(table, found, "prior_n", optional(whole_from(numbers, 0)))
    prior_mean = column_reader(table, found, "prior_mean", optional(numbers))
    status = column_reader(table, found, "status", optional(as_name))
    interview = column_reader(table, found, "interview", optional(numbers))
    pinned = column_reader(table, found, "pinned", optional(as_yes_or_no))
    seen: dict[str, int] = {}
    rows = []
    for line, cells in table.rows():
        before = found.total
        check_width(table, found, line, cells)
        who, called, on_team, cost = worker_id(line, cells), name(line, cells), active(line, cells), fee(line, cells)
        count, mean, state = prior_n(line, cells), prior_mean(line, cells), status(line, cells)
        score, kept = interview(line, cells), pinned(line, cells)
        if found.total > before or who is None:
            continue
        if count and mean is None:
            found.add(line, "prior_mean", "", f"the mean of the {count} earlier observations in prior_n")
        if mean is not None and count is None:
            found.add(line, "prior_n", "", f"the number of earlier observations whose mean is {mean:g}")
        first = seen.setdefault(who, line)
        if first != line:
            found.add(line, "worker_id", who, f"each worker once; lines {first} and {line} have the same")
        rows.append(WorkerRow(who, called, on_team, cost, count, mean, state, score, kept))
    found.raise_any()
    return rows


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
    """Read a file of output, or raise `CsvErrors` with all that is wrong in it.

    `day_of` gives the day of a date with a time of day, as a calendar with a cut-off hour does. Midnight is a time of
    day only if some date of the file has another one: spreadsheets write it after plain dates. With `blank_ids`, rows
    without a worker's id, as exports have of people who were erased, are read for the caller to leave out.

    >>> read_output(b"date,worker,units\\n2026-11-16,007,41.5\\n")[0]
    OutputRow(line=2, day=datetime.date(2026, 11, 16), period=None, worker_id='007', units=41.5, hours=None,
              attendance='worked', shift=None)
    """
    table = read_table(data, what, OUTPUT, mapping, most_bytes=most_bytes, most_rows=most_rows)
    found = Found(what)
    conventions = conventions_of(table, found, decimal, dates)
    numbers = numbers_of(conventions)
    day = column_reader(table, found, "date", optional(days_of(conventions, day_of)))
    period = column_reader(table, found, "period", optional(whole_from(numbers, 1)))
    shift = column_reader(table, found, "shift", optional(whole_from(numbers, 1)))
    worker_id = column_reader(table, found, "worker_id", as_id_or_blank if blank_ids else as_id)
    units = column_reader(table, found, "units", optional(numbers if allow_negative else at_least_zero(numbers)))
    hours = column_reader(table, found, "hours", optional(within_a_day(numbers)))
    attendance = column_reader(table, found, "attendance", optional(as_attendance))
    seen: dict[date | int | tuple[date, int], dict[str, int]] = {}
    rows = []
    for line, cells in table.rows():
        before = found.total
        check_width(table, found, line, cells)
        when, number, turn, who = day(line, cells), period(line, cells), shift(line, cells), worker_id(line, cells)
        made, worked, how = units(line, cells), hours(line, cells), attendance(line, cells)
        if found.total > before or who is None:
            continue
        key = number or (when if when is None or turn is None else (when, turn))  # a day may have several periods
        if key is None:
            found.add(line, " or ".join(name for name in OUTPUT.either if name in table.positions), "", "when it was")
            continue
        try:
            made, how = attended(made, worked, how)
        except InvalidInput as error:
            found.add_error(line, error)
            continue
        first = seen.setdefault(key, {}).setdefault(who, line) if who else line
        if first != line:
            at = f"{when}, shift {turn}" if isinstance(key, tuple) else key
            where = f"each worker once for each day or period; lines {first} and {line} have {who} at {at}"
            found.add(line, "worker_id", who, where)
        rows.append(OutputRow(line, when, number, who, made, worked, how, turn))
    found.raise_any()
    return rows


def attended(units: float | None, hours: float | None, attendance: str | None) -> tuple[float | None, str]:
    """Give a row's units and attendance, or refuse what contradicts itself; not at work is not zero output.

    Who was sent home may have made something before.
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


def read_groups(data: bytes, mapping: Mapping[str, str] | None = None, *, what: str = "groups.csv") -> list[GroupRow]:
    """Read a file of groups, each worker once, or raise `CsvErrors` with all that is wrong in it.

    >>> read_groups(b"Badge no;Group\\n007;a\\n")
    [GroupRow(line=2, worker_id='007', group='a')]
    """
    table = read_table(data, what, GROUPS, mapping)
    found = Found(what)
    worker_id = column_reader(table, found, "worker_id", as_id)
    group = column_reader(table, found, "group", optional(as_name))
    seen: dict[str, int] = {}
    rows = []
    for line, cells in table.rows():
        check_width(table, found, line, cells)
        who, which = worker_id(line, cells), group(line, cells)
        if who is None:
            continue
        first = seen.setdefault(who, line)
        if first != line:
            found.add(line, "worker_id", who, f"each worker once; lines {first} and {line} have the same")
        if which is not None:
            rows.append(GroupRow(line, who, which))
    found.raise_any()
    return rows
