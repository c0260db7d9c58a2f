"""Hostile records: whatever is recorded, beliefs stay finite and sane, and decisions legal."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crewlearn.beliefs.evolving.model import DAY_MEAN
from crewlearn.policies.contract import Report
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from support.evolving import EXPERIENCED, NOTHING_TOLD, fresh, learn
from support.hostile import EvolvingSite, check_beliefs

POLICY = ValueOfReplacementEvolving()

TOLD = [
    POLICY,
    ValueOfReplacementEvolving(ramp_depth=0.25, ramp_days=5.0),
    ValueOfReplacementEvolving(ramp_depth=0.95, ramp_days=0.1),
    ValueOfReplacementEvolving(ramp_depth=0.0),
    ValueOfReplacementEvolving(ramp_days=50.0),
    ValueOfReplacementEvolving(noise_sd=0.0),
    ValueOfReplacementEvolving(centre=0.0, between_sd=0.001, noise_sd=0.0),
    ValueOfReplacementEvolving(centre=1.0, between_sd=0.5, noise_sd=0.5, ramp_depth=0.5, ramp_days=40.0),
    ValueOfReplacementEvolving(noise_guess=1e-6, guess_weight=1e6, margin=0.0, stay_guess=1.0),
]


OUTPUTS = st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0.0, 1.0))
GAPS = st.sampled_from([1, 1, 1, 1, 2, 3, 7, 90, 4000, 10**9])
DAYS = st.tuples(GAPS, st.dictionaries(st.integers(0, 7), OUTPUTS, max_size=8), st.sampled_from([(), (), (1,)]))
JOINS = st.tuples(st.sampled_from([0, 1, 5, 10**7]), st.integers(0, 3), st.floats(0.0, 1.0))


@settings(max_examples=60)
@given(
    policy=st.sampled_from(TOLD),
    workers=st.integers(1, 5),
    team=st.integers(1, 3),
    experience=st.lists(st.sampled_from([0, 0, 1, 20, 255, 256, 10**7]), min_size=1, max_size=5),
    first=st.sampled_from([-(10**9), -30, 0, 1, 10**9]),
    events=st.lists(st.one_of(DAYS, DAYS, DAYS, JOINS), max_size=14),
)
def test_any_record_leaves_beliefs_finite_and_decisions_legal(
    policy: ValueOfReplacementEvolving,
    workers: int,
    team: int,
    experience: list[int],
    first: int,
    events: list[tuple[Any, ...]],
) -> None:
    """Missing days, months away, people seen once, more people than stations, newcomers, everybody absent."""
    site, period = EvolvingSite(policy, workers, team, experience), first
    site.check()
    for event in events:
        if isinstance(event[1], dict):
            gap, output, left = event
            period += gap
            site.learn(period, {worker % len(site.experience): made for worker, made in output.items()}, left)
        elif len(site.experience) < 8:
            days, count, mean = event
            site.join(days, count, count * mean)
        check_beliefs(site.state.learned)
    site.check()


PATTERNS: dict[str, Any] = {
    "always 0": lambda day, worker: 0.0,
    "always 1": lambda day, worker: 1.0,
    "always the same": lambda day, worker: 0.8,
    "alternating": lambda day, worker: float((day + worker) % 2),
    "alternating together": lambda day, worker: float(day % 2),
    "from 0 to 1 at once": lambda day, worker: float(day >= 30),
    "from 1 to 0 at once": lambda day, worker: float(day < 30),
    "one at 0, the others at 1": lambda day, worker: float(worker > 0),
    "hardly anything": lambda day, worker: 1e-300,
}


@pytest.mark.parametrize("experience", [0, EXPERIENCED])
@pytest.mark.parametrize("team", [1, 4])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_extreme_output_leaves_beliefs_finite(pattern: str, team: int, experience: int) -> None:
    site = EvolvingSite(POLICY, team + 2, team, [experience])
    for day in range(60):
        site.learn(day + 1, {worker: PATTERNS[pattern](day, worker) for worker in range(team)})
        if day % 10 == 9:
            check_beliefs(site.state.learned)
    site.check()


@pytest.mark.parametrize("team", [1, 4])
@pytest.mark.parametrize("level", [0.0, 0.03, 0.5, 0.8, 1.0])
def test_somebody_always_at_the_same_level_is_believed_to_be_there(level: float, team: int) -> None:
    site = EvolvingSite(POLICY, team + 1, team, [EXPERIENCED])
    for day in range(30):
        site.learn(day + 1, dict.fromkeys(range(team), level))
    for person in POLICY.levels(site.state, site.situation())[:team]:
        assert person.mean == pytest.approx(level, abs=0.02)
        assert person.low - 0.001 <= level <= person.high + 0.001


def test_the_same_person_daily_for_ten_years() -> None:
    """2,500 days at 0.8 with a noise of 0.05: known to within a few weeks' worth, whatever drift is allowed for."""
    random = np.random.default_rng(5)
    learned = fresh([EXPERIENCED, 0, 0], team=2)
    for day in range(2500):
        output = {0: float(np.clip(random.normal(0.8, 0.05), 0.0, 1.0))}
        if day % 100 == 0:
            output[1] = 0.6
        learn(learned, NOTHING_TOLD, day + 1, output)
    check_beliefs(learned)
    assert learned.people.means[0] == pytest.approx(0.8, abs=4.5 * 0.05 / math.sqrt(20))  # 1e-5 for 20 days of memory
    assert learned.people.variances[0] < 0.05**2 / 5


def test_somebody_who_returns_is_less_well_known_than_when_they_left() -> None:
    site = EvolvingSite(POLICY, 4, 3, [EXPERIENCED])
    random = np.random.default_rng(2)
    for day in range(40):
        site.learn(day + 1, {worker: float(random.normal(0.6, 0.05)) for worker in range(3)})
    before = POLICY.levels(site.state, site.situation())
    for day in range(40, 240):
        site.learn(day + 1, {worker: float(random.normal(0.6, 0.05)) for worker in range(2)})
    after = POLICY.levels(site.state, site.situation())
    assert after[2].mean == pytest.approx(before[2].mean, abs=0.03)
    assert (after[2].sd or 0.0) > 1.2 * (before[2].sd or 1.0)
    site.learn(241, {0: 0.6, 1: 0.6, 2: 0.3})
    back = POLICY.levels(site.state, site.situation())
    assert (back[2].mean or 0.0) < (after[2].mean or 0.0) - 0.01
    site.check()


def test_a_day_without_anybody_teaches_nothing() -> None:
    site = EvolvingSite(POLICY, 4, 2, [0])
    site.learn(1, {0: 0.4, 1: 0.6})
    before = POLICY.state_to_json(site.state)
    site.learn(2, {})
    assert POLICY.state_to_json(site.state) == before


def test_newcomers_to_a_pool_that_was_all_seen_are_believed_to_be_like_it() -> None:
    site = EvolvingSite(POLICY, 2, 2, [EXPERIENCED])
    for day in range(20):
        site.learn(day + 1, {0: 0.7, 1: 0.72})
    site.join(0, 0, 0.0)
    level = POLICY.levels(site.state, site.situation())[2]
    assert level.mean == pytest.approx(0.69, abs=0.05)
    assert 0.05 < (level.sd or 0.0) < 0.3
    site.join(10, 50, 45.0)
    assert POLICY.levels(site.state, site.situation())[3].mean == pytest.approx(0.9, abs=0.06)
    site.check()


@pytest.mark.parametrize("days", [0, 3, 70])
def test_output_of_people_whom_nobody_announced_teaches_as_if_they_had_been(days: int) -> None:
    """They begin as newcomers of whom nothing is known, also those between them who did not come."""
    site = EvolvingSite(POLICY, 2, 1, [EXPERIENCED, 0])
    for day in range(days):
        site.learn(day + 1, {0: 0.55 + 0.01 * (day % 3)})
    unannounced = POLICY.observe(site.state, Report(days + 1, {5: 0.5, 0: 0.6, 3: 0.4}))
    check_beliefs(unannounced.learned)
    for _ in range(4):
        site.join(0, 0, 0.0)
    site.learn(days + 1, {5: 0.5, 0: 0.6, 3: 0.4})
    assert unannounced == site.state
    site.state = unannounced
    site.check()


@pytest.mark.parametrize("experience", [0, EXPERIENCED])
@pytest.mark.parametrize("team", [1, 2, 4, 10])
@pytest.mark.parametrize("start", [30, 90])
def test_a_floor_that_starts_to_work_is_not_taken_for_days_without_measure(
    start: int, team: int, experience: int
) -> None:
    """All put out nothing, and then half of what is possible: the days seemed a thousand times as good as usual.

    Everybody who works must be believed at 0.5 or on the way there, and those never seen not above the highest.
    """
    site = EvolvingSite(POLICY, team + 2, team, [experience])
    random = np.random.default_rng(1)
    for day in range(start + 120):
        made = random.normal(0.5, 0.05, team) if day >= start else np.zeros(team)
        site.learn(day + 1, dict(enumerate(made.tolist())))
        assert -1.0 < site.state.learned.numbers[DAY_MEAN] < 2.0
    levels = [level.mean or 0.0 for level in POLICY.levels(site.state, site.situation())]
    assert levels[:team] == pytest.approx([0.5] * team, abs=0.15)
    assert max(levels) < 0.7
    site.check()


def test_rare_output_of_one_person_says_nothing_of_days() -> None:
    """Output of 1 on one day in fifty, as of one station that counts rare successes."""
    site = EvolvingSite(POLICY, 3, 1, [EXPERIENCED])
    random = np.random.default_rng(1)
    for day in range(200):
        site.learn(day + 1, {0: float(random.random() < 0.02)})
    assert abs(site.state.learned.numbers[DAY_MEAN]) < 0.2
    levels = POLICY.levels(site.state, site.situation())
    assert levels[0].mean == pytest.approx(0.02, abs=0.03)
    assert (levels[2].mean or 0.0) < 0.5
