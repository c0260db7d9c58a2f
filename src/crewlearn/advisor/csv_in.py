"""CSV files as spreadsheets really write them, read whole or not at all.

A file is gone through twice. The first time settles what only the whole file can tell: which mark is the decimal one
and whether dates put the day or the month first. The second time reads the rows and collects every error.

Decimal marks: cells that allow one reading only (`12.5`, `1,234.5`, `1.234.567`) decide for the file, the more frequent
mark if they disagree; the others are then errors. Where no cell decides, a semicolon between cells means decimal commas
and a comma between cells decimal points, as spreadsheets write them; a tab or a bar says nothing, so that `1.234`
there is refused until the caller names the mark.

Dates: the year first (`2026-11-15`, `20261115`), or the day first (`15.11.2026`, `15/11/26`). The month comes first
only if the caller says so, or if the file has a date that cannot be read otherwise and none that needs the day first.
Two-digit years are those of this century.
"""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any, Literal, TypeVar

from crewlearn.advisor.events import ATTENDANCE
from crewlearn.problem.errors import InvalidInput, one_of, unknown_name

Decimal = Literal[",", "."]
DateOrder = Literal["day-first", "month-first"]
T = TypeVar("T")

MOST_BYTES = 200_000_000
MOST_ROWS = 5_000_000
MOST_ERRORS = 100
MOST = 1e12
"""The most that a number may be: far beyond any site, and sums of them stay finite."""

_LONGEST_RECORD = 1_000_000
_MOST_LINES = 20_000_000
_MOST_LINES_ABOVE_HEADER = 1_000
_LONGEST_NUMBER = 40
_LONGEST_ID = 100
_LONGEST_NAME = 200
_YEARS = (1900, 2199)
_DELIMITERS = (",", ";", "\t", "|")
_TELLING = (",", ";")
"""Delimiters that tell the decimal mark: a spreadsheet uses the semicolon where the comma is the decimal one."""
_CACHED = 1 << 16


@dataclass(frozen=True)
class CsvError:
    """One thing that is wrong in a file: where, what stands there, and what should."""

    line: int
    column: str
    value: str
    expected: str


class CsvErrors(InvalidInput):
    """Everything that is wrong in a file, the first hundred errors in full; nothing of the file was used."""

    def __init__(self, what: str, errors: Sequence[CsvError], total: int) -> None:
        super().__init__(what, f"{total} errors", "correct the file and read it again")
        self.what = what
        self.errors = list(errors)
        self.total = total
        self.args = (self.table(),)

    def table(self) -> str:
        """Lay the errors out as a table of lines, columns, values and what is expected."""
        rows = [("line", "column", "value", "expected")]
        rows += [(str(e.line), e.column, repr(_shortened(e.value, 40)), e.expected) for e in self.errors]
        widths = [max(len(row[at]) for row in rows) for at in range(3)]
        lines = [f"{self.what}: {self.total} error{'s' if self.total > 1 else ''}, so nothing of it was used"]
        lines += [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
        ]
        if self.total > len(self.errors):
            lines.append(f"and {self.total - len(self.errors)} more")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[type["CsvErrors"], tuple[Any, ...]]:
        """Rebuild from the parts, so the errors cross process borders whole."""
        return CsvErrors, (self.what, self.errors, self.total)


@dataclass(frozen=True)
class Column:
    """A column we can use, and other headers people give it."""

    name: str
    synonyms: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True)
class Columns:
    """The columns of a kind of file; of those in `either` one at least must be there."""

    columns: tuple[Column, ...]
    either: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True)
class Table:
    """A file whose encoding, delimiter and header are understood; its rows are read when asked for, as often as asked.

    `positions` says where each column stands that the file has; `ignored` are the headers we have no use for.
    """

    what: str
    encoding: str
    delimiter: str
    header_line: int
    headers: tuple[str, ...]
    positions: Mapping[str, int]
    ignored: tuple[str, ...]
    most_rows: int
    data: bytes = field(repr=False)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Give the line and the cells of each row that is not blank, at least as many cells as there are headers."""
        width = len(self.headers)
        count = 0
        for line, cells in _records(self.what, self.data, self.encoding, self.delimiter, _MOST_LINES):
            if line <= self.header_line or (not cells[0].strip() and not "".join(cells).strip()):
                continue
            count += 1
            if count > self.most_rows:
                raise _refused(self.what, line, "", "", f"at most {self.most_rows} rows; split the file")
            yield line, cells if len(cells) >= width else cells + [""] * (width - len(cells))


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
    )
)
OUTPUT = Columns(
    (
        Column("date", ("day", "datum", "shift date", "work date", "working day")),
        Column("period", ("period no", "period number")),
        _WORKER_ID,
        Column("units", ("output", "quantity", "qty", "pieces", "amount", "count", "Menge"), required=True),
        Column("hours", ("time", "hrs", "hours worked", "Stunden")),
        Column("attendance", ("status", "presence", "attendance status")),
    ),
    either=("date", "period"),
)

_ATTENDANCE_WORDS = {
    "worked": ("worked", "present", "attended", "at work", "anwesend", "yes", "true", "1", "x", "ja", "oui"),
    "partial": ("partial", "partly", "part day", "partial day", "half day", "left early"),
    "absent": (
        *("absent", "absence", "sick", "sick leave", "ill", "leave", "on leave", "holiday", "on holiday", "vacation"),
        *("off", "day off", "not worked", "krank", "Urlaub", "abwesend"),
        *("no", "false", "0", "nein", "non"),
    ),
    "no-show": ("no-show", "did not show", "not shown"),
    "sent-home": ("sent-home", "sent away"),
}
_TRUE = ("yes", "true", "1", "x", "ja", "oui", "si", "sí", "wahr", "vrai")
_FALSE = ("no", "false", "0", "nein", "non", "falsch", "faux")

_SEP_LINE = re.compile(r'"?sep=.?"?', re.IGNORECASE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_table(
    data: bytes,
    what: str,
    columns: Columns,
    mapping: Mapping[str, str] | None = None,
    *,
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> Table:
    """Find out how a file is written and which of its headers are our columns.

    `mapping` says, column by column, which header to take, whatever the synonyms say; an empty header leaves an
    optional column out.
    """
    if len(data) > most_bytes:
        raise InvalidInput(what, f"{len(data)} bytes", f"must have at most {most_bytes} bytes; split the file")
    encoding = _encoding(what, data)
    names = columns.names
    for column in mapping or {}:
        if column not in names:
            raise unknown_name("--map", column, names)
    line, delimiter, headers = _header(what, data, encoding, columns, mapping or {})
    found = _Found(what)
    positions = _positions(found, line, columns, headers, mapping or {})
    found.raise_any()
    used = set(positions.values())
    ignored = tuple(header for at, header in enumerate(headers) if header and at not in used)
    return Table(what, encoding, delimiter, line, headers, positions, ignored, most_rows, data)


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
    found = _Found(what)
    numbers = _numbers(_conventions(table, found, decimal, None))
    worker_id = _reader(table, found, "worker_id", _worker_id)
    name = _reader(table, found, "name", _optional(_name))
    active = _reader(table, found, "active", _yes_or_no)
    fee = _reader(table, found, "fee", _optional(_at_least_zero(numbers)))
    prior_n = _reader(table, found, "prior_n", _optional(_whole(numbers, 0)))
    prior_mean = _reader(table, found, "prior_mean", _optional(numbers))
    status = _reader(table, found, "status", _optional(_name))
    interview = _reader(table, found, "interview", _optional(numbers))
    seen: dict[str, int] = {}
    rows = []
    for line, cells in table.rows():
        before = found.total
        _check_width(table, found, line, cells)
        who, called, on_team, cost = worker_id(line, cells), name(line, cells), active(line, cells), fee(line, cells)
        count, mean, state = prior_n(line, cells), prior_mean(line, cells), status(line, cells)
        score = interview(line, cells)
        if found.total > before or who is None:
            continue
        if count and mean is None:
            found.add(line, "prior_mean", "", f"the mean of the {count} earlier observations in prior_n")
        if mean is not None and count is None:
            found.add(line, "prior_n", "", f"the number of earlier observations whose mean is {mean:g}")
        first = seen.setdefault(who, line)
        if first != line:
            found.add(line, "worker_id", who, f"each worker once; lines {first} and {line} have the same")
        rows.append(WorkerRow(who, called, on_team, cost, count, mean, state, score))
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
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> list[OutputRow]:
    """Read a file of output, or raise `CsvErrors` with all that is wrong in it.

    `day_of` gives the day of a date with a time of day, as a calendar with a cut-off hour does. Midnight is a time of
    day only if some date of the file has another one: spreadsheets write it after plain dates.

    >>> read_output(b"date,worker,units\\n2026-11-16,007,41.5\\n")[0]
    OutputRow(line=2, day=datetime.date(2026, 11, 16), period=None, worker_id='007', units=41.5, hours=None,
              attendance='worked')
    """
    table = read_table(data, what, OUTPUT, mapping, most_bytes=most_bytes, most_rows=most_rows)
    found = _Found(what)
    conventions = _conventions(table, found, decimal, dates)
    numbers = _numbers(conventions)
    day = _reader(table, found, "date", _optional(_days(conventions, day_of)))
    period = _reader(table, found, "period", _optional(_whole(numbers, 1)))
    worker_id = _reader(table, found, "worker_id", _worker_id)
    units = _reader(table, found, "units", _optional(numbers if allow_negative else _at_least_zero(numbers)))
    hours = _reader(table, found, "hours", _optional(_hours(numbers)))
    attendance = _reader(table, found, "attendance", _optional(_attendance))
    seen: dict[date | int, dict[str, int]] = {}
    rows = []
    for line, cells in table.rows():
        before = found.total
        _check_width(table, found, line, cells)
        when, number, who = day(line, cells), period(line, cells), worker_id(line, cells)
        made, worked, how = units(line, cells), hours(line, cells), attendance(line, cells)
        if found.total > before or who is None:
            continue
        key = when if number is None else number  # a day may have several periods
        if key is None:
            found.add(line, " or ".join(name for name in OUTPUT.either if name in table.positions), "", "when it was")
            continue
        if how is None:
            how = "worked"
            if made is None:
                found.add(line, "units", "", "the units made, or an attendance such as absent for someone not at work")
        elif how in ("worked", "partial"):
            if made is None:
                found.add(line, "units", "", f"the units made, as attendance is {how}")
        elif made:
            found.add(line, "units", f"{made:g}", f"nothing or 0, as attendance is {how}")
        else:
            made = None  # not at work is not zero output
        if worked == 0.0 and made is not None:
            found.add(line, "hours", "0", f"more than 0, as attendance is {how}")
        first = seen.setdefault(key, {}).setdefault(who, line)
        if first != line:
            where = f"each worker once for each day or period; lines {first} and {line} have {who} at {key}"
            found.add(line, "worker_id", who, where)
        rows.append(OutputRow(line, when, number, who, made, worked, how))
    found.raise_any()
    return rows


# How the file is written


def _encoding(what: str, data: bytes) -> str:
    """Say how the bytes stand for text, going by the byte order mark or else by trial."""
    if data.startswith(b"PK\x03\x04") or data.startswith(b"\xd0\xcf\x11\xe0"):
        raise InvalidInput(what, "a workbook", "must be CSV text; save the sheet as CSV (UTF-8) and use that file")
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            if not _decodes(data, encoding):
                raise InvalidInput(
                    what, encoding.upper(), "begins like this but is damaged; save it again as CSV (UTF-8)"
                )
            return encoding
    if b"\0" in data:
        raise InvalidInput(what, "zero bytes", "is no text that can be read; save it as CSV (UTF-8)")
    for encoding in ("utf-8", "cp1252"):
        if _decodes(data, encoding):
            return encoding
    raise InvalidInput(what, "unknown encoding", "must be UTF-8, UTF-16 or Windows-1252; save it as CSV (UTF-8)")


def _decodes(data: bytes, encoding: str) -> bool:
    """Say whether the bytes are text in this encoding, without holding the text."""
    decoder = codecs.getincrementaldecoder(encoding)()
    step = 1 << 20
    try:
        for at in range(0, len(data), step):
            decoder.decode(data[at : at + step])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _records(what: str, data: bytes, encoding: str, delimiter: str, most_lines: int) -> Iterator[tuple[int, list[str]]]:
    """Give each record with the line it begins on; a record out of bounds ends the reading at once.

    Quotes are held to strictly: of one left open, the rest of the file would silently become a single cell.
    """
    line, length = 1, 0

    def lines() -> Iterator[str]:
        nonlocal length
        for text in io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline=""):
            length += len(text)
            if length > _LONGEST_RECORD:
                expected = f"a row of at most {_LONGEST_RECORD} characters; is a quotation mark missing or left over?"
                raise _refused(what, line, "", "", expected)
            yield text

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if reader.line_num > most_lines:
                raise _refused(
                    what, line, "", "", f"at most {most_lines} lines up to here; remove blank lines or split"
                )
            if cells:
                yield line, cells
            line, length = reader.line_num + 1, 0
    except csv.Error as error:
        expected = f"a row of cells; this one cannot be read ({error}): is a quotation mark missing or left over?"
        raise _refused(what, line, "", "", expected) from None


def _header(
    what: str, data: bytes, encoding: str, columns: Columns, mapping: Mapping[str, str]
) -> tuple[int, str, tuple[str, ...]]:
    """Find the header's line, the delimiter and the headers.

    The delimiter is the one that yields the most columns we know, then the most cells.
    """
    best = (-1, -1)
    answer: tuple[int, str, tuple[str, ...]] | None = None
    unread: list[CsvErrors] = []
    for delimiter in _DELIMITERS:
        try:
            line, headers = _first_record(what, data, encoding, delimiter)
        except CsvErrors as error:
            unread.append(error)
            continue
        score = (len(_positions(_Found(what), line, columns, headers, mapping)), len(headers))
        if score > best:
            best, answer = score, (line, delimiter, headers)
    if answer is None:
        raise unread[0]
    return answer


def _first_record(what: str, data: bytes, encoding: str, delimiter: str) -> tuple[int, tuple[str, ...]]:
    """Give the line and the cells of the header, passing over the `sep=;` that spreadsheets may put above it."""
    for line, cells in _records(what, data, encoding, delimiter, _MOST_LINES_ABOVE_HEADER):
        text = delimiter.join(cells).strip()
        if text.strip(delimiter + " ") and not _SEP_LINE.fullmatch(text):
            headers = [cell.strip() for cell in cells]
            while not headers[-1]:
                headers.pop()
            return line, tuple(headers)
    raise _refused(what, 1, "", "", "a header line, such as worker_id,name; the file is empty")


def _positions(
    found: "_Found", line: int, columns: Columns, headers: Sequence[str], mapping: Mapping[str, str]
) -> dict[str, int]:
    """Say where each column stands, noting columns that are missing or that several headers could be."""
    keys = [_key(header) for header in headers]
    here = _shortened(", ".join(headers), 200)
    positions: dict[str, int] = {}
    for name, wanted in mapping.items():
        if not wanted.strip():
            continue
        exact = [at for at, header in enumerate(headers) if header == wanted.strip()]
        places = exact or [at for at, key in enumerate(keys) if key and key == _key(wanted)]
        if len(places) != 1:
            found.add(line, name, wanted, f"a header that the file has {'but ' if places else ''}once; it has {here!r}")
        elif places[0] in positions.values():
            found.add(line, name, wanted, "a header of its own; two columns are mapped to this one")
        else:
            positions[name] = places[0]
    mapped = set(positions.values())
    for column in columns.columns:
        if mapping.get(column.name, "").strip():
            continue
        known = {_key(name) for name in (column.name, *column.synonyms)} if column.name not in mapping else set()
        places = [at for at, key in enumerate(keys) if key in known and at not in mapped]
        choose = f"--map {column.name}=HEADER"
        if len(places) > 1:
            several = ", ".join(headers[at] for at in places)
            found.add(line, column.name, several, f"one header for this column; choose with {choose} or rename one")
        elif places:
            positions[column.name] = places[0]
        elif column.required:
            found.add(line, column.name, here, f"this column; say with {choose} which header it has")
    if columns.either and not any(name in positions or mapping.get(name, "").strip() for name in columns.either):
        names = " or ".join(columns.either)
        found.add(line, names, here, f"one of these columns; say with --map {columns.either[0]}=HEADER which it is")
    return positions


def _key(text: str) -> str:
    """Reduce a header or a word to its letters and digits, so that `Badge No.` and `badge_no` are one."""
    return "".join(letter for letter in unicodedata.normalize("NFC", text).casefold() if letter.isalnum())


# Errors


class _Found:
    """The errors found in a file so far: the first hundred in full, the others counted."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.errors: list[CsvError] = []
        self.total = 0

    def add(self, line: int, column: str, value: str, expected: str) -> None:
        self.total += 1
        if len(self.errors) < MOST_ERRORS:
            self.errors.append(CsvError(line, column, _shortened(value, 200), expected))

    def raise_any(self) -> None:
        if self.total:
            raise CsvErrors(self.what, sorted(self.errors, key=lambda error: error.line), self.total)


class _Refused(Exception):
    """A cell that cannot be used; the message is what is expected instead."""


def _refused(what: str, line: int, column: str, value: str, expected: str) -> CsvErrors:
    return CsvErrors(what, [CsvError(line, column, value, expected)], 1)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"


def _check_width(table: Table, found: _Found, line: int, cells: Sequence[str]) -> None:
    """Note cells beyond the last header, as of a decimal comma that was taken for a delimiter."""
    width = len(table.headers)
    if len(cells) > width and (more := [cell for cell in cells[width:] if cell.strip()]):
        delimiter = {"\t": "tab"}.get(table.delimiter, table.delimiter)
        expected = f"{width} cells as in the header; a cell that holds a {delimiter} must stand in quotation marks"
        found.add(line, f"cell {width + 1}", more[0], expected)


# What only the whole file can tell


@dataclass(frozen=True)
class _Conventions:
    """How the file writes numbers and dates, with the words that say why."""

    decimal: str
    decimal_reason: str
    order: str
    order_reason: str
    timed: bool


def _conventions(table: Table, found: _Found, decimal: Decimal | None, dates: DateOrder | None) -> _Conventions:
    """Go through the file for the cells that allow one reading only."""
    if decimal is not None:
        one_of("decimal", decimal, _NUMBERS)
    if dates is not None:
        one_of("dates", dates, ("day-first", "month-first"))
    numeric = [(name, at) for name, at in table.positions.items() if name in _NUMERIC and decimal is None]
    date_at = table.positions.get("date")
    order_of = lru_cache(_CACHED)(_order)
    counts = {",": 0, ".": 0, "?": 0, "day-first": 0, "month-first": 0, "": 0}
    first: dict[str, tuple[int, str, str]] = {}
    timed = False
    for line, cells in table.rows():
        for name, at in numeric:
            cell = cells[at]
            if "," in cell or "." in cell:
                mark = _mark(cell)
                if not counts[mark]:
                    first[mark] = (line, name, cell)
                counts[mark] += 1
        if date_at is not None:
            cell = cells[date_at]
            order, with_time = order_of(cell)
            timed = timed or with_time
            if not counts[order]:
                first[order] = (line, "date", cell)
            counts[order] += 1
    chosen: str
    if decimal is not None:
        chosen = decimal
    elif counts[","] or counts["."]:
        chosen = "," if counts[","] > counts["."] else "."
    else:
        chosen = "," if table.delimiter == ";" else "."
        if counts["?"] and table.delimiter not in _TELLING:
            found.add(*first["?"], "a number that can be read one way only; say whether decimal is , or .")
    month_first = counts["month-first"] and not counts["day-first"]
    order = dates or ("month-first" if month_first else "day-first")
    return _Conventions(chosen, _as_in(first.get(chosen)), order, _as_in(first.get(order)), timed)


def _as_in(example: tuple[int, str, str] | None) -> str:
    return f", as {_shortened(example[2].strip(), 40)!r} in line {example[0]}" if example else ""


# Numbers


def _number_pattern(mark: str, other: str) -> re.Pattern[str]:
    """Match numbers whose decimal mark is `mark`, with thousands set off by `other`, spaces or apostrophes."""
    grouped = "|".join(rf"(?:{between}[0-9]{{3}})+" for between in (re.escape(other), " ", "'"))
    fraction = rf"(?:{re.escape(mark)}[0-9]*)?"
    plain = rf"(?:[0-9]+{fraction}|{re.escape(mark)}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?"
    return re.compile(rf"[+-]?(?:{plain}|[1-9][0-9]{{0,2}}(?:{grouped}){fraction})")


_NUMBERS = {".": _number_pattern(".", ","), ",": _number_pattern(",", ".")}
_CLEAR = re.compile(r"[0-9]{1,15}([.,])(?:[0-9]{1,2}|[0-9]{4,15})")
"""The usual numbers that show their decimal mark, for speed: after a thousands separator stand three digits."""
_NUMERIC = ("fee", "prior_n", "prior_mean", "interview", "period", "units", "hours")
_TYPED = str.maketrans({"\xa0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "’": "'", "−": "-"})


def _mark(cell: str) -> str:
    """Give the decimal mark a number with a comma or a point must have; `?` if it may be either, else nothing."""
    if match := _CLEAR.fullmatch(cell):
        return match[1]
    text = cell.strip().translate(_TYPED)
    if len(text) > _LONGEST_NUMBER:
        return ""
    fitting = [mark for mark, pattern in _NUMBERS.items() if pattern.fullmatch(text)]
    return "?" if len(fitting) > 1 else "".join(fitting)


def _numbers(conventions: _Conventions) -> Callable[[str], float]:
    """Make the reader of a file's numbers."""
    mark = conventions.decimal
    pattern = _NUMBERS[mark]
    other = "," if mark == "." else "."
    example = "1234.5 with a decimal point" if mark == "." else "1234,5 with a decimal comma"
    expected = f"a number such as {example}{conventions.decimal_reason}, without currency or percent sign"

    def number(cell: str) -> float:
        text = cell.strip()
        if not text.isascii():
            text = text.translate(_TYPED)
        if len(text) > _LONGEST_NUMBER or not pattern.fullmatch(text):
            raise _Refused(expected)
        value = float(text.replace(other, "").replace(" ", "").replace("'", "").replace(mark, "."))
        if not abs(value) <= MOST:
            raise _Refused(f"a number of at most {MOST:g}")
        return value

    return number


def _at_least_zero(number: Callable[[str], float]) -> Callable[[str], float]:
    def parse(cell: str) -> float:
        value = number(cell)
        if value < 0.0:
            raise _Refused("a number >= 0")
        return value

    return parse


def _hours(number: Callable[[str], float]) -> Callable[[str], float]:
    def parse(cell: str) -> float:
        value = number(cell)
        if not 0.0 <= value <= 24.0:
            raise _Refused("hours from 0 to 24")
        return value

    return parse


def _whole(number: Callable[[str], float], low: int) -> Callable[[str], int]:
    def parse(cell: str) -> int:
        value = number(cell)
        if not value.is_integer() or not low <= value <= 10**9:
            raise _Refused(f"a whole number from {low} to {10**9}")
        return int(value)

    return parse


# Dates

_TIME = (
    r"(?:(?:T|,? +)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?"
    r"(?: ?([AaPp])\.?[Mm]\.?)?(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.]?)([0-9]{1,2})\2([0-9]{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})" + _TIME)


def _order(cell: str) -> tuple[str, bool]:
    """Give the order that a date needs, if it exists in one order only, and whether it has a time but midnight."""
    readings = {order: _moment(cell, order) for order in ("day-first", "month-first")}
    fitting = [order for order, moment in readings.items() if moment is not None]
    with_time = any(moment is not None and moment[1] not in (None, time.min) for moment in readings.values())
    return fitting[0] if len(fitting) == 1 else "", with_time


def _moment(cell: str, order: str) -> tuple[date, time | None] | None:
    """Read a date and the time of day after it, if there is one; None if there is no such date."""
    text = cell.strip().translate(_TYPED)
    if len(text) > _LONGEST_NUMBER:
        return None
    if match := _YEAR_FIRST.fullmatch(text):
        year, between, month, day, *clock = match.groups()
        if not between and len(month + day) != 4:
            return None
    elif match := _YEAR_LAST.fullmatch(text):
        first, _, second, year, *clock = match.groups()
        day, month = (first, second) if order == "day-first" else (second, first)
    else:
        return None
    number = int(year) + (2000 if len(year) == 2 else 0)
    try:
        return (date(number, int(month), int(day)), _clock(*clock)) if _YEARS[0] <= number <= _YEARS[1] else None
    except ValueError:
        return None


def _clock(hour: str | None, minute: str, second: str | None, half: str | None) -> time | None:
    """Read a time of day, of 24 hours or of 12 with am or pm; raise ValueError if there is none such."""
    if hour is None:
        return None
    hours = int(hour)
    if half is not None:
        if not 1 <= hours <= 12:
            raise ValueError(hour)
        hours = hours % 12 + (12 if half in "Pp" else 0)
    return time(hours, int(minute), int(second or 0))


def _days(conventions: _Conventions, day_of: Callable[[datetime], date]) -> Callable[[str], date]:
    """Make the reader of a file's dates."""
    example = "15.11.2026 (day first" if conventions.order == "day-first" else "11/15/2026 (month first"
    expected = f"a date that exists, such as 2026-11-15 or {example}{conventions.order_reason})"

    def day(cell: str) -> date:
        moment = _moment(cell, conventions.order)
        if moment is None:
            raise _Refused(expected)
        on, at = moment
        return on if at is None or not conventions.timed else day_of(datetime.combine(on, at))

    return day


# Words


_SPACES = str.maketrans(dict.fromkeys("\xa0\u2007\u2009\u202f", " "))
_JOINERS = str.maketrans(dict.fromkeys("\u200c\u200d", None))
"""Invisible, but part of how some names are spelt."""


def _text(cell: str) -> str:
    """Read text as it was meant: without the `="…"` that keeps leading zeros, accents in one form, plain spaces."""
    text = cell.strip()
    if text.startswith('="') and text.endswith('"'):
        text = text[2:-1].strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_SPACES)


def _worker_id(cell: str) -> str:
    text = _text(cell)
    if not text or len(text) > _LONGEST_ID or not text.isprintable():
        raise _Refused(f"the worker's id: text of at most {_LONGEST_ID} characters, none of them control or invisible")
    return text


def _name(cell: str) -> str:
    text = _text(" ".join(cell.split()))
    if len(text) > _LONGEST_NAME or not text.translate(_JOINERS).isprintable():
        raise _Refused(f"text of at most {_LONGEST_NAME} characters, none of them a control character")
    return text


def _yes_or_no(cell: str) -> bool:
    word = unicodedata.normalize("NFC", cell).strip().casefold()
    if word and word not in _TRUE and word not in _FALSE:
        raise _Refused("yes or no (also true, false, 1, 0, x, or blank for no)")
    return word in _TRUE


def _attendance(cell: str) -> str:
    attendance = _ATTENDANCES.get(_key(cell))
    if attendance is None:
        raise _Refused(f"one of {', '.join(ATTENDANCE)}")
    return attendance


_ATTENDANCES = {_key(word): attendance for attendance, words in _ATTENDANCE_WORDS.items() for word in words}


def _optional(parse: Callable[[str], T]) -> Callable[[str], T | None]:
    """Read a blank cell as None."""
    return lambda cell: parse(cell) if cell and not cell.isspace() else None


def _reader(
    table: Table, found: _Found, column: str, parse: Callable[[str], T | None]
) -> Callable[[int, list[str]], T | None]:
    """Make the reader of a column's cells, which notes what cannot be read; the same text is parsed once."""
    at = table.positions.get(column)
    if at is None:
        return lambda line, cells: None
    place = at
    cached = lru_cache(_CACHED)(parse)

    def read(line: int, cells: list[str]) -> T | None:
        try:
            return cached(cells[place])
        except _Refused as refused:
            found.add(line, column, cells[place], str(refused))
            return None

    return read
