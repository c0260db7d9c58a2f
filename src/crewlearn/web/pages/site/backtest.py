"""The Backtest page: the record replayed, in the background, as if the advice had been followed from a day on."""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crewlearn.advisor.wording.doubt import chance, rounded
from crewlearn.language import _, localized, noted
from crewlearn.planning.limits import FEWEST_RUNS, MOST_REPLAYS
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.problem.extras import can_simulate
from crewlearn.web import formats
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller, require
from crewlearn.web.job_words import progress_words
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.queue import Job
from crewlearn.web.pages.common import Filled, JobNumber, go, reading_of, show_site, store_of
from crewlearn.web.pages.forms import Form
from crewlearn.web.views.reading import Reading

router = APIRouter(prefix="/sites/{site}/backtest")
LABELS = {"first": noted("Number of the first day of advice"), "runs": noted("Draws")}
RUNS = (("100", noted("100: a quick look")), ("200", "200"), ("1000", noted("1,000: finer")))


@router.get("")
def backtest(request: Request, site: str, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the form."""
    reading = reading_of(request, site)
    return _show(request, caller, reading, _form())


@router.post("")
def begin(request: Request, site: str, caller: Annotated[Caller, require(MANAGER)], form: Filled) -> Response:
    """Submit a backtest."""
    reading = reading_of(request, site)
    form.labels = LABELS
    first, runs = form.whole("first"), form.whole("runs")
    if "first" not in form.errors and (first is None or first < 1):
        form.errors["first"] = _("must be at least 1")
    if "runs" not in form.errors and (runs is None or not FEWEST_RUNS <= runs <= MOST_REPLAYS):
        form.errors["runs"] = _(
            "must be from {fewest_runs} to {most_replays}",
            fewest_runs=FEWEST_RUNS,
            most_replays=localized(f"{MOST_REPLAYS:,}"),
        )
    try:
        work.check_simulates()
    except InvalidInput as error:
        form.take(error)
    if form.errors:
        return _show(request, caller, reading, form, status=422)
    wanted = {"first": first, "runs": runs, "seed": 1, "version": reading.version}
    job = queue.submit(store_of(request), site, work.BACKTEST, caller.name, wanted)
    return go(request, reading.url("backtest", job.id), _("The replay is under way."))


@router.get("/{job}")
def replayed(request: Request, site: str, job: JobNumber, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Show the progress or the result of a backtest."""
    reading = reading_of(request, site)
    queued = queue.read(store_of(request), job)
    if queued.site != site or queued.kind != work.BACKTEST:
        raise Unknown("job", str(job), _("does not exist"))
    return _show(request, caller, reading, _form(queued), queued)


def _form(job: Job | None = None) -> Form:
    """Return the form, filled with what was asked for."""
    wanted = {"first": 31, "runs": 200, **({} if job is None else job.input)}
    return Form({name: str(wanted[name]) for name in LABELS}, {}, labels=LABELS)


def _show(
    request: Request, caller: Caller, reading: Reading, form: Form, job: Job | None = None, status: int = 200
) -> Response:
    result = job.result if job is not None and job.status == queue.DONE else None
    values = {
        "form": form,
        "job": job,
        "result": result,
        "rows": _rows(reading, result) if result else (),
        "share": formats.share(result["on_record"]) if result else "",
        "fees": reading.money(result["fees"]) if result else "",
        "real_fees": reading.money(result["real_fees"]) if result else "",
        "replacements": formats.number(result["replacements"], 1) if result else "",
        "fault": _fault(job),
        "runs": [(value, _(words)) for value, words in RUNS],
        "cannot": "" if can_simulate() else work.CANNOT_SIMULATE,
        "before": queue.jobs_of(store_of(request), reading.name, limit=6, kind=work.BACKTEST),
        "moved_on": result is not None and result.get("version") != reading.version,
        "moment": reading.moment,
    }
    return show_site(request, caller, reading, "Backtest", "evidence/backtest.html", values, status)


def _rows(reading: Reading, result: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Return both comparisons: against what, gain, range of outcomes, doubt of the simulation, and chance of a gain."""
    compared = ((_("What was really done"), "practice"), (_("Keeping the team of the day before"), "keeping"))
    return [
        (
            words,
            reading.money(mean, sign=True),
            reading.money_span(likely_low, likely_high),
            reading.money_span(low, high),
            chance(result[f"chance_over_{name}"]),
        )
        for words, name in compared
        for gain in [result[f"over_{name}"]]
        for mean, likely_low, likely_high, low, high in [
            rounded(
                *(gain[end] for end in ("likely_low", "likely_high")),
                *(gain[end] for end in ("mean", "likely_low", "likely_high", "low", "high")),
            )
        ]
    ]


def _fault(job: Job | None) -> str:
    if job is None or job.status != queue.FAILED:
        return ""
    detail = job.result.get("detail") if isinstance(job.result, dict) else None
    return str(detail or progress_words(job.message))
