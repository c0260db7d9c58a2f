"""Everything a user put in, and everything that was decided, as files for an auditor."""

import csv
import io
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

import sqlalchemy as sa

from crewlearn.advisor import schema
from crewlearn.advisor.events import OUTPUT
from crewlearn.advisor.export_text import neutralised
from crewlearn.advisor.history import Answers, answers
from crewlearn.advisor.identities import People, read_people
from crewlearn.advisor.record import read_events, read_proposals, rows_of_event
from crewlearn.advisor.store import Store
from crewlearn.problem.arrays import NOBODY

_ROWS_AT_ONCE = 10_000


def events_as_json_lines(store: Store, name: str) -> Generator[str, None, None]:
    """Give every event as a line of JSON, imports with their rows; it holds numbers, no names."""
    with store.reading() as connection:
        key = store.key(connection, name)
        for event in read_events(connection, key):
            document = vars(event)
            if event.type == OUTPUT:
                document = {**document, "rows": [row._asdict() for row in rows_of_event(connection, key, event.number)]}
            yield f"{json.dumps(document, ensure_ascii=False)}\n"


_DECISIONS = (
    *("proposal", "proposed_for", "out", "in", "status", "answered_in", "answered_by", "answered_at", "offered_at"),
    *("accepted_at", "settled_as", "settled_on", "settled_by", "settled_at", "left", "fee", "fee_paid", "reason"),
)


def decisions_as_csv(store: Store, name: str) -> Generator[str, None, None]:
    """Give every proposal with who answered it and when, what became of it, and who made room in the end.

    Times are UTC. Text that a spreadsheet would run is neutralised.
    """
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, calendar = read_people(connection, key), site.config.calendar
        proposals = read_proposals(connection, key)
        answered = answers(connection, key, proposals)
    rows = []
    for one in proposals:
        said = answered.get(one.id, Answers())
        rows.append(
            [
                one.id,
                str(calendar.date_of(one.period)),
                _id_of(people, one.out),
                _id_of(people, one.into),
                one.status,
                str(calendar.date_of(one.decided_in)) if one.decided_in else None,
                said.answered_by,
                said.answered_at,
                said.offered_at,
                said.accepted_at,
                said.outcome,
                None if said.settled_in is None else str(calendar.date_of(said.settled_in)),
                said.settled_by,
                said.settled_at,
                _id_of(people, one.leaver),
                one.fee,
                "yes" if one.paid else "no",
                one.reason,
            ]
        )
    yield from _csv(_DECISIONS, rows)


def _id_of(people: People, number: int) -> str | None:
    """Give a worker's id at the firm: nothing for nobody, a bare number for somebody erased."""
    return None if number == NOBODY else people.ids.get(number) or f"worker {number}"


def output_as_csv(store: Store, name: str) -> Generator[str, None, None]:
    """Give the output that stands, as it was recorded; of people who were erased without an id, which nobody has."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, table = read_people(connection, key), schema.output_rows
        calendar = site.config.calendar
        several = calendar.shifts_per_day > 1
        shift = ["shift"] if several else []
        query = (
            sa.select(table)
            .where(table.c.site == key, table.c.replaced_in.is_(None))
            .order_by(table.c.period, table.c.worker)
            .execution_options(yield_per=_ROWS_AT_ONCE)
        )
        with connection.execute(query) as found:  # closed also when nobody reads to the end
            rows = (
                [
                    str(calendar.date_of(row.period)),
                    *([calendar.shift_of(row.period)] if several else []),
                    row.period,
                    people.ids.get(row.worker),
                    row.units,
                    row.hours,
                    row.attendance,
                ]
                for row in found
            )
            yield from _csv(["date", *shift, "period", "worker_id", "units", "hours", "attendance"], rows)


def workers_as_csv(store: Store, name: str) -> Generator[str, None, None]:
    """Give the workers as they stand; prior means as they were given."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people = read_people(connection, key)
        active = set(site.roster.active)
        rows = [
            [
                people.ids.get(number),
                people.names.get(number),
                "yes" if number in active else "no",
                worker.fee,
                worker.prior_n or None,
                site.prior_mean_of(number),
                worker.status,
                worker.interview,
                "yes" if worker.pinned else "no",
            ]
            for number, worker in enumerate(site.workers)
            if people.ids.get(number) is not None
        ]
    yield from _csv(
        ["worker_id", "name", "active", "fee", "prior_n", "prior_mean", "status", "interview", "pinned"], rows
    )


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Write rows as lines; text that a spreadsheet would run is neutralised."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        yield file.getvalue()
        file.seek(0)
        file.truncate()
        writer.writerow([neutralised(cell) if isinstance(cell, str) else cell for cell in row])
    yield file.getvalue()


EXPORTS: Mapping[str, Callable[[Store, str], Generator[str, None, None]]] = {
    "events": events_as_json_lines,
    "decisions": decisions_as_csv,
    "output": output_as_csv,
    "workers": workers_as_csv,
}
"""What can be exported: each gives a site's lines one after the other, so that none need be held together."""
