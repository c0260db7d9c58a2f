"""The Today page: the advice, and answers to it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.answers import Answer, give_once
from crewlearn.advisor.advice.remarks import Term, turn_down
from crewlearn.advisor.ledger.events import OfferRecorded, ProposalApproved, ProposalRejected, ProposalTurnedDown
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.site import PROPOSED, STARTED, UNDER_WAY, Proposal
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording import undoing
from crewlearn.advisor.wording.names import RecordNames
from crewlearn.advisor.wording.narration import answers_told
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import Filled, Flash, Pager, ProposalNumber, do, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form
from crewlearn.web.settings import MOST_NUMBER
from crewlearn.web.snapshots import making
from crewlearn.web.views import today as views
from crewlearn.web.views.people import Search
from crewlearn.web.views.proposals import STATUS_WORDS, answerable, offers
from crewlearn.web.views.reading import Reading, site_url

router = APIRouter(prefix="/sites/{site}")

A_PAGE = 10
"""Proposals or offers per page."""

PageNumber = Annotated[int, Query(ge=1, le=MOST_NUMBER)]
At = Annotated[int, Query(ge=0, le=MOST_NUMBER)]


@router.get("")
def today(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    q: str = "",
    show: str = "",
    everybody: bool = False,
    sort: str = "",
) -> Response:
    """Show a site as of today, with the first workers of many, or all on request."""
    seen, search = reading_of(request, site), Search(q, show, everybody, sort)
    with making(store_of(request), seen.snapshot) as now:
        reading = replace(seen, snapshot=now)
        view = views.today(reading, _last_answer(request, reading), caller.may(MANAGER, site), search)
        return show_site(request, caller, reading, "Today", "today.html", {"view": view, "search": search})


def _last_answer(request: Request, reading: Reading) -> str:
    """Return in words which answer can be undone; empty if none can."""
    slip = reading.site.undo
    if slip is None:
        return ""
    with store_of(request).reading() as connection:
        events = list(read_events(connection, reading.key, slip.numbers[0] - 1, limit=len(slip.numbers)))
    proposals = reading.site.proposals
    return answers_told(events, RecordNames(reading.people, proposals, reading.site.config.calendar, reading.written))


@router.get("/proposals")
def proposals(
    request: Request, site: str, caller: Annotated[Caller, require(VIEWER)], page: PageNumber = 1, at: At = 0
) -> Response:
    """Show a page of the proposals to answer, by page number or containing proposal `at`."""
    reading = reading_of(request, site)
    everyone = reading.site.open_proposals(PROPOSED)
    first, pager = _page(reading.url("proposals"), "Proposals", everyone, page, at)
    after = everyone[first + A_PAGE].id if first + A_PAGE < len(everyone) else 0
    listed = answerable(reading, everyone[first : first + A_PAGE], after)
    values = {"listed": listed, "many": len(everyone), "pager": pager, "page": 1 + first // A_PAGE, "at_proposal": at}
    return show_site(request, caller, reading, "Today", "proposals.html", values)


@router.get("/offers")
def offers_under_way(
    request: Request, site: str, caller: Annotated[Caller, require(VIEWER)], page: PageNumber = 1, at: At = 0
) -> Response:
    """Show a page of the offers under way, by page number or containing offer `at`."""
    reading = reading_of(request, site)
    everyone = reading.site.open_proposals(*UNDER_WAY)
    first, pager = _page(reading.url("offers"), "Offers", everyone, page, at)
    listed = offers(reading, everyone[first : first + A_PAGE])
    values = {"listed": listed, "many": len(everyone), "pager": pager, "page": 1 + first // A_PAGE}
    return show_site(request, caller, reading, "Today", "offers.html", values)


def _page(url: str, label: str, everyone: Sequence[Proposal], page: int, at: int) -> tuple[int, Pager]:
    """Return the first index of a page (of the last page, if there are fewer) and links to the others."""
    position = next((place for place, proposal in enumerate(everyone) if proposal.id == at), None)
    last = max(0, len(everyone) - 1) // A_PAGE
    here = min(page - 1, last) if position is None else position // A_PAGE
    first = here * A_PAGE
    return first, Pager(
        label,
        f"{first + 1:,} to {min(len(everyone), first + A_PAGE):,} of {len(everyone):,}",
        f"{url}?page={here}" if here > 0 else "",
        f"{url}?page={here + 2}" if here < last else "",
        "Before",
        "Next",
    )


def _back(site: str, form: Form) -> str:
    """Return the URL that an answer redirects to: the page it came from, at the message and the next proposal."""
    if form.value("from") not in ("proposals", "offers"):
        return f"{site_url(site)}#said"
    asked = {name: form.value(name) for name in ("page", "at") if re.fullmatch("[0-9]{1,9}", form.value(name))}
    return f"{site_url(site, form.value('from'))}?{urlencode(asked)}#said"


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
        words = "Approved: the offer can go out. As soon as you know how it went, record it under “Offers under way”."
        return Flash(words, "", tuple(more))

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

    def done() -> str:
        if how:
            until = forms.a_day("until", day) if day else None
            term = Term(until, for_good=bool(form.value("for_good")))
            answer = Answer(ProposalTurnedDown, proposal, reason=reason, how=how, until=until)
            give_once(store, site, caller.name, answer, partial(_turn_down, store, site, proposal, caller, form, term))
        else:
            answer = Answer(ProposalRejected, proposal, reason=reason, keep_out=keep_out or None)
            give = partial(commands.reject, store, site, proposal, caller.name, reason, keep_out=keep_out)
            give_once(store, site, caller.name, answer, give)
        return "Rejected, with your reason on record." if reason else "Rejected."

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
        return Flash(f"Recorded: {STATUS_WORDS.get(outcome, outcome)}.", "", tuple(more))

    return do(request, _back(site, form), done)


@router.post("/undo")
def undo(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Undo the answer that the page showed as the last."""

    def done() -> str:
        shown = forms.whole_number("undo", form.value("number") or "0")
        words = undoing.undo(store_of(request), site, caller.name, number=shown)
        return f"Taken back: {words}. Both the answer and the undoing stay on record."

    return do(request, _back(site, form), done)
