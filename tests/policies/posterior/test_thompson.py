"""Thompson sampling, decision by decision: against the same draw worked out with NumPy, and against its chances."""

import dataclasses
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.beliefs.estimates import Prior, no_data
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.posterior.thompson import RESAMPLING, Thompson
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.chance import mix, normal
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting
from support.value_site import initiated, seen, situation, unequal

CENTRE, BETWEEN, NOISE = 0.5, 0.2, 0.3
TOLD = Thompson(centre=CENTRE, between_sd=BETWEEN, noise_sd=NOISE)
"""Told the pool, so that everybody's posterior is that of a normal mean with a normal prior."""


def ask(now: Situation, policy: Thompson = TOLD, key: int = 7) -> list[Pair]:
    pairs, after = policy.decide(policy.start(now, key), now)
    assert policy.decide(after, now)[0] == pairs
    return pairs


def posterior(now: Situation) -> tuple[np.ndarray, np.ndarray]:
    """Everybody's posterior mean and sd, by adding precisions."""
    precision = 1 / BETWEEN**2 + now.estimates.counts / NOISE**2
    return (CENTRE / BETWEEN**2 + now.estimates.sums / NOISE**2) / precision, 1 / np.sqrt(precision)


def draw_of(period: int, policy: Thompson = TOLD) -> int:
    return period if policy.resample == "every-period" else int(math.log2(period))


def expected(now: Situation, policy: Thompson, key: int) -> list[Pair]:
    """The decision by its definition: sort the drawn levels, and pair while the difference pays."""
    setting, roster = now.setting, now.roster
    mean, sd = posterior(now)
    number = draw_of(now.period, policy)
    level = mean + sd * np.array([normal(mix(key, worker), number) for worker in range(setting.workers)])
    busy = {worker for pending in roster.pending for worker in (pending.out, pending.into)}
    leavers = [
        (level[worker], worker)
        for worker in roster.active
        if worker not in busy and now.may_leave[worker] and now.estimates.counts[worker] > 0
    ]
    leavers += [(0.0, NOBODY)] * (roster.empty - sum(pending.out == NOBODY for pending in roster.pending))
    entrants = [(level[worker], worker) for worker in roster.outside if worker not in busy and now.may_enter[worker]]
    left = setting.horizon - now.period + 1 - setting.mean_delay
    pairs: list[Pair] = []
    for (low, out), (high, into) in zip(sorted(leavers), sorted(entrants, reverse=True), strict=False):
        if left <= 1 or (high - low) * left <= setting.cost or len(pairs) == setting.team - len(roster.pending):
            break
        pairs.append((out, into))
    return pairs


@pytest.mark.parametrize("resample", RESAMPLING)
@given(seed=st.integers(0, 10**6))
def test_decisions_are_those_of_the_draw_worked_out_by_numpy(resample: str, seed: int) -> None:
    rng, policy = np.random.default_rng(seed), dataclasses.replace(TOLD, resample=resample)
    workers, horizon = int(rng.integers(2, 12)), int(rng.integers(2, 300))
    team = int(rng.integers(1, workers + 1))
    setting = Setting(workers, team, horizon, float(rng.choice([0.0, 0.5, 5.0])), float(rng.choice([0.0, 3.0])))
    filled = int(rng.integers(0, team + 1))
    estimates = unequal(rng.uniform(0, 1, workers).tolist(), rng.integers(0, 40, workers).tolist())
    now = situation(setting, list(range(filled)), estimates, int(rng.integers(1, horizon + 1)), team - filled)
    now = dataclasses.replace(now, may_enter=rng.random(workers) < 0.8, may_leave=rng.random(workers) < 0.8)
    for into in now.roster.outside[:2]:
        if rng.random() < 0.5 and len(now.roster.pending) < team:
            out = next((worker for worker in now.roster.active if worker not in _leaving(now)), NOBODY)
            now = initiated(now, out, into)
    assert ask(now, policy, seed) == expected(now, policy, seed)


def _leaving(now: Situation) -> set[int]:
    return {pending.out for pending in now.roster.pending}


def test_the_chance_of_a_replacement_is_that_of_the_entrant_being_better() -> None:
    """4,000 draws, no fee: the share of replacements is within 4 standard errors (wrong once in 16,000)."""
    now = situation(Setting(2, 1, 100, 0.0, 0.0), [0], unequal([0.6, 0.5], [20, 5]), 30)
    mean, sd = posterior(now)
    chance = 1.0 - NormalDist(float(mean[1] - mean[0]), float(math.hypot(*sd))).cdf(0.0)
    share = sum(bool(ask(now, key=key)) for key in range(4000)) / 4000
    assert abs(share - chance) < 4 * math.sqrt(chance * (1 - chance) / 4000)


def test_levels_are_drawn_anew_in_periods_1_2_4_8() -> None:
    setting, estimates = Setting(6, 2, 5000, 0.0, 0.0), unequal([0.5] * 6, [3] * 6)
    for policy, changes in ((TOLD, [2, 4, 8, 16, 32]), (Thompson(resample="every-period"), list(range(2, 41)))):
        samples = []
        for period in range(1, 41):
            now = situation(setting, [0, 1], estimates, period)
            samples.append(policy.reasons(policy.start(now, 3), now, [(0, 2)])[0].in_sample)
        changed = [period for period in range(2, 41) if samples[period - 1] != samples[period - 2]]
        assert changed == changes


def test_nobody_is_sent_away_unseen_and_empty_stations_are_filled() -> None:
    setting = Setting(8, 3, 500, 0.0, 0.0)
    assert all(ask(situation(setting, [0, 1, 2], no_data(8)), key=key) == [] for key in range(50))
    pairs = ask(situation(setting, [0, 1], no_data(8), empty=1))
    assert [out for out, _ in pairs] == [NOBODY]


def test_each_pair_is_explained_by_its_draw() -> None:
    setting = Setting(6, 2, 200, 3.0, 4.0)
    now = situation(setting, [0, 1], seen([0.2, 0.8, 0.6, 0.7, 0.2, 0.5], 30), period=50)
    state = TOLD.start(now, 3)
    pairs, after = TOLD.decide(state, now)
    assert pairs
    mean, sd = posterior(now)
    for (out, into), reason in zip(pairs, TOLD.reasons(after, now, pairs), strict=True):
        assert (reason.out, reason.into, reason.fee, reason.periods) == (out, into, 3.0, 200 - 50 + 1 - 4)
        assert reason.in_belief.mean == pytest.approx(mean[into])
        assert reason.out_belief.sd == pytest.approx(sd[out])
        assert reason.in_sample == pytest.approx(mean[into] + sd[into] * normal(mix(3, into), 5))
        assert TOLD.break_even(now, reason) == pytest.approx((reason.in_sample - reason.out_sample) * 147)
        assert reason.sampled_gain > reason.fee
    assert [level.sd for level in TOLD.levels(after, now)] == pytest.approx(sd)


def test_earlier_encounters_say_nothing_about_the_noise() -> None:
    """Whose spread nobody knows, and which stands in the squares as the largest there is: 0/1 output."""
    setting, estimates = Setting(4, 2, 200, 1.0, 0.0), seen([0.4, 0.6, 0.5, 0.7], 20, spread=0.02)
    estimates.counts[3], estimates.sums[3], estimates.squares[3] = 60, 42.0, 42.0
    prior = Prior(np.array([0, 0, 0, 60]), np.array([0.0, 0.0, 0.0, 42.0]))
    spared = situation(setting, [0, 1], estimates, 30, prior=prior)
    taken = situation(setting, [0, 1], estimates, 30)
    policy = Thompson()
    (known,), (guessed,) = (policy.levels(policy.start(now, 1), now)[:1] for now in (spared, taken))
    assert known.sd is not None
    assert guessed.sd is not None
    assert known.sd < 0.5 * guessed.sd


def test_what_is_drawn_does_not_depend_on_the_size_of_the_pool() -> None:
    small = situation(Setting(3, 1, 100, 1.0, 0.0), [0], unequal([0.5] * 3, [5] * 3), 9)
    large = situation(Setting(5, 1, 100, 1.0, 0.0), [0], unequal([0.5] * 5, [5] * 5), 9)
    samples = [TOLD.reasons(TOLD.start(now, 4), now, [(0, 2)])[0].in_sample for now in (small, large)]
    assert samples[0] == samples[1]


@pytest.mark.parametrize("wrong", [{"resample": "daily"}, {"noise_guess": 0.0}, {"centre": 2.0}, {"between_sd": 0.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        Thompson(**wrong)  # type: ignore[arg-type]  # what is wrong with them is the point
