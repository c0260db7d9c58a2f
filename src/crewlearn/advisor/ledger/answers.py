"""How each proposal was answered, by whom and when, read from the record."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa

from crewlearn.advisor.ledger.events import (
    AnswerTrail,
    AnswerUndone,
    Event,
    ProposalAnswer,
    StaffFact,
    TeamRecorded,
    kinds_of,
)
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.site import Proposal


def answer_trails(connection: sa.Connection, key: int, proposals: Sequence[Proposal]) -> dict[int, AnswerTrail]:
    """Return each proposal's answers by its number, without those that were taken back.

    A worker's leaving cancels the offers made to them; taking a station outside advice settles them.
    """
    trails: dict[int, AnswerTrail] = {}
    before: dict[int, dict[int, AnswerTrail]] = {}
    into = {proposal.id: proposal.into for proposal in proposals}
    for event in read_events(connection, key, kinds=kinds_of(ProposalAnswer, StaffFact, TeamRecorded, AnswerUndone)):
        if isinstance(event.fact, AnswerUndone):
            for number in reversed(event.fact.numbers):
                trails |= before[number]
            continue
        changed = _changed(event, trails, into)
        before[event.number] = {number: trails.get(number, AnswerTrail()) for number in changed}
        trails |= changed
    return trails


def _changed(event: Event, trails: dict[int, AnswerTrail], into: dict[int, int]) -> dict[int, AnswerTrail]:
    """Return the answer trails that an event changes, after it."""
    fact = event.fact
    if isinstance(fact, ProposalAnswer):
        trail = trails.get(fact.proposal, AnswerTrail())
        return {fact.proposal: fact.traced(trail, event.actor, event.at)}
    if isinstance(fact, TeamRecorded):
        return {
            settled.proposal: trails.get(settled.proposal, AnswerTrail()).settled(
                settled.outcome, event.actor, event.at
            )
            for settled in fact.settled
        }
    assert isinstance(fact, StaffFact)
    left = set(fact.leavers())
    return {
        number: trail.settled("cancelled", event.actor, event.at)
        for number, trail in trails.items()
        if into.get(number) in left and trail.answered_at is not None and trail.outcome is None
    }


def answers_by_proposal(connection: sa.Connection, key: int) -> dict[int, list[tuple[Event, bool]]]:
    """Return the events that answered each proposal, in order, and whether each was taken back."""
    listed = list(read_events(connection, key, kinds=kinds_of(ProposalAnswer, AnswerUndone)))
    undone = {number for event in listed if isinstance(event.fact, AnswerUndone) for number in event.fact.numbers}
    answers: dict[int, list[tuple[Event, bool]]] = {}
    for event in listed:
        if isinstance(event.fact, ProposalAnswer):
            answers.setdefault(event.fact.proposal, []).append((event, event.number in undone))
    return answers


def last_answer(connection: sa.Connection, key: int, proposal: int) -> tuple[Event, ProposalAnswer] | None:
    """Return the last answer to a proposal that was not taken back."""
    return last_answers(connection, key, [proposal]).get(proposal)


def last_answers(
    connection: sa.Connection, key: int, proposals: Collection[int]
) -> dict[int, tuple[Event, ProposalAnswer]]:
    """Return the last answer to each of some proposals that was not taken back, by its number."""
    taken_back, wanted, last = set[int](), set(proposals), dict[int, tuple[Event, ProposalAnswer]]()
    for event in read_events(connection, key, kinds=kinds_of(ProposalAnswer, AnswerUndone), newest_first=True):
        fact = event.fact
        if isinstance(fact, AnswerUndone):
            taken_back.update(fact.numbers)
        elif isinstance(fact, ProposalAnswer) and fact.proposal in wanted and event.number not in taken_back:
            last[fact.proposal] = event, fact
            wanted.remove(fact.proposal)
            if not wanted:
                break
    return last


def last_standing_answer(connection: sa.Connection, key: int) -> int | None:
    """Return the number of the last event that answered a proposal and was not taken back; None if there is none."""
    taken_back = set[int]()
    for event in read_events(connection, key, kinds=kinds_of(ProposalAnswer, AnswerUndone), newest_first=True):
        if isinstance(event.fact, AnswerUndone):
            taken_back.update(event.fact.numbers)
        elif event.number not in taken_back:
            return event.number
    return None
