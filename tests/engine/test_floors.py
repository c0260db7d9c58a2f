"""Floors on which people and days change: compiled and interpreted runs agree, and neutral tables change nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crewlearn.engine.blocks import Block, blocks_of, empty_tally, play_block, play_compiled, worlds_of
from crewlearn.engine.compiled import kernel
from crewlearn.engine.interpreted import Step, play
from crewlearn.engine.world import World
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.model import Problem
from support.floors import ALONE, QUIET, TOGETHER

SPECS = [*REGISTRY, "dr-ucb:frontier_cap=4,gamma=1", "dr-ucb+late-pairing:selection=top-m,gamma=2", "a-aht:begin=clean"]
THREE = ("dr-ucb:gamma=1", "value-of-replacement", "a-omm")


def compare(problem: Problem, policy: Policy[Any]) -> None:
    """Play two runs compiled and interpreted; every event and every number must be the same."""
    seed, first, count = 2**64 - 5, 3, 2
    block = Block(problem, policy, seed, first, count, (problem.warmup + 1, problem.horizon))
    tally = empty_tally(block, workers=problem.setting.workers, events=50_000)
    play_compiled(block, *worlds_of(block), tally)
    logged = [tuple(row) for row in tally.log[: tally.logged[0]].tolist() if row[2] != kernel.DECISION]
    expected = []
    for index in range(count):
        steps = list(play(World(problem, seed, first + index), policy))
        expected += events_of(first + index, steps)
        assert tally.curve[index].tolist() == np.cumsum([step.regret for step in steps]).tolist()
        assert tally.net[index].tolist() == np.cumsum([step.net for step in steps]).tolist()
        assert tally.ideal[index].tolist() == np.cumsum([step.best for step in steps]).tolist()
        assert tally.regret[index].tolist() == [tally.curve[index, period - 1] for period in block.at]
        assert tally.initiated[index] == sum(len(step.requested) for step in steps)
        assert tally.completed[index] == sum(len(step.completed) for step in steps)
        sums = problem.seen_before()[1]
        for step in steps:
            for worker, output in step.output.items():
                sums[worker] += output
        assert tally.sums[index].tolist() == sums.tolist()
    assert logged == expected


def events_of(run: int, steps: list[Step]) -> list[tuple[int, ...]]:
    """Return what the compiled loop would log, from the steps of an interpreted run.

    Within a period hires that end come in the order in which they were due, so they are compared sorted by kind.
    """
    events: list[tuple[int, ...]] = []
    for step in steps:
        events += [(run, step.period, kernel.QUIT, worker, -1) for worker in step.quit]
        kinds = (
            (kernel.REQUEST, step.requested),
            (kernel.ARRIVAL, step.completed),
            (kernel.LAPSE, step.failed),
            (kernel.DECLINE, step.declined),
        )
        for kind, pairs in kinds:
            events += [(run, step.period, kind, out, into) for out, into in pairs]
    return events


@pytest.mark.parametrize("spec", SPECS)
def test_compiled_and_interpreted_runs_agree_with_all_tables(spec: str) -> None:
    for conventions in ("as-written", "as-released"):
        compare(TOGETHER, make_policy(spec, conventions))
    compare(replace(TOGETHER, fee_due="completion"), make_policy(spec))


@pytest.mark.parametrize("table", ALONE)
@pytest.mark.parametrize("spec", THREE)
def test_compiled_and_interpreted_runs_agree_with_each_table(spec: str, table: str) -> None:
    changed = replace(QUIET, **ALONE[table])
    if changed.changes:
        compare(changed, make_policy(spec))
    else:
        assert table == "stars"
        block = blocks_of(changed, make_policy(spec), 2, 7, (60,))[0]
        curves = [
            np.cumsum([step.regret for step in play(World(changed, 7, run), make_policy(spec))]) for run in (0, 1)
        ]
        assert play_block(block).regret[:, 0].tolist() == [curve[-1] for curve in curves]
