"""The Today page, and the pages of proposals and offers that do not fit on it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.site import PROPOSED, UNDER_WAY, Proposal
from crewlearn.advisor.wording.names import RecordNames
from crewlearn.advisor.wording.past.narration import answers_told
from crewlearn.language import _, localized
from crewlearn.web.auth import users
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.pages.common import Pager, reading_of, show_site, store_of
from crewlearn.web.settings import MOST_NUMBER
from crewlearn.web.snapshots import making
from crewlearn.web.views import today as views
from crewlearn.web.views.people.table import Search
from crewlearn.web.views.proposals import Asking, answerable, offers
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}")

KEPT = "^([0-9]{1,9}(-[0-9]{1,9}){0,49})?$"
"""The numbers of the proposals that keep their place on a page while they are answered."""

A_PAGE = 10
"""Proposals or offers per page."""

PageNumber = Annotated[int, Query(ge=1, le=MOST_NUMBER)]
At = Annotated[int, Query(ge=0, le=MOST_NUMBER)]
Kept = Annotated[str, Query(pattern=KEPT)]


@router.get("")
def today(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    q: str = "",
    show: str = "",
    everybody: bool = False,
    sort: str = "",
    kept: Kept = "",
) -> Response:
    """Show a site as of today, with the first workers of many, or all on request."""
    seen, search = reading_of(request, site), Search(q, show, everybody, sort)
    with making(store_of(request), seen.snapshot) as now:
        reading = replace(seen, snapshot=now)
        view = views.today(
            reading,
            _last_answer(request, reading),
            caller.may(MANAGER, site),
            search,
            _numbers(kept),
            _asking(request, reading, caller),
        )
        place = {"from": "", "page": 1, "kept": _kept(answerable.exchange.id for answerable in view.proposals)}
        values = {"view": view, "search": search, "place": place}
        return show_site(request, caller, reading, "Today", "today/today.html", values)


def _asking(request: Request, reading: Reading, caller: Caller) -> Asking:
    """Return who looks at the proposals and, where somebody approved one first, who may be second."""
    store, site = store_of(request), reading.site
    waits = any(site.first_approval_of(proposal.id) for proposal in site.open_proposals(PROPOSED))
    return Asking(caller.name, users.names_with(store, MANAGER, reading.key) if waits else ())


def _numbers(kept: str) -> list[int]:
    return [int(number) for number in kept.split("-") if number]


def _kept(numbers: Iterable[int]) -> str:
    return "-".join(str(number) for number in numbers)


def _last_answer(request: Request, reading: Reading) -> str:
    """Return in words which answer can be undone; empty if none can."""
    slip = reading.site.undo
    if slip is None:
        return ""
    with store_of(request).reading() as connection:
        events = list(read_events(connection, reading.key, slip.numbers[0] - 1, limit=len(slip.numbers)))
    proposals = reading.site.proposals
    return answers_told(events, RecordNames(reading.people, proposals, reading.site.config.calendar, reading.written))


@router.get("/proposals")
def proposals(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    page: PageNumber = 1,
    at: At = 0,
    kept: Kept = "",
) -> Response:
    """Show a page of the proposals to answer, by page number or containing proposal `at`; those kept stay in place."""
    reading = reading_of(request, site)
    everyone = reading.site.open_proposals(PROPOSED)
    first, pager = _page(reading.url("proposals"), _("Proposals"), everyone, page, at)
    after = everyone[first + A_PAGE].id if first + A_PAGE < len(everyone) else 0
    shown = views.shown_proposals(reading, _numbers(kept), everyone[first : first + A_PAGE])
    values = {
        "listed": answerable(reading, shown, after, _asking(request, reading, caller)),
        "proposed": tuple(proposal.id for proposal in everyone),
        "unshown": len({proposal.id for proposal in everyone} - {proposal.id for proposal in shown}),
        "undo_number": 0 if reading.site.undo is None else reading.site.undo.number,
        "pager": pager,
        "place": {"from": "proposals", "page": 1 + first // A_PAGE, "kept": _kept(proposal.id for proposal in shown)},
    }
    return show_site(request, caller, reading, "Today", "today/proposals.html", values)


@router.get("/offers")
def offers_under_way(
    request: Request, site: str, caller: Annotated[Caller, require(VIEWER)], page: PageNumber = 1, at: At = 0
) -> Response:
    """Show a page of the offers under way, by page number or containing offer `at`."""
    reading = reading_of(request, site)
    everyone = reading.site.open_proposals(*UNDER_WAY)
    first, pager = _page(reading.url("offers"), _("Offers"), everyone, page, at)
    listed = offers(reading, everyone[first : first + A_PAGE])
    values: dict[str, Any] = {"listed": listed, "under_way": tuple(offer.id for offer in everyone), "pager": pager}
    values["place"] = {"from": "offers", "page": 1 + first // A_PAGE, "kept": ""}
    values["undo_number"] = 0 if reading.site.undo is None else reading.site.undo.number
    return show_site(request, caller, reading, "Today", "today/offers.html", values)


def _page(url: str, label: str, everyone: Sequence[Proposal], page: int, at: int) -> tuple[int, Pager]:
    """Return the first index of a page (of the last page, if there are fewer) and links to the others."""
    position = next((place for place, proposal in enumerate(everyone) if proposal.id == at), None)
    last = max(0, len(everyone) - 1) // A_PAGE
    here = min(page - 1, last) if position is None else position // A_PAGE
    first = here * A_PAGE
    return first, Pager(
        label,
        _(
            "{first} to {last} of {everyone}",
            first=localized(f"{first + 1:,}"),
            last=localized(f"{min(len(everyone), first + A_PAGE):,}"),
            everyone=localized(f"{len(everyone):,}"),
        ),
        f"{url}?page={here}" if here > 0 else "",
        f"{url}?page={here + 2}" if here < last else "",
        _("Before"),
        _("Next"),
    )
