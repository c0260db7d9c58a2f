"""Texts to print from a site's settings: the notice to workers, and the model card."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crewlearn import __version__
from crewlearn.advisor.wording.model_card import model_card
from crewlearn.advisor.wording.notice import worker_notice
from crewlearn.web.auth.access import VIEWER, Caller, require
from crewlearn.web.pages.common import reading_of, show_site

router = APIRouter(prefix="/sites/{site}")


@router.get("/notice")
def notice(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(VIEWER)],
    contact: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show the notice to workers; `contact` is whom they can ask."""
    reading = reading_of(request, site)
    text = worker_notice(reading.name, reading.site, reading.today, contact)
    values = {"text": text, "asks": True, "contact": contact}
    return show_site(request, caller, reading, "Record", "record/printed.html", values)


@router.get("/card")
def card(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the model card."""
    reading = reading_of(request, site)
    text = model_card(reading.name, reading.site, reading.version, reading.today, __version__)
    return show_site(
        request, caller, reading, "Record", "record/printed.html", {"text": text, "asks": False, "contact": ""}
    )
