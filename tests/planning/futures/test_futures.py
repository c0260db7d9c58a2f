"""Futures: draws agree with exact posteriors, and policies go on from what they have learned."""

from dataclasses import replace

import numpy as np
import pytest

from crewlearn.beliefs.evolving.copying import moved_back
from crewlearn.beliefs.evolving.packing import pack
from crewlearn.engine.blocks import Block, play_block
from crewlearn.engine.course import Course
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.planning.futures.paths import draw_paths
from crewlearn.planning.futures.record import Record, learn_record
from crewlearn.planning.futures.worlds import Seats, Terms, continued, draw_all, future_of, play_all, sets_of
from crewlearn.planning.outcomes import Expected
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.contract import Report
from crewlearn.policies.evolving.policy import EvolvingState, ValueOfReplacementEvolving
from crewlearn.problem.laws import GeometricDelay
from crewlearn.study.families.floors import FLOOR
from support.futures import record_of

POLICY = ValueOfReplacementEvolving()


def test_a_record_teaches_what_the_policy_learns_day_by_day() -> None:
    record = record_of(FLOOR, seed=2001, run=1, days=40)
    learned = learn_record(POLICY, record)
    state = POLICY.start(Course(World(FLOOR, 2001, 1)).situation(), 1)
    for day in range(record.days):
        holders = [int(worker) for worker in record.stations[:, day] if not np.isnan(record.output[worker, day])]
        output = {worker: float(record.output[worker, day]) for worker in holders}
        left = tuple(range(int(record.quits[day])))
        state = POLICY.observe(state, Report(day + 1, output, left=left))
    seen = ~np.isnan(record.output).all(axis=1)
    assert learned.people.means[seen] == pytest.approx(state.learned.people.means[seen], abs=1e-12)
    assert learned.pool.weights == pytest.approx(state.learned.pool.weights, abs=1e-12)


def test_moving_back_changes_nothing_but_the_numbers_of_days() -> None:
    record = record_of(FLOOR, seed=2001, run=2, days=60)
    whole = learn_record(POLICY, record)
    before = moved_back(learn_record(POLICY, record.before(41)), 40, record.workers)
    state_like = EvolvingState(1, before)
    for day in range(40, 60):
        holders = [int(worker) for worker in record.stations[:, day] if not np.isnan(record.output[worker, day])]
        output = {worker: float(record.output[worker, day]) for worker in holders}
        state_like = POLICY.observe(state_like, Report(day - 39, output, left=tuple(range(int(record.quits[day])))))
    seen = ~np.isnan(record.output).all(axis=1)
    assert state_like.learned.people.means[seen] == pytest.approx(whole.people.means[seen], abs=1e-9)


def test_paths_agree_with_the_exact_posterior_of_a_steady_person() -> None:
    """The mean of 4,000 draws lies within four standard errors, which fails by chance in 1 of 16,000."""
    rng = np.random.default_rng(1)
    output = np.array([[0.6, np.nan, 0.5, 0.7]])
    first = np.array([[0.0, 0.5, 0.04]])
    precision = 1.0 / 0.04 + 3.0 / 0.01
    mean = (0.5 / 0.04 + 1.8 / 0.01) / precision
    drawn = []
    for _ in range(4000):
        levels, kinds = np.zeros((1, 4)), np.zeros(1, dtype=np.int64)
        draw_paths(
            output,
            np.ones((1, 4)),
            np.full((1, 4), 0.01),
            np.zeros((1, 3)),
            first,
            np.zeros(1),
            np.zeros(1),
            rng.random(1),
            rng.standard_normal((1, 4)),
            levels,
            kinds,
        )
        assert np.ptp(levels) == 0.0
        drawn.append(levels[0, 0])
    sd = precision**-0.5
    assert abs(np.mean(drawn) - mean) < 4.0 * sd / 4000**0.5
    assert np.std(drawn) == pytest.approx(sd, rel=0.05)


def test_paths_agree_with_the_exact_posterior_of_a_drifter() -> None:
    """Against the joint normal posterior of three days by linear algebra; four standard errors as above."""
    step, noise, start = 0.05, 0.02, 0.04
    prior = start + step**2 * np.minimum.outer(np.arange(3), np.arange(3))
    seen = np.array([0, 2])
    y = np.array([0.55, 0.72])
    gain = prior[:, seen] @ np.linalg.inv(prior[np.ix_(seen, seen)] + noise * np.eye(2))
    mean, cov = 0.5 + gain @ (y - 0.5), prior - gain @ prior[seen]
    rng = np.random.default_rng(2)
    output = np.array([[0.55, np.nan, 0.72]])
    drawn = np.zeros((4000, 3))
    for place in range(4000):
        levels = np.zeros((1, 3))
        draw_paths(
            output,
            np.ones((1, 3)),
            np.full((1, 3), noise),
            np.zeros((1, 3)),
            np.array([[0.0, 0.5, start]]),
            np.array([step]),
            np.zeros(1),
            rng.random(1),
            rng.standard_normal((1, 3)),
            levels,
            np.zeros(1, dtype=np.int64),
        )
        drawn[place] = levels[0]
    assert (np.abs(drawn.mean(axis=0) - mean) < 4.0 * np.sqrt(np.diag(cov) / 4000)).all()
    assert np.cov(drawn.T) == pytest.approx(cov, abs=0.0012)


def test_futures_start_from_what_was_learned_and_are_the_same_for_all() -> None:
    record = record_of(FLOOR, seed=2001, run=3, days=60)
    drawn = draw_all(record, POLICY, 3, seed=1)
    everybody = (True,) * record.workers
    seats = Seats(tuple(record.stations[:, -1].tolist()), everybody, everybody, (), record.worked[:, -1])
    terms = Terms(FLOOR.team, 30, FLOOR.cost, GeometricDelay(3.5, first=1), 120)
    problems = [
        future_of(draw, record, terms, seats, np.random.default_rng(number)) for number, draw in enumerate(drawn)
    ]
    policies = continued({"advice": POLICY, "keep-team": KeepTeam()}, record)
    played = play_all(problems, policies, 6, seed=1)
    alone = play_all(problems, {"keep-team": KeepTeam()}, 6, seed=1)
    assert played["keep-team"].net.tolist() == alone["keep-team"].net.tolist()
    interpreted = sum(step.net for step in play(World(problems[0], 1, 0), policies["advice"]))
    compiled = play_block(Block(problems[0], policies["advice"], 1, 0, 1, (30,))).net[0, 0]
    assert compiled == pytest.approx(interpreted, abs=1e-9)
    assert pack(policies["advice"].learned)["counts"], "playing leaves what was learned as it is"  # type: ignore[attr-defined]


def test_worlds_of_one_draw_count_together() -> None:
    values, sets = np.repeat([1.0, 3.0, 5.0], 4), sets_of(12, 3)
    spread = Expected.of(values, sets)
    # three independent numbers with standard error 2 / sqrt(3); Student's t with 2 degrees of freedom
    assert spread.high - spread.mean == pytest.approx(4.3027 * 2.0 / 3**0.5, rel=1e-3)
    assert (spread.likely_low, spread.likely_high) == (1.0, 5.0)


def test_the_past_of_a_record_does_not_know_what_came_later() -> None:
    record = record_of(FLOOR, seed=2001, run=4, days=50)
    later = replace(record, output=np.where(np.arange(50) >= 30, record.output * 0.5, record.output))
    first, second = record.before(31), later.before(31)
    assert isinstance(first, Record)
    assert np.array_equal(first.output, second.output, equal_nan=True)
    assert pack(learn_record(POLICY, first)) == pack(learn_record(POLICY, second))
