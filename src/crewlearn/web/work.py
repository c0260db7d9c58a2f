"""What jobs do: plan, verify, and take in big files. Each may be run again without harm: a plan and a check change
nothing, and rows that are on record already are passed over.

A plan's job has all that was asked for, whatever is set at the site by the time it runs: what was left out is filled in
when it is asked for. What is known of the workers is taken as it is when the job runs; the result says of which version
of the site that is.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from crewlearn.advisor import documents
from crewlearn.advisor.store import Store
from crewlearn.advisor.verify import verify
from crewlearn.planning.limits import CHANGES, as_it_stands, check
from crewlearn.policies.registry import registered
from crewlearn.web import intake, jobs, reads
from crewlearn.web.jobs import Job, file_of
from crewlearn.web.reads import Snapshot
from crewlearn.web.runner import Handler, Progress

Kind = Literal["plan", "verify", "output-import"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PLAN, VERIFY, OUTPUT_IMPORT = KINDS
BIG_LINES = 20_000
"""Files of more lines are taken in by a job."""
PREPARING = "preparing: the simulation is compiled, once on each machine"

LOG = logging.getLogger("crewlearn.web")


def is_big(data: bytes) -> bool:
    """Say whether a file has too many lines to be waited for."""
    return max(data.count(b"\n"), data.count(b"\r")) > BIG_LINES


def take_in(store: Store, site: str, actor: str, file: intake.File, expected: int | None = None) -> dict[str, Any]:
    """Take a file in, or only say what that would do; give the document of it."""
    if file.options.check_only:
        return documents.checked(intake.check(store, site, actor, file, expected))
    done = intake.take_in(store, site, actor, file, expected)
    return documents.recorded(done, _advice(store, site))


def _advice(store: Store, site: str) -> str:
    """Give a site's advice after something was put on record, which is so whether or not the site can be read now."""
    try:
        return reads.snapshot(store, site).sentence
    except Exception:
        LOG.exception("%s: a file was taken in, and the advice cannot be told", site)
        return ""


def run_import(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Take in a big file of output."""
    progress(0.1, "reading the file")
    options = {name: value for name, value in job.input.items() if name != "digest"}
    file = intake.File(intake.OUTPUT, file_of(store, job.id), intake.Options(**options))
    return take_in(store, job.site, job.actor, file)


def run_verify(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Rebuild a site from its first event and compare."""
    progress(0.0, "rebuilding the site from its first event")

    def told(taken: int, events: int) -> None:
        events = max(events, taken)  # how many there should be may be wrong, and that is found in the end
        progress(min(0.99, taken / events), f"{taken:,} of {events:,} events taken in again")

    return documents.verified(verify(store, job.site, told))


def plan_input(
    now: Snapshot, *, policies: Sequence[str] | None, runs: int, seed: int = 1, **changes: Any
) -> dict[str, Any]:
    """Make the input of a plan's job: all that is asked for, the rest as the site stands; refuse what cannot be done.

    The site's own policy may be a class of the firm's; nobody can name another such class here.
    """
    given = {name: value for name, value in changes.items() if value is not None}
    own = now.site.config.policy
    for field, spec in [("policy", given.get("policy", own)), *(("policies", one) for one in policies or ())]:
        registered(field, spec, own)
    _, chosen = check(now.site, policies, runs, given)
    wanted = {**as_it_stands(now.site), **given}
    return {**wanted, "policies": list(chosen), "runs": runs, "seed": seed, "version": now.version}


def run_plan(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Simulate a site from what is known now, with the settings that were asked for.

    Those that the site has anyway are no changes to it: a delay, for one, goes on being what was learned.
    """
    from crewlearn.planning.plan import plan  # with the compiler, which no other request needs

    wanted = job.input
    done, total = 0, wanted["runs"] * len(wanted["policies"])

    def told(more: int) -> None:
        nonlocal done
        done += more
        progress(min(0.99, done / total), f"{done:,} of {total:,} simulated years")

    progress(0.0, PREPARING)
    now = reads.snapshot(store, job.site)
    standing = as_it_stands(now.site)
    changes = {name: wanted[name] for name in CHANGES if wanted[name] != standing[name]}
    found = plan(now.site, wanted["policies"], wanted["runs"], wanted["seed"], progress=told, **changes)
    return {"version": now.version, **found.to_json()}


LANES: Sequence[Mapping[str, Handler]] = ({PLAN: run_plan}, {VERIFY: run_verify, OUTPUT_IMPORT: run_import})
"""Every kind of job that a server can do, apart by what may take minutes and what somebody waits for."""


def unstoppable(job: Job) -> str | None:
    """Say why a job cannot be stopped once it is under way; None if it can be."""
    if job.kind != OUTPUT_IMPORT:
        return None
    if job.input.get("check_only"):
        return "is trying a file in one transaction, which cannot be stopped halfway; it changes nothing"
    return (
        "is taking in a file in one transaction, which cannot be stopped halfway; what is wrong in the file can be put "
        "right by importing the right rows with `correct` once it is done"
    )


def cancel(store: Store, id: int, actor: str) -> Job:
    """Cancel a job that is not over, unless it is one that cannot be stopped any more."""
    return jobs.cancel(store, id, actor, unstoppable)
