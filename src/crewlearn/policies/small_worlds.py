"""Small deterministic worlds in which `check_policy` plays a policy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crewlearn.beliefs.estimates import Estimates, grown
from crewlearn.policies.contract import Hidden, Pair, Situation
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import mix
from crewlearn.problem.interviews import score_interviews
from crewlearn.problem.laws import (
    BernoulliOutput,
    FixedDelay,
    GeometricDelay,
    NoDelay,
    draw_output,
    pair_delay,
    room_of,
)
from crewlearn.problem.model import Pool, Problem
from crewlearn.problem.roster import Roster

QUIET: Mapping[str, Problem] = {
    "delayed hires": Problem(3, 60, 0.5, Pool((0.3, 0.9, 0.4, 0.7, 0.2, 0.8, 0.5)), GeometricDelay(2.0)),
    "one worker outside": Problem(4, 40, 1.0, Pool((0.9, 0.1, 0.5, 0.7, 0.6)), FixedDelay(1)),
    "one station": Problem(1, 40, 0.2, Pool((0.2, 0.8, 0.5)), GeometricDelay(1.0), BernoulliOutput()),
    "prior data": Problem(2, 40, 1.0, Pool((0.2, 0.8, 0.5, 0.9), (40, 0, 3, 9), (0.2, 0.0, 0.6, 0.9)), NoDelay()),
    "one period": Problem(2, 1, 1.0, Pool((0.2, 0.8, 0.5)), NoDelay()),
    "no fee": Problem(2, 40, 0.0, Pool((0.2, 0.8, 0.5, 0.4)), NoDelay()),
}
"""Worlds in which every request is granted and no facts change."""

LIVE = Problem(3, 70, 0.3, Pool((0.2, 0.3, 0.25, 0.8, 0.9, 0.7, 0.6, 0.5)), NoDelay())
"""A live site with rejections, declined offers, leavers, newcomers, pins, and changes of team and setting."""

KEY = 20_240_229
"""The key of all random streams in these worlds, including the policy's own."""


class SmallWorld:
    """The facts of a small world in a period, and the ways in which they change.

    `completed` and `failed` are the pairs not yet reported to the policy.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.setting = problem, problem.setting
        self.means = problem.means(seed=1)
        stations = range(problem.team) if problem.start is None else problem.start.stations
        self.roster = Roster.start(problem.setting.workers, list(stations))
        self.estimates = Estimates(*problem.seen_before())
        self.may_enter, self.may_leave = problem.may_enter(), problem.may_leave()
        self.output_form, self.delay_form = problem.output.form(), problem.delay.form(problem.setting.workers)
        self.period = 1
        self.gone = set[int]()
        self.completed: list[Pair] = []
        self.failed: list[Pair] = []

    def situation(self, hidden: bool) -> Situation:
        """Return the current situation, with hidden facts or without."""
        facts = (self.setting, self.roster, self.estimates, self.may_enter, self.may_leave)
        return Situation(self.period, *facts, Hidden(self.means, self.delay_form, KEY) if hidden else None)

    def facts(self) -> tuple[Any, ...]:
        """Return everything that a situation shows, as plain data for comparison."""
        arrays = (*self.estimates, self.may_enter, self.may_leave, self.means, self.delay_form.success)
        return (self.roster.to_json(), *(array.tolist() for array in arrays))

    def scores(self, rho: float) -> FloatArray:
        """Return everybody's interview score, with correlation `rho` to the true means."""
        scores = np.empty(len(self.means))
        score_interviews(self.means, rho, KEY, scores)
        return scores

    def delay(self, pair: Pair) -> int:
        """Return the delay of a pair if initiated now."""
        return pair_delay(self.delay_form, KEY, self.period, *pair)

    def output(self, worker: int) -> float:
        """Return an active worker's output in this period."""
        centre, form = float(self.means[worker]), self.output_form
        return draw_output(form.code, form.spread, centre, room_of(centre), mix(mix(KEY, self.period), worker))

    def leave(self) -> None:
        """Let the first active worker leave for good."""
        worker = self.roster.active[0]
        self.roster.vacate(worker)
        self.gone.add(worker)
        self.may_enter[worker] = False

    def join(self) -> None:
        """Let two newcomers join the pool."""
        workers = self.setting.workers + 2
        self.roster, self.estimates = self.roster.grown(workers), grown(self.estimates, workers)
        self.means = np.append(self.means, [0.95, 0.1])
        self.may_enter, self.may_leave = (np.append(flags, [True, True]) for flags in (self.may_enter, self.may_leave))
        self.delay_form = self.problem.delay.form(workers)
        self.setting = replace(self.setting, workers=workers)

    def resize(self, team: int) -> None:
        """Change the number of stations; if it shrinks, withdraw pending hires and let excess workers leave."""
        if team < self.setting.team:
            for pending in self.roster.pending:
                self.failed.append(self.roster.fail(pending.into))
            while len(self.roster.active) > team:
                self.leave()
        self.roster = self.roster.resized(team)
        self.setting = replace(self.setting, team=team)

    def restrict(self) -> None:
        """Pin all active workers except the best, and block all outside workers except the worst."""
        self.may_leave[:] = self.may_enter[:] = False
        self.may_leave[max(self.roster.active, key=lambda worker: float(self.means[worker]))] = True
        outside = [worker for worker in self.roster.outside if worker not in self.gone]
        self.may_enter[min(outside, key=lambda worker: float(self.means[worker]))] = True

    def lift(self) -> None:
        """Remove all pins and blocks, except for those who left for good."""
        self.may_leave[:] = self.may_enter[:] = True
        self.may_enter[list(self.gone)] = False

    def change(self, **changes: Any) -> None:
        """Change fields of the setting."""
        self.setting = replace(self.setting, **changes)


LIVE_EVENTS: Mapping[int, Callable[[SmallWorld], None]] = {
    9: SmallWorld.join,
    15: SmallWorld.leave,
    21: lambda world: world.resize(4),
    26: SmallWorld.restrict,
    37: SmallWorld.lift,
    39: lambda world: world.change(cost=0.0, mean_delay=2.0),
    45: lambda world: world.resize(2),
    51: lambda world: world.change(cost=2.0, horizon=2 * LIVE.horizon),
    57: SmallWorld.join,
    63: lambda world: world.change(horizon=LIVE.horizon),
}
"""The events at the live site, by the period at whose start they happen."""
