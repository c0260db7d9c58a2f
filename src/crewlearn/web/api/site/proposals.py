"""Proposals with their reasons, and answers to them."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from crewlearn.advisor.advice import answers as answered
from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.answers import Answer
from crewlearn.advisor.advice.remarks import Term, turn_down
from crewlearn.advisor.ledger.errors import Stale
from crewlearn.advisor.ledger.events import (
    AnswerUndone,
    OfferRecorded,
    ProposalApproved,
    ProposalRejected,
    ProposalTurnedDown,
)
from crewlearn.advisor.ledger.queries import read_events, read_proposals
from crewlearn.advisor.ledger.site import Proposal
from crewlearn.advisor.ledger.site.request_keys import RequestRepeated
from crewlearn.advisor.wording import documents
from crewlearn.advisor.wording.past import undoing
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web import snapshots
from crewlearn.web.api import paging
from crewlearn.web.api.common import (
    READING,
    UNCHANGED,
    VERSIONED,
    WRITING,
    Here,
    IfNoneMatch,
    ProposalNumber,
    answer,
    at,
    changing_once,
    page,
    unless_known,
)
from crewlearn.web.api.models.site import proposals as models
from crewlearn.web.auth.access import MANAGER, VIEWER
from crewlearn.web.snapshots import Snapshot

router = APIRouter(prefix="/sites/{site}", tags=["proposals"])


@router.get("/proposals", response_model=models.Proposals, operation_id="listProposals", responses=READING)
def list_proposals(
    here: Annotated[Here, at(VIEWER)],
    status: Annotated[list[models.ProposalStatus] | None, Query(description="Only those; repeat for several.")] = None,
    newest: Annotated[bool, Query(description="The newest first.")] = False,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List every proposal ever made, with its current status, by number."""
    statuses = None if status is None else sorted(set(status))
    with here.store.reading() as connection:
        now = snapshots.snapshot_in(here.store, connection, here.name)
        read = partial(read_proposals, connection, now.key, statuses=statuses)
        listed, following = paging.numbered(
            cursor, f"proposals {statuses}", newest, limit, read, lambda proposal: proposal.id
        )
    return answer(page([_document(now, proposal) for proposal in listed], following))


@router.get("/proposals/{proposal}", response_model=models.ProposalModel, operation_id="getProposal", responses=READING)
def get_proposal(here: Annotated[Here, at(VIEWER)], proposal: ProposalNumber) -> Response:
    """Return a proposal with its current status and, while it waits for an answer, who could come in instead."""
    now, shown = _find(here, proposal)
    return answer(documents.proposal(now.site, now.people, shown, now.candidates_of([shown])))


@router.get(
    "/proposals/{proposal}/explanation",
    response_model=models.Explanation,
    operation_id="explainProposal",
    responses=READING | VERSIONED | UNCHANGED,
)
def explain_proposal(
    here: Annotated[Here, at(VIEWER)], proposal: ProposalNumber, if_none_match: IfNoneMatch = None
) -> Response:
    """Explain in plain words why a proposal was made."""
    now, shown = _find(here, proposal)
    return unless_known(if_none_match, now) or answer(
        documents.explanation(now.site, now.people, shown, now.candidates_of([shown])), now
    )


def _document(now: Snapshot, proposal: Proposal) -> dict[str, Any]:
    return documents.proposal(now.site, now.people, proposal)


def _find(here: Here, number: int) -> tuple[Snapshot, Proposal]:
    """Return a proposal, and the site's snapshot of the same transaction."""
    with here.store.reading() as connection:
        now = snapshots.snapshot_in(here.store, connection, here.name)
        listed = read_proposals(connection, now.key, number - 1, limit=1)
    if not listed or listed[0].id != number:
        raise Unknown("proposal", number, "does not exist at this site")
    return now, listed[0]


@router.post(
    "/proposals/{proposal}/approval",
    response_model=models.Answered,
    operation_id="approveProposal",
    responses=WRITING | VERSIONED,
)
def approve(
    here: Annotated[Here, changing_once(MANAGER)],
    proposal: ProposalNumber,
    approval: models.Approval | None = None,
) -> Response:
    """Approve a proposal: the offer goes out. Repeating one's own approval changes nothing.

    At a site with a second approver, the first approval starts nothing: the proposal stays `proposed` with a
    `first_approval`, and a different user approves the same exchange. Without `out` and `in`, it is that one,
    if that is the exchange proposed or the request has an `If-Match`; else who leaves and comes in must be named.
    """
    out, into = (None, None) if approval is None else (approval.out, approval.into)
    _, shown = _find(here, proposal)
    entrant = _number(here, into)
    wanted = Answer(ProposalApproved, proposal, out=_number(here, out), into=None if entrant == shown.into else entrant)
    return _answered(here, wanted, partial(commands.approve, out=out, into=into))


@router.post(
    "/proposals/{proposal}/rejection",
    response_model=models.Answered,
    operation_id="rejectProposal",
    responses=WRITING | VERSIONED,
)
def reject(
    here: Annotated[Here, changing_once(MANAGER)],
    proposal: ProposalNumber,
    rejection: models.Rejection,
) -> Response:
    """Reject a proposal, with a reason for the record: as keep, not this candidate or not now.

    Without `as`, the same person is not proposed again for a while.
    """
    term = Term(rejection.until, rejection.days, rejection.for_good)
    if rejection.how is not None:
        return _turned_down(here, proposal, rejection, rejection.how, term)
    if term.is_named:
        raise InvalidInput("until", str(term.until or term.days or "for good"), "belongs to a rejection with `as`")
    wanted = Answer(ProposalRejected, proposal, reason=rejection.reason, keep_out=rejection.keep_out or None)
    return _answered(here, wanted, partial(commands.reject, reason=rejection.reason, keep_out=rejection.keep_out))


def _turned_down(here: Here, proposal: int, rejection: models.Rejection, how: str, term: Term) -> Response:
    if rejection.keep_out:
        raise InvalidInput(
            "keep_out", True, "is a rejection of its own; leave out `as`, or send not-candidate for good"
        )
    wanted = Answer(ProposalTurnedDown, proposal, reason=rejection.reason, how=how, until=rejection.until)

    def give(**place: Any) -> None:
        turn_down(how=how, reason=rejection.reason, term=term, **place)

    return _answered(here, wanted, give)


@router.post(
    "/proposals/{proposal}/offer",
    response_model=models.Answered,
    operation_id="recordOffer",
    responses=WRITING | VERSIONED,
)
def record_offer(
    here: Annotated[Here, changing_once(MANAGER)], proposal: ProposalNumber, offer: models.OfferModel
) -> Response:
    """Record how an offer went; a decline brings the next candidate."""
    when = None if offer.on is None else here.snapshot.site.config.calendar.period_of(offer.on)
    leaver = _number(here, offer.out) if offer.outcome == "started" else None
    wanted = Answer(OfferRecorded, proposal, outcome=offer.outcome, period=when, leaver=leaver)
    give = partial(commands.record_offer, outcome=offer.outcome, on=offer.on, out=offer.out)
    return _answered(here, wanted, give)


def _number(here: Here, worker_id: str | None) -> int | None:
    return None if worker_id is None else here.snapshot.number_of(worker_id)


def _answered(here: Here, wanted: Answer, give: Callable[..., list[str] | None]) -> Response:
    """Record an answer once; respond with the proposal and the advice as they are then.

    `give` is called with the place of the answer: store, site, proposal, actor, and the version that it expects.
    """
    _find(here, wanted.proposal)
    actor = here.caller.name
    give_here = partial(
        give, store=here.writer, name=here.name, number=wanted.proposal, actor=actor, expected=here.expected
    )
    try:
        warnings = answered.give_once(here.store, here.name, actor, wanted, give_here)
    except RequestRepeated:
        warnings = []
    now, proposal = _find(here, wanted.proposal)
    return answer({"proposal": _document(now, proposal), "warnings": warnings, "advice": now.advice}, now)


@router.post("/undo", response_model=models.Undone, operation_id="undo", responses=WRITING | VERSIONED)
def undo(here: Annotated[Here, changing_once(MANAGER)]) -> Response:
    """Undo the last answer, if nothing was recorded since; both stay on record.

    With If-Match, repeating the request changes nothing.
    """
    words = None
    try:
        words = undoing.undo(here.writer, here.name, here.caller.name, expected=here.expected)
    except RequestRepeated:
        pass
    except Stale:
        if not _took_back(here):
            raise
    after = here.now()
    return answer({"taken_back": words, "advice": after.advice}, after)


def _took_back(here: Here) -> bool:
    """Return whether the first event after the version in If-Match is an undo by the caller."""
    with here.store.reading() as connection:
        event = next(read_events(connection, here.snapshot.key, here.expected, limit=1), None)
    return event is not None and isinstance(event.fact, AnswerUndone) and event.actor == here.caller.name
