"""CSV text to cells: encoding, delimiter and header detection, and errors by line."""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crewlearn.advisor.files.cells import key_of, shortened
from crewlearn.advisor.files.columns import Columns
from crewlearn.advisor.ledger.text import counted
from crewlearn.problem.errors import InvalidInput, unknown_name

MOST_BYTES = 200_000_000
MOST_ROWS = 5_000_000
MOST_ERRORS = 100

_LONGEST_RECORD = 1_000_000
_MOST_LINES = 20_000_000
_MOST_LINES_ABOVE_HEADER = 1_000
_DELIMITERS = (",", ";", "\t", "|")
_SEP_LINE = re.compile(r'"?sep=.?"?', re.IGNORECASE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class CsvError:
    """An error in a file: its place, the value there, and what is expected."""

    line: int
    column: str
    value: str
    expected: str


class CsvErrors(InvalidInput):
    """All errors in a file, the first hundred in full; the file was not used."""

    def __init__(self, what: str, errors: Sequence[CsvError], total: int) -> None:
        super().__init__(what, counted(total, "error"), "correct the file and read it again")
        self.what = what
        self.errors = list(errors)
        self.total = total
        self.args = (self.table(),)

    def table(self) -> str:
        """Return the errors as a text table of line, column, value and expected value."""
        rows = [("line", "column", "value", "expected")]
        rows += [(str(e.line), e.column, repr(shortened(e.value, 40)), e.expected) for e in self.errors]
        widths = [max(len(row[at]) for row in rows) for at in range(3)]
        lines = [f"{self.what}: {counted(self.total, 'error')}; the file was not used"]
        lines += [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in rows
        ]
        if self.total > len(self.errors):
            lines.append(f"and {self.total - len(self.errors)} more")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[type["CsvErrors"], tuple[Any, ...]]:
        """Pickle the parts, so that the errors survive between processes."""
        return CsvErrors, (self.what, self.errors, self.total)


@dataclass(frozen=True)
class FileTable:
    """A file with known encoding, delimiter and header; `rows` parses the data on every call.

    `positions` maps each column in the file to its index; `ignored` are the headers that match no column.
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
        """Yield the line and cells of each row that is not blank, padded to the number of headers."""
        width = len(self.headers)
        count = 0
        for line, cells in _records(self.what, self.data, self.encoding, self.delimiter, _MOST_LINES):
            if line <= self.header_line or (not cells[0].strip() and not "".join(cells).strip()):
                continue
            count += 1
            if count > self.most_rows:
                raise _refused(self.what, line, "", "", f"at most {self.most_rows} rows; split the file")
            yield line, cells if len(cells) >= width else cells + [""] * (width - len(cells))


def read_table(
    data: bytes,
    what: str,
    columns: Columns,
    mapping: Mapping[str, str] | None = None,
    *,
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> FileTable:
    """Detect a file's encoding, delimiter and header, and match its headers with the columns.

    `mapping` overrides the header of a column; an empty header leaves an optional column out.
    """
    if len(data) > most_bytes:
        raise InvalidInput(what, f"{len(data)} bytes", f"must have at most {most_bytes} bytes; split the file")
    encoding = _encoding(what, data)
    names = columns.names
    for column in mapping or {}:
        if column not in names:
            raise unknown_name("map", column, names)
    line, delimiter, headers = _header(what, data, encoding, columns, mapping or {})
    errors = ErrorCollector(what)
    positions = _positions(errors, line, columns, headers, mapping or {})
    errors.raise_any()
    used = set(positions.values())
    ignored = tuple(header for at, header in enumerate(headers) if header and at not in used)
    return FileTable(what, encoding, delimiter, line, headers, positions, ignored, most_rows, data)


# How the file is written


def _encoding(what: str, data: bytes) -> str:
    """Return the encoding by the byte order mark, or else by trial."""
    if data.startswith(b"PK\x03\x04") or data.startswith(b"\xd0\xcf\x11\xe0"):
        raise InvalidInput(what, "a workbook", "must be CSV text; save the sheet as CSV (UTF-8) and use that file")
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            if not _decodes(data, encoding):
                raise InvalidInput(
                    what, encoding.upper(), "has its byte order mark but is damaged; save it again as CSV (UTF-8)"
                )
            return encoding
    if b"\0" in data:
        raise InvalidInput(what, "zero bytes", "is not readable text; save it as CSV (UTF-8)")
    for encoding in ("utf-8", "cp1252"):
        if _decodes(data, encoding):
            return encoding
    raise InvalidInput(what, "unknown encoding", "must be UTF-8, UTF-16 or Windows-1252; save it as CSV (UTF-8)")


def _decodes(data: bytes, encoding: str) -> bool:
    """Return whether the bytes decode in this encoding; the text is not kept in memory."""
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
    """Yield each record with the line it begins on; a record beyond the limits raises at once.

    Quotes are strict: otherwise an unclosed one would silently turn the rest of the file into one cell.
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

    The delimiter is the one that yields the most known columns, then the most cells.
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
        score = (len(_positions(ErrorCollector(what), line, columns, headers, mapping)), len(headers))
        if score > best:
            best, answer = score, (line, delimiter, headers)
    if answer is None:
        raise unread[0]
    return answer


def _first_record(what: str, data: bytes, encoding: str, delimiter: str) -> tuple[int, tuple[str, ...]]:
    """Return the line and cells of the header, skipping a `sep=;` line that spreadsheets may put above it."""
    for line, cells in _records(what, data, encoding, delimiter, _MOST_LINES_ABOVE_HEADER):
        text = delimiter.join(cells).strip()
        if text.strip(delimiter + " ") and not _SEP_LINE.fullmatch(text):
            headers = [cell.strip() for cell in cells]
            while not headers[-1]:
                headers.pop()
            return line, tuple(headers)
    raise _refused(what, 1, "", "", "a header line, such as worker_id,name; the file is empty")


def _positions(
    errors: "ErrorCollector", line: int, columns: Columns, headers: Sequence[str], mapping: Mapping[str, str]
) -> dict[str, int]:
    """Return the index of each column; missing and ambiguous columns are added to the errors."""
    keys = [key_of(header) for header in headers]
    here = shortened(", ".join(headers), 200)
    positions: dict[str, int] = {}
    for name, wanted in mapping.items():
        if not wanted.strip():
            continue
        exact = [at for at, header in enumerate(headers) if header == wanted.strip()]
        places = exact or [at for at, key in enumerate(keys) if key and key == key_of(wanted)]
        if len(places) != 1:
            errors.add(
                line, name, wanted, f"a header that the file has {'but ' if places else ''}once; it has {here!r}"
            )
        elif places[0] in positions.values():
            errors.add(line, name, wanted, "a header of its own; two columns are mapped to this one")
        else:
            positions[name] = places[0]
    mapped = set(positions.values())
    for column in columns.columns:
        if mapping.get(column.name, "").strip():
            continue
        known = {key_of(name) for name in (column.name, *column.synonyms)} if column.name not in mapping else set()
        places = [at for at, key in enumerate(keys) if key in known and at not in mapped]
        choose = f"`map={column.name}=HEADER`"
        if len(places) > 1:
            several = ", ".join(headers[at] for at in places)
            errors.add(line, column.name, several, f"one header for this column; choose with {choose} or rename one")
        elif places:
            positions[column.name] = places[0]
        elif column.required:
            errors.add(line, column.name, here, f"this column; say with {choose} which header it has")
    if columns.either and not any(name in positions or mapping.get(name, "").strip() for name in columns.either):
        names = " or ".join(columns.either)
        errors.add(line, names, here, f"one of these columns; say with `map={columns.either[0]}=HEADER` which it is")
    return positions


# Errors


class ErrorCollector:
    """Collects the errors of a file: the first hundred in full, the others counted."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.errors: list[CsvError] = []
        self.total = 0

    def add(self, line: int, column: str, value: str, expected: str) -> None:
        """Add an error."""
        self.total += 1
        if len(self.errors) < MOST_ERRORS:
            self.errors.append(CsvError(line, column, shortened(value, 200), expected))

    def add_error(self, line: int, error: InvalidInput) -> None:
        """Add an `InvalidInput` under the column it names."""
        self.add(line, error.field, str(error.value), error.remedy)

    def raise_any(self) -> None:
        """Raise the errors by line, if there are any."""
        if self.total:
            raise CsvErrors(self.what, sorted(self.errors, key=lambda error: error.line), self.total)


def _refused(what: str, line: int, column: str, value: str, expected: str) -> CsvErrors:
    return CsvErrors(what, [CsvError(line, column, value, expected)], 1)


def check_width(table: FileTable, errors: ErrorCollector, line: int, cells: Sequence[str]) -> None:
    """Add an error for cells beyond the last header, as when a decimal comma is taken for a delimiter."""
    width = len(table.headers)
    if len(cells) > width and (more := [cell for cell in cells[width:] if cell.strip()]):
        delimiter = {"\t": "tab"}.get(table.delimiter, table.delimiter)
        expected = f"{width} cells as in the header; a cell that holds a {delimiter} must stand in quotation marks"
        errors.add(line, f"cell {width + 1}", more[0], expected)
