"""The posterior of the pool and of each worker, against brute force."""

import dataclasses
import math

import numpy as np
import pytest

from crewlearn.beliefs.estimates import Prior, grown, no_data, record, with_prior
from crewlearn.beliefs.posterior import (
    BETWEEN,
    CENTRE,
    CENTRE_DOUBT,
    LEARN,
    NARROWEST,
    NOISE,
    SPREADS,
    Assumed,
    fresh_beliefs,
    learn,
)
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.value.policy import ValueOfReplacement
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.laws import BernoulliOutput, NoDelay
from crewlearn.problem.model import Problem, Setting
from crewlearn.problem.recipes import Recipe
from support.value_site import POLICY, seen, situation


def brute_force(averages: FloatArray, counts: IntArray, noise: float) -> tuple[float, float, float]:
    """Centre, variance between workers, and that of the centre, by full covariance matrices and the centre's prior."""
    spreads = NARROWEST * math.sqrt(2.0) ** np.arange(SPREADS)
    logs, centres, doubts = [], [], []
    for spread in spreads:
        covariance = np.diag(spread**2 + noise / counts) + 0.3**2
        off = averages - 0.5
        logs.append(-0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off)))
        precisions = 1.0 / (spread**2 + noise / counts)
        centres.append((0.5 / 0.09 + averages @ precisions) / (1.0 / 0.09 + precisions.sum()))
        doubts.append(1.0 / (1.0 / 0.09 + precisions.sum()))
    shares = np.exp(np.array(logs) - max(logs))
    shares /= shares.sum()
    centre = float(shares @ np.array(centres))
    doubt = float(shares @ (np.array(doubts) + (np.array(centres) - centre) ** 2))
    return centre, float(shares @ spreads**2), doubt


@pytest.mark.parametrize(("k", "tried", "between"), [(4, 1, 0.1), (12, 12, 0.3), (400, 300, 0.05), (9, 0, 0.1)])
def test_the_pool_is_learned_as_by_brute_force(k: int, tried: int, between: float) -> None:
    rng = np.random.default_rng(k)
    estimates = no_data(k)
    for worker in range(tried):
        mean = rng.normal(0.6, between)
        for _ in range(int(rng.integers(1, 40))):
            record(estimates, worker, float(np.clip(mean + rng.normal(0.0, 0.2), 0.0, 1.0)))
    beliefs = fresh_beliefs(np.zeros(k, dtype=np.int64), np.zeros(k))
    learn(beliefs, estimates, Assumed(0.5, 4.0, LEARN, LEARN, LEARN))
    noise, has = float(beliefs.pool[NOISE]), estimates.counts > 0
    within = float(np.sum(estimates.squares[has] - estimates.sums[has] ** 2 / estimates.counts[has]))
    freedom = float(np.sum(estimates.counts[has] - 1))
    assert noise == pytest.approx((within + 4.0 * 0.25) / (freedom + 4.0))
    centre, variance, doubt = brute_force(estimates.means()[has], estimates.counts[has], noise)
    assert beliefs.pool[CENTRE] == pytest.approx(centre)
    assert beliefs.pool[BETWEEN] == pytest.approx(variance)
    assert beliefs.pool[CENTRE_DOUBT] == pytest.approx(doubt)
    precision = 1.0 / variance + estimates.counts / noise
    share_of_centre = (1.0 / variance) / precision
    assert beliefs.variances == pytest.approx(1.0 / precision + doubt * share_of_centre**2)
    assert beliefs.means == pytest.approx((centre / variance + estimates.sums / noise) / precision)


def test_the_pool_is_not_judged_by_those_who_were_kept() -> None:
    """The workers still active are better than the pool; the posterior of its centre must not be biased by them."""
    problem = Problem(
        8, 250, 1.0, Recipe("truncated-normal", 40, 0.5, 0.08, per_run=True), NoDelay(), BernoulliOutput()
    )
    thought, active = [], []
    for run in range(12):
        world = World(problem, 9, run)
        estimates = no_data(40)
        steps = list(play(world, POLICY))
        for step in steps:
            for worker, amount in step.output.items():
                record(estimates, worker, amount)
        now = situation(problem.setting, list(steps[-1].stations), estimates)
        pool, _ = POLICY.beliefs(POLICY.start(situation(problem.setting, [0], no_data(40)), 1), now)
        thought.append(pool.centre - 0.5)
        active.append(float(np.mean(estimates.means()[list(steps[-1].stations)])) - 0.5)
    error = float(np.std(thought)) / math.sqrt(len(thought))
    assert abs(np.mean(thought)) < 3.0 * error + 0.005
    assert np.mean(active) > 3.0 * error + 0.03


def test_prior_data_of_unknown_spread_says_nothing_about_noise() -> None:
    """Prior data are stored as if all output had been 0 or 1; the noise is learned only from observations since."""
    estimates = with_prior(np.array([50, 0, 30, 0]), np.array([0.5, 0.0, 0.6, 0.0]))
    setting = Setting(4, 2, 100, 1.0, 0.0)
    prior = Prior(estimates.counts.copy(), estimates.sums.copy())
    state = POLICY.start(situation(setting, [0, 1], estimates, prior=prior), 1)
    for turn in range(200):
        for worker in (0, 1):
            record(estimates, worker, 0.5 + (0.05 if turn % 2 else -0.05))
    pool, beliefs = POLICY.beliefs(state, situation(setting, [0, 1], estimates, 99))
    assert pool.noise_sd < 0.1
    assert beliefs[2].sd < beliefs[3].sd / 3
    again = POLICY.state_from_json(POLICY.state_to_json(state))
    assert POLICY.beliefs(again, situation(setting, [0, 1], estimates, 99)) == (pool, beliefs)


def test_prior_data_of_newcomers_says_nothing_about_noise_either() -> None:
    setting = Setting(3, 2, 400, 1.0, 0.0)
    estimates = seen([0.5, 0.5, 0.5], 100, spread=0.05)
    state = POLICY.start(situation(setting, [0, 1], no_data(3)), 1)
    before, _ = POLICY.beliefs(state, situation(setting, [0, 1], estimates, 101))
    joined = grown(estimates, 4)
    joined.counts[3], joined.sums[3], joined.squares[3] = 200, 100.0, 100.0
    prior = Prior(np.array([0, 0, 0, 200]), np.array([0.0, 0.0, 0.0, 100.0]))
    now = situation(dataclasses.replace(setting, workers=4), [0, 1], joined, 101, prior=prior)
    after, _ = POLICY.beliefs(POLICY.revise(state, now), now)
    assert after.noise_sd == pytest.approx(before.noise_sd)


def test_what_is_told_of_the_pool_is_not_learned() -> None:
    told = ValueOfReplacement(centre=0.3, between_sd=0.2, noise_sd=0.1)
    now = situation(Setting(3, 1, 100, 1.0, 0.0), [0], seen([0.9, 0.8, 0.7], 10))
    pool, beliefs = told.beliefs(told.start(now, 1), now)
    assert dataclasses.astuple(pool) == pytest.approx((0.3, 0.2, 0.1))
    assert beliefs[0].mean == pytest.approx((0.3 / 0.04 + 9.0 / 0.01) / (1 / 0.04 + 10 / 0.01))
