"""Floors on which people and days change: compiled and interpreted runs agree, and neutral tables change nothing."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from crewlearn.engine.blocks import Block, BlockResult, blocks_of, empty_tally, play_block, play_compiled, worlds_of
from crewlearn.engine.compiled import kernel
from crewlearn.engine.interpreted import Step, play
from crewlearn.engine.local import simulate
from crewlearn.engine.results import same_numbers
from crewlearn.engine.world import World
from crewlearn.policies.brakes import Braked
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.chance import unit
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import BernoulliOutput, BetaOutput, GeometricDelay, OutputLaw, UniformOutput
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Presence, Ramp
from crewlearn.problem.recipes import Estimated
from support.floors import ALONE, NEUTRAL, QUIET, TOGETHER

SPECS = [
    *REGISTRY,
    "dr-ucb:frontier_cap=4,gamma=1",
    "dr-ucb+late-pairing:selection=top-m,gamma=2",
    "a-aht:begin=clean",
    "value-of-replacement-evolving:ramp_depth=0.25,ramp_days=5,noise_sd=0",
    "value-of-replacement-evolving:centre=0.3,between_sd=0.05,ramp_days=3,margin=0",
]
ORDER = (kernel.QUIT, kernel.REQUEST, kernel.ARRIVAL, kernel.LAPSE, kernel.DECLINE)
THREE = ("dr-ucb:gamma=1", "value-of-replacement", "a-omm")
LEARNER = "value-of-replacement-evolving"


@dataclass(frozen=True)
class LikeUniform(OutputLaw):
    """Draws what `UniformOutput` does."""

    half_width: float
    law: ClassVar[str] = "like-uniform"

    @staticmethod
    def draw(numbers: Any, centre: float, room: float, key: int) -> float:
        half_width: float = min(numbers.half_width, room)
        return centre + half_width * (2.0 * unit(key) - 1.0)


def compare(problem: Problem, policy: Policy[Any]) -> None:
    """Play two runs compiled and interpreted; every event and every number must be the same."""
    seed, first, count = 2**64 - 5, 3, 2
    block = Block(problem, policy, seed, first, count, (problem.warmup + 1, problem.horizon))
    tally = empty_tally(block, workers=problem.setting.workers, events=50_000)
    play_compiled(block, *worlds_of(block), tally)
    logged = [tuple(row) for row in tally.log[: tally.logged[0]].tolist() if row[2] != kernel.DECISION]
    logged.sort(key=lambda row: (*row[:2], ORDER.index(row[2])))  # hires that end are logged as they were due
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
    """Return what the compiled loop would log, from the steps of an interpreted run; by kind within a period."""
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
@pytest.mark.parametrize("spec", [*THREE, LEARNER])
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


@pytest.mark.parametrize(("least_tenure", "most_a_week"), [(0, 1), (8, None), (15, 2), (0, 0)])
@pytest.mark.parametrize("spec", [*THREE, "oracle"])
def test_compiled_and_interpreted_runs_agree_with_brakes(spec: str, least_tenure: int, most_a_week: int | None) -> None:
    braked = Braked(make_policy(spec), least_tenure, most_a_week)
    compare(TOGETHER, braked)
    compare(QUIET, braked)


OTHERS = {
    "a large team": benchmark(10, horizon=90),
    "empty stations": Problem(
        4,
        60,
        1.0,
        Estimated((0.3, 0.4, 0.5, 0.6, 0.7, 0.5, 0.5, 0.9), (0.0, 0.02, 0.05, 0.1, 0.1, 0.2, 0.3, 0.1)),
        GeometricDelay(2.0),
        BetaOutput(5.0, day_effect_sd=0.1),
        fee_due="completion",
        start=Start((2, -1, 0, -1), may_enter=(True,) * 7 + (False,), may_leave=(False,) + (True,) * 7),
    ),
    "prior data": Problem(
        2,
        60,
        0.3,
        Pool((0.2, 0.8, 0.5, 0.9), (9, 0, 3, 30), (0.2, 0.0, 0.6, 0.9)),
        GeometricDelay(1.0),
        BernoulliOutput(),
    ),
    "the floor without tables": QUIET,
}


@pytest.mark.parametrize("problem", OTHERS)
@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec != "oracle"])
def test_brakes_that_never_bind_change_no_bit(spec: str, problem: str) -> None:
    """The loop of changing floors plays quiet worlds as the other loop does; only the oracle plans otherwise."""
    policy, quiet = make_policy(spec), OTHERS[problem]
    plain, braked = (
        play_block(Block(quiet, player, 7, 2, 3, (5, quiet.horizon))) for player in (policy, Braked(policy, 0, 10**6))
    )
    for field in fields(BlockResult):
        assert np.array_equal(getattr(plain, field.name), getattr(braked, field.name)), field.name


def test_tables_at_neutral_values_give_the_bits_of_the_quiet_world() -> None:
    assert not NEUTRAL.changes
    names = list(REGISTRY)
    assert same_numbers(simulate(NEUTRAL, names, 5, threads=1), simulate(QUIET, names, 5, threads=1))


@pytest.mark.parametrize(
    "neutral",
    [
        {"ramp": Ramp(0.0, 4.0, "none")},
        {"ramp": Ramp({"mean": 0.0, "sd": 0.0}, 4.0, "none")},
        {"ramp": Ramp((0.0, 0.0), 4.0, "none")},
        {"presence": Presence()},
        {"output": NEUTRAL.output},
        {"drift": NEUTRAL.drift},
    ],
    ids=str,
)
def test_a_neutral_table_among_others_changes_no_bit(neutral: dict[str, Any]) -> None:
    """With a warm-up both worlds are played in the loop of changing floors."""
    worlds = [replace(QUIET, start=Start((0, 1, 2, 3), warmup=20), **tables) for tables in ({}, neutral)]
    first, second = (simulate(world, ["dr-ucb:gamma=1", "oracle"], 4, threads=1) for world in worlds)
    assert same_numbers(first, second)


def test_an_output_law_like_a_built_in_one_is_played_like_it() -> None:
    """Own laws are played in the loop of changing floors, where the oracle of a quiet world decides once, as ever."""
    world = replace(QUIET, output=UniformOutput(0.2))
    like = replace(QUIET, output=LikeUniform(0.2))
    assert not like.changes
    first, second = (simulate(problem, ["oracle"], 4, threads=1).policies["oracle"] for problem in (world, like))
    assert np.array_equal(first.regret, second.regret)
    assert np.array_equal(first.replacements, second.replacements)
    assert first.replacements.all()
    compare(like, make_policy("oracle"))


def test_threads_and_blocks_do_not_matter() -> None:
    results = [simulate(TOGETHER, ["dr-ucb:gamma=1", "keep-team"], 150, threads=threads) for threads in (1, 2)]
    assert same_numbers(*results)
    part = play_block(Block(TOGETHER, make_policy("dr-ucb:gamma=1"), 1, 100, 7, (60,)))
    assert np.array_equal(part.net, results[0].policies["dr-ucb:gamma=1"].net[100:107])
