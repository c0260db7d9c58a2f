"""What it is worth to try a worker in somebody's place: the chance to keep who turns out better, against the fees.

A trial of j at a station whose output is worth `level` a period costs the fee. It is watched for some periods; then j
stays, or the station goes back, for another fee, to the better of `level` and the best other worker outside. Over the
periods left, with M what j's mean is then thought to be,

    gain = length (E M - level) + rest E[max(M, fallback)] - rest level - fee,   fallback = better - fee / rest.

M is normal around j's posterior mean, and the longer the trial the more it varies: up to j's posterior variance, when
all is known. The length is the one that gains most. Output never exceeds 1, so nobody can turn out better than that.
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
"""Seven values of a standard normal and their weights (Gauss and Hermite): an average over what may be found out."""

HIGHEST = 1.0
_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_FAR = 8.0


class Trial(NamedTuple):
    """A trial of one worker, at whatever station.

    `mean` is what is expected, `sd` the spread of what will be thought after `length` periods, `other` the mean of the
    best worker outside to go back to instead, `fee` the fee of each replacement.
    """

    mean: float
    sd: float
    length: float
    other: float
    fee: float


def excess(mean: float, sd: float, level: float) -> float:
    """Return how far a normal exceeds a level in expectation, counting nothing below it."""
    distance = mean - level
    if distance >= _FAR * sd:
        return distance
    if distance <= -_FAR * sd:
        return 0.0
    z = distance / sd
    return sd * _DENSITY * math.exp(-0.5 * z * z) + distance * 0.5 * math.erfc(-z * _ROOT_HALF)


def upside(mean: float, sd: float, level: float) -> float:
    """Return the expected excess over a level of a normal that is cut off at the highest possible output.

    >>> round(upside(0.5, 0.1, 0.5), 4), round(upside(0.5, 0.1, 0.9), 6)
    (0.0399, 1e-06)
    """
    if level >= HIGHEST:
        return 0.0
    return max(0.0, excess(mean, sd, level) - excess(mean, sd, HIGHEST))


def possible(mean: float, sd: float) -> float:
    """Return what to expect of a normal that is cut off at the highest possible output.

    >>> round(possible(0.5, 0.1), 6), round(possible(1.0, 0.1), 3)
    (0.5, 0.96)
    """
    return mean - excess(mean, sd, HIGHEST)


def sd_of_finding(variance: float, noise: float, periods: float) -> float:
    """Return the spread of what will be thought of a worker after so many periods, as seen from now.

    >>> round(sd_of_finding(0.04, 0.04, 1.0), 4), round(sd_of_finding(0.04, 0.04, 1e9), 4)
    (0.1414, 0.2)
    """
    return math.sqrt(variance * variance / (variance + noise / periods))


def gain_of(trial: Trial, level: float, left: float) -> float:
    """Return the gain of a trial at a station worth `level` over the periods left, all fees paid.

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
    """Return the trial of a worker at a station worth `level` whose length, a power of 2, gains most."""
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
    """Return the expected gain of deciding on a trial later, when the station's worth will be known better.

    It will be normal around `mean` with spread `sd`, and at most `highest`; a trial that does not pay is not made.
    """
    total = 0.0
    if left > trial.length:
        for node in range(len(NODES)):
            gain = gain_of(trial, min(highest, mean + sd * NODES[node]), left)
            if gain > 0.0:
                total += WEIGHTS[node] * gain
    return total
