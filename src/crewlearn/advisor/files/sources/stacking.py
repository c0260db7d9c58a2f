"""Sheets that are laid out alike, such as one for each week, as one table with a column that names the sheet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crewlearn.advisor.files.sources.source import Source

SHEET_COLUMN = "Sheet"
_LINES_A_SHEET = 10_000_000


class SheetLine(int):
    """A line of one of several sheets: ordered by sheet, and written with the sheet's name.

    >>> line = SheetLine.of(2, 7, "Week 43")
    >>> str(line), int(line), line > SheetLine.of(1, 99, "Week 42")
    ('Week 43:7', 20000007, True)
    """

    sheet: str

    @classmethod
    def of(cls, place: int, line: int, sheet: str) -> "SheetLine":
        """Return a line of the sheet at this place, counted from 0."""
        number = cls(place * _LINES_A_SHEET + line)
        number.sheet = sheet
        return number

    def __str__(self) -> str:
        """Return the sheet's name and the line in it."""
        return f"{self.sheet}:{int(self) % _LINES_A_SHEET}"


@dataclass(frozen=True)
class StackedSheets:
    """The rows of several sheets below the header of the first.

    Parameters
    ----------
    tables
        Each sheet with the line of its header.
    width
        The number of their headers; the sheet's name comes after these cells.
    """

    tables: Sequence[tuple[Source, int]] = field(repr=False)
    width: int

    @property
    def what(self) -> str:
        """The file's name in errors."""
        return self.tables[0][0].what

    @property
    def delimiter(self) -> str:
        """Empty, as in any sheet."""
        return ""

    @property
    def decimal(self) -> str:
        """The decimal mark, which they share."""
        return self.tables[0][0].decimal

    @property
    def sheet(self) -> str:
        """The name of the first sheet."""
        return self.tables[0][0].sheet

    @property
    def shape(self) -> str:
        """How each table was turned into rows."""
        return self.tables[0][0].shape

    @property
    def sheets(self) -> tuple[str, ...]:
        """The names of all sheets."""
        return tuple(source.sheet for source, _ in self.tables)

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the first sheet's records from its header on, then the rows of the others."""
        for place, (source, header_line) in enumerate(self.tables):
            for line, cells in source.records(most_lines):
                if line < header_line or (place and line == header_line):
                    continue
                named = source.sheet if line > header_line else SHEET_COLUMN
                padded = [*cells, *[""] * (self.width - len(cells))]
                yield SheetLine.of(place, line, source.sheet), [*padded[: self.width], named, *padded[self.width :]]
