"""Value of replacement against exact dynamic programming on tiny problems."""

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

from crewlearn.beliefs.estimates import Estimates, no_data
from crewlearn.policies.value.policy import ValueOfReplacement
from crewlearn.problem.model import Setting
from support.value_site import POLICY, situation

PRIORS = {"uniform": (1.0, 1.0), "arcsine": (0.5, 0.5), "peaked": (2.0, 2.0)}
Data = tuple[tuple[int, int], ...]
"""Successes and failures of each of three workers."""


def expected_output(
    prior: tuple[float, float],
    horizon: int,
    cost: float,
    choose: Callable[[int, int, Data], int] | None = None,
    *,
    last_period: bool = False,
) -> float:
    """Return the expected output less fees of a policy, or of the optimum (one station, three workers, 0/1, no delay).

    As everywhere, nothing is initiated in the last period, unless `last_period` says so.
    """

    @functools.cache
    def from_here(period: int, active: int, data: Data) -> float:
        if period > horizon:
            return 0.0

        def working(worker: int) -> float:
            won, lost = data[worker]
            chance = (prior[0] + won) / (prior[0] + prior[1] + won + lost)
            after = [*data], [*data]
            after[0][worker], after[1][worker] = (won + 1, lost), (won, lost + 1)
            success, failure = (from_here(period + 1, worker, tuple(then)) for then in after)
            return chance * (1.0 + success) + (1.0 - chance) * failure - (cost if worker != active else 0.0)

        if choose is not None:
            return working(choose(period, active, data))
        return max(working(worker) for worker in (range(3) if period < horizon or last_period else (active,)))

    return from_here(1, 0, ((0, 0),) * 3)


def chosen_by(policy: ValueOfReplacement, horizon: int, cost: float) -> Callable[[int, int, Data], int]:
    """Return the policy's choice of the next worker, as a function of the observations."""
    setting = Setting(3, 1, horizon, cost, 0.0)

    def choose(period: int, active: int, data: Data) -> int:
        sums = np.array([float(won) for won, _ in data])
        estimates = Estimates(np.array([won + lost for won, lost in data]), sums, sums.copy())
        state = policy.start(situation(setting, [active], no_data(3)), 1)
        pairs, _ = policy.decide(state, situation(setting, [active], estimates, period))
        return pairs[0][1] if pairs else active

    return choose


def told_of(prior: tuple[float, float]) -> ValueOfReplacement:
    """The bare rule, told the first two moments of a beta prior and its mean noise."""
    total = sum(prior)
    centre = prior[0] / total
    between = centre * (1.0 - centre) / (total + 1.0)
    noise = centre * (1.0 - centre) - between
    return ValueOfReplacement(margin=0.0, centre=centre, between_sd=math.sqrt(between), noise_sd=math.sqrt(noise))


@pytest.mark.parametrize("cost", [0.0, 0.1, 0.3, 0.6, 1.0, 2.5])
@pytest.mark.parametrize("horizon", [2, 4, 6, 8])
@pytest.mark.parametrize("prior", list(PRIORS))
def test_gap_to_exact_dynamic_programming(
    prior: str, horizon: int, cost: float, record_property: Callable[[str, object], None]
) -> None:
    """No policy beats the optimum; ours is never worse than keeping and, told the prior, close to the optimum."""
    law = PRIORS[prior]
    best, keep = expected_output(law, horizon, cost), horizon * law[0] / sum(law)
    told, learned = (
        expected_output(law, horizon, cost, chosen_by(policy, horizon, cost)) for policy in (told_of(law), POLICY)
    )
    record_property("gap", {"told": best - told, "learned": best - learned, "at stake": best - keep})
    assert keep - 1e-12 <= learned <= best + 1e-12
    assert keep - 1e-12 <= told <= best + 1e-12
    assert best - told <= 0.05


def test_only_without_a_fee_does_the_last_period_change_the_optimum() -> None:
    """The numbers of docs/theory/value-of-replacement.md: T = 8, uniform prior, with and without the last period."""
    uniform = PRIORS["uniform"]
    for cost, optimum in {0.0: 5.032, 0.1: 4.881, 0.3: 4.652, 0.6: 4.395, 1.0: 4.167}.items():
        assert round(expected_output(uniform, 8, cost, last_period=True), 3) == optimum
    assert round(expected_output(uniform, 8, 0.0), 3) == 5.026
    assert round(expected_output(uniform, 8, 0.1), 3) == 4.881
