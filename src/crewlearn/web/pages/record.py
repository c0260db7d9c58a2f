"""The record of a site: events in words, the check of it, and exports."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from crewlearn.advisor.export import EXPORTS
from crewlearn.advisor.narration import told
from crewlearn.advisor.record import proposals_in, read_events
from crewlearn.problem.errors import Unknown, one_of
from crewlearn.web import jobs, wording, work
from crewlearn.web.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.numbers import MOST_NUMBER
from crewlearn.web.pages.common import Pager, go, reading_of, show_site, store_of
from crewlearn.web.views.reading import site_url

router = APIRouter(prefix="/sites/{site}/record")
AT_ONCE = 50
KINDS = {
    "": "Everything",
    "advised": "Advice",
    "proposal-approved": "Approvals",
    "proposal-rejected": "Rejections",
    "offer-recorded": "Offers",
    "output-imported": "Output",
    "site-changed": "Settings",
}


@router.get("")
def record(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    before: Annotated[int | None, Query(ge=1, le=MOST_NUMBER)] = None,
    kind: str = "",
) -> Response:
    """Show what is on record, the newest first."""
    store, reading = store_of(request), reading_of(request, site)
    kind = one_of("kind", kind, KINDS)
    types = [kind] if kind else None
    with store.reading() as connection:
        found = list(read_events(connection, reading.key, before=before, types=types, newest_first=True, limit=AT_ONCE))
        proposals = proposals_in(connection, reading.key, found)
    listed = [
        {
            "number": event.number,
            "at": wording.moment(event.at),
            "actor": event.actor,
            "words": told(event, reading.people, proposals, reading.site.config.calendar, reading.written),
            "hash": event.hash[:12],
        }
        for event in found
    ]
    url = reading.url("record")
    chosen = f"&kind={kind}" if kind else ""
    older = f"{url}?before={found[-1].number}{chosen}" if len(found) == AT_ONCE and found[-1].number > 1 else ""
    newer = f"{url}?{chosen.lstrip('&')}" if before is not None else ""
    words = f"{found[-1].number:,} to {found[0].number:,} of {wording.count(reading.version, 'event')}" if found else ""
    values = {
        "events": listed,
        "page": Pager("Events", words, newer, older),
        "kinds": KINDS,
        "kind": kind,
        "total": wording.count(reading.version, "event"),
        "checks": jobs.jobs_of(store, site, limit=3, kind=work.VERIFY),
        "moment": wording.moment,
    }
    return show_site(request, caller, reading, "Record", "record.html", values)


@router.post("/verify")
def verify(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Have the record checked."""
    job = jobs.submit(store_of(request), site, work.VERIFY, caller.name, {}, again=True)
    return go(request, f"{site_url(site, 'record')}#job-{job.id}", "The check is under way.")


@router.get("/export/{what}")
def exported(request: Request, site: str, what: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Give the record, or what was put in, as a file."""
    reading = reading_of(request, site)
    make = EXPORTS.get(what)
    if make is None:
        raise Unknown("what", what, f"cannot be exported; choose from {', '.join(EXPORTS)}")
    ending, kind = ("jsonl", "application/jsonl") if what == "events" else ("csv", "text/csv")
    name = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in reading.name)
    headers = {"Content-Disposition": f'attachment; filename="{name}-{what}.{ending}"'}
    return StreamingResponse(make(store_of(request), site), media_type=f"{kind}; charset=utf-8", headers=headers)
