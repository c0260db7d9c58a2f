"""The columns of every kind of file, each defined once for the reader, the exports, the API and the pages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from crewlearn.advisor.files import cells
from crewlearn.advisor.files.cells import CellType
from crewlearn.problem.errors import unknown_name


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Parameters
    ----------
    name
        Its header in exports and its field in the API.
    label
        What pages call it.
    type
        What its cells hold.
    synonyms
        Other headers that are recognised.
    required
        Whether a file must have it.
    blank_is_none
        Whether a blank cell is None; otherwise the type parses it.
    field
        The row attribute that holds it, if it differs from the name.
    help
        Its description in the API; empty if name and type say enough.
    listed
        Whether the API includes it when it lists the record.
    """

    name: str
    label: str
    type: CellType
    synonyms: tuple[str, ...] = ()
    required: bool = False
    blank_is_none: bool = True
    field: str = ""
    help: str = ""
    listed: bool = True

    @property
    def row_field(self) -> str:
        """The row attribute that holds it."""
        return self.field or self.name


@dataclass(frozen=True)
class Columns:
    """The columns of a kind of file; a file needs at least one of `either`, and exports begin with `leading`."""

    kind: str
    columns: tuple[Column, ...]
    either: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order."""
        return tuple(column.name for column in self.columns)

    @property
    def optional(self) -> tuple[Column, ...]:
        """The columns that a file may do without."""
        return tuple(column for column in self.columns if not column.required and column.name not in self.either)

    @property
    def in_exports(self) -> tuple[Column, ...]:
        """The columns in the order of exports."""
        first = tuple(self[name] for name in self.leading)
        return first + tuple(column for column in self.columns if column not in first)

    def __getitem__(self, name: str) -> Column:
        """Return a column by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_name("column", name, self.names)

    def with_types(self, types: Mapping[str, CellType]) -> "Columns":
        """Return these columns with other types of cells, by name."""
        changed = {name: replace(self[name], type=cell_type) for name, cell_type in types.items()}
        return replace(self, columns=tuple(changed.get(column.name, column) for column in self.columns))

    def all_optional(self) -> "Columns":
        """Return these columns with none required."""
        return replace(self, columns=tuple(replace(column, required=False) for column in self.columns), either=())


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A row of a workers file; `active` is None in every row if the file has no such column."""

    worker_id: str
    name: str | None = None
    active: bool | None = None
    fee: float | None = None
    prior_n: int | None = None
    prior_mean: float | None = None
    status: str | None = None
    interview: float | None = None
    pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One worker's output of one day or period; without units, nothing was observed."""

    line: int
    day: date | None
    period: int | None
    worker_id: str
    units: float | None
    hours: float | None
    attendance: str
    shift: int | None = None


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A worker's group, for comparisons between groups."""

    line: int
    worker_id: str
    group: str


_WORKER_ID = Column(
    "worker_id",
    "Worker's id",
    cells.WORKER_ID,
    (
        *("worker", "worker no", "worker number", "id", "employee", "employee id", "employee no", "employee number"),
        *("badge", "badge id", "badge no", "badge number", "personnel id", "personnel no", "personnel number"),
        *("staff id", "staff no", "staff number", "operator", "operator id", "associate", "associate id"),
        *("Personalnummer", "Personal-Nr", "Mitarbeiter", "matricule"),
    ),
    required=True,
    blank_is_none=False,
    help="The firm's own id of a worker.",
)
WORKERS = Columns(
    "workers",
    (
        _WORKER_ID,
        Column("name", "Name", cells.TEXT, ("full name", "worker name", "employee name")),
        Column(
            "active",
            "In the team at the start",
            cells.YES_NO,
            ("in team", "on team", "is active", "in the team", "on the team"),
            blank_is_none=False,
            help="In the team at the start; proposals bring people in later.",
        ),
        Column(
            "fee",
            "Own fee",
            cells.FEE,
            ("cost", "own fee", "replacement fee", "replacement cost"),
            help="Their own fee, in money.",
        ),
        Column(
            "prior_n",
            "Earlier days seen",
            cells.COUNT,
            ("prior count", "prior days", "prior observations"),
            help="Days seen before this site, with prior_mean.",
        ),
        Column("prior_mean", "Their mean", cells.NUMBER, ("prior average", "prior output")),
        Column("status", "Status", cells.STATUS, ("state",)),
        Column("interview", "Interview score", cells.NUMBER, ("interview score", "score")),
        Column("pinned", "Pinned: stays whatever is advised", cells.YES_NO, ("pin", "keep")),
    ),
)
GROUPS = Columns(
    "groups",
    (
        _WORKER_ID,
        Column("group", "Group", cells.TEXT, ("group name", "category", "Gruppe", "groupe"), required=True),
    ),
)
OUTPUT = Columns(
    "output",
    (
        Column("date", "Date", cells.DATE, ("day", "datum", "shift date", "work date", "working day"), field="day"),
        Column("period", "Period", cells.PERIOD, ("period no", "period number")),
        Column(
            "shift",
            "Shift",
            cells.SHIFT,
            ("shift no", "shift number", "Schicht"),
            help="Which of the day's shifts, where a day has several.",
            listed=False,
        ),
        _WORKER_ID,
        Column(
            "units",
            "Output",
            cells.QUANTITY,
            ("output", "quantity", "qty", "pieces", "amount", "count", "Menge"),
            required=True,
            help="What was made; left out where nobody worked.",
        ),
        Column("hours", "Hours", cells.HOURS, ("time", "hrs", "hours worked", "Stunden")),
        Column(
            "attendance",
            "Attendance",
            cells.ATTENDANCE_WORD,
            ("status", "presence", "attendance status"),
            help="worked, if left out and there are units.",
        ),
    ),
    either=("date", "period"),
    leading=("date", "shift"),
)
IMPORTED: Mapping[str, Columns] = {columns.kind: columns for columns in (OUTPUT, WORKERS)}
"""The columns of each kind of file that can be imported."""

LABELS: Mapping[str, str] = {column.name: column.label for kind in IMPORTED.values() for column in kind.columns}


def columns_of(kind: str) -> Columns:
    """Return the columns of a kind of file that can be imported."""
    if kind not in IMPORTED:
        raise unknown_name("kind", kind, IMPORTED)
    return IMPORTED[kind]


def row_fields(columns: Columns, record: Any) -> dict[str, Any]:
    """Return a row's fields from an object with an attribute for each column, such as an API model."""
    return {column.row_field: getattr(record, column.name) for column in columns.columns}
