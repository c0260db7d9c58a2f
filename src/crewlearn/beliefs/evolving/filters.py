"""A person's filters: one day's output updates what is known under each ramp and drift class."""

import math

from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    CLASSES,
    DRIFT_SHARES,
    DRIFTS,
    FADED,
    OWN_RAMP,
    RAMPS,
    TAIL_WIDTH,
    Evolving,
    Filters,
    Pool,
)
from crewlearn.problem.arrays import FloatArray

RESTART, RESTART_COST = 12.0, 7.0
"""A drift class whose log weight lies this far below the best begins anew from the best one's belief, at a cost."""

LOG_SHARES = tuple(math.log(share) for share in DRIFT_SHARES)


def share_of(pool: Pool, ramp: int, days: int) -> float:
    """Return the share of their level that somebody puts out after so many days worked, under a ramp."""
    if days >= FADED:
        return 1.0
    return 1.0 - float(pool.depths[ramp]) * float(pool.fading[ramp * FADED + days])


def mean_share(pool: Pool, days: int) -> float:
    """Return the expected share of their level that somebody puts out after so many days worked."""
    return 1.0 if days >= FADED else float(pool.share[days])


def begin_filters(filters: Filters, slot: int, count: int, total: float, noise: float) -> None:
    """Let the filters of a slot begin, with prior observations of the person if there are any."""
    for place in range(slot * RAMPS * CLASSES, (slot + 1) * RAMPS * CLASSES):
        filters.stiffness[place] = count / noise
        filters.pull[place] = total / noise
        filters.fit[place] = 0.0
        filters.slope[place] = 1.0
        filters.base[place] = 0.0
        filters.spread[place] = 0.0


def update_filters(learned: Evolving, worker: int, output: float, noise: float, gap: int) -> None:
    """Learn from a day's output, adjusted for the day; `noise` is its variance, and `gap` the days since the last."""
    people, pool, filters = learned.people, learned.pool, learned.filters
    slot, days, mean = people.slot[worker], people.days[worker], float(people.means[worker])
    if people.alike[worker] == 1:
        _update_classes(filters, slot * RAMPS * CLASSES, 1.0, output, noise, gap)
        return
    for ramp in range(RAMPS):
        if pool.live[ramp] == 0:
            continue
        share = share_of(pool, ramp, days)
        own = OWN_RAMP * (1.0 - share) * mean
        _update_classes(filters, (slot * RAMPS + ramp) * CLASSES, share, output, noise + own * own, gap)


def _update_classes(filters: Filters, first: int, share: float, output: float, noise: float, gap: int) -> None:
    for kind in range(CLASSES):
        place = first + kind
        spread = float(filters.spread[place]) + DRIFTS[kind] * DRIFTS[kind] * gap
        slope, base = share * float(filters.slope[place]), float(filters.base[place])
        variance = share * share * spread + noise
        surprise = output - share * base
        precision = slope / variance
        filters.stiffness[place] += slope * precision
        filters.pull[place] += precision * surprise
        filters.fit[place] -= 0.5 * (math.log(variance) + surprise * surprise / variance)
        if spread > 0.0:
            gain = share * spread / variance
            filters.base[place] = base + gain * surprise
            filters.slope[place] -= gain * slope
            filters.spread[place] = spread - gain * share * spread


def log_evidence(stiffness: float, pull: float, centre: float, variance: float) -> float:
    """Return the log-likelihood of a person whose first level is normal, without the filter's `fit`."""
    ratio = 1.0 + stiffness * variance
    fit = (variance * pull * pull + 2.0 * pull * centre - stiffness * centre * centre) / (2.0 * ratio)
    return fit - 0.5 * math.log(ratio)


def summarise(learned: Evolving, worker: int, summary: FloatArray) -> None:
    """Update a person's belief, and fill in what the pool is told of them under each ramp.

    `summary` has four numbers a ramp: the collapsed stiffness and pull, the log-likelihood under the present pool, and
    the expected level.
    """
    people, pool, filters = learned.people, learned.pool, learned.filters
    slot = people.slot[worker]
    whole = mean = square = 0.0
    for ramp in range(RAMPS):
        if pool.live[ramp] == 0:
            continue
        weight = float(pool.weights[ramp])
        first = (slot * RAMPS + (0 if people.alike[worker] == 1 else ramp)) * CLASSES
        _collapse(filters, pool, ramp, first, summary)
        whole += weight
        mean += weight * float(summary[4 * ramp + 3])
        square += weight * (float(summary[4 * RAMPS + ramp]) + float(summary[4 * ramp + 3]) ** 2)
    mean /= whole
    people.means[worker] = mean
    people.variances[worker] = max(square / whole - mean * mean, 1e-12)


def _collapse(filters: Filters, pool: Pool, ramp: int, first: int, summary: FloatArray) -> None:
    """Average a person's drift classes and parts of the pool under one ramp."""
    centre, between, doubt = float(pool.centre[ramp]), float(pool.between[ramp]), float(pool.doubt[ramp])
    tail = float(pool.tail[ramp])
    best, leader = -math.inf, 0
    for kind in range(CLASSES):
        evidence = _class_evidence(filters, first + kind, centre, between) + LOG_SHARES[kind]
        if evidence > best:
            best, leader = evidence, kind
    for kind in range(CLASSES):
        if _class_evidence(filters, first + kind, centre, between) + LOG_SHARES[kind] < best - RESTART:
            _restart(filters, first + kind, first + leader, LOG_SHARES[leader] - LOG_SHARES[kind] - RESTART_COST)
    whole = mean = square = stiff = pulled = ordinary = 0.0
    for kind in range(CLASSES):
        place = first + kind
        stiffness, pull = float(filters.stiffness[place]), float(filters.pull[place])
        slope, base, spread = float(filters.slope[place]), float(filters.base[place]), float(filters.spread[place])
        of_class = 0.0
        for part in range(3):
            middle, variance, unsure = centre, between, doubt
            share = 1.0 - tail - ANY_SHARE
            if part == 1:
                variance = TAIL_WIDTH * TAIL_WIDTH * between
                share = tail
            elif part == 2:
                middle, variance, unsure = ANY_CENTRE, ANY_SD * ANY_SD, 0.0
                share = ANY_SHARE
            ratio = 1.0 + stiffness * variance
            evidence = float(filters.fit[place]) + log_evidence(stiffness, pull, middle, variance) - best
            if evidence < -40.0:
                continue
            weight = DRIFT_SHARES[kind] * math.exp(evidence)
            if part == 0:
                ordinary += weight
            weight *= share
            first_level = (middle + variance * pull) / ratio
            level = base + slope * first_level
            of_class += weight
            mean += weight * level
            square += weight * (spread + slope * slope * (variance / ratio + unsure / (ratio * ratio)) + level * level)
        whole += of_class
        stiff += of_class * stiffness
        pulled += of_class * pull
    stiff /= whole
    pulled /= whole
    mean /= whole
    summary[4 * ramp] = stiff
    summary[4 * ramp + 1] = pulled
    summary[4 * ramp + 2] = best + math.log(ordinary) - log_evidence(stiff, pulled, centre, between)
    summary[4 * ramp + 3] = mean
    summary[4 * RAMPS + ramp] = max(square / whole - mean * mean, 1e-12)


def _class_evidence(filters: Filters, place: int, centre: float, between: float) -> float:
    stiffness, pull = float(filters.stiffness[place]), float(filters.pull[place])
    return float(filters.fit[place]) + log_evidence(stiffness, pull, centre, between)


def _restart(filters: Filters, place: int, leader: int, change: float) -> None:
    """Let a drift class begin anew from the belief of the leading one."""
    filters.stiffness[place] = filters.stiffness[leader]
    filters.pull[place] = filters.pull[leader]
    filters.fit[place] = float(filters.fit[leader]) + change
    filters.slope[place] = filters.slope[leader]
    filters.base[place] = filters.base[leader]
    filters.spread[place] = filters.spread[leader]
