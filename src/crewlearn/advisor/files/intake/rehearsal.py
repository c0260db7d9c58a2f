"""A store whose writes are rolled back, to find out what an import would do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.transaction import SiteTransaction


class _Over(Exception):
    """Rolls a rehearsal back."""


@dataclass
class Rehearsal(Store):
    """A store whose writes are rolled back."""

    @contextmanager
    def writing(self, *given: Any, **named: Any) -> Iterator[SiteTransaction]:
        """Write to a site in a transaction that is rolled back."""
        try:
            with super().writing(*given, **named) as work:
                yield work
                raise _Over
        except _Over:
            return


def rehearsal_of(store: Store) -> Rehearsal:
    """Return a rehearsal with the same database, advice and clock."""
    return Rehearsal(store.engine, store.derive, store.clock)
