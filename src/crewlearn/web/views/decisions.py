"""Decisions: proposals with their reasons at the time, and people's answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crewlearn.advisor.ledger.events import Event, ProposalAnswer
from crewlearn.advisor.ledger.site import FAILURES, OPEN, REJECTED, STARTED, Proposal
from crewlearn.language import _
from crewlearn.web.views.proposals import STATUS_WORDS, Exchange, exchange
from crewlearn.web.views.reading import Reading

DECISIONS = 20
"""Decisions per page."""

DECIDED = (*OPEN, STARTED, *FAILURES, REJECTED)
"""Statuses of answered and open proposals; withdrawn ones, of which there may be many, are left out."""


@dataclass(frozen=True)
class Decision:
    """A proposal with the answers to it, and by whom."""

    exchange: Exchange
    day: str
    answers: tuple[tuple[str, str], ...]


def decisions(
    reading: Reading, proposals: Sequence[Proposal], answers: Mapping[int, Sequence[tuple[Event, bool]]]
) -> list[Decision]:
    """Return proposals with their reasons at the time, and people's answers."""
    return [
        Decision(
            exchange(reading, proposal),
            reading.day(proposal.period),
            tuple(
                (f"{event.actor} {_answer(event, undone)}", reading.moment(event.at))
                for event, undone in answers.get(proposal.id, ())
            ),
        )
        for proposal in proposals
    ]


def _answer(event: Event, undone: bool) -> str:
    """Return what somebody answered, and whether it was taken back."""
    assert isinstance(event.fact, ProposalAnswer)
    words = event.fact.full_reply({status: _(words) for status, words in STATUS_WORDS.items()})
    return _("{answer} (taken back)", answer=words) if undone else words
