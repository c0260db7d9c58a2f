"""The posterior of each worker's mean under an empirical-Bayes normal model of the pool.

The model: workers' means are normal around a common centre, and output is normal around the worker's mean, with the
same noise variance for everybody. The noise variance is pooled over the workers' own output. The pool's centre and
spread are inferred by their likelihood given everybody ever observed. The likelihood is not biased by who was hired,
kept or replaced, as long as that depended only on observations; averages over the active workers would be.

The spread is averaged over a grid rather than estimated as a point. With few data a pool of apparently equal workers
may still have much better ones, and a point estimate of zero would end the search for them for good.
"""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from crewlearn.beliefs.estimates import Estimates
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import real

SPREADS = 11
NARROWEST = 0.0125
"""The grid of spreads between workers' means: 0.0125 to 0.4, each sqrt(2) times the last, with equal prior weight."""

CENTRE_GUESS = 0.5
CENTRE_PRECISION = 1.0 / (0.3 * 0.3)
"""The prior of the pool's centre: mean 0.5, standard deviation 0.3."""

LEAST_NOISE = 1e-8
"""Lower limit on the noise variance, which avoids dividing by zero when output has no noise."""

_SMALL, _LARGE = 1e-200, 1e200


class Beliefs(NamedTuple):
    """The posterior, as arrays that `learn` fills in.

    `pool` holds the centre, the variance between workers, the noise variance, and the variance of the centre. `means`
    and `variances` are each worker's posterior. `spared_counts` and `spared_sums` are prior observations of unknown
    spread (for which `with_prior` assumes the largest): they count for the means, but not for the noise.
    """

    pool: FloatArray
    means: FloatArray
    variances: FloatArray
    spared_counts: IntArray
    spared_sums: FloatArray


CENTRE, BETWEEN, NOISE, CENTRE_DOUBT = range(4)
"""Indices into `Beliefs.pool`."""

LEARN = -1.0
"""Marks a number that is to be learned from data."""

NOISE_GUESS, GUESS_WEIGHT = 0.5, 4.0
"""The prior guess of the output's standard deviation, the largest possible, and its weight in observations."""

TWO_SIDED_95 = NormalDist().inv_cdf(0.975)
"""A normal lies within this many standard deviations of its mean with probability 95%."""

_ROOT_HALF = math.sqrt(0.5)


def fresh_beliefs(spared_counts: IntArray, spared_sums: FloatArray) -> Beliefs:
    """Allocate beliefs for `learn` to fill in."""
    workers = len(spared_counts)
    return Beliefs(
        np.zeros(4, dtype=np.float64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.float64),
        spared_counts,
        spared_sums,
    )


class Assumed(NamedTuple):
    """Assumptions about the pool before any data.

    `noise_guess`, a standard deviation, has the weight of `guess_weight` observations. `centre`, `between_sd` and
    `noise_sd` are taken as certain unless they are `LEARN`.
    """

    noise_guess: float
    guess_weight: float
    centre: float
    between_sd: float
    noise_sd: float


def assume(
    noise_guess: float, guess_weight: float, centre: float | None, between_sd: float | None, noise_sd: float | None
) -> Assumed:
    """Return the assumptions that a policy's fields state, or raise; None stands for what is to be learned.

    >>> assume(0.5, 4.0, None, None, 0.1)
    Assumed(noise_guess=0.5, guess_weight=4.0, centre=-1.0, between_sd=-1.0, noise_sd=0.1)
    """
    real("noise_guess", noise_guess, 0.0, 0.5, above=True)
    real("guess_weight", guess_weight, 0.0, 1e6, above=True)
    if centre is not None:
        real("centre", centre, 0.0, 1.0)
    if between_sd is not None:
        real("between_sd", between_sd, 0.001, 0.5)
    if noise_sd is not None:
        real("noise_sd", noise_sd, 0.0, 0.5)
    told = (LEARN if number is None else float(number) for number in (centre, between_sd, noise_sd))
    return Assumed(float(noise_guess), float(guess_weight), *told)


LEARNED_FROM_DATA = Assumed(NOISE_GUESS, GUESS_WEIGHT, LEARN, LEARN, LEARN)
"""The default assumptions: everything about the pool is learned from data."""


def learn(beliefs: Beliefs, estimates: Estimates, assumed: Assumed) -> None:
    """Infer the pool's centre, spread and noise, and each worker's posterior, from all observations."""
    counts, sums, pool = estimates.counts, estimates.sums, beliefs.pool
    if assumed.noise_sd >= 0.0:
        noise = max(assumed.noise_sd * assumed.noise_sd, LEAST_NOISE)
    else:
        noise = _pooled_noise(beliefs, estimates, assumed.noise_guess * assumed.noise_guess, assumed.guess_weight)
    pool[NOISE] = noise
    _weigh_spreads(beliefs, estimates, noise, assumed.between_sd)
    if assumed.centre >= 0.0:
        pool[CENTRE], pool[CENTRE_DOUBT] = assumed.centre, 0.0
    shrinkage = noise / pool[BETWEEN]  # the weight of the pool's centre, in observations
    for worker in range(len(counts)):
        weight = counts[worker] + shrinkage
        beliefs.means[worker] = (sums[worker] + shrinkage * pool[CENTRE]) / weight
        share = shrinkage / weight  # the centre's share in the mean, and so of its uncertainty
        beliefs.variances[worker] = noise / weight + pool[CENTRE_DOUBT] * share * share


def learned(estimates: Estimates, spared_counts: IntArray, spared_sums: FloatArray, assumed: Assumed) -> Beliefs:
    """Return the beliefs learned from these data, cached; callers must not change them."""
    whole, real = (estimates.counts, spared_counts), (estimates.sums, estimates.squares, spared_sums)
    data = [np.asarray(array, dtype=np.int64) for array in whole] + [np.asarray(array, np.float64) for array in real]
    return _recalled(assumed, *(array.tobytes() for array in data))


@lru_cache(maxsize=16)
def _recalled(
    assumed: Assumed, counts: bytes, spared_counts: bytes, sums: bytes, squares: bytes, spared_sums: bytes
) -> Beliefs:
    seen, spared = (np.frombuffer(data, np.int64) for data in (counts, spared_counts))
    totals, of_squares, spared_totals = (np.frombuffer(data, np.float64) for data in (sums, squares, spared_sums))
    room = fresh_beliefs(spared, spared_totals)
    lists: Any = Beliefs(*(array.tolist() for array in room))  # plain Python reads and writes them much faster
    learn(lists, Estimates(*(array.tolist() for array in (seen, totals, of_squares))), assumed)
    filled: Any = (np.array(values, array.dtype) for values, array in zip(lists, room, strict=True))
    return Beliefs(*filled)


def _pooled_noise(beliefs: Beliefs, estimates: Estimates, guess: float, weight: float) -> float:
    """Return the variance of output around each worker's own mean, pooled over all workers."""
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


def _weigh_spreads(beliefs: Beliefs, estimates: Estimates, noise: float, told: float) -> None:
    """Average the centre and the variance between workers over the grid of spreads, weighted by marginal likelihood.

    The centre is integrated out. Under spread s, the average of n observations has variance (n s^2 + noise) / n around
    the centre. If the spread was given (`told` > 0), it is the only one.
    """
    seen, averages = beliefs.variances, beliefs.means  # used as scratch; `learn` fills them in afterwards
    tried = 0
    for worker in range(len(estimates.counts)):
        n = estimates.counts[worker]
        if n > 0:
            seen[tried] = n
            averages[tried] = estimates.sums[worker] / n
            tried += 1
    best, whole, centre, square, variance = -math.inf, 0.0, 0.0, 0.0, 0.0
    between = told * told if told > 0.0 else NARROWEST * NARROWEST
    for _ in range(1 if told > 0.0 else SPREADS):
        precision = CENTRE_PRECISION
        weighted = CENTRE_PRECISION * CENTRE_GUESS
        squares = CENTRE_PRECISION * CENTRE_GUESS * CENTRE_GUESS
        logs, product = 0.0, 1.0
        for place in range(tried):
            n, average = float(seen[place]), float(averages[place])
            spread = n * between + noise
            weight = n / spread
            moment = weight * average
            precision += weight
            weighted += moment
            squares += moment * average
            product *= spread
            if product < _SMALL or product > _LARGE:  # one logarithm for many factors
                logs += math.log(product)
                product = 1.0
        deviance = logs + math.log(product) + math.log(precision) + squares - weighted * weighted / precision
        if -0.5 * deviance > best:
            rescale = math.exp(best + 0.5 * deviance)
            best = -0.5 * deviance
            whole *= rescale
            centre *= rescale
            square *= rescale
            variance *= rescale
        share = math.exp(-0.5 * deviance - best)
        whole += share
        middle = weighted / precision
        centre += share * middle
        square += share * (1.0 / precision + middle * middle)
        variance += share * between
        between *= 2.0
    centre /= whole
    beliefs.pool[CENTRE] = centre
    beliefs.pool[CENTRE_DOUBT] = max(0.0, square / whole - centre * centre)
    beliefs.pool[BETWEEN] = variance / whole


def chance_above(mean: float, sd: float, level: float) -> float:
    """Return the probability that a normal exceeds a level.

    >>> round(chance_above(0.6, 0.1, 0.5), 4), chance_above(0.6, 0.0, 0.5)
    (0.8413, 1.0)
    """
    if sd <= 0.0:
        return 1.0 if mean > level else 0.0
    return 0.5 * math.erfc((level - mean) / sd * _ROOT_HALF)
