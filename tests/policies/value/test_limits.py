"""Value of replacement: theoretical limits, and its regret compared with other policies."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.beliefs.estimates import no_data
from crewlearn.engine.blocks import Block, empty_tally, play_compiled, worlds_of
from crewlearn.engine.compiled.kernel import REQUEST
from crewlearn.engine.interpreted import play
from crewlearn.engine.local import simulate
from crewlearn.engine.world import World
from crewlearn.policies.value.trials import Trial, best_trial, gain_later, gain_of, sd_of_finding
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import AvailabilityDelay, BernoulliOutput, NoDelay, UniformOutput
from crewlearn.problem.model import Pool, Problem, Setting
from crewlearn.problem.recipes import Recipe
from support.value_site import POLICY, ask, seen, situation


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
    tally = empty_tally(block, events=50_000)
    play_compiled(block, *worlds_of(block), tally)
    log = tally.log[: tally.logged[0]]
    assert len(log) < len(tally.log)
    quarters = (4 * (log[log[:, 2] == REQUEST, 1] - 1)) // problem.horizon
    return [float(np.sum(quarters == quarter)) / runs for quarter in range(4)]


@pytest.mark.parametrize("output", [UniformOutput(0.1), BernoulliOutput(), UniformOutput(0.0)])
@pytest.mark.parametrize("cost", [0.2, 1.0, 3.0])
def test_identical_workers_are_not_churned_for_ever(cost: float, output: UniformOutput | BernoulliOutput) -> None:
    """It finds out that they are alike: four times the horizon takes at most twice the replacements.

    At a fee of 1 or more, nothing is asked for in the last quarter.
    """
    problem = Problem(4, 1800, cost, Pool((0.5,) * 12), AvailabilityDelay(0.5), output)
    short, long = (asked_by_quarter(dataclasses.replace(problem, horizon=horizon)) for horizon in (1800, 7200))
    assert 1.0 < sum(short) < 36.0
    assert sum(long) <= 2.0 * sum(short)
    if cost >= 1.0:
        assert max(short[3], long[3]) < 0.5


def test_nobody_unknown_is_exchanged_for_somebody_unknown() -> None:
    """Before any data the active workers are as good as any and are observed for free, even without a fee."""
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
    """Simulate the trial: learn for a while, then keep, or go back for another fee."""
    rng = np.random.default_rng(4)
    mean, sd, noise, level, other, fee, left = 0.5, 0.15, 0.04, 0.45, 0.52, 4.0, 120.0
    trial = best_trial(mean, sd * sd, noise, other, fee, level, left)
    truth = rng.normal(mean, sd, 400_000)
    average = truth + rng.normal(0.0, math.sqrt(noise / trial.length), len(truth))
    posterior = (average / noise * trial.length + mean / sd**2) / (trial.length / noise + 1 / sd**2)
    rest = left - trial.length
    stay = rest * (posterior - level)
    back = rest * (max(level, other) - level) - fee
    played = trial.length * (truth - level) + np.where(stay > back, rest * (truth - level), back) - fee
    error = played.std() / math.sqrt(len(played))
    assert gain_of(trial, level, left) == pytest.approx(played.mean(), abs=4.0 * error)
    assert 1.0 < trial.length < left / 2


def test_waiting_is_worth_what_random_numbers_say() -> None:
    """Seven quadrature points over a gain with two kinks: accurate to a few percent."""
    rng = np.random.default_rng(5)
    trial = Trial(0.5, 0.12, 4.0, 0.0, 6.0)
    worth = rng.normal(0.5, 0.1, 40_000)
    gains = [max(0.0, gain_of(trial, min(0.55, level), 200.0)) for level in worth.tolist()]
    assert gain_later(trial, 0.5, 0.1, 0.55, 200.0) == pytest.approx(float(np.mean(gains)), rel=0.08)


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
