"""Confidence radii: half-widths of the confidence intervals of workers' means.

- `log-T`: sqrt(log T / n), Hoeffding's with the horizon T (the paper's text);
- `log-t`: sqrt(log t / n), with t the completed periods, at least 1 (the paper's printed tables);
- `empirical-bernstein`: the smaller of `log-T` and sqrt(2 V log T / n) + 3 log T / n, where V is the observed variance
  (the radius of UCB-V), which is tighter for workers with little variance observed more than about 9 log T times.

A worker never observed has UCB = +inf and LCB = -inf.
"""

import math

from crewlearn.beliefs.estimates import Estimates, mean_of, variance_of
from crewlearn.problem.arrays import FloatArray

LOG_HORIZON, LOG_PERIOD, EMPIRICAL_BERNSTEIN = range(3)

RADII = {"log-T": LOG_HORIZON, "log-t": LOG_PERIOD, "empirical-bernstein": EMPIRICAL_BERNSTEIN}
"""Names of the radii and their codes."""

USE_VARIANCE = (EMPIRICAL_BERNSTEIN,)
"""The radii that depend on the observed variance; for the others it is not computed."""


def log_term(code: int, horizon: int, period: int) -> float:
    """Return the logarithm in the radius formula at the start of `period`."""
    if code == LOG_PERIOD:
        return math.log(max(period - 1, 1))
    if code in (LOG_HORIZON, EMPIRICAL_BERNSTEIN):
        return math.log(horizon)
    raise ValueError("unknown code of a radius")


def radius(code: int, n: int, variance: float, log_value: float) -> float:
    """Return the confidence radius of `n` observations with this variance; infinite before the first observation."""
    if n <= 0:
        return math.inf
    hoeffding = math.sqrt(log_value / n)
    if code == EMPIRICAL_BERNSTEIN:
        return min(hoeffding, math.sqrt(2.0 * variance * log_value / n) + 3.0 * log_value / n)
    if code in (LOG_HORIZON, LOG_PERIOD):
        return hoeffding
    raise ValueError("unknown code of a radius")


def confidence_bounds(code: int, estimates: Estimates, log_value: float, ucb: FloatArray, lcb: FloatArray) -> None:
    """Fill in the upper and lower confidence bounds of all workers."""
    counts, sums, squares = estimates.counts, estimates.sums, estimates.squares
    for worker in range(len(counts)):
        n, total = int(counts[worker]), float(sums[worker])
        spread = variance_of(n, total, float(squares[worker])) if code in USE_VARIANCE else 0.0
        r = radius(code, n, spread, log_value)
        average = mean_of(n, total)
        ucb[worker] = average + r
        lcb[worker] = average - r
