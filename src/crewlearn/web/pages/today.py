"""A site today: the advice, and answers to it."""

from dataclasses import replace
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor import commands
from crewlearn.web import forms, views
from crewlearn.web.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.pages.common import Filled, do, reading_of, show_site, store_of

router = APIRouter(prefix="/sites/{site}")


@router.get("")
def today(
    request: Request, site: str, caller: Annotated[Caller, require(VIEWER)], q: str = "", show: str = ""
) -> Response:
    """Show a site as it stands this morning."""
    reading = reading_of(request, site)
    view = views.today(reading, views.money_so_far(reading))
    view = replace(view, rows=views.found(view.rows, q, show))
    values = {"view": view, "search": {"q": q, "show": show}}
    return show_site(request, caller, reading, "Today", "today.html", values)


@router.get("/proposals")
def proposals(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show every proposal that is to be answered."""
    reading = reading_of(request, site)
    return show_site(request, caller, reading, "Today", "proposals.html", {"listed": views.to_answer(reading)})


@router.post("/proposals/{proposal}/approve")
def approve(
    request: Request, site: str, proposal: int, caller: Annotated[Caller, require(MANAGER)], form: Filled
) -> Response:
    """Approve a proposal."""

    def done() -> str:
        commands.approve(store_of(request), site, proposal, caller.name, out=form.value("out") or None)
        return "Approved: the offer can go out. Say below how it went as soon as that is known."

    return do(views.site_url(site), done)


@router.post("/proposals/{proposal}/reject")
def reject(
    request: Request, site: str, proposal: int, caller: Annotated[Caller, require(MANAGER)], form: Filled
) -> Response:
    """Reject a proposal."""

    def done() -> str:
        commands.reject(store_of(request), site, proposal, caller.name, form.value("reason").strip())
        return "Rejected, with your reason on record."

    return do(views.site_url(site), done)


@router.post("/proposals/{proposal}/offer")
def offer(
    request: Request, site: str, proposal: int, caller: Annotated[Caller, require(MANAGER)], form: Filled
) -> Response:
    """Record how an offer went."""

    def done() -> str:
        outcome, given = form.value("outcome"), form.value("on").strip()
        on: date | None = forms.a_day("on", given) if given else None
        room = form.value("out") or None if outcome == "started" else None
        commands.record_offer(store_of(request), site, proposal, outcome, caller.name, on=on, out=room)
        return f"Recorded: {views.STATUS_WORDS.get(outcome, outcome)}."

    return do(views.site_url(site), done)


@router.post("/undo")
def undo(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Take back the last answer."""

    def done() -> str:
        number = commands.undo(store_of(request), site, caller.name)
        return f"Taken back; both the answer (event {number}) and the undoing stay on record."

    return do(views.site_url(site), done)
