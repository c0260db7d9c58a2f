"""Jobs on pages: each is shown where it was asked for; here they are cancelled."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.problem.errors import Unknown
from crewlearn.web import jobs, work
from crewlearn.web.access import MANAGER, Caller, require
from crewlearn.web.pages.common import JobNumber, do, store_of
from crewlearn.web.views.reading import site_url

router = APIRouter(prefix="/sites/{site}/jobs")
SHOWN: Mapping[str, str] = {work.PLAN: "plan", work.OUTPUT_IMPORT: "import"}
"""The pages that have a job to themselves; the record has its checks."""


@router.post("/{job}/cancel")
def cancel(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Cancel a job, and show how it stands then."""
    store = store_of(request)
    found = jobs.read(store, job)
    if found.site != site:
        raise Unknown("job", str(job), "does not exist")
    url = site_url(site, SHOWN[found.kind], job) if found.kind in SHOWN else site_url(site, "record")

    def cancelled() -> str:
        work.cancel(store, job, caller.name)
        return "Cancelled."

    return do(request, url, cancelled)
