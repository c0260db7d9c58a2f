"""The expected gain of a trial: replacing a worker with the option to reverse it for another fee.

A trial of worker j at a station worth `level` per period costs the fee. After `length` periods either j stays, or the
station goes, for another fee, to the better of `level` and the best other outside worker. With M the posterior mean of
j after the trial, the gain over the remaining periods is

    gain = length (E M - level) + rest E[max(M, fallback)] - rest level - fee,   fallback = better - fee / rest.

M is normal around j's current posterior mean. Its variance grows with the length of the trial, up to j's posterior
variance for perfect information. The length is the one that gains most. Output is at most 1, so M is capped there.

A station that searches on after a failed trial is worth the `price` of `value.price` per period, and what follows a
trial begins only after another delay, `wait`. Then

    gain = (length + wait) (E M - level) + rest E[max(M, fallback)] - rest level - fee,
    fallback = max(price, better - fee / rest),   rest = left - length - wait.
"""

import math
from typing import NamedTuple

from crewlearn.policies.value.excess import ROUGHNESS, near_upside, upside

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

EXACT, NEAR = True, False
"""How a gain is computed: exactly, or by a table."""

NO_PRICE = -math.inf
"""The price of stations if failed trials go back and do not search on."""

ROUNDING = 1e-9
"""Generous upper limit on the rounding error of a gain, relative to the periods left and the fee."""


class Trial(NamedTuple):
    """A trial of a worker at any station.

    `mean` is the worker's posterior mean, `sd` the standard deviation of the posterior mean after `length` periods,
    `other` the expected mean of the best other outside worker, and `fee` the fee of each replacement. `wait` is the
    delay of what follows the trial, and `price` that of a station which searches on.
    """

    mean: float
    sd: float
    length: float
    other: float
    fee: float
    wait: float = 0.0
    price: float = NO_PRICE


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
    return _gain(trial, level, left, EXACT)


def near_gain(trial: Trial, level: float, left: float) -> float:
    """Return `gain_of`, or up to `error_of_near` more or less."""
    return _gain(trial, level, left, NEAR)


def error_of_near(sd: float, fee: float, left: float) -> float:
    """Return the largest possible error of `near_gain` for a trial with at most this `sd`."""
    return ROUGHNESS * sd * left + ROUNDING * (1.0 + left + fee)


def _gain(trial: Trial, level: float, left: float, exact: bool) -> float:
    until = trial.length + trial.wait
    rest = left - until
    if rest <= 0.0:
        return left * (trial.mean - level) - trial.fee
    fallback = max(trial.price, max(level, trial.other) - trial.fee / rest)
    above = upside(trial.mean, trial.sd, fallback) if exact else near_upside(trial.mean, trial.sd, fallback)
    return until * (trial.mean - level) + rest * (fallback - level + above) - trial.fee


def best_trial(
    mean: float,
    variance: float,
    noise: float,
    other: float,
    fee: float,
    level: float,
    left: float,
    wait: float = 0.0,
    price: float = NO_PRICE,
) -> Trial:
    """Return the trial of a worker at a station worth `level`, with the best length among powers of 2."""
    best = Trial(mean, sd_of_finding(variance, noise, 1.0), 1.0, other, fee, wait, price)
    most = near_gain(best, level, left)
    unsure = 2.0 * error_of_near(math.sqrt(variance), fee, left)
    length = 2.0
    while length < left:
        trial = Trial(mean, sd_of_finding(variance, noise, length), length, other, fee, wait, price)
        gain = near_gain(trial, level, left)
        better = gain > most
        if abs(gain - most) <= unsure:
            better = gain_of(trial, level, left) > gain_of(best, level, left)
        if better:
            best, most = trial, gain
        length *= 2.0
    return best


def gain_later(trial: Trial, mean: float, sd: float, highest: float, left: float) -> float:
    """Return the expected gain of deciding on a trial later, when the station's worth is better known.

    As seen now, that worth is normal with `mean` and `sd`, capped at `highest`. A trial that does not pay then is not
    made.
    """
    return _gain_later(trial, mean, sd, highest, left, EXACT)


def later_gains_more(trial: Trial, mean: float, sd: float, highest: float, left: float, gain: float) -> bool:
    """Return whether `gain_later` exceeds `gain`."""
    later = _gain_later(trial, mean, sd, highest, left, NEAR)
    if abs(later - gain) <= error_of_near(trial.sd, trial.fee, left):
        later = _gain_later(trial, mean, sd, highest, left, EXACT)
    return later > gain


def _gain_later(trial: Trial, mean: float, sd: float, highest: float, left: float, exact: bool) -> float:
    total = 0.0
    if left > trial.length:
        for node in range(len(NODES)):
            gain = _gain(trial, min(highest, mean + sd * NODES[node]), left, exact)
            if gain > 0.0:
                total += WEIGHTS[node] * gain
    return total


def may_pay(mean: float, sd: float, fee: float, level: float, left: float) -> bool:
    """Return whether a worker at a station worth `level` would pay the fee if everything about them became known.

    >>> may_pay(0.5, 0.1, 3.9, 0.5, 100.0), may_pay(0.5, 0.1, 4.1, 0.5, 100.0)
    (True, False)
    """
    promise = left * near_upside(mean, sd, level)
    if abs(promise - fee) <= error_of_near(sd, fee, left):
        promise = left * upside(mean, sd, level)
    return promise > fee
