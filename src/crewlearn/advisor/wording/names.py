"""Names for numbers in the record: workers, the places they take, and days."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from crewlearn.advisor.ledger.errors import Retold
from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import STARTED, Proposal
from crewlearn.language import _
from crewlearn.problem.arrays import NOBODY

SOMEBODYS, EMPTY, ON_ARRIVAL = ("worker", "empty station", "settled on arrival")
"""The kinds of place that an incoming worker may take."""


def place_kind(proposal: Proposal) -> str:
    """Return the kind of place the incoming worker takes: a worker's, an empty station, or settled on arrival."""
    if proposal.makes_room != NOBODY:
        return SOMEBODYS
    return EMPTY if proposal.status == STARTED or proposal.why.leaver == NOBODY else ON_ARRIVAL


def place(people: People, proposal: Proposal) -> str:
    """Name whose place the incoming worker takes."""
    if place_kind(proposal) == ON_ARRIVAL:
        return _("whoever makes room on arrival")
    return people.label(proposal.makes_room)


@dataclass(frozen=True)
class RecordNames:
    """The `Names` that describe events; `written` formats days."""

    people: People
    proposals: Mapping[int, Proposal]
    calendar: WorkCalendar
    written: Callable[[date], str] = str

    @classmethod
    def of(cls, retold: Retold) -> "RecordNames":
        """Return the names for events read with `retold`."""
        return cls(retold.people, retold.proposals, retold.calendar)

    def person(self, worker: int) -> str:
        """Name a worker."""
        return self.people.label(worker)

    def exchange(self, proposal: int) -> str:
        """Return ` (IN for OUT)` for a proposal; empty if it is unknown."""
        known = self.proposals.get(proposal)
        return (
            ""
            if known is None
            else _(" ({into} for {place})", into=self.people.label(known.into), place=place(self.people, known))
        )

    def incoming(self, proposal: int) -> str | None:
        """Name the incoming worker of a proposal; None if it is unknown."""
        known = self.proposals.get(proposal)
        return None if known is None else self.people.label(known.into)

    def day(self, period: int) -> str:
        """Format the day of a period."""
        return self.written(self.calendar.date_of(period))

    def date(self, day: date) -> str:
        """Format a day."""
        return self.written(day)
