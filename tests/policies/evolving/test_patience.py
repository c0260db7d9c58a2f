"""Patience: somebody of whom little is known is let go only for a person who is probably better."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from crewlearn.beliefs.evolving.model import ANY_CENTRE, ANY_SD, ANY_SHARE
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.policies.evolving.trials import Prospect, Stakes, chance_better, empty_tables
from crewlearn.problem.arrays import NOBODY
from support.evolving import EXPERIENCED
from support.hostile import EvolvingSite

KNOWN = ValueOfReplacementEvolving(centre=0.63, between_sd=0.05, noise_sd=0.05, ramp_depth=0.0, margin=0.0)
"""Knows noise and pool, and that nobody ramps up, so that only the level and the days worked matter."""

FEE = 1.5


def floor_with_newcomer(
    policy: ValueOfReplacementEvolving, level: float, days: int, experience: int = 0, prior: int = 0
) -> EvolvingSite:
    """Return a floor of experienced people around 0.63, joined by worker 5 for some days; 6 and 7 were never seen."""
    site = EvolvingSite(policy, 8, 6, [EXPERIENCED] * 5 + [experience, 0, 0])
    site.prior.counts[5], site.prior.sums[5] = prior, prior * level
    site.state = policy.start(site.situation(), 7)
    random = np.random.default_rng(7)
    levels = {0: 0.57, 1: 0.60, 2: 0.63, 3: 0.67, 4: 0.70}
    for day in range(60):
        site.learn(day + 1, {worker: mean + random.normal(0.0, 0.05) for worker, mean in levels.items()})
    for day in range(60, 60 + days):
        output = {worker: mean + random.normal(0.0, 0.05) for worker, mean in levels.items()}
        site.learn(day + 1, {**output, 5: level})
    return site


def let_go(policy: ValueOfReplacementEvolving, level: float, days: int, experience: int = 0, prior: int = 0) -> bool:
    site = floor_with_newcomer(policy, level, days, experience, prior)
    pairs, _ = policy.decide(site.state, site.situation(cost=FEE))
    return any(out == 5 for out, _ in pairs)


@pytest.mark.parametrize("days", [4, 6])
def test_a_middling_newcomer_stays_until_more_is_known(days: int) -> None:
    """At 0.585 a newcomer is below the pool's mean, but may well be better than whoever would replace them."""
    assert let_go(replace(KNOWN, patience=0.0), 0.585, days)
    assert not let_go(KNOWN, 0.585, days)


def test_patience_ends_once_enough_is_known() -> None:
    """Twelve times the pool's information are about twelve days here."""
    assert let_go(KNOWN, 0.585, 20)


def test_days_elsewhere_count_only_if_they_were_observed() -> None:
    """Experience alone tells nothing of somebody's level; twenty earlier observations tell enough."""
    assert not let_go(KNOWN, 0.585, 4, experience=EXPERIENCED)
    assert let_go(KNOWN, 0.585, 4, prior=20)


def test_people_who_are_alike_are_not_protected_however_patient() -> None:
    """With twice the noise, a day has four times the variance between people; more patience never protects less."""
    alike = replace(KNOWN, noise_sd=0.1, sure=1.0)
    site = floor_with_newcomer(alike, 0.62, 3)
    assert alike.waiting(site.state, site.situation()).least_observed is None
    assert not let_go(replace(KNOWN, patience=25.0), 0.585, 4)


def test_a_hopeless_newcomer_is_let_go_at_once() -> None:
    """Somebody at half of the others' level is worse than nearly everybody who could come."""
    assert let_go(KNOWN, 0.3, 4)
    assert let_go(ValueOfReplacementEvolving(), 0.3, 4)


def test_the_probability_asked_for_is_kept_to() -> None:
    """With `sure` at 0 nobody is protected; at 1, everybody of whom too little is known."""
    assert let_go(replace(KNOWN, sure=0.0), 0.585, 4)
    assert not let_go(replace(KNOWN, sure=1.0), 0.585, 4)


def test_patience_that_would_cost_too_much_is_not_had() -> None:
    """Waiting for a newcomer far below the rest costs more than three quarters of the fee."""
    assert let_go(replace(KNOWN, sure=1.0), 0.3, 4)


def test_the_chance_to_be_better_is_that_of_draws() -> None:
    """Against 400,000 draws; 4.5 standard errors of a share are at most 0.0036."""
    tables = empty_tables()
    parts = [(0.82, 0.6, 0.0025), (0.08, 0.6, 0.04), (0.1, 0.5, 0.09)]
    tables.parts[:] = [number for part in parts for number in part]
    stakes = Stakes(100.0, 1.0, 0.0025, tables)
    random = np.random.default_rng(3)
    chosen = random.choice(3, size=400_000, p=[share for share, _, _ in parts])
    centre, sd = np.array([part[1] for part in parts]), np.sqrt([part[2] for part in parts])
    theirs = random.normal(centre[chosen], sd[chosen])
    ours = random.normal(0.57, 0.03, size=len(theirs))
    chance = chance_better(stakes, Prospect(0.6, 0.01, 0, untried=True), 0.57, 0.03**2)
    assert chance == pytest.approx((theirs > ours).mean(), abs=0.0036)
    seen = random.normal(0.6, 0.02, size=len(ours))
    chance = chance_better(stakes, Prospect(0.6, 0.02**2, 0, untried=False), 0.57, 0.03**2)
    assert chance == pytest.approx((seen > ours).mean(), abs=0.0036)


def test_the_chance_shown_is_the_one_that_patience_goes_by() -> None:
    """Asked for a little less than is shown, the newcomer is let go; for a little more, they stay.

    Whoever enters was never seen: the chance is that of the parts of the pool, not of one normal as wide as all parts.
    """
    site = floor_with_newcomer(KNOWN, 0.585, 4)
    (reason,) = KNOWN.reasons(site.state, site.situation(cost=FEE), [(5, 6)])
    shown = reason.chance_better
    assert reason.in_belief is not None
    assert reason.out_belief is not None
    assert abs(shown - reason.in_belief.chance_above(reason.out_belief)) > 0.05
    assert let_go(replace(KNOWN, sure=shown - 1e-9), 0.585, 4)
    assert not let_go(replace(KNOWN, sure=shown + 1e-9), 0.585, 4)


def test_the_chance_to_do_better_than_an_empty_station_counts_all_parts_of_the_pool() -> None:
    site = EvolvingSite(KNOWN, 3, 2, [EXPERIENCED, 0, 0])
    (reason,) = KNOWN.reasons(site.state, site.situation(cost=FEE), [(NOBODY, 2)])
    anywhere = NormalDist(ANY_CENTRE, ANY_SD).cdf(0.0)
    assert reason.chance_better == pytest.approx(1.0 - ANY_SHARE * anywhere, abs=0.002)


def test_waiting_names_the_newcomer_and_when_they_are_judged() -> None:
    """Noise and spread of 0.05 call for about 12 days; the newcomer has worked 3 of them."""
    site = floor_with_newcomer(KNOWN, 0.62, 3)
    waiting = KNOWN.waiting(site.state, site.situation())
    assert waiting.least_observed == 5
    assert waiting.still_needed == pytest.approx(12 - 3, abs=3)
    hasty = replace(KNOWN, patience=0.0)
    assert hasty.waiting(site.state, site.situation()).least_observed is None
