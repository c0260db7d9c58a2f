"""Checks of a workbook before it is opened: sizes, macros, and formulas without values.

The library that reads workbooks builds a full grid from the first used cell to the last, and trusts the sizes that the
file declares. Both are therefore measured here, while every part is unpacked once with a limit.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from crewlearn.advisor.files.sources.source import MOST_COLUMNS
from crewlearn.problem.errors import InvalidInput

MOST_UNPACKED = 1_500_000_000
MOST_CELLS = 24_000_000
_MOST_MEMBERS = 2_000
_STEP = 1 << 20
_OVERLAP = 1 << 12
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
_ADDRESS = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]{1,8})([0-9]{1,12})[\"']")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_ROW = re.compile(rb"<(?:\w+:)?row[\s/>]")
_NO_VALUE = re.compile(rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f(?:\s[^<>]*)?/>)\s*(?:<(?:\w+:)?v\s*/>|<v></v>)?\s*</(?:\w+:)?c>")


def check_workbook(what: str, data: bytes) -> None:
    """Refuse a workbook that is damaged, too large once unpacked, has macros, or has formulas without values."""
    try:
        members = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error):
        raise InvalidInput(
            what, "a damaged workbook", "cannot be opened; save the sheet as CSV or as .xlsx again"
        ) from None
    names = [member.filename.lower() for member in members]
    if len(names) > _MOST_MEMBERS or len(set(names)) != len(names):
        raise InvalidInput(what, "a damaged workbook", "has too many parts, or one twice; save it again as .xlsx")
    if any(name.endswith("vbaproject.bin") or "/macrosheets/" in name for name in names):
        raise InvalidInput(what, "a workbook with macros", "is not opened; save the sheet as .xlsx or CSV without them")
    if "xl/workbook.xml" not in names:
        kind = "a binary workbook" if "xl/workbook.bin" in names else "a zip archive"
        raise InvalidInput(what, kind, "must be CSV text or an .xlsx workbook; save the sheet as one of these")
    if sum(member.file_size for member in members) > MOST_UNPACKED:
        raise _too_large(what)
    unpacked = 0
    for member in members:
        unpacked += _check_member(what, data, member, MOST_UNPACKED - unpacked)


def _too_large(what: str) -> InvalidInput:
    return InvalidInput(what, "a workbook", "is too large once it is unpacked; split it, or save the sheet as CSV")


def _check_member(what: str, data: bytes, member: zipfile.ZipInfo, most: int) -> int:
    """Unpack a part within the limit, check that its size is as declared, and measure it if it is a sheet."""
    size = 0
    sheet = _SheetSize() if _SHEET.fullmatch(member.filename) else None
    for chunk in _unpacked(what, data, member):
        size += len(chunk)
        if size > most or size > member.file_size:
            raise _too_large(what)
        if sheet is not None:
            sheet.take(chunk)
            if sheet.cells > MOST_CELLS or sheet.width > MOST_COLUMNS:
                raise InvalidInput(
                    what,
                    "a sheet",
                    f"must have at most {MOST_COLUMNS} columns and {MOST_CELLS:,} cells, blank ones included; "
                    "delete unused rows and columns, or save it as CSV",
                )
    if size != member.file_size:
        raise InvalidInput(what, "a damaged workbook", "cannot be unpacked; save it again as .xlsx or CSV")
    if sheet is not None and sheet.without_value:
        raise InvalidInput(
            what,
            f"{sheet.without_value} formulas without a value",
            "cannot be read; open it in a spreadsheet program, save it, and import that file",
        )
    return size


def _unpacked(what: str, data: bytes, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a part from its raw bytes, whatever size the file declares."""
    start = member.header_offset
    damaged = InvalidInput(what, "a damaged workbook", "cannot be unpacked; save it again as .xlsx or CSV")
    if start < 0 or start + _LOCAL_HEADER.size + 4 > len(data) or member.flag_bits & 1:
        raise damaged
    signature, name, extra = _LOCAL_HEADER.unpack_from(data, start)
    start += 30 + name + extra
    end = start + member.compress_size
    if signature != b"PK\x03\x04" or end > len(data):
        raise damaged
    if member.compress_type == zipfile.ZIP_STORED:
        yield from (data[at : min(end, at + _STEP)] for at in range(start, end, _STEP))
        return
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise damaged
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for at in range(start, end, _STEP):
            left = data[at : min(end, at + _STEP)]
            while left and not unpacker.eof:
                yield unpacker.decompress(left, _STEP)
                left = unpacker.unconsumed_tail
        while not unpacker.eof and (rest := unpacker.decompress(unpacker.unconsumed_tail, _STEP)):
            yield rest
    except zlib.error:
        raise damaged from None
    if not unpacker.eof:
        raise damaged


@dataclass
class _SheetSize:
    """The size of the grid that a sheet takes, measured on its text as it is unpacked."""

    width: int = 0
    height: int = 0
    rows: int = 0
    in_row: int = 0
    without_value: int = 0
    tail: bytes = b""

    @property
    def cells(self) -> int:
        """The cells of the grid, blank ones included."""
        return self.width * max(self.height, self.rows)

    def take(self, chunk: bytes) -> None:
        """Measure the next part of the sheet's text."""
        text = self.tail + chunk
        cut = text.rfind(b"<", max(0, len(text) - _OVERLAP))  # a tag may be cut in two
        cut = text.rfind(b"<", 0, cut) if cut > 0 else cut
        if cut > 0:
            text, self.tail = text[:cut], text[cut:]
        else:
            self.tail = b""
        letters: set[bytes] = set()
        for column, row in set(_ADDRESS.findall(text)):
            letters.add(column)
            self.height = max(self.height, int(row))
        for column in letters:
            self.width = max(self.width, _column_number(column))
        self._count_cells(text)
        self.without_value += len(_NO_VALUE.findall(text))

    def _count_cells(self, text: bytes) -> None:
        """Count rows and the cells in each, which matters where cells have no address."""
        first, *more = _ROW.split(text)
        self.in_row += len(_CELL.findall(first))
        self.width = max(self.width, self.in_row)
        self.rows += len(more)
        for row in more:
            self.in_row = row.count(b"<c") if len(row) < _STEP else len(_CELL.findall(row))
            self.width = max(self.width, self.in_row)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
