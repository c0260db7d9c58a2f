"""The People page: everybody at a site, found as one types; and a person's own sheet, to print."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.ledger.queries import read_proposals, standing_rows
from crewlearn.advisor.ledger.team.stints import read_stints
from crewlearn.language import _, localized, plural
from crewlearn.problem.errors import Unknown
from crewlearn.web import formats
from crewlearn.web.auth.access import VIEWER, Caller, require
from crewlearn.web.pages.common import reading_of, show_site, store_of
from crewlearn.web.pages.site.worker import Number
from crewlearn.web.views.charts import axis
from crewlearn.web.views.decisions import DECIDED
from crewlearn.web.views.people.sheet import person_sheet
from crewlearn.web.views.people.table import ROWS, Search, common_scale, heads, matching, worker_rows

router = APIRouter(prefix="/sites/{site}/workers")


@router.get("")
def people(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    q: str = "",
    show: str = "",
    sort: str = "",
    everybody: bool = False,
) -> Response:
    """Show the workers of a site that match a search."""
    reading = reading_of(request, site)
    search, url = Search(q, show, everybody, sort), reading.url("workers")
    members = reading.snapshot.members
    listed = matching(reading, search)
    shown = listed if everybody else listed[:ROWS]
    scale = common_scale(members)
    several = plural("{n} person", "{n} people", len(members))
    values = {
        "search": search,
        "heads": heads(reading, search, url),
        "everybody": len(members),
        "rows": worker_rows(reading, shown, scale),
        "found": several
        if len(listed) == len(members)
        else _("{listed} of {several}", listed=localized(f"{len(listed):,}"), several=several),
        "more": len(listed) - len(shown),
        "all": search.address(url, everybody="true"),
        "axis": axis(scale, [formats.number(tick, scale.digits) for tick in scale.ticks]),
        "unit": reading.unit,
        "judged_by": _("Expected output") if reading.snapshot.learned is None else _("Level after ramp-up"),
    }
    return show_site(request, caller, reading, "People", "people/people.html", values)


@router.get("/{number}/sheet")
def sheet(request: Request, site: str, number: Number, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show what is recorded and was proposed about a person, and how they are judged, to show to that person."""
    reading = reading_of(request, site)
    if number >= len(reading.site.workers):
        raise Unknown("worker", str(number), _("is not known at this site"))
    with store_of(request).reading() as connection:
        proposals = read_proposals(connection, reading.key, worker=number, statuses=DECIDED, newest_first=True)
        rows = [row for _event, row in standing_rows(connection, reading.key, [number])]
        stints = [stint for stint in read_stints(connection, reading.key) if stint.worker == number]
    view = person_sheet(reading, number, rows, stints, proposals)
    return show_site(request, caller, reading, "People", "people/person_sheet.html", {"view": view, "number": number})
