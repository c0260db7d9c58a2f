"""The pool against brute force: centre, spread, ramp and shares of drifts."""

import math
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.evolving import filters as filters_module
from crewlearn.beliefs.evolving import model as model_module
from crewlearn.beliefs.evolving import parts as parts_module
from crewlearn.beliefs.evolving import pool as pool_module
from crewlearn.beliefs.evolving.crowd import expect_all
from crewlearn.beliefs.evolving.filters import update_filters
from crewlearn.beliefs.evolving.learning import meet
from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    CENTRE_GUESS,
    CENTRE_SD,
    CLASSES,
    DRIFT_SHARES,
    NARROWEST,
    NO_RAMP_SHARE,
    OWN_RAMP,
    RAMPS,
    SCALES,
    SHARES_WEIGHT,
    TAIL_SHARE,
    TAIL_WIDTH,
    WIDEST_WITH_TAIL,
    Evolving,
    Told,
)
from crewlearn.beliefs.evolving.pool import learn_pool, mean_of_pool, variance_of_pool
from support.evolving import EXPERIENCED, NOTHING_TOLD, fresh, log_sum, told

NOISE = 0.06**2


@pytest.fixture
def no_outliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everybody be from the main part of the pool, steady, and no ramp be ruled out: then all is exact."""
    for module in (pool_module, parts_module):
        monkeypatch.setattr(module, "ANY_SHARE", 0.0)
    monkeypatch.setattr(model_module, "TAIL_SHARE", 0.0)
    monkeypatch.setattr(pool_module, "NEGLIGIBLE", 0.0)
    monkeypatch.setattr(filters_module, "DRIFTS", (0.0,) * CLASSES)


def seen_from(seed: int, people: int, known: Told, experience: int, days: int) -> tuple[Evolving, Any]:
    """Let people be seen so many times each, on the same day; return the beliefs and the outputs."""
    random = np.random.default_rng(seed)
    output = random.normal(0.6, 0.12, people)[:, None] + random.normal(0.0, math.sqrt(NOISE), (people, days))
    learned = fresh([experience] * (people + 1), known)
    for worker in range(people):
        meet(learned, worker)
        for made in output[worker]:
            update_filters(learned, worker, float(made), NOISE, 0)
            learned.people.days[worker] += 1
    return learned, output


def joint(output: Any, between: float, shares: Any, fading: Any, own: float) -> tuple[float, float, float]:
    """Return mean and variance of the centre, and the log-likelihood, from the joint normal of all outputs."""
    people, days = output.shape
    person = between * np.outer(shares, shares) + own * np.outer(fading, fading) + NOISE * np.eye(days)
    design = np.tile(shares, people)
    covariance = np.kron(np.eye(people), person) + CENTRE_SD**2 * np.outer(design, design)
    off = output.ravel() - CENTRE_GUESS * design
    weights = np.linalg.solve(covariance, CENTRE_SD**2 * design)
    fit = -0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off))
    return CENTRE_GUESS + weights @ off, CENTRE_SD**2 * (1.0 - weights @ design), float(fit)


@pytest.mark.usefixtures("no_outliers")
@pytest.mark.parametrize("seed", range(4))
def test_the_centre_under_a_told_spread_is_exact(seed: int) -> None:
    known = told(between_sd=0.2, ramp_depth=0.3, ramp_days=4.0)
    learned, output = seen_from(seed, 5, known, 0, 6)
    fading = np.exp(-np.arange(6) / 4.0)
    own = (OWN_RAMP * 0.3 * CENTRE_GUESS) ** 2
    mean, variance, _ = joint(output, 0.2**2, 1.0 - 0.3 * fading, fading, own)
    for _ in range(3):  # the first step finds it, and it stays
        learn_pool(learned, known)
        assert learned.pool.centre[0] == pytest.approx(mean, rel=1e-9)
        assert learned.pool.doubt[0] == pytest.approx(variance, rel=1e-7)
    assert mean_of_pool(learned.pool) == pytest.approx(mean, rel=1e-9)
    assert variance_of_pool(learned.pool) == pytest.approx(0.2**2 + variance, rel=1e-9)
    expect_all(learned)  # the last person was never seen
    assert (learned.people.means[5], learned.people.variances[5]) == (
        mean_of_pool(learned.pool),
        variance_of_pool(learned.pool),
    )


@pytest.mark.usefixtures("no_outliers")
@pytest.mark.parametrize("experience", [0, EXPERIENCED])
def test_ramps_and_spreads_are_weighed_by_their_exact_likelihood(experience: int) -> None:
    learned, output = seen_from(7, 4, NOTHING_TOLD, experience, 3)
    for _ in range(2):
        learn_pool(learned, NOTHING_TOLD)
    pool, logs = learned.pool, []
    for ramp in range(RAMPS):
        fading = np.exp(-np.arange(experience, experience + 3) / pool.ramp_days[ramp]) * (experience == 0)
        own = (OWN_RAMP * pool.depths[ramp] * CENTRE_GUESS) ** 2
        under, cases = [], []
        for scale in range(SCALES):
            between = (NARROWEST * 2**scale) ** 2
            mean, variance, fit = joint(output, between, 1.0 - pool.depths[ramp] * fading, fading, own)
            for _ in range(2 if math.sqrt(between) <= WIDEST_WITH_TAIL else 1):  # with a tail of share 0, and without
                under.append(fit)
                cases.append((mean, variance, between))
        weights = [math.exp(fit - log_sum(under)) for fit in under]
        centre = sum(w * mean for w, (mean, _, _) in zip(weights, cases, strict=True))
        square = sum(
            w * (variance + (mean - centre) ** 2) for w, (mean, variance, _) in zip(weights, cases, strict=True)
        )
        assert pool.centre[ramp] == pytest.approx(centre, rel=1e-8)
        assert pool.doubt[ramp] == pytest.approx(square, rel=1e-6)
        assert pool.between[ramp] == pytest.approx(
            sum(w * between for w, (_, _, between) in zip(weights, cases, strict=True)), rel=1e-8
        )
        logs.append(pool.priors[ramp] + log_sum(under))
    assert pool.weights == pytest.approx([math.exp(log - log_sum(logs)) for log in logs], rel=1e-7)
    if experience > 0:  # whoever is experienced tells nothing about ramps
        assert pool.weights[0] == pytest.approx(NO_RAMP_SHARE)


@pytest.mark.parametrize("between", [0.05, 0.1])
def test_with_outliers_the_centre_rests_at_the_mode_of_its_posterior(between: float) -> None:
    """Expectation and maximisation climb to the mode, which a fine grid finds as well."""
    known = told(between_sd=between)
    learned, output = seen_from(3, 8, known, EXPERIENCED, 2)
    update_filters(learned, 0, 0.05, 0.01**2, 0)  # an outlier
    for _ in range(200):
        learn_pool(learned, known)
    means, precision = output.mean(axis=1), np.full(8, 2 / NOISE)
    total = precision[0] + 1e4
    means[0], precision[0] = (means[0] * precision[0] + 0.05 * 1e4) / total, total
    centres = np.linspace(0.3, 0.9, 60001)[:, None]

    def density(variance: float, centre: Any) -> Any:
        whole = variance + 1.0 / precision
        return np.exp(-0.5 * (means - centre) ** 2 / whole) / np.sqrt(whole)

    for kind, tail in ((0, 0.0), (1, TAIL_SHARE)):
        mixture = (1.0 - tail - ANY_SHARE) * density(between**2, centres)
        mixture = mixture + tail * density((TAIL_WIDTH * between) ** 2, centres)
        mixture = mixture + ANY_SHARE * density(ANY_SD**2, np.full_like(centres, ANY_CENTRE))
        posterior = np.log(mixture).sum(axis=1) - 0.5 * ((centres[:, 0] - CENTRE_GUESS) / CENTRE_SD) ** 2
        assert learned.pool.centres[kind] == pytest.approx(centres[posterior.argmax(), 0], abs=2e-5)


def test_shares_of_drifts_count_people_beside_the_prior() -> None:
    """Seen once, nobody tells anything about drift: their shares stay those of the prior."""
    learned, _ = seen_from(1, 6, NOTHING_TOLD, EXPERIENCED, 1)
    for _ in range(5):
        learn_pool(learned, NOTHING_TOLD)
    assert [math.exp(log) for log in learned.pool.log_shares] == pytest.approx(DRIFT_SHARES)
    # Somebody who clearly moves fast counts as one person, beside a prior that weighs SHARES_WEIGHT people.
    for day in range(12):
        update_filters(learned, 0, 0.4 + 0.03 * day, NOISE / 16, 1)
    for _ in range(50):
        learn_pool(learned, NOTHING_TOLD)
    fastest = math.exp(learned.pool.log_shares[CLASSES - 1])
    assert fastest > (SHARES_WEIGHT * DRIFT_SHARES[CLASSES - 1] + 0.9) / (SHARES_WEIGHT + 6)
    assert sum(math.exp(log) for log in learned.pool.log_shares) == pytest.approx(1.0)


def test_a_ramp_told_is_the_only_one() -> None:
    learned = fresh([0, 0], told(ramp_depth=0.25, ramp_days=5.0))
    assert learned.pool.weights == [1.0] + [0.0] * (RAMPS - 1)
    assert learned.pool.share[:3] == pytest.approx([1.0 - 0.25 * math.exp(-n / 5.0) for n in range(3)])
    only_days = fresh([0, 0], told(ramp_days=7.0))
    assert only_days.pool.weights[0] == pytest.approx(NO_RAMP_SHARE)
    assert {days for days, w in zip(only_days.pool.ramp_days, only_days.pool.weights, strict=True) if w > 0} <= {1, 7}
