"""Pilots: plan, begin, look at and end a random comparison of advice with usual practice.

A pilot over several sites is recorded at each of them. Its requests are safe to repeat without a key: what one of the
sites has on record already is left alone, and the rest is completed.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import pilots
from crewlearn.advisor.ledger.pilots.sealed import SealedPlan
from crewlearn.advisor.ledger.site.request_keys import RequestRepeated, check_unused
from crewlearn.planning.pilot import running
from crewlearn.planning.pilot.running import PilotStatus
from crewlearn.problem.errors import Unknown
from crewlearn.web.api.common import (
    READING,
    UNCHANGED,
    VERSIONED,
    WRITING,
    Here,
    IfNoneMatch,
    answer,
    at,
    changing_once,
    unless_known,
)
from crewlearn.web.api.jobs import BEGUN, DONE_BEFORE, queued
from crewlearn.web.api.models import jobs as job_models
from crewlearn.web.api.models.site import pilot as models
from crewlearn.web.auth.access import MANAGER, VIEWER, check_role
from crewlearn.web.jobs import work
from crewlearn.web.jobs.work import sealed_plan

router = APIRouter(prefix="/sites/{site}/pilot", tags=["pilots"])


@router.post(
    "/plan",
    response_model=job_models.JobModel,
    status_code=202,
    operation_id="planPilot",
    responses=BEGUN | DONE_BEFORE,
)
def plan(request: Request, here: Annotated[Here, at(MANAGER)], wanted: models.PilotPlanRequest) -> Response:
    """Compute what a pilot of some length could detect. Nothing is recorded.

    The same request returns the same job for as long as the site has not changed.
    """
    sites = list(dict.fromkeys([here.name, *wanted.sites]))
    for site in sites:
        check_role(here.caller, MANAGER, site)
    input = {**wanted.model_dump(), "sites": sites}
    work.pilot_request(input)
    return queued(request, here, work.PILOT_PLAN, {**input, "version": here.snapshot.version})


@router.get("", response_model=models.PilotView, operation_id="getPilot", responses=READING | VERSIONED | UNCHANGED)
def get_pilot(here: Annotated[Here, at(VIEWER)], if_none_match: IfNoneMatch = None) -> Response:
    """Return how far the newest pilot of the site is, without its effect, or its result once it has ended."""
    running_or_over = here.snapshot.site.pilot
    several = running_or_over is not None and len(running_or_over.plan.sites) > 1
    known = None if several else unless_known(if_none_match, here.snapshot)  # several: the others' days count too
    return known or answer(_status(here).to_json(), here.snapshot)


@router.post("", response_model=models.PilotView, operation_id="startPilot", responses=WRITING | VERSIONED)
def start(here: Annotated[Here, changing_once(MANAGER)], new: models.NewPilot) -> Response:
    """Seal a plan that a job made, draw the groups at random, and begin.

    The plan's first day must not be over: if output was recorded since, plan again.
    """
    sealed = sealed_plan(here.store, here.name, new.job)
    begin = partial(pilots.start_pilot, plan=sealed, actor=here.caller.name, seed=new.seed)
    return _changed(here, sealed, begin)


@router.post("/look", response_model=models.PilotView, operation_id="lookAtPilot", responses=WRITING | VERSIONED)
def look(here: Annotated[Here, changing_once(MANAGER)]) -> Response:
    """Take the planned early look that is due. The effect is told only if the pilot may stop, once it is ended."""
    return _changed(here, _status(here).plan, partial(running.look, name=here.name, actor=here.caller.name))


@router.post("/end", response_model=models.PilotView, operation_id="endPilot", responses=WRITING | VERSIONED)
def end(here: Annotated[Here, changing_once(MANAGER)], how: models.PilotEndRequest | None = None) -> Response:
    """Analyse a complete pilot once, as sealed, and record the result; or give it up, for a reason."""
    reason = "" if how is None or how.give_up is None else how.give_up
    finish = partial(running.end, name=here.name, actor=here.caller.name, give_up=reason)
    return _changed(here, _status(here).plan, finish)


def _changed(here: Here, plan: SealedPlan, change: Callable[..., Any]) -> Response:
    """Change a pilot once, at each of its sites; respond with its status."""
    for site in plan.sites:
        check_role(here.caller, MANAGER, site)
    expected = {} if here.expected is None else {here.name: here.expected}
    store = here.writer if len(plan.sites) == 1 else here.store
    try:
        if store.request is not None:
            check_unused(here.snapshot.site.used_keys, store.request)
        change(store, expected=expected)
    except RequestRepeated:
        pass
    return answer(_status(here).to_json(), here.now())


def _status(here: Here) -> PilotStatus:
    status = running.status(here.store, here.name)
    if status is None:
        raise Unknown("pilot", here.name, "this site has had none; plan one: POST …/pilot/plan")
    return status
