"""The crowd against people with filters, and against brute force: prior data tell the same either way."""

import math
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.evolving.crowd import expect_all, follow_crowd, join_crowd
from crewlearn.beliefs.evolving.learning import meet
from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    CENTRE_GUESS,
    CENTRE_SD,
    CLASSES,
    CROWD,
    DRIFT_SHARES,
    NO_FILTERS,
    NOISE_USED,
    POOLS,
    SLOTS,
    TAIL_SHARE,
    TAIL_WIDTH,
    Evolving,
    Told,
)
from crewlearn.beliefs.evolving.pool import learn_pool
from support.evolving import EXPERIENCED, NOTHING_TOLD, fresh, learn, told

PEOPLE = 40


def prior_data(seed: int, people: int = PEOPLE) -> list[tuple[int, float]]:
    """Make up prior data (count, sum) of people, one of them an outlier."""
    random = np.random.default_rng(seed)
    counts, levels = random.integers(1, 30, people), random.normal(0.6, 0.1, people)
    levels[0] = 0.1
    return [(int(n), float(n * (level + random.normal(0.0, 0.05)))) for n, level in zip(counts, levels, strict=True)]


def settled(learned: Evolving, known: Told, times: int = 40) -> Evolving:
    """Infer the pool until it rests."""
    for _ in range(times):
        follow_crowd(learned)
        learn_pool(learned, known)
    expect_all(learned)
    return learned


def beside_filters(seed: int, known: Told, experience: int) -> tuple[Evolving, Evolving]:
    """Return the same people as a crowd, and all with filters, each inferred until it rests."""
    alone = settled(fresh([experience] * PEOPLE, known, prior_data(seed)), known)
    filtered = fresh([experience] * PEOPLE, known, prior_data(seed))
    for worker in range(PEOPLE):
        meet(filtered, worker)
    assert (filtered.counts[CROWD], filtered.counts[SLOTS]) == (0, PEOPLE)
    return alone, settled(filtered, known)


@pytest.mark.parametrize("experience", [0, EXPERIENCED])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("known", [NOTHING_TOLD, told(noise_sd=0.08), told(noise_sd=0.1, between_sd=0.1)])
def test_the_crowd_tells_what_the_same_people_tell_one_by_one(seed: int, experience: int, known: Told) -> None:
    """But for the parabolas, which are at most a twentieth of a spread out of date, and then off by its square."""
    alone, filtered = beside_filters(seed, known, experience)
    assert alone.counts[CROWD] == PEOPLE
    assert alone.pool.weights == pytest.approx(filtered.pool.weights, abs=1e-6)
    for name in ("centre", "between", "tail"):
        assert getattr(alone.pool, name) == pytest.approx(getattr(filtered.pool, name), rel=2e-3), name
    assert alone.people.means == pytest.approx(filtered.people.means, abs=1e-3)
    assert [math.sqrt(v) for v in alone.people.variances] == pytest.approx(
        [math.sqrt(v) for v in filtered.people.variances], rel=2e-3
    )


def test_the_parabola_is_exact_for_a_normal_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all are from the main part, the log-likelihood is a parabola, wherever it is taken."""
    monkeypatch.setattr("crewlearn.beliefs.evolving.parts.ANY_SHARE", 0.0)
    known = told(noise_sd=0.1, between_sd=0.2)
    learned = fresh([0] * PEOPLE, known, prior_data(5))
    counts, sums = (np.array(column) for column in zip(*prior_data(5), strict=True))
    whole, means = 0.2**2 + 0.1**2 / counts, sums / counts
    precision = (1.0 / whole).sum()
    assert learned.crowd.precision[0] == pytest.approx(precision)
    assert learned.crowd.weighted[0] == pytest.approx((means / whole).sum())
    at_zero = -0.5 * (np.log(whole / (0.1**2 / counts)) + means**2 * (1.0 / whole - counts / 0.1**2)).sum()
    around = learned.crowd.centres[0]
    assert learned.crowd.evidence[0] == pytest.approx(
        at_zero + learned.crowd.weighted[0] * around - 0.5 * precision * around**2
    )
    prior = 1.0 / CENTRE_SD**2
    assert learned.pool.centres[0] == pytest.approx(
        ((means / whole).sum() + prior * CENTRE_GUESS) / (precision + prior)
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_belief_about_the_crowd_is_the_mixture_over_parts(seed: int) -> None:
    """Against integration over a fine grid of levels."""
    known = told(noise_sd=0.1, between_sd=0.08, ramp_depth=0.3, ramp_days=4.0)
    learned = settled(fresh([0] * PEOPLE, known, prior_data(seed)), known, 3)
    pool = learned.pool
    learned.pool.doubt[0] = 0.0
    expect_all(learned)
    levels = np.linspace(-1.5, 2.5, 80001)

    def normal(values: Any, centre: float, sd: float) -> Any:
        return np.exp(-0.5 * ((values - centre) / sd) ** 2) / sd

    centre, between, tail = pool.centre[0], math.sqrt(pool.between[0]), pool.tail[0]
    density = (1.0 - tail - ANY_SHARE) * normal(levels, centre, between)
    density = density + tail * normal(levels, centre, TAIL_WIDTH * between)
    density = density + ANY_SHARE * normal(levels, ANY_CENTRE, ANY_SD)
    for worker, (count, total) in enumerate(prior_data(seed)):
        posterior = density * normal(levels, total / count, 0.1 / math.sqrt(count))
        posterior /= posterior.sum()
        mean = (posterior * levels).sum()
        assert learned.people.means[worker] == pytest.approx(mean, abs=2e-4)
        spread = math.sqrt((posterior * (levels - mean) ** 2).sum())
        assert math.sqrt(learned.people.variances[worker]) == pytest.approx(spread, rel=0.02)
    assert 0.0 < tail < TAIL_SHARE


def test_whoever_works_here_leaves_the_crowd_and_takes_what_they_told_along() -> None:
    known = told(noise_sd=0.1)
    learned = fresh([0] * PEOPLE, known, prior_data(2))
    before = settled(learned, known).pool
    centre, between = list(before.centre), list(before.between)
    for worker in range(0, PEOPLE, 3):
        meet(learned, worker)
    others = [data for worker, data in enumerate(prior_data(2)) if worker % 3]
    assert learned.counts[CROWD] == len(others)
    fewer = fresh([0] * len(others), known, others)
    for kind in range(POOLS):
        fewer.pool.centres[kind::POOLS] = [learned.crowd.centres[kind]] * (len(fewer.pool.centres) // POOLS)
    fewer.crowd.centres[:] = [
        -9.0 if scale > 0.0 else 0.0 for scale in fewer.pool.scales
    ]  # so that all are taken again, around those centres
    follow_crowd(fewer)
    for mine, theirs in zip(learned.crowd, fewer.crowd, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    learn_pool(learned, known)  # nobody made any output: the pool stays
    assert learned.pool.centre == pytest.approx(centre, rel=1e-3)
    assert learned.pool.between == pytest.approx(between, rel=5e-3)
    for worker in range(PEOPLE):
        if learned.people.slot[worker] == NO_FILTERS:
            meet(learned, worker)
    assert learned.counts[CROWD] == 0
    assert all(number == 0.0 for array in learned.crowd for number in array)


def test_joining_later_is_as_good_as_from_the_beginning() -> None:
    known = told(noise_sd=0.1)
    whole = settled(fresh([0] * PEOPLE, known, prior_data(4)), known)
    joined = fresh([0] * PEOPLE, known, [(0, 0.0)] * PEOPLE)
    for worker, (count, total) in enumerate(prior_data(4)):
        joined.people.prior_counts[worker], joined.people.prior_sums[worker] = count, total
        join_crowd(joined, worker)
    settled(joined, known)
    assert joined.counts[CROWD] == PEOPLE
    assert joined.pool.centre == pytest.approx(whole.pool.centre, rel=1e-3)
    assert joined.people.means == pytest.approx(whole.people.means, abs=2e-4)


def test_the_crowd_says_nothing_about_drift_and_ramps() -> None:
    """However many there are, somebody who works here and drifts is noticed as fast as among a few."""
    shares = []
    for people in (3, 400):
        known = told(noise_sd=0.02)
        learned = fresh([EXPERIENCED] * people, known, prior_data(6, people))
        weights = list(learned.pool.weights)
        for day in range(40):
            learn(learned, known, day + 1, {0: 0.3 + 0.02 * (day % 20), 1: 0.6})
        assert learned.pool.weights == pytest.approx(weights)
        shares.append([math.exp(log) for log in learned.pool.log_shares])
    assert shares[1] == pytest.approx(shares[0], rel=0.2)
    assert shares[1][CLASSES - 1] > 5.0 * DRIFT_SHARES[CLASSES - 1]


def test_prior_data_count_by_the_noise_as_it_is_known() -> None:
    """Output of two people shows a smaller noise than the guess, so that prior data of all others count for more."""
    learned = fresh([EXPERIENCED] * 2 + [0] * PEOPLE, NOTHING_TOLD, [(0, 0.0)] * 2 + prior_data(1))
    spread = math.sqrt(learned.people.variances[-1])
    random = np.random.default_rng(1)
    for day in range(30):
        learn(learned, NOTHING_TOLD, day + 1, {w: 0.6 + random.normal(0.0, 0.05) for w in (0, 1)})
    assert learned.numbers[NOISE_USED] < 0.1**2
    assert math.sqrt(learned.people.variances[-1]) < 0.5 * spread
