"""With 0/1 output, too, the bound never lies below the exact optimum of tiny problems."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import BernoulliOutput
from crewlearn.study.limit.bound import limit
from crewlearn.study.limit.gradual import Gradual
from crewlearn.study.limit.lessons import Lessons
from crewlearn.study.limit.pools import Pools
from crewlearn.study.limit.relaxation import FINE, Relaxation
from crewlearn.study.limit.waiting import Waiting
from crewlearn.study.limit.worker import Terms
from support.exact_optimum import TinyFlips

from .test_optimum import DELAYS, MEANS, two_points


def bound_of(tiny: TinyFlips, waiting: Waiting, count: int, price: float) -> float:
    """Return the bound with so many lessons, averaged over all pools and outputs exactly."""
    fates = [  # a worker's mean and days, with their chance
        (mean, won, chance * np.prod([mean if day else 1.0 - mean for day in won]))
        for mean, chance in MEANS.items()
        for won in product((False, True), repeat=count - 1)
    ]
    every = list(product(fates, repeat=tiny.workers))
    levels = np.array([[mean for mean, _, _ in pool] for pool in every])
    won = np.array([[days for _, days, _ in pool] for pool in every], dtype=np.bool_)
    chances = np.array([np.prod([chance for _, _, chance in pool]) for pool in every])
    success = None if waiting.success is None else np.repeat(waiting.success, tiny.workers)
    relaxed = Relaxation(
        tiny.horizon,
        tiny.team,
        Terms(tiny.cost, tiny.at_completion, Waiting(waiting.low, waiting.high, success), tiny.named),
        (two_points(),),
        np.zeros(tiny.workers, dtype=np.int64),
        waiting.success,
        may_be_empty=False,
    )
    in_team = np.tile(np.arange(tiny.workers) < tiny.team, (len(every), 1))
    pools = Pools(levels, in_team, np.ones_like(in_team))
    problem = replace(benchmark(), output=BernoulliOutput())  # serves draws only, and none is made
    gradual = Gradual(problem, [], relaxed, 1, (Lessons(two_points(), count, FINE),), price)
    yields = gradual.rewards(pools, won.reshape(len(every), tiny.workers, count - 1))
    return float(chances @ gradual.penalised_values(pools, yields, 80))


@pytest.mark.parametrize("at_completion", [False, True])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("delay", list(DELAYS))
@pytest.mark.parametrize(("workers", "team", "cost", "lessons"), [(2, 1, 0.05, 4), (3, 1, 0.3, 2), (3, 2, 0.1, 2)])
def test_no_policy_earns_more(
    workers: int, team: int, cost: float, lessons: int, delay: str, named: bool, at_completion: bool
) -> None:
    waiting, chances = DELAYS[delay]
    tiny = TinyFlips(workers, team, 4 if team == 1 else 3, cost, MEANS, chances, named, at_completion)
    optimum = tiny.optimum()
    for price in (0.4, 0.7):
        assert bound_of(tiny, waiting, lessons, price) >= optimum - 1e-9


def test_the_bound_is_close_and_more_lessons_bring_it_closer() -> None:
    tiny = TinyFlips(2, 1, 5, 0.2, MEANS, {0: 1.0})
    optimum, waiting = tiny.optimum(), Waiting(0, 0)
    told_at_once, day_by_day = (bound_of(tiny, waiting, lessons, 0.5) for lessons in (1, 5))
    assert optimum - 1e-9 <= day_by_day <= optimum + 0.1 < told_at_once


def test_learning_from_0_1_output_costs_more_than_from_one_day() -> None:
    """The same pools, with the same fees and delays: the bound on regret is higher where a day tells less."""
    quick = replace(benchmark(horizon=20), cost=0.2)
    slow = replace(quick, output=BernoulliOutput())
    assert limit(slow, 4).regrets.mean() > limit(quick, 4).regrets.mean()
