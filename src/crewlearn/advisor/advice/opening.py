"""Opening a store for live use, with advice derived by the sites' policies."""

from crewlearn.advisor.advice.derive import derive
from crewlearn.advisor.ledger.store import DEFAULT_URL, Store, open_ledger
from crewlearn.advisor.ledger.transaction import Clock


def open_store(url: str = DEFAULT_URL, clock: Clock | None = None, *, make: bool = True) -> Store:
    """Open a store whose advice is derived by the sites' own policies.

    A missing store is created, or refused without `make`. An older one is refused with the command that upgrades it.
    """
    return open_ledger(url, derive, clock, make=make)
