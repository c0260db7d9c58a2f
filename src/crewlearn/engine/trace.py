"""Full traces of a few runs: every event as a flat row, in chronological order."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypedDict

from crewlearn.engine.interpreted import Step, play
from crewlearn.engine.tuning import settled
from crewlearn.engine.world import World
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.extras import extra_for
from crewlearn.problem.instances import followed_conventions
from crewlearn.problem.model import Problem

ROWS_IN_A_BATCH = 50_000
"""Rows held in memory while writing, a few megabytes."""


class Row(TypedDict):
    """One event of a run.

    `event` is "interview" (scores bought before the policy's first period and paid in it), "request", "start" (a
    replacement completed), "lapse" (a hire for whom nobody made room) or "output". Where people change it may also be
    "quit" (`worker` left for good), "handover" (in the warm-up `worker` took the place of `other`, unpaid), "decline"
    (`worker` declined the offer, which was known when the hire was due) or "absence" (`worker` did not come).

    `period` counts the warm-up. `worker` works, comes in, quits or is absent, and `other` leaves; -1 means nobody, or
    that the leaver is chosen on arrival. `output` is None except for output events. `cost` is what the firm pays for
    the event.
    """

    run: int
    period: int
    event: str
    worker: int
    other: int
    output: float | None
    cost: float


def trace(
    problem: Problem, policy: str | Policy[Any], runs: int = 1, seed: int = 1, conventions: str | None = None
) -> Iterator[Row]:
    """Play the first `runs` runs of a simulation and return an iterator over their events.

    The worlds are those of `simulate` with the same seed. Within a period quits and handovers come first, then
    requests, starts, lapses and declines, then absences and outputs, each by station. The regret of a period is its
    costs plus the shortfall of its mean output from the best team's.

    >>> from crewlearn.problem.instances import benchmark
    >>> rows = trace(benchmark(team=1), "keep-team", seed=1)
    >>> next(rows)
    {'run': 0, 'period': 1, 'event': 'output', 'worker': ..., 'other': -1, 'output': ..., 'cost': 0.0}
    """
    whole("runs", runs, 1)
    whole("seed", seed, 0, 2**64 - 1)
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a crewlearn.Problem, as crewlearn.read_problem returns")
    followed = followed_conventions(problem, conventions)
    chosen = make_policy(policy, followed) if isinstance(policy, str) else policy
    if not isinstance(chosen, Policy):
        raise InvalidInput("policy", policy, "must be a policy's name or an object of a class derived from Policy")
    return events_of(problem, settled(chosen, problem, seed), runs, seed)


def events_of(problem: Problem, policy: Policy[Any], runs: int, seed: int) -> Iterator[Row]:
    """Return what `trace` does, of arguments that are checked already."""
    return chain.from_iterable(_rows_of_run(World(problem, seed, run), policy) for run in range(runs))


def write_trace(rows: Iterable[Row], path: Path | str, made_by: Mapping[str, Any] | None = None) -> int:
    """Write rows to a Parquet file, or to CSV if the name ends in .csv; return their number.

    Rows are written in batches, so memory use does not grow with the trace. The file appears under its name only
    when it is complete. `made_by` is plain data on the trace's origin; a Parquet file keeps it in its metadata.
    """
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise InvalidInput("path", str(path), "must be a file in a folder that exists; create the folder first")
    unfinished = target.with_name(target.name + ".part")
    try:
        if target.suffix.lower() == ".csv":
            written = _write_csv(rows, unfinished)
        else:
            written = _write_parquet(rows, unfinished, made_by or {})
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return written


def _rows_of_run(world: World, policy: Policy[Any]) -> Iterator[Row]:
    interview = policy.interview(world.problem.setting)
    for step in play(world, policy):
        if interview is not None and step.period == world.problem.warmup + 1:
            yield _row(world, step.period, "interview", cost=interview.fee)
        yield from _rows_of_step(world, step)


def _rows_of_step(world: World, step: Step) -> Iterator[Row]:
    fee, period = world.problem.setting.cost, step.period
    at_initiation, at_completion = (fee, 0.0) if world.problem.fee_due == "initiation" else (0.0, fee)
    for worker in step.quit:
        yield _row(world, period, "quit", worker)
    for out, into in step.handovers:
        yield _row(world, period, "handover", into, out)
    for out, into in step.requested:
        yield _row(world, period, "request", into, out, cost=at_initiation)
    for out, into in step.completed:
        yield _row(world, period, "start", into, out, cost=at_completion)
    for out, into in step.failed:
        yield _row(world, period, "lapse", into, out)
    for out, into in step.declined:
        yield _row(world, period, "decline", into, out)
    for worker in step.absent:
        yield _row(world, period, "absence", worker)
    for worker, amount in step.output.items():
        yield _row(world, period, "output", worker, output=amount)


def _row(
    world: World,
    period: int,
    event: str,
    worker: int = NOBODY,
    other: int = NOBODY,
    output: float | None = None,
    cost: float = 0.0,
) -> Row:
    return Row(run=world.run, period=period, event=event, worker=worker, other=other, output=output, cost=cost)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, ROWS_IN_A_BATCH)):
        yield batch


def _write_csv(rows: Iterable[Row], path: Path) -> int:
    written = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(Row.__annotations__))
        writer.writeheader()
        for batch in _batches(rows):
            writer.writerows(batch)
            written += len(batch)
    return written


def _write_parquet(rows: Iterable[Row], path: Path, made_by: Mapping[str, Any]) -> int:
    with extra_for("a Parquet file"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    whole_number, number = pa.int64(), pa.float64()
    schema = pa.schema(
        {
            "run": whole_number,
            "period": whole_number,
            "event": pa.string(),
            "worker": whole_number,
            "other": whole_number,
            "output": number,
            "cost": number,
        },
        metadata={"crewlearn": json.dumps(made_by)},
    )
    written = 0
    with pq.ParquetWriter(str(path), schema) as writer:
        for batch in _batches(rows):
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
            written += len(batch)
    return written
