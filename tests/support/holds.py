"""Pinning and blocking workers with an end and a reason, as the commands and the pages do."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from crewlearn.advisor.advice.remarks import FOR_GOOD, Term, set_worker
from crewlearn.advisor.ledger.site import BLOCKED
from crewlearn.advisor.ledger.store import Store


def pin(store: Store, site: str, worker: str, actor: str, reason: str = "", *, term: Term = FOR_GOOD) -> date | None:
    """Pin a worker; return the day on which that ends."""
    return _hold(store, site, worker, actor, {"pinned": True}, reason, term)


def block(store: Store, site: str, worker: str, actor: str, reason: str = "", *, term: Term = FOR_GOOD) -> date | None:
    """Block a worker; return the day on which that ends."""
    return _hold(store, site, worker, actor, {"status": BLOCKED}, reason, term)


def _hold(
    store: Store, site: str, worker: str, actor: str, changes: Mapping[str, Any], reason: str, term: Term
) -> date | None:
    return set_worker(store, site, worker, actor, changes, reason, term=term).until
