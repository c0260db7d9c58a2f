"""The Record page: events in words, checks, and exports."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.evidence.exports import EXPORTS
from crewlearn.advisor.ledger.events import KINDS as EVENT_KINDS
from crewlearn.advisor.ledger.queries import proposals_in, read_events
from crewlearn.advisor.wording.names import RecordNames
from crewlearn.language import _, localized, noted, plural
from crewlearn.problem.errors import Unknown, one_of
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.downloads import Export
from crewlearn.web.jobs import queue, work
from crewlearn.web.pages.common import Pager, go, reading_of, show_site, store_of
from crewlearn.web.settings import MOST_NUMBER
from crewlearn.web.views.reading import site_url

router = APIRouter(prefix="/sites/{site}/record")
AT_ONCE = 50
KINDS = {"": noted("Everything"), **{name: kind.heading for name, kind in EVENT_KINDS.items() if kind.heading}}
"""What the list can be limited to: an event's kind, and what the page calls it."""


@router.get("")
def record(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    before: Annotated[int | None, Query(ge=1, le=MOST_NUMBER)] = None,
    kind: str = "",
) -> Response:
    """Show the events, the newest first."""
    store, reading = store_of(request), reading_of(request, site)
    kind = one_of("kind", kind, KINDS)
    kinds = [EVENT_KINDS[kind]] if kind else None
    with store.reading() as connection:
        events = list(
            read_events(connection, reading.key, before=before, kinds=kinds, newest_first=True, limit=AT_ONCE)
        )
        proposals = proposals_in(connection, reading.key, events)
    names = RecordNames(reading.people, proposals, reading.site.config.calendar, reading.written)
    listed = [
        {
            "number": event.number,
            "at": reading.moment(event.at),
            "actor": event.actor if event.fact.told(event.actor, names) != words else "",
            "words": words,
            "hash": event.hash[:12],
        }
        for event in events
        for words in [event.fact.tell(names)]
    ]
    url = reading.url("record")
    chosen = f"&kind={kind}" if kind else ""
    older = f"{url}?before={events[-1].number}{chosen}" if len(events) == AT_ONCE and events[-1].number > 1 else ""
    newer = f"{url}?{chosen.lstrip('&')}" if before is not None else ""
    words = (
        _(
            "{number} to {last} of {version}",
            number=localized(f"{events[-1].number:,}"),
            last=localized(f"{events[0].number:,}"),
            version=plural("{n} event", "{n} events", reading.version),
        )
        if events
        else ""
    )
    values = {
        "events": listed,
        "page": Pager(_("Events"), words, newer, older),
        "kinds": {name: _(heading) for name, heading in KINDS.items()},
        "kind": kind,
        "total": plural("{n} event", "{n} events", reading.version),
        "checks": queue.jobs_of(store, site, limit=3, kind=work.VERIFY),
        "moment": reading.moment,
    }
    return show_site(request, caller, reading, "Record", "record/record.html", values)


@router.post("/verify")
def verify(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Submit a check of the record."""
    job = queue.submit(store_of(request), site, work.VERIFY, caller.name, {}, again=True)
    return go(request, f"{site_url(site, 'record')}#job-{job.id}", _("The check is under way."))


@router.get("/export/{what}")
def exported(
    request: Request,
    site: str,
    what: str,
    caller: Annotated[Caller, require(VIEWER)],
    format: Literal["xlsx", ""] = "",
) -> Response:
    """Return an export as a file."""
    reading = reading_of(request, site)
    if what not in EXPORTS:
        raise Unknown("what", what, _("cannot be exported; choose from {exports}", exports=", ".join(EXPORTS)))
    name = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in reading.name)
    return Export(store_of(request), site, what, f"{name}-", workbook=format == "xlsx")
