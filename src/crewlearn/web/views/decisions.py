"""Every decision: a proposal with its reasons as they were, and all that people said about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from crewlearn.advisor import events
from crewlearn.advisor.events import Event
from crewlearn.advisor.record import read_events
from crewlearn.advisor.site import FAILURES, OPEN, REJECTED, STARTED, Proposal
from crewlearn.web import wording
from crewlearn.web.views.proposals import STATUS_WORDS, Exchange, exchange
from crewlearn.web.views.reading import Reading

DECISIONS = 20
"""Decisions on a page."""

DECIDED = (*OPEN, STARTED, *FAILURES, REJECTED)
"""Proposals that were answered, or are to be; those withdrawn again are the advisor's own affair, and may be many."""

ANSWERS = (events.APPROVED, events.REJECTED, events.OFFER)


@dataclass(frozen=True)
class Decision:
    """A proposal with all that was said about it, and by whom."""

    exchange: Exchange
    day: str
    answers: tuple[tuple[str, str], ...]


def decisions(
    reading: Reading, proposals: Sequence[Proposal], answers: Mapping[int, Sequence[tuple[Event, bool]]]
) -> list[Decision]:
    """Show proposals with their reasons as they were, and what people said to them."""
    return [
        Decision(
            exchange(reading, one),
            reading.day(one.period),
            tuple(
                (f"{event.actor} {_answer(event)}{' (taken back)' if undone else ''}", wording.moment(event.at))
                for event, undone in answers.get(one.id, ())
            ),
        )
        for one in proposals
    ]


def _answer(event: Event) -> str:
    """Say what somebody answered."""
    if event.type == events.APPROVED:
        return "approved it"
    if event.type == events.REJECTED:
        return f"rejected it: {event.payload['reason']}" if event.payload["reason"] else "rejected it"
    return f"recorded: {STATUS_WORDS[event.payload['outcome']]}"


def answers_in(connection: sa.Connection, key: int) -> dict[int, list[tuple[Event, bool]]]:
    """Read all answers by proposal, with whether they were taken back."""
    listed = list(read_events(connection, key, types=(*ANSWERS, events.UNDONE)))
    undone = {event.payload["number"] for event in listed if event.type == events.UNDONE}
    found: dict[int, list[tuple[Event, bool]]] = {}
    for event in listed:
        if event.type in ANSWERS:
            found.setdefault(event.payload["proposal"], []).append((event, event.number in undone))
    return found
