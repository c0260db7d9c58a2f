"""Answering many proposals or offers alike, in one transaction: each is answered once, or it is said why not.

Answers given together are undone together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from crewlearn.advisor.advice.answers import Answer, LastAnswer, conflict_after
from crewlearn.advisor.advice.commands import approve_in, record_offer_in
from crewlearn.advisor.advice.remarks import A_WHILE, Term, check_refusal, turn_down_in
from crewlearn.advisor.ledger.answers import last_answers
from crewlearn.advisor.ledger.errors import Conflict, StoreUnavailable
from crewlearn.advisor.ledger.events import (
    OUTCOMES,
    OfferRecorded,
    ProposalApproved,
    ProposalApprovedFirst,
    ProposalTurnedDown,
)
from crewlearn.advisor.ledger.site import STARTED
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, one_of, whole

MOST = 2_000
"""Proposals that can be answered in one action."""


@dataclass(frozen=True)
class CommonAnswer:
    """An answer for any number of proposals: what it is called on record, and how it is given to one of them."""

    expected: Callable[[int], Answer]
    give: Callable[[SiteTransaction, int], Sequence[str]]


def approval() -> CommonAnswer:
    """Return the approval of proposals as they stand."""
    return CommonAnswer(partial(Answer, ProposalApproved), approve_in)


def refusal(how: str, reason: str = "", term: Term = A_WHILE) -> CommonAnswer:
    """Return a rejection as: keep who would leave, not this candidate, or not now."""
    check_refusal(how, reason, term)

    def give(work: SiteTransaction, number: int) -> Sequence[str]:
        turn_down_in(work, number, how, reason, term)
        return ()

    named: dict[str, Any] = {"how": how, "reason": reason, "until": term.until}
    return CommonAnswer(lambda number: Answer(ProposalTurnedDown, number, **named), give)


def outcome_of_offers(outcome: str, on: date | None = None) -> CommonAnswer:
    """Return an outcome of offers, on a day or now; on a start, whoever was agreed on leaves."""
    one_of("outcome", outcome, OUTCOMES)

    def give(work: SiteTransaction, number: int) -> Sequence[str]:
        if outcome == STARTED:
            _check_leaver(work, number)
        return record_offer_in(work, number, outcome, on)

    return CommonAnswer(lambda number: Answer(OfferRecorded, number, outcome=outcome), give)


def _check_leaver(work: SiteTransaction, number: int) -> None:
    """Refuse a start in a place that another start of the same action may have filled: undo takes back both."""
    site, proposal = work.site, work.site.proposals.get(number)
    if proposal is None or proposal.status == STARTED:
        return
    hire = next((hire for hire in site.roster.pending if hire.into == proposal.into), None)
    newcomers = {
        other.into for other in site.proposals.values() if other.status == STARTED and other.id in work.changed
    }
    on_arrival = hire is not None and hire.out == NOBODY and not site.roster.empty
    if hire is not None and newcomers and (hire.out in newcomers or on_arrival):
        raise Conflict("proposal", number, "settles who leaves on arrival; record it by itself")


@dataclass(frozen=True)
class Answered:
    """A proposal after an action for many: warnings, or why it was refused. A repetition is no refusal.

    `waits` says that it was approved first, and waits for the second approver.
    """

    proposal: int
    warnings: tuple[str, ...] = ()
    refused: InvalidInput | None = None
    waits: bool = False


def answer_many(
    store: Store,
    name: str,
    numbers: Sequence[int],
    answer: CommonAnswer,
    actor: str,
    *,
    all_or_none: bool = False,
    expected: int | None = None,
) -> list[Answered]:
    """Answer proposals alike, in one transaction, in the order of `numbers`; return what became of each.

    One that somebody answered before is left as it is and refused, with who answered it and when. With `all_or_none`,
    the first refusal is raised, and nothing is recorded.
    """
    wanted = list(dict.fromkeys(numbers))
    whole("number of proposals", len(wanted), 1, MOST)
    with store.writing(name, actor, expected) as work:
        before = last_answers(work.connection, work.key, wanted)
        work.begin_batch()
        return [_answered(work, number, answer, actor, before.get(number), all_or_none) for number in wanted]


def _answered(
    work: SiteTransaction, number: int, answer: CommonAnswer, actor: str, before: LastAnswer, all_or_none: bool
) -> Answered:
    if answer.expected(number).is_given(before, actor):
        return Answered(number)
    try:
        warnings = tuple(answer.give(work, number))
        return Answered(number, warnings, waits=work.site.first_approval_of(number) is not None)
    except InvalidInput as error:
        told = conflict_after(before, error) if isinstance(error, Conflict) else error
        if all_or_none or isinstance(error, StoreUnavailable):
            raise told from error
        return Answered(number, refused=told)


def answered_before(
    store: Store, name: str, numbers: Sequence[int], answer: CommonAnswer, actor: str
) -> list[Answered]:
    """Return what became of proposals in an action that was recorded before."""
    wanted = list(dict.fromkeys(numbers))
    with store.reading() as connection:
        before = last_answers(connection, store.key(connection, name), wanted)
    return [_answered_before(number, answer.expected(number), actor, before.get(number)) for number in wanted]


def _answered_before(number: int, expected: Answer, actor: str, before: LastAnswer) -> Answered:
    if not expected.is_on_record(before, actor):
        return Answered(number, refused=conflict_after(before, Conflict("proposal", number, "was refused")))
    return Answered(number, waits=before is not None and isinstance(before[1], ProposalApprovedFirst))
