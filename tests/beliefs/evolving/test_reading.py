"""What was learned, as people read it, on simulated floors: ramp, noise, pool, intervals, trends and unusual days."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from crewlearn.beliefs.evolving.model import DAY_MEAN, RAMPS, Evolving, variance_now
from crewlearn.beliefs.evolving.reading import (
    change_of,
    days_noted,
    drift_of,
    noise_learned,
    pool_learned,
    ramp_learned,
    ramp_up_days,
)
from crewlearn.beliefs.posterior import TWO_SIDED_95
from crewlearn.engine.course import Course
from crewlearn.engine.world import World
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.model import Problem
from crewlearn.study.families import FAMILIES
from support.evolving import EXPERIENCED, NOTHING_TOLD, fresh, learn, told

SHOCKS = range(70, 75)
DECLINER, DECLINE = 0, 35
WORLDS = 10


class Floor(NamedTuple):
    """A floor at the end of its warm-up: the truth, what was learned, and who was seen at least 5 days."""

    course: Course
    learned: Evolving
    seen: list[int]


def watched(family: str, run: int) -> Floor:
    """Learn the warm-up of a world, in which the team works and places change hands."""
    problem: Problem = FAMILIES[family].settings[0][1]
    course = Course(World(problem, seed=31, run=run))
    learned = fresh(course.floor.experience.tolist(), team=problem.team)
    for _ in range(problem.warmup):
        quits = len(course.begin().quit)
        learn(learned, NOTHING_TOLD, course.period, course.work().output, quits)
    people = learned.people
    seen = [w for w in range(len(people.slot)) if people.days[w] - people.first_days[w] >= 5]
    return Floor(course, learned, seen)


@pytest.fixture(scope="module")
def floors() -> list[Floor]:
    return [watched("floor", run) for run in range(WORLDS)]


def test_the_ramp_is_found(floors: list[Floor]) -> None:
    """Truth: depth 0.3, 4 days; around it the grid has 3.5 and 6 days. The weight varies by 0.16 from world to world.

    So its mean over 10 worlds, where 0.95 is usual, falls below 0.75 with probability 1e-4.
    """
    near = []
    for _, learned, _ in floors:
        pool = learned.pool
        at = [r for r in range(RAMPS) if abs(pool.depths[r] - 0.3) < 0.01 and 3.0 < pool.ramp_days[r] < 7.0]
        near.append(sum(pool.weights[ramp] for ramp in at))
        depth, days = ramp_learned(learned)
        assert depth.mean == pytest.approx(0.3, abs=0.1)
        assert days.mean == pytest.approx(4.0, abs=3.0)
    assert np.mean(near) > 0.75


def test_where_nobody_ramps_up_no_ramp_is_found() -> None:
    for run in range(2):
        learned = watched("floor-no-ramp", run).learned
        assert learned.pool.weights[0] > 0.9
        assert ramp_up_days(learned) is None
        assert ramp_learned(learned)[0].mean < 0.02


def test_the_noise_is_found(floors: list[Floor]) -> None:
    """Within 4.5 of its own standard deviations, which fails in 1e-4 for all worlds; the guess pulls by 2%."""
    for floor in floors:
        noise = noise_learned(floor.learned, NOTHING_TOLD.guess_weight)
        assert 0.0005 < noise.sd < 0.002
        assert noise.mean == pytest.approx(0.051, abs=4.5 * noise.sd)


def test_the_pool_is_found(floors: list[Floor]) -> None:
    """Its centre within 4.5 of its own standard deviations, 1e-4 for all worlds; its spread within a grid step."""
    for course, learned, _ in floors:
        centre, between = pool_learned(learned)
        assert centre.mean == pytest.approx(course.world.means.mean(), abs=4.5 * centre.sd)
        assert centre.sd < 0.03
        assert 0.027 < between.mean < 0.108
        assert 0.0 < between.sd < 0.03


def test_intervals_cover(floors: list[Floor]) -> None:
    """Levels relative to the team. The coverage of a world has a standard deviation of 0.05, as errors are shared.

    So the mean of 10 worlds, if 0.95 are covered, is below 0.885 with probability 3e-5.
    """
    covered = []
    for course, learned, seen in floors:
        truth = course.floor.levels[:, course.period - 1]
        means = np.array(learned.people.means) * (1.0 + learned.numbers[DAY_MEAN])
        team = [worker for worker in course.roster.stations if worker != NOBODY]
        errors = (means - means[team].mean()) - (truth - truth[team].mean())
        wide = [TWO_SIDED_95 * math.sqrt(variance_now(learned, worker)) for worker in seen]
        covered.append(np.mean(np.abs(errors[seen]) < wide))
        assert max(wide) < 0.12  # and they are of use
    assert np.mean(covered) > 0.885


def test_shock_days_are_unusual_and_few_others(floors: list[Floor]) -> None:
    """A normal day lies beyond 6 variances in 1.4%; variances are estimated, so up to 5% of 1,050 days are allowed.

    Days differ by 4% here, weekdays included, and the shock week itself makes that look like 5%. So a shock of 18% is
    hidden by a day 1.5 standard deviations better than usual: 3.3 of 50, and more than 10 in 1e-3.
    """
    hidden = others = 0
    for floor in floors:
        notes = days_noted(floor.learned)
        assert [note.period for note in notes] == list(range(1, 111))
        unusual = {note.period for note in notes if note.unusual}
        hidden += len(set(SHOCKS) - unusual)
        others += len(unusual - set(SHOCKS))
        for note in notes:
            if note.period in SHOCKS:
                # The day's own effects add up to 0.09 to the shock; 4.5 sds of what was estimated come on top.
                assert note.effect == pytest.approx(-0.18, abs=0.16 + 4.5 * note.sd)
    assert hidden <= 10
    assert others < 0.05 * 105 * WORLDS


def test_a_decline_shows_and_steady_people_have_no_trend(floors: list[Floor]) -> None:
    """The decliner loses 22.5% in 75 days, many times the noise. Of steady people, at most 2 of 250 may show a trend.

    If the rate is 1 in 1,000, more than 2 show in 2e-3 of such samples.
    """
    false = 0
    for course, learned, seen in floors:
        change = change_of(learned, DECLINER)
        assert change is not None
        assert change.chance > 0.95
        levels = course.floor.levels[DECLINER]
        real = levels[course.period - 1] / levels[change.since - 1] - 1.0
        assert change.change == pytest.approx(real, abs=0.08)
        assert change.change < -0.1
        assert change.since <= DECLINE + 30  # an earlier level is kept every 20 days worked
        false += sum(change_of(learned, worker) is not None for worker in seen if worker != DECLINER)
    assert sum(len(floor.seen) for floor in floors) > 250
    assert false <= 2


@pytest.mark.parametrize(("slope", "found"), [(0.003, 1), (-0.003, -1), (0.0, 0)])
def test_the_sign_of_a_trend(slope: float, found: int) -> None:
    """Up by 0.24 in 80 days, down by as much, or steady."""
    random = np.random.default_rng(6)
    learned = fresh([EXPERIENCED] * 6, team=6)
    for day in range(110):
        output = {worker: 0.6 + random.normal(0.0, 0.05) for worker in range(6)}
        output[2] += slope * max(0, day - 30)
        learn(learned, NOTHING_TOLD, 1000 + day, output)
    change = change_of(learned, 2)
    assert (change is not None) == (found != 0)
    if change is not None:
        assert math.copysign(1.0, change.change) == found
        assert 1000 <= change.since <= 1060
        assert change.chance > 0.95
    assert all(change_of(learned, worker) is None for worker in (0, 1, 3, 4, 5))


def test_drift_is_that_of_the_likely_classes() -> None:
    """Who falls by 0.01 a day is told from five steady people.

    The mean square is the one that beliefs grow by, but for the shares of classes, which are learned after it.
    """
    random, known = np.random.default_rng(2), told(ramp_depth=0.0, noise_sd=0.05)
    learned = fresh([EXPERIENCED] * 7, known, team=6)
    for day in range(60):
        output = {worker: 0.8 + random.normal(0.0, 0.05) for worker in range(6)}
        output[0] -= 0.01 * day
        learn(learned, known, day, output)
    drifts = [drift_of(learned, worker) for worker in range(7)]
    assert drifts[6] is None  # never seen
    for worker, drift in enumerate(drifts[:6]):
        assert drift is not None
        assert drift.mean > 0.01 if worker == 0 else drift.mean < 0.002
        assert drift.mean**2 + drift.sd**2 == pytest.approx(learned.people.drift[worker], rel=0.2)


def test_nobody_unseen_has_a_trend() -> None:
    learned = fresh([0, 0])
    learn(learned, NOTHING_TOLD, 1, {0: 0.5})
    assert change_of(learned, 0) is None
    assert change_of(learned, 1) is None


@pytest.mark.parametrize(("depth", "days"), [(0.3, 4.0), (0.1, 2.0), (0.5, 18.0), (0.019, 9.0), (0.9, 900.0)])
def test_ramp_up_is_over_when_two_hundredths_are_lacking(depth: float, days: float) -> None:
    """From depth exp(-n / days) = 0.02; ramps beyond 256 days worked count as faded then."""
    needed = days * math.log(depth / 0.02)
    expected = None if depth < 0.02 else min(256, math.floor(needed) + 1)
    assert ramp_up_days(fresh([0], told(ramp_depth=depth, ramp_days=days))) == expected


def test_ramp_up_takes_as_long_as_it_does(floors: list[Floor]) -> None:
    """0.3 exp(-n / 4) falls below 0.02 after 11 days; grid steps to either side give 10 and 17."""
    for floor in floors:
        assert ramp_up_days(floor.learned) in range(9, 18)
