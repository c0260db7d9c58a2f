"""Where a table is in a file: the line of its header, and the lines that are no data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from crewlearn.advisor.files.cells import key_of
from crewlearn.advisor.files.detection.reshaping import reshaped
from crewlearn.advisor.files.detection.words.values import is_blank, is_number, moment_of
from crewlearn.advisor.files.detection.words.vocabulary import has_total, roles_of
from crewlearn.advisor.files.errors.file_errors import CsvErrors
from crewlearn.advisor.files.sources.source import JUDGED_COLUMNS, Source
from crewlearn.advisor.files.sources.stacking import SHEET_COLUMN, StackedSheets

LINES_SEARCHED = 60
SAMPLE = 500
_MOST_SHEETS = 60
"""Sheets among which the table is looked for; further ones count if they have the same header."""
_TELLING = 0.5
_BELOW = 29
_LONGEST_HEADER = 80


@dataclass(frozen=True)
class Layout:
    """A table found in a file: its source, the header's line and texts, and the first rows below it."""

    source: Source = field(repr=False)
    line: int
    headers: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...] = field(repr=False)
    score: float = 0.0

    @property
    def places(self) -> Mapping[str, int]:
        """The position of each header, by `key_of` its text."""
        return {key_of(header): at for at, header in reversed(list(enumerate(self.headers)))}

    def body(self) -> Iterator[tuple[int, list[str]]]:
        """Yield every row below the header, padded to the number of headers."""
        width = len(self.headers)
        blank = [""] * width
        for line, cells in self.source.records():
            if line > self.line:
                yield line, cells if len(cells) >= width else cells + blank[len(cells) :]


def column_in(rows: Sequence[tuple[int, list[str]]], at: int) -> list[str]:
    """Return the cells of a column that are not blank."""
    return [cells[at] for _, cells in rows if at < len(cells) and not is_blank(cells[at])]


def named_headers(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the headers, each with a name of its own: blank ones by position, repeated ones with a number.

    >>> named_headers(["Units", "", "Units", " "])
    ('Units', 'column 2', 'Units (2)')
    """
    texts = [" ".join(cell.split()) for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    seen: dict[str, int] = {}
    named = []
    for at, text in enumerate(texts, start=1):
        name = text or f"column {at}"
        key = key_of(name) or name
        seen[key] = seen.get(key, 0) + 1
        named.append(name if seen[key] == 1 else f"{name} ({seen[key]})")
    return tuple(named)


def find_layout(sources: Sequence[Source]) -> Layout:
    """Return the most plausible table of a file, or raise the file's error if it cannot be read.

    Sheets that are laid out alike are one table.
    """
    best: Layout | None = None
    unread: list[CsvErrors] = []
    for source in chain.from_iterable(map(_all_shapes, sources[:_MOST_SHEETS])):
        try:
            layout = _layout_of(source)
        except CsvErrors as error:
            unread.append(error)
            continue
        if layout is not None and (best is None or layout.score > best.score):
            best = layout
    if best is None:
        if unread:
            raise unread[0]
        what = sources[0].what
        raise CsvErrors(what, [], 0)
    return _with_sheets_alike(best, sources)


def layout_with(sources: Sequence[Source], headers: Sequence[str], sheet: str = "", shape: str = "") -> Layout | None:
    """Return the table of a file in a shape whose header has all these texts, or None if there is none."""
    wanted = {key_of(header) for header in headers}
    in_each = wanted - {key_of(SHEET_COLUMN)} if len(sources) > 1 else wanted
    for source in sorted(sources, key=lambda source: source.sheet != sheet):
        layout = _layout_named(source, shape, lambda keys: in_each <= set(keys))
        if layout is not None:
            layout = _with_sheets_alike(layout, sources)
            if wanted <= layout.places.keys():
                return layout
    return None


def _layout_named(source: Source, shape: str, fits: Callable[[Sequence[str]], bool], first: str = "") -> Layout | None:
    """Return the first table of a source in a shape whose headers fit, each given by `key_of` its text.

    `first` is the key of the first header, if it is known: most lines are passed over by it.
    """
    for candidate in _all_shapes(source) if shape else [source]:
        if candidate.shape != shape:
            continue
        try:
            above = list(islice(candidate.records(), LINES_SEARCHED))
        except CsvErrors:
            continue
        for at, (line, cells) in enumerate(above):
            if first and cells[0].strip() and key_of(cells[0]) != first:
                continue
            named = named_headers(cells)
            if len(named) < len(cells):
                named += tuple(f"column {place + 1}" for place in range(len(named), len(cells)))
            if fits([key_of(header) for header in named]):
                return Layout(candidate, line, named, _padded(above[at + 1 :], len(named)))
    return None


def _with_sheets_alike(layout: Layout, sources: Sequence[Source]) -> Layout:
    """Return a sheet's table together with those of the other sheets that have the same header."""
    if len(sources) < 2 or not layout.source.sheet:
        return layout
    wanted = [key_of(header) for header in layout.headers]
    alike = [
        layout
        if source.sheet == layout.source.sheet
        else _layout_named(source, layout.source.shape, lambda keys: list(keys[: len(wanted)]) == wanted, wanted[0])
        for source in sources
        if source.decimal == layout.source.decimal
    ]
    tables = [table for table in alike if table is not None]
    if len(tables) < 2:
        return layout
    stacked = StackedSheets([(table.source, table.line) for table in tables], len(wanted))
    records = list(islice(stacked.records(), 1 + SAMPLE))
    headers = named_headers(records[0][1])
    return Layout(stacked, records[0][0], headers, _usable(records[1:], len(headers)), layout.score)


def _all_shapes(source: Source) -> list[Source]:
    """Return a source as it is, followed by the other shapes that it may have."""
    return [source, *reshaped(source)]


def _layout_of(source: Source) -> Layout | None:
    records = list(islice(source.records(), LINES_SEARCHED + SAMPLE))
    best: tuple[float, int] | None = None
    data = [_data_places(cells) for _, cells in records[: LINES_SEARCHED + _BELOW]]
    for at, (_, cells) in enumerate(records[:LINES_SEARCHED]):
        score = _header_score(cells, data[at + 1 : at + 1 + _BELOW])
        if best is None or score > best[0] + 1e-9:
            best = (score, at)
    if best is None:
        return None
    score, at = best
    headers = named_headers(records[at][1])
    # columns may lack a header, but not beyond the cells of the header's line
    used = max(
        (place + 1 for _, cells in records[at + 1 :] for place, cell in enumerate(cells) if cell.strip()), default=0
    )
    beyond = range(len(headers), min(len(records[at][1]), used))
    headers += tuple(f"column {place + 1}" for place in beyond)
    return Layout(source, records[at][0], headers, _usable(records[at + 1 :], len(headers)), score)


def _usable(rows: Sequence[tuple[int, list[str]]], width: int) -> tuple[tuple[int, list[str]], ...]:
    """Return the first rows that are no totals."""
    return tuple(row for row in _padded(rows, width) if not has_total(row[1]))[:SAMPLE]


def _padded(rows: Sequence[tuple[int, list[str]]], width: int) -> tuple[tuple[int, list[str]], ...]:
    blank = [""] * width
    return tuple((line, cells + blank[len(cells) :]) for line, cells in rows if "".join(cells).strip())


def _data_places(cells: Sequence[str]) -> frozenset[int]:
    """Return which cells of a line are numbers or dates; none if fewer than two cells are filled."""
    if len(list(islice(filter(str.strip, cells), 2))) < 2:
        return frozenset()
    judged = enumerate(cells[:JUDGED_COLUMNS])
    return frozenset(at for at, cell in judged if is_number(cell) or moment_of(cell, "day-first"))


def _header_score(cells: Sequence[str], below: Sequence[frozenset[int]]) -> float:
    """Return how much a line looks like a header: known words, no data, and data right below.

    `below` has the places of numbers and dates in each of the next lines.
    """
    texts = [cell.strip() for cell in cells]
    filled = [text for text in texts if text]
    if len(filled) < 2:
        return 0.0
    roles: dict[str, float] = {}
    words = 0.0
    if any(len(text) > _LONGEST_HEADER for text in filled):  # as notes are, or the questions of a form
        words -= 0.7
    for text in filled[:JUDGED_COLUMNS]:
        if len(text) > _LONGEST_HEADER:
            continue
        if moment_of(text, "day-first") or (is_number(text) and len(text) > 2):
            words -= 0.7
            continue
        fits = {role: score for role, score in roles_of(text).items() if score >= _TELLING}
        for role, score in fits.items():
            roles[role] = max(roles.get(role, 0.0), score)
        words += 0.3 * max(fits.values(), default=0.0)
    named = {at for at, text in enumerate(texts) if text}
    data = any(not named.isdisjoint(places) for places in below)
    essential = sum(1.5 * max((roles.get(role, 0.0) for role in group), default=0.0) for group in _ESSENTIAL)
    repeated = len({key_of(text) for text in filled}) / len(filled)
    return essential + words * repeated + (0.5 if data else -3.0) + 0.02 * min(len(filled), 20)


_ESSENTIAL = (
    ("date",),
    ("worker", "name", "first", "last"),
    ("units", "counts", "calls", "handle", "percent", "rate", "errors", "total_handle"),
)
