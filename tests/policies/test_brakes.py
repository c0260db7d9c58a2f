"""Brakes in a simulated world: least tenure, and replacements a week."""

from collections import Counter
from dataclasses import replace

import pytest

from crewlearn.engine.blocks import Block, play_block
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.brakes import PERIODS_A_WEEK, Braked
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import FixedDelay, UniformOutput
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Presence

PROBLEM = Problem(
    4, 90, 0.2, Pool((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.35)), FixedDelay(1), UniformOutput(0.3)
)


@pytest.mark.parametrize("name", ["a-omm", "value-of-replacement", "dr-ucb"])
def test_nobody_leaves_before_the_least_tenure(name: str) -> None:
    least = 7
    seated = dict.fromkeys(World(PROBLEM, 3, 0).starting_team().tolist(), 1)
    stays = []
    for step in play(World(PROBLEM, 3, 0), make_policy(f"{name}:least_tenure={least}")):
        for out, _ in step.requested:
            stays.append(step.period - seated[out])
        for _, into in step.completed:
            seated[into] = step.period
    assert stays
    assert min(stays) >= least


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_more_than_so_many_begin_in_a_week(most: int) -> None:
    weeks: Counter[int] = Counter()
    held_back = 0
    for step in play(World(PROBLEM, 3, 0), make_policy(f"a-omm:most_a_week={most}")):
        weeks[(step.period - 1) // PERIODS_A_WEEK] += len(step.requested)
        held_back += len(step.held_back)
    assert held_back > 0
    assert max(weeks.values()) == most


def test_a_declined_offer_makes_room_for_the_next_within_the_week() -> None:
    problem = replace(PROBLEM, presence=Presence(declines=1.0), delay=FixedDelay(0))
    steps = list(play(World(problem, 3, 0), make_policy("a-omm:most_a_week=1")))
    requested = Counter((step.period - 1) // PERIODS_A_WEEK for step in steps for _ in step.requested)
    assert not any(step.completed for step in steps)
    assert max(requested.values()) > 1


def test_filling_an_empty_station_is_exempt() -> None:
    problem = replace(PROBLEM, start=Start(stations=(0, NOBODY, NOBODY, NOBODY)))
    first = next(iter(play(World(problem, 3, 0), make_policy("value-of-replacement:least_tenure=50,most_a_week=0"))))
    assert [out for out, _ in first.requested] == [NOBODY] * 3


def test_tenure_before_the_first_period_counts() -> None:
    earlier = replace(PROBLEM, start=Start(stations=(0, 1, 2, 3), tenure=(30,) * 10))
    later = replace(PROBLEM, start=Start(stations=(0, 1, 2, 3)))

    def first_request(problem: Problem) -> int:
        steps = play(World(problem, 3, 0), make_policy("a-omm:least_tenure=30"))
        return next(step.period for step in steps if step.requested)

    assert first_request(earlier) == 1
    assert first_request(later) == 31


def test_brakes_that_never_hold_back_change_nothing() -> None:
    for name in ("dr-ucb", "value-of-replacement"):
        free, loose = make_policy(name), make_policy(f"{name}:least_tenure=0,most_a_week=1000")
        assert isinstance(loose, Braked)
        ours, theirs = (play_block(Block(PROBLEM, policy, 5, 0, 8, (90,))) for policy in (free, loose))
        assert ours.initiated.tolist() == theirs.initiated.tolist()
        assert ours.regret == pytest.approx(theirs.regret, abs=1e-9)


def test_bad_brakes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"least_tenure = -1: must be a whole number"):
        make_policy("dr-ucb:least_tenure=-1")
    with pytest.raises(InvalidInput, match=r"most_a_week = 'many'|most_a_week = many"):
        make_policy("dr-ucb:most_a_week=many")


def test_hires_that_leave_the_leaver_open_are_limited_too() -> None:
    late = make_policy("dr-ucb+late-pairing:most_a_week=0")
    steps = list(play(World(PROBLEM, 3, 0), late))
    assert any(step.held_back for step in steps)
    assert not any(step.requested for step in steps)
    assert play_block(Block(PROBLEM, late, 3, 0, 2, (90,))).initiated.tolist() == [0, 0]
