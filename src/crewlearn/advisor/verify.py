"""Checking a record: the chain, the rows, the state, and every advice ever given, from zero."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from crewlearn.advisor import advice, schema, stints
from crewlearn.advisor.events import (
    ADVISED,
    CREATED,
    ERASED,
    FIRST_HASH,
    OUTPUT,
    RULE_VERSION,
    Event,
    Row,
    canonical,
    digest_of_rows,
    is_intact,
)
from crewlearn.advisor.fold import apply
from crewlearn.advisor.site import Proposal, Site
from crewlearn.advisor.store import Store, read_events, read_proposals, rows_of_event
from crewlearn.problem.errors import InvalidInput


@dataclass(frozen=True)
class Verified:
    """What a check found: how much there was, what is damaged, and what was advised under older rules."""

    events: int
    rows: int
    advice: int
    older: int
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.faults


def verify(store: Store, name: str) -> Verified:
    """Rebuild a site from its first event and compare everything that is kept."""
    with store.reading() as connection:
        kept = connection.execute(sa.select(schema.sites).where(schema.sites.c.name == name)).one_or_none()
        if kept is None:
            store.site(connection, name)  # raises, naming the sites there are
        assert kept is not None
        rebuilt = _Rebuilt(name)
        faults: list[str] = []
        for event in read_events(connection, kept.id):
            rows = rows_of_event(connection, kept.id, event.number) if event.type == OUTPUT else []
            faults += rebuilt.take(event, rows)
        if rebuilt.number != kept.events or rebuilt.head != kept.head:
            faults.append(
                f"the record ends at event {rebuilt.number}, the site says {kept.events}: events were added or lost"
            )
        if rebuilt.site is None:
            faults.append("the record does not begin with the site's creation")
        elif not faults:
            faults += _state_faults(rebuilt.site, kept.state)
            stored = {one.id: one for one in read_proposals(connection, kept.id)}
            faults += _proposal_faults(rebuilt.proposals, stored)
            if set(stints.read_stints(connection, kept.id)) != set(rebuilt.stints.values()):
                faults.append("who held which station when differs from the record")
            faults += _row_faults(connection, kept.id, rebuilt)
            faults += _identity_faults(connection, kept.id, rebuilt)
    return Verified(rebuilt.number, rebuilt.rows, rebuilt.advice, rebuilt.older, tuple(faults))


class _Rebuilt:
    """A site rebuilt event by event, with its rows in memory; after a fault only the chain is checked further."""

    def __init__(self, name: str) -> None:
        self.name = name
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
        stations = () if self.site is None else self.site.roster.stations
        self.site = apply(self.site, event, rows, self._history)
        self.proposals.update(self.site.proposals)
        for change in stints.changes(stations, self.site):
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
        assert self.site is not None
        again = json.loads(canonical(advice.derive(self.site)))
        return [] if again == event.payload else [f"the advice of event {event.number} does not follow from the facts"]


def _have_digest(rows: list[Row], digest: str) -> bool:
    try:
        return digest_of_rows(rows) == digest
    except InvalidInput:  # PostgreSQL can hold numbers that were never recorded
        return False


def _state_faults(rebuilt: Site, kept: str) -> list[str]:
    plain = json.loads(json.dumps(rebuilt.to_json()))
    try:
        state = json.loads(kept)
    except ValueError:
        state = None
    if not isinstance(state, dict) or state.keys() != plain.keys():
        return ["the kept state cannot be read"]
    return [f"the kept state differs from the record in {name}" for name in plain if plain[name] != state[name]]


def _proposal_faults(rebuilt: Mapping[int, Proposal], stored: Mapping[int, Proposal]) -> list[str]:
    return [
        f"proposal {number} differs from the record"
        for number in sorted(rebuilt.keys() | stored.keys())
        if rebuilt.get(number) != stored.get(number)
    ]


def _row_faults(connection: sa.Connection, key: int, rebuilt: _Rebuilt) -> list[str]:
    """Compare which rows there are and which of them were replaced; each event's own rows have their digest."""
    table = schema.output_rows
    count = connection.execute(sa.select(sa.func.count()).select_from(table).where(table.c.site == key)).scalar_one()
    faults = [] if count == rebuilt.rows else [f"there are {count} rows, and events brought {rebuilt.rows}"]
    rows = connection.execute(
        sa.select(table.c.worker, table.c.period, table.c.event, table.c.replaced_in).where(
            table.c.site == key, table.c.replaced_in.is_not(None)
        )
    )
    replaced = {(worker, period, event): by for worker, period, event, by in rows}
    return faults if replaced == rebuilt.replaced else [*faults, "the rows that stand differ from the record"]


def _identity_faults(connection: sa.Connection, key: int, rebuilt: _Rebuilt) -> list[str]:
    """See that every worker has an identity, and that the erased have none: names are not on record, this is."""
    table = schema.identities
    rows = connection.execute(sa.select(table.c.worker, table.c.external_id, table.c.name).where(table.c.site == key))
    nobody = {worker: external is None and name is None for worker, external, name in rows}
    assert rebuilt.site is not None
    expected = {worker: worker in rebuilt.erased for worker in range(len(rebuilt.site.workers))}
    return [] if nobody == expected else ["the identities do not belong to the workers on record"]
