"""The errors of a file: collected while it is read, and raised together."""

from collections.abc import Sequence
from typing import Any

from crewlearn.advisor.files.cells import shortened
from crewlearn.advisor.files.errors.grouping import CauseCounter, CsvError, ErrorGroup, group
from crewlearn.advisor.ledger.text import counted
from crewlearn.problem.errors import InvalidInput

MOST_ERRORS = 100
_FEW = 12
"""So many errors are listed by line; more are listed by cause."""

_TO_ACCEPT = "To accept that, import it with `yes`."
_TO_CHANGE = (
    "Correct the rows; or say otherwise how it is read, with `yes` and `map=column=HEADER` or `where=HEADER=VALUE`."
)


class CsvErrors(InvalidInput):
    """All errors in a file, by cause and the first hundred in full; the file was not used.

    `reading` says how the file could be read instead, if that was found out; unless it is `readable`, the errors are
    those of reading it so.
    """

    def __init__(
        self,
        what: str,
        errors: Sequence[CsvError],
        total: int,
        groups: Sequence[ErrorGroup] | None = None,
        reading: Sequence[str] = (),
        readable: bool = True,
    ) -> None:
        super().__init__(what, counted(total, "error"), "correct the file and read it again")
        self.what = what
        self.errors = list(errors)
        self.total = total
        self.groups = tuple(group(errors) if groups is None else groups)
        self.reading = tuple(reading)
        self.readable = readable
        self.args = (self.report(),)

    @property
    def misses_all_columns(self) -> bool:
        """Whether the errors are that the header has none of the columns needed."""
        return self._of_header and {"worker_id", "units"} < {error.column for error in self.errors}

    @property
    def _of_header(self) -> bool:
        return bool(self.errors) and all("`map=" in error.expected for error in self.errors)

    def report(self) -> str:
        """Return the errors as text: by line if they are few, else by cause, and how the file could be read.

        If its columns only have other names or places, how it could be read says it all.
        """
        if self.reading and self.readable and self._of_header:
            lines = [f"{self.what} was not used yet: its columns are not named as ours"]
        else:
            lines = [self.table() if self.total <= _FEW else self.causes()]
            if self.total <= _FEW and self.reading:
                lines += [f"- {cause.sentence}: {cause.action}" for cause in self.groups if "`yes`" in cause.action]
        if self.reading:
            lines.append("The file can be read like this:" if self.readable else "The file was read like this:")
            lines += [f"- {sentence}" for sentence in self.reading]
            lines.append(_TO_ACCEPT if self.readable else _TO_CHANGE)
        return "\n".join(lines)

    def causes(self) -> str:
        """Return the errors by cause, each with a few examples and what to do."""
        lines = [f"{self.what}: {counted(self.total, 'error')}; the file was not used"]
        for cause in self.groups:
            lines.append(f"- {cause.sentence}: {cause.action}" if cause.action else f"- {cause.sentence}")
            lines += [
                f"    line {example.line}, {example.column} {shortened(example.value, 40)!r}: {example.expected}"
                for example in cause.examples
                if example.line
            ]
            if cause.count > len(cause.examples) > 0:
                lines.append(f"    and {cause.count - len(cause.examples):,} more")
        return "\n".join(lines)

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
        return CsvErrors, (self.what, self.errors, self.total, self.groups, self.reading, self.readable)


class ErrorCollector:
    """Collects the errors of a file: the first hundred in full, the others counted by cause."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.errors: list[CsvError] = []
        self.total = 0
        self.causes = CauseCounter()

    def add(self, line: int, column: str, value: str, expected: str, worker: str = "") -> None:
        """Add an error; `worker` is whose row it is, where the value does not tell."""
        self.total += 1
        if worker:
            expected = f"{expected}; the row is of {shortened(worker, 40)}"
        error = CsvError(line, column, shortened(value, 200), expected)
        self.causes.add(error)
        if len(self.errors) < MOST_ERRORS:
            self.errors.append(error)

    def add_error(self, line: int, error: InvalidInput) -> None:
        """Add an `InvalidInput` under the column it names."""
        self.add(line, error.field, str(error.value), error.remedy)

    def merge(self, other: CsvErrors) -> None:
        """Add errors that were collected elsewhere."""
        self.total += other.total
        self.causes.merge(other.groups)
        self.errors = [*self.errors, *other.errors][:MOST_ERRORS]

    def raise_any(self, reading: Sequence[str] = ()) -> None:
        """Raise the errors by line, if there are any."""
        if self.total:
            ordered = sorted(self.errors, key=lambda error: error.line)
            raise CsvErrors(self.what, ordered, self.total, self.causes.groups(), reading)


def refused(what: str, line: int, expected: str) -> CsvErrors:
    """Return the error of a file that cannot be read on from a line."""
    return CsvErrors(what, [CsvError(line, "", "", expected)], 1)
