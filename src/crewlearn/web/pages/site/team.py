"""The Team page: who holds which station, and recording what changed outside advice."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import team
from crewlearn.advisor.advice.team import TeamResult
from crewlearn.advisor.files.team_files import read_team
from crewlearn.advisor.ledger.team.recording import TeamRow
from crewlearn.language import _, plural
from crewlearn.problem.errors import InvalidInput, one_of
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import Filled, do, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form
from crewlearn.web.views.people.team import team_view

router = APIRouter(prefix="/sites/{site}/team")


@router.get("")
def show(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show who holds which station, and everybody who did."""
    reading = reading_of(request, site)
    return show_site(request, caller, reading, "People", "people/team.html", {"view": team_view(reading)})


@router.post("")
def change(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Record who took or left a station, a stint, or a list of stints."""
    reading = reading_of(request, site)

    def done() -> str:
        what = one_of("what", form.value("what"), ("took", "left", "stint", "list"))
        recorded = _record(request, site, caller, form, what).recorded
        if not recorded:
            return _("That is on record already.")
        return _(
            "Recorded: {recorded} of the team. The advice takes it into account.",
            recorded=plural("{n} change", "{n} changes", recorded),
        )

    return do(request, reading.url("team"), done)


def _record(request: Request, site: str, caller: Caller, form: Form, what: str) -> TeamResult:
    store, actor, worker = store_of(request), caller.name, form.value("worker").strip()
    on, station = _day(form, "on"), _station(form)
    if what == "list":
        return team.record_stints(store, site, read_team(form.value("list").encode(), what=_("the list")), actor)
    if not worker:
        raise InvalidInput("worker", "", _("choose who it is about"))
    if what == "took":
        return team.add_to_team(store, site, worker, actor, station=station, on=on)
    if what == "left":
        return team.remove_from_team(store, site, worker, actor, on=on)
    first = _day(form, "from")
    if first is None:
        raise InvalidInput("from", "", _("name the first day"))
    return team.record_stints(store, site, [TeamRow(worker, first, _day(form, "until"), station)], actor)


def _day(form: Form, name: str) -> date | None:
    text = form.value(name).strip()
    return forms.a_day(name, text) if text else None


def _station(form: Form) -> int | None:
    text = form.value("station").strip()
    if not text:
        return None
    if not text.isdecimal():
        raise InvalidInput("station", text, _("must be the number of a station"))
    return int(text)
