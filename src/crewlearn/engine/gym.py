"""The simulated world as a Gymnasium environment, for training reinforcement learners.

Needs the extra `crewlearn[gym]`. Importing this module registers `crewlearn/DelayedReplacement-v0`. An id that names
the module, as below, makes `gymnasium.make` import it.

>>> env = gymnasium.make("crewlearn.engine.gym:crewlearn/DelayedReplacement-v0", problem=benchmark(horizon=30))
>>> observation, info = env.reset(seed=1)
>>> legal = tuple(info["action_mask"].astype(np.int8))
>>> observation, profit, terminated, truncated, info = env.step(env.action_space.sample(mask=legal))
>>> len(info["requested"]) + info["dropped"] <= 10
True
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("crewlearn.engine.gym needs Gymnasium: pip install 'crewlearn[gym]'") from error
from gymnasium import spaces

from crewlearn.beliefs.estimates import Estimates
from crewlearn.engine.course import Course, Opening
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Situation
from crewlearn.problem.arrays import NOBODY, BoolArray, IntArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.floor import EXPERIENCED, floor_form, offer_fault
from crewlearn.problem.instances import benchmark
from crewlearn.problem.model import Problem
from crewlearn.problem.roster import Pending, Roster
from crewlearn.problem.transitions import FREE, LEGAL

ID = "crewlearn/DelayedReplacement-v0"

KEEP = 0
"""The choice that requests no replacement; choice j+1 requests worker j."""

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

    `reset(seed=s)` begins run 0 of seed s; further resets begin runs 1, 2, ... These are the worlds of
    `crewlearn.simulate(problem, ..., seed=s)`, so a trained agent can be compared with a policy run by run. A warm-up
    is over when `reset` returns.
    """

    world: World
    course: Course

    def __init__(self, problem: Problem | None = None) -> None:
        if not isinstance(problem, Problem | None):
            raise InvalidInput("problem", problem, "must be a crewlearn.Problem, as crewlearn.read_problem returns")
        self.problem = benchmark() if problem is None else problem
        self.period = 0
        """The period about to be played, which counts the warm-up, from 1; 0 before the first reset."""
        setting, seen, horizon = self.problem.setting, self.problem.seen_before()[0], self.problem.horizon
        workers, team = setting.workers, setting.team
        self.action_space = spaces.MultiDiscrete([workers + 1] * team)
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
        self.observation_space = spaces.Dict(boxes)

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
        """Begin run 0 of `seed`, or the next run of the last seed if it is None; `options` are ignored."""
        new_seed = None if seed is None else whole("seed", seed, 0, 2**64 - 1)
        super().reset(seed=new_seed)
        if new_seed is not None:
            self.world = World(self.problem, new_seed, run=0)
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
        requests, dropped = self._legal(self._checked(action))
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
        return self._observation(), sum(work.output.values()) - fees, over, False, info

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
        empty = [station for station in self._unclaimed() if self.roster.stations[station] == NOBODY]
        for out, into in pairs:
            if out == NOBODY and empty:
                station = empty.pop(0)
            elif out == NOBODY or out not in self.roster.stations:
                raise InvalidInput("pairs", (out, into), "an action must say who leaves: name an active worker")
            else:
                station = self.roster.stations.index(out)
            action[station] = whole("pairs", into, 0, self.roster.workers - 1) + 1
        return action

    def _begin_period(self) -> Opening:
        """Begin the next period, if there is one."""
        self.period += 1
        return self.course.begin() if self.period <= self.problem.horizon else Opening()

    def _legal(self, choices: list[int]) -> tuple[list[Pair], int]:
        """Return the pairs of the legal requests, station by station, and the number of requests dropped."""
        pairs: list[Pair] = []
        asked = [station for station, choice in enumerate(choices) if choice != KEEP]
        unclaimed, taken = self._unclaimed(), set[int]()
        for station in asked:
            out, into = self.roster.stations[station], choices[station] - 1
            legal = offer_fault(self.course.floor, self.roster.arrays, out, into) == LEGAL
            if station in unclaimed and into not in taken and legal and self._may_enter()[into]:
                pairs.append((out, into))
                taken.add(into)
        return pairs, len(asked) - len(pairs)

    def _unclaimed(self) -> list[int]:
        """Return the stations for which somebody may be requested: the holder may leave, or nobody is to fill it."""
        arrays, coming = self.roster.arrays, self._open_hires()
        unclaimed = []
        for station, worker in enumerate(self.roster.stations):
            if worker == NOBODY and coming:
                coming.pop(0)
            elif worker == NOBODY or (arrays.role[worker] == FREE and self.course.may_leave[worker]):
                unclaimed.append(station)
        return unclaimed

    def _open_hires(self) -> list[Pending]:
        """Return the pending hires that fill empty stations, in the order of their requests."""
        return [pending for pending in self.roster.pending if pending.out == NOBODY]

    def _may_enter(self) -> BoolArray:
        arrays = self.roster.arrays
        allowed: BoolArray = (arrays.station_of == NOBODY) & (arrays.role == FREE) & self.course.floor.may_enter
        return allowed

    def _checked(self, action: object) -> list[int]:
        team, workers = self.problem.team, self.problem.setting.workers
        try:
            choices = np.asarray(action)
        except ValueError:  # nested lists of unequal length
            choices = np.empty(0)
        whole_numbers = choices.shape == (team,) and np.issubdtype(choices.dtype, np.integer)
        if not whole_numbers or choices.min() < 0 or choices.max() > workers:
            remedy = f"must be {team} whole numbers, one per station, from 0 (keep) to {workers} (worker {workers - 1})"
            raise InvalidInput("action", action, remedy)
        checked: list[int] = choices.tolist()
        return checked

    def _mask(self) -> BoolArray:
        """Return which requests are legal by themselves; only the two roles matter."""
        mask = np.zeros((self.roster.team, self.roster.workers + 1), dtype=np.bool_)
        mask[self._unclaimed(), 1:] = self._may_enter()
        mask[:, KEEP] = True
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


gymnasium.register(id=ID, entry_point=f"{__name__}:{DelayedReplacement.__name__}")
