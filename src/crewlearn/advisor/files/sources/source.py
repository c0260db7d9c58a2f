"""What readers need of a file: its records as text, with the line of each."""

from collections.abc import Iterator
from typing import Protocol

JUDGED_COLUMNS = 200
"""Cells of a line by which it is told what the line is; hardly any file has more columns."""
MOST_COLUMNS = 2_000
MOST_LINES = 20_000_000


class Source(Protocol):
    """A file whose records can be read any number of times."""

    @property
    def what(self) -> str:
        """The file's name in errors."""

    @property
    def delimiter(self) -> str:
        """What separates the cells; empty for a sheet."""

    @property
    def decimal(self) -> str:
        """The decimal mark of the numbers, if it is certain without looking at them; else empty."""

    @property
    def sheet(self) -> str:
        """The name of the sheet; empty for text."""

    @property
    def shape(self) -> str:
        """How the table was turned into rows; empty if it has rows already."""

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the line and cells of each record that has any cell; raise beyond so many lines, or some millions."""
