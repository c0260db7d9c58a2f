"""The crowd: people who are known by prior data alone, because they have not worked here yet.

A site may have thousands of them. Their data say nothing about ramps and drifts, so they need no filters. What they
tell about the pool's centre is kept as a parabola for each hypothesis of the pool, taken around a centre, and it is
taken again only when that centre has moved.
"""

import math
from typing import NamedTuple

from crewlearn.beliefs.evolving.model import (
    CROWD,
    CROWD_NOISE,
    LEAST_VARIANCE,
    NO_FILTERS,
    NOISE_USED,
    POOLS,
    RAMPS,
    UNSEEN,
    Evolving,
    has_no_filters,
)
from crewlearn.beliefs.evolving.parts import attributed, log_anywhere, log_evidence, mixed
from crewlearn.beliefs.evolving.pool import averages_of, mean_of_pool, variance_of_pool

CENTRE_MOVED = 0.05
"""A parabola is taken again once the centre has moved by this share of the hypothesis' spread."""

CROWD_NOISE_MOVED = 1.1
"""Everything about the crowd is computed again once the variance of output has moved by this factor."""


def follow_crowd(learned: Evolving) -> None:
    """Take those parabolas again whose centre has moved, or all if the noise has."""
    if learned.counts[CROWD] == 0:
        return
    numbers, crowd, scales = learned.numbers, learned.crowd, learned.pool.scales
    noise, used = float(numbers[NOISE_USED]), float(numbers[CROWD_NOISE])
    moved = noise > CROWD_NOISE_MOVED * used or used > CROWD_NOISE_MOVED * noise
    if moved:
        numbers[CROWD_NOISE] = noise
    for kind in range(POOLS):
        if scales[kind] > 0.0:
            centre = _expected_centre(learned, kind)
            if moved or abs(centre - float(crowd.centres[kind])) > CENTRE_MOVED * float(scales[kind]):
                _take_parabola(learned, kind, centre)


def _expected_centre(learned: Evolving, kind: int) -> float:
    """Return the centre under a hypothesis of the pool, averaged over ramps."""
    pool, centre = learned.pool, 0.0
    for ramp in range(RAMPS):
        centre += float(pool.weights[ramp]) * float(pool.centres[ramp * POOLS + kind])
    return centre


def _take_parabola(learned: Evolving, kind: int, centre: float) -> None:
    """Take the parabola of one hypothesis around a centre, from everybody in the crowd."""
    people, crowd, slots = learned.people, learned.crowd, learned.people.slot
    noise, scale = float(learned.numbers[CROWD_NOISE]), float(learned.pool.scales[kind])
    tail = float(learned.pool.tails[kind])
    precision = weighted = evidence = 0.0
    for worker in range(len(slots)):
        if slots[worker] == NO_FILTERS:
            stiffness, pull = people.prior_counts[worker] / noise, people.prior_sums[worker] / noise
            anywhere = log_anywhere(stiffness, pull)
            fit, factor, weight = attributed(stiffness, pull, anywhere, centre, scale * scale, tail)
            precision += weight * stiffness
            weighted += weight * pull
            evidence += fit + math.log(factor)
    crowd.centres[kind] = centre
    crowd.precision[kind] = precision
    crowd.weighted[kind] = weighted
    crowd.evidence[kind] = evidence


def join_crowd(learned: Evolving, worker: int) -> None:
    """Take somebody with prior data into the crowd."""
    if learned.counts[CROWD] == 0:
        learned.numbers[CROWD_NOISE] = learned.numbers[NOISE_USED]
        for kind in range(POOLS):
            learned.crowd.centres[kind] = _expected_centre(learned, kind)
    learned.counts[CROWD] += 1
    learned.people.slot[worker] = NO_FILTERS
    _add(learned, worker, 1.0)


def leave_crowd(learned: Evolving, worker: int) -> None:
    """Take somebody out of the crowd, because they work here now."""
    learned.counts[CROWD] -= 1
    learned.people.slot[worker] = UNSEEN
    if learned.counts[CROWD] > 0:
        _add(learned, worker, -1.0)
    else:
        empty_crowd(learned)


def empty_crowd(learned: Evolving) -> None:
    """Forget the crowd."""
    learned.counts[CROWD] = 0
    learned.numbers[CROWD_NOISE] = 0.0
    for kind in range(POOLS):
        learned.crowd.centres[kind] = 0.0
        learned.crowd.precision[kind] = 0.0
        learned.crowd.weighted[kind] = 0.0
        learned.crowd.evidence[kind] = 0.0


def _add(learned: Evolving, worker: int, sign: float) -> None:
    """Add what one person tells to the parabolas, or take it off."""
    people, pool, crowd, noise = learned.people, learned.pool, learned.crowd, float(learned.numbers[CROWD_NOISE])
    stiffness, pull = people.prior_counts[worker] / noise, people.prior_sums[worker] / noise
    anywhere = log_anywhere(stiffness, pull)
    for kind in range(POOLS):
        scale = float(pool.scales[kind])
        if scale > 0.0:
            centre, tail = float(crowd.centres[kind]), float(pool.tails[kind])
            fit, factor, weight = attributed(stiffness, pull, anywhere, centre, scale * scale, tail)
            crowd.precision[kind] += sign * weight * stiffness
            crowd.weighted[kind] += sign * weight * pull
            crowd.evidence[kind] += sign * (fit + math.log(factor))


class Outlook(NamedTuple):
    """The pool as it is for people who have not worked here: averaged over ramps.

    `mean` and `variance` are of the level of somebody unknown. `centre`, its variance `doubt`, the variance `between`
    people and the share of the `tail` describe the main part, and `noise` is the variance of output in prior data.
    """

    mean: float
    variance: float
    centre: float
    doubt: float
    between: float
    tail: float
    noise: float


def outlook_of(learned: Evolving) -> Outlook:
    """Return the pool as it is for people who have not worked here."""
    pool = learned.pool
    main, noise = averages_of(pool), float(learned.numbers[CROWD_NOISE])
    return Outlook(mean_of_pool(pool), variance_of_pool(pool), main.centre, main.doubt, main.between, main.tail, noise)


def expect(learned: Evolving, outlook: Outlook, worker: int) -> None:
    """Update the belief about somebody who has not worked here, by the pool and their prior data if there are any."""
    people = learned.people
    people.drift[worker] = 0.0
    people.means[worker] = outlook.mean
    people.variances[worker] = outlook.variance
    if people.slot[worker] == NO_FILTERS:
        stiffness, pull = people.prior_counts[worker] / outlook.noise, people.prior_sums[worker] / outlook.noise
        offset = -log_evidence(stiffness, pull, outlook.centre, outlook.between)
        whole, mean, square = mixed(
            stiffness,
            pull,
            0.0,
            1.0,
            0.0,
            outlook.centre,
            outlook.doubt,
            outlook.between,
            outlook.tail,
            1.0,
            offset,
        )
        mean /= whole
        people.means[worker] = mean
        people.variances[worker] = max(square / whole - mean * mean, LEAST_VARIANCE)


def expect_all(learned: Evolving) -> None:
    """Update the beliefs about everybody who has not worked here."""
    slots, outlook = learned.people.slot, outlook_of(learned)
    for worker in range(len(slots)):
        if has_no_filters(slots[worker]):
            expect(learned, outlook, worker)
