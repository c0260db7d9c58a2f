"""Random streams are uniform, and independent across runs, periods and workers.

Each check is a chi-square or correlation statistic with a limit of 5 standard deviations (a chi-square with many
degrees of freedom is nearly normal). Under perfect mixing each would fail for less than one seed in 100,000. Seeds are
fixed.
"""

import itertools
import math

import numpy as np
import pytest

from crewlearn.engine.streams import DELAY, OUTPUT, PURPOSES, run_key, seed_root
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import mix, unit


def cube(seed: int, runs: range, periods: range, workers: range, purpose: int = OUTPUT) -> FloatArray:
    """Return the uniforms that outputs are drawn from, by run, period and worker."""
    root = seed_root(seed)
    return np.array(
        [[[unit(mix(mix(run_key(root, r, purpose), t), i)) for i in workers] for t in periods] for r in runs]
    )


def excess(counts: FloatArray) -> float:
    """Return the chi-square statistic of equally likely cells, in standard deviations from its mean."""
    expected = counts.sum() / counts.size
    freedom = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / math.sqrt(2 * freedom))


DRAWS = cube(12, range(40), range(1, 51), range(50))


def test_draws_are_uniform() -> None:
    assert abs(excess(np.histogram(DRAWS, bins=1000, range=(0, 1))[0].astype(float))) < 5
    low_bits = (DRAWS * 2**40 % 256).astype(int)
    assert abs(excess(np.bincount(low_bits.ravel(), minlength=256).astype(float))) < 5


@pytest.mark.parametrize("axis", [0, 1, 2], ids=["run", "period", "worker"])
def test_neighbours_along_each_axis_are_independent(axis: int) -> None:
    for lag in (1, 2, 7):
        ahead = np.take(DRAWS, range(lag, DRAWS.shape[axis]), axis).ravel()
        behind = np.take(DRAWS, range(DRAWS.shape[axis] - lag), axis).ravel()
        pairs = np.histogram2d(behind, ahead, bins=20, range=((0, 1), (0, 1)))[0]
        assert abs(excess(pairs)) < 5
        assert abs(np.corrcoef(behind, ahead)[0, 1]) < 5 / math.sqrt(len(ahead))


def test_sums_over_any_two_axes_have_the_variance_of_independent_draws() -> None:
    """A dependence too weak to detect between neighbours would accumulate in sums; a uniform's variance is 1/12."""
    for axes in itertools.combinations(range(3), 2):
        sums = DRAWS.sum(axis=axes)
        terms = DRAWS.size / len(sums)
        spread = (((sums - terms / 2) ** 2) / (terms / 12)).sum()
        assert abs(spread - len(sums)) < 5 * math.sqrt(2 * len(sums))


def test_seeds_runs_and_purposes_have_streams_of_their_own() -> None:
    others = [
        cube(13, range(10), range(1, 21), range(50)),
        cube(12, range(40, 50), range(1, 21), range(50)),
        cube(12, range(10), range(1, 21), range(50), DELAY),
    ]
    mine = DRAWS[:10, :20].ravel()
    for other in others:
        assert abs(np.corrcoef(mine, other.ravel())[0, 1]) < 5 / math.sqrt(len(mine))
    keys = {run_key(seed_root(s), r, p) for s in range(20) for r in range(100) for p in range(PURPOSES)}
    assert len(keys) == 20 * 100 * PURPOSES
