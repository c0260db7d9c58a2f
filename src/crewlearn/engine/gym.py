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

from crewlearn.beliefs.estimates import Estimates, record
from crewlearn.engine.world import World
from crewlearn.policies.contract import Pair, Situation
from crewlearn.problem.arrays import NOBODY, BoolArray, IntArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.instances import benchmark
from crewlearn.problem.model import Problem
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import FREE, LEGAL, request_fault

ID = "crewlearn/DelayedReplacement-v0"

KEEP = 0
"""The choice that requests no replacement; choice j+1 requests worker j."""

Observation = dict[str, Any]
"""Arrays by name, as sampled from a `gymnasium.spaces.Dict`."""


class DelayedReplacement(gymnasium.Env[Observation, IntArray]):
    """An episode is a run of a simulation, a step is a period; the default problem is the paper's benchmark.

    **Action**: for each of the m stations, 0 to keep its worker or j+1 to request worker j as the replacement. Requests
    that the roster forbids are dropped and counted. If two stations request the same worker, the first gets them.

    **Observation** at the beginning of the next period, with m stations and k workers:

    - `counts` (k), `means` (k): observations of each worker and their mean output, with prior data; 0 if none.
    - `stations` (m, k): 1 where the worker holds the station.
    - `arriving` (m, k): 1 where a requested worker will take over the station from its holder.
    - `waiting` (m): periods since that request.
    - `time_left` (1): the share of the horizon that remains.

    Every entry is a bounded box: Gymnasium's `FlattenObservation` and `RescaleObservation` make one vector in [0, 1].

    **Reward**: the period's profit, that is output less fees paid. The episode terminates after the horizon. It is
    never truncated, because the problem itself ends there.

    **Info**: `action_mask` (m, k+1), True where a request is legal by itself. After a step also `requested` and
    `completed` pairs (out, in), the number `dropped`, the `fees` and the pseudo-`regret` of the period. Regret is for
    scoring only: it is computed from hidden means, which a learner must not see.

    `reset(seed=s)` begins run 0 of seed s; further resets begin runs 1, 2, ... These are the worlds of
    `crewlearn.simulate(problem, ..., seed=s)`, so a trained agent can be compared with a policy run by run.
    """

    world: World
    roster: Roster
    estimates: Estimates

    def __init__(self, problem: Problem | None = None) -> None:
        if not isinstance(problem, Problem | None):
            raise InvalidInput("problem", problem, "must be a crewlearn.Problem, as crewlearn.read_problem returns")
        self.problem = benchmark() if problem is None else problem
        if self.problem.start is not None:
            raise InvalidInput("start", self.problem.start, "must be left out here: episodes begin with a random team")
        self.period = 0
        """The period about to be played, from 1; 0 before the first reset."""
        setting, prior_n = self.problem.setting, self.problem.prior_data()[0]
        workers, team, horizon = setting.workers, setting.team, setting.horizon
        self.action_space = spaces.MultiDiscrete([workers + 1] * team)
        self.observation_space = spaces.Dict(
            {
                "counts": spaces.Box(np.zeros_like(prior_n), prior_n + horizon, dtype=np.int64),
                "means": spaces.Box(0.0, 1.0, (workers,), dtype=np.float32),
                "stations": spaces.Box(0, 1, (team, workers), dtype=np.int8),
                "arriving": spaces.Box(0, 1, (team, workers), dtype=np.int8),
                "waiting": spaces.Box(0, horizon, (team,), dtype=np.int64),
                "time_left": spaces.Box(0.0, 1.0, (1,), dtype=np.float32),
            }
        )

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
        self.roster = Roster.start(self.problem.setting.workers, self.world.starting_team().tolist())
        self.estimates = Estimates(*self.problem.seen_before())
        self.period = 1
        return self._observation(), {"action_mask": self._mask()}

    def step(self, action: IntArray) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a period in the order of the paper's Section 3: requests, arrivals, output."""
        self._need_reset(self.period > self.problem.horizon)
        period, world, roster, cost = self.period, self.world, self.roster, self.problem.setting.cost
        requested, dropped = self._initiate(self._checked(action))
        completed = tuple(roster.complete(pending.into) for pending in roster.elapsed(period))
        output = {worker: world.output(period, worker) for worker in roster.stations}
        for worker, amount in output.items():
            record(self.estimates, worker, amount)
        fees = cost * len(requested if self.problem.fee_due == "initiation" else completed)
        expected_output = sum(float(world.means[worker]) for worker in output)
        self.period += 1
        info = {
            "action_mask": self._mask(),
            "requested": requested,
            "completed": completed,
            "dropped": dropped,
            "fees": fees,
            "regret": world.best_output() - expected_output + fees,
        }
        over = self.period > self.problem.horizon
        return self._observation(), sum(output.values()) - fees, over, False, info

    def action_masks(self) -> BoolArray:
        """Return the mask of legal choices, flattened station by station, as sb3-contrib's MaskablePPO expects it."""
        self._need_reset()
        return self._mask().ravel()

    def situation(self) -> Situation:
        """Return the situation a policy would see, to query it as an expert or compare with it step by step."""
        self._need_reset()
        return Situation.open_to_all(self.period, self.problem.setting, self.roster, self.estimates)

    def action_of(self, pairs: Iterable[Pair]) -> IntArray:
        """Return the action that requests these pairs (out, in), as returned by a policy's `decide`."""
        self._need_reset()
        action = np.full(self.problem.team, KEEP, dtype=np.int64)
        for out, into in pairs:
            if out == NOBODY or out not in self.roster.stations:
                raise InvalidInput("pairs", (out, into), "an action must say who leaves: name an active worker")
            action[self.roster.stations.index(out)] = whole("pairs", into, 0, self.roster.workers - 1) + 1
        return action

    def _initiate(self, choices: list[int]) -> tuple[tuple[Pair, ...], int]:
        """Initiate the legal requests, station by station; return their pairs and the number of requests dropped."""
        requested, dropped = [], 0
        for out, choice in zip(self.roster.stations, choices, strict=True):
            into = choice - 1
            if choice == KEEP:
                continue
            if request_fault(self.roster.arrays, out, into) != LEGAL:
                dropped += 1
                continue
            self.roster.initiate(out, into, self.period, due=self.period + self.world.delay(self.period, out, into))
            requested.append((out, into))
        return tuple(requested), dropped

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
        """Return which requests are legal by themselves; each names who leaves, so only the two roles matter."""
        arrays = self.roster.arrays
        may_leave = arrays.role[arrays.stations] == FREE
        may_enter = (arrays.station_of == NOBODY) & (arrays.role == FREE)
        mask = np.ones((self.roster.team, self.roster.workers + 1), dtype=np.bool_)
        mask[:, 1:] = may_leave[:, None] & may_enter[None, :]
        return mask

    def _observation(self) -> Observation:
        horizon, arrays = self.problem.horizon, self.roster.arrays
        stations = np.zeros((self.roster.team, self.roster.workers), dtype=np.int8)
        stations[np.arange(self.roster.team), arrays.stations] = 1
        arriving, waiting = np.zeros_like(stations), np.zeros(self.roster.team, dtype=np.int64)
        for pending in self.roster.pending:
            station = arrays.station_of[pending.out]
            arriving[station, pending.into] = 1
            waiting[station] = self.period - pending.since
        return {
            "counts": self.estimates.counts.copy(),
            "means": self.estimates.means().astype(np.float32),
            "stations": stations,
            "arriving": arriving,
            "waiting": waiting,
            "time_left": np.array([(horizon + 1 - self.period) / horizon], dtype=np.float32),
        }

    def _need_reset(self, over: bool = False) -> None:
        if self.period == 0 or over:
            raise gymnasium.error.ResetNeeded("no run is under way: call reset() to begin one")


gymnasium.register(id=ID, entry_point=f"{__name__}:{DelayedReplacement.__name__}")
