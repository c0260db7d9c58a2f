"""Compiled and interpreted runs agree in every decision and every number, for every registered policy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.radii import RADII
from crewlearn.engine.blocks import Block, empty_tally, play_compiled, worlds_of
from crewlearn.engine.compiled import kernel
from crewlearn.engine.interpreted import Step, play
from crewlearn.engine.world import World
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import (
    AvailabilityDelay,
    BernoulliOutput,
    BetaOutput,
    FixedDelay,
    GeometricDelay,
    NoDelay,
    OutputLaw,
    TruncatedNormalOutput,
    UniformDelay,
    UniformOutput,
)
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.recipes import Estimated, Recipe
from support.laws import OUTPUT_EXAMPLES

PROBLEMS = {
    "paper": benchmark(10, "as-released", horizon=300),
    "one station": Problem(
        1, 120, 0.5, Recipe("uniform", 6, 0.5, 0.2, per_run=True), UniformDelay(0, 9), BernoulliOutput()
    ),
    "all but one": Problem(4, 150, 2.0, Pool((0.1, 0.9, 0.5, 0.4, 0.6)), NoDelay(), BetaOutput(3.0, day_effect_sd=0.1)),
    "prior data": Problem(
        3,
        150,
        6.0,
        Pool((0.2, 0.3, 0.9, 0.8, 0.4, 0.7), prior_n=(0, 30, 5, 0, 200, 12), prior_mean=(0.0, 0.3, 0.8, 0.0, 0.4, 0.7)),
        AvailabilityDelay((0.2, 0.5, 0.9, 0.1, 1.0, 0.3)),
        TruncatedNormalOutput(0.3, day_effect_sd=0.2),
        fee_due="completion",
    ),
    "dear": benchmark(5, "as-written", horizon=200, cost=60.0),
    "one period": Problem(2, 1, 1.0, Pool((0.1, 0.2, 0.3)), FixedDelay(2), UniformOutput()),
    "begun": Problem(
        4,
        150,
        1.0,
        Estimated((0.3, 0.4, 0.5, 0.6, 0.7, 0.5, 0.5, 0.9), (0.0, 0.02, 0.05, 0.1, 0.1, 0.2, 0.3, 0.1)),
        GeometricDelay(2.0),
        TruncatedNormalOutput(0.15, day_effect_sd=0.05),
        start=Start(
            stations=(2, -1, 0, -1),
            counts=(60, 30, 40, 5, 4, 1, 0, 3),
            sums=(18.5, 12.25, 20.0, 3.5, 2.8, 0.45, 0.0, 2.7),
            squares=(7.1, 5.6, 11.0, 2.6, 2.8, 0.2025, 0.0, 2.5),
            may_enter=(True, True, True, True, True, True, True, False),
            may_leave=(False, True, True, True, True, True, True, True),
        ),
    ),
    "more stations than people": Problem(
        5, 60, 0.2, Pool((0.2, 0.8, 0.5)), UniformDelay(0, 4), UniformOutput(0.3), start=Start((-1, 0, -1, -1, -1))
    ),
    "slow": Problem(6, 250, 0.3, Recipe("clipped-normal", 14, seed=3), GeometricDelay(25.0), UniformOutput(0.4)),
}
SPECS = [
    *REGISTRY,
    "dr-ucb:gamma=2,always_build_frontier=true",
    "dr-ucb:frontier_cap=4,gamma=1",
    "dr-ucb+fixed-calendar:gamma=3,pairing=random",
    "dr-ucb+late-pairing:selection=top-m,gamma=2",
    "a-aht:begin=as-released",
    "a-aht:begin=clean",
    "epsilon-greedy:decay=exponential,half_life=9",
    "threshold:level=0.7,trial=3",
    "fixed-schedule-greedy:every=7",
    "work-trial:trial=11,rho=-0.5",
    "thompson:resample=every-period",
    "knowledge-gradient:look=none",
]


def events_of(run: int, steps: list[Step]) -> list[tuple[int, ...]]:
    """Return what the compiled loop would log, from the steps of an interpreted run."""
    events: list[tuple[int, ...]] = []
    for step in steps:
        kinds = ((kernel.REQUEST, step.requested), (kernel.ARRIVAL, step.completed), (kernel.LAPSE, step.failed))
        for kind, pairs in kinds:
            events += [(run, step.period, kind, out, into) for out, into in pairs]
    return events


@pytest.mark.parametrize("problem", list(PROBLEMS))
@pytest.mark.parametrize("spec", SPECS)
def test_compiled_and_interpreted_runs_agree(spec: str, problem: str) -> None:
    for conventions in ("as-written", "as-released"):
        compare(PROBLEMS[problem], make_policy(spec, conventions))


@pytest.mark.parametrize("law", OUTPUT_EXAMPLES, ids=str)
def test_every_output_law_is_drawn_alike(law: OutputLaw) -> None:
    output = replace(law, day_effect_sd=0.1)
    compare(Problem(2, 80, 0.5, Pool((0.1, 0.9, 0.5, 0.4)), GeometricDelay(2.0), output), make_policy("dr-ucb"))


@pytest.mark.parametrize("radius", RADII)
def test_every_radius_is_computed_alike(radius: str) -> None:
    compare(PROBLEMS["paper"], make_policy(f"dr-ucb:radius={radius}"))


def compare(problem: Problem, policy: Any) -> None:
    seed, first, count = 2**64 - 5, 3, 2
    block = Block(problem, policy, seed, first, count, (1, problem.horizon) if problem.horizon > 1 else (1,))
    tally = empty_tally(block, workers=problem.setting.workers, events=50_000)
    play_compiled(block, *worlds_of(block), tally)
    logged = [tuple(row) for row in tally.log[: tally.logged[0]].tolist() if row[2] != kernel.DECISION]
    expected = []
    for index in range(count):
        world = World(problem, seed, first + index)
        steps = list(play(world, policy))
        expected += events_of(first + index, steps)
        assert tally.curve[index].tolist() == np.cumsum([step.regret for step in steps]).tolist()
        assert tally.regret[index].tolist() == [tally.curve[index, period - 1] for period in block.at]
        assert tally.initiated[index] == sum(len(step.requested) for step in steps)
        assert tally.completed[index] == sum(len(step.completed) for step in steps)
        sums = problem.seen_before()[1]
        for step in steps:
            for worker, output in step.output.items():
                sums[worker] += output
        assert tally.sums[index].tolist() == sums.tolist()
    assert logged == expected
