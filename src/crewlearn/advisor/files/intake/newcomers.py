"""People whom a file of output names and the site does not know: enrolled in the transaction that records the file."""

import hashlib
from collections.abc import Iterable, Mapping

from crewlearn.advisor.ledger import identities
from crewlearn.advisor.ledger.events import WorkerFacts, WorkersImported, WorkerUpdate
from crewlearn.advisor.ledger.identities import Identity
from crewlearn.advisor.ledger.site import POOL
from crewlearn.advisor.ledger.text import LONGEST_ID, LONGEST_NAME, checked_text
from crewlearn.advisor.ledger.transaction import SiteTransaction


def enrol(work: SiteTransaction, workers: Iterable[str], names: Mapping[str, str], data: bytes) -> int:
    """Enrol those of these workers who are not known, with their names if given; return how many there are."""
    wanted = list(dict.fromkeys(workers))
    known = work.identities(wanted)
    fresh = [worker for worker in wanted if worker and worker not in known]
    if not fresh:
        return 0
    first = len(work.site.workers)
    people = []
    for number, worker in enumerate(fresh, start=first):
        checked_text("worker_id", worker, LONGEST_ID, least=1)
        name = names.get(worker)
        if name is not None:
            checked_text("name", name, LONGEST_NAME)
        people.append(Identity(number, worker, name))
    commitments = identities.enrol(work.connection, work.key, people)
    updates = tuple(WorkerUpdate(first + at, _unknown()) for at in range(len(fresh)))
    work.add(WorkersImported(hashlib.sha256(data).hexdigest(), updates, commitments=commitments))
    work.check_interviews()
    return len(fresh)


def _unknown() -> WorkerFacts:
    """Return the facts of somebody of whom nothing is known."""
    return {
        "status": POOL,
        "pinned": False,
        "fee": None,
        "prior_n": 0,
        "prior_mean": 0.0,
        "prior_given": None,
        "interview": None,
    }
