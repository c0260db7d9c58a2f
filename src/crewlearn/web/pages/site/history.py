"""The History page: who worked when, output, money, and every decision."""

from functools import partial
from typing import Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.files.recording.recorded_imports import recorded_imports, undo_import
from crewlearn.advisor.ledger.answers import answers_by_proposal
from crewlearn.advisor.ledger.queries import count_proposals, read_proposals, standing_rows
from crewlearn.advisor.ledger.site import Proposal
from crewlearn.language import _, localized, plural
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.pages.common import Pager, do, reading_of, show_site, store_of
from crewlearn.web.pages.forms import range_of_days
from crewlearn.web.settings import MOST_NUMBER
from crewlearn.web.views import decisions as decided
from crewlearn.web.views import history as past
from crewlearn.web.views.imports import import_line
from crewlearn.web.views.reading import Reading, site_url
from crewlearn.web.views.track_record import track_record_view

router = APIRouter(prefix="/sites/{site}")
IMPORTS = 10
"""Imports listed, the newest first."""


@router.get("/history")
def history(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    to: Annotated[int | None, Query(ge=1)] = None,
    stations: Annotated[int, Query(ge=1, le=10**6)] = 1,
    before: Annotated[int | None, Query(ge=1, le=MOST_NUMBER)] = None,
    withdrawn: bool = False,
    since: str = "",
    until: str = "",
) -> Response:
    """Show a site's past up to place `to` in time, from station `stations` on, with decisions `before` a number.

    `since` and `until` choose the days instead.
    """
    store, reading = store_of(request), reading_of(request, site)
    window = past.window_of(reading, to, *range_of_days(since, until))
    stints, acted_on = reading.snapshot.past.stints, reading.snapshot.past.proposals
    there = {
        stint.worker
        for stint in stints
        if reading.place(stint.since) <= window.last
        and (stint.until is None or reading.place(stint.until) > window.first)
    }
    version = reading.snapshot.version  # others may write meanwhile
    with store.reading() as connection:
        periods = {reading.period(place) for place in range(window.first, window.last + 1)}
        around = range(min(periods), max(periods) + 1)
        standing = standing_rows(connection, reading.key, sorted(there), [around])
        rows = [row for _, row in standing if row.period in periods]
        answers = answers_by_proposal(connection, reading.key)
        shown, pages = _decisions(connection, reading, before, withdrawn)
        imports = recorded_imports(connection, reading.key, before=version + 1, newest_first=True, limit=IMPORTS)
    values = {
        "view": past.history(reading, stints, acted_on, rows, window, stations - 1),
        "windows": _windows(reading, window, stations),
        "stations": _stations(reading, stations, to, 1 + max((stint.station for stint in stints), default=0)),
        "decisions": decided.decisions(reading, shown, answers),
        "pages": pages,
        "newest": past.WINDOW,
        "withdrawn": withdrawn,
        "record": track_record_view(reading),
        "people": len(reading.site.workers),
        "imports": [import_line(reading, imported) for imported in imports],
    }
    return show_site(request, caller, reading, "History", "evidence/history.html", values)


@router.post("/history/imports/{number}/undo")
def undo(
    request: Request,
    site: str,
    number: Annotated[int, Path(ge=1, le=MOST_NUMBER)],
    caller: Annotated[Caller, require(MANAGER)],
) -> Response:
    """Take an import of output back."""

    def take_back() -> str:
        done = undo_import(store_of(request), site, number, caller.name)
        return _(
            "Import {number} was taken back: {rows} no longer count.",
            number=number,
            rows=plural("{n} row", "{n} rows", done.rows),
        )

    return do(request, f"{site_url(site, 'history')}#imports", take_back)


def _windows(reading: Reading, window: past.Window, stations: int) -> Pager:
    """Return the links to other days, the earlier ones to the left as in the charts."""
    url, last = reading.url("history"), reading.place(reading.site.period) - 1
    later = min(last, window.last + past.WINDOW)
    return Pager(
        _("Days"),
        past.span_of(reading, window),
        f"{url}?to={window.first - 1}&stations={stations}" if window.first > 1 else "",
        f"{url}?to={later}&stations={stations}" if window.last < last else "",
        _("Earlier days"),
        _("Later days"),
    )


def _stations(reading: Reading, first: int, to: int | None, many: int) -> Pager:
    url, when = reading.url("history"), "" if to is None else f"&to={to}"
    return Pager(
        _("Stations"),
        _("Stations {first} to {last} of {many}", first=first, last=min(many, first + past.STATIONS - 1), many=many),
        f"{url}?stations={max(1, first - past.STATIONS)}{when}" if first > 1 else "",
        f"{url}?stations={first + past.STATIONS}{when}" if first + past.STATIONS <= many else "",
        _("Stations before"),
        _("Stations after"),
    )


def _decisions(
    connection: sa.Connection, reading: Reading, before: int | None, withdrawn: bool
) -> tuple[list[Proposal], Pager]:
    """Read a page of decisions, the newest first, with links to the others."""
    statuses, key, many = None if withdrawn else decided.DECIDED, reading.key, decided.DECISIONS
    read = partial(read_proposals, connection, key, statuses=statuses)
    shown = read(before=before, newest_first=True, limit=many)
    if not shown:
        return [], Pager(_("Decisions"), "", "", "")
    total = count_proposals(connection, key, statuses=statuses)
    ahead = count_proposals(connection, key, shown[0].id, statuses=statuses)
    url, also = reading.url("history"), "&withdrawn=yes" if withdrawn else ""
    newer = read(after=shown[0].id, limit=many)
    return shown, Pager(
        _("Decisions"),
        _(
            "{ahead} to {last} of {total}, the newest first",
            ahead=localized(f"{ahead + 1:,}"),
            last=localized(f"{ahead + len(shown):,}"),
            total=plural("{n} decision", "{n} decisions", total),
        ),
        f"{url}?before={newer[-1].id + 1}{also}#decisions" if newer else "",
        f"{url}?before={shown[-1].id}{also}#decisions" if ahead + len(shown) < total else "",
    )
