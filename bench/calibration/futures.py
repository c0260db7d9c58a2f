"""Simulated firms whose days are on record, with what their future and their past would have brought."""

from dataclasses import replace
from typing import Any

import numpy as np

from crewlearn.engine.blocks import Block, empty_tally, play_block, play_compiled, worlds_of
from crewlearn.engine.course import Course
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.planning.futures.record import Record
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.contract import Policy
from crewlearn.problem.arrays import BoolArray
from crewlearn.problem.floor import EXPERIENCED
from crewlearn.problem.laws import GeometricDelay
from crewlearn.problem.model import Problem
from crewlearn.study.families import FAMILIES

FIRMS = ("floor", "floor-clean", "floor-quits", "floor-drift")
COLD, COLD_DAYS = "floor-cold-start", 20
"""The firm without a record, and the days that its first team works before a plan is made."""

FIRST_SEED, WORLDS, QUICK_WORLDS, RUNS = 7001, 200, 20, 100
DELAY = GeometricDelay(3.5, first=1)
"""What the firms would set: the mean of their offers' true delays."""


def record_of(problem: Problem, seed: int, run: int, days: int) -> tuple[Record, BoolArray]:
    """Return the first days of a firm, and who is not available after them."""
    workers = problem.workers.count
    output, stations = np.full((workers, days), np.nan), np.full((problem.team, days), -1, dtype=np.int64)
    quits, gone = np.zeros(days, dtype=np.int64), np.zeros(workers, dtype=np.int64)
    for day, step in enumerate(play(World(problem, seed, run), KeepTeam(), until=days)):
        stations[:, day] = step.stations
        for worker, amount in step.output.items():
            output[worker, day] = amount
        quits[day] = len(step.quit)
        gone[list(step.quit)] = day + 1
    course = Course(World(problem, seed, run))
    for _ in range(days):
        course.begin()
        course.work()
    experience, nothing = np.zeros(workers, dtype=np.int64), np.zeros(workers, dtype=np.int64)
    experience[list(problem.first_stations)] = EXPERIENCED
    record = Record(output, stations, experience, nothing, nothing.astype(np.float64), quits, gone, nothing)
    return record, course.floor.gone.copy()


def firm(name: str) -> Problem:
    """Return the problem of a firm."""
    problem = FAMILIES[name].problem()
    if name != COLD:
        return problem
    assert problem.start is not None
    return replace(problem, start=replace(problem.start, warmup=COLD_DAYS))


def from_day(problem: Problem, first: int) -> Problem:
    """Return a firm in which advice is followed from a day of its warm-up on, up to the warm-up's end."""
    assert problem.start is not None
    assert problem.presence is not None
    days = problem.warmup
    shocks = tuple(shock for shock in problem.output.shocks if shock[1] <= days)
    presence = replace(problem.presence, quit_at=tuple(day for day in problem.presence.quit_at if day <= days))
    return replace(
        problem,
        horizon=days,
        start=replace(problem.start, warmup=first - 1),
        output=replace(problem.output, shocks=shocks),
        presence=presence,
    )


def true_net(problem: Problem, policy: Policy[Any], seed: int, run: int) -> float:
    """Return what a policy truly brings, own noise apart."""
    return float(play_block(Block(problem, policy, seed, run, 1, (problem.horizon,))).net[0, 0])


def true_output(problem: Problem, policy: Policy[Any], seed: int, run: int) -> tuple[float, int]:
    """Return all output of a firm, the warm-up and own noise included, and the replacements."""
    block = Block(problem, policy, seed, run, 1, (problem.horizon,))
    play_block(block)  # compiles
    tally = empty_tally(block, workers=problem.workers.count)
    play_compiled(block, *worlds_of(block), tally)
    return float(tally.sums.sum()), int(tally.initiated[0])
