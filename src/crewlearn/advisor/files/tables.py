"""Files to cells: the header, its columns, and the rows below it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from crewlearn.advisor.files.cells import key_of, shortened
from crewlearn.advisor.files.columns import Columns
from crewlearn.advisor.files.errors.file_errors import MOST_ERRORS, CsvErrors, ErrorCollector, refused
from crewlearn.advisor.files.errors.grouping import CsvError
from crewlearn.advisor.files.sources.opening import MOST_BYTES, sources_of
from crewlearn.advisor.files.sources.source import Source
from crewlearn.problem.errors import unknown_name

__all__ = [
    "MOST_BYTES",
    "MOST_ERRORS",
    "MOST_ROWS",
    "CsvError",
    "CsvErrors",
    "ErrorCollector",
    "FileTable",
    "check_width",
    "read_table",
]

MOST_ROWS = 5_000_000

_MOST_LINES_ABOVE_HEADER = 1_000
_SEP_LINE = re.compile(r'"?sep=.?"?', re.IGNORECASE)


@dataclass(frozen=True)
class FileTable:
    """A file with a known header; `rows` reads the source on every call.

    `positions` maps each column in the file to its index; `ignored` are the headers that match no column.
    """

    source: Source = field(repr=False)
    header_line: int
    headers: tuple[str, ...]
    positions: Mapping[str, int]
    ignored: tuple[str, ...]
    most_rows: int

    @property
    def what(self) -> str:
        """The file's name in errors."""
        return self.source.what

    @property
    def delimiter(self) -> str:
        """What separates the cells; empty for a sheet."""
        return self.source.delimiter

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line and cells of each row that is not blank, padded to the number of headers."""
        width = len(self.headers)
        count = 0
        for line, cells in self.source.records():
            if line <= self.header_line or (not cells[0].strip() and not "".join(cells).strip()):
                continue
            count += 1
            if count > self.most_rows:
                raise refused(self.what, line, f"at most {self.most_rows} rows; split the file")
            yield line, cells if len(cells) >= width else cells + [""] * (width - len(cells))


def read_table(
    data: bytes | Sequence[Source],
    what: str,
    columns: Columns,
    mapping: Mapping[str, str] | None = None,
    *,
    most_bytes: int = MOST_BYTES,
    most_rows: int = MOST_ROWS,
) -> FileTable:
    """Detect how a file is written and where its header is, and match its headers with the columns.

    `mapping` overrides the header of a column; an empty header leaves an optional column out.
    """
    sources = sources_of(what, data, most_bytes) if isinstance(data, bytes) else data
    names = columns.names
    for column in mapping or {}:
        if column not in names:
            raise unknown_name("map", column, names)
    source, line, headers = _header(what, sources, columns, mapping or {})
    errors = ErrorCollector(what)
    positions = _positions(errors, line, columns, headers, mapping or {})
    errors.raise_any()
    used = set(positions.values())
    ignored = tuple(header for at, header in enumerate(headers) if header and at not in used)
    return FileTable(source, line, headers, positions, ignored, most_rows)


# The header


def _header(
    what: str, sources: Sequence[Source], columns: Columns, mapping: Mapping[str, str]
) -> tuple[Source, int, tuple[str, ...]]:
    """Find the source, the header's line and the headers.

    The delimiter or sheet is the one that yields the most known columns, then the most cells.
    """
    best = (-1, -1)
    answer: tuple[Source, int, tuple[str, ...]] | None = None
    unread: list[CsvErrors] = []
    for source in sources:
        try:
            line, headers = _first_record(source)
        except CsvErrors as error:
            unread.append(error)
            continue
        score = (len(_positions(ErrorCollector(what), line, columns, headers, mapping)), len(headers))
        if score > best:
            best, answer = score, (source, line, headers)
    if answer is None:
        raise unread[0]
    return answer


def _first_record(source: Source) -> tuple[int, tuple[str, ...]]:
    """Return the line and cells of the header, skipping a `sep=;` line that spreadsheets may put above it."""
    for line, cells in source.records(_MOST_LINES_ABOVE_HEADER):
        text = source.delimiter.join(cells).strip()
        if text.strip(source.delimiter + " ") and not _SEP_LINE.fullmatch(text):
            headers = [cell.strip() for cell in cells]
            while not headers[-1]:
                headers.pop()
            return line, tuple(headers)
    raise refused(source.what, 1, "a header line, such as worker_id,name; the file is empty")


def _positions(
    errors: ErrorCollector, line: int, columns: Columns, headers: Sequence[str], mapping: Mapping[str, str]
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


def check_width(table: FileTable, errors: ErrorCollector, line: int, cells: Sequence[str]) -> None:
    """Add an error for cells beyond the last header, as when a decimal comma is taken for a delimiter."""
    width = len(table.headers)
    if len(cells) > width and (more := [cell for cell in cells[width:] if cell.strip()]):
        delimiter = {"\t": "tab"}.get(table.delimiter, table.delimiter)
        expected = f"{width} cells as in the header; a cell that holds a {delimiter} must stand in quotation marks"
        errors.add(line, f"cell {width + 1}", more[0], expected)
