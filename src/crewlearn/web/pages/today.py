"""A site today: the advice, and answers to it."""

from datetime import date
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor import commands
from crewlearn.advisor.answers import Answer, give_once
from crewlearn.advisor.events import APPROVED, OFFER, REJECTED
from crewlearn.advisor.narration import told
from crewlearn.advisor.record import read_events
from crewlearn.advisor.site import STARTED
from crewlearn.web import forms
from crewlearn.web.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.pages.common import Filled, Flash, ProposalNumber, do, reading_of, show_site, store_of
from crewlearn.web.reads import PATIENCE_SECONDS
from crewlearn.web.views import today as views
from crewlearn.web.views.people import Search
from crewlearn.web.views.proposals import STATUS_WORDS, to_answer
from crewlearn.web.views.reading import Reading, site_url

router = APIRouter(prefix="/sites/{site}")


@router.get("")
def today(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    q: str = "",
    show: str = "",
    everybody: bool = False,
) -> Response:
    """Show a site as it stands this morning; of many workers the first, unless everybody is asked for."""
    reading, search = reading_of(request, site), Search(q, show, everybody)
    with store_of(request).in_turn(site, PATIENCE_SECONDS):
        view = views.today(reading, _last_answer(request, reading), caller.may(MANAGER, site), search)
        return show_site(request, caller, reading, "Today", "today.html", {"view": view, "search": search})


def _last_answer(request: Request, reading: Reading) -> str:
    """Say which answer can be taken back; empty if none can."""
    slip = reading.site.undo
    if slip is None:
        return ""
    with store_of(request).reading() as connection:
        event = next(read_events(connection, reading.key, int(slip["number"]) - 1, limit=1))
    proposals = reading.site.proposals
    return f"{event.actor} {told(event, reading.people, proposals, reading.site.config.calendar, reading.written)}"


@router.get("/proposals")
def proposals(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show every proposal that is to be answered."""
    reading = reading_of(request, site)
    return show_site(request, caller, reading, "Today", "proposals.html", {"listed": to_answer(reading)})


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

    def done() -> Flash:
        said = Answer(
            APPROVED, proposal, out=None if out is None else reading_of(request, site).snapshot.number_of(out)
        )
        give = partial(commands.approve, store, site, proposal, caller.name, out=out)
        more = give_once(store, site, caller.name, said, give)
        return Flash("Approved: the offer can go out. Say below how it went as soon as that is known.", "", tuple(more))

    return do(request, site_url(site), done)


@router.post("/proposals/{proposal}/reject")
def reject(
    request: Request,
    site: str,
    proposal: ProposalNumber,
    caller: Annotated[Caller, require(MANAGER)],
    form: Filled,
) -> Response:
    """Reject a proposal."""

    store, reason, keep_out = store_of(request), form.value("reason").strip(), bool(form.value("keep_out"))

    def done() -> str:
        give = partial(commands.reject, store, site, proposal, caller.name, reason, keep_out=keep_out)
        give_once(store, site, caller.name, Answer(REJECTED, proposal, reason=reason, keep_out=keep_out or None), give)
        return "Rejected, with your reason on record." if reason else "Rejected."

    return do(request, site_url(site), done)


@router.post("/proposals/{proposal}/offer")
def offer(
    request: Request,
    site: str,
    proposal: ProposalNumber,
    caller: Annotated[Caller, require(MANAGER)],
    form: Filled,
) -> Response:
    """Record how an offer went."""

    store, outcome, given = store_of(request), form.value("outcome"), form.value("on").strip()

    def done() -> Flash:
        now = reading_of(request, site).snapshot
        on: date | None = forms.a_day("on", given) if given else None
        room = form.value("out") or None if outcome == STARTED else None
        said = Answer(
            OFFER,
            proposal,
            outcome=outcome,
            period=None if on is None else now.site.config.calendar.period_of(on),
            leaver=None if room is None else now.number_of(room),
        )
        give = partial(commands.record_offer, store, site, proposal, outcome, caller.name, on=on, out=room)
        more = give_once(store, site, caller.name, said, give)
        return Flash(f"Recorded: {STATUS_WORDS.get(outcome, outcome)}.", "", tuple(more))

    return do(request, site_url(site), done)


@router.post("/undo")
def undo(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Take back the answer that the page showed as the last."""

    def done() -> str:
        shown = forms.whole_number("undo", form.value("number") or "0")
        words = commands.undo(store_of(request), site, caller.name, number=shown)
        return f"Taken back: {words}. Both the answer and the undoing stay on record."

    return do(request, site_url(site), done)
