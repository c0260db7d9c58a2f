"""Tables in other shapes, turned into rows.

Days stand across, blocks of columns repeat across, people are headings, or the header takes two lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, zip_longest
from typing import ClassVar

from crewlearn.advisor.files.cells import key_of
from crewlearn.advisor.files.detection.words.values import is_blank, is_number, moment_of
from crewlearn.advisor.files.detection.words.vocabulary import best_fit, is_total, roles_of
from crewlearn.advisor.files.errors.file_errors import CsvErrors
from crewlearn.advisor.files.sources.source import JUDGED_COLUMNS, Source

_SEARCHED = 60
_FEWEST_DAYS = 3
_FEWEST_HEADERS = 3
_MOST_HEADERS = 3
_WIDEST = 100
_WIDEST_REPEATED = 500
_WIDEST_BLOCK = 60
_FIGURE = re.compile(r"\d")
_HEADING = re.compile(r"([^\W\d_][^:]{1,30}?)\s*[:#]\s*(\S.*)")
_WITH_ID = re.compile(
    r"(.*?)[,;]?\s*\b(?:(?:emp(?:loyee)?|badge|worker|pers)\W*)?(?:id|no|nr|number|badge)\b\.?\s*[:#]?\s*(\w*[0-9]\w*)",
    re.IGNORECASE,
)
_PERSON = ("worker", "name")


@dataclass(frozen=True)
class _Reshaped:
    """A source whose records are made from those of another."""

    source: Source = field(repr=False)
    header_line: int

    @property
    def what(self) -> str:
        """The file's name in errors."""
        return self.source.what

    @property
    def delimiter(self) -> str:
        """What separates the cells; empty for a sheet."""
        return self.source.delimiter

    @property
    def decimal(self) -> str:
        """The decimal mark of the numbers, if it is certain without looking at them."""
        return self.source.decimal

    @property
    def sheet(self) -> str:
        """The name of the sheet; empty for text."""
        return self.source.sheet


@dataclass(frozen=True)
class DaysAcross(_Reshaped):
    """A table with a column for each day: every filled cell becomes a row."""

    shape: ClassVar[str] = "days across"

    keys: tuple[int, ...]
    days: tuple[int, ...]

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the header with a date and units, and a row for each person and day."""
        dates: list[str] = []
        for line, cells in self.source.records(most_lines):
            if line < self.header_line:
                yield line, cells
                continue
            padded = cells + [""] * (max(self.keys + self.days) + 1 - len(cells))
            head = [padded[at] for at in self.keys]
            if line == self.header_line:
                dates = [padded[at] for at in self.days]
                yield line, [*head, "Date", "Units"]
                continue
            for day, at in zip(dates, self.days, strict=True):
                if not is_blank(padded[at]):
                    yield line, [*head, day, padded[at]]


@dataclass(frozen=True)
class BlocksAcross(_Reshaped):
    """A table whose last columns repeat, once for each area, task or day: every block becomes a row."""

    shape: ClassVar[str] = "blocks across"

    first: int
    width: int
    blocks: int

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the header with one block and what it is of, and a row for each block that is filled.

        What blocks are of, and headers that are merged with the line above, stand in that line. Totals are left out.
        """
        above: list[str] = []
        named: list[str] = []
        end = self.first + self.width * self.blocks
        starts = range(self.first, end, self.width)
        for line, cells in self.source.records(most_lines):
            if line < self.header_line:
                above = cells
                yield line, cells
                continue
            padded = cells + [""] * (end - len(cells))
            head, rest = padded[: self.first], padded[end:]
            if line == self.header_line:
                above = above + [""] * (len(padded) - len(above))
                named = [
                    next((cell.strip() for cell in above[start : start + self.width] if cell.strip()), str(number))
                    for number, start in enumerate(starts, start=1)
                ]
                of = "Date" if all(_is_day(name) or is_total(name) for name in named) else "Area"
                head = [cell if cell.strip() else merged for cell, merged in zip(head, above, strict=False)]
                yield line, [*head, of, *padded[self.first : self.first + self.width], *rest]
                continue
            for name, start in zip(named, starts, strict=True):
                block = padded[start : start + self.width]
                if not is_total(name) and not all(map(is_blank, block)):
                    yield line, [*head, name, *block, *rest]


@dataclass(frozen=True)
class HeaderInTwoLines(_Reshaped):
    """A report whose header takes two lines, as where its columns are narrow: the texts of a column are joined."""

    shape: ClassVar[str] = "header in two lines"

    upper: tuple[str, ...]
    lower: tuple[str, ...]

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the joined header in the place of its first line, once, and every other line as it is."""
        for line, cells in self.source.records(most_lines):
            texts = _stripped(cells)
            if line == self.header_line:
                yield line, [_joined(*pair) for pair in zip_longest(self.upper, self.lower, fillvalue="")]
            elif texts not in (self.upper, self.lower):
                yield line, cells


def _stripped(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in cells)


def _joined(upper: str, lower: str) -> str:
    """Return a header that is written in two lines.

    >>> _joined("Posting-", "date"), _joined("Pieces", "made"), _joined("Name", "")
    ('Postingdate', 'Pieces made', 'Name')
    """
    if upper.endswith("-") and lower[:1].islower():
        return upper[:-1] + lower
    return f"{upper} {lower}".strip()


@dataclass(frozen=True)
class PeopleAsHeadings(_Reshaped):
    """A report with a heading for each person: the heading becomes the first column of the rows below."""

    shape: ClassVar[str] = "people as headings"

    header: tuple[str, ...]

    def records(self, most_lines: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Yield the header once, with a column for the person, and the rows with the person they belong to."""
        person, begun = "", False
        for line, cells in self.source.records(most_lines):
            heading = person_heading(cells)
            if heading:
                person = heading
            elif tuple(cell.strip() for cell in cells) == self.header:
                if not begun:
                    begun = True
                    yield line, ["Employee", *cells]
            elif begun:
                yield line, [person, *cells]


def person_heading(cells: Sequence[str]) -> str:
    """Return whom a heading names, such as `Employee: 1001 Ann Ames`; empty if the line is no such heading.

    >>> [person_heading(cells) for cells in (["Employee: 1001 Ann Ames", ""], ["Operator:", "A7"], ["Pick"])]
    ['1001 Ann Ames', 'A7', '']
    >>> person_heading(["Employee: Ames, Ann", "ID: 1001"])
    '1001 - Ames, Ann'
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    if not 1 <= len(filled) <= 3:
        return ""
    match = _HEADING.fullmatch(" ".join(filled))
    if match is None or is_total(match[1]):
        return ""
    fits = roles_of(match[1])
    if max(fits.get(role, 0.0) for role in _PERSON) < 0.7:
        return ""
    told = match[2].strip()
    with_id = _WITH_ID.fullmatch(told)
    return f"{with_id[2]} - {with_id[1].strip()}" if with_id and with_id[1].strip() else told


def reshaped(source: Source) -> list[Source]:
    """Return the other shapes that a file may have, each as rows."""
    try:
        records = list(islice(source.records(), _SEARCHED))
    except CsvErrors:
        return []
    found: list[Source] = []
    if (across := _days_across(source, records)) is not None:
        found.append(across)
    for line, cells in records:
        if (block := _repeated(cells)) is not None:
            found.append(BlocksAcross(source, line, *block))
            break
    found += _headers_in_two_lines(source, records)
    headings = [place for place, (_, cells) in enumerate(records) if person_heading(cells)]
    if headings:
        for line, cells in records[max(0, headings[0] - 3) :]:
            texts = tuple(cell.strip() for cell in cells)
            known = sum(max(roles_of(text).values(), default=0.0) >= 0.5 for text in texts if text)
            if known >= 2 and not person_heading(cells):
                found.append(PeopleAsHeadings(source, line, texts))
                break
    return found


def _days_across(source: Source, records: Sequence[tuple[int, list[str]]]) -> DaysAcross | None:
    """Return the table whose header is the first line with several days, if there is one."""
    for line, cells in records:
        if sum(map(_is_day, cells[:JUDGED_COLUMNS])) < _FEWEST_DAYS:
            continue
        days = {at for at, cell in enumerate(cells) if _is_day(cell)}
        keys = tuple(
            at
            for at, cell in enumerate(cells)
            if cell.strip() and at not in days and not is_number(cell) and not is_total(cell)
        )
        if keys:
            return DaysAcross(source, line, keys, tuple(sorted(days)))
    return None


def _headers_in_two_lines(source: Source, records: Sequence[tuple[int, list[str]]]) -> list[HeaderInTwoLines]:
    """Return the tables whose header may be two lines of words, one right below the other."""
    found: list[HeaderInTwoLines] = []
    for (line, upper), (_, lower) in pairwise(records):
        words = [[text for text in _stripped(cells) if text] for cells in (upper, lower)]
        if len(found) == _MOST_HEADERS:
            break
        if not all(words) or not _FEWEST_HEADERS <= len(words[0]) <= _WIDEST or len(words[1]) > _WIDEST:
            continue
        if not any(is_number(text) or _is_day(text) for listed in words for text in listed):
            known = sum(best_fit(text) >= 0.5 for text in words[0])
            if known >= 2 or sum(best_fit(text) >= 0.5 for text in words[1]) >= 2:
                found.append(HeaderInTwoLines(source, line, _stripped(upper), _stripped(lower)))
    return found


def _is_day(cell: str) -> bool:
    text = cell.strip()
    if not 6 <= len(text) <= 30 or text.isdigit() or _FIGURE.search(text) is None:
        return False
    return any(moment_of(text, order) is not None for order in ("day-first", "month-first"))


def _repeated(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Return where repeated columns begin, how many a block has, and how many blocks there are; None if none repeat."""
    keys = [key_of(cell) for cell in cells[:_WIDEST_REPEATED]]
    while keys and not keys[-1]:
        keys.pop()
    if len(set(filter(None, keys))) == len(list(filter(None, keys))):
        return None
    for width in range(1, min(_WIDEST_BLOCK, len(keys) // 2) + 1):
        alike = 0
        for at in range(1, len(keys) - width):
            alike = alike + 1 if keys[at] and keys[at] == keys[at + width] else 0
            if alike < width:
                continue
            first, count = at - width + 1, 2
            block = keys[first : first + width]
            while keys[first + count * width : first + (count + 1) * width] == block:
                count += 1
            return first, width, count
    return None
