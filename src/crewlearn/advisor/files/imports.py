"""Importing a file: its kind and options, and its way onto the record as one event or not at all.

`take_in` serves commands, pages, the API and jobs alike. Rows that come from elsewhere go to `import_workers` and
`import_output` directly.
"""

from collections.abc import Iterable

from crewlearn.advisor.files.columns import IMPORTED, OUTPUT, WORKERS, Columns, columns_of
from crewlearn.advisor.files.intake.import_file import ImportFile, ImportOptions
from crewlearn.advisor.files.intake.output_files import is_output, take_in_output
from crewlearn.advisor.files.reading import ScannedTable, scan, worker_rows
from crewlearn.advisor.files.recording.import_result import ImportResult
from crewlearn.advisor.files.tables import read_table
from crewlearn.advisor.files.worker_imports import import_workers
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput, unknown_name

__all__ = ["ImportFile", "ImportOptions", "kind_of", "mapping_of", "scan_workers", "take_in"]


def mapping_of(pairs: Iterable[str] | None) -> dict[str, str]:
    """Parse `column=header` pairs, as commands and the API take them.

    >>> mapping_of(["units=Pieces made"])
    {'units': 'Pieces made'}
    """
    mapping = {}
    for text in pairs or ():
        column, equals, header = text.partition("=")
        if not equals:
            raise InvalidInput("map", text, "is written column=header, such as units=Pieces")
        mapping[column.strip()] = header
    return mapping


def kind_of(store: Store, site: str, data: bytes) -> str | None:
    """Return the kind of a file by its header and cells, or None if it looks like none.

    Columns that only a list of workers has decide; otherwise a file with days, workers and numbers is output.
    """
    file = ImportFile(OUTPUT.kind, data)
    if _columns_in(file, OUTPUT):
        return OUTPUT.kind
    of_workers = _columns_in(file, WORKERS)
    if of_workers - {"worker_id", "name"}:
        return WORKERS.kind
    if is_output(store, site, file):
        return OUTPUT.kind
    return WORKERS.kind if of_workers else None


def _columns_in(file: ImportFile, columns: Columns) -> set[str]:
    """Return the columns of a kind that a file has; none if it lacks one that is required."""
    try:
        return set(read_table(file.sources, columns.kind, columns).positions)
    except InvalidInput:
        return set()


def take_in(store: Store, site: str, file: ImportFile, actor: str, *, expected: int | None = None) -> ImportResult:
    """Import a file, all of it or nothing.

    `expected` is the site's version that the caller has seen; if the site has changed since, the import is refused.
    """
    if file.kind == OUTPUT.kind:
        return take_in_output(store, site, file, actor, expected=expected)
    if file.kind == WORKERS.kind:
        return import_workers(store, site, worker_rows(scan_workers(file)), file.data, actor, expected=expected)
    raise unknown_name("kind", file.kind, IMPORTED)


def scan_workers(file: ImportFile) -> ScannedTable:
    """Detect the columns of a file of workers, and how it writes numbers."""
    columns, options = columns_of(file.kind), file.options
    return scan(read_table(file.sources, file.what, columns, options.mapping), columns, options.decimal)
