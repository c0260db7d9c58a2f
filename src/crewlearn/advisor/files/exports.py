"""Exports for auditors: everything that was imported, and every decision.

Exports of output and workers have the columns that imports read, so they can be imported again.
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.files.cells import neutralised, unchanged
from crewlearn.advisor.files.columns import OUTPUT as OUTPUT_COLUMNS
from crewlearn.advisor.files.columns import WORKERS as WORKER_COLUMNS
from crewlearn.advisor.files.columns import Column
from crewlearn.advisor.ledger.answers import answer_trails
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import KINDS, AnswerTrail, RecordedRow, row_document
from crewlearn.advisor.ledger.identities import People, read_people
from crewlearn.advisor.ledger.queries import read_entries, read_proposals, rows_of_event, unused_columns
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.arrays import NOBODY

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


_DECISIONS = (
    *("proposal", "proposed_for", "out", "in", "status", "answered_in", "answered_by", "answered_at", "offered_at"),
    *("accepted_at", "settled_as", "settled_on", "settled_by", "settled_at", "left", "fee", "fee_paid", "reason"),
    *("first_approved_by", "first_approved_at"),
)


def decisions_as_csv(store: Store, name: str) -> Generator[str, None, None]:
    """Yield every proposal: who answered it and when, its outcome, and who left.

    Times are UTC. Text that a spreadsheet would run as a formula is neutralised.
    """
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, calendar = read_people(connection, key), site.config.calendar
        proposals = read_proposals(connection, key)
        answered = answer_trails(connection, key, proposals)
    rows = []
    for proposal in proposals:
        answer = answered.get(proposal.id, AnswerTrail())
        rows.append(
            [
                proposal.id,
                str(calendar.date_of(proposal.period)),
                _id_of(people, proposal.out),
                _id_of(people, proposal.into),
                proposal.status,
                str(calendar.date_of(proposal.decided_in)) if proposal.decided_in else None,
                answer.answered_by,
                answer.answered_at,
                answer.offered_at,
                answer.accepted_at,
                answer.outcome,
                None if answer.settled_in is None else str(calendar.date_of(answer.settled_in)),
                answer.settled_by,
                answer.settled_at,
                _id_of(people, proposal.leaver),
                proposal.fee,
                "yes" if proposal.paid else "no",
                proposal.reason,
                answer.first_approved_by,
                answer.first_approved_at,
            ]
        )
    yield from _csv(_DECISIONS, rows)


def _id_of(people: People, number: int) -> str | None:
    """Return a worker's id at the firm: None for nobody, the bare number if they were erased."""
    return None if number == NOBODY else people.ids.get(number) or f"worker {number}"


def output_as_csv(store: Store, name: str) -> Generator[str, None, None]:
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
    return {
        **{column.name: cell(row) for column, cell in zip(listed, _cells(listed, values), strict=True)},
        "event": event,
    }


def workers_as_csv(store: Store, name: str) -> Generator[str, None, None]:
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
) -> Iterator[str]:
    """Return the lines of a CSV file with these columns, one row for each entry."""
    cells = _cells(columns, values, facts)
    return _csv([column.name for column in columns], ([cell(entry) for cell in cells] for entry in entries))


def _cells(
    columns: Sequence[Column], values: Values, facts: Callable[[Any], Any] = unchanged
) -> list[Callable[[Any], object]]:
    """Return a function for each column that returns its cell from an entry.

    A column missing from `values` is the attribute of that name of `facts(entry)`.
    """

    def cell_of(column: Column) -> Callable[[Any], object]:
        stored, write = attrgetter(column.name), column.type.write
        value = values.get(column.name) or (stored if facts is unchanged else lambda entry: stored(facts(entry)))
        return value if write is unchanged else lambda entry: write(value(entry))

    return [cell_of(column) for column in columns]


_WORD = re.compile(r"[\w.:+-]*")


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a header and rows as lines; text that a spreadsheet would run as a formula is neutralised."""
    yield f"{','.join(columns)}\n"
    for row in rows:
        yield f"{','.join(map(_cell, row))}\n"


def _cell(value: object) -> str:
    """Return a cell; text is quoted unless it is one word, because programs also split at semicolons, blanks or CRs."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = neutralised(value)
    return text if _WORD.fullmatch(text) else '"' + text.replace('"', '""') + '"'


EXPORTS: Mapping[str, Callable[[Store, str], Generator[str, None, None]]] = {
    "events": events_as_json_lines,
    "decisions": decisions_as_csv,
    "output": output_as_csv,
    "workers": workers_as_csv,
}
"""The exports by name; each yields a site's lines one at a time, so that no file is held in memory."""
