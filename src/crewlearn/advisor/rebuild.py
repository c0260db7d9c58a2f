"""A site from its record: the events alone say what its state and its proposals are."""

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import advice, schema, stints
from crewlearn.advisor.database import begun_to_write, clear_errors
from crewlearn.advisor.events import (
    ADVISED,
    CREATED,
    ERASED,
    FIRST_HASH,
    OUTPUT,
    RULE_VERSION,
    UNDONE,
    Event,
    Row,
    canonical,
    digest_of_rows,
    is_intact,
)
from crewlearn.advisor.fold import apply
from crewlearn.advisor.record import proposal_row, read_events, rows_of_event, state_text, unusable_policy
from crewlearn.advisor.site import Proposal, Site
from crewlearn.advisor.tables import make_tables, migrate, other_schema, schema_version
from crewlearn.problem.errors import InvalidInput


def upgrade(engine: sa.Engine) -> str | None:
    """Bring a store to the newest revision, and what is kept of each site to what its events come to by now.

    Gives the revision that it was of; None if there was nothing.
    """
    with clear_errors(engine):
        version = schema_version(engine)
        if version is None:
            make_tables(engine)
        elif version > schema.SCHEMA:
            raise other_schema(engine, version)
        with begun_to_write(engine) as connection:
            migrate(connection)
            rebuild(connection)
    return version


def rebuild(connection: sa.Connection) -> None:
    """Write every site's state, proposals and stints anew from its events; a record that is damaged is refused."""
    sites, proposals = schema.sites, schema.proposals
    for kept in connection.execute(sa.select(sites).order_by(sites.c.id).with_for_update()).all():
        rebuilt, faults = rebuilt_from(connection, kept, derive=False)
        if faults or rebuilt.site is None:
            remedy = f"has a damaged record ({faults[0]}); nothing was done: restore a backup that is sound"
            raise InvalidInput("site", kept.name, remedy)
        connection.execute(sites.update().where(sites.c.id == kept.id).values(state=state_text(rebuilt.site)))
        connection.execute(proposals.delete().where(proposals.c.site == kept.id))
        if rebuilt.proposals:
            rows = [proposal_row(one, kept.id) for _, one in sorted(rebuilt.proposals.items())]
            connection.execute(proposals.insert(), rows)
        connection.execute(schema.stints.delete().where(schema.stints.c.site == kept.id))
        if rebuilt.stints:
            held = [{"site": kept.id, **vars(one)} for _, one in sorted(rebuilt.stints.items())]
            connection.execute(schema.stints.insert(), held)


Progress = Callable[[int, int], None]
"""Is told how many events were taken of how many; what it raises ends the work."""


def rebuilt_from(
    connection: sa.Connection, kept: Any, *, derive: bool, progress: Progress | None = None
) -> tuple["Rebuilt", list[str]]:
    """Rebuild a site, given its row; give it with what is wrong with the record."""
    rebuilt = Rebuilt(kept.name, derive=derive)
    faults: list[str] = []
    for event in read_events(connection, kept.id):
        rows = rows_of_event(connection, kept.id, event.number) if event.type == OUTPUT else []
        faults += rebuilt.take(event, rows)
        if progress is not None:
            progress(event.number, kept.events)
    if rebuilt.number != kept.events or rebuilt.head != kept.head:
        faults.append(
            f"the record ends at event {rebuilt.number}, the site says {kept.events}: events were added or lost"
        )
    if rebuilt.site is None:
        faults.append("the record does not begin with the site's creation")
    return rebuilt, faults


class Rebuilt:
    """A site rebuilt event by event, with its rows in memory; after a fault only the chain is checked further.

    With `derive`, every advice is derived again and compared.
    """

    def __init__(self, name: str, *, derive: bool) -> None:
        self.name, self.derive = name, derive
        self.site: Site | None = None
        self.number, self.head = 0, FIRST_HASH
        self.rows = self.advice = self.older = 0
        self.broken = False
        self.by_worker: dict[int, dict[int, tuple[int, Row]]] = {}
        self.replaced: dict[tuple[int, int, int], int] = {}
        self.erased: set[int] = set()
        self.proposals: dict[int, Proposal] = {}
        self.stints: dict[tuple[int, int], stints.Stint] = {}

    def take(self, event: Event, rows: list[Row]) -> list[str]:
        """Take the next event; give what is wrong with it."""
        faults = self._chain_faults(event)
        self.number, self.head = event.number, event.hash
        if not faults and event.type == OUTPUT and not _have_digest(rows, event.payload["rows_digest"]):
            faults.append(f"the rows of event {event.number} were altered")
        self.broken = self.broken or bool(faults)
        if not self.broken:
            try:
                faults += self._fold(event, rows)
            except Exception as error:  # a record that hangs together and makes no sense was not written by us
                missing = unusable_policy(error)
                if missing is not None:  # which is no fault of the record
                    raise missing from error
                faults.append(f"event {event.number} ({event.type}) cannot follow from those before it: {error}")
            self.broken = bool(faults)
        return faults

    def _chain_faults(self, event: Event) -> list[str]:
        faults = []
        if event.number != self.number + 1:
            faults.append(f"event {self.number + 1} is missing")
        if event.previous != self.head or not is_intact(event):
            faults.append(f"event {event.number} ({event.type}) was altered")
        if not faults and event.type == CREATED and event.payload["site"] != self.name:
            faults.append(f"the record is that of site {event.payload['site']}")
        return faults

    def _fold(self, event: Event, rows: list[Row]) -> list[str]:
        faults = self._check_advice(event) if event.type == ADVISED else []
        for row in rows:
            own = self.by_worker.setdefault(row.worker, {})
            if row.period in own:
                self.replaced[row.worker, row.period, own[row.period][0]] = event.number
            own[row.period] = (event.number, row)
        self.rows += len(rows)
        if event.type == ERASED:
            self.erased.add(event.payload["worker"])
        seats = [] if self.site is None else self.site.seats
        self.site = apply(self.site, event, rows, self._history)
        self.proposals.update(self.site.proposals)
        for change in stints.changes(seats, self.site, undone=event.type == UNDONE):
            stints.taken_in(self.stints, change)
        return faults

    def _history(self, worker: int) -> list[Row]:
        return [row for _, (_, row) in sorted(self.by_worker.get(worker, {}).items())]

    def _check_advice(self, event: Event) -> list[str]:
        """Derive the advice again from the facts before it; under older rules it may have been another."""
        self.advice += 1
        if event.rule_version != RULE_VERSION:
            self.older += 1
            return []
        if not self.derive:
            return []
        assert self.site is not None
        again = json.loads(canonical(advice.derive(self.site)))
        return [] if again == event.payload else [f"the advice of event {event.number} does not follow from the facts"]


def _have_digest(rows: list[Row], digest: str) -> bool:
    try:
        return digest_of_rows(rows) == digest
    except InvalidInput:  # PostgreSQL can hold numbers that were never recorded
        return False
