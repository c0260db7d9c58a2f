"""The bound never lies below the exact optimum of tiny problems, found by going through everything."""

from itertools import product

import numpy as np
import pytest

from crewlearn.problem.arrays import FloatArray
from crewlearn.study.limit.mean_law import MeanLaw
from crewlearn.study.limit.pools import Pools
from crewlearn.study.limit.relaxation import Relaxation
from crewlearn.study.limit.waiting import Waiting
from crewlearn.study.limit.worker import Terms
from support.exact_optimum import Tiny

HORIZON = 5
DELAYS: dict[str, tuple[Waiting, dict[int, float]]] = {
    "none": (Waiting(0, 0), {0: 1.0}),
    "one": (Waiting(1, 1), {1: 1.0}),
    "uniform": (Waiting(0, 2), {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}),
    "availability": (Waiting(1, 1, np.array([0.6])), {d: 0.6 * 0.4 ** (d - 1) for d in range(1, 5)} | {9: 0.4**4}),
    "failures": (Waiting(0, 0, np.array([0.5])), {d: 0.5 ** (d + 1) for d in range(5)} | {9: 0.5**5}),
}
MEANS = {0.25: 0.6, 0.875: 0.4}  # both are among the levels that stand for unknown means, so expectations are exact


def two_points() -> MeanLaw:
    def below(levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        mass = sum(chance * (levels >= mean) for mean, chance in MEANS.items())
        moment = sum(mean * chance * (levels >= mean) for mean, chance in MEANS.items())
        return np.asarray(mass, dtype=float), np.asarray(moment, dtype=float)

    return MeanLaw(("two points",), below)


def bounds_of(tiny: Tiny, waiting: Waiting) -> tuple[float, float, float]:
    """Return the penalised bound, that without foresight and that without penalty, averaged over all pools exactly."""
    every = list(product(MEANS.items(), repeat=tiny.workers))
    levels = np.array([[mean for mean, _ in pool] for pool in every])
    chances = np.array([np.prod([chance for _, chance in pool]) for pool in every])
    in_team = np.tile(np.arange(tiny.workers) < tiny.team, (len(every), 1))
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
    pools = Pools(levels, in_team, ~in_team)
    strangers, prices = relaxed.strangers_prices(pools)
    penalised = relaxed.penalised_values(pools, prices, relaxed.first_rewards(pools, prices))
    foresight = relaxed.penalised_values(Pools(levels, in_team, np.zeros_like(in_team)), prices, None)
    return float(chances @ penalised), float(chances @ strangers), float(chances @ foresight)


@pytest.mark.parametrize("at_completion", [False, True])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("delay", list(DELAYS))
@pytest.mark.parametrize(("workers", "team", "cost"), [(2, 1, 0.3), (3, 1, 0.05), (3, 1, 0.6), (3, 2, 0.2)])
def test_no_policy_earns_more(
    workers: int, team: int, cost: float, delay: str, named: bool, at_completion: bool
) -> None:
    waiting, chances = DELAYS[delay]
    horizon = HORIZON if team == 1 else 3
    tiny = Tiny(workers, team, horizon, cost, MEANS, chances, named, at_completion)
    optimum = tiny.optimum()
    for bound in bounds_of(tiny, waiting):
        assert bound >= optimum - 1e-9


def test_the_bound_is_close_where_little_was_relaxed() -> None:
    """With one worker outside, one station and no delay, only the first team's means are told a period too early."""
    tiny = Tiny(2, 1, HORIZON, 0.3, MEANS, {0: 1.0})
    penalised, _, foresight = bounds_of(tiny, Waiting(0, 0))
    optimum = tiny.optimum()
    assert optimum - 1e-9 <= penalised <= optimum + 0.15
    assert penalised <= foresight + 1e-9


def test_leaving_late_earns_no_more_than_leaving_open() -> None:
    """A policy may name the leaver with the hire even if it need not."""
    waiting, chances = DELAYS["availability"]
    optima = [Tiny(3, 1, HORIZON, 0.1, MEANS, chances, named).optimum() for named in (True, False)]
    assert optima[0] <= optima[1] + 1e-12
    bounds = [bounds_of(Tiny(3, 1, HORIZON, 0.1, MEANS, chances, named), waiting)[0] for named in (True, False)]
    assert bounds[0] <= bounds[1] + 0.02  # each is a minimum that was searched for
