"""Jobs: start, read, list and cancel them."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import Unknown
from crewlearn.web.api import paging
from crewlearn.web.api.common import ASKING, LOCATED, READING, Here, JobNumber, SiteName, answer, at, page
from crewlearn.web.api.models import jobs as models
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.queue import Job
from crewlearn.web.jobs.work import BACKTEST, PLAN, VERIFY, Kind

router = APIRouter(tags=["jobs"])

QUEUED_ANSWER: dict[int | str, dict[str, Any]] = {
    202: {"model": models.JobModel, "description": "A job does it.", "headers": LOCATED}
}
BEGUN: dict[int | str, dict[str, Any]] = ASKING | {202: {"description": "The job is queued.", "headers": LOCATED}}
DONE_BEFORE: dict[int | str, dict[str, Any]] = {
    200: {"model": models.JobModel, "description": "The job was submitted before, and is over.", "headers": LOCATED}
}


@router.get("/jobs/{job}", response_model=models.JobModel, name="getJob", operation_id="getJob", responses=READING)
def get_job(request: Request, caller: Annotated[Caller, require(VIEWER)], job: JobNumber) -> Response:
    """Return a job's progress, and its result once it is over."""
    return answer(_document(_seen(request, caller, job)))


@router.delete(
    "/jobs/{job}",
    response_model=models.JobModel,
    operation_id="cancelJob",
    responses=ASKING | {200: {"description": "The job is cancelled, or was already."}},
)
def cancel_job(request: Request, caller: Annotated[Caller, require(VIEWER)], job: JobNumber) -> Response:
    """Cancel a job that is queued, or a running plan or check. Requires the role manager at its site.

    Cancelling a finished job or a running import is a conflict.
    """
    seen = _seen(request, caller, job)
    if not caller.may(MANAGER, seen.site):
        raise HTTPException(403, f"this takes the role {MANAGER} at {seen.site}; {caller.name} is {caller.role}")
    return answer(_document(work.cancel(request.app.state.store, job, caller.name)))


def _seen(request: Request, caller: Caller, job: int) -> Job:
    """Return a job of a site that the caller may see."""
    store: Store = request.app.state.store
    record = queue.read(store, job)
    if not caller.sees(record.site):
        raise Unknown("job", job, "does not exist")
    return record


@router.get("/sites/{site}/jobs", response_model=models.Jobs, operation_id="listJobs", responses=READING)
def list_jobs(
    here: Annotated[Here, at(VIEWER)],
    kind: Annotated[Kind | None, Query(description="Only those.")] = None,
    limit: paging.Limit = 100,
    cursor: paging.Cursor = None,
) -> Response:
    """List a site's jobs, the newest first."""
    listing = f"jobs {kind}"
    before = paging.place_in(cursor, listing, paging.is_number)
    listed = queue.jobs_of(here.store, here.name, before=before, limit=limit + 1, kind=kind)
    following = paging.written(listing, listed[limit - 1].id) if len(listed) > limit else None
    return answer(page([_document(job) for job in listed[:limit]], following))


@router.post(
    "/sites/{site}/plan",
    response_model=models.JobModel,
    status_code=202,
    operation_id="plan",
    responses=BEGUN | DONE_BEFORE,
)
def plan(request: Request, here: Annotated[Here, at(MANAGER)], wanted: models.PlanRequest) -> Response:
    """Simulate the site from what is known now: which policy is expected to earn most, and by how much.

    The site is not changed. The same request returns the same job for as long as the site has not changed.
    """
    return queued(request, here, PLAN, work.plan_input(here.snapshot, **wanted.model_dump()))


@router.post(
    "/sites/{site}/backtest",
    response_model=models.JobModel,
    status_code=202,
    operation_id="backtest",
    responses=BEGUN | DONE_BEFORE,
)
def backtest(request: Request, here: Annotated[Here, at(MANAGER)], wanted: models.BacktestRequest) -> Response:
    """Replay the record as if the advice had been followed from a day on: what would it have brought?

    The site is not changed. The same request returns the same job for as long as the site has not changed.
    """
    work.check_simulates()
    return queued(request, here, BACKTEST, {**wanted.model_dump(), "version": here.snapshot.version})


@router.post(
    "/sites/{site}/ledger/verification",
    response_model=models.JobModel,
    status_code=202,
    operation_id="verifyLedger",
    tags=["ledger"],
    responses=BEGUN,
)
def verify(request: Request, site: SiteName, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Rebuild the site from its first event, check the hash chain, and derive every advice again.

    A site that cannot be read can be checked too.
    """
    job = queue.submit(request.app.state.store, site, VERIFY, caller.name, {}, again=True)
    return _located(request, job, 202)


def queued(
    request: Request,
    here: Here,
    kind: str,
    wanted: Mapping[str, Any],
    *,
    file: bytes | None = None,
    again: bool = False,
) -> Response:
    """Submit a job and return it; the same job, if unfinished or (unless `again`) done, is returned instead."""
    job = queue.submit(here.store, here.name, kind, here.caller.name, wanted, file, again=again)
    return _located(request, job, 200 if job.over and not again else 202)


def _located(request: Request, job: Job, status: int) -> Response:
    where = {"Location": request.url_for("getJob", job=str(job.id)).path}
    return answer(_document(job), status=status, headers=where)


def _document(job: Job) -> dict[str, Any]:
    moments = {name: getattr(job, name) for name in ("created", "started", "finished")}
    return {**vars(job), **{name: at and at.isoformat(timespec="milliseconds") for name, at in moments.items()}}
