"""One answer for many proposals or offers."""

from typing import Annotated, Any

from fastapi import APIRouter
from fastapi.responses import Response

from crewlearn.advisor.advice.answering import (
    Answered,
    CommonAnswer,
    answer_many,
    answered_before,
    approval,
    outcome_of_offers,
    refusal,
)
from crewlearn.advisor.advice.remarks import Term
from crewlearn.advisor.ledger.site.request_keys import RequestRepeated
from crewlearn.web.api.common import VERSIONED, WRITING, Here, answer, changing_once
from crewlearn.web.api.models.site import answers as models
from crewlearn.web.auth.access import MANAGER

router = APIRouter(prefix="/sites/{site}", tags=["proposals"])


@router.post(
    "/answers", response_model=models.AnsweredMany, operation_id="answerProposals", responses=WRITING | VERSIONED
)
def answer_proposals(here: Annotated[Here, changing_once(MANAGER)], sent: models.AnswersModel) -> Response:
    """Answer many proposals or offers alike, in one transaction.

    One that was answered before, or cannot be answered so, is told in `refused`, and the others are recorded. With
    `all_or_none` nothing is recorded then. Answers given together are undone together.
    """
    given, actor = _meant(sent), here.caller.name
    try:
        answered = answer_many(
            here.writer,
            here.name,
            sent.proposals,
            given,
            actor,
            all_or_none=sent.all_or_none,
            expected=here.expected,
        )
    except RequestRepeated:
        answered = answered_before(here.store, here.name, sent.proposals, given, actor)
    after = here.now()
    return answer({"items": [_item(each) for each in answered], "advice": after.advice}, after)


def _meant(sent: models.AnswersModel) -> CommonAnswer:
    if sent.answer == "approve":
        return approval()
    if sent.how is not None:
        return refusal(sent.how, sent.reason, Term(sent.until, sent.days, sent.for_good))
    return outcome_of_offers(sent.answer, sent.on)


def _item(answered: Answered) -> dict[str, Any]:
    return {
        "proposal": answered.proposal,
        "recorded": answered.refused is None,
        "refused": None if answered.refused is None else answered.refused.remedy,
        "warnings": list(answered.warnings),
        **({"waits_for_second": True} if answered.waits else {}),
    }
