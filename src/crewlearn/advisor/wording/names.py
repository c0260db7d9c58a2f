"""Names for what the record has as numbers: workers, the places they take, and days."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from crewlearn.advisor.ledger.errors import Retold
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import STARTED, Proposal
from crewlearn.problem.arrays import NOBODY

SOMEBODYS, EMPTY, ON_ARRIVAL = ("worker", "empty station", "settled on arrival")
"""What place an incoming worker may take."""


def place_kind(proposal: Proposal) -> str:
    """Return what place the incoming worker takes: somebody's, an empty one, or as is settled on arrival."""
    if proposal.makes_room != NOBODY:
        return SOMEBODYS
    return EMPTY if proposal.status == STARTED or proposal.why.leaver == NOBODY else ON_ARRIVAL


def place(people: People, proposal: Proposal) -> str:
    """Name whose place the incoming worker takes."""
    if place_kind(proposal) == ON_ARRIVAL:
        return "whoever makes room on arrival"
    return people.label(proposal.makes_room)


@dataclass(frozen=True)
class RecordNames:
    """Words for the numbers in events: the `Names` that they are told with. Days are as `written` writes them."""

    people: People
    proposals: Mapping[int, Proposal]
    calendar: WorkCalendar
    written: Callable[[date], str] = str

    @classmethod
    def of(cls, retold: Retold) -> "RecordNames":
        """Return the names for events that were read to be told."""
        return cls(retold.people, retold.proposals, retold.calendar)

    def person(self, worker: int) -> str:
        """Name a worker."""
        return self.people.label(worker)

    def exchange(self, proposal: int) -> str:
        """Return ` (IN for OUT)` of a proposal; empty if it is not known."""
        known = self.proposals.get(proposal)
        return "" if known is None else f" ({self.people.label(known.into)} for {place(self.people, known)})"

    def incoming(self, proposal: int) -> str | None:
        """Name who would come in by a proposal; None if it is not known."""
        known = self.proposals.get(proposal)
        return None if known is None else self.people.label(known.into)

    def day(self, period: int) -> str:
        """Write the day of a period."""
        return self.written(self.calendar.date_of(period))
