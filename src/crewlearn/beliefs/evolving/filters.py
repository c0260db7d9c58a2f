"""A person's filters: a day's output updates what is known of them under each ramp and drift class."""

import math

from crewlearn.beliefs.evolving.model import (
    CLASSES,
    DRIFTS,
    FADED,
    LEAST_VARIANCE,
    OWN_RAMP,
    RAMPED,
    RAMPS,
    Evolving,
    Filters,
    Pool,
)
from crewlearn.beliefs.evolving.parts import WELL_KNOWN, log_anywhere, log_evidence, mixed
from crewlearn.problem.arrays import FloatArray

RESTART, RESTART_COST = 12.0, 7.0
"""A drift class whose log weight lies RESTART below the best one's begins anew from that belief, RESTART_COST below.

After a jump or a spell of drift, a person can therefore be recognised as steady again.
"""

FAINT = 0.002
"""Below this remainder of the ramp, a person's own ramp no longer matters."""

SUMMARY_FIELDS = 6 + CLASSES - 1
"""Numbers that `summarise` fills in for each ramp.

The stiffness and pull of a person's first level, the log-likelihood apart from them, level, variance, and the
log-likelihood of a first level that may be anywhere. Then the probabilities of the drift classes after the first.
"""

SUMMARY = SUMMARY_FIELDS * RAMPS
"""Numbers of a whole summary."""


def begin_filters(learned: Evolving, worker: int, noise: float) -> None:
    """Let a person's filters begin, with their prior observations if there are any."""
    people, pool, filters = learned.people, learned.pool, learned.filters
    count, total = int(people.prior_counts[worker]), float(people.prior_sums[worker])
    for ramp in range(RAMPS):
        own = OWN_RAMP * float(pool.depths[ramp]) * float(pool.centre[ramp])
        first = (int(people.slot[worker]) * RAMPS + ramp) * CLASSES
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
    slot, days = int(people.slot[worker]), int(people.days[worker])
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
    """Update the drift classes under one ramp: a Kalman filter of the level and of the person's own ramp.

    `fading` is the weight of the person's own depth, 0 once it is past. On a person's first day there is no drift yet,
    so one class is enough.
    """
    first_day = gap == 0 and _no_drift_yet(filters, first)
    for kind in range(1 if first_day else CLASSES):
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
        precision, error = slope / variance, surprise / variance
        filters.stiffness[place] += slope * precision
        filters.pull[place] += slope * error
        filters.fit[place] -= 0.5 * (math.log(variance) + surprise * error)
        filters.base[place] += toward * error
        filters.slope[place] -= toward * precision
        filters.spread[place] = max(0.0, spread - toward * toward / variance)
        if fading > 0.0:
            filters.own_base[place] += toward_own * error
            filters.own_slope[place] -= toward_own * precision
            filters.own_spread[place] -= toward_own * toward_own / variance
            filters.shared[place] -= toward * toward_own / variance
    if first_day:
        for kind in range(1, CLASSES):
            _copy_filter(filters, first, first + kind)


def _no_drift_yet(filters: Filters, first: int) -> bool:
    """Return whether all drift classes have the same filter, because the person was seen on one day at most."""
    last = first + CLASSES - 1
    return bool(filters.spread[last] <= 0.0 and filters.fit[last] == filters.fit[first])


def _copy_filter(filters: Filters, source: int, place: int) -> None:
    filters.stiffness[place] = filters.stiffness[source]
    filters.pull[place] = filters.pull[source]
    filters.fit[place] = filters.fit[source]
    filters.slope[place] = filters.slope[source]
    filters.base[place] = filters.base[source]
    filters.spread[place] = filters.spread[source]
    filters.own_slope[place] = filters.own_slope[source]
    filters.own_base[place] = filters.own_base[source]
    filters.own_spread[place] = filters.own_spread[source]
    filters.shared[place] = filters.shared[source]


def summarise(learned: Evolving, worker: int, first: int) -> None:
    """Update a person's belief, and fill in, at `first` in the scratch, what the pool is told of them by ramp."""
    people, pool, filters, scratch = learned.people, learned.pool, learned.filters, learned.scratch
    slot, alike, nobody_ramped = int(people.slot[worker]), people.alike[worker] == 1, learned.counts[RAMPED] == 0
    whole = mean = square = drift = 0.0
    copied = -1
    for ramp in range(RAMPS):
        if pool.live[ramp] == 0:
            continue
        place = first + SUMMARY_FIELDS * ramp
        if copied >= 0:
            for field in range(SUMMARY_FIELDS):
                scratch[place + field] = scratch[first + SUMMARY_FIELDS * copied + field]
        else:
            own = (slot * RAMPS + (0 if alike else ramp)) * CLASSES
            if _no_drift_yet(filters, own):
                _collapse_first_day(filters, pool, ramp, own, scratch, place)
            else:
                _collapse(filters, pool, ramp, own, scratch, place)
            if alike and (nobody_ramped or float(scratch[place]) * float(pool.between[ramp]) > WELL_KNOWN):
                copied = ramp  # all have the same pool, or it no longer matters; and the ramp never did
        weight, level = float(pool.weights[ramp]), float(scratch[place + 3])
        whole += weight
        mean += weight * level
        square += weight * (float(scratch[place + 4]) + level * level)
        for kind in range(1, CLASSES):
            drift += weight * float(scratch[place + 5 + kind]) * DRIFTS[kind] * DRIFTS[kind]
    mean /= whole
    people.means[worker] = mean
    people.variances[worker] = max(square / whole - mean * mean, LEAST_VARIANCE)
    people.drift[worker] = drift / whole


def _collapse(filters: Filters, pool: Pool, ramp: int, first: int, summary: FloatArray, place: int) -> None:
    """Average a person's drift classes and parts of the pool under one ramp, and fill in the summary."""
    centre, between, doubt = float(pool.centre[ramp]), float(pool.between[ramp]), float(pool.doubt[ramp])
    tail = float(pool.tail[ramp])
    best, leader = -math.inf, 0
    for kind in range(CLASSES):
        stiffness, pull = float(filters.stiffness[first + kind]), float(filters.pull[first + kind])
        evidence = float(filters.fit[first + kind]) + log_evidence(stiffness, pull, centre, between)
        evidence += float(pool.log_shares[kind])
        summary[place + kind] = evidence
        if evidence > best:
            best, leader = evidence, kind
    whole = mean = square = stiff = pulled = ordinary = 0.0
    for kind in range(CLASSES):
        own = first + kind
        evidence = float(summary[place + kind]) - best
        if evidence < -RESTART:
            cost = RESTART_COST + float(pool.log_shares[kind]) - float(pool.log_shares[leader])
            _copy_filter(filters, first + leader, own)  # it begins anew
            filters.fit[own] -= cost
            evidence = -RESTART_COST
        stiffness, pull = float(filters.stiffness[own]), float(filters.pull[own])
        likely = math.exp(evidence)
        ordinary += likely
        of_class, level, level_squared = mixed(
            stiffness,
            pull,
            float(filters.base[own]),
            float(filters.slope[own]),
            float(filters.spread[own]),
            centre,
            doubt,
            between,
            tail,
            likely,
            float(filters.fit[own]) + float(pool.log_shares[kind]) - best,
        )
        mean += level
        square += level_squared
        whole += of_class
        stiff += of_class * stiffness
        pulled += of_class * pull
        if kind > 0:
            summary[place + 5 + kind] = of_class
    stiff /= whole
    pulled /= whole
    mean /= whole
    summary[place] = stiff
    summary[place + 1] = pulled
    summary[place + 2] = best + math.log(ordinary) - log_evidence(stiff, pulled, centre, between)
    summary[place + 3] = mean
    summary[place + 4] = max(square / whole - mean * mean, LEAST_VARIANCE)
    summary[place + 5] = log_anywhere(stiff, pulled)
    for kind in range(1, CLASSES):
        summary[place + 5 + kind] /= whole


def _collapse_first_day(filters: Filters, pool: Pool, ramp: int, first: int, summary: FloatArray, place: int) -> None:
    """Do as `_collapse` does where all drift classes have the same filter: their shares stay as they are."""
    centre, between = float(pool.centre[ramp]), float(pool.between[ramp])
    stiffness, pull = float(filters.stiffness[first]), float(filters.pull[first])
    whole, mean, square = mixed(
        stiffness,
        pull,
        float(filters.base[first]),
        float(filters.slope[first]),
        float(filters.spread[first]),
        centre,
        float(pool.doubt[ramp]),
        between,
        float(pool.tail[ramp]),
        1.0,
        -log_evidence(stiffness, pull, centre, between),
    )
    mean /= whole
    summary[place] = stiffness
    summary[place + 1] = pull
    summary[place + 2] = float(filters.fit[first])
    summary[place + 3] = mean
    summary[place + 4] = max(square / whole - mean * mean, LEAST_VARIANCE)
    summary[place + 5] = log_anywhere(stiffness, pull)
    for kind in range(1, CLASSES):
        summary[place + 5 + kind] = math.exp(float(pool.log_shares[kind]))
