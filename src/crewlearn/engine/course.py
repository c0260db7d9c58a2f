"""One run under way, in plain Python: the roster, the people and the record, period by period.

`interpreted.play` lets a policy act in it and the Gymnasium environment an agent. It calls the rule functions that the
compiled loops call, in the same order.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from crewlearn.beliefs.estimates import Estimates, Prior, record
from crewlearn.engine.streams import DAY, DELAY, OUTPUT, floor_keys, seed_root
from crewlearn.engine.world import World
from crewlearn.policies.brakes import NO_BRAKES, NO_LIMIT, PERIODS_A_WEEK, Brakes, fills_empty_station
from crewlearn.policies.contract import Foresight, Hidden, Pair, Situation
from crewlearn.problem import floor as people
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.chance import mix
from crewlearn.problem.errors import whole
from crewlearn.problem.floor import VACANCIES
from crewlearn.problem.model import MOST
from crewlearn.problem.roster import Roster, refuse
from crewlearn.problem.transitions import LEGAL, PENDING, completion_fault, unclaimed_stations


@dataclass(frozen=True)
class Opening:
    """What happened at the start of a period: who quit, and pairs (out, in) of places that changed hands.

    Places change hands in the warm-up only. `out` may be among those who quit, or -1 if the place was empty.
    """

    quit: tuple[int, ...] = ()
    handovers: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Arrivals:
    """Hires that were due in a period: pairs that completed, that lapsed as nobody made room, and that declined.

    `failed` are the last two in the order in which they were due.
    """

    completed: tuple[Pair, ...] = ()
    lapsed: tuple[Pair, ...] = ()
    declined: tuple[Pair, ...] = ()
    failed: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Work:
    """What a period's work came to.

    `output` is by worker present, in the order of their stations. `expected` is its mean, own noise apart. `made` and
    `possible` are the levels that regret compares: those at work, ramp-up included, and those of the best team.
    """

    output: dict[int, float]
    absent: tuple[int, ...]
    expected: float
    made: float
    possible: float


class Course:
    """A run of a world under way; `begin`, `request`, `arrive` and `work` make up a period, in this order.

    `period` counts from 1 and includes the warm-up, in which nothing is requested and nobody arrives. `t` counts from 1
    after it, as policies do.
    """

    def __init__(
        self, world: World, *, brakes: Brakes = NO_BRAKES, refilled: bool = False, oracle: bool = False
    ) -> None:
        problem = world.problem
        self.world, self.problem, self.brakes, self.refilled = world, problem, brakes, refilled
        self.period = 0
        self.form, self.keys = people.floor_form(problem), floor_keys(seed_root(world.seed), world.run)
        self.roster = Roster.start(problem.setting.workers, world.starting_team().tolist())
        self.estimates, self.prior = Estimates(*problem.seen_before()), Prior(*problem.unknown_spread())
        self.may_leave = problem.may_leave()
        self.floor = people.empty_floor(problem.setting.workers, problem.horizon)
        people.begin_run(
            self.form, self.keys, self.floor, world.means, self.roster.arrays.stations, problem.may_enter()
        )
        self.hidden = self._hidden() if oracle else None
        self.week = self.begun = 0
        self.counted = np.zeros(problem.setting.workers, dtype=np.bool_)

    @property
    def t(self) -> int:
        """The period as policies count it: from 1 after the warm-up."""
        return self.period - self.problem.warmup

    @property
    def _foresees(self) -> bool:
        """Whether an oracle plans ahead; else it decides once, and for good."""
        return self.problem.changes or self.brakes != NO_BRAKES

    def _hidden(self) -> Hidden:
        world, form, warmup = self.world, self.form, self.problem.warmup
        if not self._foresees:
            return Hidden(world.means, world.delay_form, world.keys[DELAY])
        foresight = Foresight(
            form.foreseeable,
            self.floor.levels[:, warmup:],
            self.floor.depth,
            form.fading,
            form.day_shares[warmup:],
            form.quits,
            form.declines,
            self.problem.fee_due == "initiation",
        )
        return Hidden(self.floor.levels[:, 0].copy(), world.delay_form, world.keys[DELAY], foresight)

    def begin(self) -> Opening:
        """Begin the next period."""
        self.period += 1
        before = self.roster.stations
        quit = np.empty(self.problem.setting.workers, dtype=np.int64)
        means = self.world.means
        n = people.begin_period(self.form, self.keys, self.floor, self.roster.arrays, means, self.period, quit)
        if self.t >= 1 and self.hidden is not None and self._foresees:
            self.hidden.means[:] = self.floor.levels[:, self.period - 1]
        if self.brakes.least_tenure > 0:
            stayed = self.period - self.floor.since
            self.may_leave[:] = self.problem.may_leave() & (stayed >= self.brakes.least_tenure)
        if (self.period - 1) // PERIODS_A_WEEK != self.week:
            self.week, self.begun = (self.period - 1) // PERIODS_A_WEEK, 0
        handovers = ((out, into) for out, into in zip(before, self.roster.stations, strict=True) if out != into)
        return Opening(tuple(quit[:n].tolist()), tuple(pair for pair in handovers if pair[1] != NOBODY))

    def situation(self) -> Situation:
        """Return what a policy may see now."""
        t, may_enter = max(self.t, 1), self.floor.may_enter
        setting = self.problem.setting_in(t)
        facts = (setting, self.roster, self.estimates, may_enter, self.may_leave, self.hidden, self.prior)
        return Situation(t, *facts, self.floor.experience)

    def request(self, pairs: Iterable[Pair]) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
        """Initiate replacements; return those that began, refills by the simulation included, and those held back."""
        begun, held_back = [], []
        for out, into in pairs:
            self._check_offer(out, into)
            limited = not fills_empty_station(out, unclaimed_stations(self.roster.arrays))
            self.counted[into] = limited and self.brakes.most_a_week != NO_LIMIT
            if self.counted[into]:
                if self.begun >= self.brakes.most_a_week:
                    held_back.append((out, into))
                    continue
                self.begun += 1
            self._initiate(out, into)
            begun.append((out, into))
        refills, arrays = 0, self.roster.arrays
        while self.refilled and self.floor.counts[VACANCIES] > 0:
            key = mix(mix(self.keys.refill, self.period), refills)
            into = people.draw_outsider(self.floor, arrays, key)
            if into == NOBODY or arrays.counts[PENDING] >= self.roster.team:
                break
            self._initiate(NOBODY, into)
            begun.append((NOBODY, into))
            self.floor.counts[VACANCIES] -= 1
            refills += 1
        return tuple(begun), tuple(held_back)

    def _check_offer(self, out: int, into: int) -> None:
        for name, worker in (("out", out), ("into", into)):
            whole(name, worker, -MOST, MOST)
        fault = people.offer_fault(self.floor, self.roster.arrays, out, into)
        refuse(f"replacement ({out}, {into})", fault, self.roster)

    def _initiate(self, out: int, into: int) -> None:
        self.roster.initiate(out, into, self.t, due=self.t + self.world.delay(self.t, out, into))

    def arrive(self, assign: Callable[[int], int]) -> Arrivals:
        """Let the hires that are due start or decline; `assign` says who makes room where that was left open."""
        completed: list[Pair] = []
        lapsed: list[Pair] = []
        declined: list[Pair] = []
        failed: list[Pair] = []
        roster = self.roster
        for pending in roster.elapsed(self.t):
            out = next(item.out for item in roster.pending if item.into == pending.into)
            refused = people.declined(self.form, self.keys, pending.since, pending.into)
            if out == NOBODY and not refused and not self.refilled:
                out = assign(pending.into)
            room = out != NOBODY or completion_fault(roster.arrays, 0, out) == LEGAL
            if room and not refused:
                completed.append(roster.complete(pending.into, out))
                self.floor.since[pending.into] = self.period
                continue
            pair = roster.fail(pending.into)
            failed.append(pair)
            (declined if refused else lapsed).append(pair)
            if self.refilled and refused and out == NOBODY:
                self.floor.counts[VACANCIES] += 1
            if self.counted[pending.into] and (pending.since + self.problem.warmup - 1) // PERIODS_A_WEEK == self.week:
                self.begun -= 1
        return Arrivals(tuple(completed), tuple(lapsed), tuple(declined), tuple(failed))

    def work(self) -> Work:
        """Let those present work, put their output on record and give them a day of experience."""
        world, period, roster = self.world, self.period, self.roster.arrays
        people.begin_work(self.form, self.keys, self.floor, roster, period)
        day_effect = people.day_effect_of(world.output_form, world.keys[DAY], period)
        period_key = mix(world.keys[OUTPUT], period)
        output: dict[int, float] = {}
        absent = []
        made = expected = 0.0
        for worker in self.roster.stations:
            if worker == NOBODY:
                continue
            if self.floor.absent[worker]:
                absent.append(worker)
                continue
            centre = people.centre_of(self.form, world.output_form, self.floor, worker, period, day_effect)
            key = mix(period_key, worker)
            output[worker] = people.put_out(self.form, world.output_form, self.floor, worker, period, centre, key)
            record(self.estimates, worker, output[worker])
            share = people.ramp_share(self.form, self.floor, worker)
            made += float(self.floor.levels[worker, period - 1]) * share
            expected += people.counted_of(self.form, worker, period, centre)
        people.end_work(self.floor, roster)
        changes, team = self.form.best_changes, self.roster.team
        best = people.best_levels(self.floor, team, period) if changes else world.best_output()
        return Work(output, tuple(absent), expected, made, float(best))
