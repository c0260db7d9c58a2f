"""Conformance of every registered policy to the contract.

`test_paths` tests live policies on random paths with failed pairs, leavers, newcomers and revised settings;
`test_match` tests that compiled and interpreted runs agree.
"""

import dataclasses
from typing import Any

import pytest

from crewlearn import check_policy
from crewlearn.engine import course
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.contract import Situation
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import BernoulliOutput, FixedDelay, GeometricDelay, NoDelay
from crewlearn.problem.model import CONVENTIONS, Pool, Problem, Start
from crewlearn.problem.people import Presence
from support.floors import TOGETHER

FLOOR = Problem(
    3,
    110,
    0.3,
    Pool((0.2, 0.3, 0.25, 0.8, 0.9, 0.7, 0.6, 0.5, 0.55, 0.65)),
    FixedDelay(1),
    start=Start((0, 1, 2)),
    presence=Presence(absence=0.15, quit_at=(15, 45, 80), declines=0.2),
)
"""A floor on which people are absent, quit and decline."""

PROBLEMS = {
    "benchmark": benchmark(10, "as-released", horizon=60),
    "k = m + 1": Problem(4, 60, 1.0, Pool((0.9, 0.1, 0.5, 0.7, 0.6)), GeometricDelay(2.0)),
    "m = 1": Problem(1, 60, 0.5, Pool((0.2, 0.8, 0.5)), GeometricDelay(1.0), BernoulliOutput()),
    "prior data": Problem(
        2, 60, 1.0, Pool((0.2, 0.8, 0.5, 0.9), (40, 0, 3, 100), (0.2, 0.0, 0.6, 0.9)), GeometricDelay(3.0)
    ),
    "one period": Problem(2, 1, 1.0, Pool((0.2, 0.8, 0.5)), NoDelay()),
    "no fee, no delay": Problem(2, 50, 0.0, Pool((0.2, 0.8, 0.5, 0.4)), NoDelay()),
    "floor": FLOOR,
    "all tables": TOGETHER,
}

DISTINCT = pytest.mark.parametrize(
    ("name", "conventions"),
    [
        (name, conventions)
        for name in REGISTRY
        for conventions in CONVENTIONS
        if conventions == CONVENTIONS[0] or make_policy(name, conventions) != make_policy(name, CONVENTIONS[0])
    ],
)
"""Every policy, once for conventions that make it the same."""


@DISTINCT
def test_conformance(name: str, conventions: str) -> None:
    policy = make_policy(name, conventions)
    assert policy.name == name
    assert policy == make_policy(name, conventions)
    assert hash(policy) == hash(make_policy(name, conventions))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(policy, "name", "other")  # noqa: B010  # an assignment would not pass the type check
    check_policy(policy, PROBLEMS.values())


@pytest.mark.parametrize("problem", list(PROBLEMS))
@pytest.mark.parametrize("name", list(REGISTRY))
def test_only_an_oracle_is_shown_what_is_hidden(name: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Situation] = []

    def watched(*arguments: Any) -> Situation:
        shown.append(Situation(*arguments))
        return shown[-1]

    for policy in dict.fromkeys(make_policy(name, conventions) for conventions in CONVENTIONS):
        world = World(PROBLEMS[problem], seed=8, run=1)
        with monkeypatch.context() as patch:
            patch.setattr(course, "Situation", watched)
            steps = list(play(world, policy))  # a request that is not legal raises
        assert steps == list(play(world, policy))  # deterministic
        assert len(steps) == PROBLEMS[problem].horizon
        assert len(shown) > PROBLEMS[problem].horizon - PROBLEMS[problem].warmup
        assert all((situation.hidden is not None) == policy.oracle for situation in shown)
        shown.clear()


@DISTINCT
def test_nobody_waits_for_ever_for_who_is_absent_or_gone(name: str, conventions: str) -> None:
    """A place that somebody quit is filled, by the policy or under keep-team by the simulation.

    An offer takes a period and is declined with chance 0.2. So ten in a row are declined once in ten million times.
    """
    for run in range(3):
        steps = list(play(World(FLOOR, 1, run), make_policy(name, conventions)))
        assert sum(len(step.quit) for step in steps) == 3
        empty = longest = 0
        for step in steps:
            empty = empty + 1 if NOBODY in step.stations else 0
            longest = max(longest, empty)
        assert longest <= 20
        assert len(steps[-1].output) + len(steps[-1].absent) == 3


@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in ("keep-team", "interview-screen")])
def test_a_clearly_better_worker_outside_ends_up_in_the_team(name: str) -> None:
    """With low fees, delays and noise, every policy that learns, and the oracle, finds the good workers."""
    problem = Problem(2, 600, 0.05, Pool((0.1, 0.9, 0.15, 0.85)), NoDelay())
    reached = list[bool]()
    while reached.count(False) <= 2 and reached.count(True) < 4:  # four of at most six worlds
        steps = list(play(World(problem, 3, run=len(reached)), make_policy(name)))
        reached.append(set(steps[-1].stations) == {1, 3})
    assert reached.count(True) == 4, reached
