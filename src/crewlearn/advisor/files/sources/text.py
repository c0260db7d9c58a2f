"""CSV text: its encoding, and its records by line."""

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field

from crewlearn.advisor.files.errors.file_errors import refused
from crewlearn.advisor.files.sources.source import MOST_COLUMNS, MOST_LINES
from crewlearn.problem.errors import InvalidInput

DELIMITERS = (",", ";", "\t", "|")
_LONGEST_RECORD = 1_000_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class TextSource:
    """CSV text with its encoding and delimiter."""

    what: str
    encoding: str
    delimiter: str
    data: bytes = field(repr=False)
    decimal: str = ""
    sheet: str = ""
    shape: str = ""

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield each record with the line it begins on; a record beyond the limits raises at once.

        Quotes are strict: otherwise an unclosed one would silently turn the rest of the file into one cell.
        """
        what, line, length = self.what, 1, 0
        most_lines = most_lines or MOST_LINES

        def lines() -> Iterator[str]:
            nonlocal length
            for text in io.TextIOWrapper(io.BytesIO(self.data), encoding=self.encoding, newline=""):
                length += len(text)
                if length > _LONGEST_RECORD:
                    expected = (
                        f"a row of at most {_LONGEST_RECORD} characters; is a quotation mark missing or left over?"
                    )
                    raise refused(what, line, expected)
                yield text

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        try:
            for cells in reader:
                if reader.line_num > most_lines:
                    raise refused(what, line, f"at most {most_lines} lines up to here; remove blank lines or split")
                if len(cells) > MOST_COLUMNS:
                    raise refused(what, line, f"at most {MOST_COLUMNS} cells in a row; this has {len(cells)}")
                if cells:
                    yield line, cells
                line, length = reader.line_num + 1, 0
        except csv.Error as error:
            expected = f"a row of cells; this one cannot be read ({error}): is a quotation mark missing or left over?"
            raise refused(what, line, expected) from None


def encoding_of(what: str, data: bytes) -> str:
    """Return the encoding by the byte order mark, or else by trial."""
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
