"""Confidence radii: how far a worker's mean may plausibly lie from the estimate.

- `log-T`: sqrt(log T / n), Hoeffding's with the horizon T (the paper's text);
- `log-t`: sqrt(log t / n), with t the completed periods, at least 1 (the paper's printed tables);
- `empirical-bernstein`: the smaller of `log-T` and sqrt(2 V log T / n) + 3 log T / n, where V is the observed variance
  (the radius of UCB-V); it is the tighter one for steady workers seen more than about 9 log T times.

A worker never observed has UCB = +inf and LCB = -inf.
"""

import math

from crewlearn.policies.estimates import Estimates, mean, variance
from crewlearn.problem.arrays import FloatArray

LOG_HORIZON, LOG_PERIOD, EMPIRICAL_BERNSTEIN = range(3)

RADII = {"log-T": LOG_HORIZON, "log-t": LOG_PERIOD, "empirical-bernstein": EMPIRICAL_BERNSTEIN}
"""Names of the radii and the codes inside."""


def log_term(code: int, horizon: int, period: int) -> float:
    """Give the logarithm in the radius at the start of `period`."""
    return math.log(max(period - 1, 1)) if code == LOG_PERIOD else math.log(horizon)


def radius(code: int, estimates: Estimates, worker: int, log_value: float) -> float:
    """Give a worker's confidence radius; infinite before the first observation."""
    n = int(estimates.counts[worker])
    if n <= 0:
        return math.inf
    hoeffding = math.sqrt(log_value / n)
    if code == EMPIRICAL_BERNSTEIN:
        bernstein = math.sqrt(2.0 * variance(estimates, worker) * log_value / n) + 3.0 * log_value / n
        return min(hoeffding, bernstein)
    return hoeffding


def confidence_bounds(code: int, estimates: Estimates, log_value: float, ucb: FloatArray, lcb: FloatArray) -> None:
    """Fill in the upper and lower confidence bounds of all workers."""
    for worker in range(len(estimates.counts)):
        r = radius(code, estimates, worker, log_value)
        average = mean(estimates, worker)
        ucb[worker] = average + r
        lcb[worker] = average - r
