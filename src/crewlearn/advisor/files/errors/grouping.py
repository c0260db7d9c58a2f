"""Errors by cause: each cause once, with its number of rows, a few examples and one action."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from crewlearn.advisor.ledger.text import counted

MOST_EXAMPLES = 3
_MOST_CAUSES = 50
_VARIABLE = re.compile(r"'[^']*'|[0-9][0-9.,:-]*")


@dataclass(frozen=True)
class CsvError:
    """An error in a file: its place, the value there, and what is expected."""

    line: int
    column: str
    value: str
    expected: str


@dataclass(frozen=True)
class ErrorGroup:
    """The errors of one cause: how many, the first few, what is wrong in a sentence, and what to do about it."""

    count: int
    sentence: str
    action: str
    examples: tuple[CsvError, ...] = ()


@dataclass(frozen=True)
class _Cause:
    """A cause that is known: what its errors look like, and the words for it.

    `words` begin after the count; a group of the pattern sets errors of the same kind apart, such as weekdays.
    """

    columns: tuple[str, ...]
    pattern: re.Pattern[str]
    words: tuple[str, str]
    action: str
    noun: str = "row"

    def sentence(self, count: int, part: str) -> str:
        """Return what is wrong with so many rows."""
        return f"{counted(count, self.noun)} {self.words[count != 1].format(part=part)}"


def _cause(columns: str, pattern: str, one: str, many: str, action: str, noun: str = "row") -> _Cause:
    return _Cause(tuple(columns.split()), re.compile(pattern), (one, many), action, noun)


_IF_RIGHT = "check them; if they are right, record them as they are: `accept_unusual`"


_KNOWN = (
    _cause(
        *("date day", "is a ([A-Z][a-z]+day), on which nobody works", "is on a {part}", "are on {part}s"),
        "record them as overtime: `yes`",
    ),
    _cause("date day", "is a closure", "is on a closed day", "are on closed days", "record them as overtime: `yes`"),
    _cause(
        *("date day", "lies before the calendar's start, ([0-9-]+)"),
        *("is from before {part}, where the calendar begins", "are from before {part}, where the calendar begins"),
        "take them in as history: `yes`",
    ),
    _cause(
        *("date period", "not in the future; today is ([0-9-]+)", "is in the future", "are in the future"),
        "check the order of day and month, or leave these rows out until then",
    ),
    _cause(
        *("worker_id", "a worker known here", "is of somebody not known here", "are of people not known here"),
        "enrol them: `yes`; or leave these rows out: `skip_unknown`",
    ),
    _cause(
        *("worker_id", "each worker once for each day", "is a second one for its worker and day"),
        *("repeat their worker and day", "add up what belongs to a day: `yes`"),
    ),
    _cause(
        *("worker_id", "^the worker's id", "has no usable worker's id", "have no usable worker's id"),
        "fill in the ids; drop total lines and repeated headers: `yes`",
    ),
    _cause(
        *("units", "^the units made, or an attendance", "has no units and no attendance"),
        *("have no units and no attendance", "record them as absences: `yes`"),
    ),
    _cause(
        *("units hours", "^a number", "has no readable number there", "have no readable number there"),
        "correct the cells, or let the file be read as it is written: `yes`",
    ),
    _cause(
        *("date", "^a date that exists", "has no readable date", "have no readable date"),
        "correct the cells, or let the file be read as it is written: `yes`",
    ),
    _cause(
        *("units", "^usual of this person is about", "is far from what is usual of the person"),
        *("are far from what is usual of the person", _IF_RIGHT),
    ),
    _cause(
        *("units", "^usual of others is about", "of somebody new is far from what is usual of others"),
        *("of people who are new are far from what is usual of others", _IF_RIGHT),
    ),
    _cause(
        *("units", "^the output of everybody is", "is unusual for everybody", "are unusual for everybody", _IF_RIGHT),
        noun="day",
    ),
    _cause("units", "^usually about", "has few people", "have few people", _IF_RIGHT, noun="day"),
)


def _recognised(error: CsvError) -> tuple[_Cause, str] | None:
    for cause in _KNOWN:
        if error.column in cause.columns and (match := cause.pattern.search(error.expected)):
            return cause, match[1] if match.groups() else ""
    return None


def cause_of(error: CsvError) -> tuple[str, str]:
    """Return what errors of the same cause share: the column, and what is expected without its particulars."""
    if known := _recognised(error):
        cause, part = known
        return error.column, f"{cause.pattern.pattern} {part}"
    return error.column, _VARIABLE.sub("#", error.expected.partition(";")[0])


@dataclass
class CauseCounter:
    """Counts errors by cause, and keeps the first few of each."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    examples: dict[tuple[str, str], list[CsvError]] = field(default_factory=dict)
    others: int = 0

    def add(self, error: CsvError, count: int = 1) -> None:
        """Count an error, or the errors that it is an example of."""
        key = cause_of(error)
        if key not in self.counts and len(self.counts) >= _MOST_CAUSES:
            self.others += count
            return
        self.counts[key] = self.counts.get(key, 0) + count
        examples = self.examples.setdefault(key, [])
        if len(examples) < MOST_EXAMPLES:
            examples.append(error)

    def merge(self, groups: Iterable[ErrorGroup]) -> None:
        """Add groups of errors that were collected elsewhere."""
        for group in groups:
            for place, example in enumerate(group.examples):
                self.add(example, group.count - len(group.examples) + 1 if place == 0 else 1)

    def groups(self) -> tuple[ErrorGroup, ...]:
        """Return the groups, the largest first."""
        listed = [self._group(key, count) for key, count in self.counts.items()]
        listed.sort(key=lambda group: (-group.count, group.examples[0].line))
        if self.others:
            listed.append(ErrorGroup(self.others, f"{counted(self.others, 'more error')} of other kinds", ""))
        return tuple(listed)

    def _group(self, key: tuple[str, str], count: int) -> ErrorGroup:
        examples = tuple(self.examples[key])
        if known := _recognised(examples[0]):
            cause, part = known
            return ErrorGroup(count, cause.sentence(count, part), cause.action, examples)
        column = key[0] or "the file"
        place = f"{counted(count, 'row')}: {column}" if examples[0].line else column
        return ErrorGroup(count, f"{place} is not as expected", f"expected {examples[0].expected}", examples)


def group(errors: Iterable[CsvError]) -> tuple[ErrorGroup, ...]:
    """Return errors by cause.

    >>> saturday = "a working day; this is a Saturday, on which nobody works here"
    >>> (found,) = group(CsvError(line, "date", "2026-11-14", saturday) for line in range(2, 54))
    >>> found.sentence, found.action, len(found.examples)
    ('52 rows are on Saturdays', 'record them as overtime: `yes`', 3)
    """
    counter = CauseCounter()
    for error in errors:
        counter.add(error)
    return counter.groups()
