"""The past of a site: who worked when, output, money, and every decision."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.record import read_proposals, standing_rows
from crewlearn.advisor.stints import read_stints
from crewlearn.web import wording
from crewlearn.web.access import VIEWER, Caller, require
from crewlearn.web.pages.common import Pager, reading_of, show_site, store_of
from crewlearn.web.views import decisions as decided
from crewlearn.web.views import history as past
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}")


@router.get("/history")
def history(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    to: Annotated[int | None, Query(ge=1)] = None,
    stations: Annotated[int, Query(ge=1, le=10**6)] = 1,
    before: Annotated[int | None, Query(ge=1, le=2**31)] = None,
) -> Response:
    """Show a site's past: `to` a period, from a station on, decisions `before` a number."""
    store, reading = store_of(request), reading_of(request, site)
    window = past.window_of(reading, to)
    with store.reading() as connection:
        stints, proposals = read_stints(connection, reading.key), read_proposals(connection, reading.key)
        answers = decided.answers_in(connection, reading.key)
        there = {
            one.worker for one in stints if one.since <= window.last and (one.until is None or one.until > window.first)
        }
        periods = range(window.first, window.last + 1)
        rows = [row for _, row in standing_rows(connection, reading.key, sorted(there), periods)]
    shown = [one for one in reversed(proposals) if before is None or one.id < before][: decided.DECISIONS]
    values = {
        "view": past.history(reading, stints, proposals, rows, window, stations - 1),
        "windows": _windows(reading, window, stations),
        "stations": _stations(reading, stations, to, 1 + max((one.station for one in stints), default=0)),
        "decisions": decided.decisions(reading, shown, answers),
        "pages": _decisions(reading, [one.id for one in proposals], [one.id for one in shown]),
    }
    return show_site(request, caller, reading, "History", "history.html", values)


def _windows(reading: Reading, window: past.Window, stations: int) -> Pager:
    url, last = reading.url("history"), reading.site.period - 1
    later = min(last, window.last + past.WINDOW)
    return Pager(
        "Days",
        f"{reading.day(window.first)} to {reading.day(window.last)}",
        f"{url}?to={later}&stations={stations}" if window.last < last else "",
        f"{url}?to={window.first - 1}&stations={stations}" if window.first > 1 else "",
    )


def _stations(reading: Reading, first: int, to: int | None, many: int) -> Pager:
    url, when = reading.url("history"), "" if to is None else f"&to={to}"
    return Pager(
        "Stations",
        f"Stations {first} to {min(many, first + past.STATIONS - 1)} of {many}",
        f"{url}?stations={max(1, first - past.STATIONS)}{when}" if first > 1 else "",
        f"{url}?stations={first + past.STATIONS}{when}" if first + past.STATIONS <= many else "",
        "Stations before",
        "Stations after",
    )


def _decisions(reading: Reading, everything: list[int], shown: list[int]) -> Pager:
    url = reading.url("history")
    if not shown:
        return Pager("Decisions", "", "", "")
    place = everything.index(shown[0])
    newer = everything[min(len(everything) - 1, place + decided.DECISIONS)] + 1
    first, last = len(everything) - place, len(everything) - place + len(shown) - 1
    return Pager(
        "Decisions",
        f"{first} to {last} of {wording.count(len(everything), 'decision')}, the newest first",
        f"{url}?before={newer}#decisions" if place < len(everything) - 1 else "",
        f"{url}?before={shown[-1]}#decisions" if shown[-1] > everything[0] else "",
    )
