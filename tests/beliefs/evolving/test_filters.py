"""People's filters against the joint normal of everything, computed with plain linear algebra."""

import math

import numpy as np
import pytest

from crewlearn.beliefs.evolving.filters import SUMMARY_FIELDS, summarise, update_filters
from crewlearn.beliefs.evolving.learning import meet
from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    CLASSES,
    DRIFT_SHARES,
    DRIFTS,
    OWN_RAMP,
    RAMPS,
    TAIL_WIDTH,
    Evolving,
    has_no_filters,
)
from crewlearn.beliefs.evolving.parts import log_evidence
from support.evolving import EXPERIENCED, Dense, Person, dense, fresh, log_sum, told

CENTRE, BETWEEN = 0.55, 0.15**2


def record_of(seed: int, days: int, first: int, depth: float, ramp_days: float) -> Person:
    """Make up a person's record, with gaps; any numbers will do, and these are not too unlikely."""
    random = np.random.default_rng(seed)
    fading = np.exp(-(first + np.arange(days)) / ramp_days)
    shares, gaps = 1.0 - depth * fading, random.integers(1, 9, days)
    gaps[0] = 0
    noise = random.uniform(0.02, 0.1, days) ** 2
    output = shares * (0.6 + np.cumsum(random.normal(0.0, 0.004, days))) + random.normal(0.0, np.sqrt(noise))
    return Person(output, noise, gaps, shares, np.where(depth > 0.0, fading, 0.0))


def taught(learned: Evolving, person: Person) -> None:
    """Teach the record of worker 0."""
    if has_no_filters(learned.people.slot[0]):
        meet(learned, 0)
    for output, noise, gap in zip(person.output, person.noise, person.gaps, strict=True):
        update_filters(learned, 0, float(output), float(noise), int(gap))
        learned.people.days[0] += 1


def filtered(learned: Evolving, place: int, centre: float, between: float) -> Dense:
    """Return what the filter at `place` tells, given a normal first level."""
    filters = learned.filters
    stiffness, pull = filters.stiffness[place], filters.pull[place]
    ratio = 1.0 + stiffness * between
    first = (centre + between * pull) / ratio
    return Dense(
        filters.base[place] + filters.slope[place] * first,
        filters.spread[place] + filters.slope[place] ** 2 * between / ratio,
        filters.own_base[place] + filters.own_slope[place] * first,
        filters.fit[place] + log_evidence(stiffness, pull, centre, between),
    )


def agrees(got: Dense, expected: Dense, *, ramping: bool) -> None:
    """Compare all numbers; that of the person's own ramp is no longer kept once it is past."""
    assert tuple(got)[:2] == pytest.approx(tuple(expected)[:2], rel=1e-9)
    assert got.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-9)
    if ramping:
        assert got.own == pytest.approx(expected.own, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("depth", "ramp_days", "first"), [(0.0, 1.0, 0), (0.3, 4.0, 0), (0.45, 10.0, 3), (0.1, 2.0, 1)]
)
def test_each_filter_is_the_joint_normal_conditioned(seed: int, depth: float, ramp_days: float, first: int) -> None:
    person = record_of(seed, 6 + seed * 2, first, depth, ramp_days)
    person = person._replace(fading=np.where(person.fading < 0.002, 0.0, person.fading))
    learned = fresh([first], told(ramp_depth=depth, ramp_days=ramp_days, centre=CENTRE))
    taught(learned, person)
    for kind in range(CLASSES):
        own = (OWN_RAMP * depth * CENTRE) ** 2
        expected = dense(person, CENTRE, BETWEEN, DRIFTS[kind] ** 2, own)
        agrees(filtered(learned, kind, CENTRE, BETWEEN), expected, ramping=person.fading[-1] > 0.0)
        # The same filter serves any other pool.
        expected = dense(person, 0.2, 0.4**2, DRIFTS[kind] ** 2, own)
        agrees(filtered(learned, kind, 0.2, 0.4**2), expected, ramping=person.fading[-1] > 0.0)


def test_every_ramp_of_the_grid_has_its_own_filters() -> None:
    learned = fresh([0])
    blank = record_of(3, 9, 0, 0.0, 1.0)
    taught(learned, blank)
    for ramp in range(RAMPS):
        depth, fading = learned.pool.depths[ramp], np.exp(-np.arange(9) / learned.pool.ramp_days[ramp])
        weak = np.where((depth == 0.0) | (fading < 0.002), 0.0, fading)
        person = blank._replace(shares=1.0 - depth * fading, fading=weak)
        expected = dense(person, CENTRE, BETWEEN, DRIFTS[2] ** 2, (OWN_RAMP * depth * 0.5) ** 2)
        agrees(filtered(learned, ramp * CLASSES + 2, CENTRE, BETWEEN), expected, ramping=weak[-1] > 0.0)


def test_prior_data_are_observations_of_the_first_level() -> None:
    """Their mean is one more output on the first day, with the variance of a mean; their own fit does not count."""
    person = record_of(5, 7, EXPERIENCED, 0.0, 1.0)
    known = told(noise_sd=0.1, centre=CENTRE, between_sd=0.15)
    learned = fresh([EXPERIENCED], known, prior=[(4, 2.6)])
    taught(learned, person)
    first = Person([0.65], [0.1**2 / 4], [0], [1.0], [0.0])
    both = Person(*(np.append(a, b) for a, b in zip(first, person, strict=True)))
    for kind in range(CLASSES):
        expected = dense(both, CENTRE, BETWEEN, DRIFTS[kind] ** 2, 0.0)
        got = filtered(learned, kind, CENTRE, BETWEEN)
        assert got[:2] == pytest.approx(expected[:2], rel=1e-9)


@pytest.mark.parametrize("days", [1, 2, 8])
@pytest.mark.parametrize("tail", [0.0, 0.08])
@pytest.mark.parametrize("seed", range(5))
def test_a_belief_is_the_mixture_over_drifts_and_parts_of_the_pool(seed: int, tail: float, days: int) -> None:
    """After one day all drift classes are alike."""
    person = record_of(seed, days, 0, 0.3, 4.0)
    learned = fresh([0], told(ramp_depth=0.3, ramp_days=4.0, centre=CENTRE))
    taught(learned, person)
    pool = learned.pool
    pool.between[0], pool.tail[0], pool.doubt[0] = 0.05**2, tail, 0.0
    summarise(learned, 0, 0)
    own = (OWN_RAMP * 0.3 * CENTRE) ** 2
    parts = [
        (1.0 - tail - ANY_SHARE, CENTRE, 0.05**2),
        (tail, CENTRE, (TAIL_WIDTH * 0.05) ** 2),
        (ANY_SHARE, ANY_CENTRE, ANY_SD**2),
    ]
    logs, cases = [], []
    for share_of_class, drift in zip(DRIFT_SHARES, DRIFTS, strict=True):
        for share, centre, between in parts:
            if share > 0.0:
                cases.append((dense(person, centre, between, drift**2, own), drift))
                logs.append(math.log(share * share_of_class) + cases[-1][0].log_likelihood)
    weights = [math.exp(log - log_sum(logs)) for log in logs]
    mean = sum(weight * case.level for weight, (case, _) in zip(weights, cases, strict=True))
    square = sum(
        weight * (case.variance + (case.level - mean) ** 2) for weight, (case, _) in zip(weights, cases, strict=True)
    )
    drifting = sum(weight * drift**2 for weight, (_, drift) in zip(weights, cases, strict=True))
    assert learned.people.means[0] == pytest.approx(mean, rel=1e-9)
    assert learned.people.variances[0] == pytest.approx(square, rel=1e-9)
    assert learned.people.drift[0] == pytest.approx(drifting, rel=1e-9)
    # What the pool is told: the likelihood of the main part, averaged over drifts.
    stiffness, pull, fit = learned.scratch[:3]
    main = [
        math.log(share) + dense(person, CENTRE, 0.05**2, drift**2, own).log_likelihood
        for share, drift in zip(DRIFT_SHARES, DRIFTS, strict=True)
    ]
    assert fit + log_evidence(stiffness, pull, CENTRE, 0.05**2) == pytest.approx(log_sum(main), rel=1e-9)
    assert learned.scratch[5] == pytest.approx(log_evidence(stiffness, pull, ANY_CENTRE, ANY_SD**2), rel=1e-9)
    assert SUMMARY_FIELDS == 6 + CLASSES - 1


def test_doubt_about_the_pool_s_centre_widens_beliefs() -> None:
    """By the square of how far the belief moves with the centre."""
    person = record_of(1, 3, EXPERIENCED, 0.0, 1.0)

    def belief(centre: float, doubt: float) -> tuple[float, float]:
        learned = fresh([EXPERIENCED], told(centre=centre))
        taught(learned, person)
        for ramp in range(RAMPS):
            learned.pool.between[ramp], learned.pool.doubt[ramp], learned.pool.centre[ramp] = 0.25**2, doubt, centre
        learned.pool.log_shares[:] = [0.0] + [-40.0] * (CLASSES - 1)
        summarise(learned, 0, 0)
        return learned.people.means[0], learned.people.variances[0]

    (low, _), (mean, narrow), (high, _) = belief(0.5499, 0.0), belief(0.55, 0.0), belief(0.5501, 0.0)
    assert low < mean < high
    wide = belief(0.55, 0.1**2)
    assert wide[0] == mean
    assert math.sqrt(wide[1] - narrow) == pytest.approx(0.1 * (high - low) / 0.0002, rel=0.15)  # 10% may be anywhere


def test_somebody_who_changed_at_once_is_found_and_known_well_again() -> None:
    """A step of 8 noise levels after 60 steady days: 20 days later the level is that of the 20 days, and narrow."""
    learned = fresh([EXPERIENCED], told(noise_sd=0.05))
    meet(learned, 0)
    random = np.random.default_rng(11)
    for day in range(80):
        update_filters(learned, 0, (0.8 if day < 60 else 0.4) + random.normal(0.0, 0.05), 0.05**2, 1)
        summarise(learned, 0, 0)
    assert learned.people.means[0] == pytest.approx(0.4, abs=4.5 * 0.05 / math.sqrt(12))  # 1e-5 for 12 days of memory
    assert 0.05**2 / 25 < learned.people.variances[0] < 0.05**2 / 3
