"""What the people seen tell about the pool: its centre and spread, the shares of drifts, and the ramp of newcomers."""

import math
from typing import NamedTuple

from crewlearn.beliefs.evolving.filters import SUMMARY, SUMMARY_FIELDS, summarise
from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    BETWEEN_GUESS,
    CENTRE_GUESS,
    CENTRE_SD,
    CLASSES,
    DRIFT_SHARES,
    FADED,
    LEAST_VARIANCE,
    POOLS,
    RAMPED,
    RAMPS,
    SHARES_WEIGHT,
    TAIL_WIDTH,
    Crowd,
    Evolving,
    Pool,
    Told,
    has_no_filters,
)
from crewlearn.beliefs.evolving.parts import attributed
from crewlearn.problem.arrays import FloatArray

NEGLIGIBLE = 1e-3
"""Ramps whose weight falls below this share of the largest are ruled out."""

LEAST_PRODUCT, MOST_PRODUCT = 1e-150, 1e150
"""Limits within which factors are multiplied, to take one logarithm for many; a factor is below 1e131."""


def learn_pool(learned: Evolving, told: Told) -> None:
    """Infer the pool under each ramp, and the weights of ramps, from everybody who worked here and from the crowd.

    As long as nobody was seen to ramp up, all ramps have the same pool.
    """
    people, pool, scratch = learned.people, learned.pool, learned.scratch
    seen = 0
    for worker in range(len(people.slot)):
        if not has_no_filters(people.slot[worker]):
            summarise(learned, worker, SUMMARY * seen)
            seen += 1
    best, first = -math.inf, -1
    for ramp in range(RAMPS):
        if pool.live[ramp] != 0:
            if first < 0 or learned.counts[RAMPED] > 0:
                likely = _weigh_pools(pool, learned.crowd, ramp, scratch, seen, told)
                first = ramp
            else:
                _copy_pool(pool, first, ramp)
            pool.weights[ramp] = float(pool.priors[ramp]) + likely
            best = max(best, float(pool.weights[ramp]))
    whole = 0.0
    for ramp in range(RAMPS):
        weight = math.exp(float(pool.weights[ramp]) - best) if pool.live[ramp] != 0 else 0.0
        if weight < NEGLIGIBLE:
            pool.live[ramp] = 0
            weight = 0.0
        pool.weights[ramp] = weight
        whole += weight
    for ramp in range(RAMPS):
        pool.weights[ramp] /= whole
    for days in range(FADED):
        lacking = 0.0
        for ramp in range(RAMPS):
            if pool.live[ramp] != 0:
                lacking += (
                    float(pool.weights[ramp]) * float(pool.depths[ramp]) * float(pool.fading[ramp * FADED + days])
                )
        pool.share[days] = 1.0 - lacking
    _learn_shares(pool, scratch, seen)


def _copy_pool(pool: Pool, source: int, ramp: int) -> None:
    """Let one ramp have the pool of another."""
    pool.centre[ramp] = pool.centre[source]
    pool.doubt[ramp] = pool.doubt[source]
    pool.between[ramp] = pool.between[source]
    pool.tail[ramp] = pool.tail[source]
    for kind in range(POOLS):
        pool.centres[ramp * POOLS + kind] = pool.centres[source * POOLS + kind]


def _learn_shares(pool: Pool, summaries: FloatArray, seen: int) -> None:
    """Move the shares of the drift classes one step towards those of the people seen."""
    steady = 1.0
    for kind in range(1, CLASSES):
        count = SHARES_WEIGHT * DRIFT_SHARES[kind]
        for ramp in range(RAMPS):
            weight = float(pool.weights[ramp])
            if weight > 0.0:
                for person in range(seen):
                    count += weight * float(summaries[SUMMARY * person + SUMMARY_FIELDS * ramp + 5 + kind])
        share = count / (SHARES_WEIGHT + seen)
        pool.log_shares[kind] = math.log(share)
        steady -= share
    pool.log_shares[0] = math.log(max(steady, LEAST_VARIANCE))


def _weigh_pools(pool: Pool, crowd: Crowd, ramp: int, summaries: FloatArray, seen: int, told: Told) -> float:
    """Average centre and spread over the hypotheses of the pool under one ramp; return the log-likelihood of all.

    Under each hypothesis the centre moves by one step of expectation and maximisation, in which everybody counts by
    the probability to be from the main part or the tail. The likelihood is that of the centre before the step, carried
    to its maximum by the curvature; where all are from the main part this is exact.
    """
    trusted = told.pool_weight < 0.0
    guess, prior = CENTRE_GUESS, 1.0 / (CENTRE_SD * CENTRE_SD)
    if told.centre >= 0.0 and not trusted:
        spread = told.between_sd if told.between_sd > 0.0 else BETWEEN_GUESS
        guess, prior = told.centre, told.pool_weight / (spread * spread)
    best, whole = -math.inf, 0.0
    centre = square = between = tail = fits = 0.0
    for person in range(seen):
        fits += float(summaries[SUMMARY * person + SUMMARY_FIELDS * ramp + 2])
    for kind in range(POOLS):
        scale, tail_share = float(pool.scales[kind]), float(pool.tails[kind])
        if scale <= 0.0:
            continue
        variance, middle = scale * scale, float(pool.centres[ramp * POOLS + kind])
        precision, weighted = prior + float(crowd.precision[kind]), prior * guess + float(crowd.weighted[kind])
        around = float(crowd.centres[kind])
        slope = float(crowd.weighted[kind]) - 0.5 * float(crowd.precision[kind]) * (middle + around)
        evidence, product = fits + float(crowd.evidence[kind]) + slope * (middle - around), 1.0
        for person in range(seen):
            place = SUMMARY * person + SUMMARY_FIELDS * ramp
            stiffness, pull = float(summaries[place]), float(summaries[place + 1])
            fit, factor, weight = attributed(stiffness, pull, float(summaries[place + 5]), middle, variance, tail_share)
            evidence += fit
            product *= factor
            if product < LEAST_PRODUCT or product > MOST_PRODUCT:
                evidence += math.log(product)
                product = 1.0
            precision += weight * stiffness
            weighted += weight * pull
        moved = told.centre if told.centre >= 0.0 and trusted else weighted / precision
        off, step = middle - guess, moved - middle
        evidence += math.log(product) - 0.5 * math.log(precision / prior)
        evidence += 0.5 * (precision * step * step - prior * off * off)
        if told.between_sd > 0.0 and not trusted:
            wider = math.log(scale / told.between_sd)
            evidence -= 0.5 * told.pool_weight * wider * wider
        pool.centres[ramp * POOLS + kind] = moved
        if evidence > best:
            rescale = math.exp(best - evidence)
            best = evidence
            whole *= rescale
            centre *= rescale
            square *= rescale
            between *= rescale
            tail *= rescale
        likely = math.exp(evidence - best)
        whole += likely
        centre += likely * moved
        square += likely * (1.0 / precision + moved * moved)
        between += likely * variance
        tail += likely * tail_share
    centre /= whole
    pool.centre[ramp] = centre
    pool.doubt[ramp] = 0.0 if told.centre >= 0.0 and trusted else max(0.0, square / whole - centre * centre)
    pool.between[ramp] = between / whole
    pool.tail[ramp] = tail / whole
    return best + math.log(whole)


class PoolAverages(NamedTuple):
    """The main part of the pool averaged over ramps.

    `doubt` is the variance of its `centre`, `between` the variance between people, and `tail` the share of the tail.
    """

    centre: float
    doubt: float
    between: float
    tail: float


def averages_of(pool: Pool) -> PoolAverages:
    """Return the main part of the pool averaged over ramps."""
    centre = square = between = tail = 0.0
    for ramp in range(RAMPS):
        weight, middle = float(pool.weights[ramp]), float(pool.centre[ramp])
        centre += weight * middle
        square += weight * (float(pool.doubt[ramp]) + middle * middle)
        between += weight * float(pool.between[ramp])
        tail += weight * float(pool.tail[ramp])
    return PoolAverages(centre, max(0.0, square - centre * centre), between, tail)


def mean_of_pool(pool: Pool) -> float:
    """Return the expected level after ramp-up of somebody never seen."""
    return (1.0 - ANY_SHARE) * averages_of(pool).centre + ANY_SHARE * ANY_CENTRE


def variance_of_pool(pool: Pool) -> float:
    """Return the variance of the level of somebody never seen."""
    mean, square = mean_of_pool(pool), 0.0
    for ramp in range(RAMPS):
        tail, between, centre = float(pool.tail[ramp]), float(pool.between[ramp]), float(pool.centre[ramp])
        spread = (1.0 - tail - ANY_SHARE) * between + tail * TAIL_WIDTH * TAIL_WIDTH * between
        usual = spread + (1.0 - ANY_SHARE) * (float(pool.doubt[ramp]) + centre * centre)
        square += float(pool.weights[ramp]) * (usual + ANY_SHARE * (ANY_SD * ANY_SD + ANY_CENTRE * ANY_CENTRE))
    return max(square - mean * mean, LEAST_VARIANCE)
