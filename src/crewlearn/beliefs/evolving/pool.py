"""What people seen so far tell about the pool: its centre and spread, and the ramp that newcomers share."""

import math

from crewlearn.beliefs.evolving.filters import SUMMARY_FIELDS, summarise
from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    CENTRE_GUESS,
    CENTRE_SD,
    CLASSES,
    DRIFT_SHARES,
    FADED,
    NARROWEST,
    POOLS,
    RAMPS,
    SHARES_WEIGHT,
    TAIL_SHARE,
    TAIL_WIDTH,
    Evolving,
    Pool,
    Told,
)
from crewlearn.problem.arrays import FloatArray

SUMMARY = SUMMARY_FIELDS * RAMPS
WIDEST_WITH_TAIL = 0.15
FARTHEST = 300.0
LEAST_PRODUCT, MOST_PRODUCT = 1e-150, 1e150
"""Limits within which factors are multiplied; a single one is at most exp(FARTHEST)."""

NEGLIGIBLE = 1e-4
"""Ramps whose weight falls below this share of the largest are ruled out."""


def learn_pool(learned: Evolving, told: Told) -> None:
    """Infer the pool under each ramp, and the weights of ramps, from everybody seen."""
    people, pool = learned.people, learned.pool
    summaries = learned.scratch
    seen = 0
    for worker in range(len(people.slot)):
        if people.slot[worker] >= 0:
            summarise(learned, worker, summaries[SUMMARY * (seen + 1) :])
            seen += 1
    best = -math.inf
    for ramp in range(RAMPS):
        if pool.live[ramp] != 0:
            pool.weights[ramp] = pool.priors[ramp] + _weigh_pools(pool, ramp, summaries, seen, told)
            best = max(best, float(pool.weights[ramp]))
    whole = 0.0
    for ramp in range(RAMPS):
        if pool.live[ramp] != 0:
            weight = math.exp(float(pool.weights[ramp]) - best)
            pool.weights[ramp] = weight
            whole += weight
            if weight < NEGLIGIBLE:
                pool.live[ramp] = 0
                pool.weights[ramp] = 0.0
                whole -= weight
        else:
            pool.weights[ramp] = 0.0
    for ramp in range(RAMPS):
        pool.weights[ramp] /= whole
    for days in range(FADED):
        share = 0.0
        for ramp in range(RAMPS):
            if pool.live[ramp] != 0:
                share += pool.weights[ramp] * pool.depths[ramp] * pool.fading[ramp * FADED + days]
        pool.share[days] = 1.0 - share
    _learn_shares(pool, summaries, seen)
    for worker in range(len(people.slot)):
        if people.slot[worker] < 0:
            people.means[worker] = mean_of_pool(pool)
            people.variances[worker] = variance_of_pool(pool)


def _learn_shares(pool: Pool, summaries: FloatArray, seen: int) -> None:
    """Move the shares of the drift classes one step towards those of the people seen."""
    steady = 1.0
    for kind in range(1, CLASSES):
        count = SHARES_WEIGHT * DRIFT_SHARES[kind]
        for ramp in range(RAMPS):
            weight = float(pool.weights[ramp])
            if weight > 0.0:
                for person in range(seen):
                    count += weight * float(summaries[SUMMARY * (person + 1) + SUMMARY_FIELDS * ramp + 5 + kind])
        share = count / (SHARES_WEIGHT + seen)
        pool.log_shares[kind] = math.log(share)
        steady -= share
    pool.log_shares[0] = math.log(max(steady, 1e-6))


def _weigh_pools(pool: Pool, ramp: int, summaries: FloatArray, seen: int, told: Told) -> float:
    """Average centre and spread over the hypotheses of the pool under one ramp; return the log-likelihood of all."""
    prior = 1.0 / (CENTRE_SD * CENTRE_SD)
    best, whole = -math.inf, 0.0
    centre = square = between = tail = 0.0
    fits = 0.0
    for person in range(seen):
        fits += float(summaries[SUMMARY * (person + 1) + SUMMARY_FIELDS * ramp + 2])
    for kind in range(POOLS if told.between_sd < 0.0 else 2):
        scale = NARROWEST * 2.0 ** (kind // 2) if told.between_sd < 0.0 else told.between_sd
        tail_share = TAIL_SHARE if kind % 2 == 1 else 0.0
        if kind % 2 == 1 and scale > WIDEST_WITH_TAIL:
            continue
        variance = scale * scale
        wide = TAIL_WIDTH * TAIL_WIDTH * variance
        share = 1.0 - tail_share - ANY_SHARE
        middle = float(pool.centres[ramp * POOLS + kind])
        precision, weighted = prior, prior * CENTRE_GUESS
        evidence, product = fits, 1.0
        for person in range(seen):
            place = SUMMARY * (person + 1) + SUMMARY_FIELDS * ramp
            stiffness, pull = float(summaries[place]), float(summaries[place + 1])
            ratio = 1.0 + stiffness * variance
            shift = pull * (2.0 * middle + variance * pull) - stiffness * middle * middle
            fit = shift / (2.0 * ratio)
            ordinary = share / math.sqrt(ratio)
            odd = float(summaries[place + 5]) - fit
            anything = ANY_SHARE * math.exp(min(odd, FARTHEST)) if odd > -30.0 else 0.0
            farther = 0.0
            of_tail = 1.0
            if tail_share > 0.0:
                of_tail = 1.0 + stiffness * wide
                shift = pull * (2.0 * middle + wide * pull) - stiffness * middle * middle
                farther = tail_share * math.exp(min(shift / (2.0 * of_tail) - fit, FARTHEST)) / math.sqrt(of_tail)
            total = ordinary + farther + anything
            evidence += fit
            product *= total
            if product < LEAST_PRODUCT or product > MOST_PRODUCT:  # one logarithm for many factors
                evidence += math.log(product)
                product = 1.0
            weight = (ordinary / ratio + farther / of_tail) / total
            precision += weight * stiffness
            weighted += weight * pull
        evidence += math.log(product)
        moved = weighted / precision if told.centre < 0.0 else told.centre
        off = middle - CENTRE_GUESS
        evidence += 0.5 * (precision * (moved - middle) * (moved - middle) - prior * off * off)
        evidence -= 0.5 * math.log(precision / prior)
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
    pool.doubt[ramp] = 0.0 if told.centre >= 0.0 else max(0.0, square / whole - centre * centre)
    pool.between[ramp] = between / whole
    pool.tail[ramp] = tail / whole
    return best + math.log(whole)


def mean_of_pool(pool: Pool) -> float:
    """Return the expected level after ramp-up of somebody never seen."""
    mean = 0.0
    for ramp in range(RAMPS):
        mean += pool.weights[ramp] * ((1.0 - ANY_SHARE) * pool.centre[ramp] + ANY_SHARE * ANY_CENTRE)
    return mean


def variance_of_pool(pool: Pool) -> float:
    """Return the variance of the level of somebody never seen."""
    mean, square = mean_of_pool(pool), 0.0
    for ramp in range(RAMPS):
        tail, between = pool.tail[ramp], pool.between[ramp]
        wide = TAIL_WIDTH * TAIL_WIDTH * between
        ordinary = (1.0 - tail - ANY_SHARE) * between + tail * wide
        ordinary += (1.0 - ANY_SHARE) * (pool.doubt[ramp] + pool.centre[ramp] * pool.centre[ramp])
        square += pool.weights[ramp] * (ordinary + ANY_SHARE * (ANY_SD * ANY_SD + ANY_CENTRE * ANY_CENTRE))
    return max(square - mean * mean, 1e-12)
