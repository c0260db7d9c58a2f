"""The parts of a pool that a person may come from: most people, a wider tail, and a few who could be anywhere."""

import math

from crewlearn.beliefs.evolving.model import ANY_CENTRE, ANY_SD, ANY_SHARE, TAIL_WIDTH

WELL_KNOWN = 400.0
"""Somebody known so many times better than by the pool has the same belief, whichever part of it they come from."""

MOST_SURPRISING = 300.0
"""Upper limit on a log ratio, which keeps exp finite."""

UNLIKELY = 30.0
"""Somebody is not from the part that may be anywhere if that is exp(UNLIKELY) times less likely."""


def log_evidence(stiffness: float, pull: float, centre: float, variance: float) -> float:
    """Return the log-likelihood of a person whose first level is normal, without the filter's `fit`.

    >>> round(log_evidence(0.0, 0.0, 0.5, 0.04), 6), round(log_evidence(100.0, 50.0, 0.5, 0.0), 6)
    (0.0, 12.5)
    """
    ratio = 1.0 + stiffness * variance
    return (pull * (2.0 * centre + variance * pull) - stiffness * centre * centre) / (2.0 * ratio) - 0.5 * math.log(
        ratio
    )


def log_anywhere(stiffness: float, pull: float) -> float:
    """Return the log-likelihood of a person who may be anywhere."""
    return log_evidence(stiffness, pull, ANY_CENTRE, ANY_SD * ANY_SD)


def mixed(
    stiffness: float,
    pull: float,
    base: float,
    slope: float,
    spread: float,
    centre: float,
    doubt: float,
    between: float,
    tail: float,
    likely: float,
    offset: float,
) -> tuple[float, float, float]:
    """Return a person's weight over all parts of the pool, and the weighted sums of the level and its square.

    Given a first level x, the present one is normal around `base + slope x` with variance `spread`. `likely` is the
    likelihood of the main part; `offset` is added to the log-likelihoods of the others to have them on the same scale.
    """
    ratio = 1.0 + stiffness * between
    well_known = ratio > WELL_KNOWN
    weight = likely if well_known else likely * (1.0 - tail - ANY_SHARE)
    level = base + slope * (centre + between * pull) / ratio
    whole, mean = weight, weight * level
    square = weight * (spread + slope * slope * (between / ratio + doubt / (ratio * ratio)) + level * level)
    if not well_known:
        for part in range(1, 3):
            middle, variance, unsure, weight = centre, TAIL_WIDTH * TAIL_WIDTH * between, doubt, tail
            if part == 2:
                middle, variance, unsure, weight = ANY_CENTRE, ANY_SD * ANY_SD, 0.0, ANY_SHARE
            if weight > 0.0:
                ratio = 1.0 + stiffness * variance
                surprise = log_evidence(stiffness, pull, middle, variance) + offset
                weight *= math.exp(min(surprise, MOST_SURPRISING))
                level = base + slope * (middle + variance * pull) / ratio
                whole += weight
                mean += weight * level
                square += weight * (
                    spread + slope * slope * (variance / ratio + unsure / (ratio * ratio)) + level * level
                )
    return whole, mean, square


def attributed(
    stiffness: float, pull: float, anywhere: float, centre: float, variance: float, tail: float
) -> tuple[float, float, float]:
    """Attribute a person to the parts of a pool: return log-likelihood, a factor to it, and weight for the centre.

    The factor times the exponential of the first number is the likelihood. `anywhere` is the log-likelihood of the part
    that may be anywhere. The weight is the share of `stiffness` and `pull` that tells of the centre, which is the
    probability of the main part and the tail, each by how well it shows the centre.
    """
    ratio = 1.0 + stiffness * variance
    fit = (pull * (2.0 * centre + variance * pull) - stiffness * centre * centre) / (2.0 * ratio)
    ordinary, farther, of_tail = (1.0 - tail - ANY_SHARE) / math.sqrt(ratio), 0.0, 1.0
    if tail > 0.0:
        wide = TAIL_WIDTH * TAIL_WIDTH * variance
        of_tail = 1.0 + stiffness * wide
        far = (pull * (2.0 * centre + wide * pull) - stiffness * centre * centre) / (2.0 * of_tail) - fit
        farther = tail * math.exp(min(far, MOST_SURPRISING)) / math.sqrt(of_tail)
    odd = anywhere - fit
    other = ANY_SHARE * math.exp(min(odd, MOST_SURPRISING)) if odd > -UNLIKELY else 0.0
    factor = ordinary + farther + other
    return fit, factor, (ordinary / ratio + farther / of_tail) / factor
