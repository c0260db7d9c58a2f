"""Retention: the identities of people who left are erased after as many days as the site's settings say."""

import logging
from dataclasses import dataclass
from datetime import date, datetime

import sqlalchemy as sa

from crewlearn.advisor.advice.commands import erase_in
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import AnswerUndone, WorkerChanged, WorkersImported, kinds_of
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.notices import outbox
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.site import LEFT, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput

RETENTION = "retention"
"""Who erases, on record; and the mark of the day of a site's last pass, whose subject is 0."""

LOG = logging.getLogger("crewlearn.web")


@dataclass(frozen=True)
class Departed:
    """A worker who left, by number, and the day on which that was recorded."""

    worker: int
    left: date


def departed(connection: sa.Connection, key: int, site: Site) -> list[Departed]:
    """Return who left and is not erased, and since when, as it was recorded: the longest gone first."""
    ids = read_people(connection, key).ids
    gone = {n for n, worker in enumerate(site.workers) if worker.status == LEFT and ids.get(n) is not None}
    if not gone:
        return []
    events = list(read_events(connection, key, kinds=kinds_of(WorkerChanged, WorkersImported, AnswerUndone)))
    undone = {number for event in events if isinstance(event.fact, AnswerUndone) for number in event.fact.numbers}
    since: dict[int, date] = {}
    for event in events:
        if event.number in undone or isinstance(event.fact, AnswerUndone):
            continue
        assert isinstance(event.fact, WorkerChanged | WorkersImported)
        day = site.config.day_of(datetime.fromisoformat(event.at))
        for worker, status in event.fact.statuses().items():
            if status == LEFT:
                since.setdefault(worker, day)
            else:
                since.pop(worker, None)
    return sorted((Departed(n, since[n]) for n in gone if n in since), key=lambda one: (one.left, one.worker))


def due_for_erasure(
    connection: sa.Connection, key: int, site: Site, today: date, days: int | None = None
) -> list[Departed]:
    """Return who is to be erased: those who left at least `days` ago, by default as the settings say."""
    after = site.config.erase_after if days is None else days
    if after is None:
        return []
    return [person for person in departed(connection, key, site) if (today - person.left).days >= after]


def erase_departed(store: Store, name: str) -> list[int]:
    """Erase who left long enough ago, each as an event by `RETENTION`; return their numbers."""
    with store.reading() as connection:
        now = store.snapshot(connection, name)
        today = now.site.config.day_of(store.clock())
        if not due_for_erasure(connection, now.version.key, now.site, today):
            return []
    with store.writing(name, RETENTION) as work:
        due = [person.worker for person in due_for_erasure(work.connection, work.key, work.site, today)]
        for number in due:
            erase_in(work, number)
        return due


def retention_pass(store: Store) -> list[str]:
    """Erase at each site once a day, whichever server does; return the sites at which somebody was erased."""
    sites, marks = schema.sites, schema.notice_marks
    passed = sa.and_(marks.c.site == sites.c.id, marks.c.kind == RETENTION)
    query = sa.select(sites.c.name, outbox.ZONED.label("zoned"), marks.c.day).outerjoin(marks, passed)
    with store.reading() as connection:
        rows = connection.execute(query).all()
    today = store.clock().date()
    due = [row.name for row in rows if outbox.may_be_new_day(row.day or 0, today, zoned=row.zoned)]
    return [name for name in due if _pass(store, name)]


def _pass(store: Store, name: str) -> bool:
    """Erase at a site, unless that was done on this day."""
    try:
        with store.reading() as connection:
            now = store.snapshot(connection, name)
            key, today = now.version.key, now.site.config.day_of(store.clock()).toordinal()
            if outbox.marked(connection, key, RETENTION).get(0, 0) >= today:
                return False
        erased = erase_departed(store, name)
        with store.changing() as connection:
            store.snapshot(connection, name, lock=True)
            outbox.mark(connection, key, RETENTION, [0], today)
        return bool(erased)
    except InvalidInput as error:  # a site that cannot be read, or a busy store: the next round tries again
        LOG.warning("%s: no retention pass: %s", name, error)
        return False
