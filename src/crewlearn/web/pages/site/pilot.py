"""The Pilot page: a random comparison of advice with usual practice, from its plan to its report."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.advice import pilots
from crewlearn.language import _, noted
from crewlearn.planning.pilot import running
from crewlearn.planning.pilot.running import PilotStatus
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web import formats
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, check_role, require
from crewlearn.web.job_words import progress_words
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.queue import Job
from crewlearn.web.pages.common import Filled, JobNumber, do, go, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form, written
from crewlearn.web.views.pilot import pilot_view
from crewlearn.web.views.reading import Reading, site_url

router = APIRouter(prefix="/sites/{site}/pilot")
LABELS = {
    "days": noted("Working days"),
    "gain": noted("Gain that you hope for"),
    "groups": noted("Groups of stations"),
    "waves": noted("Waves"),
    "run_in": noted("Run-in"),
    "baseline": noted("Baseline"),
    "looks": noted("Planned early looks"),
    "outside_fee": noted("Cost of a change outside advice"),
}
USUAL: Mapping[str, Any] = {
    "days": 60,
    "gain": None,
    "groups": None,
    "waves": 2,
    "run_in": 14,
    "baseline": 40,
    "looks": 0,
    "outside_fee": None,
}


@router.get("")
def pilot(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the newest pilot, and the form of a new one."""
    return _show(request, caller, reading_of(request, site), _form(USUAL))


@router.post("")
def plan(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Submit the plan of a pilot."""
    reading = reading_of(request, site)
    form.labels = LABELS
    wanted: dict[str, Any] = {
        **{name: form.whole(name) for name in ("days", "waves", "run_in", "baseline", "looks")},
        "groups": form.maybe_whole("groups"),
        **{name: form.maybe_number(name) for name in ("gain", "outside_fee")},
        "sites": [site],
    }
    if not form.errors:
        try:
            work.pilot_request(wanted)
        except InvalidInput as error:
            form.take(error)
    if form.errors:
        return _show(request, caller, reading, form, status=422)
    wanted["version"] = reading.version
    job = queue.submit(store_of(request), site, work.PILOT_PLAN, caller.name, wanted)
    return go(request, reading.url("pilot", job.id), _("The plan is being worked out."))


@router.get("/report")
def report(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the report of the newest pilot, to print."""
    reading = reading_of(request, site)
    status = running.status(store_of(request), site)
    if status is None:
        raise Unknown("pilot", site, _("this site has had none"))
    values = {"pilot": pilot_view(status)}
    return show_site(request, caller, reading, "Pilot", "evidence/pilot_report.html", values)


@router.post("/look")
def look(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Take the planned look that is due."""

    def taken() -> str:
        stop = running.look(store_of(request), site, caller.name)[0]
        return _("The pilot may stop: end it to see the result.") if stop else _("The pilot goes on as planned.")

    return _do(request, caller, site, taken)


@router.post("/end")
def end(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """End the pilot with its analysis, or give it up."""
    reason = form.value("reason").strip()
    giving_up = form.value("how") == "give-up"

    def ended() -> str:
        if giving_up and not reason:
            raise InvalidInput("reason", "", _("say why, for the record"))
        running.end(store_of(request), site, caller.name, give_up=reason if giving_up else "")
        return (
            _("The pilot was given up, without a result.")
            if giving_up
            else _("The pilot has ended. This is its result.")
        )

    return _do(request, caller, site, ended)


@router.get("/{job}")
def planned(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the progress or the result of a plan."""
    reading, queued = reading_of(request, site), queue.read(store_of(request), job)
    if queued.site != site or queued.kind != work.PILOT_PLAN:
        raise Unknown("job", str(job), _("does not exist"))
    return _show(request, caller, reading, _form(queued.input), queued)


@router.post("/{job}/start")
def start(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(MANAGER)]) -> Response:
    """Seal a plan and begin the pilot."""
    store = store_of(request)

    def begun() -> str:
        plan = work.sealed_plan(store, site, job)
        for name in plan.sites:
            check_role(caller, MANAGER, name)
        started = pilots.start_pilot(store, plan, caller.name)
        return _("The plan is sealed. The pilot begins on {steps}.", steps=formats.day(started.plan.steps[0]))

    return do(request, site_url(site, "pilot"), begun)


def _do(request: Request, caller: Caller, site: str, action: Callable[[], str]) -> Response:
    """Change the pilot at all its sites, if the caller is manager at each; then show it."""

    def checked() -> str:
        status = running.status(store_of(request), site)
        for name in () if status is None else status.plan.sites:
            check_role(caller, MANAGER, name)
        return action()

    return do(request, site_url(site, "pilot"), checked)


def _form(wanted: Mapping[str, Any]) -> Form:
    """Return the form, filled with what was asked for."""
    values = {**USUAL, **{name: wanted[name] for name in USUAL if name in wanted}}
    return Form({name: "" if value is None else written(value) for name, value in values.items()}, labels=LABELS)


def _show(
    request: Request, caller: Caller, reading: Reading, form: Form, job: Job | None = None, status: int = 200
) -> Response:
    store = store_of(request)
    result = job.result if job is not None and job.status == queue.DONE else None
    now: PilotStatus | None = running.status(store, reading.name)
    values = {
        "form": form,
        "job": job,
        "plan": result,
        "rows": _durations(result) if result else (),
        "has_gain": bool(result and result["gain"] is not None),
        "power": formats.share(result["plan"]["promised_power"]) if result else "",
        "late": result is not None and result["plan"]["steps"][0] < reading.site.day.isoformat(),
        "fault": _fault(job),
        "pilot": None if now is None else pilot_view(now),
        "before": queue.jobs_of(store, reading.name, limit=6, kind=work.PILOT_PLAN),
        "moment": reading.moment,
    }
    return show_site(request, caller, reading, "Pilot", "evidence/pilot.html", values, status)


def _durations(result: Mapping[str, Any]) -> list[tuple[str, str, str, str, bool]]:
    """Return the alternatives: days, last day, gain shown, power for the gain hoped for, whether it is planned."""
    return [
        (
            str(each["days"]),
            each["last"],
            "–" if each["detectable"] is None else f"{each['detectable']:,.2f}",
            "–" if each["power"] is None else formats.share(each["power"]),
            each["days"] == result["days"],
        )
        for each in result["durations"]
    ]


def _fault(job: Job | None) -> str:
    if job is None or job.status != queue.FAILED:
        return ""
    detail = job.result.get("detail") if isinstance(job.result, dict) else None
    return str(detail or progress_words(job.message))
