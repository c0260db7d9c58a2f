"""Imports tried without keeping anything: what a file would put on record, and all that is wrong with it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from crewlearn.advisor.conflict import Stale
from crewlearn.advisor.csv_table import CsvError, CsvErrors, Table, shortened
from crewlearn.advisor.imports import Done
from crewlearn.advisor.store import Store
from crewlearn.advisor.writing import Writing
from crewlearn.problem.errors import InvalidInput


class _Over(Exception):
    """Ends a rehearsal."""


@dataclass
class Rehearsal(Store):
    """A store in which a command does all it does in a transaction that is then dropped."""

    @contextmanager
    def writing(self, *given: Any, **named: Any) -> Iterator[Writing]:
        """Write to a site for nothing."""
        try:
            with super().writing(*given, **named) as work:
                yield work
                raise _Over
        except _Over:
            return


@dataclass(frozen=True)
class Checked:
    """What importing a file would do: which header is which column, what would be recorded, and what is wrong.

    With errors nothing would be; `total` counts those that are not listed too.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    rows: int = 0
    done: Done = field(default_factory=Done)
    errors: tuple[CsvError, ...] = ()
    total: int = 0

    @property
    def sound(self) -> bool:
        """Whether the file can be imported as it is."""
        return self.total == 0


def check_import(store: Store, open_table: Callable[[], Table], take_in: Callable[[Store], Done]) -> Checked:
    """Try an import: `open_table` understands the file's header, `take_in` reads and imports it into a store."""
    checked = Checked()
    try:
        table = open_table()
        checked = Checked(
            columns={name: table.headers[at] for name, at in table.positions.items()},
            ignored=table.ignored,
            rows=sum(1 for _ in table.rows()),
        )
        return replace(checked, done=take_in(Rehearsal(store.engine, store.clock)))
    except CsvErrors as error:
        return replace(checked, errors=tuple(error.errors), total=error.total)
    except InvalidInput as error:
        if isinstance(error, Stale) or error.field == "db":  # which is not about the file
            raise
        one = CsvError(0, error.field, shortened(str(error.value), 200), error.remedy)
        return replace(checked, errors=(one,), total=1)
