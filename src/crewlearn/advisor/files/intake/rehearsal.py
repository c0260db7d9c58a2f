"""A store whose writes are made on a snapshot and rolled back, to find out what an import would do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import clear_errors, snapshot_begun
from crewlearn.advisor.ledger.db.overlay import overlay
from crewlearn.advisor.ledger.keyed_locks import KeyedLocks
from crewlearn.advisor.ledger.store import SiteSnapshot, Store
from crewlearn.advisor.ledger.transaction import SiteTransaction

_OVERLAID = (schema.events, schema.output_rows, schema.identities, schema.stints)
"""The tables that an import writes to before its transaction finishes, which that of a rehearsal never does."""


class _Over(Exception):
    """Rolls a rehearsal back."""


@dataclass
class Rehearsal(Store):
    """A store whose writes are made on a snapshot and rolled back: they take no lock that a writer waits for."""

    turns: ClassVar[KeyedLocks] = KeyedLocks()

    @contextmanager
    def writing(self, *given: Any, **named: Any) -> Iterator[SiteTransaction]:
        """Write to a site in a transaction that is rolled back."""
        try:
            with super().writing(*given, **named) as work:
                yield work
                raise _Over
        except _Over:
            return

    @contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """Begin a transaction on a snapshot, with changes of its own beside it."""
        with clear_errors(self.engine), snapshot_begun(self.engine, readonly=False) as connection:
            overlay(connection, _OVERLAID)
            yield connection

    def snapshot(self, connection: sa.Connection, name: str, *, lock: bool = False) -> SiteSnapshot:
        """Return a site's current state, never locked."""
        return super().snapshot(connection, name)


def rehearsal_of(store: Store) -> Rehearsal:
    """Return a rehearsal with the same database, advice, clock and cached states."""
    rehearsal = Rehearsal(store.engine, store.derive, store.clock, writers=store.writers)
    rehearsal._cache = store._cache
    return rehearsal
