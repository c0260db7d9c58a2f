"""Many environments at once over the compiled rules of the problem: the batch that learners train on."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import error, spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from crewlearn.engine.compiled.floor_kernel import FloorProblem
from crewlearn.engine.compiled.forms import own_laws, problem_form
from crewlearn.engine.compiled.law_checks import law_fault
from crewlearn.engine.compiled.loops import compiled_function, compiled_in_memory, frozen_laws
from crewlearn.engine.gym.environment import Observation, checked_problem, first_run
from crewlearn.engine.gym.scaled import scaled_boxes
from crewlearn.engine.gym.worlds import Outcomes, empty_outcomes, empty_worlds, play_worlds
from crewlearn.engine.streams import seed_root
from crewlearn.engine.world import best_output
from crewlearn.policies.learned.view import View, checked_choices, empty_view
from crewlearn.problem.arrays import BoolArray, FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.floor import floor_form
from crewlearn.problem.model import Problem

MOST_ENVIRONMENTS = 10**6

Step = tuple[Observation, Any, Any, Any, dict[str, Any]]


class ReplacementVectorEnv(VectorEnv[Observation, IntArray, FloatArray]):
    """Many `ReplacementEnv` of one problem, played by compiled code: the same numbers, a hundred times as fast.

    Observations, rewards and masks have one more axis in front, of `num_envs`. `reset(seed=s)` gives environment i the
    seed s + i, as Gymnasium's own vector environments do; a list has a seed for each. With `options={"run": r}` and one
    seed, environment i begins run r + i of that seed, and then run r + i + num_envs: those are the worlds of
    `simulate(problem, ..., seed=s)`.

    `infos` has `action_mask`, and of a step `fees`, `regret`, `dropped` and the numbers of `requests` and
    `completions`; where people or days change, `net` and `declines` too. `autoreset_mode` is Gymnasium's: by default,
    environments that are over are reset in the next step, whose action they ignore.

    >>> from crewlearn import benchmark
    >>> envs = ReplacementVectorEnv(num_envs=3, problem=benchmark(team=2, horizon=30))
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, terminations, truncations, infos = envs.step(np.zeros((3, 2), dtype=np.int64))
    >>> observations["stations"].shape, rewards.shape, infos["fees"].tolist()
    ((3, 2, 25), (3,), [0.0, 0.0, 0.0])
    """

    def __init__(
        self,
        num_envs: int = 1,
        problem: Problem | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs = whole("num_envs", num_envs, 1, MOST_ENVIRONMENTS)
        self.problem = checked_problem(problem)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        workers, team = self.problem.setting.workers, self.problem.team
        self.single_action_space = spaces.MultiDiscrete([workers + 1] * team)
        self.single_observation_space = spaces.Dict(scaled_boxes(workers, team))
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._form, self._play_worlds = _compiled(self.problem)
        self._worlds = empty_worlds(self.num_envs, workers, team, self.problem.horizon)
        self._seeds: list[int] = []
        self._next_run = np.zeros(self.num_envs, dtype=np.int64)
        self._stride = np.ones(self.num_envs, dtype=np.int64)
        self._over = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run in every environment, or where `options["reset_mask"]` says so.

        Without a seed, an environment begins the next run of its last seed.
        """
        chosen, run = self._chosen(options), first_run(options, seed)
        given = self._given(seed, "run" in (options or {}))
        super().reset(seed=None if isinstance(seed, Sequence) else seed)
        self._seed(chosen, given, run, "run" in (options or {}) and not isinstance(seed, Sequence))
        views = self._play(fresh=chosen)
        return views._asdict(), self._infos(views, None, chosen)

    def step(self, actions: IntArray) -> Step:
        """Play a period in every environment; `actions` has a row of choices for each."""
        workers, team = self.problem.setting.workers, self.problem.team
        if not self._seeds or (self.autoreset_mode is AutoresetMode.DISABLED and self._over.any()):
            raise error.ResetNeeded("no run is under way in some environment: call reset() to begin one")
        choices = checked_choices(actions, (self.num_envs, team), workers)
        outcomes, before = empty_outcomes(self.num_envs), self._over
        views = self._play(fresh=before, going=~before, choices=choices, outcomes=outcomes)
        over = self._over.copy()
        infos = self._infos(views, outcomes, ~before)
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            final = _final(views, self._infos(views, outcomes, over), over)
            views = self._play(fresh=over)
            infos = {**self._infos(views, outcomes, ~over), **final}
        return views._asdict(), outcomes.reward, over, np.zeros_like(over), infos

    def _chosen(self, options: dict[str, Any] | None) -> BoolArray:
        """Return which environments a reset is for."""
        given = (options or {}).get("reset_mask")
        if given is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        chosen = np.asarray(given)
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_ or not chosen.any():
            remedy = f"must be an array of {self.num_envs} booleans, at least one of them true"
            raise InvalidInput("options reset_mask", given, remedy)
        if not self._seeds and not chosen.all():
            raise error.ResetNeeded("no run is under way in some environment: reset all of them first")
        return chosen.copy()

    def _given(self, seed: int | Sequence[int | None] | None, shared: bool) -> list[int | None]:
        """Return the seed that is given for each environment, None for those without."""
        n = self.num_envs
        if isinstance(seed, Sequence):
            if len(seed) != n:
                raise InvalidInput("seed", seed, f"must be one seed, or a list of {n}, one for each environment")
            return [None if each is None else whole("seed", each, 0, 2**64 - 1) for each in seed]
        if seed is None:
            return [None] * n
        first = whole("seed", seed, 0, 2**64 - (1 if shared else n))
        return [first + (0 if shared else index) for index in range(n)]

    def _seed(self, chosen: BoolArray, given: Sequence[int | None], run: int, shared: bool) -> None:
        """Note the seed and the next run of every chosen environment that a seed is given for."""
        n, drawn = self.num_envs, not self._seeds
        if drawn:
            self._seeds = [0] * n
        for index, each in enumerate(given):
            if each is None and drawn:
                self._seeds[index] = int(self.np_random.integers(2**63))
            elif each is not None and chosen[index]:
                self._seeds[index] = each
                self._next_run[index] = run + index if shared else run
                self._stride[index] = n if shared else 1

    def _play(
        self,
        fresh: BoolArray,
        going: BoolArray | None = None,
        choices: IntArray | None = None,
        outcomes: Outcomes | None = None,
    ) -> View:
        """Begin the fresh runs, play a period of those that are going, and return what an agent sees of all."""
        n, problem, worlds = self.num_envs, self.problem, self._worlds
        for index in np.flatnonzero(fresh).tolist():
            seed, run = self._seeds[index], int(self._next_run[index])
            if problem.drawn_per_run or not worlds.best[index]:
                worlds.means[index] = means = problem.means(seed, run)
                worlds.best[index] = best_output(means, problem.team)
            worlds.root[index], worlds.run[index] = seed_root(seed), run
        self._next_run[fresh] += self._stride[fresh]
        views = empty_view(problem.team, problem.setting.workers, (n,))
        going = np.zeros(n, dtype=np.bool_) if going is None else going
        choices = np.zeros((n, problem.team), dtype=np.int64) if choices is None else choices
        told = empty_outcomes(n) if outcomes is None else outcomes
        self._play_worlds(self._form, worlds, fresh, going, choices, told, views)
        self._over = worlds.period > problem.horizon
        return views

    def _infos(self, views: View, outcomes: Outcomes | None, stepped: BoolArray) -> dict[str, Any]:
        """Return the infos; an array `_x` says which environments have `x`."""
        everywhere = stepped if outcomes is None else np.ones_like(stepped)
        infos: dict[str, Any] = {"action_mask": views.action_mask.astype(np.bool_), "_action_mask": everywhere}
        if outcomes is None:
            return infos
        for name, values in outcomes._asdict().items():
            if name != "reward" and (self.problem.changes or name not in ("net", "declines")):
                infos |= {name: np.where(stepped, values, 0), f"_{name}": stepped}
        return infos


def _compiled(problem: Problem) -> tuple[FloorProblem, Callable[..., None]]:
    """Return the problem as the compiled function takes it, and the function."""
    live = problem.horizon - problem.warmup
    told = np.array([problem.setting_in(t).horizon for t in range(1, live + 2)], dtype=np.int64)
    form = FloorProblem(problem_form(problem), floor_form(problem), told)
    if not own_laws(problem):
        return form, compiled_function(play_worlds)
    fault = law_fault(problem)
    if fault is not None:
        remedy = f"{fault}. Environments are compiled; use gymnasium.make_vec(..., vectorization_mode='sync')"
        raise InvalidInput("problem", "own law", remedy)
    return frozen_laws(form), compiled_in_memory(play_worlds)


def _final(views: View, info: dict[str, Any], over: BoolArray) -> dict[str, Any]:
    """Return what Gymnasium tells of environments that ended and began anew within a step."""
    observations = np.full(len(over), None, dtype=object)
    for index in np.flatnonzero(over).tolist():
        observations[index] = {name: array[index].copy() for name, array in views._asdict().items()}
    info["action_mask"] = np.where(over[:, None, None], info["action_mask"], False)
    info["_action_mask"] = over
    return {"final_obs": observations, "_final_obs": over, "final_info": info, "_final_info": over}
