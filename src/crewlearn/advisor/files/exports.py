"""Exports of events, output and workers, as tables and as text.

Those of output and workers have the columns that imports read, so they can be imported again.
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from operator import attrgetter, itemgetter
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.files.cells import neutralised, unchanged
from crewlearn.advisor.files.columns import OUTPUT as OUTPUT_COLUMNS
from crewlearn.advisor.files.columns import WORKERS as WORKER_COLUMNS
from crewlearn.advisor.files.columns import Column
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import KINDS, RecordedRow, row_document
from crewlearn.advisor.ledger.identities import People, read_people
from crewlearn.advisor.ledger.queries import read_entries, rows_of_event, unused_columns
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.store import Store

_ROWS_AT_ONCE = 10_000


def events_as_json_lines(store: Store, name: str) -> Generator[str, None, None]:
    """Yield every event as a line of JSON, imports with their rows; workers appear as numbers, never by name."""
    with store.reading() as connection:
        key = store.key(connection, name)
        for entry in read_entries(connection, key):
            document, kind = vars(entry), KINDS.get(entry.type)
            if kind is not None and kind.has_rows:
                document = {
                    **document,
                    "rows": [row_document(row) for row in rows_of_event(connection, key, entry.number)],
                }
            yield f"{json.dumps(document, ensure_ascii=False)}\n"


Rows = Generator[Sequence[object], None, None]
"""A table row by row, the header first."""


def output_table(store: Store, name: str) -> Rows:
    """Yield the current output as it was recorded; rows of erased people have no id.

    Columns that the site does not use are left out: shifts where a day has one, and added columns without a value.
    """
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, table = read_people(connection, key), schema.output_rows
        unused = unused_columns(connection, key)
        if site.config.calendar.shifts_per_day == 1:
            unused.add("shift")
        columns = [column for column in OUTPUT_COLUMNS.in_exports if column.name not in unused]
        query = (
            sa.select(table)
            .where(table.c.site == key, table.c.replaced_in.is_(None))
            .order_by(table.c.period, table.c.worker)
            .execution_options(yield_per=_ROWS_AT_ONCE)
        )
        values = {**recorded_output(site, people), "period": _regular_period}
        standing = _in_order_of_time(connection, query, site.config.calendar)
        yield from _table(columns, values, standing)


def _in_order_of_time(connection: sa.Connection, query: sa.Select[Any], calendar: WorkCalendar) -> Iterator[Any]:
    """Yield rows day by day; the numbers of days beside the planned ones are not in order of time."""
    period = schema.output_rows.c.period
    first = 1
    for number in calendar.opened_periods:
        following = calendar.following(number)
        if first < following:
            yield from _streamed(connection, query.where(period.between(first, following - 1)))
            first = following
        yield from _streamed(connection, query.where(period == number))
    yield from _streamed(connection, query.where(period >= first))


def _streamed(connection: sa.Connection, query: sa.Select[Any]) -> Iterator[Any]:
    with connection.execute(query) as rows:  # closed even if the reader stops early
        yield from rows


def _regular_period(row: Any) -> int | None:
    """Return a row's period, or None for a day beside the planned ones: its number means nothing at another site."""
    return row.period if row.period > 0 else None


Values = Mapping[str, Callable[[Any], object]]
"""Functions that return a column's value from an entry, by the column's name."""


def recorded_output(site: Site, people: People) -> Values:
    """Return the columns of output that are computed from a recorded row; the others are its attributes."""
    calendar = site.config.calendar
    return {
        "date": lambda row: calendar.date_of(row.period),
        "shift": lambda row: calendar.shift_of(row.period),
        "worker_id": lambda row: people.ids.get(row.worker),
    }


def output_document(site: Site, people: People, event: int, row: RecordedRow) -> dict[str, Any]:
    """Return a recorded row of output as plain data, with the API's columns and the event that recorded it."""
    values = recorded_output(site, people)
    listed = [column for column in OUTPUT_COLUMNS.columns if column.listed]
    columns = zip(listed, _cells(listed, values), strict=True)
    document = {column.name: cell(row) for column, cell in columns}
    return {**document, "date": site.config.calendar.date_of(row.period).isoformat(), "event": event}


def workers_table(store: Store, name: str) -> Rows:
    """Yield the current workers, with prior means as they were given."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people = read_people(connection, key)
    active = set(site.roster.active)
    values: Values = {
        "worker_id": lambda entry: people.ids.get(entry[0]),
        "name": lambda entry: people.names.get(entry[0]),
        "active": lambda entry: entry[0] in active,
        "prior_n": lambda entry: entry[1].prior_n or None,
        "prior_mean": lambda entry: site.prior_mean_of(entry[0]),
    }
    known = (entry for entry in enumerate(site.workers) if people.ids.get(entry[0]) is not None)
    yield from _table(WORKER_COLUMNS.in_exports, values, known, itemgetter(1))


def _table(
    columns: Sequence[Column], values: Values, entries: Iterable[Any], facts: Callable[[Any], Any] = unchanged
) -> Iterator[Sequence[object]]:
    """Yield the header and a row for each entry; days stay dates, which text writes as ISO and workbooks as days."""
    cells = _cells(columns, values, facts)
    yield [column.name for column in columns]
    for entry in entries:
        yield [cell(entry) for cell in cells]


def _cells(
    columns: Sequence[Column], values: Values, facts: Callable[[Any], Any] = unchanged
) -> list[Callable[[Any], object]]:
    """Return a function for each column that returns its cell from an entry.

    A column missing from `values` is the attribute of that name of `facts(entry)`.
    """

    def cell_of(column: Column) -> Callable[[Any], object]:
        stored, write = attrgetter(column.name), column.type.write
        value = values.get(column.name) or (stored if facts is unchanged else lambda entry: stored(facts(entry)))
        return value if write in (unchanged, str) else lambda entry: write(value(entry))

    return [cell_of(column) for column in columns]


_WORD = re.compile(r"[\w.:+-]*")


def as_csv(rows: Rows) -> Generator[str, None, None]:
    """Yield rows as lines of CSV; text that a spreadsheet would run as a formula is neutralised."""
    with closing(rows):
        for row in rows:
            yield f"{','.join(map(_cell, row))}\n"


def _cell(value: object) -> str:
    """Return a cell; text is quoted unless it is one word, because programs also split at semicolons, blanks or CRs."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = neutralised(value)
    return text if _WORD.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def output_as_csv(store: Store, name: str) -> Generator[str, None, None]:
    """Yield the lines of `output_table`."""
    return as_csv(output_table(store, name))


def workers_as_csv(store: Store, name: str) -> Generator[str, None, None]:
    """Yield the lines of `workers_table`."""
    return as_csv(workers_table(store, name))
