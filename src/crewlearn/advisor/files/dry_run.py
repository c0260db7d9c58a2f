"""Dry runs: what importing a file would record, and every error in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from crewlearn.advisor.files.cells import shortened
from crewlearn.advisor.files.columns import OUTPUT, columns_of
from crewlearn.advisor.files.errors.file_errors import ErrorCollector
from crewlearn.advisor.files.errors.grouping import CsvError, ErrorGroup
from crewlearn.advisor.files.imports import scan_workers, take_in
from crewlearn.advisor.files.intake.import_file import ImportFile
from crewlearn.advisor.files.intake.output_files import read_output_file, record, with_reading
from crewlearn.advisor.files.intake.rehearsal import rehearsal_of
from crewlearn.advisor.files.recording.guard import UnusualOutput, collect
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.files.tables import CsvErrors, FileTable, read_table
from crewlearn.advisor.ledger.errors import Stale, StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput


@dataclass(frozen=True)
class DryRun:
    """What importing a file would do: the columns detected, what would be recorded, and the errors.

    With errors nothing would be recorded; `total` includes errors that are not listed, and `groups` has them by cause.
    `reading` says how the file is read, or could be read if that is accepted. `table` has its rows, if they were found.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    rows: int = 0
    result: ImportResult = field(default_factory=ImportResult)
    errors: tuple[CsvError, ...] = ()
    total: int = 0
    groups: tuple[ErrorGroup, ...] = ()
    reading: tuple[str, ...] = ()
    table: FileTable | None = field(default=None, repr=False)

    @property
    def sound(self) -> bool:
        """Whether the file can be imported as it is."""
        return self.total == 0


def check(store: Store, site: str, file: ImportFile, actor: str, *, expected: int | None = None) -> DryRun:
    """Import a file in a transaction that is rolled back; return the result, or every error."""
    dry_run = DryRun()
    rehearsal = rehearsal_of(store)
    try:
        if file.kind != OUTPUT.kind:
            scanned = scan_workers(file)
            table = scanned.table
            dry_run = _of_table(table, scanned.rows)
            return replace(dry_run, result=take_in(rehearsal, site, file, actor, expected=expected))
        read = read_output_file(store, site, file)
        dry_run = replace(_of_table(read.table, read.count), reading=read.sentences)
        return replace(dry_run, result=record(rehearsal, site, file, read, actor, expected=expected))
    except CsvErrors as error:
        if not dry_run.reading and file.kind == OUTPUT.kind and not file.options.yes:
            other = with_reading(store, site, file, actor, error)
            error = other if other.reading else error  # else columns are chosen from the first line
        told = dry_run.reading or error.reading
        return replace(dry_run, errors=tuple(error.errors), total=error.total, groups=error.groups, reading=told)
    except UnusualOutput as error:
        found = ErrorCollector(file.what)
        collect(found, error.oddities)
        return replace(dry_run, errors=tuple(found.errors), total=found.total, groups=found.causes.groups())
    except InvalidInput as error:
        if isinstance(error, (Stale, StoreUnavailable)):  # not an error of the file
            raise
        whole_file = CsvError(0, error.field, shortened(str(error.value), 200), error.remedy)
        return replace(dry_run, errors=(whole_file,), total=1)


def _of_table(table: FileTable, rows: int) -> DryRun:
    columns = {name: table.headers[at] for name, at in table.positions.items()}
    return DryRun(columns=columns, ignored=table.ignored, rows=rows, table=table)


def readable_table(file: ImportFile) -> FileTable | None:
    """Return the table of a file whose columns may be missing or ambiguous, so that a person can choose them."""
    lenient = columns_of(file.kind).all_optional()
    mapping = {name: header for name, header in file.options.mapping.items() if name in lenient.names}
    for _ in range(2):
        try:
            return read_table(file.sources, file.what, lenient, mapping)
        except CsvErrors as error:
            mapping |= {fault.column: "" for fault in error.errors if fault.column in lenient.names}
        except InvalidInput:
            break
    return None
