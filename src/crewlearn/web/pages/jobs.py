"""Cancelling jobs; each is shown on the page where it was submitted."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.language import _
from crewlearn.problem.errors import Unknown
from crewlearn.web.auth.access import MANAGER, Caller, require
from crewlearn.web.jobs import queue, work
from crewlearn.web.pages.common import JobNumber, do, store_of
from crewlearn.web.views.reading import site_url

router = APIRouter(prefix="/sites/{site}/jobs")
SHOWN: Mapping[str, str] = {
    work.PLAN: "plan",
    work.BACKTEST: "backtest",
    work.PILOT_PLAN: "pilot",
    work.OUTPUT_IMPORT: "import",
}
"""Pages that show a single job, by its kind; checks are listed on the Record page."""


@router.post("/{job}/cancel")
def cancel(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Cancel a job, and show its page."""
    store = store_of(request)
    queued = queue.read(store, job)
    if queued.site != site:
        raise Unknown("job", str(job), _("does not exist"))
    url = site_url(site, SHOWN[queued.kind], job) if queued.kind in SHOWN else site_url(site, "record")

    def cancelled() -> str:
        work.cancel(store, job, caller.name)
        return _("Cancelled.")

    return do(request, url, cancelled)
