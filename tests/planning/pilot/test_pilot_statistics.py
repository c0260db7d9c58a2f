"""The comparison, its test and interval, against brute force; power against the normal law."""

import math
from itertools import permutations
from statistics import NormalDist

import numpy as np
import pytest

from crewlearn.planning.pilot.analysis import analyse
from crewlearn.planning.pilot.comparison import Cells, assignments, attainable_level, possible
from crewlearn.planning.pilot.power import power_of
from crewlearn.planning.pilot.variation import Products, Variation
from crewlearn.problem.arrays import FloatArray

PARALLEL = Cells.of(range(5), [range(5, 15)], [3])
STEPPED = Cells.of(range(5), [range(5, 10), range(10, 16)], [2, 2])


def estimate(values: FloatArray, cells: Cells, waves: tuple[int, ...], carried: float) -> float:
    """Return the estimate by the definition: differences of means within cells, weighted."""
    total = weight = 0.0
    adjusted = values - carried * values[:, list(cells.baseline)].mean(axis=1, keepdims=True)
    for cell, days in enumerate(cells.days):
        arms = [int(cells.arms[wave, cell]) for wave in waves]
        advised, usual = ([row for row, arm in enumerate(arms) if arm == which] for which in (1, 0))
        if advised and usual:
            own = adjusted[:, list(days)].mean(axis=1)
            height = len(days) * len(advised) * len(usual) / (len(advised) + len(usual))
            total += height * (own[advised].mean() - own[usual].mean())
            weight += height
    return total / weight


@pytest.mark.parametrize(("cells", "waves"), [(PARALLEL, (0, 1, 0, 1, 0)), (STEPPED, (0, 1, 2, 1, 0, 2))])
def test_gain_and_p_value_are_those_of_brute_force(cells: Cells, waves: tuple[int, ...]) -> None:
    values = np.random.default_rng(3).normal(10.0, 1.0, (len(waves), 16))
    found = analyse(values, cells, waves, 0.4, 0.2)
    assert found.gain == pytest.approx(estimate(values, cells, waves, 0.4))
    every = [estimate(values, cells, other, 0.4) for other in set(permutations(waves))]
    assert found.assignments == len(every) == possible(tuple(np.bincount(waves)))
    assert found.p == pytest.approx(np.mean([abs(other) >= abs(found.gain) - 1e-9 for other in every]))


@pytest.mark.parametrize(("cells", "waves"), [(PARALLEL, (0, 1) * 5), (STEPPED, (0, 1, 2, 1, 0, 2))])
def test_the_interval_holds_what_the_test_does_not_reject(cells: Cells, waves: tuple[int, ...]) -> None:
    """Without a run-in the ends are exact: a gain just inside is accepted, and one just outside is not."""
    plain = Cells.of(
        cells.baseline, [range(5, 10), range(10, 16)][: cells.arms.shape[0] - 1], [0, 0][: cells.arms.shape[0] - 1]
    )
    values = np.random.default_rng(4).normal(10.0, 1.0, (len(waves), 16))
    found = analyse(values, plain, waves, 0.3, 0.1)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.gain < found.high
    exposed = np.zeros_like(values)
    for row, wave in enumerate(waves):
        for cell, days in enumerate(plain.days):
            exposed[row, list(days)] = plain.arms[wave, cell] == 1
    for end, inside in ((found.low, 1e-6), (found.high, -1e-6)):
        assert analyse(values - (end + inside) * exposed, plain, waves, 0.3, 0.1).p > 0.1
        assert analyse(values - (end - inside) * exposed, plain, waves, 0.3, 0.1).p <= 0.1


def test_what_a_day_does_to_everybody_cancels_out() -> None:
    random = np.random.default_rng(5)
    values, shocks = random.normal(10.0, 1.0, (6, 16)), random.normal(0.0, 50.0, 16)
    before, after = (analyse(some, STEPPED, (0, 1, 2, 1, 0, 2), 0.4, 0.2) for some in (values, values + shocks))
    assert after.gain == pytest.approx(before.gain)
    assert after.p == before.p


def test_attainable_levels() -> None:
    """By counting: 8 groups in two arms make 35 pairs of mirrored assignments, 10 make 126, and 9 make 126 in all."""
    assert attainable_level(PARALLEL, (4, 4), 0.05) == pytest.approx(1 / 35)
    assert attainable_level(PARALLEL, (5, 5), 0.05) == pytest.approx(6 / 126)
    assert attainable_level(PARALLEL, (5, 4), 0.05) == pytest.approx(6 / 126)


def test_more_assignments_than_can_be_listed_are_drawn_with_the_right_sizes() -> None:
    drawn = assignments((10, 10))
    assert len(drawn) == 19_999
    assert (drawn.sum(axis=1) == 10).all()


def test_without_effect_the_test_rejects_at_its_level() -> None:
    """Of 2,000 pilots, 6/126 are expected to reject; 4 standard errors are 38, passed by chance in 1 of 15,000."""
    random = np.random.default_rng(6)
    rejected = 0
    for _ in range(2_000):
        waves = random.permutation([0, 1] * 5)
        level = random.standard_t(3, (10, 1))
        rejected += analyse(level + random.normal(0.0, 1.0, (10, 15)), PARALLEL, waves.tolist(), 0.5, 0.05).detected
    assert abs(rejected - 2_000 * 6 / 126) < 38


def test_the_variation_is_found_again() -> None:
    """With 400 groups over 80 days, the standard errors of the variances are below a tenth of them."""
    random = np.random.default_rng(7)
    fading = np.zeros((400, 80))
    fading[:, 0] = random.normal(0.0, 2.0, 400)
    for day in range(1, 80):
        fading[:, day] = 0.9 * fading[:, day - 1] + random.normal(0.0, 2.0 * math.sqrt(1 - 0.81), 400)
    lasting = random.normal(0.0, 3.0, (400, 1))
    values = lasting + fading + random.normal(0.0, 1.0, (400, 80)) + random.normal(0.0, 5.0, 80)
    found = Products.of(values).fit()
    assert found.lasting == pytest.approx(9.0, rel=0.4)
    assert found.lasting + found.fading == pytest.approx(13.0, rel=0.3)
    assert found.daily == pytest.approx(1.0, rel=0.6)


def test_power_is_that_of_the_normal_law_for_many_groups() -> None:
    """With 60 groups of pure noise, the estimate is normal: sd = sqrt(4 / 60 / days); the fits add a little doubt."""
    values = np.random.default_rng(8).normal(0.0, 1.0, (60, 60))
    cells = Cells.of(range(30, 60), [range(60, 80)], [0])
    power = power_of(Products.of(values), cells, (30, 30), 0.05)
    sd = math.sqrt(4 / 60 / 20)
    for gain in (0.0, 2.0 * sd, 2.8 * sd):
        expected = NormalDist().cdf(gain / sd - 1.96) + NormalDist().cdf(-1.96 - gain / sd)
        assert power.of_gain(gain) == pytest.approx(expected, abs=0.06)
    assert power.of_gain(power.detectable(0.8)) == pytest.approx(0.8, abs=0.02)


def test_covariance_of_means() -> None:
    cells = Cells.of(range(2), [range(2, 4)], [0])
    found = Variation(lasting=1.0, fading=2.0, memory=0.5, wandering=0.1, daily=4.0).covariance(cells)
    pairs = [[1 + 2 * 0.5 ** abs(s - t) + 0.1 * min(s, t) + 4 * (s == t) for t in range(4)] for s in range(4)]
    means = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    assert found == pytest.approx(means @ np.array(pairs) @ means.T)
