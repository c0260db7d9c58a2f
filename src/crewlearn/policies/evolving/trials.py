"""The expected gain of a trial where newcomers ramp up.

A trial is that of `policies.value.trials`: worker j comes to a station worth `level` a period for the fee. After
`length` periods either j stays, or the station goes, for another fee, to the better of `level` and the best other
outside worker. Three things are added:

- A newcomer lacks a share of their level at first. What is lost to ramp-up during the trial and after it is charged.
- Days in ramp-up teach less. The finding of a trial depends on the information of its days, not on their number.
- Somebody never seen may be from the main part of the pool, its tail, or anywhere. Their upside is averaged over these.
"""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    FADED,
    NOISE_USED,
    OWN_RAMP,
    TAIL_WIDTH,
    Evolving,
)
from crewlearn.beliefs.evolving.pool import averages_of
from crewlearn.beliefs.posterior import chance_above
from crewlearn.policies.value.excess import upside
from crewlearn.policies.value.trials import NODES, WEIGHTS, sd_of_finding
from crewlearn.problem.arrays import FloatArray

PARTS, PART_FIELDS = 3, 3
"""The parts of a pool, and their numbers: share, centre and variance."""

PART_VARIANCE = 2
"""Where the variance of the main part stands."""


class Prospect(NamedTuple):
    """A worker outside: mean and variance of the level after ramp-up, days worked here, and whether never seen."""

    mean: float
    variance: float
    days: int
    untried: bool


class Tables(NamedTuple):
    """What follows from the ramp and the pool.

    `lost[n]` is what is lost to ramp-up in the first n days worked, in days at full level. `taught[n]` is what these
    days teach, in days of somebody ramped up. `parts` are the parts of the pool.
    """

    lost: FloatArray
    taught: FloatArray
    parts: FloatArray


class Stakes(NamedTuple):
    """What all trials of a decision share: periods left, fee, variance of output, and the tables."""

    left: float
    fee: float
    noise: float
    tables: Tables


def empty_tables() -> Tables:
    """Make room for the tables."""
    return Tables(
        np.zeros(FADED + 1, dtype=np.float64),
        np.zeros(FADED + 1, dtype=np.float64),
        np.zeros(PARTS * PART_FIELDS, dtype=np.float64),
    )


def fill_tables(learned: Evolving, tables: Tables) -> None:
    """Fill in the tables from what was learned."""
    pool, noise = learned.pool, float(learned.numbers[NOISE_USED])
    main = averages_of(pool)
    _fill_part(tables.parts, 0, 1.0 - main.tail - ANY_SHARE, main.centre, main.between + main.doubt)
    _fill_part(tables.parts, 1, main.tail, main.centre, TAIL_WIDTH * TAIL_WIDTH * main.between + main.doubt)
    _fill_part(tables.parts, 2, ANY_SHARE, ANY_CENTRE, ANY_SD * ANY_SD)
    tables.lost[0] = 0.0
    tables.taught[0] = 0.0
    for day in range(FADED):
        share = float(pool.share[day])
        own = OWN_RAMP * (1.0 - share) * main.centre
        tables.lost[day + 1] = float(tables.lost[day]) + 1.0 - share
        tables.taught[day + 1] = float(tables.taught[day]) + share * share * noise / (noise + own * own)


def _fill_part(parts: FloatArray, part: int, share: float, centre: float, variance: float) -> None:
    parts[PART_FIELDS * part] = share
    parts[PART_FIELDS * part + 1] = centre
    parts[PART_FIELDS * part + 2] = variance


def lost_from(tables: Tables, days: int, periods: float) -> float:
    """Return what is lost to ramp-up over the next periods, in periods at full level."""
    if days >= FADED:
        return 0.0
    end = days + periods
    if end >= FADED:
        return float(tables.lost[FADED]) - float(tables.lost[days])
    whole = int(end)
    part = end - whole
    until = (1.0 - part) * float(tables.lost[whole]) + part * float(tables.lost[whole + 1])
    return until - float(tables.lost[days])


def taught_from(tables: Tables, days: int, periods: float) -> float:
    """Return what the next periods teach, in periods of somebody ramped up."""
    if days >= FADED:
        return periods
    end = min(days + int(periods + 0.5), FADED)
    return float(tables.taught[end]) - float(tables.taught[days]) + (days + periods - end)


def worth_of(tables: Tables, mean: float, days: int, periods: float) -> float:
    """Return the expected output a period over the next periods, ramp-up included."""
    if periods <= 0.0:
        return mean  # nothing is left to lose, as at the end of the horizon
    return mean * (1.0 - lost_from(tables, days, periods) / periods)


def gain_of(stakes: Stakes, prospect: Prospect, level: float, other: float, length: float, left: float) -> float:
    """Return the expected gain, net of fees, of a trial at a station worth `level` over `left` periods."""
    tables, rest = stakes.tables, left - length
    if rest <= 0.0:
        return left * (worth_of(tables, prospect.mean, prospect.days, left) - level) - stakes.fee
    during = worth_of(tables, prospect.mean, prospect.days, length)
    share = worth_of(tables, 1.0, prospect.days + int(length), rest)
    fallback = max(level, other) - stakes.fee / rest
    taught = taught_from(tables, prospect.days, length)
    above = 0.0
    if prospect.untried:
        for part in range(PARTS):
            mean, variance = float(tables.parts[PART_FIELDS * part + 1]), float(tables.parts[PART_FIELDS * part + 2])
            sd = sd_of_finding(variance, stakes.noise, taught)
            above += float(tables.parts[PART_FIELDS * part]) * upside(mean * share, sd, fallback)
    else:
        sd = sd_of_finding(prospect.variance, stakes.noise, taught)
        above = upside(prospect.mean * share, sd, fallback)
    return length * (during - level) + rest * (fallback - level + above) - stakes.fee


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
    """Return the expected gain of deciding on a trial later, when the station's worth is better known.

    As seen now, that worth is normal with `mean` and `sd`, capped at `highest`. A trial that does not pay then is not
    made.
    """
    total = 0.0
    if left > length:
        for node in range(len(NODES)):
            gain = gain_of(stakes, prospect, min(highest, mean + sd * NODES[node]), other, length, left)
            if gain > 0.0:
                total += WEIGHTS[node] * gain
    return total


def may_pay(stakes: Stakes, prospect: Prospect, level: float) -> bool:
    """Return whether a worker at a station worth `level` would pay the fee if everything about them became known."""
    tables = stakes.tables
    share, promise = worth_of(tables, 1.0, prospect.days, stakes.left), 0.0
    if prospect.untried:
        for part in range(PARTS):
            mean, sd = float(tables.parts[PART_FIELDS * part + 1]), math.sqrt(tables.parts[PART_FIELDS * part + 2])
            promise += float(tables.parts[PART_FIELDS * part]) * upside(mean * share, sd, level)
    else:
        promise = upside(prospect.mean * share, math.sqrt(prospect.variance), level)
    return promise * stakes.left > stakes.fee


def chance_better(stakes: Stakes, prospect: Prospect, mean: float, variance: float) -> float:
    """Return the probability that somebody outside has a higher level after ramp-up than one with this belief."""
    if not prospect.untried:
        return chance_above(prospect.mean, math.sqrt(prospect.variance + variance), mean)
    parts, chance = stakes.tables.parts, 0.0
    for part in range(PARTS):
        centre, spread = float(parts[PART_FIELDS * part + 1]), float(parts[PART_FIELDS * part + 2])
        chance += float(parts[PART_FIELDS * part]) * chance_above(centre, math.sqrt(spread + variance), mean)
    return chance
