"""Near values stay within their error, and comparisons made with them are those of the exact values."""

import math
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.policies.value import trials
from crewlearn.policies.value.excess import ROUGHNESS, excess, near_excess, near_upside, upside
from crewlearn.policies.value.trials import (
    Trial,
    best_trial,
    error_of_near,
    gain_later,
    gain_of,
    later_gains_more,
    may_pay,
    near_gain,
    sd_of_finding,
)

means, sds = st.floats(0.0, 1.0), st.floats(1e-5, 0.5)
fees, lasting = st.floats(0.0, 200.0), st.floats(1.001, 2000.0)
nudges = st.sampled_from([-1e-3, -1e-6, -1e-12, 0.0, 1e-12, 1e-6, 1e-3])
"""Relative changes by which a number is moved off a tie."""


@pytest.mark.parametrize("sd", [1e-5, 0.03, 0.5])
def test_the_table_is_within_its_error_everywhere(sd: float) -> None:
    for step in range(-9000, 9001):
        level = 0.5 + sd * step / 1000.0
        assert -1e-15 <= near_excess(0.5, sd, level) - excess(0.5, sd, level) <= ROUGHNESS * sd + 1e-15


def test_the_table_reaches_as_far_as_the_formula() -> None:
    """At 8 standard deviations, and one rounding error to either side."""
    for distance in (math.nextafter(0.8, 0.0), 0.8, math.nextafter(0.8, 1.0)):
        for sign in (-1.0, 1.0):
            assert near_excess(sign * distance, 0.1, 0.0) == pytest.approx(max(0.0, sign * distance), abs=1e-15)
    assert near_excess(0.5, 0.0, 0.4) == excess(0.5, 0.0, 0.4) == pytest.approx(0.1)
    assert near_excess(0.5, 0.0, 0.5) == near_excess(0.5, 0.0, 0.6) == 0.0


@given(means, sds, means, means, fees, lasting, st.floats(0.0, 1.0))
def test_near_gains_are_within_their_error(
    mean: float, sd: float, level: float, other: float, fee: float, left: float, share: float
) -> None:
    trial = Trial(mean, sd, 1.0 + share * left, other, fee)
    assert abs(near_gain(trial, level, left) - gain_of(trial, level, left)) <= error_of_near(sd, fee, left)
    assert abs(near_upside(mean, sd, level) - upside(mean, sd, level)) <= ROUGHNESS * sd + 1e-15


@given(means, sds, st.floats(1e-8, 0.25), means, means, fees, lasting)
def test_the_best_trial_is_the_first_of_the_highest_exact_gain(
    mean: float, sd: float, noise: float, level: float, other: float, fee: float, left: float
) -> None:
    lengths = [2.0**power for power in range(12) if power == 0 or 2.0**power < left]
    all_trials = [Trial(mean, sd_of_finding(sd * sd, noise, length), length, other, fee) for length in lengths]
    best = max(all_trials, key=lambda trial: gain_of(trial, level, left))  # the first of equals
    assert best_trial(mean, sd * sd, noise, other, fee, level, left) == best


@given(means, sds, means, sds, means, fees, lasting, nudges)
def test_waiting_is_compared_exactly(
    mean: float, sd: float, level: float, doubt: float, other: float, fee: float, left: float, nudge: float
) -> None:
    trial = Trial(mean, sd, 4.0, other, fee)
    later = gain_later(trial, level, doubt, math.inf, left)
    gain = later * (1.0 + nudge)
    assert later_gains_more(trial, level, doubt, math.inf, left, gain) == (later > gain)


@given(means, sds, means, lasting, nudges)
def test_what_may_pay_is_decided_exactly(mean: float, sd: float, level: float, left: float, nudge: float) -> None:
    promise = left * upside(mean, sd, level)
    fee = promise * (1.0 + nudge)
    assert may_pay(mean, sd, fee, level, left) == (promise > fee)


def test_exact_values_are_computed_only_if_near_ones_are_too_close() -> None:
    promise = 100.0 * upside(0.5, 0.1, 0.45)
    with mock.patch.object(trials, "upside", wraps=upside) as computed:
        assert not may_pay(0.5, 0.1, promise, 0.45, 100.0)
        assert computed.call_count == 1
        assert may_pay(0.5, 0.1, 0.9 * promise, 0.45, 100.0)
        assert not may_pay(0.5, 0.1, 1.1 * promise, 0.45, 100.0)
        assert computed.call_count == 1
