"""The expected gain of a trial: replacing a worker with the option to reverse it for another fee.

A trial of worker j at a station worth `level` per period costs the fee. After `length` periods either j stays, or the
station goes, for another fee, to the better of `level` and the best other outside worker. With M the posterior mean of
j after the trial, the gain over the remaining periods is

    gain = length (E M - level) + rest E[max(M, fallback)] - rest level - fee,   fallback = better - fee / rest.

M is normal around j's current posterior mean. Its variance grows with the length of the trial, up to j's posterior
variance for perfect information. The length is the one that gains most. Output is at most 1, so M is capped there.
"""

import math
from typing import NamedTuple

NODES = (
    -3.750439717725742,
    -2.366759410734541,
    -1.154405394739968,
    0.0,
    1.154405394739968,
    2.366759410734541,
    3.750439717725742,
)
WEIGHTS = (
    0.0005482688559722,
    0.0307571239675865,
    0.2401231786050127,
    0.4571428571428571,
    0.2401231786050127,
    0.0307571239675865,
    0.0005482688559722,
)
"""Nodes and weights of 7-point Gauss-Hermite quadrature for a standard normal."""

HIGHEST = 1.0
_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_FAR = 8.0


class Trial(NamedTuple):
    """A trial of a worker at any station.

    `mean` is the worker's posterior mean, `sd` the standard deviation of the posterior mean after `length` periods,
    `other` the expected mean of the best other outside worker, and `fee` the fee of each replacement.
    """

    mean: float
    sd: float
    length: float
    other: float
    fee: float


def excess(mean: float, sd: float, level: float) -> float:
    """Return E[max(X - level, 0)] for a normal X."""
    distance = mean - level
    if distance >= _FAR * sd:
        return distance
    if distance <= -_FAR * sd:
        return 0.0
    z = distance / sd
    return sd * _DENSITY * math.exp(-0.5 * z * z) + distance * 0.5 * math.erfc(-z * _ROOT_HALF)


def upside(mean: float, sd: float, level: float) -> float:
    """Return E[max(X - level, 0)] for a normal X capped at the highest possible output.

    >>> round(upside(0.5, 0.1, 0.5), 4), round(upside(0.5, 0.1, 0.9), 6)
    (0.0399, 1e-06)
    """
    if level >= HIGHEST:
        return 0.0
    return max(0.0, excess(mean, sd, level) - excess(mean, sd, HIGHEST))


def possible(mean: float, sd: float) -> float:
    """Return the mean of a normal capped at the highest possible output.

    >>> round(possible(0.5, 0.1), 6), round(possible(1.0, 0.1), 3)
    (0.5, 0.96)
    """
    return mean - excess(mean, sd, HIGHEST)


def sd_of_finding(variance: float, noise: float, periods: float) -> float:
    """Return the standard deviation, as seen now, of a worker's posterior mean after `periods` more observations.

    >>> round(sd_of_finding(0.04, 0.04, 1.0), 4), round(sd_of_finding(0.04, 0.04, 1e9), 4)
    (0.1414, 0.2)
    """
    return math.sqrt(variance * variance / (variance + noise / periods))


def gain_of(trial: Trial, level: float, left: float) -> float:
    """Return the expected gain, net of fees, of a trial at a station worth `level` over `left` periods.

    >>> round(gain_of(Trial(0.6, 0.0, 1.0, 0.0, 5.0), 0.5, 100.0), 6)  # 100 periods at 0.1 more, less the fee
    5.0
    """
    rest = left - trial.length
    if rest <= 0.0:
        return left * (trial.mean - level) - trial.fee
    fallback = max(level, trial.other) - trial.fee / rest
    kept = fallback - level + upside(trial.mean, trial.sd, fallback)
    return trial.length * (trial.mean - level) + rest * kept - trial.fee


def best_trial(
    mean: float, variance: float, noise: float, other: float, fee: float, level: float, left: float
) -> Trial:
    """Return the trial of a worker at a station worth `level`, with the best length among powers of 2."""
    best = Trial(mean, sd_of_finding(variance, noise, 1.0), 1.0, other, fee)
    most = gain_of(best, level, left)
    length = 2.0
    while length < left:
        trial = Trial(mean, sd_of_finding(variance, noise, length), length, other, fee)
        gain = gain_of(trial, level, left)
        if gain > most:
            best, most = trial, gain
        length *= 2.0
    return best


def gain_later(trial: Trial, mean: float, sd: float, highest: float, left: float) -> float:
    """Return the expected gain of deciding on a trial later, when the station's worth is better known.

    As seen now, that worth is normal with `mean` and `sd`, capped at `highest`. A trial that does not pay then is not
    made.
    """
    total = 0.0
    if left > trial.length:
        for node in range(len(NODES)):
            gain = gain_of(trial, min(highest, mean + sd * NODES[node]), left)
            if gain > 0.0:
                total += WEIGHTS[node] * gain
    return total
