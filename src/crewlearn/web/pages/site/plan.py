"""The Plan page: what-if settings, simulated in the background, with the policies' results side by side.

A field that was not edited means the site's own value, which may have more digits than the form shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from crewlearn.advisor.wording.doubt import chance, rounded
from crewlearn.language import _, noted
from crewlearn.planning.limits import COMPARED, KEEP, as_it_stands
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.problem.extras import can_simulate
from crewlearn.web import formats
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.job_words import progress_words
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.queue import Job
from crewlearn.web.pages.common import Filled, JobNumber, go, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form, written
from crewlearn.web.pages.sites import policies
from crewlearn.web.views.charts import Scale, axis, scale_over, spread
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}/plan")
RUNS = (("200", noted("200: a quick look")), ("500", "500"), ("2000", noted("2,000: finer")))
LABELS = {
    "team": noted("Stations"),
    "fee": noted("Fee of a replacement"),
    "horizon": noted("Planning horizon"),
    "mean_delay": noted("Days from an offer to the first day"),
    "policy": noted("Policy of the site"),
    "least_tenure": noted("Days that everybody stays at least"),
    "most_a_week": noted("Most replacements a week"),
    "policies": noted("Policies"),
    "runs": noted("Simulated worlds"),
}


FACTS = (noted("Earned, fees paid"), noted("Fees"), noted("Replacements"), noted("Better in"))


@dataclass(frozen=True)
class PolicyOutcome:
    """The simulated result of a policy; `facts` are those named in `FACTS`."""

    policy: str
    own: bool
    gain: str
    interval: str
    worlds: str
    facts: tuple[str, ...]
    picture: Markup


@router.get("")
def plan(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the form."""
    reading = reading_of(request, site)
    return _show(request, caller, reading, _form(reading))


@router.post("")
def begin(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Submit a plan."""
    reading = reading_of(request, site)
    form.labels = LABELS
    wanted: dict[str, Any] = {
        "team": form.whole("team"),
        "fee": form.number("fee"),
        "horizon": form.whole("horizon"),
        "mean_delay": form.number("mean_delay"),
    }
    runs, chosen = form.whole("runs"), list(form.ticked("policies"))
    if not chosen:
        form.errors["policies"] = _("tick at least one")
    if not reading.site.workers:
        form.errors["team"] = _("there is nobody to plan with yet; import workers first")
    if not form.errors:
        shown = _shown(as_it_stands(reading.site))
        changes: dict[str, Any] = {
            name: None if form.value(name).strip() == shown[name] else value for name, value in wanted.items()
        }
        try:
            input = work.plan_input(reading.snapshot, policies=chosen, runs=runs, **changes)
        except InvalidInput as error:
            form.take(error)
    if form.errors:
        return _show(request, caller, reading, form, status=422)
    job = queue.submit(store_of(request), site, work.PLAN, caller.name, input)
    return go(request, reading.url("plan", job.id), _("The simulation is under way."))


@router.get("/{job}")
def planned(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the progress or the result of a plan."""
    reading = reading_of(request, site)
    queued = queue.read(store_of(request), job)
    if queued.site != site or queued.kind != work.PLAN:
        raise Unknown("job", str(job), _("does not exist"))
    return _show(request, caller, reading, _form(reading, queued.input), queued)


def _shown(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that can be changed, as text."""
    return {name: written(_short(name, settings[name])) for name in ("team", "fee", "horizon", "mean_delay")}


def _short(name: str, value: float) -> float:
    """Round a learned delay, which has many digits."""
    return round(value, 3) if name == "mean_delay" else value


def _form(reading: Reading, tried: Mapping[str, Any] | None = None) -> Form:
    """Return the form, filled with the settings of a plan or of the site."""
    usual = {"runs": 200, "policies": [reading.site.config.policy, *COMPARED]}
    filled = {**as_it_stands(reading.site), **usual, **(tried or {})}
    return Form({**_shown(filled), "runs": str(filled["runs"])}, {"policies": filled["policies"]}, labels=LABELS)


def _show(
    request: Request, caller: Caller, reading: Reading, form: Form, job: Job | None = None, status: int = 200
) -> Response:
    config = reading.site.config
    result = job.result if job is not None and job.status == queue.DONE else None
    first = [config.policy, *(name for name in COMPARED if name not in (config.policy, KEEP))]
    more = [name for name, _ in policies() if name not in (*first, KEEP)]
    values = {
        "form": form,
        "job": job,
        "plan": result,
        "outcomes": outcomes(result) if result else (),
        "axis": _axis(result) if result else "",
        "facts": [_(fact) for fact in FACTS],
        "fault": _fault(job),
        "first": first,
        "others": more,
        "lines": dict(policies()),
        "own": config.policy,
        "runs": [(value, _(words)) for value, words in RUNS],
        "cannot": "" if can_simulate() else work.CANNOT_SIMULATE,
        "tried": _tried(result["changes"]) if result else (),
        "before": queue.jobs_of(store_of(request), reading.name, limit=6, kind=work.PLAN),
        "moved_on": result is not None and result.get("version") != reading.version,
        "moment": reading.moment,
        "rolling": config.rolling,
    }
    return show_site(request, caller, reading, "Plan", "evidence/plan.html", values, status)


def _fault(job: Job | None) -> str:
    if job is None or job.status != queue.FAILED:
        return ""
    detail = job.result.get("detail") if isinstance(job.result, dict) else None
    return str(detail or progress_words(job.message))


def _tried(changes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the simulated settings that differ from the site's."""
    return [
        (
            _(LABELS[name]),
            _("no limit") if value is None else value if isinstance(value, str) else f"{_short(name, value):,.15g}",
        )
        for name, value in changes.items()
    ]


def outcomes(plan: Mapping[str, Any]) -> list[PolicyOutcome]:
    """Return the result of each policy, the most profitable first."""
    scale = _scale(plan)
    return [
        PolicyOutcome(
            policy=name,
            own=name == plan["own"],
            gain="–" if name == KEEP else formats.money(_rounded(prospect["gain"], "mean")[0], sign=True),
            interval="" if name == KEEP else formats.money_span(*_rounded(prospect["gain"], "low", "high")),
            worlds="" if name == KEEP else _worlds(prospect["gain"]),
            facts=(
                formats.money(_rounded(prospect["net"], "mean")[0]),
                formats.money(rounded(*_likely(prospect["net"]), prospect["fees"])[0]),
                formats.number(prospect["replacements"], 1),
                "–" if name == KEEP else chance(prospect["chance_better"]),
            ),
            picture=_picture(scale, prospect["gain"]),
        )
        for name, prospect in plan["policies"].items()
    ]


def _likely(gain: Mapping[str, Any]) -> tuple[float, float]:
    """Return where the gain lay in 9 of 10 worlds; plans of earlier versions have only the range of 95%."""
    low, high = gain.get("likely_low"), gain.get("likely_high")
    return (gain["worst"] if low is None else low, gain["best"] if high is None else high)


def _worlds(gain: Mapping[str, Any]) -> str:
    return formats.money_span(*rounded(*_likely(gain), *_likely(gain)))


def _rounded(amount: Mapping[str, Any], *names: str) -> tuple[float, ...]:
    """Return numbers of an expected amount without digits that its range of outcomes makes meaningless."""
    return rounded(*_likely(amount), *(amount[name] for name in names))


def _scale(plan: Mapping[str, Any]) -> Scale:
    gains = [prospect["gain"] for prospect in plan["policies"].values()]
    return scale_over([0.0, *(gain[end] for gain in gains for end in ("low", "high", "worst", "best"))], 4)


def _axis(plan: Mapping[str, Any]) -> Markup:
    scale = _scale(plan)
    return axis(scale, [formats.money(tick, sign=True) for tick in scale.ticks])


def _picture(scale: Scale, gain: Mapping[str, float]) -> Markup:
    """Draw the gain: a wide bar for 9 of 10 worlds, a narrow one for the interval of the mean."""
    return spread(scale, gain["mean"], (gain["low"], gain["high"]), _likely(gain))
