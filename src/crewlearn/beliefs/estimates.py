"""Running estimates of each worker's output: number of observations, mean and variance."""

from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray


class Estimates(NamedTuple):
    """Count, sum and sum of squares of each worker's observations; plain sums are accurate for output in [0, 1].

    >>> estimates = no_data(2)
    >>> for output in (0.2, 0.4, 0.6):
    ...     record(estimates, 1, output)
    >>> int(estimates.counts[1]), round(mean(estimates, 1), 3), round(variance(estimates, 1), 3)
    (3, 0.4, 0.027)
    >>> estimates.means().round(3)
    array([0. , 0.4])
    """

    counts: IntArray
    sums: FloatArray
    squares: FloatArray

    def means(self) -> FloatArray:
        """Return everybody's mean output; 0 for those never observed."""
        return np.array([mean(self, worker) for worker in range(len(self.counts))], dtype=np.float64)


class Prior(NamedTuple):
    """Count and sum of each worker's prior observations, whose spread is unknown.

    >>> no_prior(2).counts.tolist()
    [0, 0]
    """

    counts: IntArray
    sums: FloatArray


def no_prior(workers: int) -> Prior:
    """Return a prior without any observations."""
    return Prior(np.zeros(workers, dtype=np.int64), np.zeros(workers))


def no_data(workers: int) -> Estimates:
    """Return estimates without any observations."""
    return Estimates(np.zeros(workers, dtype=np.int64), np.zeros(workers), np.zeros(workers))


def with_prior(prior_n: IntArray, prior_mean: FloatArray) -> Estimates:
    """Return estimates that begin with prior observations: `prior_n` of each worker, with known means.

    Their spread is unknown. It is taken as the largest possible for output in [0, 1] with this mean: every output 0 or
    1, so that the sum of squares equals the sum. Real output may be all 0 or 1 too, so estimates do not show which
    observations are prior ones; a `Prior` does.
    """
    sums = prior_n * prior_mean
    return Estimates(prior_n.astype(np.int64), sums, sums.copy())


def grown(estimates: Estimates, workers: int) -> Estimates:
    """Return a copy of the estimates with unobserved newcomers added at the end."""
    extra = no_data(workers - len(estimates.counts))
    return Estimates(*(np.concatenate([old, new]) for old, new in zip(estimates, extra, strict=True)))


def record(estimates: Estimates, worker: int, output: float) -> None:
    """Add an observation."""
    estimates.counts[worker] += 1
    estimates.sums[worker] += output
    estimates.squares[worker] += output * output


def mean(estimates: Estimates, worker: int) -> float:
    """Return the mean of a worker's observations; 0 before the first."""
    return mean_of(int(estimates.counts[worker]), float(estimates.sums[worker]))


def mean_of(n: int, total: float) -> float:
    """Return the mean of `n` observations with this sum; 0 if there are none."""
    return total / n if n > 0 else 0.0


def variance(estimates: Estimates, worker: int) -> float:
    """Return the variance of a worker's observations (population form); 0 before the first."""
    total, squares = float(estimates.sums[worker]), float(estimates.squares[worker])
    return variance_of(int(estimates.counts[worker]), total, squares)


def variance_of(n: int, total: float, squares: float) -> float:
    """Return the variance of `n` observations with this sum and sum of squares; 0 if there are none."""
    if n == 0:
        return 0.0
    average = total / n
    return max(0.0, squares / n - average * average)
