"""The state of a site: its workers, its proposals, what people said, and the advice that stands."""

from crewlearn.advisor.ledger.site.former_units import FormerUnits
from crewlearn.advisor.ledger.site.proposals import (
    ACCEPTED,
    APPROVED,
    FAILURES,
    OFFERED,
    OPEN,
    PROPOSED,
    REJECTED,
    STARTED,
    UNDER_WAY,
    WITHDRAWN,
    FirstApproval,
    Proposal,
)
from crewlearn.advisor.ledger.site.slip import Slip
from crewlearn.advisor.ledger.site.state import Site
from crewlearn.advisor.ledger.site.workers import BLOCKED, LEFT, POOL, STATUSES, Worker

__all__ = [
    "ACCEPTED",
    "APPROVED",
    "BLOCKED",
    "FAILURES",
    "LEFT",
    "OFFERED",
    "OPEN",
    "POOL",
    "PROPOSED",
    "REJECTED",
    "STARTED",
    "STATUSES",
    "UNDER_WAY",
    "WITHDRAWN",
    "FirstApproval",
    "FormerUnits",
    "Proposal",
    "Site",
    "Slip",
    "Worker",
]
