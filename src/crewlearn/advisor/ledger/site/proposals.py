"""A proposed replacement, from the proposal to its settlement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.site.advice_record import NO_REASONS, Reasons
from crewlearn.problem.arrays import NOBODY

PROPOSED, APPROVED, OFFERED, ACCEPTED = "proposed", "approved", "offered", "accepted"
OPEN = (PROPOSED, APPROVED, OFFERED, ACCEPTED)
UNDER_WAY = (APPROVED, OFFERED, ACCEPTED)
STARTED = "started"
FAILURES = ("declined", "expired", "no-show", "cancelled")
REJECTED, WITHDRAWN = "rejected", "withdrawn"


@dataclass(frozen=True)
class Proposal:
    """A replacement proposed in a period: `out` (-1: an empty station, or open until arrival) by `into`.

    `decided_in` is the period of the answer, `reason` the reason of a rejection, `settled_in` the period in which the
    offer was settled. `fee` was agreed on approval and fell due in period `paid_in`. `why` are the reasons for the
    proposal.
    """

    id: int
    period: int
    out: int
    into: int
    status: str = PROPOSED
    decided_in: int = 0
    fee: float = 0.0
    reason: str = ""
    leaver: int = NOBODY
    settled_in: int = 0
    paid_in: int = 0
    why: Reasons = NO_REASONS

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Proposal":
        """Rebuild what `to_json` described."""
        return cls(**{**data, "why": Reasons.from_json(data["why"])})

    def to_json(self) -> dict[str, Any]:
        """Describe the proposal as plain data."""
        return {**vars(self), "why": self.why.to_json()}

    @property
    def paid(self) -> bool:
        """Whether the fee has fallen due."""
        return self.paid_in != 0

    @property
    def filled_empty_station(self) -> bool:
        """Whether there was an empty station for the incoming worker when this was proposed."""
        return self.out == NOBODY and self.why.leaver == NOBODY

    @property
    def makes_room(self) -> int:
        """Who makes room, or made it once the hire started; -1 for an empty station, or open until arrival."""
        return self.leaver if self.status == STARTED else self.out


@dataclass(frozen=True)
class FirstApproval:
    """The first of two approvals: by whom, when (UTC), and of which exchange."""

    by: str
    at: str
    out: int
    into: int
