"""The page of a worker: output over time, estimate, offers, and status changes."""

from datetime import date, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.remarks import FOR_GOOD, Term, add_note, set_worker
from crewlearn.advisor.ledger.answers import answers_by_proposal
from crewlearn.advisor.ledger.queries import read_proposals, standing_rows
from crewlearn.advisor.ledger.site import BLOCKED, LEFT, POOL
from crewlearn.advisor.overview.people import also_at
from crewlearn.advisor.wording.learned import ramp_words, trend_words
from crewlearn.language import _, plural
from crewlearn.problem.errors import InvalidInput, Unknown, one_of
from crewlearn.web.auth.access import ADMIN, MANAGER, VIEWER, Caller, require
from crewlearn.web.pages import forms
from crewlearn.web.pages.common import Filled, do, go, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form, written
from crewlearn.web.views.decisions import DECIDED, DECISIONS, decisions
from crewlearn.web.views.people.learning import learning
from crewlearn.web.views.people.remarks import remarks
from crewlearn.web.views.people.table import worker_notes
from crewlearn.web.views.reading import Reading, site_url

router = APIRouter(prefix="/sites/{site}/workers")
Number = Annotated[int, Path(ge=0, le=10**9)]


@router.get("/{number}")
def worker(
    request: Request,
    site: str,
    number: Number,
    caller: Annotated[Caller, require(VIEWER)],
    since: str = "",
    until: str = "",
) -> Response:
    """Show a worker, with their output from one day to another if these are named."""
    days = forms.range_of_days(since, until)
    return _show(request, caller, reading_of(request, site), number, Form({}), days=days)


def _show(
    request: Request,
    caller: Caller,
    reading: Reading,
    number: int,
    form: Form,
    status: int = 200,
    days: tuple[date | None, date | None] = (None, None),
) -> Response:
    if number >= len(reading.site.workers):
        raise Unknown("worker", str(number), _("is not known at this site"))
    store = store_of(request)
    with store.reading() as connection:
        offers = read_proposals(
            connection, reading.key, worker=number, statuses=DECIDED, newest_first=True, limit=DECISIONS
        )
        answers = answers_by_proposal(connection, reading.key)
        standing = standing_rows(connection, reading.key, [number])
        rows = sorted((row for _event, row in standing), key=lambda row: reading.place(row.period))
        identifier = reading.people.ids.get(number)
        elsewhere = [] if identifier is None else also_at(connection, identifier, reading.key)
    member = next(member for member in reading.snapshot.members if member.number == number)
    facts, learned = reading.site.workers[number], member.learned
    values = {
        "label": reading.label(number),
        "known": reading.people.ids.get(number) is not None,
        "number": number,
        "member": member,
        "facts": facts,
        "pinned": reading.site.is_pinned(number),
        "blocked": facts.status == BLOCKED or reading.site.block_on(number) is not None,
        "remarks": remarks(reading, number),
        "elsewhere": [(name, site_url(name, "workers", other)) for name, other in elsewhere if caller.sees(name)],
        "trend": "" if learned is None else trend_words(learned.trend, reading.written),
        "ramp": "" if learned is None else ramp_words(learned.ramp_up) or _("over"),
        "first_end": (reading.site.day + timedelta(days=1)).isoformat(),
        "estimate": reading.output(member.level.mean),
        "interval": f"{reading.output(member.level.low)} – {reading.output(member.level.high)}",
        "level": member.learned is not None,
        "output_now": "" if learned is None or learned.ramp_up is None else reading.output(learned.output),
        "days": plural("{n} day", "{n} days", member.estimate.days),
        "unit": reading.unit,
        "notes": worker_notes(reading, number),
        "fee": reading.money(reading.site.fee_of(number)),
        "since": reading.day(facts.since) if facts.since and member.station is not None else "",
        "learning": learning(reading, number, rows, *days),
        "offers": decisions(reading, offers, answers),
        "form": form if form.values else Form({"fee": "" if facts.fee is None else written(facts.fee)}),
        "may_erase": caller.may(ADMIN, reading.name),
    }
    return show_site(request, caller, reading, "People", "people/worker.html", values, status)


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
                return go(request, url, _("The fee is recorded."))
            except InvalidInput as error:
                form.take(error)
        return _show(request, caller, reading, number, form, 422)

    def done() -> str:
        changes: dict[str, Any] = {}
        if "status" in form.values:
            changes["status"] = one_of("status", form.value("status"), (POOL, BLOCKED, LEFT))
        if "pinned" in form.values:
            changes["pinned"] = one_of("pinned", form.value("pinned"), ("yes", "no")) == "yes"
        if not changes:
            raise InvalidInput("what to record", "", _("is missing; use a button on the page"))
        reason = form.value("reason").strip()
        set_worker(store_of(request), site, identifier, caller.name, changes, reason, term=_term(form))
        return _("Recorded. The advice takes it into account.")

    return do(request, url, done)


def _term(form: Form) -> Term | None:
    """Return how long something holds; None if no end is named."""
    day = form.value("until").strip()
    return Term(forms.a_day("until", day)) if day else None


@router.post("/{number}/note")
def note(
    request: Request, site: str, number: Number, caller: Annotated[Caller, require(MANAGER)], form: Filled
) -> Response:
    """Write a note on a worker."""
    reading = reading_of(request, site)
    identifier = _identifier(reading, number)

    def done() -> str:
        term = _term(form) or FOR_GOOD
        add_note(store_of(request), site, identifier, caller.name, form.value("note"), term=term)
        return _("The note is recorded.")

    return do(request, reading.url("workers", number), done)


@router.post("/{number}/erase")
def erase(
    request: Request, site: str, number: Number, caller: Annotated[Caller, require(ADMIN)], form: Filled
) -> Response:
    """Remove a person from the store."""
    reading = reading_of(request, site)
    identifier = _identifier(reading, number)
    url = reading.url("workers", number)
    if form.value("sure") != "yes":
        return go(request, url, _("Nothing was done: check the box to confirm."), "warn")

    def done() -> str:
        store = store_of(request)
        commands.erase_worker(store, site, identifier, caller.name)
        return " ".join(filter(None, [_("Erased. The record keeps only a number."), store.leftover]))

    return do(request, url, done)


def _identifier(reading: Reading, number: int) -> str:
    identifier = reading.people.ids.get(number)
    if identifier is None:
        raise Unknown("worker", str(number), _("is not known at this site, or was erased"))
    return identifier
