"""Many runs of several policies in the same worlds, on this machine."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from crewlearn.engine.interpreted import play
from crewlearn.engine.results import PolicyResult, SimulationResult
from crewlearn.engine.world import World
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import make_policy
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.model import Problem


def simulate(
    problem: Problem,
    policies: Sequence[str | Policy[Any]],
    runs: int = 100,
    seed: int = 1,
    at: Sequence[int] | None = None,
    conventions: str = "as-written",
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Play each policy in the same `runs` worlds and read regret after the periods `at` (the horizon, if left out).

    Policies are given by name, with parameters as in `make_policy`, or as objects. `progress` is told of each run done.

    >>> from crewlearn.problem.instances import benchmark
    >>> result = simulate(benchmark(horizon=30), ["keep-team", "oracle"], runs=3)
    >>> result.regret("oracle", at=30).mean < result.regret("keep-team", at=30).mean
    True
    """
    whole("runs", runs, 1)
    whole("seed", seed, 0, 2**64 - 1)
    periods = sorted({whole("at", period, 1) for period in at}) if at else [problem.horizon]
    if periods[-1] > problem.horizon:
        raise InvalidInput("at", periods[-1], f"lies beyond the horizon; choose periods from 1 to {problem.horizon}")
    if not policies:
        raise InvalidInput("policies", [], "name at least one policy")
    chosen: dict[str, Policy[Any]] = {}
    for given in policies:
        label, policy = (given, make_policy(given, conventions)) if isinstance(given, str) else (given.name, given)
        if label in chosen:
            raise InvalidInput("policies", label, "is named twice; give the second one other parameters")
        chosen[label] = policy
    worlds = [World(problem, seed, run) for run in range(runs)]
    return SimulationResult(
        problem,
        runs,
        seed,
        tuple(periods),
        {label: _play_all(worlds, policy, periods, progress) for label, policy in chosen.items()},
    )


def _play_all(
    worlds: Sequence[World], policy: Policy[Any], at: Sequence[int], progress: Callable[[int], None] | None
) -> PolicyResult:
    started = time.perf_counter()
    regret = np.zeros((len(worlds), len(at)))
    replacements = np.zeros(len(worlds), dtype=np.int64)
    for run, world in enumerate(worlds):
        total = 0.0
        column = 0
        for step in play(world, policy):
            total += step.regret
            replacements[run] += len(step.requested)
            if column < len(at) and step.period == at[column]:
                regret[run, column] = total
                column += 1
        if progress is not None:
            progress(1)
    best = np.array([world.best_output() for world in worlds])
    ideal = best[:, None] * np.array(at)[None, :]
    loss = np.divide(100.0 * regret, ideal, out=np.zeros_like(regret), where=ideal > 0.0)
    return PolicyResult(regret, loss, replacements, time.perf_counter() - started)
