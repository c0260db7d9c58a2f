"""What was learned, for people to read: ramp, days, noise, pool, and how a person's level develops."""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.evolving.days import DAY_GUESS_WEIGHT
from crewlearn.beliefs.evolving.model import (
    ANCHORS,
    CLASSES,
    CROWD,
    DAY_MEAN,
    DAY_VAR,
    DAY_WEIGHT,
    DAYS_KEPT,
    DAYS_NOTED,
    DRIFTS,
    NEVER,
    NOISE,
    NOISE_WEIGHT,
    RAMPS,
    SLOTS,
    Evolving,
    has_no_filters,
)
from crewlearn.beliefs.evolving.parts import log_evidence
from crewlearn.beliefs.posterior import chance_above

LEAST_CHANGE, LEAST_CHANCE = 0.05, 0.8
"""A trend shows if the level changed by at least this share, and is real with at least this probability."""

RAMPED_UP = 0.02
"""Ramp-up is over once less than this share of the level is lacking."""


class Spread(NamedTuple):
    """A number that was learned, with its standard deviation."""

    mean: float
    sd: float


class Change(NamedTuple):
    """A change of level relative to that in period `since`, and the probability that the level really moved so."""

    change: float
    since: int
    chance: float


class DayNote(NamedTuple):
    """A day's effect on everybody, relative to an ordinary day."""

    period: int
    effect: float
    sd: float
    unusual: bool


def ramp_learned(learned: Evolving) -> tuple[Spread, Spread]:
    """Return the depth of the ramp, and the days over which it fades; the latter as if there were a ramp."""
    pool = learned.pool
    depth = _spread([(float(pool.weights[ramp]), float(pool.depths[ramp])) for ramp in range(RAMPS)])
    ramped = [ramp for ramp in range(RAMPS) if pool.depths[ramp] > 0.0 and pool.weights[ramp] > 0.0]
    days = _spread([(float(pool.weights[ramp]), float(pool.ramp_days[ramp])) for ramp in ramped])
    return depth, days


def ramp_up_days(learned: Evolving) -> int | None:
    """Return after about how many days worked ramp-up is over; None if there is none."""
    share = np.asarray(learned.pool.share)
    if 1.0 - share[0] < RAMPED_UP:
        return None
    return int(np.argmax(1.0 - share < RAMPED_UP)) if (1.0 - share < RAMPED_UP).any() else len(share)


def noise_learned(learned: Evolving, guess_weight: float) -> Spread:
    """Return the standard deviation of output around a person's level on a day."""
    sd = math.sqrt(float(learned.numbers[NOISE]))
    # A mean of squared successive differences has 3/2 times the relative variance of a variance of as many numbers.
    return Spread(sd, sd * math.sqrt(0.75 / (guess_weight + max(0.0, float(learned.numbers[NOISE_WEIGHT])))))


def days_learned(learned: Evolving) -> Spread:
    """Return the standard deviation of days, relative to output."""
    sd = math.sqrt(float(learned.numbers[DAY_VAR]))
    return Spread(sd, sd * math.sqrt(0.5 / (DAY_GUESS_WEIGHT + float(learned.numbers[DAY_WEIGHT]))))


def pool_learned(learned: Evolving) -> tuple[Spread, Spread]:
    """Return the pool's centre, on today's scale, and the standard deviation between people of its main part."""
    pool, scale = learned.pool, 1.0 + float(learned.numbers[DAY_MEAN])
    weights = [float(weight) for weight in pool.weights]
    centre = _spread([(weights[ramp], scale * float(pool.centre[ramp])) for ramp in range(RAMPS)])
    doubt = sum(weights[ramp] * float(pool.doubt[ramp]) for ramp in range(RAMPS)) * scale * scale
    between = _spread([(weights[ramp], scale * math.sqrt(float(pool.between[ramp]))) for ramp in range(RAMPS)])
    seen = max(1, int(learned.counts[SLOTS]) + int(learned.counts[CROWD]))
    own = math.hypot(between.sd, between.mean / math.sqrt(2.0 * seen))
    return Spread(centre.mean, math.sqrt(centre.sd * centre.sd + doubt)), Spread(between.mean, own)


def days_noted(learned: Evolving) -> list[DayNote]:
    """Return the latest days' effects, oldest first."""
    noted, days = int(learned.counts[DAYS_NOTED]), learned.days
    places = [number % DAYS_KEPT for number in range(max(0, noted - DAYS_KEPT), noted)]
    return [
        DayNote(
            int(days.periods[place]),
            float(days.effects[place]),
            math.sqrt(float(days.doubts[place])),
            bool(days.unusual[place]),
        )
        for place in places
    ]


def change_of(learned: Evolving, worker: int) -> Change | None:
    """Return how a person's level has changed since an earlier one that differs most, or None if no trend shows.

    The probability is that of the drift classes other than "steady", times that of the direction under each.
    """
    people, slot = learned.people, int(learned.people.slot[worker])
    if has_no_filters(slot):
        return None
    now, kept = float(people.means[worker]), range(slot * ANCHORS, (slot + 1) * ANCHORS)
    past = [
        (int(learned.anchors.periods[place]), float(learned.anchors.means[place]))
        for place in kept
        if learned.anchors.periods[place] != NEVER and learned.anchors.means[place] > 0.0
    ]
    if not past:
        return None
    since, level = max(past, key=lambda anchor: (abs(now - anchor[1]), anchor[0]))
    change, chance = now / level - 1.0, _chance_of_direction(learned, worker, down=now < level)
    return Change(change, since, chance) if abs(change) >= LEAST_CHANGE and chance >= LEAST_CHANCE else None


def drift_of(learned: Evolving, worker: int) -> Spread | None:
    """Return the standard deviation of the change of a person's level a day; None for those who have not worked here.

    Its doubt is that between the drift classes.
    """
    if has_no_filters(int(learned.people.slot[worker])):
        return None
    weights = _class_weights(learned, *_likeliest(learned, worker))
    return _spread(list(zip(weights, DRIFTS, strict=True)))


def _likeliest(learned: Evolving, worker: int) -> tuple[int, int]:
    """Return the most likely ramp, and the place of a person's first filter under it."""
    people, ramp = learned.people, int(np.argmax(np.asarray(learned.pool.weights)))
    return ramp, (int(people.slot[worker]) * RAMPS + (0 if people.alike[worker] == 1 else ramp)) * CLASSES


def _class_weights(learned: Evolving, ramp: int, first: int) -> list[float]:
    """Return how likely a person's drift classes are under a ramp and the main part of the pool, the best as 1."""
    pool, filters, logs = learned.pool, learned.filters, []
    for kind in range(CLASSES):
        stiffness, pull = float(filters.stiffness[first + kind]), float(filters.pull[first + kind])
        evidence = log_evidence(stiffness, pull, float(pool.centre[ramp]), float(pool.between[ramp]))
        logs.append(float(filters.fit[first + kind]) + evidence + float(pool.log_shares[kind]))
    best = max(logs)
    return [math.exp(log - best) for log in logs]


def _chance_of_direction(learned: Evolving, worker: int, *, down: bool) -> float:
    """Return the probability that a person's level has moved down, or up, since they were first seen."""
    pool, filters, (ramp, first) = learned.pool, learned.filters, _likeliest(learned, worker)
    centre, between = float(pool.centre[ramp]), float(pool.between[ramp])
    chances = []
    for place in range(first, first + CLASSES):
        stiffness, pull = float(filters.stiffness[place]), float(filters.pull[place])
        ratio, slope = 1.0 + stiffness * between, float(filters.slope[place]) - 1.0
        moved = float(filters.base[place]) + slope * (centre + between * pull) / ratio
        sd = math.sqrt(float(filters.spread[place]) + slope * slope * between / ratio)
        chances.append(0.0 if sd <= 0.0 and moved == 0.0 else chance_above(-moved if down else moved, sd, 0.0))
    weights = _class_weights(learned, ramp, first)
    return sum(weight * chance for weight, chance in zip(weights, chances, strict=True)) / sum(weights)


def _spread(weighted: list[tuple[float, float]]) -> Spread:
    whole = sum(weight for weight, _ in weighted)
    if whole <= 0.0:
        return Spread(0.0, 0.0)
    mean = sum(weight * value for weight, value in weighted) / whole
    square = sum(weight * (value - mean) * (value - mean) for weight, value in weighted) / whole
    return Spread(mean, math.sqrt(square))
