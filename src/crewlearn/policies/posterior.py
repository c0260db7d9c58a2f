"""What is known of each worker's mean: a normal prior shared by the pool and learned from it, updated by own output.

Workers' means are taken as normal around a common centre, their output as normal around their mean with one noise
variance for all. Noise is pooled from the spread of each worker's own output. Centre and spread of the pool are weighed
by their likelihood given everybody ever seen, each with as much weight as their data carry. Likelihood is not fooled by
who was hired, kept or sent away, as long as that was decided by what had been seen; averages of those still active are.

Spread is averaged over a grid rather than estimated at one point: while data are few, a pool that looks alike may yet
hold workers worth finding, and a point estimate of zero would end the search for good.
"""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.policies.estimates import Estimates
from crewlearn.problem.arrays import FloatArray, IntArray

SPREADS = 11
NARROWEST = 0.0125
"""The grid of spreads between workers' means: 0.0125 to 0.4, each sqrt(2) times the last, all equally likely at first."""

CENTRE_GUESS = 0.5
CENTRE_PRECISION = 1.0 / (0.3 * 0.3)
"""Where the pool's centre lies before any data: 0.5, give or take 0.3."""

LEAST_NOISE = 1e-8
"""Noise variance is never taken as less, so that output without noise does no harm."""

_PRECISION, _WEIGHTED, _SQUARES, _PRODUCT, _LOG = range(5)
_BEFORE_LOG = 16


class Beliefs(NamedTuple):
    """What the pool's data say, as arrays that `learn` fills in.

    `pool` holds the centre, the variance between workers and the noise variance; `means` and `variances` are
    everybody's posterior. `spared_counts` and `spared_sums` are earlier encounters whose spread nobody knows
    (`with_prior` puts the largest in its place): they count for the means, not for the noise. `sums` is scratch.
    """

    pool: FloatArray
    means: FloatArray
    variances: FloatArray
    spared_counts: IntArray
    spared_sums: FloatArray
    sums: FloatArray


CENTRE, BETWEEN, NOISE = range(3)
"""Places in `Beliefs.pool`."""


def fresh_beliefs(spared_counts: IntArray, spared_sums: FloatArray) -> Beliefs:
    """Make room for what will be learned."""
    workers = len(spared_counts)
    return Beliefs(
        np.zeros(3, dtype=np.float64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.float64),
        spared_counts,
        spared_sums,
        np.zeros((5, SPREADS), dtype=np.float64),
    )


def learn(beliefs: Beliefs, estimates: Estimates, noise_guess: float, guess_weight: float) -> None:
    """Learn the pool's centre, spread and noise, and everybody's posterior, from all that was seen.

    `noise_guess` is the standard deviation of output that is expected before any data, with the weight of so many
    observations.
    """
    counts, sums, pool = estimates.counts, estimates.sums, beliefs.pool
    noise = _pooled_noise(beliefs, estimates, noise_guess * noise_guess, guess_weight)
    pool[NOISE] = noise
    _weigh_spreads(beliefs, estimates, noise)
    shrinkage = noise / pool[BETWEEN]  # the prior's weight, in observations
    for worker in range(len(counts)):
        weight = counts[worker] + shrinkage
        beliefs.means[worker] = (sums[worker] + shrinkage * pool[CENTRE]) / weight
        beliefs.variances[worker] = noise / weight


def _pooled_noise(beliefs: Beliefs, estimates: Estimates, guess: float, weight: float) -> float:
    """Give the variance of a worker's output around the own mean, pooled over everybody."""
    counts, sums, squares = estimates.counts, estimates.sums, estimates.squares
    freedom, scatter = weight, weight * guess
    for worker in range(len(counts)):
        n = counts[worker] - beliefs.spared_counts[worker]
        if n > 1:
            spared = beliefs.spared_sums[worker]
            total = sums[worker] - spared
            scatter += max(0.0, squares[worker] - spared - total * total / n)
            freedom += n - 1
    return max(scatter / freedom, LEAST_NOISE)


def _weigh_spreads(beliefs: Beliefs, estimates: Estimates, noise: float) -> None:
    """Average centre and variance between workers over the grid of spreads, by likelihood with the centre integrated.

    Under spread s, the mean of n observations has variance (n s^2 + noise) / n around the centre.
    """
    counts, sums, grid = estimates.counts, estimates.sums, beliefs.sums
    for place in range(SPREADS):
        grid[_PRECISION, place] = CENTRE_PRECISION
        grid[_WEIGHTED, place] = CENTRE_PRECISION * CENTRE_GUESS
        grid[_SQUARES, place] = CENTRE_PRECISION * CENTRE_GUESS * CENTRE_GUESS
        grid[_PRODUCT, place] = 1.0
        grid[_LOG, place] = 0.0
    tried = 0
    for worker in range(len(counts)):
        n = counts[worker]
        if n == 0:
            continue
        total = sums[worker]
        square = total * total / n
        between = NARROWEST * NARROWEST
        for place in range(SPREADS):
            spread = n * between + noise
            inverse = 1.0 / spread
            grid[_PRECISION, place] += n * inverse
            grid[_WEIGHTED, place] += total * inverse
            grid[_SQUARES, place] += square * inverse
            grid[_PRODUCT, place] *= spread
            between *= 2.0
        tried += 1
        if tried % _BEFORE_LOG == 0:  # products of few enough factors neither vanish nor overflow
            _take_logs(grid)
    _take_logs(grid)
    best = -math.inf
    for place in range(SPREADS):
        precision, weighted = grid[_PRECISION, place], grid[_WEIGHTED, place]
        deviance = grid[_LOG, place] + math.log(precision) + grid[_SQUARES, place] - weighted * weighted / precision
        grid[_LOG, place] = -0.5 * deviance
        best = max(best, grid[_LOG, place])
    whole, centre, variance = 0.0, 0.0, 0.0
    between = NARROWEST * NARROWEST
    for place in range(SPREADS):
        share = math.exp(grid[_LOG, place] - best)
        whole += share
        centre += share * grid[_WEIGHTED, place] / grid[_PRECISION, place]
        variance += share * between
        between *= 2.0
    beliefs.pool[CENTRE] = centre / whole
    beliefs.pool[BETWEEN] = variance / whole


def _take_logs(grid: FloatArray) -> None:
    for place in range(SPREADS):
        grid[_LOG, place] += math.log(grid[_PRODUCT, place])
        grid[_PRODUCT, place] = 1.0
