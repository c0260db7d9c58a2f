"""Proposals: what was proposed and why, and a person's answers."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from crewlearn.advisor import answers as answered
from crewlearn.advisor import commands, documents
from crewlearn.advisor.answers import Answer
from crewlearn.advisor.conflict import Stale
from crewlearn.advisor.events import APPROVED, OFFER, REJECTED, UNDONE
from crewlearn.advisor.record import read_events, read_proposals
from crewlearn.advisor.site import Proposal
from crewlearn.problem.errors import Unknown
from crewlearn.web import reads
from crewlearn.web.access import MANAGER, VIEWER
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
    changing,
    page,
    unless_known,
)
from crewlearn.web.api.models import proposals as models
from crewlearn.web.reads import Snapshot

router = APIRouter(prefix="/sites/{site}", tags=["proposals"])


@router.get("/proposals", response_model=models.Proposals, operation_id="listProposals", responses=READING)
def list_proposals(
    here: Annotated[Here, at(VIEWER)],
    status: Annotated[list[models.ProposalStatus] | None, Query(description="Only those; repeat for several.")] = None,
    newest: Annotated[bool, Query(description="The newest first.")] = False,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List every proposal ever made, as it stands, by number."""
    statuses = None if status is None else sorted(set(status))
    with here.store.reading() as connection:
        now = reads.snapshot_in(here.store, connection, here.name)
        read = partial(read_proposals, connection, now.key, statuses=statuses)
        found, following = paging.numbered(cursor, f"proposals {statuses}", newest, limit, read, lambda one: one.id)
    return answer(page([_document(now, one) for one in found], following))


@router.get("/proposals/{proposal}", response_model=models.Proposal, operation_id="getProposal", responses=READING)
def get_proposal(here: Annotated[Here, at(VIEWER)], proposal: ProposalNumber) -> Response:
    """Give a proposal as it stands."""
    return answer(_document(*_find(here, proposal)))


@router.get(
    "/proposals/{proposal}/explanation",
    response_model=models.Explanation,
    operation_id="explainProposal",
    responses=READING | VERSIONED | UNCHANGED,
)
def explain_proposal(
    here: Annotated[Here, at(VIEWER)], proposal: ProposalNumber, if_none_match: IfNoneMatch = None
) -> Response:
    """Say in plain words why a proposal was made, as it was then."""
    now, found = _find(here, proposal)
    return unless_known(if_none_match, now) or answer(documents.explanation(now.site, now.people, found), now)


def _document(now: Snapshot, proposal: Proposal) -> dict[str, Any]:
    return documents.proposal(now.site, now.people, proposal)


def _find(here: Here, number: int) -> tuple[Snapshot, Proposal]:
    """Give a proposal, and the site as it stands in the same view."""
    with here.store.reading() as connection:
        now = reads.snapshot_in(here.store, connection, here.name)
        found = read_proposals(connection, now.key, number - 1, limit=1)
    if not found or found[0].id != number:
        raise Unknown("proposal", number, "does not exist at this site")
    return now, found[0]


@router.post(
    "/proposals/{proposal}/approval",
    response_model=models.Answered,
    operation_id="approveProposal",
    responses=WRITING | VERSIONED,
)
def approve(
    here: Annotated[Here, changing(MANAGER)],
    proposal: ProposalNumber,
    approval: models.Approval | None = None,
) -> Response:
    """Approve a proposal: the offer goes out. Approving again what one has just approved changes nothing."""
    out = None if approval is None else approval.out
    said = Answer(APPROVED, proposal, out=_number(here, out))
    store, actor = here.store, here.caller.name
    return _answered(
        here, said, lambda: commands.approve(store, here.name, proposal, actor, out=out, expected=here.expected)
    )


@router.post(
    "/proposals/{proposal}/rejection",
    response_model=models.Answered,
    operation_id="rejectProposal",
    responses=WRITING | VERSIONED,
)
def reject(
    here: Annotated[Here, changing(MANAGER)],
    proposal: ProposalNumber,
    rejection: models.Rejection,
) -> Response:
    """Reject a proposal, with a reason for the record; who was to come in is left alone for a while."""
    said = Answer(REJECTED, proposal, reason=rejection.reason, keep_out=rejection.keep_out or None)

    def give() -> None:
        commands.reject(
            here.store,
            here.name,
            proposal,
            here.caller.name,
            rejection.reason,
            keep_out=rejection.keep_out,
            expected=here.expected,
        )

    return _answered(here, said, give)


@router.post(
    "/proposals/{proposal}/offer",
    response_model=models.Answered,
    operation_id="recordOffer",
    responses=WRITING | VERSIONED,
)
def record_offer(here: Annotated[Here, changing(MANAGER)], proposal: ProposalNumber, offer: models.Offer) -> Response:
    """Record how an offer went; a decline brings the next candidate."""
    when = None if offer.on is None else here.snapshot.site.config.calendar.period_of(offer.on)
    leaver = _number(here, offer.out) if offer.outcome == "started" else None
    said = Answer(OFFER, proposal, outcome=offer.outcome, period=when, leaver=leaver)
    store, actor = here.store, here.caller.name
    return _answered(
        here,
        said,
        lambda: commands.record_offer(
            store, here.name, proposal, offer.outcome, actor, on=offer.on, out=offer.out, expected=here.expected
        ),
    )


def _number(here: Here, worker_id: str | None) -> int | None:
    return None if worker_id is None else here.snapshot.number_of(worker_id)


def _answered(here: Here, said: Answer, give: Callable[[], list[str] | None]) -> Response:
    """Give an answer, once; say how the proposal and the advice stand then."""
    _find(here, said.proposal)
    warnings = answered.give_once(here.store, here.name, here.caller.name, said, give)
    now, proposal = _find(here, said.proposal)
    return answer({"proposal": _document(now, proposal), "warnings": warnings, "advice": now.advice}, now)


@router.post("/undo", response_model=models.Undone, operation_id="undo", responses=WRITING | VERSIONED)
def undo(here: Annotated[Here, changing(MANAGER)]) -> Response:
    """Take back the last answer, if nothing was recorded since; both stay on record.

    With If-Match, the same request again finds it done.
    """
    words = None
    try:
        words = commands.undo(here.store, here.name, here.caller.name, expected=here.expected)
    except Stale:
        if not _took_back(here):
            raise
    after = here.now()
    return answer({"taken_back": words, "advice": after.advice}, after)


def _took_back(here: Here) -> bool:
    """Say whether the caller took something back as the first thing after the version they mean."""
    with here.store.reading() as connection:
        event = next(read_events(connection, here.snapshot.key, here.expected, limit=1), None)
    return event is not None and event.type == UNDONE and event.actor == here.caller.name
