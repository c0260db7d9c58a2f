"""What jobs do: plan, verify, and take in big files. Each may be run again without harm: a plan and a check change
nothing, and rows that are on record already are passed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from crewlearn.advisor import csv_in, documents, imports, rehearsal
from crewlearn.advisor.csv_table import read_table
from crewlearn.advisor.store import Store
from crewlearn.advisor.verify import verify
from crewlearn.web import reads
from crewlearn.web.jobs import Handler, Job, Progress, file_of

PLAN, VERIFY, OUTPUT_IMPORT = "plan", "verify", "output-import"
WHAT_OUTPUT, WHAT_WORKERS = "output.csv", "workers.csv"
BIG_LINES = 20_000
"""Files of more lines are taken in by a job."""


@dataclass(frozen=True)
class Options:
    """How a file of output is to be read and taken in."""

    mapping: Mapping[str, str]
    decimal: Literal[".", ","] | None = None
    dates: Literal["day-first", "month-first"] | None = None
    correct: bool = False
    skip_unknown: bool = False
    check_only: bool = False


def is_big(data: bytes) -> bool:
    """Say whether a file has too many lines to be waited for."""
    return max(data.count(b"\n"), data.count(b"\r")) > BIG_LINES


def take_in_output(
    store: Store, site: str, actor: str, data: bytes, options: Options, expected: int | None = None
) -> dict[str, Any]:
    """Take in a file of output, or say what that would do."""
    calendar = reads.snapshot(store, site).site.config.calendar

    def take_in(into: Store) -> imports.Done:
        rows = csv_in.read_output(
            data,
            options.mapping,
            what=WHAT_OUTPUT,
            decimal=options.decimal,
            dates=options.dates,
            day_of=calendar.day_of,
            blank_ids=options.skip_unknown,
        )
        return imports.import_output(
            into,
            site,
            rows,
            data,
            actor,
            correct=options.correct,
            skip_unknown=options.skip_unknown,
            what=WHAT_OUTPUT,
            expected=expected,
        )

    if options.check_only:
        return documents.checked(
            rehearsal.check_import(
                store, partial(read_table, data, WHAT_OUTPUT, csv_in.OUTPUT, options.mapping), take_in
            )
        )
    done = take_in(store)
    return documents.recorded(done, reads.snapshot(store, site).sentence)


def run_import(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Take in a big file of output."""
    progress(0.1, "reading the file")
    options = {name: value for name, value in job.input.items() if name != "digest"}
    return take_in_output(store, job.site, job.actor, file_of(store, job.id), Options(**options))


def run_verify(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Rebuild a site from its first event and compare."""
    progress(0.1, "rebuilding the site from its first event")
    return documents.verified(verify(store, job.site))


def run_plan(store: Store, job: Job, progress: Progress) -> dict[str, Any]:
    """Simulate a site from what is known now."""
    from crewlearn.planning.plan import plan  # with the compiler, which no other request needs

    wanted = {name: value for name, value in job.input.items() if value is not None}
    del wanted["version"]
    runs, policies, seed = wanted.pop("runs"), wanted.pop("policies", None), wanted.pop("seed")
    done, total = 0, runs * (4 if policies is None else len({*policies, "keep-team"}))

    def told(more: int) -> None:
        nonlocal done
        done += more
        progress(min(0.99, done / total), f"{done:,} of {total:,} simulated years")

    progress(0.0, "preparing")
    site = reads.snapshot(store, job.site).site
    return plan(site, policies, runs, seed, progress=told, **wanted).to_json()


HANDLERS: Mapping[str, Handler] = {PLAN: run_plan, VERIFY: run_verify, OUTPUT_IMPORT: run_import}
"""Every kind of job that a server can do."""
