"""Everything a user put in, and everything that was decided, as files for an auditor."""

import csv
import io
import json
from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from crewlearn.advisor import schema
from crewlearn.advisor.events import OUTPUT
from crewlearn.advisor.export_text import neutralised
from crewlearn.advisor.identities import read_people
from crewlearn.advisor.store import Store, read_events, read_proposals, rows_of_event
from crewlearn.problem.arrays import NOBODY


def events_as_json_lines(store: Store, name: str) -> Iterator[str]:
    """Give every event as a line of JSON, imports with their rows; it holds numbers, no names."""
    with store.reading() as connection:
        key, _, _ = store.site(connection, name)
        for event in read_events(connection, key):
            document = vars(event)
            if event.type == OUTPUT:
                document = {**document, "rows": [row._asdict() for row in rows_of_event(connection, key, event.number)]}
            yield json.dumps(document, ensure_ascii=False)


def decisions_as_csv(store: Store, name: str) -> str:
    """Give every proposal with what became of it; text that a spreadsheet would run is neutralised."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, calendar = read_people(connection, key), site.config.calendar
        rows = []
        for one in read_proposals(connection, key):
            out = None if one.out == NOBODY else people.ids.get(one.out)
            rows.append(
                [
                    one.id,
                    str(calendar.date_of(one.period)),
                    out,
                    people.ids.get(one.into),
                    one.status,
                    str(calendar.date_of(one.decided_in)) if one.decided_in else None,
                    one.fee,
                    one.reason,
                ]
            )
    return _csv(["proposal", "proposed_for", "out", "in", "status", "answered_in", "fee", "reason"], rows)


def output_as_csv(store: Store, name: str) -> str:
    """Give the output that stands, as it was recorded."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, table = read_people(connection, key), schema.output_rows
        found = connection.execute(
            sa.select(table)
            .where(table.c.site == key, table.c.replaced_in.is_(None))
            .order_by(table.c.period, table.c.worker)
        )
        rows = [
            [
                str(site.config.calendar.date_of(row.period)),
                row.period,
                people.ids.get(row.worker) or f"worker {row.worker}",
                row.units,
                row.hours,
                row.attendance,
            ]
            for row in found
        ]
    return _csv(["date", "period", "worker_id", "units", "hours", "attendance"], rows)


def workers_as_csv(store: Store, name: str) -> str:
    """Give the workers as they stand; prior means in people's units."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, units = read_people(connection, key), site.config.units
        active = set(site.roster.active)
        rows = [
            [
                people.ids.get(number),
                people.names.get(number),
                "yes" if number in active else "no",
                worker.fee,
                worker.prior_n or None,
                units.people_output(worker.prior_mean) if worker.prior_n else None,
                worker.status,
            ]
            for number, worker in enumerate(site.workers)
            if people.ids.get(number) is not None
        ]
    return _csv(["worker_id", "name", "active", "fee", "prior_n", "prior_mean", "status"], rows)


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([neutralised(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return file.getvalue()
