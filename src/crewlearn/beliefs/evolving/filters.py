"""A person's filters: one day's output updates what is known under each ramp and drift class."""

import math

from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    CLASSES,
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

WELL_KNOWN = 400.0
"""Somebody known so much better than by the pool alone has the same belief, whichever part they come from."""

LEAST_VARIANCE = 1e-12

FAINT = 0.002
"""Below this remainder of the ramp, a person's own ramp no longer matters."""


def share_of(pool: Pool, ramp: int, days: int) -> float:
    """Return the share of their level that somebody puts out after so many days worked, under a ramp."""
    if days >= FADED:
        return 1.0
    return 1.0 - float(pool.depths[ramp]) * float(pool.fading[ramp * FADED + days])


def mean_share(pool: Pool, days: int) -> float:
    """Return the expected share of their level that somebody puts out after so many days worked."""
    return 1.0 if days >= FADED else float(pool.share[days])


def begin_filters(learned: Evolving, worker: int, noise: float) -> None:
    """Let a person's filters begin, with their prior observations if there are any."""
    people, pool, filters = learned.people, learned.pool, learned.filters
    count, total = int(people.prior_counts[worker]), float(people.prior_sums[worker])
    for ramp in range(RAMPS):
        own = OWN_RAMP * float(pool.depths[ramp] * pool.centre[ramp])
        first = (people.slot[worker] * RAMPS + ramp) * CLASSES
        for place in range(first, first + CLASSES):
            filters.stiffness[place] = count / noise
            filters.pull[place] = total / noise
            filters.fit[place] = 0.0
            filters.slope[place] = 1.0
            filters.base[place] = 0.0
            filters.spread[place] = 0.0
            filters.own_slope[place] = 0.0
            filters.own_base[place] = 0.0
            filters.own_spread[place] = own * own
            filters.shared[place] = 0.0


def update_filters(learned: Evolving, worker: int, output: float, noise: float, gap: int) -> None:
    """Learn from a day's output, adjusted for the day; `noise` is its variance, and `gap` the days since the last."""
    people, pool, filters = learned.people, learned.pool, learned.filters
    slot, days = people.slot[worker], people.days[worker]
    if people.alike[worker] == 1:
        _update_classes(filters, slot * RAMPS * CLASSES, 1.0, 0.0, output, noise, gap)
        return
    for ramp in range(RAMPS):
        if pool.live[ramp] != 0:
            fading = float(pool.fading[ramp * FADED + days]) if days < FADED else 0.0
            share = 1.0 - float(pool.depths[ramp]) * fading
            if pool.depths[ramp] <= 0.0 or fading < FAINT:
                fading = 0.0
            _update_classes(filters, (slot * RAMPS + ramp) * CLASSES, share, fading, output, noise, gap)


def _update_classes(
    filters: Filters, first: int, share: float, fading: float, output: float, noise: float, gap: int
) -> None:
    """Update the drift classes under one ramp; `fading` is the weight of the person's own depth, 0 once it is past."""
    for kind in range(CLASSES):
        place = first + kind
        spread = float(filters.spread[place]) + DRIFTS[kind] * DRIFTS[kind] * gap
        slope, base = share * float(filters.slope[place]), share * float(filters.base[place])
        toward, toward_own = share * spread, 0.0
        variance = share * toward + noise
        if fading > 0.0:
            shared, own = float(filters.shared[place]), float(filters.own_spread[place])
            slope -= fading * float(filters.own_slope[place])
            base -= fading * float(filters.own_base[place])
            toward -= fading * shared
            toward_own = share * shared - fading * own
            variance = share * toward - fading * toward_own + noise
        surprise = output - base
        precision = slope / variance
        filters.stiffness[place] += slope * precision
        filters.pull[place] += precision * surprise
        filters.fit[place] -= 0.5 * (math.log(variance) + surprise * surprise / variance)
        filters.base[place] += toward * surprise / variance
        filters.slope[place] -= toward * precision
        filters.spread[place] = spread - toward * toward / variance
        if fading > 0.0:
            filters.own_base[place] += toward_own * surprise / variance
            filters.own_slope[place] -= toward_own * precision
            filters.own_spread[place] -= toward_own * toward_own / variance
            filters.shared[place] -= toward * toward_own / variance


def log_evidence(stiffness: float, pull: float, centre: float, variance: float) -> float:
    """Return the log-likelihood of a person whose first level is normal, without the filter's `fit`."""
    ratio = 1.0 + stiffness * variance
    fit = (variance * pull * pull + 2.0 * pull * centre - stiffness * centre * centre) / (2.0 * ratio)
    return fit - 0.5 * math.log(ratio)


SUMMARY_FIELDS = 6 + CLASSES - 1
"""Numbers of a person's summary under one ramp: stiffness, pull, log-likelihood apart from them, level, variance, and
the log-likelihood of a first level that may be anything; then the chances of the drift classes after the first."""


def summarise(learned: Evolving, worker: int, summary: FloatArray) -> None:
    """Update a person's belief, and fill in what the pool is told of them under each ramp."""
    people, pool, filters = learned.people, learned.pool, learned.filters
    slot = people.slot[worker]
    whole = mean = square = drift = 0.0
    for ramp in range(RAMPS):
        if pool.live[ramp] == 0:
            continue
        weight, place = float(pool.weights[ramp]), SUMMARY_FIELDS * ramp
        first = (slot * RAMPS + (0 if people.alike[worker] == 1 else ramp)) * CLASSES
        _collapse(filters, pool, ramp, first, summary)
        level = float(summary[place + 3])
        whole += weight
        mean += weight * level
        square += weight * (float(summary[place + 4]) + level * level)
        for kind in range(1, CLASSES):
            drift += weight * float(summary[place + 5 + kind]) * DRIFTS[kind] * DRIFTS[kind]
    mean /= whole
    people.means[worker] = mean
    people.variances[worker] = max(square / whole - mean * mean, LEAST_VARIANCE)
    people.drift[worker] = drift / whole


def _collapse(filters: Filters, pool: Pool, ramp: int, first: int, summary: FloatArray) -> None:
    """Average a person's drift classes and parts of the pool under one ramp."""
    centre, between, doubt = float(pool.centre[ramp]), float(pool.between[ramp]), float(pool.doubt[ramp])
    tail, wide = float(pool.tail[ramp]), TAIL_WIDTH * TAIL_WIDTH * float(pool.between[ramp])
    best, leader = -math.inf, 0
    for kind in range(CLASSES):
        evidence = _class_evidence(filters, first + kind, centre, between) + pool.log_shares[kind]
        if evidence > best:
            best, leader = evidence, kind
    whole = mean = square = stiff = pulled = ordinary = 0.0
    for kind in range(CLASSES):
        place = first + kind
        evidence = _class_evidence(filters, place, centre, between) + pool.log_shares[kind] - best
        if evidence < -RESTART:
            _restart(filters, place, first + leader, pool.log_shares[leader] - pool.log_shares[kind] - RESTART_COST)
            evidence = -RESTART_COST
        stiffness, pull = float(filters.stiffness[place]), float(filters.pull[place])
        slope, base, spread = float(filters.slope[place]), float(filters.base[place]), float(filters.spread[place])
        ratio = 1.0 + stiffness * between
        likely = math.exp(evidence)
        ordinary += likely
        parts = 1 if ratio > WELL_KNOWN else 3
        of_class = 0.0
        for part in range(parts):
            middle, variance, unsure, weight = centre, between, doubt, likely
            if parts > 1:
                weight *= 1.0 - tail - ANY_SHARE
            if part > 0:
                variance, weight = wide, tail
                if part == 2:
                    middle, variance, unsure, weight = ANY_CENTRE, ANY_SD * ANY_SD, 0.0, ANY_SHARE
                if weight <= 0.0:
                    continue
                ratio = 1.0 + stiffness * variance
                shift = log_evidence(stiffness, pull, middle, variance) + float(filters.fit[place])
                weight *= math.exp(min(shift + pool.log_shares[kind] - best, 300.0))
            level = base + slope * (middle + variance * pull) / ratio
            of_class += weight
            mean += weight * level
            square += weight * (spread + slope * slope * (variance / ratio + unsure / (ratio * ratio)) + level * level)
        whole += of_class
        if kind > 0:
            summary[SUMMARY_FIELDS * ramp + 5 + kind] = of_class
        stiff += of_class * stiffness
        pulled += of_class * pull
    stiff /= whole
    pulled /= whole
    mean /= whole
    place = SUMMARY_FIELDS * ramp
    summary[place] = stiff
    summary[place + 1] = pulled
    summary[place + 2] = best + math.log(ordinary) - log_evidence(stiff, pulled, centre, between)
    summary[place + 3] = mean
    summary[place + 4] = max(square / whole - mean * mean, LEAST_VARIANCE)
    summary[place + 5] = log_evidence(stiff, pulled, ANY_CENTRE, ANY_SD * ANY_SD)
    for kind in range(1, CLASSES):
        summary[place + 5 + kind] /= whole


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
    filters.own_slope[place] = filters.own_slope[leader]
    filters.own_base[place] = filters.own_base[leader]
    filters.own_spread[place] = filters.own_spread[leader]
    filters.shared[place] = filters.shared[leader]
