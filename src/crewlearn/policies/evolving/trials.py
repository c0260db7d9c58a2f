"""The expected gain of a trial where newcomers ramp up."""

import math
from typing import NamedTuple

from crewlearn.beliefs.evolving.model import ANY_CENTRE, ANY_SD, ANY_SHARE, FADED, RAMPS, TAIL_WIDTH, Evolving
from crewlearn.policies.value.excess import upside
from crewlearn.policies.value.trials import NODES, WEIGHTS, sd_of_finding
from crewlearn.problem.arrays import FloatArray


class Prospect(NamedTuple):
    """A worker outside: level after ramp-up, its variance, days worked, and whether never seen."""

    mean: float
    variance: float
    days: int
    untried: bool


class Stakes(NamedTuple):
    """What all trials of a decision share."""

    left: float
    fee: float
    noise: float
    lost: FloatArray
    taught: FloatArray
    parts: FloatArray


def make_tables(learned: Evolving, lost: FloatArray, taught: FloatArray, parts: FloatArray, noise: float) -> None:
    """Fill in the cumulative loss and information by days worked, and the parts of the pool."""
    pool = learned.pool
    centre = between = doubt = tail = 0.0
    for ramp in range(RAMPS):
        weight = float(pool.weights[ramp])
        centre += weight * pool.centre[ramp]
        between += weight * pool.between[ramp]
        doubt += weight * (pool.doubt[ramp] + pool.centre[ramp] * pool.centre[ramp])
        tail += weight * pool.tail[ramp]
    doubt = max(0.0, doubt - centre * centre)
    parts[0] = 1.0 - tail - ANY_SHARE
    parts[1] = centre
    parts[2] = between + doubt
    parts[3] = tail
    parts[4] = centre
    parts[5] = TAIL_WIDTH * TAIL_WIDTH * between + doubt
    parts[6] = ANY_SHARE
    parts[7] = ANY_CENTRE
    parts[8] = ANY_SD * ANY_SD
    lost[0] = 0.0
    taught[0] = 0.0
    for day in range(FADED):
        share = float(pool.share[day])
        own = 0.3 * (1.0 - share) * centre
        lost[day + 1] = lost[day] + 1.0 - share
        taught[day + 1] = taught[day] + share * share * noise / (noise + own * own)


def lost_from(stakes: Stakes, days: int, periods: float) -> float:
    """Return the share of a level lost to the ramp over the next periods, in periods."""
    if days >= FADED:
        return 0.0
    end = days + periods
    if end >= FADED:
        return float(stakes.lost[FADED] - stakes.lost[days])
    whole = int(end)
    part = end - whole
    upto = (1.0 - part) * float(stakes.lost[whole]) + part * float(stakes.lost[whole + 1])
    return upto - float(stakes.lost[days])


def taught_from(stakes: Stakes, days: int, periods: float) -> float:
    """Return the information of the next periods, in observations of somebody ramped up."""
    if days >= FADED:
        return periods
    end = min(days + int(periods + 0.5), FADED)
    return float(stakes.taught[end] - stakes.taught[days]) + (days + periods - end)


def gain_of(stakes: Stakes, prospect: Prospect, level: float, other: float, length: float, left: float) -> float:
    """Return the expected gain, net of fees, of a trial at a station worth `level` over `left` periods."""
    rest = left - length
    if rest <= 0.0:
        lost = prospect.mean * lost_from(stakes, prospect.days, left)
        return left * (prospect.mean - level) - lost - stakes.fee
    lost = prospect.mean * lost_from(stakes, prospect.days, length)
    slower = lost_from(stakes, prospect.days + int(length), rest) / rest
    fallback = max(level, other) - stakes.fee / rest
    taught = taught_from(stakes, prospect.days, length)
    above = 0.0
    if prospect.untried:
        for part in range(3):
            mean, variance = float(stakes.parts[3 * part + 1]), float(stakes.parts[3 * part + 2])
            sd = sd_of_finding(variance, stakes.noise, taught)
            above += float(stakes.parts[3 * part]) * upside(mean * (1.0 - slower), sd, fallback)
    else:
        sd = sd_of_finding(prospect.variance, stakes.noise, taught)
        above = upside(prospect.mean * (1.0 - slower), sd, fallback)
    return length * (prospect.mean - level) - lost + rest * (fallback - level + above) - stakes.fee


def best_length(stakes: Stakes, prospect: Prospect, level: float, other: float) -> float:
    """Return the length of the trial that gains most, among powers of 2."""
    best, length = 1.0, 2.0
    most = gain_of(stakes, prospect, level, other, best, stakes.left)
    while length < stakes.left:
        gain = gain_of(stakes, prospect, level, other, length, stakes.left)
        if gain > most:
            best, most = length, gain
        length *= 2.0
    return best


def gain_later(
    stakes: Stakes, prospect: Prospect, mean: float, sd: float, highest: float, other: float, length: float, left: float
) -> float:
    """Return the expected gain of deciding later, when the station's worth is better known."""
    total = 0.0
    if left > length:
        for node in range(len(NODES)):
            gain = gain_of(stakes, prospect, min(highest, mean + sd * NODES[node]), other, length, left)
            if gain > 0.0:
                total += WEIGHTS[node] * gain
    return total


def may_pay(stakes: Stakes, prospect: Prospect, level: float) -> bool:
    """Return whether a worker might pay at a station worth `level` if everything became known."""
    slower = lost_from(stakes, prospect.days, stakes.left) / stakes.left
    if prospect.untried:
        promise = 0.0
        for part in range(3):
            mean, sd = float(stakes.parts[3 * part + 1]), math.sqrt(stakes.parts[3 * part + 2])
            promise += float(stakes.parts[3 * part]) * upside(mean * (1.0 - slower), sd, level)
    else:
        promise = upside(prospect.mean * (1.0 - slower), math.sqrt(prospect.variance), level)
    return promise * stakes.left > stakes.fee
