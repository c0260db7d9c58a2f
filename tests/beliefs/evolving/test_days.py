"""Days and noise: against the normal posterior computed directly, and on simulated output."""

import copy
import math
from typing import Any

import numpy as np
import pytest

from crewlearn.beliefs.evolving.days import UNUSUAL
from crewlearn.beliefs.evolving.model import (
    DAY_MEAN,
    DAY_VAR,
    DAY_VAR_USED,
    DAYS_NOTED,
    NOISE_SUM,
    NOISE_USED,
    NOISE_WEIGHT,
    OWN_RAMP,
    REPLAYABLE,
    Evolving,
    share_put_out,
)
from support.evolving import EXPERIENCED, NOTHING_TOLD, fresh, learn, told

KNOWN = told(noise_sd=0.05)


def before_the_day(experience: int = EXPERIENCED) -> Evolving:
    """Return beliefs after 12 days of six people; a seventh was never seen."""
    random = np.random.default_rng(4)
    learned = fresh([experience] * 7, KNOWN)
    for day in range(12):
        effect = 1.0 + random.normal(0.0, 0.04)
        learn(learned, KNOWN, day, {w: (0.5 + 0.05 * w) * effect + random.normal(0.0, 0.05) for w in range(6)})
    learned.counts[REPLAYABLE] = 0  # the day is learned once, with what is known by then
    learned.numbers[DAY_VAR_USED] = learned.numbers[DAY_VAR]
    return learned


def posterior_of_day(before: Evolving, output: dict[int, float], others: list[int], variance: float) -> Any:
    """Return mean and variance of a day's effect given the output of others, by regressing on what was expected."""
    expected, noise = [], []
    for worker in others:
        share, mean = share_put_out(before.pool, before.people.days[worker]), before.people.means[worker]
        expected.append(share * mean)
        own = OWN_RAMP * (1.0 - share) * mean
        noise.append(share**2 * before.people.variances[worker] + before.numbers[NOISE_USED] + own**2)
    column = np.array(expected)
    off = np.array([output[worker] for worker in others]) - column
    # The prior of the day is one more row of the regression.
    column, off = np.append(column, 1.0), np.append(off, before.numbers[DAY_MEAN])
    weight = np.diag(1.0 / np.append(noise, variance))
    precision = column @ weight @ column
    return column @ weight @ off / precision, 1.0 / precision


@pytest.mark.parametrize("experience", [0, EXPERIENCED])
@pytest.mark.parametrize("shift", [0.0, 0.05, -0.4])
def test_a_day_is_judged_for_each_person_by_the_others(shift: float, experience: int) -> None:
    before = before_the_day(experience)
    learned = copy.deepcopy(before)
    random = np.random.default_rng(9)
    output = {w: (0.5 + 0.05 * w) * (1.0 + shift) + random.normal(0.0, 0.05) for w in range(7)}
    learn(learned, KNOWN, 12, output)
    old = list(range(6))  # who was never seen tells nothing about the day
    usual = before.numbers[DAY_VAR_USED]
    effect, doubt = posterior_of_day(before, output, old, 1e12)
    off = effect - before.numbers[DAY_MEAN]
    unusual = off**2 > UNUSUAL * (usual + doubt)
    assert unusual == (shift < -0.1)
    variance = off**2 if unusual else usual
    for worker in range(7):
        effect, doubt = posterior_of_day(before, output, [other for other in old if other != worker], variance)
        share = share_put_out(before.pool, before.people.days[worker])
        expected = share * before.people.means[worker]
        assert learned.people.last_output[worker] == pytest.approx(output[worker] - expected * effect, rel=1e-7)
        assert learned.people.last_doubt[worker] == pytest.approx(expected**2 * doubt, rel=1e-7)
    effect, doubt = posterior_of_day(before, output, old, variance)
    place = learned.counts[DAYS_NOTED] - 1
    assert learned.days.periods[place] == 12
    assert learned.days.effects[place] == pytest.approx(effect, rel=1e-7)
    assert learned.days.doubts[place] == pytest.approx(doubt, rel=1e-7)
    assert learned.days.unusual[place] == unusual


def test_a_shock_day_hardly_moves_anybody() -> None:
    """All fall by 40% on one day: levels stay where they were, to within what one day may teach.

    Of days it teaches as much as one at the limit of the usual, with a weight of one in at least 12 + 4.
    """
    before = before_the_day()
    learned = copy.deepcopy(before)
    learn(learned, KNOWN, 12, {w: 0.6 * (0.5 + 0.05 * w) for w in range(6)})
    moved = np.abs(np.array(learned.people.means[:6]) - np.array(before.people.means[:6]))
    assert moved.max() < 2.0 * math.sqrt(max(before.people.variances[:6]))
    doubt = posterior_of_day(before, dict.fromkeys(range(6), 0.0), list(range(6)), 1e12)[1]
    limit = UNUSUAL * (before.numbers[DAY_VAR_USED] + doubt)
    assert before.numbers[DAY_VAR] < learned.numbers[DAY_VAR] < before.numbers[DAY_VAR] + limit / 12
    assert -math.sqrt(limit) / 20 * 1.001 < learned.numbers[DAY_MEAN] - before.numbers[DAY_MEAN] < 0.0


def test_one_person_s_bad_day_is_their_own() -> None:
    """One of six falls by 40%: they are believed worse, and nobody else better."""
    before = before_the_day()
    learned = copy.deepcopy(before)
    learn(learned, KNOWN, 12, {w: (0.6 if w == 3 else 1.0) * before.people.means[w] for w in range(6)})
    moved = np.array(learned.people.means[:6]) - np.array(before.people.means[:6])
    assert moved[3] < -0.01
    assert np.abs(np.delete(moved, 3)).max() < 0.25 * -moved[3]


def simulated(seed: int, world: dict[str, float], days: int = 60, people: int = 10) -> Evolving:
    """Learn from simulated output with a noise of 0.04, and return beliefs."""
    random = np.random.default_rng(seed)
    newcomers = world.get("depth", 0.0) > 0.0
    levels, worked = random.normal(0.6, 0.06, people), np.zeros(people)
    learned = fresh([0 if newcomers else EXPERIENCED] * people, team=people)
    for day in range(days):
        levels += random.normal(0.0, world.get("drift", 0.0) or 1e-300, people)
        effect = 1.0 + random.normal(0.0, world.get("day_sd", 0.0) or 1e-300)
        share = 1.0 - world.get("depth", 0.0) * np.exp(-worked / 4.0)
        output = share * levels * effect + random.normal(0.0, 0.04, people)
        present = random.random(people) > 0.1
        learn(learned, NOTHING_TOLD, day, {w: float(output[w]) for w in range(people) if present[w]})
        worked += present
    return learned


WORLDS: dict[str, dict[str, float]] = {
    "nothing changes": {},
    "days differ": {"day_sd": 0.06},
    "people drift": {"drift": 0.003},
    "people ramp up": {"depth": 0.35},
    "everything at once": {"day_sd": 0.06, "drift": 0.003, "depth": 0.35},
}


@pytest.mark.parametrize("world", WORLDS)
def test_the_noise_comes_from_successive_differences(world: str) -> None:
    """The relative variance of a mean of n half squared successive differences is 3 / n; 4.5 sds fail in 1e-5.

    A walk adds half the variance of its steps, which is below 1% here, and is allowed for.
    """
    learned = simulated(1, WORLDS[world])
    n = learned.numbers[NOISE_WEIGHT]
    assert n > 400
    estimate = learned.numbers[NOISE_SUM] / n
    assert estimate / 0.04**2 == pytest.approx(1.0, abs=4.5 * math.sqrt(3.0 / n) + 0.01)
