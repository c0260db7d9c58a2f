"""A worker: output over time, what is thought of them, offers, and what may be said of them."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import RedirectResponse, Response

from crewlearn.advisor import commands
from crewlearn.advisor.record import read_proposals, standing_rows
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web import wording
from crewlearn.web.access import ADMIN, MANAGER, VIEWER, Caller, require
from crewlearn.web.forms import Form
from crewlearn.web.pages.common import Filled, do, go, reading_of, show_site, store_of
from crewlearn.web.views.decisions import DECIDED, DECISIONS, answers_in, decisions
from crewlearn.web.views.learning import learning
from crewlearn.web.views.people import worker_notes
from crewlearn.web.views.reading import Reading, site_url

router = APIRouter(prefix="/sites/{site}/workers")
Number = Annotated[int, Path(ge=0, le=10**9)]


@router.get("")
def workers(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Go to the table of workers, which stands on the page of today."""
    return RedirectResponse(site_url(site) + "#people", 303)


@router.get("/{number}")
def worker(request: Request, site: str, number: Number, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show a worker."""
    return _show(request, caller, reading_of(request, site), number, Form({}))


def _show(request: Request, caller: Caller, reading: Reading, number: int, form: Form, status: int = 200) -> Response:
    if number >= len(reading.site.workers):
        raise Unknown("worker", str(number), "is not known at this site")
    store = store_of(request)
    with store.reading() as connection:
        offers = read_proposals(
            connection, reading.key, worker=number, statuses=DECIDED, newest_first=True, limit=DECISIONS
        )
        answers = answers_in(connection, reading.key)
        rows = [row for _, row in standing_rows(connection, reading.key, [number])]
    member = next(one for one in reading.snapshot.members if one.number == number)
    facts = reading.site.workers[number]
    values = {
        "label": reading.label(number),
        "known": reading.people.ids.get(number) is not None,
        "number": number,
        "member": member,
        "facts": facts,
        "estimate": reading.output(member.estimate.mean),
        "interval": f"{reading.output(member.estimate.low)} – {reading.output(member.estimate.high)}",
        "days": wording.count(member.estimate.days, "day"),
        "unit": reading.unit,
        "notes": worker_notes(reading, number),
        "fee": wording.money(reading.site.fee_of(number)),
        "since": reading.day(facts.since) if facts.since and member.station is not None else "",
        "learning": learning(reading, number, rows),
        "offers": decisions(reading, offers, answers),
        "form": form if form.values else Form({"fee": "" if facts.fee is None else f"{facts.fee:.15g}"}),
        "may_erase": caller.may(ADMIN, reading.name),
    }
    return show_site(request, caller, reading, "Today", "worker.html", values, status)


@router.post("/{number}")
def change(
    request: Request, site: str, number: Number, caller: Annotated[Caller, require(MANAGER)], form: Filled
) -> Response:
    """Record that a worker left, returned, is blocked or pinned, or has a fee of their own."""
    reading = reading_of(request, site)
    identifier = _identifier(reading, number)
    url = reading.url("workers", number)
    if "fee" in form.values:
        fee = form.maybe_number("fee")
        if not form.errors:
            try:
                commands.change_worker(store_of(request), site, identifier, caller.name, fee=fee)
                return go(url, "The fee is recorded.")
            except InvalidInput as error:
                form.take(error)
        return _show(request, caller, reading, number, form, 422)

    def done() -> str:
        changes: dict[str, Any] = {}
        if form.value("status"):
            changes["status"] = form.value("status")
        if form.value("pinned"):
            changes["pinned"] = form.value("pinned") == "yes"
        commands.change_worker(store_of(request), site, identifier, caller.name, **changes)
        return "Recorded. The advice takes it into account."

    return do(url, done)


@router.post("/{number}/erase")
def erase(
    request: Request, site: str, number: Number, caller: Annotated[Caller, require(ADMIN)], form: Filled
) -> Response:
    """Remove a person from the store."""
    reading = reading_of(request, site)
    identifier = _identifier(reading, number)
    url = reading.url("workers", number)
    if form.value("sure") != "yes":
        return go(url, "Nothing was done: tick that you are sure.", "warn")

    def done() -> str:
        commands.erase_worker(store_of(request), site, identifier, caller.name)
        return "Erased. The record keeps a bare number."

    return do(url, done)


def _identifier(reading: Reading, number: int) -> str:
    identifier = reading.people.ids.get(number)
    if identifier is None:
        raise Unknown("worker", str(number), "is not known at this site, or was erased")
    return identifier
