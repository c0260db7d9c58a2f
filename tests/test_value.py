"""Value of replacement: limits that theory gives, exact dynamic programming on tiny problems, and its explanations."""

import dataclasses
import functools
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.engine.blocks import Block, empty_tally, play_compiled, worlds_of
from crewlearn.engine.forms import kind_of
from crewlearn.engine.interpreted import play
from crewlearn.engine.kernel import REQUEST
from crewlearn.engine.local import simulate
from crewlearn.engine.world import World
from crewlearn.policies import trials, worth
from crewlearn.policies.contract import Pair, Report, Situation
from crewlearn.policies.estimates import Estimates, grown, no_data, record, with_prior
from crewlearn.policies.posterior import (
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
from crewlearn.policies.trials import Trial, best_trial, gain_later, gain_of, sd_of_finding
from crewlearn.policies.value import ValueOfReplacement
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import AvailabilityDelay, BernoulliOutput, NoDelay, UniformOutput
from crewlearn.problem.model import Pool, Problem, Setting
from crewlearn.problem.recipes import Recipe
from crewlearn.problem.roster import Roster

POLICY = ValueOfReplacement()


def situation(
    setting: Setting, team: list[int], estimates: Estimates, period: int = 1, empty: int = 0, enter: str = ""
) -> Situation:
    """A situation with this team; `enter` marks who may come with a 1, everybody if left out."""
    roster = Roster.start(setting.workers, team + [NOBODY] * empty)
    may_enter = np.array([mark == "1" for mark in enter or "1" * setting.workers])
    return Situation(period, setting, roster, estimates, may_enter, np.ones(setting.workers, dtype=np.bool_))


def seen(means: list[float], times: int, spread: float = 0.1) -> Estimates:
    """Everybody seen an even number of times, their output alternating around the mean."""
    estimates = no_data(len(means))
    for worker, mean in enumerate(means):
        for turn in range(times):
            record(estimates, worker, mean + (spread if turn % 2 else -spread))
    return estimates


def ask(now: Situation, policy: ValueOfReplacement = POLICY, key: int = 7) -> list[Pair]:
    pairs, _ = policy.decide(policy.start(now, key), now)
    return pairs


# --- limits that theory gives


@pytest.mark.parametrize("run", range(6))
def test_without_fee_and_noise_the_best_team_is_found(run: int) -> None:
    problem = Problem(3, 80, 0.0, Recipe("uniform", 9, 0.5, 0.25, per_run=True), NoDelay(), UniformOutput(0.0))
    world = World(problem, 5, run)
    last = list(play(world, POLICY))[-1]
    assert set(last.stations) == set(np.argsort(world.means)[-3:].tolist())


@pytest.mark.parametrize("output", [UniformOutput(0.1), BernoulliOutput()])
def test_a_fee_beyond_any_gain_is_never_paid(output: UniformOutput | BernoulliOutput) -> None:
    """Nobody can gain more than one unit a period, so no replacement pays a fee of the horizon."""
    problem = Problem(5, 120, 120.0, Recipe("beta", 15, 0.5, 0.35, per_run=True), NoDelay(), output)
    assert simulate(problem, [POLICY], runs=64).policies[POLICY.name].replacements.max() == 0
    cheap = dataclasses.replace(problem, cost=12.0)
    assert simulate(cheap, [POLICY], runs=64).policies[POLICY.name].replacements.mean() > 1.0


def asked_by_quarter(problem: Problem, runs: int = 24) -> list[float]:
    """Replacements asked for in each quarter of the horizon, on average over runs."""
    block = Block(problem, POLICY, 3, 0, runs, (problem.horizon,))
    tally, kind = empty_tally(block, events=50_000), kind_of(POLICY)
    assert kind is not None
    play_compiled(block, kind, *worlds_of(block), tally)
    log = tally.log[: tally.logged[0]]
    assert len(log) < len(tally.log)
    quarters = (4 * (log[log[:, 2] == REQUEST, 1] - 1)) // problem.horizon
    return [float(np.sum(quarters == quarter)) / runs for quarter in range(4)]


@pytest.mark.parametrize("output", [UniformOutput(0.1), BernoulliOutput(), UniformOutput(0.0)])
@pytest.mark.parametrize("cost", [0.2, 1.0, 3.0])
def test_identical_workers_are_not_churned_for_ever(cost: float, output: UniformOutput | BernoulliOutput) -> None:
    """It cannot know that they are alike, but it finds out: four times the time takes at most twice the replacements.

    At a fee of 1 or more, nothing is asked for in the last quarter.
    """
    problem = Problem(4, 1800, cost, Pool((0.5,) * 12), AvailabilityDelay(0.5), output)
    short, long = (asked_by_quarter(dataclasses.replace(problem, horizon=horizon)) for horizon in (1800, 7200))
    assert 1.0 < sum(short) < 36.0
    assert sum(long) <= 2.0 * sum(short)
    if cost >= 1.0:
        assert max(short[3], long[3]) < 0.5


def test_nobody_unknown_is_exchanged_for_somebody_unknown() -> None:
    """Before any data whoever is active is as good as anyone and is learned for nothing, even if the fee is nothing."""
    for cost in (0.0, 0.1, 5.0):
        now = situation(Setting(10, 4, 365, cost, 1.0), [0, 1, 2, 3], no_data(10))
        assert ask(now) == []


means, sds = st.floats(0.0, 1.0), st.floats(0.001, 0.4)
fees, lasting = st.floats(0.0, 50.0), st.floats(2.0, 2000.0)


@given(means, sds, means, means, fees, st.floats(0.0, 5.0), lasting)
def test_the_gain_falls_as_the_fee_and_the_station_s_worth_rise(
    mean: float, sd: float, level: float, other: float, fee: float, more: float, left: float
) -> None:
    trial = best_trial(mean, sd * sd, 0.05, other, fee, level, left)
    dearer = best_trial(mean, sd * sd, 0.05, other, fee + more, level, left)
    slack = 1e-9 * (1.0 + left)
    assert gain_of(dearer, level, left) <= gain_of(trial, level, left) - more + slack
    higher = min(1.0, level + more / 5.0)
    better = best_trial(mean, sd * sd, 0.05, other, fee, higher, left)
    assert gain_of(better, higher, left) <= gain_of(trial, level, left) + slack


@given(means, sds, means, means, fees, lasting, st.floats(0.0, 300.0))
def test_what_pays_today_paid_no_less_yesterday(
    mean: float, sd: float, level: float, other: float, fee: float, left: float, more: float
) -> None:
    """Gain is convex in the periods left and not positive where none is, so once positive it grows with them."""
    gain = gain_of(best_trial(mean, sd * sd, 0.05, other, fee, level, left), level, left)
    earlier = gain_of(best_trial(mean, sd * sd, 0.05, other, fee, level, left + more), level, left + more)
    if gain > 0.0:
        assert earlier >= gain - 1e-9 * (left + more)


def test_replacements_in_a_situation_fade_with_the_fee_and_with_time() -> None:
    estimates = seen([0.2, 0.4, 0.5, 0.6, 0.7, 0.9], 40)
    setting = Setting(6, 3, 300, 0.0, 2.0)

    def pairs(cost: float, period: int) -> int:
        return len(ask(situation(dataclasses.replace(setting, cost=cost), [0, 1, 2], estimates, period)))

    by_fee = [pairs(cost, 100) for cost in (0.0, 20.0, 60.0, 100.0, 150.0, 300.0)]
    by_time = [pairs(8.0, period) for period in (100, 200, 250, 270, 290, 300)]
    assert by_fee[0] == by_time[0] == 3
    assert by_fee[-1] == by_time[-1] == 0
    assert by_fee == sorted(by_fee, reverse=True)
    assert by_time == sorted(by_time, reverse=True)


def test_a_worker_s_gain_is_what_it_says_it_is() -> None:
    """Play the trial out on random numbers: learn for a while, then keep, or go back for another fee."""
    rng = np.random.default_rng(4)
    mean, sd, noise, level, other, fee, left = 0.5, 0.15, 0.04, 0.45, 0.52, 4.0, 120.0
    trial = best_trial(mean, sd * sd, noise, other, fee, level, left)
    truth = rng.normal(mean, sd, 400_000)
    average = truth + rng.normal(0.0, math.sqrt(noise / trial.length), len(truth))
    found = (average / noise * trial.length + mean / sd**2) / (trial.length / noise + 1 / sd**2)
    rest = left - trial.length
    stay = rest * (found - level)
    back = rest * (max(level, other) - level) - fee
    played = trial.length * (truth - level) + np.where(stay > back, rest * (truth - level), back) - fee
    error = played.std() / math.sqrt(len(played))
    assert gain_of(trial, level, left) == pytest.approx(played.mean(), abs=4.0 * error)
    assert 1.0 < trial.length < left / 2


def test_waiting_is_worth_what_random_numbers_say() -> None:
    """Seven values stand for all, and the gain has two kinks: good to a few percent."""
    rng = np.random.default_rng(5)
    trial = Trial(0.5, 0.12, 4.0, 0.0, 6.0)
    worth = rng.normal(0.5, 0.1, 40_000)
    gains = [max(0.0, gain_of(trial, min(0.55, level), 200.0)) for level in worth.tolist()]
    assert gain_later(trial, 0.5, 0.1, 0.55, 200.0) == pytest.approx(float(np.mean(gains)), rel=0.08)


# --- what is known


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
    """Those active in the end are better than the pool; what is thought of its centre must not rise with them."""
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
    """Earlier encounters come as if all output had been 0 or 1; the noise is learned from what was seen since."""
    estimates = with_prior(np.array([50, 0, 30, 0]), np.array([0.5, 0.0, 0.6, 0.0]))
    setting = Setting(4, 2, 100, 1.0, 0.0)
    state = POLICY.start(situation(setting, [0, 1], estimates), 1)
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
    now = situation(dataclasses.replace(setting, workers=4), [0, 1], joined, 101)
    after, _ = POLICY.beliefs(POLICY.revise(state, now), now)
    assert after.noise_sd == pytest.approx(before.noise_sd)


def test_what_is_told_of_the_pool_is_not_learned() -> None:
    told = ValueOfReplacement(centre=0.3, between_sd=0.2, noise_sd=0.1)
    now = situation(Setting(3, 1, 100, 1.0, 0.0), [0], seen([0.9, 0.8, 0.7], 10))
    pool, beliefs = told.beliefs(told.start(now, 1), now)
    assert dataclasses.astuple(pool) == pytest.approx((0.3, 0.2, 0.1))
    assert beliefs[0].mean == pytest.approx((0.3 / 0.04 + 9.0 / 0.01) / (1 / 0.04 + 10 / 0.01))


@pytest.mark.parametrize(
    "wrong",
    [
        {"margin": -0.1},
        {"noise_guess": 0.0},
        {"guess_weight": -1.0},
        {"recheck": 0},
        {"centre": 1.5},
        {"between_sd": 0.0},
        {"between_sd": 1e-170},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        ValueOfReplacement(**wrong)  # type: ignore[arg-type]  # what is wrong with them is the point


# --- exact dynamic programming

PRIORS = {"uniform": (1.0, 1.0), "arcsine": (0.5, 0.5), "peaked": (2.0, 2.0)}
Data = tuple[tuple[int, int], ...]
"""Successes and failures of each of three workers."""


def expected_output(
    prior: tuple[float, float], horizon: int, cost: float, choose: Callable[[int, int, Data], int] | None = None
) -> float:
    """Expected output less fees (one station, three workers, 0/1, no delay) of a policy, or the most there can be.

    As everywhere, nothing is initiated in the last period.
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
        return max(working(worker) for worker in (range(3) if period < horizon else (active,)))

    return from_here(1, 0, ((0, 0),) * 3)


def chosen_by(policy: ValueOfReplacement, horizon: int, cost: float) -> Callable[[int, int, Data], int]:
    """Who works next, by the policy, as a function of what was seen."""
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


# --- what it says and what it does


def test_each_pair_is_explained() -> None:
    setting = Setting(6, 2, 200, 3.0, 4.0)
    estimates = grown(seen([0.3, 0.8, 0.6, 0.65, 0.2], 30), 6)
    now = situation(setting, [0, 1], estimates, period=50)
    state = POLICY.start(now, 3)
    pairs, after = POLICY.decide(state, now)
    assert len(pairs) == 1
    assert pairs[0][0] == 0
    (reason,) = POLICY.reasons(after, now, pairs)
    _, beliefs = POLICY.beliefs(state, now)
    into = pairs[0][1]
    assert (reason.out, reason.into, reason.fee) == (0, into, 3.0)
    assert reason.periods == 200 - 50 + 1 - 4
    assert (reason.out_belief, reason.in_belief) == (beliefs[0], beliefs[into])
    difference = NormalDist(beliefs[into].mean - beliefs[0].mean, math.sqrt(beliefs[into].sd ** 2 + beliefs[0].sd ** 2))
    assert reason.chance_better == pytest.approx(1.0 - difference.cdf(0.0))
    assert reason.value == pytest.approx(reason.gain - 3.0)
    assert reason.value > POLICY.margin * reason.fee
    at_once = reason.periods * (beliefs[into].mean - beliefs[0].mean)
    most = reason.periods * (1.0 - beliefs[0].mean)
    assert at_once - 1e-9 <= reason.gain <= most
    assert POLICY.reasons(after, now, [(1, 4)])[0].value < 0.0  # a pair it did not propose, and why


KNOWN = ValueOfReplacement(centre=0.7, between_sd=0.2, noise_sd=0.1)


def unequal(means: list[float], times: list[int]) -> Estimates:
    """Everybody seen so many times, always at their mean."""
    estimates = no_data(len(means))
    for worker, (mean, count) in enumerate(zip(means, times, strict=True)):
        for _ in range(count):
            record(estimates, worker, mean)
    return estimates


@pytest.mark.parametrize("cost", [0.0, 0.5, 2.0, 10.0])
def test_the_best_outside_is_not_left_there_for_being_near_the_top(cost: float) -> None:
    """Nobody puts out more than 1: that must not make the best worth more as somebody to go back to than inside."""
    setting = Setting(4, 1, 365, cost, 0.0)
    now = situation(setting, [0], unequal([0.3, 1.0, 0.7, 0.5], [60, 2, 2, 2]), 61)
    assert ask(now, KNOWN) == [(0, 1)]


def test_pinned_workers_stay_and_the_next_worst_goes() -> None:
    setting = Setting(4, 2, 365, 2.0, 0.0)
    estimates = unequal([0.2, 0.4, 0.9, 0.85], [50, 50, 50, 50])
    now = situation(setting, [0, 1], estimates, 60)
    assert ask(now, KNOWN) == [(0, 2), (1, 3)]
    pinned = dataclasses.replace(now, may_leave=np.array([False, True, True, True]))
    assert ask(pinned, KNOWN) == [(1, 2)]


def test_somebody_blocked_is_nobody_to_go_back_to() -> None:
    """A bold trial is worth more with a star to go back to; a star who may not come is none."""
    setting = Setting(3, 1, 200, 3.0, 0.0)
    now = situation(setting, [0], unequal([0.3, 0.95, 0.0], [50, 400, 0]), 60)
    blocked = situation(setting, [0], unequal([0.3, 0.95, 0.0], [50, 400, 0]), 60, enter="101")
    (free,) = KNOWN.reasons(KNOWN.start(now, 1), now, [(0, 2)])
    (alone,) = KNOWN.reasons(KNOWN.start(blocked, 1), blocked, [(0, 2)])
    assert free.fallback == pytest.approx(0.95, abs=0.01)
    assert alone.fallback == pytest.approx(0.3, abs=0.01)
    assert alone.gain < free.gain


def test_what_clears_its_fee_but_not_the_margin_is_not_proposed() -> None:
    """Both known for certain, so that a replacement gains just 100 times the difference."""
    estimates = unequal([0.50, 0.58], [10**5, 10**5])
    for cost, proposed in ((3.5, True), (4.5, False)):  # 8 exceeds twice 3.5, and 4.5 only once
        setting = Setting(2, 1, 160, cost, 0.0)
        now = situation(setting, [0], estimates, 61)
        assert bool(ask(now, KNOWN)) is proposed
        (reason,) = KNOWN.reasons(KNOWN.start(now, 1), now, [(0, 1)])
        assert reason.value == pytest.approx(8.0 - cost, abs=0.05)
        assert (reason.value > KNOWN.margin * cost) is proposed


def test_pairs_of_one_period_do_not_share_one_way_back() -> None:
    """Two untried workers enter and one good one stays outside: only the first trial may count on that one."""
    setting = Setting(5, 2, 300, 2.0, 0.0)
    now = situation(setting, [0, 1], unequal([0.2, 0.2, 0.0, 0.0, 0.6], [80, 80, 0, 0, 80]), 81)
    first, second = KNOWN.reasons(KNOWN.start(now, 1), now, [(0, 2), (1, 3)])
    assert first.fallback == pytest.approx(0.6, abs=0.01)
    assert second.fallback == pytest.approx(0.2, abs=0.01)
    assert second.gain < first.gain


@given(st.integers(0, 10**6))
def test_every_pair_proposed_clears_the_margin_by_its_own_reasons(seed: int) -> None:
    rng = np.random.default_rng(seed)
    workers, horizon = int(rng.integers(2, 12)), int(rng.integers(5, 400))
    team = int(rng.integers(1, workers))
    setting = Setting(workers, team, horizon, float(rng.choice([0.0, 0.5, 3.0, 20.0])), float(rng.choice([0.0, 4.0])))
    times = rng.integers(0, 60, workers).tolist()
    now = situation(setting, list(range(team)), unequal(rng.uniform(0, 1, workers).tolist(), times), horizon // 3 + 1)
    for reason in POLICY.reasons(POLICY.start(now, 7), now, ask(now)):
        assert reason.value > POLICY.margin * reason.fee
        assert type(reason.out_belief.mean) is type(reason.in_belief.sd) is float


def test_an_empty_station_is_filled_by_whom_most_is_expected_of() -> None:
    setting = Setting(5, 2, 100, 2.0, 0.0)
    now = situation(setting, [0], seen([0.9, 0.3, 0.6, 0.5, 0.4], 50), period=40, empty=1)
    assert ask(now) == [(NOBODY, 2)]
    (reason,) = POLICY.reasons(POLICY.start(now, 1), now, [(NOBODY, 2)])
    assert (reason.out_belief.mean, reason.out_belief.sd) == (0.0, 0.0)
    assert reason.gain == pytest.approx(61 * 0.6, rel=0.05)
    blocked = situation(setting, [0], seen([0.9, 0.3, 0.6, 0.5, 0.4], 50), period=40, empty=1, enter="11011")
    assert ask(blocked) == [(NOBODY, 3)]
    late = situation(dataclasses.replace(setting, cost=50.0), [0], seen([0.9, 0.3, 0.6, 0.5, 0.4], 50), 40, 1)
    assert ask(late) == []


def test_the_scarce_good_one_is_kept_for_the_station_that_needs_it() -> None:
    """One untried worker is left, and an untried one is on the way to a station: the good worker is not touched yet."""
    setting = Setting(4, 2, 300, 2.0, 3.0)
    estimates = grown(seen([0.75, 0.3], 40), 4)
    told = ValueOfReplacement(centre=0.5, between_sd=0.3, noise_sd=0.1)
    free = situation(setting, [0, 1], estimates, 41)
    assert {out for out, _ in ask(free, told)} == {0, 1}
    pending = situation(setting, [0, 1], estimates, 41)
    pending.roster.initiate(1, 2, 41, 44)
    assert ask(pending, told) == []


def test_equals_come_in_a_random_order_that_the_run_fixes() -> None:
    setting = Setting(30, 1, 500, 1.0, 0.0)
    estimates = no_data(30)
    for turn in range(20):
        record(estimates, 0, 0.1 + 0.02 * (turn % 2))
    now = situation(setting, [0], estimates, 21)
    first = [ask(now, key=key)[0][1] for key in range(60)]
    assert first == [ask(now, key=key)[0][1] for key in range(60)]
    assert len(set(first)) > 15


def test_looks_again_after_anything_happened() -> None:
    setting = Setting(4, 2, 1000, 50.0, 1.0)
    now = situation(setting, [0, 1], seen([0.6, 0.6, 0.5, 0.5], 320), 400)
    pairs, state = POLICY.decide(POLICY.start(now, 1), now)
    assert pairs == []
    assert state.look_again == 400 + 1 + 320 // 16
    assert POLICY.observe(state, Report(400, {0: 0.5, 1: 0.5})) == state
    assert not POLICY.observe(state, Report(400, failed=((0, 2),))).settled
    assert not POLICY.revise(state, now).settled
    cheap = dataclasses.replace(now, setting=dataclasses.replace(setting, cost=0.0), period=401)
    assert POLICY.decide(state, cheap) == ([], state)


def count_gains(workers: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How often a gain or an upside is reckoned in one decision, and how many pairs come of it."""
    calls = 0

    def counted(function: Callable[..., float]) -> Callable[..., float]:
        def call(*arguments: float) -> float:
            nonlocal calls
            calls += 1
            return function(*arguments)

        return call

    rng = np.random.default_rng(2)
    estimates = seen(rng.uniform(0.2, 0.8, workers).tolist(), 6)
    now = situation(Setting(workers, 20, 400, 1.0, 2.0), list(range(20)), estimates, 60)
    with monkeypatch.context() as patch:
        for name in ("gain_of", "upside"):
            patch.setattr(worth, name, counted(getattr(trials, name)))
            patch.setattr(trials, name, counted(getattr(trials, name)))
        pairs = ask(now)
    return calls, len(pairs)


def test_work_grows_no_faster_than_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tried and all different: four times the workers take at most four times the reckoning, not all pairs."""
    few, made_of_few = count_gains(250, monkeypatch)
    many, made_of_many = count_gains(1000, monkeypatch)
    assert made_of_few >= 15
    assert made_of_many >= 15
    assert many <= 4 * few
    assert many <= 1000 * 6 + 20 * 200


# --- against the others


@pytest.mark.parametrize(("team", "share"), [(10, 0.35), (5, 0.45), (20, 0.30)])
def test_regret_on_the_paper_s_benchmark(team: int, share: float) -> None:
    problem = benchmark(team, "as-released")
    result = simulate(problem, [POLICY, "dr-ucb"], runs=128, at=[365, 730], conventions="as-released")
    for period in (365, 730):
        ours, rival = result.regret(POLICY.name, at=period), result.regret("dr-ucb", at=period)
        assert ours.mean <= share * rival.mean


def test_not_worse_than_doing_nothing_where_fees_are_dear() -> None:
    problem = benchmark(10, "as-released", horizon=365, cost=168.0)
    result = simulate(problem, [POLICY, "keep-team"], runs=1000, conventions="as-released")
    difference = result.policies[POLICY.name].regret[:, 0] - result.policies["keep-team"].regret[:, 0]
    assert difference.mean() <= 0.01 * result.regret("keep-team", at=365).mean


def test_the_spread_of_findings_grows_to_that_of_the_belief() -> None:
    growing = [sd_of_finding(0.01, 0.2, periods) for periods in (1.0, 10.0, 100.0, 1e9)]
    assert growing == sorted(growing)
    assert growing[-1] == pytest.approx(0.1)
