"""Scripts: what is given of a floor replaces what would be drawn, interpreted and compiled alike."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crewlearn.engine.blocks import Block, play_block
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.registry import make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import GeometricDelay, NoDelay, TruncatedNormalOutput
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Presence
from crewlearn.problem.script import ABSENT, HERE, UNKNOWN, Script
from crewlearn.problem.toml import problem_to_table

PERIODS = 12
BASE = Problem(
    team=2,
    horizon=PERIODS,
    cost=0.5,
    workers=Pool((0.5, 0.6, 0.4, 0.7)),
    delay=NoDelay(),
    output=TruncatedNormalOutput(0.05),
    start=Start(stations=(0, 1)),
)


def scripted(**parts: Any) -> Problem:
    return replace(BASE, script=Script(**parts))


def test_levels_and_noise_are_as_given() -> None:
    levels = np.linspace(0.3, 0.6, 4 * PERIODS).reshape(4, PERIODS)
    noise = np.full((4, PERIODS), np.nan)
    noise[0, 3] = 0.125
    problem = scripted(levels=levels, noise=noise)
    steps = list(play(World(problem, 1, 0), KeepTeam()))
    assert steps[3].output[0] == levels[0, 3] + 0.125
    expected = levels[:2].sum() + 0.125  # given luck counts, drawn luck does not
    assert sum(step.net for step in steps) == pytest.approx(expected)
    block = Block(problem, KeepTeam(), 1, 0, 1, (PERIODS,))
    assert play_block(block).net[0, 0] == pytest.approx(expected, abs=1e-12)


def test_presence_leaves_and_joins_are_as_given() -> None:
    presence = np.full((4, PERIODS), UNKNOWN)
    presence[0] = HERE
    presence[0, 2] = ABSENT
    problem = replace(
        scripted(presence=presence, leaves=np.array([0, 5, 0, 0]), joins=np.array([0, 0, 0, 7])),
        presence=Presence(absence=0.0, quits=0.9),
    )
    course = list(play(World(problem, 1, 0), KeepTeam()))
    assert 0 in course[0].stations
    assert course[2].absent == (0,)
    assert all(0 in step.stations for step in course), "whoever was there on record does not quit by chance"
    assert all(3 not in step.stations for step in course[:6]), "nobody is hired before they join"
    gone = replace(scripted(leaves=np.array([0, 5, 0, 0])), presence=None)
    left = [step.period for step in play(World(gone, 1, 0), KeepTeam()) if 1 in step.quit]
    assert left == [5]


def test_empty_stations_are_refilled_for_those_whose_quits_are() -> None:
    start = Start(stations=(0, -1))
    kept = replace(BASE, start=start, script=Script(refill=True))
    assert all(len(step.output) == 2 for step in play(World(kept, 1, 0), KeepTeam()))
    empty = replace(BASE, start=start, script=Script())
    assert all(len(step.output) == 1 for step in play(World(empty, 1, 0), KeepTeam()))


def test_compiled_and_interpreted_agree() -> None:
    rng = np.random.default_rng(5)
    noise = np.where(rng.random((4, PERIODS)) < 0.5, rng.normal(0.0, 0.05, (4, PERIODS)), np.nan)
    problem = replace(
        scripted(
            levels=rng.uniform(0.3, 0.7, (4, PERIODS)),
            noise=noise,
            presence=rng.integers(-1, 2, (4, PERIODS)),
            leaves=np.array([0, 6, 0, 0]),
            joins=np.array([0, 0, 3, 0]),
            refill=True,
        ),
        delay=GeometricDelay(1.0),
        presence=Presence(absence=0.2, quits=0.05, declines=0.2),
    )
    for name in ("keep-team", "value-of-replacement"):
        policy = make_policy(name)
        compiled = play_block(Block(problem, policy, 3, 0, 4, (PERIODS,))).net[:, 0]
        interpreted = [sum(step.net for step in play(World(problem, 3, run), policy)) for run in range(4)]
        assert compiled.tolist() == pytest.approx(interpreted, abs=1e-12)


def test_a_script_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="script levels"):
        scripted(levels=np.zeros((4, 3)))
    with pytest.raises(InvalidInput, match="script leaves"):
        scripted(leaves=np.zeros(3, dtype=np.int64))
    with pytest.raises(InvalidInput, match="cannot be written"):
        problem_to_table(scripted())
