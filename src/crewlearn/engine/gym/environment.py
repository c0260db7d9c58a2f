"""The environment of the first version, whose observations are plain counts; `scaled` has the one to train in."""

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from crewlearn.beliefs.estimates import Estimates
from crewlearn.engine.course import Course, Opening, Work
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.learned.view import KEEP, checked_choices, list_requests, mask_choices
from crewlearn.problem.arrays import NOBODY, BoolArray, IntArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.floor import EXPERIENCED, floor_form
from crewlearn.problem.instances import benchmark
from crewlearn.problem.model import MOST, Problem
from crewlearn.problem.roster import Roster

Observation = dict[str, Any]
"""Arrays by name, as sampled from a `gymnasium.spaces.Dict`."""


class DelayedReplacement(gymnasium.Env[Observation, IntArray]):
    """An episode is a run of a simulation, a step is a period; the default problem is the paper's benchmark.

    **Action**: for each of the m stations, 0 to keep its worker or j+1 to request worker j as the replacement. At an
    empty station j+1 requests worker j to fill it. Requests that the roster forbids are dropped and counted. If two
    stations request the same worker, the first gets them.

    **Observation** at the beginning of the next period, with m stations and k workers:

    - `counts` (k), `means` (k): observations of each worker and their mean output, with prior data; 0 if none.
    - `stations` (m, k): 1 where the worker holds the station.
    - `arriving` (m, k): 1 where a requested worker will take over the station from its holder. Hires for empty stations
      are shown at these in order.
    - `waiting` (m): periods since that request.
    - `time_left` (1): the share of the horizon that remains, or always 1 if the problem's horizon is rolling.

    Where people or days change there are two more:

    - `experience` (k): days worked, up to the greatest number in the space; those who begin experienced are there.
    - `present` (k): 0 for those who left for good.

    Every entry is a bounded box: Gymnasium's `FlattenObservation` and `RescaleObservation` make one vector in [0, 1].

    **Reward**: the period's profit, that is output less fees paid. The episode terminates after the horizon. It is
    never truncated, because the problem itself ends there.

    **Info**: `action_mask` (m, k+1), True where a request is legal by itself. After a step also `requested` and
    `completed` pairs (out, in), the number `dropped`, the `fees` and the pseudo-`regret` of the period. Regret is for
    scoring only: it is computed from hidden means, which a learner must not see. Where people or days change, there are
    also `declined` pairs, those who were `absent`, those who `quit` at the beginning of the next period, and the
    period's `net`, which is for scoring as well.

    `reset(seed=s)` begins run 0 of seed s, and `reset(seed=s, options={"run": r})` run r; further resets begin the next
    runs. These are the worlds of `crewlearn.simulate(problem, ..., seed=s)`, so a trained agent can be compared with a
    policy run by run. A warm-up is over when `reset` returns.
    """

    world: World
    course: Course

    def __init__(self, problem: Problem | None = None) -> None:
        self.problem = checked_problem(problem)
        self.period = 0
        """The period about to be played, which counts the warm-up, from 1; 0 before the first reset."""
        setting = self.problem.setting
        self.action_space = spaces.MultiDiscrete([setting.workers + 1] * setting.team)
        self.observation_space = spaces.Dict(self._boxes(setting.workers, setting.team))

    def _boxes(self, workers: int, team: int) -> dict[str, spaces.Space[Any]]:
        """Return the space of each entry of an observation."""
        seen, horizon = self.problem.seen_before()[0], self.problem.horizon
        boxes: dict[str, spaces.Space[Any]] = {
            "counts": spaces.Box(np.zeros_like(seen), seen + horizon, dtype=np.int64),
            "means": spaces.Box(0.0, 1.0, (workers,), dtype=np.float32),
            "stations": spaces.Box(0, 1, (team, workers), dtype=np.int8),
            "arriving": spaces.Box(0, 1, (team, workers), dtype=np.int8),
            "waiting": spaces.Box(0, horizon, (team,), dtype=np.int64),
            "time_left": spaces.Box(0.0, 1.0, (1,), dtype=np.float32),
        }
        if self.problem.changes:
            begun = floor_form(self.problem).experience
            self._longest = horizon + int(begun.max(where=begun < EXPERIENCED, initial=0))
            boxes["experience"] = spaces.Box(0, self._longest, (workers,), dtype=np.int64)
            boxes["present"] = spaces.Box(0, 1, (workers,), dtype=np.int8)
        return boxes

    @property
    def roster(self) -> Roster:
        """The roster of the run under way."""
        return self.course.roster

    @property
    def estimates(self) -> Estimates:
        """What was observed in the run under way."""
        return self.course.estimates

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin run 0 of `seed`, or the next run of the last seed if it is None.

        `options={"run": r}` begins run r of a seed that is given; other options are ignored.
        """
        new_seed = None if seed is None else whole("seed", seed, 0, 2**64 - 1)
        run = first_run(options, new_seed)
        super().reset(seed=new_seed)
        if new_seed is not None:
            self.world = World(self.problem, new_seed, run)
        elif self.period == 0:
            self.world = World(self.problem, int(self.np_random.integers(2**63)), run=0)
        else:
            self.world = World(self.problem, self.world.seed, self.world.run + 1)
        self.course = Course(self.world)
        self.period = 0
        for _ in range(self.problem.warmup):
            self._begin_period()
            self.course.work()
        self._begin_period()
        return self._observation(), {"action_mask": self._mask()}

    def step(self, action: IntArray) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a period in the order of the paper's Section 3: requests, arrivals, output."""
        self._need_reset(self.period > self.problem.horizon)
        requests, dropped = self._legal(checked_choices(action, (self.problem.team,), self.roster.workers))
        requested, _ = self.course.request(requests)
        arrivals = self.course.arrive(lambda incoming: NOBODY)
        work = self.course.work()
        fees = self.problem.setting.cost * len(
            requested if self.problem.fee_due == "initiation" else arrivals.completed
        )
        opening = self._begin_period()
        info = {
            "action_mask": self._mask(),
            "requested": requested,
            "completed": arrivals.completed,
            "dropped": dropped,
            "fees": fees,
            "regret": work.possible - work.made + fees,
        }
        if self.problem.changes:
            info.update(declined=arrivals.declined, absent=work.absent, quit=opening.quit, net=work.expected - fees)
        over = self.period > self.problem.horizon
        return self._observation(), self._produced(work) - fees, over, False, info

    def action_masks(self) -> BoolArray:
        """Return the mask of legal choices, flattened station by station, as sb3-contrib's MaskablePPO expects it."""
        self._need_reset()
        return self._mask().ravel()

    def situation(self) -> Situation:
        """Return the situation a policy would see, to query it as an expert or compare with it step by step."""
        self._need_reset()
        return self.course.situation()

    def action_of(self, pairs: Iterable[Pair]) -> IntArray:
        """Return the action that requests these pairs (out, in), as returned by a policy's `decide`."""
        self._need_reset()
        action = np.full(self.problem.team, KEEP, dtype=np.int64)
        empty = [station for station, worker in enumerate(self.roster.stations) if worker == NOBODY]
        empty = empty[sum(pending.out == NOBODY for pending in self.roster.pending) :]
        for out, into in pairs:
            if out == NOBODY and empty:
                station = empty.pop(0)
            elif out == NOBODY or out not in self.roster.stations:
                raise InvalidInput("pairs", (out, into), "an action must say who leaves: name an active worker")
            else:
                station = self.roster.stations.index(out)
            action[station] = whole("pairs", into, 0, self.roster.workers - 1) + 1
        return action

    @staticmethod
    def _produced(work: Work) -> float:
        return sum(work.output.values())

    def _begin_period(self) -> Opening:
        """Begin the next period, if there is one."""
        self.period += 1
        return self.course.begin() if self.period <= self.problem.horizon else Opening()

    def _legal(self, choices: IntArray) -> tuple[list[Pair], int]:
        """Return the pairs of the legal requests, station by station, and the number of requests dropped."""
        outs, ins = np.empty_like(choices), np.empty_like(choices)
        n = list_requests(self._mask(), self.roster.arrays, choices, outs, ins)
        pairs = list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True))
        return pairs, int((choices != KEEP).sum()) - n

    def _mask(self) -> BoolArray:
        """Return which requests are legal by themselves."""
        mask = np.zeros((self.roster.team, self.roster.workers + 1), dtype=np.bool_)
        mask_choices(mask, self.roster.arrays, self.course.floor.may_enter, self.course.may_leave)
        return mask

    def _observation(self) -> Observation:
        arrays, t = self.roster.arrays, self.period - self.problem.warmup
        stations = np.zeros((self.roster.team, self.roster.workers), dtype=np.int8)
        arriving, waiting = np.zeros_like(stations), np.zeros(self.roster.team, dtype=np.int64)
        empty = []
        for station, worker in enumerate(self.roster.stations):
            if worker == NOBODY:
                empty.append(station)
            else:
                stations[station, worker] = 1
        for pending in self.roster.pending:
            station = empty.pop(0) if pending.out == NOBODY else int(arrays.station_of[pending.out])
            arriving[station, pending.into] = 1
            waiting[station] = t - pending.since
        live = self.problem.horizon - self.problem.warmup
        time_left = (live + 1 - t) / live if self.problem.rolling is None else 1.0
        seen = {
            "counts": self.estimates.counts.copy(),
            "means": self.estimates.means().astype(np.float32),
            "stations": stations,
            "arriving": arriving,
            "waiting": waiting,
            "time_left": np.array([time_left], dtype=np.float32),
        }
        if self.problem.changes:
            seen["experience"] = np.minimum(self.course.floor.experience, self._longest)
            seen["present"] = (~self.course.floor.gone).astype(np.int8)
        return seen

    def _need_reset(self, over: bool = False) -> None:
        if self.period == 0 or over:
            raise gymnasium.error.ResetNeeded("no run is under way: call reset() to begin one")


def checked_problem(problem: object) -> Problem:
    """Return the problem to play, by default the paper's benchmark."""
    if problem is None:
        return benchmark()
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a crewlearn.Problem, as crewlearn.read_problem returns")
    return problem


def first_run(options: dict[str, Any] | None, seed: object) -> int:
    """Return the run to begin with: what the options say, else 0."""
    run = (options or {}).get("run")
    if run is None:
        return 0
    if seed is None:
        raise InvalidInput("options run", run, "says which run of a seed to begin; give the seed as well")
    return whole("options run", run, 0, MOST)
