"""The oracle on a changing floor: it values pairs as they play out, and no exchange of entrants would gain more."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crewlearn.engine.course import Course
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.baselines import Oracle
from crewlearn.policies.contract import Pair
from crewlearn.policies.foresight import ForesightMemory, fresh_foresight, gain_of_pair, look_ahead
from crewlearn.policies.registry import make_policy
from crewlearn.policies.rule import RuleFacts, facts_of
from crewlearn.problem.laws import FixedDelay, TruncatedNormalOutput, UniformDelay
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Drift, Presence, Ramp
from crewlearn.problem.recipes import Recipe

FLOOR = Problem(
    team=2,
    horizon=40,
    cost=0.4,
    workers=Pool((0.5, 0.6, 0.7, 0.65, 0.9)),
    delay=UniformDelay(1, 4),
    output=TruncatedNormalOutput(0.05, weekdays=(-0.1, 0.05, 0.1), shocks=((12, 16, -0.3),)),
    ramp=Ramp({"mean": 0.3, "sd": 0.1}, 5.0, (40, 3, 0, 6, 1)),
    drift=Drift(0.01, ((0, 8, -0.02, 0.6), (4, 20, -0.05, 0.1))),
    start=Start((0, 1), warmup=6),
)
"""A floor on which nothing is left to chance but noise, which does not count in net."""


def net_with(problem: Problem, run: int, asked: dict[int, Pair]) -> float:
    """Return the net of a run in which these pairs are asked for, by the policy's period."""
    course, net = Course(World(problem, 5, run)), 0.0
    for _ in range(problem.horizon):
        course.begin()
        arrivals, begun = 0, 0
        if course.t >= 1:
            begun = len(course.request([asked[course.t]] if course.t in asked else [])[0])
            arrivals = len(course.arrive(lambda incoming: -1).completed)
        work = course.work()
        if course.t >= 1:
            net += work.expected - problem.cost * (begun if problem.fee_due == "initiation" else arrivals)
    return net


def at_the_start(problem: Problem, run: int) -> tuple[ForesightMemory, RuleFacts]:
    """Return what the oracle knows in its first period."""
    course = Course(World(problem, 5, run), oracle=True)
    for _ in range(problem.warmup):
        course.begin()
        course.work()
    course.begin()
    facts = facts_of(Oracle(), course.situation())
    workers, periods = facts.hidden.foresight.levels.shape
    memory = fresh_foresight(workers, problem.team, periods)
    look_ahead(memory, facts.hidden.foresight, 1, facts.hidden.means)
    return memory, facts


@pytest.mark.parametrize("pair", [(0, 2), (0, 3), (1, 4), (1, 2)])
@pytest.mark.parametrize("period", [1, 4, 9])
def test_a_pair_is_worth_what_it_earns(pair: Pair, period: int) -> None:
    for run in range(3):
        memory, facts = at_the_start(FLOOR, run)
        earned = net_with(FLOOR, run, {period: pair}) - net_with(FLOOR, run, {})
        assert gain_of_pair(memory, facts, 1, period, *pair) == pytest.approx(earned)


@pytest.mark.parametrize("fee_due", ["initiation", "completion"])
def test_chances_to_decline_count_as_often_as_they_strike(fee_due: str) -> None:
    """The mean over 600 runs, within 5 standard errors: over fresh seeds one in a million such tests would fail."""
    problem = replace(FLOOR, presence=Presence(declines=0.3), fee_due=fee_due, delay=FixedDelay(2), drift=None)
    problem = replace(problem, ramp=Ramp(0.3, 5.0, (40, 3, 0, 6, 1)))
    memory, facts = at_the_start(problem, 0)
    earned = np.array([net_with(problem, run, {1: (0, 4)}) - net_with(problem, run, {}) for run in range(600)])
    error = earned.std() / np.sqrt(len(earned))
    assert abs(gain_of_pair(memory, facts, 1, 1, 0, 4) - earned.mean()) < 5 * error
    assert error > 0.0


def test_a_fee_due_at_completion_is_not_lost_on_those_who_decline() -> None:
    """A gain of 0.1 in 9 periods pays a fee of 0.8, but not if 3 of 10 fees are paid in vain."""
    base = Problem(
        1,
        10,
        0.8,
        Pool((0.5, 0.6)),
        FixedDelay(1),
        start=Start((0,)),
        presence=Presence(declines=0.3),
    )
    requested = {
        fee_due: sum(len(step.requested) for step in play(World(replace(base, fee_due=fee_due), 1, 0), Oracle()))
        for fee_due in ("initiation", "completion")
    }
    assert requested["initiation"] == 0
    assert requested["completion"] > 0


def pairs_asked_for(problem: Problem, run: int) -> list[Pair]:
    course = Course(World(problem, 5, run), oracle=True)
    course.begin()
    policy: Any = Oracle()
    situation = course.situation()
    return list(policy.decide(policy.start(situation, 0), situation)[0])


def test_no_exchange_of_entrants_gains_more() -> None:
    """Delays differ from pair to pair, so the best entrant of each is not the best for all."""
    pool = Recipe("uniform", 14, 0.5, 0.2, per_run=True, generator="counter")
    problem = Problem(
        5, 30, 0.3, pool, UniformDelay(0, 12), start=Start((0, 1, 2, 3, 4)), ramp=Ramp(0.3, 4.0), drift=Drift(0.01)
    )
    several = 0
    for run in range(40):
        memory, facts = at_the_start(problem, run)
        pairs = pairs_asked_for(problem, run)
        gains = {pair: gain_of_pair(memory, facts, 1, 1, *pair) for pair in pairs}
        assert all(gain > 0.0 for gain in gains.values())
        several += len(pairs) > 1
        for first in pairs:
            for second in pairs:
                crossed = [(first[0], second[1]), (second[0], first[1])]
                exchanged = sum(gain_of_pair(memory, facts, 1, 1, *pair) for pair in crossed)
                assert exchanged <= gains[first] + gains[second] + 1e-8
    assert several > 10


def test_it_makes_the_best_single_replacement() -> None:
    """By brute force over all periods and pairs, on floors of one station where one replacement is the best plan."""
    problem = replace(FLOOR, team=1, start=Start((0,)), drift=Drift(0.0, ((0, 8, -0.02, 0.6),)), cost=1.5)
    for run in range(4):
        single = max(
            net_with(problem, run, {period: (0, into)}) for period in range(1, problem.horizon) for into in range(1, 5)
        )
        oracle = sum(step.net for step in play(World(problem, 5, run), make_policy("oracle")))
        assert oracle == pytest.approx(max(single, net_with(problem, run, {})))
