"""Importing a file: its kind and options, and its way onto the record as one event or not at all.

`take_in` serves commands, pages, the API and jobs alike. Rows that come from elsewhere go to `import_workers` and
`import_output` directly.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from crewlearn.advisor.files.cells import DateOrder, Decimal
from crewlearn.advisor.files.columns import IMPORTED, OUTPUT, WORKERS, columns_of
from crewlearn.advisor.files.import_result import ImportResult
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.files.reading import ScannedTable, output_rows, scan, worker_rows
from crewlearn.advisor.files.tables import read_table
from crewlearn.advisor.files.worker_imports import import_workers
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput, unknown_name

DayRule = Callable[[datetime], date]


@dataclass(frozen=True)
class ImportOptions:
    """How a file is read and recorded; `dates`, `correct`, `skip_unknown` and `accept_unusual` are for output only.

    `mapping` names the header of a column that is not recognised; with `check_only` nothing is recorded.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    decimal: Decimal | None = None
    dates: DateOrder | None = None
    correct: bool = False
    skip_unknown: bool = False
    check_only: bool = False
    accept_unusual: bool = False


@dataclass(frozen=True)
class ImportFile:
    """A file to import: its kind, `output` or `workers`, its bytes, how it is read, and its name in errors."""

    kind: str
    data: bytes = field(repr=False)
    options: ImportOptions = field(default_factory=ImportOptions)
    name: str = ""

    @property
    def what(self) -> str:
        """The file's name in errors."""
        return self.name or f"{self.kind}.csv"


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


def kind_of(data: bytes) -> str | None:
    """Return the kind of a file by its header, or None if no kind matches."""
    for kind, columns in IMPORTED.items():
        try:
            read_table(data, kind, columns)
        except InvalidInput:
            continue
        return kind
    return None


def take_in(
    store: Store,
    site: str,
    file: ImportFile,
    actor: str,
    *,
    expected: int | None = None,
    scanned: ScannedTable | None = None,
) -> ImportResult:
    """Import a file, all of it or nothing.

    `expected` is the site's version that the caller has seen; if the site has changed since, the import is refused.
    `scanned` is the result of `scan_file`, if the caller has it.
    """
    scanned = scanned or scan_file(file, day_rule(store, site, file.kind))
    options = file.options
    if file.kind == WORKERS.kind:
        return import_workers(store, site, worker_rows(scanned), file.data, actor, expected=expected)
    if file.kind == OUTPUT.kind:
        return import_output(
            store,
            site,
            output_rows(scanned, blank_ids=options.skip_unknown),
            file.data,
            actor,
            correct=options.correct,
            skip_unknown=options.skip_unknown,
            accept_unusual=options.accept_unusual,
            what=file.what,
            expected=expected,
            normalised=True,
        )
    raise unknown_name("kind", file.kind, IMPORTED)


def day_rule(store: Store, site: str, kind: str) -> DayRule:
    """Return the function that maps a moment to its day: the site's calendar, for files with dates."""
    if "date" not in columns_of(kind).names:
        return datetime.date
    with store.reading() as connection:
        _, state, _ = store.site(connection, site)
    return state.config.calendar.day_of


def scan_file(file: ImportFile, day_of: DayRule) -> ScannedTable:
    """Detect a file's columns, and how it writes numbers and dates."""
    columns, options = columns_of(file.kind), file.options
    table = read_table(file.data, file.what, columns, options.mapping)
    return scan(table, columns, options.decimal, options.dates, day_of)
