"""Answers given on the pages: to one proposal or offer, to many at once, and taken back."""

import re
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.answering import (
    Answered,
    CommonAnswer,
    answer_many,
    approval,
    outcome_of_offers,
    refusal,
)
from crewlearn.advisor.advice.answers import Answer, give_once
from crewlearn.advisor.advice.remarks import Term, turn_down
from crewlearn.advisor.ledger.events import OfferRecorded, ProposalApproved, ProposalRejected, ProposalTurnedDown
from crewlearn.advisor.ledger.site import STARTED
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import some_of
from crewlearn.advisor.wording.past import undoing
from crewlearn.language import _, localized, noted, plural
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import formats
from crewlearn.web.auth.access import MANAGER, Caller, require
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import Filled, Flash, ProposalNumber, do, reading_of, store_of
from crewlearn.web.pages.forms import Form
from crewlearn.web.pages.site.today import KEPT
from crewlearn.web.views.proposals import STATUS_WORDS
from crewlearn.web.views.reading import Reading, site_url

router = APIRouter(prefix="/sites/{site}")


def _back(site: str, form: Form) -> str:
    """Return the URL that an answer redirects to: the page it came from, with its proposals in their places."""
    asked = {name: form.value(name) for name in ("page", "at") if re.fullmatch("[0-9]{1,9}", form.value(name))}
    if form.value("kept") and re.fullmatch(KEPT, form.value("kept")):
        asked["kept"] = form.value("kept")
    if form.value("from") in ("proposals", "offers"):
        return f"{site_url(site, form.value('from'))}?{urlencode(asked)}#said"
    asked = {"kept": asked["kept"]} if "kept" in asked else {}
    return f"{site_url(site)}{'?' if asked else ''}{urlencode(asked)}#said"


def _answered(request: Request, site: str, words: str, tone: str = "", more: Sequence[str] = ()) -> Flash:
    """Return the message about an answer, which can be undone from there."""
    slip = reading_of(request, site).site.undo
    return Flash(words, tone, tuple(more), 0 if slip is None else slip.number)


def _named(reading: Reading, number: int) -> str:
    """Return who comes in for whom in a proposal, by name; empty if it is not known."""
    proposal = reading.site.proposals.get(number)
    return "" if proposal is None else reading.name_of(proposal.into)


@router.post("/proposals/{proposal}/approve")
def approve(
    request: Request,
    site: str,
    proposal: ProposalNumber,
    caller: Annotated[Caller, require(MANAGER)],
    form: Filled,
) -> Response:
    """Approve a proposal."""

    store, out = store_of(request), form.value("out") or None
    into = form.value("other").strip() or form.value("in") or None

    def done() -> Flash:
        now = reading_of(request, site).snapshot
        entrant = None if into is None else now.number_of(into)
        shown = now.site.proposals.get(proposal)
        answer = Answer(
            ProposalApproved,
            proposal,
            out=None if out is None else now.number_of(out),
            into=None if shown is not None and entrant == shown.into else entrant,
        )
        give = partial(commands.approve, store, site, proposal, caller.name, out=out, into=into)
        more = give_once(store, site, caller.name, answer, give)
        after = reading_of(request, site)
        if after.site.first_approval_of(proposal) is not None:
            return _answered(request, site, _("Approved first. A different user approves it too."), "", more)
        return _answered(request, site, _("Approved: {named} can be offered.", named=_named(after, proposal)), "", more)

    return do(request, _back(site, form), done)


@router.post("/proposals/{proposal}/reject")
def reject(
    request: Request,
    site: str,
    proposal: ProposalNumber,
    caller: Annotated[Caller, require(MANAGER)],
    form: Filled,
) -> Response:
    """Reject a proposal as keep, not this candidate or not now; without `as`, in the plain form."""

    store, reason, keep_out = store_of(request), form.value("reason").strip(), bool(form.value("keep_out"))
    how, day = form.value("as"), form.value("until").strip()

    def done() -> Flash:
        if how:
            until = forms.a_day("until", day) if day else None
            term = Term(until, for_good=bool(form.value("for_good")))
            answer = Answer(ProposalTurnedDown, proposal, reason=reason, how=how, until=until)
            give_once(store, site, caller.name, answer, partial(_turn_down, store, site, proposal, caller, form, term))
        else:
            answer = Answer(ProposalRejected, proposal, reason=reason, keep_out=keep_out or None)
            give = partial(commands.reject, store, site, proposal, caller.name, reason, keep_out=keep_out)
            give_once(store, site, caller.name, answer, give)
        words = _("Rejected, with your reason on record.") if reason else _("Rejected.")
        return _answered(request, site, words)

    return do(request, _back(site, form), done)


def _turn_down(store: Store, site: str, proposal: int, caller: Caller, form: Form, term: Term) -> None:
    reason = form.value("reason").strip()
    turn_down(store, site, proposal, caller.name, form.value("as"), reason, term=term)


@router.post("/proposals/{proposal}/offer")
def offer(
    request: Request,
    site: str,
    proposal: ProposalNumber,
    caller: Annotated[Caller, require(MANAGER)],
    form: Filled,
) -> Response:
    """Record how an offer went."""

    store, outcome, day = store_of(request), form.value("outcome"), form.value("on").strip()

    def done() -> Flash:
        now = reading_of(request, site).snapshot
        on: date | None = forms.a_day("on", day) if day else None
        room = form.value("out") or None if outcome == STARTED else None
        answer = Answer(
            OfferRecorded,
            proposal,
            outcome=outcome,
            period=None if on is None else now.site.config.calendar.period_of(on),
            leaver=None if room is None else now.number_of(room),
        )
        give = partial(commands.record_offer, store, site, proposal, outcome, caller.name, on=on, out=room)
        more = give_once(store, site, caller.name, answer, give)
        return _answered(
            request, site, _("Recorded: {outcome}.", outcome=_(STATUS_WORDS.get(outcome, outcome))), "", more
        )

    return do(request, _back(site, form), done)


@router.post("/answers")
def answers(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Give one answer to all selected proposals or offers."""

    def done() -> Flash:
        numbers = [
            forms.whole_number("proposal", text)
            for text in [*form.ticked("proposal"), *form.value("all").split("-")]
            if text
        ]
        if not numbers:
            raise InvalidInput("undo", "", _("nothing is selected; select what the answer is for"))
        how, answer = _common_answer(form)
        given = answer_many(store_of(request), site, numbers, answer, caller.name)
        return _told(request, site, how, given)

    return do(request, _back(site, form), done)


def _common_answer(form: Form) -> tuple[str, CommonAnswer]:
    """Return the answer that a form gives to many, and what it is."""
    how, day, on = form.value("answer"), form.value("until").strip(), form.value("on").strip()
    if how == "approve":
        return how, approval()
    if how == "reject":
        term = Term(forms.a_day("until", day) if day else None, for_good=bool(form.value("for_good")))
        return how, refusal(form.value("as"), form.value("reason").strip(), term)
    return how, outcome_of_offers(how, forms.a_day("on", on) if on else None)


_NOTHING = {"approve": noted("Nothing was approved."), "reject": noted("Nothing was rejected.")}


def _done_words(how: str, done: int) -> str:
    """Return how many were answered, and how."""
    if how == "approve":
        return plural("{n} approved.", "{n} approved.", done)
    if how == "reject":
        return plural("{n} rejected.", "{n} rejected.", done)
    words = _(STATUS_WORDS.get(how, how))
    return plural("{n} recorded as {how}.", "{n} recorded as {how}.", done, how=words)


def _told(request: Request, site: str, how: str, given: Sequence[Answered]) -> Flash:
    """Return a message about what became of many."""
    refused = [answered for answered in given if answered.refused is not None]
    done = len(given) - len(refused)
    if not done:
        words, tone = _NOTHING.get(how, noted("Nothing was recorded.")), "bad"
        words = _(words)
    else:
        words, tone = _done_words(how, done), "warn" if refused else ""
        if waiting := sum(answered.waits for answered in given):
            words += plural(" {n} waits for a second approver.", " {n} wait for a second approver.", waiting)
    if refused:
        words += _(" {refused} could not be:", refused=localized(f"{len(refused):,}")) if done else ""
    told: dict[str, list[str]] = {}
    for answered in refused:
        told.setdefault(formats.remedy(answered.refused.remedy if answered.refused else ""), []).append(
            str(answered.proposal)
        )
    lines = [
        plural(
            "Proposal {numbers}: {why}.", "Proposals {numbers}: {why}.", len(these), numbers=some_of(these, 5), why=why
        )
        for why, these in told.items()
    ]
    lines += [f"{warning[0].upper()}{warning[1:]}." for answered in given for warning in answered.warnings]
    if not done:
        return Flash(words, tone, tuple(lines))
    return _answered(request, site, words, tone, lines)


@router.post("/undo")
def undo(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Undo the answer that the page showed as the last."""

    def done() -> str:
        shown = forms.whole_number("undo", form.value("number") or "0")
        words = undoing.undo(store_of(request), site, caller.name, number=shown)
        return _("Taken back: {words}. Both the answer and the undoing stay on record.", words=words)

    return do(request, _back(site, form), done)
