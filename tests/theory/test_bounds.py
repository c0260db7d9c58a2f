"""Bounds against the paper's formulas written out a second time, and gamma* against a plain search."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting
from crewlearn.theory.bounds import (
    cost_growth,
    cycles_bound,
    expected_cycles_bound,
    instance_bound,
    instance_limit,
    instance_lower_limit,
    minimax_lower_bound,
    regret_bound,
    trivial_bound,
)
from crewlearn.theory.gamma import bound_holds, gamma1, gamma2, gamma_star

BENCHMARK = Setting(workers=25, team=10, horizon=730, cost=5.0, mean_delay=3.0)


@st.composite
def settings(draw: st.DrawFn) -> Setting:
    workers = draw(st.integers(2, 60))
    return Setting(
        workers=workers,
        team=draw(st.integers(1, workers - 1)),
        horizon=draw(st.integers(2, 100_000)),
        cost=draw(st.floats(0.0, 200.0)),
        mean_delay=draw(st.floats(0.0, 30.0)),
    )


@pytest.mark.parametrize(("team", "printed"), [(10, 15.80), (5, 7.87), (20, 40.95)])
def test_gamma_star_of_the_benchmarks(team: int, printed: float) -> None:
    assert round(gamma_star(Setting(25, team, 730, 5.0, 3.0)), 2) == printed


@given(settings())
def test_gamma_star_minimises_the_bound(setting: Setting) -> None:
    assume(bound_holds(setting))
    best = gamma_star(setting)
    if best < 1e-12:  # next to no frictions: the bound falls all the way to gamma = 0
        assert setting.cost + setting.mean_delay < 1e-6
        return
    here = regret_bound(setting, best).total
    for factor in np.geomspace(1e-3, 1e3, 61):
        assert regret_bound(setting, best * factor).total >= here * (1 - 1e-12)


def test_gamma_star_without_frictions_or_time() -> None:
    assert gamma_star(Setting(25, 10, 730, 0.0, 0.0)) == 0.0
    assert gamma_star(Setting(25, 10, 1, 5.0, 3.0)) > 0.0
    assert gamma_star(Setting(5, 10, 730, 5.0, 3.0)) > 0.0  # a live pool may be smaller than its team
    assert gamma_star(Setting(0, 10, 730, 5.0, 3.0)) >= 0.0


def test_gamma1_and_gamma2() -> None:
    assert gamma1(BENCHMARK) == (3 + 5) ** 2 * 10
    assert gamma2(BENCHMARK) == (3 + 5) * 10


@given(settings(), st.floats(0.1, 1000.0))
def test_the_full_bound_is_the_printed_formula(setting: Setting, gamma: float) -> None:
    k, m, t, c, w = setting.workers, setting.team, setting.horizon, setting.cost, setting.mean_delay
    log_t = math.log(t)
    assume(m * t >= (k - m) * log_t)
    assume(c == 0 or c * m * t >= (k - m) * log_t)
    printed = (
        5 * math.sqrt(m * (k - m) * t * log_t)
        + (c + 1) * (k - m)
        + ((k - m) * c * math.log(c * m * t / ((k - m) * log_t)) if c > 0 else 0.0)
        + k * (gamma + 1)
        + 4 * m * k / t
        + 2 * (k - m) * math.sqrt(gamma * 4 * log_t) * (1 + 0.5 * math.log(m * t / ((k - m) * log_t)))
        + (w + c) * m * math.sqrt(k * t / gamma)
        + (w + c) * m * k
    )
    bound = regret_bound(setting, gamma)
    assert bound.total == pytest.approx(printed, rel=1e-12)
    assert sum(bound.terms().values()) == pytest.approx(bound.total)


@given(settings(), st.floats(0.1, 1000.0))
@example(Setting(1000, 1, 100, 5.0, 3.0), 1.0)  # the printed formula gives -7,392 at gamma*
@example(Setting(1000, 1, 100, 5.0, 3.0), gamma_star(Setting(1000, 1, 100, 5.0, 3.0)))
@example(Setting(25, 10, 730, 0.001, 0.0), 1.0)
def test_outside_its_derivation_the_bound_is_still_one_and_tells_nothing(setting: Setting, gamma: float) -> None:
    bound, (k, m, t) = regret_bound(setting, gamma), (setting.workers, setting.team, setting.horizon)
    assert all(term >= 0.0 for term in bound.terms().values())
    assert bound.last_periods >= (setting.cost + 1) * (k - m)  # an empty harmonic sum takes nothing off
    assert bound_holds(setting) == (m * t >= (k - m) * math.log(t))
    if not bound_holds(setting):
        assert bound.total >= trivial_bound(setting, gamma) >= m * t


def test_the_bound_is_continuous_where_its_derivation_ends() -> None:
    setting = next(Setting(60, 1, t, 5.0, 3.0) for t in range(2, 10_000) if bound_holds(Setting(60, 1, t, 5.0, 3.0)))
    before = Setting(60, 1, setting.horizon - 1, 5.0, 3.0)
    assert not bound_holds(before)
    assert regret_bound(before, 2.0).total == pytest.approx(regret_bound(setting, 2.0).total, rel=0.01)


def test_a_worker_whose_gap_exceeds_the_fee_takes_nothing_off_the_instance_bound() -> None:
    bound = instance_bound(Setting(3, 1, 100, 0.01, 0.0), 1.0, [0.9, 0.5, 0.1])
    assert bound.last_periods == pytest.approx(1.01 * 2)


def test_the_instance_bound_is_the_printed_formula_and_tends_to_its_limit() -> None:
    means = [0.9, 0.8, 0.55, 0.5, 0.1]
    c, w, m, k, gamma = 5.0, 3.0, 2, 5, 12.0

    def printed(t: int) -> float:
        log_t = math.log(t)
        gaps = [(0.8 - mu, 0.9 - mu) for mu in (0.55, 0.5, 0.1)]
        inverse = sum(1 / near for near, _ in gaps)
        return (
            4 * inverse * (2 * log_t + (w + c) * m * math.sqrt(k * log_t / gamma))
            + sum(
                2 * math.sqrt(gamma * 4 * log_t) * (1 + math.log(far / near)) + c * math.log(c / near)
                for near, far in gaps
            )
            + sum(far * (gamma + 1 + 4 * m / t) for _, far in gaps)
            + 2 * (w + c) * m * k * (1 + 1 / k + k / (gamma * t) + k**2 / t**2)
            + (c + 1) * (k - m)
        )

    for t in (10, 730, 10**6):
        assert instance_bound(Setting(k, m, t, c, w), gamma, means).total == pytest.approx(printed(t), rel=1e-12)
    limit = instance_limit(means, m)
    assert limit == pytest.approx(8 / 0.25 + 8 / 0.3 + 8 / 0.7)
    # What is left above the limit fades like this constant over sqrt(log T).
    inverse, spread = limit / 8, sum(1 + math.log((0.9 - mu) / (0.8 - mu)) for mu in (0.55, 0.5, 0.1))
    fading = 4 * inverse * (w + c) * m * math.sqrt(k / gamma) + 4 * math.sqrt(gamma) * spread
    for power in (100, 300):
        log_t = math.log(10) * power
        excess = instance_bound(Setting(k, m, 10**power, c, w), gamma, means).total / log_t - limit
        assert excess == pytest.approx(fading / math.sqrt(log_t), rel=0.25)
        assert excess > fading / math.sqrt(log_t)


def test_lower_bounds() -> None:
    assert minimax_lower_bound(BENCHMARK).rate == math.sqrt(10 * 25 * 730)
    assert minimax_lower_bound(Setting(1000, 2, 3, 1.0, 0.0)).rate == 6.0
    assert "constant" in minimax_lower_bound(BENCHMARK).unit
    for gap in (0.01, 0.2, 0.45):
        means = [0.5, 0.5, 0.5 - gap, 0.5 - gap, 0.5 - gap]
        divergence = (0.5 - gap) * math.log(1 - 2 * gap) + (0.5 + gap) * math.log(1 + 2 * gap)
        assert instance_lower_limit(means, 2) == pytest.approx(3 * gap / divergence)
        assert instance_lower_limit(means, 2) >= 3 / (4 * gap)
        assert instance_lower_limit(means, 2) <= instance_limit(means, 2)
    assert instance_lower_limit([1.0, 0.4], 1) == 0.0  # one failure tells the worse worker apart from a perfect one


def test_cost_growth_and_cycles() -> None:
    assert cost_growth(BENCHMARK).rate == 0.0
    assert cost_growth(Setting(25, 10, 250 * 10**4, 5.0, 3.0)).rate == pytest.approx(7.0)
    assert cycles_bound(BENCHMARK, 15.8) == math.sqrt(25 * 730 / 15.8) + 25
    means = [0.9] * 10 + [0.4] * 15
    expected = 50 * (15 * 4 * math.sqrt(math.log(730) / (25 * 15.8)) + 1 + 1 / 25 + 25 / (15.8 * 730) + 25**2 / 730**2)
    assert expected_cycles_bound(BENCHMARK, 15.8, means) == pytest.approx(expected)


def test_what_the_theorems_do_not_speak_of_is_refused() -> None:
    with pytest.raises(InvalidInput, match="more workers than stations"):
        regret_bound(Setting(10, 10, 730, 5.0, 3.0), 1.0)
    with pytest.raises(InvalidInput, match="at least 2 periods"):
        regret_bound(Setting(25, 10, 1, 5.0, 3.0), 1.0)
    with pytest.raises(InvalidInput, match="gamma"):
        regret_bound(BENCHMARK, 0.0)
    with pytest.raises(InvalidInput, match="strictly better"):
        instance_limit([0.5, 0.5, 0.2], 1)
    with pytest.raises(InvalidInput, match="one entry for each"):
        instance_bound(BENCHMARK, 1.0, [0.5, 0.4])
