"""The Impact page: groups read from a file, compared, and forgotten."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from crewlearn.advisor.evidence.impact import DOUBT, NOTE, SMALL, TENURE_NOTE, read_impact
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import formats
from crewlearn.web.auth.access import MANAGER, Caller, require
from crewlearn.web.pages.common import reading_of, show_site, store_of
from crewlearn.web.pages.files import form_text
from crewlearn.web.views.impact import impact_view

router = APIRouter(prefix="/sites/{site}/impact")

MOST_BYTES = 1_000_000
"""The largest form: below the size at which the form parser puts an upload into a temporary file."""


async def _given(request: Request) -> AsyncIterator[FormData | None]:
    """Yield the form, held in memory only; None if it is too large for that."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        yield None
        return
    async with request.form(max_files=1, max_fields=10, max_part_size=MOST_BYTES) as form:
        yield form


@router.get("")
def ask(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Show the form for a file of groups."""
    return _show(request, caller, site)


@router.post("")
async def compare(
    request: Request,
    site: str,
    caller: Annotated[Caller, require(MANAGER)],
    given: Annotated[FormData | None, Depends(_given)],
) -> Response:
    """Compare between the groups of a file, of which nothing is stored or logged."""
    if given is None:
        fault = _(
            "The file has more than {most_bytes} MB. Leave out all columns but worker_id and group.",
            most_bytes=MOST_BYTES // 1_000_000,
        )
        return await run_in_threadpool(_show, request, caller, site, fault=fault)
    upload = given.get("file")
    data = await upload.read() if isinstance(upload, UploadFile) else b""
    name = (upload.filename if isinstance(upload, UploadFile) else "") or _("what was pasted")
    data = data or form_text(given, "text").encode()
    return await run_in_threadpool(_show, request, caller, site, data, name)


def _show(
    request: Request, caller: Caller, site: str, data: bytes | None = None, name: str = "", fault: str = ""
) -> Response:
    reading, compared = reading_of(request, site), None
    if data is not None and not data.strip():
        fault = _("Choose a file, or paste its contents.")
    elif data is not None:
        try:
            period = "working day" if reading.site.config.calendar.shifts_per_day == 1 else "period"
            compared = impact_view(read_impact(store_of(request), site, data, name), period)
        except InvalidInput as error:
            if isinstance(error, StoreUnavailable):
                raise
            fault = formats.remedy(error.remedy)
    values = {
        "fault": fault,
        "compared": compared,
        "notes": (_(NOTE), _(DOUBT, small=SMALL), _(TENURE_NOTE)),
        "today": f"{formats.day(reading.today)} {reading.today.year}",
    }
    return show_site(request, caller, reading, "Record", "evidence/impact.html", values, 422 if fault else 200)
