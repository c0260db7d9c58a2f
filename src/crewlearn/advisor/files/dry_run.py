"""Dry runs: what importing a file would record, and every error in it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from crewlearn.advisor.files.cells import shortened
from crewlearn.advisor.files.columns import columns_of
from crewlearn.advisor.files.guard import Oddity, UnusualOutput
from crewlearn.advisor.files.import_result import ImportResult
from crewlearn.advisor.files.imports import ImportFile, day_rule, scan_file, take_in
from crewlearn.advisor.files.tables import MOST_ERRORS, CsvError, CsvErrors, FileTable, read_table
from crewlearn.advisor.ledger.errors import Stale, StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.errors import InvalidInput


class _Over(Exception):
    """Rolls a rehearsal back."""


@dataclass
class Rehearsal(Store):
    """A store whose writes are rolled back."""

    @contextmanager
    def writing(self, *given: Any, **named: Any) -> Iterator[SiteTransaction]:
        """Write to a site in a transaction that is rolled back."""
        try:
            with super().writing(*given, **named) as work:
                yield work
                raise _Over
        except _Over:
            return


@dataclass(frozen=True)
class DryRun:
    """What importing a file would do: the columns detected, what would be recorded, and the errors.

    With errors nothing would be recorded; `total` includes errors that are not listed.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    rows: int = 0
    result: ImportResult = field(default_factory=ImportResult)
    errors: tuple[CsvError, ...] = ()
    total: int = 0

    @property
    def sound(self) -> bool:
        """Whether the file can be imported as it is."""
        return self.total == 0


def check(store: Store, site: str, file: ImportFile, actor: str, *, expected: int | None = None) -> DryRun:
    """Import a file in a transaction that is rolled back; return the result, or every error."""
    dry_run, day_of = DryRun(), day_rule(store, site, file.kind)
    try:
        scanned = scan_file(file, day_of)
        table = scanned.table
        dry_run = DryRun(
            columns={name: table.headers[at] for name, at in table.positions.items()},
            ignored=table.ignored,
            rows=scanned.rows,
        )
        rehearsal = Rehearsal(store.engine, store.derive, store.clock)
        return replace(dry_run, result=take_in(rehearsal, site, file, actor, expected=expected, scanned=scanned))
    except CsvErrors as error:
        return replace(dry_run, errors=tuple(error.errors), total=error.total)
    except UnusualOutput as error:
        found = tuple(CsvError(odd.line, "units", _shown(odd), odd.why) for odd in error.oddities[:MOST_ERRORS])
        return replace(dry_run, errors=found, total=len(error.oddities))
    except InvalidInput as error:
        if isinstance(error, (Stale, StoreUnavailable)):  # not an error of the file
            raise
        whole_file = CsvError(0, error.field, shortened(str(error.value), 200), error.remedy)
        return replace(dry_run, errors=(whole_file,), total=1)


def _shown(odd: Oddity) -> str:
    """Return the value of a finding; of a whole day, with the day."""
    return odd.value if odd.line else f"{odd.day}: {odd.value}"


def readable_table(file: ImportFile) -> FileTable | None:
    """Return the table of a file whose columns may be missing or ambiguous, so that a person can choose them."""
    lenient = columns_of(file.kind).all_optional()
    mapping = dict(file.options.mapping)
    for _ in range(2):
        try:
            return read_table(file.data, file.what, lenient, mapping)
        except CsvErrors as error:
            mapping |= {fault.column: "" for fault in error.errors if fault.column in lenient.names}
        except InvalidInput:
            break
    return None
