"""Checking a record: the chain, the rows, the state, and every advice ever given, from zero."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import advice, schema
from crewlearn.advisor.events import (
    ADVISED,
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
        key, kept, count = store.site(connection, name)
        head = connection.execute(sa.select(schema.sites.c.head).where(schema.sites.c.id == key)).scalar_one()
        faults: list[str] = []
        rebuilt = _Rebuilt()
        for event in read_events(connection, key):
            rows = rows_of_event(connection, key, event.number) if event.type == OUTPUT else []
            faults += rebuilt.take(event, rows)
        if rebuilt.number != count or rebuilt.head != head:
            faults.append(
                f"the record ends at event {rebuilt.number}, the site says {count}: events were added or lost"
            )
        if rebuilt.site is not None and not faults:
            faults += _differences(rebuilt.site.to_json(), kept.to_json())
            stored = {one.id: one for one in read_proposals(connection, key)}
            faults += _proposal_faults(rebuilt.proposals, stored)
            faults += _replaced_faults(connection, key, rebuilt.current)
    return Verified(rebuilt.number, rebuilt.rows, rebuilt.advice, rebuilt.older, tuple(faults))


class _Rebuilt:
    """A site rebuilt event by event, with its rows in memory."""

    def __init__(self) -> None:
        self.site: Site | None = None
        self.number, self.head = 0, FIRST_HASH
        self.rows = self.advice = self.older = 0
        self.current: dict[tuple[int, int], tuple[int, Row]] = {}
        self.by_worker: dict[int, dict[int, Row]] = {}
        self.proposals: dict[int, Proposal] = {}

    def take(self, event: Event, rows: list[Row]) -> list[str]:
        """Take the next event; give what is wrong with it."""
        faults = []
        if event.number != self.number + 1:
            faults.append(f"event {self.number + 1} is missing")
        if event.previous != self.head or not is_intact(event):
            faults.append(f"event {event.number} ({event.type}) was altered")
        if event.type == OUTPUT and digest_of_rows(rows) != event.payload["rows_digest"]:
            faults.append(f"the rows of event {event.number} were altered")
        self.number, self.head = event.number, event.hash
        if faults:
            return faults
        if event.type == ADVISED:
            faults += self._check_advice(event)
        for row in rows:
            self.current[row.worker, row.period] = (event.number, row)
            self.by_worker.setdefault(row.worker, {})[row.period] = row
        self.rows += len(rows)
        self.site = apply(self.site, event, rows, self._history)
        self.proposals.update(self.site.proposals)
        return faults

    def _history(self, worker: int) -> list[Row]:
        return [row for _, row in sorted(self.by_worker.get(worker, {}).items())]

    def _check_advice(self, event: Event) -> list[str]:
        """Derive the advice again from the facts before it; under older rules it may have been another."""
        self.advice += 1
        if event.rule_version != RULE_VERSION:
            self.older += 1
            return []
        assert self.site is not None
        again = json.loads(canonical(advice.derive(self.site)))
        return [] if again == event.payload else [f"the advice of event {event.number} does not follow from the facts"]


def _differences(rebuilt: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    plain = json.loads(json.dumps(rebuilt)), json.loads(json.dumps(kept))
    return [f"the kept state differs from the record in {name}" for name in rebuilt if plain[0][name] != plain[1][name]]


def _proposal_faults(rebuilt: Mapping[int, Proposal], stored: Mapping[int, Proposal]) -> list[str]:
    return [
        f"proposal {number} differs from the record"
        for number in sorted(rebuilt.keys() | stored.keys())
        if (asdict(rebuilt[number]) if number in rebuilt else None)
        != (asdict(stored[number]) if number in stored else None)
    ]


def _replaced_faults(
    connection: sa.Connection, key: int, current: Mapping[tuple[int, int], tuple[int, Row]]
) -> list[str]:
    """Compare which rows stand."""
    table = schema.output_rows
    rows = connection.execute(
        sa.select(table.c.worker, table.c.period, table.c.event).where(
            table.c.site == key, table.c.replaced_in.is_(None)
        )
    )
    standing = {(row.worker, row.period): row.event for row in rows}
    expected = {place: event for place, (event, _) in current.items()}
    return [] if standing == expected else ["the rows that stand differ from the record"]
