"""Traces: a run worked out by hand, regret rebuilt from rows, and files that are complete or absent."""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import pytest

from crewlearn.engine import trace as module
from crewlearn.engine.interpreted import play
from crewlearn.engine.trace import Row, trace, write_trace
from crewlearn.engine.world import World
from crewlearn.policies.baselines import Nothing
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import FixedDelay
from crewlearn.problem.model import Pool, Problem

SURE = Problem(team=1, horizon=4, cost=2.0, workers=Pool((0.0, 1.0)), delay=FixedDelay(2))
"""Worker 0 always produces 0 and worker 1 always 1; a replacement takes two periods."""


def flat(rows: Iterator[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows]


def seed_that_starts_with(problem: Problem, worker: int) -> int:
    return next(seed for seed in range(100) if World(problem, seed, 0).starting_team().tolist() == [worker])


@pytest.mark.parametrize(("fee_due", "fees"), [("initiation", (2.0, 0.0)), ("completion", (0.0, 2.0))])
def test_a_run_written_out_by_hand(fee_due: str, fees: tuple[float, float]) -> None:
    problem = replace(SURE, fee_due=fee_due, cost=2.0, horizon=6)
    rows = trace(problem, "oracle", seed=seed_that_starts_with(problem, 0))
    assert flat(rows) == [
        (0, 1, "request", 1, 0, None, fees[0]),
        (0, 1, "output", 0, -1, 0.0, 0.0),
        (0, 2, "output", 0, -1, 0.0, 0.0),
        (0, 3, "start", 1, 0, None, fees[1]),
        (0, 3, "output", 1, -1, 1.0, 0.0),
        (0, 4, "output", 1, -1, 1.0, 0.0),
        (0, 5, "output", 1, -1, 1.0, 0.0),
        (0, 6, "output", 1, -1, 1.0, 0.0),
    ]


@dataclass(frozen=True)
class HiresWithoutLeaver(Policy[Nothing]):
    """Hires a worker in period 1 without naming who leaves, then or on arrival."""

    state_type: ClassVar[type[Nothing]] = Nothing

    @property
    def name(self) -> str:
        return "forgetful"

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Nothing:
        return Nothing()

    def decide(self, state: Nothing, situation: Situation) -> tuple[list[Pair], Nothing]:
        return [(-1, situation.roster.outside[0])] if situation.period == 1 else [], state


def test_a_hire_for_whom_nobody_makes_room_lapses() -> None:
    rows = trace(SURE, HiresWithoutLeaver(), seed=seed_that_starts_with(SURE, 1))
    assert [row for row in flat(rows) if row[2] != "output"] == [
        (0, 1, "request", 0, -1, None, 2.0),
        (0, 3, "lapse", 0, -1, None, 0.0),
    ]


@pytest.mark.parametrize("fee_due", ["initiation", "completion"])
@pytest.mark.parametrize("name", REGISTRY)
def test_costs_and_lost_output_make_the_regret(name: str, fee_due: str) -> None:
    problem = replace(benchmark(team=3, horizon=60, cost=0.3), fee_due=fee_due)
    policy, rows = make_policy(name), list(trace(problem, name, runs=2, seed=6))
    assert [row["run"] for row in rows] == sorted(row["run"] for row in rows)
    for run in range(2):
        world, mine = World(problem, 6, run), [row for row in rows if row["run"] == run]
        best = sum(sorted(problem.means(6, run))[-3:])
        steps = list(play(world, policy))
        periods = [(period, list(group)) for period, group in groupby(mine, lambda row: row["period"])]
        assert [period for period, _ in periods] == list(range(1, 61))
        for step, (_, group) in zip(steps, periods, strict=True):
            made = sum(float(world.means[row["worker"]]) for row in group if row["event"] == "output")
            assert sum(row["cost"] for row in group) + best - made == pytest.approx(step.regret, abs=1e-12)
            assert {row["worker"]: row["output"] for row in group if row["event"] == "output"} == step.output
            order = ["interview", "request", "start", "lapse", "output"]
            assert [row["event"] for row in group] == sorted((row["event"] for row in group), key=order.index)
            for event, pairs in (("request", step.requested), ("start", step.completed), ("lapse", step.failed)):
                assert tuple((row["other"], row["worker"]) for row in group if row["event"] == event) == pairs


@pytest.mark.parametrize(("conventions", "fee"), [("as-written", 5.0), ("as-released", 125.0)])
def test_interviews_come_first_and_cost_what_the_convention_says(conventions: str, fee: float) -> None:
    rows = list(trace(benchmark(horizon=3), "interview-screen", conventions=conventions))
    assert flat(iter(rows[:1])) == [(0, 1, "interview", -1, -1, None, fee)]
    assert [row["event"] for row in rows].count("interview") == 1


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: trace(SURE, "oracle", runs=0), "runs = 0"),
        (lambda: trace(SURE, "oracle", seed=-1), "seed = -1"),
        (lambda: trace(SURE, "orakle"), "did you mean 'oracle'"),
        (lambda: trace(SURE, "oracle", conventions="as-told"), "conventions = 'as-told'"),
        (lambda: trace(SURE, HiresWithoutLeaver(), conventions="as-told"), "conventions = 'as-told'"),
        (lambda: trace(SURE, 3), "policy = 3"),  # type: ignore[arg-type]  # the wrong type is the point
        (lambda: trace("file.toml", "oracle"), "problem = 'file.toml'"),  # type: ignore[arg-type]  # the wrong type is the point
    ],
)
def test_bad_input_is_named_before_the_first_row(call: Callable[[], Iterator[Row]], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        call()


def test_parquet_is_written_in_batches_and_reads_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_IN_A_BATCH", 7)
    path, problem = tmp_path / "trace.parquet", benchmark(team=2, horizon=15)
    rows = list(trace(problem, "work-trial", runs=2))
    assert write_trace(iter(rows), path, made_by={"seed": 1}) == len(rows)
    file = pq.ParquetFile(path)
    assert file.read().to_pylist() == rows
    assert file.num_row_groups == -(-len(rows) // 7)
    assert json.loads(file.schema_arrow.metadata[b"crewlearn"]) == {"seed": 1}


@pytest.mark.parametrize("name", ["trace.csv", "TRACE.CSV"])
def test_csv_reads_back_to_the_last_bit(tmp_path: Path, name: str) -> None:
    rows = list(trace(benchmark(team=2, horizon=15), "interview-screen"))
    assert write_trace(iter(rows), str(tmp_path / name)) == len(rows)
    with (tmp_path / name).open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [{**row, "output": float(row["output"]) if row["output"] else None} for row in read] == [
        {key: value if key == "output" else str(value) for key, value in row.items()} for row in rows
    ]


@pytest.mark.parametrize("name", ["trace.parquet", "trace.csv"])
def test_rows_are_never_all_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """While a row is produced, only rows of the current batch are alive."""
    monkeypatch.setattr(module, "ROWS_IN_A_BATCH", 10)
    alive = 0
    most = 0

    class Counted(dict[str, Any]):
        def __init__(self, row: Row) -> None:
            nonlocal alive, most
            super().__init__(row)
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    rows: Any = map(Counted, trace(benchmark(horizon=20), "keep-team"))
    assert write_trace(rows, tmp_path / name) == 200
    assert 10 <= most <= 20


@pytest.mark.parametrize("name", ["trace.parquet", "trace.csv"])
def test_an_interrupted_trace_leaves_the_old_file_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_trace(trace(SURE, "keep-team"), path)
    before = path.read_bytes()

    def interrupted() -> Iterator[Row]:
        yield from trace(SURE, "oracle")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_trace(interrupted(), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_a_bad_path_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "trace.parquet"):
        with pytest.raises(InvalidInput, match="a folder that exists"):
            write_trace(trace(SURE, "keep-team"), path)
