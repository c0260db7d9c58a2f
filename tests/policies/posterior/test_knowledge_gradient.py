"""The knowledge gradient, decision by decision: against numerical integration over what a look may find."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.beliefs.estimates import grown, no_data
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.posterior.knowledge_gradient import (
    BEST,
    KnowledgeGradient,
    Stakes,
    advantage,
    length_of_look,
    value_of_look,
)
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting
from support.value_site import initiated, seen, situation, unequal

CENTRE, BETWEEN, NOISE = 0.5, 0.2, 0.15
TOLD = KnowledgeGradient(centre=CENTRE, between_sd=BETWEEN, noise_sd=NOISE)
"""Told the pool, so that everybody's posterior is that of a normal mean with a normal prior."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def ask(now: Situation, policy: KnowledgeGradient = TOLD, key: int = 7) -> list[Pair]:
    pairs, after = policy.decide(policy.start(now, key), now)
    assert policy.decide(after, now)[0] == pairs
    return pairs


def worked_out(left: float, fee: float, noise: float, mean: float, variance: float, fallback: float, n: float) -> float:
    """A look by its definition: over the average of n periods, the posterior mean and the better choice after it."""
    if n >= left:
        return left * mean
    own = noise / n

    def choice(average: float) -> float:
        thought = (variance * average + own * mean) / (variance + own)
        return max(min(thought, 1.0) * (left - n), fallback * (left - n) - fee)

    if variance == 0.0:
        return n * mean + choice(mean)
    sd = math.sqrt(variance + own)
    kinks = [(x * (variance + own) - own * mean) / variance for x in (1.0, fallback - fee / (left - n))]
    edges = sorted({*(mean + sd * z for z in range(-8, 9)), *(kink for kink in kinks if abs(kink - mean) < 8 * sd)})
    whole = 0.0
    for low, high in itertools.pairwise(edges):  # smooth in between: 20 nodes of Gauss and Legendre
        averages = low + (high - low) * (NODES + 1) / 2
        density = np.exp(-0.5 * ((averages - mean) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
        whole += float(np.sum(WEIGHTS * density * [choice(float(average)) for average in averages])) * (high - low) / 2
    return n * mean + whole


@given(
    left=st.floats(1.5, 800.0),
    fee=st.floats(0.0, 40.0),
    noise_sd=st.floats(0.02, 0.5),
    mean=st.floats(0.0, 1.0),
    sd=st.one_of(st.just(0.0), st.floats(0.01, 0.4)),
    fallback=st.floats(0.0, 1.0),
    length=st.sampled_from([1.0, 4.0, 64.0]),
)
def test_a_look_is_worth_what_integration_says(
    left: float, fee: float, noise_sd: float, mean: float, sd: float, fallback: float, length: float
) -> None:
    stakes = Stakes(left, fee, noise_sd**2, BEST)
    value = value_of_look(stakes, mean, sd**2, fallback, length)
    assert value == pytest.approx(worked_out(left, fee, noise_sd**2, mean, sd**2, fallback, length), abs=1e-6, rel=1e-7)
    best = length_of_look(stakes, mean, sd**2, fallback)
    assert math.log2(best).is_integer()
    powers = [2.0**power for power in range(11) if 2.0**power < left]
    values = {power: value_of_look(stakes, mean, sd**2, fallback, power) for power in powers}
    assert values[best] == max(values.values())


def expected(now: Situation, gap: float) -> list[Pair] | None:
    """The decision by its definition, with integrals; None where a comparison is closer than `gap`."""
    setting, roster, counts = now.setting, now.roster, now.estimates.counts
    precision = 1 / BETWEEN**2 + counts / NOISE**2
    mean, variance = (CENTRE / BETWEEN**2 + now.estimates.sums / NOISE**2) / precision, 1 / precision
    left = setting.horizon - now.period + 1 - setting.mean_delay
    busy = {worker for pending in roster.pending for worker in (pending.out, pending.into)}
    leavers = [(mean[i], i) for i in roster.active if i not in busy and now.may_leave[i]]
    leavers += [(0.0, NOBODY)] * (roster.empty - sum(pending.out == NOBODY for pending in roster.pending))
    leavers.sort(key=lambda item: (item[0], item[1] != NOBODY))
    outside = [j for j in roster.outside if j not in busy and now.may_enter[j]]
    if left <= 1 or not leavers or not outside:
        return []

    def look(level: float, doubt: float, fallback: float) -> float:
        return worked_out(left, setting.cost, NOISE**2, level, doubt, fallback, 1.0)

    def other(j: int) -> float:
        return max((mean[h] for h in outside if h != j), default=0.0)

    worth = {j: look(mean[j], variance[j], max(leavers[0][0], other(j))) for j in outside}
    ranked = sorted(outside, key=lambda j: -worth[j])
    if any(worth[a] - worth[b] < gap for a, b in itertools.pairwise(ranked)):
        return None
    pairs: list[Pair] = []
    for (level, i), j in zip(leavers, ranked, strict=False):
        trying = look(mean[j], variance[j], max(level, other(j))) - setting.cost
        more = trying - look(level, 0.0 if i == NOBODY else variance[i], max(mean[j], other(j))) - 0.01
        if abs(more) < gap:
            return None
        if more < 0 or len(pairs) == setting.team - len(roster.pending):
            break
        pairs.append((i, j))
    return pairs


def test_decisions_are_those_of_the_definition_worked_out_by_integration() -> None:
    rng, decided, made = np.random.default_rng(5), 0, 0
    for _ in range(150):
        workers, horizon = int(rng.integers(2, 8)), int(rng.integers(3, 300))
        team = int(rng.integers(1, workers))
        setting = Setting(workers, team, horizon, float(rng.choice([0.0, 0.5, 4.0])), float(rng.choice([0.0, 3.0])))
        filled = max(1, team - int(rng.random() < 0.3))
        times = rng.integers(1, 30, workers)
        times[-1] *= rng.random() < 0.5
        estimates = unequal(rng.uniform(0, 1, workers).tolist(), times.tolist())
        now = situation(setting, list(range(filled)), estimates, int(rng.integers(1, horizon + 1)), team - filled)
        now = dataclasses.replace(now, may_enter=rng.random(workers) < 0.9, may_leave=rng.random(workers) < 0.9)
        if rng.random() < 0.3:
            now = initiated(now, 0, now.roster.outside[0])
        pairs = expected(now, 1e-4)
        if pairs is not None:
            assert ask(now) == pairs
            decided, made = decided + 1, made + len(pairs)
    assert decided > 100
    assert made > 50


def test_both_known_the_fee_must_pay_over_the_periods_left() -> None:
    """Means 0.1 apart for certain: 50 periods are worth a fee of 5, fewer are not."""
    for left, paid in ((49.0, False), (51.0, True)):
        assert (advantage(Stakes(left, 5.0, 0.01, 1), 0.5, 0.0, 0.6, 0.0, 0.0) > 0.0) is paid


def test_nobody_unknown_is_exchanged_for_somebody_unknown() -> None:
    for cost in (0.0, 0.1, 5.0):
        setting = Setting(10, 4, 700, cost, 3.0)
        assert ask(situation(setting, [0, 1, 2, 3], no_data(10))) == []


def test_somebody_unknown_is_worth_a_look_in_the_place_of_somebody_known_to_be_no_worse() -> None:
    """The longer the time left, the lower the mean that a look outweighs: the option to keep a better one is bought."""
    estimates = grown(seen([0.52], 400, spread=0.1), 2)
    for horizon, tried in ((410, False), (1400, True)):
        assert bool(ask(situation(Setting(2, 1, horizon, 2.0, 0.0), [0], estimates, 401))) is tried


def test_equals_come_in_a_random_order_that_the_run_fixes() -> None:
    now = situation(Setting(30, 1, 500, 1.0, 0.0), [0], grown(seen([0.1], 20), 30), 21)
    first = [ask(now, key=key)[0][1] for key in range(60)]
    assert first == [ask(now, key=key)[0][1] for key in range(60)]
    assert len(set(first)) > 15


@pytest.mark.parametrize("policy", [TOLD, dataclasses.replace(TOLD, look=None)])
def test_each_pair_is_explained(policy: KnowledgeGradient) -> None:
    setting = Setting(6, 2, 200, 3.0, 4.0)
    now = situation(setting, [0, 1], grown(seen([0.3, 0.8, 0.6, 0.65, 0.2], 30), 6), period=50)
    pairs, after = policy.decide(policy.start(now, 3), now)
    assert [out for out, _ in pairs] == [0]
    (reason,) = policy.reasons(after, now, pairs)
    levels = policy.levels(after, now)
    into = pairs[0][1]
    assert (reason.out, reason.into, reason.fee, reason.periods) == (0, into, 3.0, 200 - 50 + 1 - 4)
    assert reason.in_belief is not None
    assert reason.out_belief is not None
    assert (reason.in_belief.mean, reason.in_belief.sd) == (levels[into].mean, levels[into].sd)
    assert reason.trial is not None
    assert reason.fallback is not None
    value = worked_out(147, 3.0, NOISE**2, reason.in_belief.mean, reason.in_belief.sd**2, reason.fallback, reason.trial)
    assert reason.gain == pytest.approx(value - 147 * reason.out_belief.mean, abs=1e-6)
    assert reason.trial == 1.0 if policy.look == 1 else reason.trial > 1.0
    best = max(level.mean or 0.0 for worker, level in enumerate(levels) if worker not in (0, 1, into))
    assert reason.fallback == pytest.approx(best)


def test_the_break_even_fee_is_where_the_decision_changes() -> None:
    setting = Setting(3, 1, 300, 3.0, 2.0)
    now = situation(setting, [0], unequal([0.45, 0.5, 0.0], [6, 12, 0]), 10)
    (pair,) = ask(now)
    (reason,) = TOLD.reasons(TOLD.start(now, 7), now, [pair])
    fee = TOLD.break_even(now, reason)
    assert fee is not None
    assert fee > 3.0
    for cost, asked in ((0.999 * fee, True), (1.001 * fee, False)):
        assert (pair in ask(dataclasses.replace(now, setting=dataclasses.replace(setting, cost=cost)))) is asked


def test_an_empty_station_is_filled_unless_the_fee_is_too_high() -> None:
    setting = Setting(5, 2, 100, 2.0, 0.0)
    now = situation(setting, [0], seen([0.9, 0.3, 0.6, 0.5, 0.4], 50), period=40, empty=1)
    assert ask(now) == [(NOBODY, 2)]
    assert ask(dataclasses.replace(now, setting=dataclasses.replace(setting, cost=50.0))) == []


@pytest.mark.parametrize("wrong", [{"look": 0}, {"look": 1.5}, {"noise_sd": 0.6}, {"guess_weight": 0.0}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        KnowledgeGradient(**wrong)  # type: ignore[arg-type]  # what is wrong with them is the point
