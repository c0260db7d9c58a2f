"""The kinds of job: plan, backtest, plan of a pilot, verify, and import of large files.

Each is safe to run twice: plans and checks change nothing, and rows already on record are skipped.

A plan's settings are completed when it is submitted, so that later changes of the site's settings do not affect it. The
workers' estimates are those at the time it runs; the result names that version of the site.
"""

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, get_args

import sqlalchemy as sa

from crewlearn.advisor.files import dry_run, imports
from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.advisor.files.errors.failed_imports import failed_import
from crewlearn.advisor.files.imports import ImportFile, ImportOptions
from crewlearn.advisor.files.recording.recorded_imports import result_of
from crewlearn.advisor.files.sources.sheets import is_workbook
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import REQUEST
from crewlearn.advisor.ledger.notices import outbox
from crewlearn.advisor.ledger.pilots.sealed import SealedPlan
from crewlearn.advisor.ledger.site.request_keys import RequestKey, RequestRepeated
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.advisor.setup.first_reading import read_first
from crewlearn.advisor.setup.opening import fill_site
from crewlearn.advisor.wording import documents
from crewlearn.planning.limits import CHANGES, as_it_stands, check
from crewlearn.policies.registry import registered
from crewlearn.problem.errors import Unknown
from crewlearn.problem.extras import REMEDY, SIM, can_simulate
from crewlearn.web import job_words, snapshots
from crewlearn.web.job_words import counted
from crewlearn.web.jobs import queue
from crewlearn.web.jobs.apart import simulate_apart
from crewlearn.web.jobs.queue import Job, file_of
from crewlearn.web.jobs.runner import Handler, Progress
from crewlearn.web.observing.meters import counting_import
from crewlearn.web.snapshots import Snapshot

if TYPE_CHECKING:
    from crewlearn.planning.pilot.planning import PilotRequest

Kind = Literal["plan", "verify", "output-import", "backtest", "pilot-plan"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PLAN, VERIFY, OUTPUT_IMPORT, BACKTEST, PILOT_PLAN = KINDS
NEW_SITE = "new_site"
"""In the input of an import for a new site: the day on which its settings were proposed from the file."""
BIG_LINES = 20_000
"""Files with more lines than this are imported by a job."""
BIG_WORKBOOK = 500_000
"""So are workbooks with more bytes, which have about as many rows."""

CANNOT_SIMULATE = f"cannot simulate: whoever runs it installs the compiler there: {REMEDY.format(extra=SIM)}"
"""Why a server of a plain install refuses plans and backtests."""

LOG = logging.getLogger("crewlearn.web")


def is_big(data: bytes) -> bool:
    """Return whether a file is too long to import within a request."""
    if is_workbook(data):
        return len(data) > BIG_WORKBOOK
    return max(data.count(b"\n"), data.count(b"\r")) > BIG_LINES


def take_in(store: Store, site: str, file: ImportFile, actor: str, expected: int | None = None) -> dict[str, Any]:
    """Import a file, or with `check_only` make a dry run; return the document of the result."""
    if file.options.check_only:
        return documents.checked(dry_run.check(store, site, file, actor, expected=expected))
    with counting_import():
        try:
            done = imports.take_in(store, site, file, actor, expected=expected)
        except RequestRepeated as repeated:
            done = result_of(store, site, repeated.event)
    return documents.recorded(done, _advice(store, site))


def _advice(store: Store, site: str) -> str:
    """Return a site's advice after an import; empty if it cannot be read, as the import succeeded anyway."""
    try:
        return snapshots.snapshot(store, site).sentence
    except Exception:
        LOG.exception("%s: a file was imported, but the advice cannot be read", site)
        return ""


def run_import(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Import a large file of output."""
    progress(0.1, job_words.READING)
    options = {name: value for name, value in job.input.items() if name not in ("digest", "name", NEW_SITE, REQUEST)}
    if REQUEST in job.input:
        store = store.keyed(RequestKey.from_json(job.input[REQUEST]))
    file = ImportFile(OUTPUT.kind, file_of(store, job.id), ImportOptions(**options), job.input.get("name", ""))
    if NEW_SITE not in job.input:
        return take_in(store, job.site, file, job.actor)
    with store.reading() as connection:
        config = store.site(connection, job.site)[1].config
    first = read_first(file, date.fromisoformat(job.input[NEW_SITE]))
    with counting_import():
        done = fill_site(store, job.site, config, file, first, job.actor)
    return documents.recorded(done, _advice(store, job.site))


def new_site_input(file: ImportFile, today: date) -> dict[str, Any]:
    """Return the input of a job that records the output of a new site, from a file that was proposed from on a day."""
    return {**dataclasses.asdict(file.options), "name": file.name, NEW_SITE: today.isoformat()}


def run_verify(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Rebuild a site from its first event and compare."""
    progress(0.0, job_words.REBUILDING)

    def report(taken: int, events: int) -> None:
        events = max(events, taken)  # the stored count may be wrong; the check reports that at the end
        progress(min(0.99, taken / events), counted(job_words.EVENTS, taken, events))

    return documents.verified(verify(store, job.site, report))


def check_simulates() -> None:
    """Refuse a job that simulates where this server cannot; it would wait for ever."""
    if not can_simulate():
        raise Conflict("server", "plain", CANNOT_SIMULATE)


def plan_input(
    now: Snapshot, *, policies: Sequence[str] | None, runs: int, seed: int = 1, **changes: Any
) -> dict[str, Any]:
    """Return the input of a plan's job: the settings requested, and the site's for the others.

    Settings that cannot be simulated are refused. The site's own policy may be a class of the firm; no other class can
    be named here.
    """
    check_simulates()
    changed = {name: value for name, value in changes.items() if value is not None}
    current = now.site.config.policy
    for field, spec in [("policy", changed.get("policy", current)), *(("policies", name) for name in policies or ())]:
        registered(field, spec, current)
    _, chosen = check(now.site, policies, runs, changed)
    wanted = {**as_it_stands(now.site), **changed}
    return {**wanted, "policies": list(chosen), "runs": runs, "seed": seed, "version": now.version}


def run_plan(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Simulate a site from what is known now, with the settings of the job.

    Settings equal to the site's are not passed as changes, so that a learned delay is used as such.
    """
    from crewlearn.planning.plan import plan  # loads the compiler, which only plans need
    from crewlearn.planning.site_record import record_in

    wanted = job.input
    done, total = 0, wanted["runs"] * len(wanted["policies"])

    def report(more: int) -> None:
        nonlocal done
        done += more
        progress(min(0.99, done / total), counted(job_words.YEARS, done, total))

    progress(0.0, job_words.PREPARING)
    with store.reading() as connection:
        now = snapshots.snapshot_in(store, connection, job.site)
        record = record_in(connection, now.key, now.site)
    standing = as_it_stands(now.site)
    changes = {name: wanted[name] for name in CHANGES if name in wanted and wanted[name] != standing[name]}
    chosen, runs, seed = wanted["policies"], wanted["runs"], wanted["seed"]
    outcome = plan(now.site, chosen, runs, seed, record=record, progress=report, **changes)
    return {"version": now.version, **outcome.to_json()}


def run_backtest(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Replay the record of a site with advice from a day on."""
    from crewlearn.planning.backtest.sites import backtest, day_number  # loads the compiler
    from crewlearn.planning.site_record import record_in

    wanted = job.input
    done, total = 0, 2 * wanted["runs"]

    def report(more: int) -> None:
        nonlocal done
        done += more
        progress(min(0.99, done / total), counted(job_words.REPLAYS, done, total))

    progress(0.0, job_words.PREPARING)
    with store.reading() as connection:
        now = snapshots.snapshot_in(store, connection, job.site)
        record = record_in(connection, now.key, now.site)
    first = wanted["first"]
    number = first if isinstance(first, int) else day_number(now.site, record, date.fromisoformat(first))
    outcome = backtest(now.site, record, number, runs=wanted["runs"], seed=wanted["seed"], progress=report)
    return {"version": now.version, **outcome.to_json()}


def run_pilot_plan(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Work out what a pilot could show; the plan in the result can be sealed."""
    from crewlearn.planning.pilot.planning import plan_pilot
    from crewlearn.planning.pilot.wording import design_lines, promise_lines

    progress(0.0, job_words.DRAWING)
    proposal = plan_pilot(store, pilot_request(job.input))
    headline, *promises = promise_lines(proposal)
    return {**proposal.to_json(), "headline": headline, "lines": [*promises, *design_lines(proposal.plan)]}


def pilot_request(input: Mapping[str, Any]) -> "PilotRequest":
    """Return what a job's input asks of a pilot."""
    from crewlearn.planning.pilot.planning import PilotRequest

    wanted = {name: value for name, value in input.items() if name not in ("version", "sites")}
    return PilotRequest(tuple(input["sites"]), **wanted)


def sealed_plan(store: Store, site: str, job: int) -> SealedPlan:
    """Return the plan of a pilot that a job at a site has made."""
    made = queue.read(store, job)
    if made.site != site or made.kind != PILOT_PLAN:
        raise Unknown("job", job, "is no plan of a pilot of this site")
    if made.status != queue.DONE:
        raise Conflict("job", job, f"has no plan to seal: it is {made.status}")
    return SealedPlan.from_json(made.result["plan"])


SIMULATIONS: Mapping[str, Handler] = {PLAN: run_plan, BACKTEST: run_backtest}
"""The kinds that run compiled code, each job in a process of its own."""

LANES: Sequence[Mapping[str, Handler]] = (
    dict.fromkeys(SIMULATIONS, simulate_apart),
    {VERIFY: run_verify, OUTPUT_IMPORT: run_import, PILOT_PLAN: run_pilot_plan},
)
"""The lanes of a server: plans and backtests, which may take minutes, and the kinds that people wait for."""


def lanes_here() -> Sequence[Mapping[str, Handler]]:
    """Return the lanes of this server: without what simulates, if it cannot; another over the store may."""
    return LANES if can_simulate() else LANES[1:]


def unstoppable(job: Job) -> str | None:
    """Return why a running job cannot be stopped; None if it can be."""
    if job.kind != OUTPUT_IMPORT:
        return None
    if job.input.get("check_only"):
        return "is checking a file in one transaction, which cannot be stopped; it changes nothing"
    return (
        "is importing a file in one transaction, which cannot be stopped; wrong rows can be corrected afterwards "
        "by importing the right ones with `correct`"
    )


def tell_failure(connection: sa.Connection, job: Job, error: Exception | None) -> None:
    """Put a notice of a failed import in the outbox; a check that fails records nothing anyway."""
    if job.kind == OUTPUT_IMPORT and not job.input.get("check_only"):
        table = schema.sites
        locked = sa.select(table.c.id).where(table.c.name == job.site).with_for_update(key_share=True)
        key = connection.execute(locked).scalar_one()
        outbox.put(connection, key, [failed_import(error, "job", job=job.id)])


def cancel(store: Store, id: int, actor: str) -> Job:
    """Cancel a job that is not over and can be stopped; return it."""
    return queue.cancel(store, id, actor, unstoppable)
