"""Small deterministic worlds in which `check_policy` plays a policy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crewlearn.beliefs.estimates import Estimates, grown, record
from crewlearn.policies.contract import NO_FORESIGHT, Foresight, Hidden, Pair, Situation
from crewlearn.problem import floor as people
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import mix
from crewlearn.problem.interviews import score_interviews
from crewlearn.problem.laws import BernoulliOutput, FixedDelay, GeometricDelay, NoDelay, UniformOutput, pair_delay
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Drift, Presence, Ramp
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import FREE, unclaimed_stations

QUIET: Mapping[str, Problem] = {
    "delayed hires": Problem(3, 60, 0.5, Pool((0.3, 0.9, 0.4, 0.7, 0.2, 0.8, 0.5)), GeometricDelay(2.0)),
    "one worker outside": Problem(4, 40, 1.0, Pool((0.9, 0.1, 0.5, 0.7, 0.6)), FixedDelay(1)),
    "one station": Problem(1, 40, 0.2, Pool((0.2, 0.8, 0.5)), GeometricDelay(1.0), BernoulliOutput()),
    "prior data": Problem(2, 40, 1.0, Pool((0.2, 0.8, 0.5, 0.9), (40, 0, 3, 9), (0.2, 0.0, 0.6, 0.9)), NoDelay()),
    "one period": Problem(2, 1, 1.0, Pool((0.2, 0.8, 0.5)), NoDelay()),
    "no fee": Problem(2, 40, 0.0, Pool((0.2, 0.8, 0.5, 0.4)), NoDelay()),
    "an empty station": Problem(
        3, 40, 0.3, Pool((0.2, 0.3, 0.6, 0.8, 0.9, 0.5)), FixedDelay(1), start=Start((0, -1, 2))
    ),
}
"""Worlds in which every request is granted and no facts change."""

FLOOR = Problem(
    3,
    80,
    0.3,
    Pool((0.4, 0.3, 0.25, 0.8, 0.9, 0.7, 0.6, 0.5, 0.55, 0.65, 0.45, 0.85)),
    FixedDelay(1),
    UniformOutput(0.1, weekdays=(-0.05, 0.05), shocks=((20, 24, -0.2),)),
    start=Start((0, 1, 2), warmup=6, turnover=3),
    ramp=Ramp(0.3, 4.0),
    drift=Drift(0.005, ((1, 8, -0.01, 0.6),)),
    presence=Presence(absence=0.2, quit_at=(13, 26, 27, 40), declines=0.3),
)
"""A floor on which people ramp up, drift, are absent, quit and decline."""

PATIENCE = 20
"""Periods for which a policy that fills empty stations may leave one empty after somebody quit."""

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
        self.roster = Roster.start(problem.setting.workers, list(problem.first_stations or range(problem.team)))
        self.estimates = Estimates(*problem.seen_before())
        self.form, self.keys = people.floor_form(problem), people.FloorKeys(*(mix(KEY, 10 + n) for n in range(7)))
        self.floor = people.empty_floor(problem.setting.workers, problem.horizon)
        stations = self.roster.arrays.stations
        people.begin_run(self.form, self.keys, self.floor, self.means, stations, problem.may_enter())
        self.may_enter, self.may_leave = self.floor.may_enter, problem.may_leave()
        self.output_form, self.delay_form = problem.output.form(), problem.delay.form(problem.setting.workers)
        self.period = 1
        self.gone = set[int]()
        self.completed: list[Pair] = []
        self.failed: list[Pair] = []
        for self.period in range(1 - problem.warmup, 1):
            self.begin()
            for worker, amount in self.work().items():
                record(self.estimates, worker, amount)
        self.period = 1

    @property
    def today(self) -> int:
        """The period counted with the warm-up, as the problem counts it."""
        return self.period + self.problem.warmup

    def begin(self) -> bool:
        """Begin a period where people change; return whether anybody quit."""
        if not self.problem.changes or self.today > self.problem.horizon:
            return False
        if self.problem.rolling is not None:
            self.setting = self.problem.setting_in(max(1, self.period))
        quit = np.empty(self.setting.workers, dtype=np.int64)
        arrays = self.roster.arrays
        n = people.begin_period(self.form, self.keys, self.floor, arrays, self.means, self.today, quit)
        self.gone.update(quit[:n].tolist())
        return n > 0

    def declined(self, since: int, into: int) -> bool:
        """Return whether the offer made to a worker in a period is declined."""
        return people.declined(self.form, self.keys, since, into)

    def vacant(self) -> bool:
        """Return whether a station is empty that nobody is to fill, though somebody could."""
        arrays = self.roster.arrays
        free = (arrays.station_of < 0) & (arrays.role == FREE) & self.may_enter
        return unclaimed_stations(arrays) > 0 and bool(free.any())

    def situation(self, hidden: bool) -> Situation:
        """Return the current situation, with hidden facts or without."""
        facts = (self.setting, self.roster, self.estimates, self.may_enter, self.may_leave)
        experience = self.floor.experience if self.problem.changes else None
        return Situation(self.period, *facts, self._hidden() if hidden else None, experience=experience)

    def _hidden(self) -> Hidden:
        form, floor, warmup = self.form, self.floor, self.problem.warmup
        if not self.problem.changes:
            return Hidden(self.means, self.delay_form, KEY, NO_FORESIGHT)
        levels, shares = floor.levels[:, warmup:], form.day_shares[warmup:]
        chances = (form.quits, form.declines, self.problem.fee_due == "initiation")
        foresight = Foresight(form.foreseeable, levels, floor.depth, form.fading, shares, *chances)
        return Hidden(floor.levels[:, max(self.today, 1) - 1], self.delay_form, KEY, foresight)

    def facts(self) -> tuple[Any, ...]:
        """Return everything that a situation shows, as plain data for comparison."""
        floor = (self.floor.levels, self.floor.depth, self.floor.experience) if self.problem.changes else ()
        arrays = (*self.estimates, self.may_enter, self.may_leave, self.means, self.delay_form.success, *floor)
        return (self.roster.to_json(), *(array.tolist() for array in arrays))

    def scores(self, rho: float) -> FloatArray:
        """Return everybody's interview score, with correlation `rho` to the true means."""
        scores = np.empty(len(self.means))
        score_interviews(self.means, rho, KEY, scores)
        return scores

    def delay(self, pair: Pair) -> int:
        """Return the delay of a pair if initiated now."""
        return pair_delay(self.delay_form, KEY, self.period, *pair)

    def work(self) -> dict[int, float]:
        """Let those work who are there in this period; return their output."""
        form, own = self.output_form, mix(KEY, self.period)
        if not self.problem.changes:
            return {
                worker: people.draw_any(form, float(self.means[worker]), mix(own, worker))
                for worker in self.roster.active
            }
        people.begin_work(self.form, self.keys, self.floor, self.roster.arrays, self.today)
        day_effect, output = people.day_effect_of(form, KEY, self.today), {}
        for worker in self.roster.active:
            if not self.floor.absent[worker]:
                centre = people.centre_of(self.form, form, self.floor, worker, self.today, day_effect)
                output[worker] = people.output_of(form, self.floor, worker, self.today, centre, mix(own, worker))
        people.end_work(self.floor, self.roster.arrays)
        return output

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
