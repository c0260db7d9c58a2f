"""Running estimates of each worker's output: how many observations, their mean and their spread."""

from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray


class Estimates(NamedTuple):
    """Count, mean and sum of squared deviations of each worker's observations.

    >>> estimates = no_data(2)
    >>> for output in (0.2, 0.4, 0.6):
    ...     record(estimates, 1, output)
    >>> int(estimates.counts[1]), round(float(estimates.mean[1]), 3), round(variance(estimates, 1), 3)
    (3, 0.4, 0.027)
    """

    counts: IntArray
    mean: FloatArray
    squares: FloatArray


def no_data(workers: int) -> Estimates:
    """Start with nobody observed."""
    return Estimates(np.zeros(workers, dtype=np.int64), np.zeros(workers), np.zeros(workers))


def with_prior(prior_n: IntArray, prior_mean: FloatArray) -> Estimates:
    """Start from earlier encounters: n observations with a known mean.

    Their spread is not known, so it is taken as the largest that output in [0, 1] with this mean can have.
    """
    mean = np.where(prior_n > 0, prior_mean, 0.0)
    return Estimates(prior_n.astype(np.int64), mean, prior_n * mean * (1.0 - mean))


def grown(estimates: Estimates, workers: int) -> Estimates:
    """Give the same estimates with newcomers, unobserved, at the end."""
    extra = no_data(workers - len(estimates.counts))
    return Estimates(*(np.concatenate([old, new]) for old, new in zip(estimates, extra, strict=True)))


def record(estimates: Estimates, worker: int, output: float) -> None:
    """Take in one observation (Welford's update)."""
    estimates.counts[worker] += 1
    deviation = output - estimates.mean[worker]
    estimates.mean[worker] += deviation / estimates.counts[worker]
    estimates.squares[worker] += deviation * (output - estimates.mean[worker])


def variance(estimates: Estimates, worker: int) -> float:
    """Give the variance of a worker's observations (population form); 0 before the first."""
    n = int(estimates.counts[worker])
    return float(estimates.squares[worker]) / n if n > 0 else 0.0
