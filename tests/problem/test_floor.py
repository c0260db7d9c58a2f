"""The rule functions of a changing floor: levels, ramps, days, absences, quits, declines and turnover are as stated.

Statistical checks use fixed seeds and limits of 5 standard errors: under a correct program each would fail, over fresh
seeds, less than once in a million times. A few are over many workers at once; they are stated for the least of them.
"""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crewlearn.engine.course import Course
from crewlearn.engine.interpreted import Step, play
from crewlearn.engine.world import World
from crewlearn.policies.brakes import Brakes
from crewlearn.policies.registry import make_policy
from crewlearn.problem.floor import EXPERIENCED, floor_form
from crewlearn.problem.laws import FixedDelay, NoDelay, TruncatedNormalOutput, UniformOutput
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Drift, Presence, Ramp

SURE = TruncatedNormalOutput(0.0)


def floor(workers: int = 8, team: int = 4, horizon: int = 40, level: float = 0.5, **tables: Any) -> Problem:
    """Return a floor of equal workers without noise, on which the first `team` of them work."""
    start = tables.pop("start", Start(tuple(range(team))))
    output = tables.pop("output", SURE)
    return Problem(
        team, horizon, 0.1, Pool((level,) * workers), tables.pop("delay", NoDelay()), output, start=start, **tables
    )


def steps_of(problem: Problem, policy: str = "keep-team", run: int = 0) -> list[Step]:
    return list(play(World(problem, 11, run), make_policy(policy)))


def close_to_chance(count: int, trials: int, chance: float) -> bool:
    """Return whether a count lies within 5 standard errors of its mean."""
    return abs(count - trials * chance) < 5 * math.sqrt(trials * chance * (1.0 - chance))


def test_weekdays_and_shocks_multiply_everybody_s_mean() -> None:
    output = TruncatedNormalOutput(0.0, weekdays=(-0.2, 0.0, 0.1), shocks=((5, 7, -0.5), (7, 9, 0.2)))
    for step in steps_of(floor(output=output, horizon=12)):
        share = (0.8, 1.0, 1.1)[(step.period - 1) % 3]
        share *= 0.5 if 5 <= step.period <= 7 else 1.0
        share *= 1.2 if 7 <= step.period <= 9 else 1.0
        assert list(step.output.values()) == pytest.approx([0.5 * share] * 4)


def test_weekdays_count_from_the_first_period_of_the_warm_up() -> None:
    output = TruncatedNormalOutput(0.0, weekdays=(-0.2, 0.0, 0.1))
    plain, warmed = (
        [step.output[0] for step in steps_of(floor(output=output, start=Start((0, 1, 2, 3), warmup=warmup)))]
        for warmup in (0, 7)
    )
    assert plain == warmed


@pytest.mark.parametrize("relative", [(), ("day",)])
def test_the_day_s_effect_is_absolute_or_a_share(relative: tuple[str, ...]) -> None:
    """Workers at 0.2 and 0.4 move alike, or the second twice as much; the sd is 0.03 or 0.03 of the level."""
    output = TruncatedNormalOutput(0.0, day_effect_sd=0.03, relative=relative)
    problem = Problem(2, 2000, 0.1, Pool((0.2, 0.4, 0.1)), NoDelay(), output, start=Start((0, 1)))
    moves = np.array([[step.output[0] - 0.2, step.output[1] - 0.4] for step in steps_of(problem)])
    assert moves[:, 1] == pytest.approx(moves[:, 0] * (2.0 if relative else 1.0))
    sd = 0.03 * 0.2 if relative else 0.03
    assert abs(moves[:, 0].std() - sd) < 5 * sd / math.sqrt(2 * 2000)


@pytest.mark.parametrize(
    ("law", "spread"), [(TruncatedNormalOutput(0.15), 0.15), (UniformOutput(0.15), 0.15 / math.sqrt(3.0))]
)
def test_noise_may_be_a_share_of_the_level(law: Any, spread: float) -> None:
    problem = Problem(
        2, 2000, 0.1, Pool((0.2, 0.4, 0.1)), NoDelay(), replace(law, relative=("noise",)), start=Start((0, 1))
    )
    output = np.array([[step.output[0], step.output[1]] for step in steps_of(problem)])
    for worker, level in enumerate((0.2, 0.4)):
        assert abs(output[:, worker].mean() - level) < 5 * spread * level / math.sqrt(2000)
        assert abs(output[:, worker].std() - spread * level) < 5 * spread * level / math.sqrt(2 * 2000)


def test_a_centre_never_leaves_the_unit_interval() -> None:
    output = TruncatedNormalOutput(0.3, day_effect_sd=0.5, relative=("day", "noise"), weekdays=(1.5, -1.0))
    for step in steps_of(floor(level=0.8, output=output, horizon=200)):
        assert all(0.0 <= amount <= 1.0 for amount in step.output.values())
        assert 0.0 <= step.net <= 4.0


def test_newcomers_ramp_up_by_days_worked() -> None:
    """A worker's n-th day yields 1 - depth exp(-n / days) of the level; days of absence do not count."""
    problem = floor(ramp=Ramp(0.4, 5.0, (0, 3, 0, 10**6, 0, 0, 0, 0)), presence=Presence(absence=0.3))
    worked = [0, 3, 0, 10**6]
    absences = 0
    for step in steps_of(problem):
        absences += len(step.absent)
        for worker, amount in step.output.items():
            assert amount == pytest.approx(0.5 * (1.0 - 0.4 * math.exp(-worked[worker] / 5.0)))
            worked[worker] += 1
    assert absences > 20


@pytest.mark.parametrize(("veterans", "team", "others"), [("team", 1.0, 0.6), ("all", 1.0, 1.0), ("none", 0.6, 0.6)])
def test_veterans_begin_experienced(veterans: str, team: float, others: float) -> None:
    course = Course(World(floor(ramp=Ramp(0.4, 5.0, veterans)), 11, 0))
    course.begin()
    course.request([(0, 5)])
    course.arrive(lambda incoming: -1)
    output = course.work().output
    assert output == pytest.approx({5: 0.5 * others, 1: 0.5 * team, 2: 0.5 * team, 3: 0.5 * team})


def test_experience_is_kept_by_who_comes_back() -> None:
    course = Course(World(floor(ramp=Ramp(0.4, 5.0, "none")), 11, 0))
    for pairs in ([], [], [(0, 5)], [(5, 0)]):
        course.begin()
        course.request(pairs)
        course.arrive(lambda incoming: -1)
        output = course.work().output
    assert output[0] == pytest.approx(0.5 * (1.0 - 0.4 * math.exp(-2 / 5.0)))
    assert np.shares_memory(course.situation().experience, course.floor.experience)
    assert course.floor.experience.tolist() == [3, 4, 4, 4, 0, 1, 0, 0]


def depths(ramp: Ramp, workers: int = 4000) -> Any:
    return Course(World(floor(workers=workers, horizon=2, ramp=ramp), 11, 0)).floor.depth


def test_own_ramps_follow_their_law() -> None:
    n = 4000
    uniform = depths(Ramp((0.1, 0.5), 4.0), n)
    assert uniform.min() >= 0.1
    assert uniform.max() <= 0.5
    assert abs(uniform.mean() - 0.3) < 5 * 0.4 / math.sqrt(12 * n)
    normal = depths(Ramp({"mean": 0.3, "sd": 0.09}, 4.0), n)  # 0 is 3.3 standard deviations away
    assert abs(normal.mean() - 0.3) < 5 * 0.09 / math.sqrt(n)
    assert abs(normal.std() - 0.09) < 5 * 0.09 / math.sqrt(2 * n)
    wild = depths(Ramp({"mean": 0.5, "sd": 1.0}, 4.0), n)
    assert (wild.min(), wild.max()) == (0.0, 0.99)


def test_long_ramps_and_veterans_take_little_room() -> None:
    problem = floor(ramp=Ramp(0.4, 10**6, "all"))
    assert len(floor_form(problem).fading) < 50
    course = Course(World(problem, 11, 0))
    assert course.floor.experience.min() == EXPERIENCED
    course.begin()
    assert list(course.work().output.values()) == [0.5] * 4


def test_levels_wander_by_the_stated_share() -> None:
    workers, horizon, sd = 400, 200, 0.005
    levels = Course(World(floor(workers, horizon=horizon, drift=Drift(sd)), 11, 0)).floor.levels
    assert (levels[:, 0] == 0.5).all()
    moves = levels[:, 1:] / levels[:, :-1] - 1.0
    n = moves.size
    assert abs(moves.mean()) < 5 * sd / math.sqrt(n)
    assert abs(moves.std() - sd) < 5 * sd / math.sqrt(2 * n)
    walk = np.log(levels[:, -1] / 0.5)  # about normal, with variance (horizon - 1) sd^2
    expected = (horizon - 1) * sd**2
    assert abs(walk.var() / expected - 1.0) < 5 * math.sqrt(2.0 / workers)
    following = np.corrcoef(moves[:, 1:].ravel(), moves[:, :-1].ravel())[0, 1]
    assert abs(following) < 5 / math.sqrt(n)


def test_levels_stay_in_the_unit_interval() -> None:
    levels = Course(World(floor(400, level=0.95, drift=Drift(0.5)), 11, 0)).floor.levels
    assert (levels.min(), levels.max()) == (0.0, 1.0)


def test_decliners_decline_from_their_period_to_their_floor() -> None:
    drift = Drift(0.0, ((0, 5, -0.1, 0.6), (2, 1, 0.02, 0.0)))
    for step in steps_of(floor(drift=drift)):
        late = max(0, step.period - 5)
        assert step.output[0] == pytest.approx(0.5 * max(0.6, 1.0 - 0.1 * late))
        assert step.output[1] == 0.5
        assert step.output[2] == pytest.approx(min(1.0, 0.5 * (1.0 + 0.02 * (step.period - 1))))


def test_absences_and_quits_have_their_rates() -> None:
    problem = floor(400, 40, 60, presence=Presence(absence=0.04, quits=0.005))
    steps = [step for run in range(4) for step in steps_of(problem, run=run)]
    at_work = sum(len(step.output) + len(step.absent) for step in steps)
    quits = sum(len(step.quit) for step in steps)
    assert close_to_chance(sum(len(step.absent) for step in steps), at_work, 0.04)
    assert close_to_chance(quits, at_work + quits, 0.005)
    by_worker = Counter(worker for step in steps for worker in step.absent)
    assert max(by_worker.values()) < 30  # of at most 240 days, 9.6 of which are expected


def test_who_is_absent_gives_no_output_and_is_not_observed() -> None:
    problem, world = floor(presence=Presence(absence=0.4)), World(floor(presence=Presence(absence=0.4)), 11, 0)
    course, days = Course(world), Counter[int]()
    for step in play(World(problem, 11, 0), make_policy("keep-team")):
        course.begin()
        work = course.work()
        assert work.absent == step.absent
        assert set(step.output).isdisjoint(step.absent)
        assert set(step.output) | set(step.absent) == {0, 1, 2, 3}
        days.update(step.output.keys())
        assert step.net == pytest.approx(0.5 * len(step.output))
        assert step.regret == pytest.approx(0.5 * len(step.absent))
    assert course.estimates.counts.tolist() == [days[worker] for worker in range(8)]


def test_who_quits_is_gone_for_good() -> None:
    problem = floor(6, 3, 300, presence=Presence(quits=0.05))
    gone = set[int]()
    for step in steps_of(problem, "epsilon-greedy"):
        gone |= set(step.quit)
        assert gone.isdisjoint(step.stations)
        assert gone.isdisjoint(into for _, into in step.requested)
    assert gone == set(range(6))  # everybody, in the end


def test_quits_on_a_date_strike_a_station_at_random() -> None:
    struck = Counter[int]()
    for run in range(1200):
        steps = steps_of(floor(horizon=3, presence=Presence(quit_at=(2,))), run=run)
        assert [len(step.quit) for step in steps] == [0, 1, 0]
        struck.update(steps[1].quit)
    assert all(close_to_chance(struck[worker], 1200, 0.25) for worker in range(4))


def test_declines_have_their_rate_and_are_known_when_the_hire_was_due() -> None:
    problem = floor(30, 10, 40, presence=Presence(declines=0.3), delay=FixedDelay(2))
    answered = declined = 0
    for run in range(12):
        steps = steps_of(problem, "epsilon-greedy", run)
        for asked, due in zip(steps, steps[2:], strict=False):
            assert set(asked.requested) == set(due.completed) | set(due.declined)
            answered += len(asked.requested)
            declined += len(due.declined)
    assert answered > 500
    assert close_to_chance(declined, answered, 0.3)


def test_turnover_changes_a_place_at_random_unpaid_and_spares_the_spared() -> None:
    start = Start((0, 1, 2, 3), warmup=39, turnover=8, gone=0.6, spared=(1,))
    gone = left = 0
    stations = Counter[int]()
    for run in range(400):
        world = World(floor(start=start), 11, run)
        course = Course(world)
        now = course.roster.stations
        for period in range(1, 40):
            opening = course.begin()
            changed = [station for station in range(4) if course.roster.stations[station] != now[station]]
            assert len(changed) == len(opening.handovers) == (1 if period % 8 == 0 else 0)
            assert opening.quit == ()
            for station, (out, into) in zip(changed, opening.handovers, strict=True):
                assert (out, into) == (now[station], course.roster.stations[station])
                assert course.floor.since[into] == period
                stations[station] += 1
                left += 1
                gone += bool(course.floor.gone[out])
                assert course.floor.may_enter[out] == (not course.floor.gone[out])
            now = course.roster.stations
            course.work()
        assert now[1] == 1
    assert close_to_chance(gone, left, 0.6)
    assert all(close_to_chance(stations[station], left, 1 / 3) for station in (0, 2, 3))


def test_quits_in_the_warm_up_are_refilled_at_once_and_unpaid() -> None:
    problem = floor(20, start=Start((0, -1, 2, 3), warmup=39), presence=Presence(quits=0.03, quit_at=(7,)))
    quits = 0
    for run in range(10):
        for step in steps_of(problem, run=run)[:39]:
            quits += len(step.quit)
            assert len(step.handovers) == len(step.quit)
            assert step.stations.count(-1) == 1  # the one that was empty
            assert (step.fees, step.net, step.regret, step.requested) == (0.0, 0.0, 0.0, ())
            assert len(step.output) == 3
    assert quits > 30


def test_tenure_counts_from_when_a_place_was_taken() -> None:

    start = Start((0, 1, 2, 3), warmup=20, turnover=18)
    course = Course(World(floor(start=start), 11, 0), brakes=Brakes(least_tenure=5))
    for _ in range(20):
        course.begin()
        course.work()
    for period in range(21, 27):
        course.begin()
        newcomer = next(worker for worker in course.roster.stations if worker > 3)
        assert course.may_leave[newcomer] == (period - 18 >= 5)
        assert all(course.may_leave[worker] for worker in course.roster.stations if worker <= 3)
        course.work()
