"""Estimates and radii against the plain formulas."""

import math
from itertools import pairwise

import numpy as np
import pytest

from crewlearn.beliefs.estimates import mean, no_data, record, variance, with_prior
from crewlearn.beliefs.radii import RADII, confidence_bounds, log_term, radius
from crewlearn.policies.contract import Situation
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster


def test_estimates_and_radii() -> None:
    """Running sums against the plain formulas; prior data count like observations of the largest spread."""
    rng = np.random.default_rng(3)
    drawn = rng.random(50)
    estimates = no_data(2)
    for output in drawn:
        record(estimates, 1, output)
    assert mean(estimates, 1) == pytest.approx(drawn.mean())
    assert variance(estimates, 1) == pytest.approx(drawn.var())
    assert variance(estimates, 0) == 0.0
    prior = with_prior(np.array([0, 4]), np.array([0.9, 0.25]))
    record(prior, 1, 1.0)
    assert (prior.counts[1], mean(prior, 0)) == (5, 0.0)
    assert mean(prior, 1) == pytest.approx(np.mean([0, 0, 0, 1, 1]))
    assert variance(prior, 1) == pytest.approx(np.var([0, 0, 0, 1, 1]))
    log_t = math.log(730)
    assert radius(RADII["log-T"], 50, 0.1, log_t) == pytest.approx(math.sqrt(log_t / 50))
    assert radius(RADII["log-T"], 0, 0.0, log_t) == math.inf
    assert radius(RADII["empirical-bernstein"], 400, 0.0, log_t) == pytest.approx(3 * log_t / 400)
    for n in (1, 5, 50):
        assert radius(RADII["empirical-bernstein"], n, 0.25, log_t) == pytest.approx(math.sqrt(log_t / n))


@pytest.mark.parametrize("name", RADII)
def test_bounds_lie_a_radius_from_the_mean_and_narrow_with_data(name: str) -> None:
    code, log_value = RADII[name], log_term(RADII[name], 730, 366)
    radii = [radius(code, n, 0.05, log_value) for n in (0, 1, 4, 50, 10_000)]
    assert radii[0] == math.inf
    assert all(later < earlier for earlier, later in pairwise(radii))
    estimates, ucb, lcb = no_data(2), np.empty(2), np.empty(2)
    for output in [0.2, 0.6] * 200:
        record(estimates, 1, output)
    confidence_bounds(code, estimates, log_value, ucb, lcb)
    width = radius(code, 400, 0.04, log_value)  # needs the variance, if the radius does
    assert ucb.tolist() == pytest.approx([math.inf, 0.4 + width])
    assert lcb.tolist() == pytest.approx([-math.inf, 0.4 - width])


def test_the_released_radius_knows_only_completed_periods() -> None:
    policy = DRUCB(radius="log-t")
    for period, log_value in ((1, 0.0), (2, 0.0), (3, math.log(2)), (366, math.log(365))):
        estimates = with_prior(np.array([4, 0]), np.array([0.5, 0.0]))
        situation = Situation.open_to_all(period, Setting(2, 1, 730, 5.0, 3.0), Roster.start(2, [0]), estimates)
        ucb, lcb = policy.bounds(situation)
        assert ucb.tolist() == pytest.approx([0.5 + math.sqrt(log_value / 4), math.inf])
        assert lcb.tolist() == pytest.approx([0.5 - math.sqrt(log_value / 4), -math.inf])
