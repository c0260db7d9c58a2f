"""Benchmark of what researchers add: environments to train in, a trained agent, and rules of their own.

All limits are ratios within one run, but for the time to train.
"""

import importlib
import json
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crewlearn.engine.blocks import Block, empty_tally, play_compiled, worlds_of
from crewlearn.engine.gym import ReplacementEnv, ReplacementVectorEnv
from crewlearn.engine.gym.training import train_agent
from crewlearn.engine.local import simulate
from crewlearn.policies.learned.policy import AgentPolicy
from crewlearn.policies.teams import simple
from crewlearn.problem.instances import benchmark
from crewlearn.problem.recipes import Recipe
from limits import Results, best_of, run_part

ENVIRONMENTS = 256


def vector_against_single() -> dict[str, Any]:
    """Time the steps of 256 environments at once and of one, both with the same legal choices drawn at random."""
    problem = benchmark(horizon=400)
    single, many = ReplacementEnv(problem), ReplacementVectorEnv(ENVIRONMENTS, problem)
    rng = np.random.default_rng(1)
    actions = rng.integers(0, problem.setting.workers + 1, (64, ENVIRONMENTS, problem.team))
    actions *= rng.random(actions.shape) < 0.05
    single.reset(seed=1)
    many.reset(seed=1)
    alone = best_of(5, lambda: [single.step(row[0]) for row in actions]) / len(actions)
    together = best_of(5, lambda: [many.step(rows) for rows in actions]) / len(actions) / ENVIRONMENTS
    return {
        "environments": ENVIRONMENTS,
        "single_steps_a_second": 1.0 / alone,
        "vector_steps_a_second": 1.0 / together,
        "ratio": alone / together,
        "at_least": 20.0,
    }


def trained_agent() -> dict[str, Any]:
    """Train the agent of the how-to page, and compare it with policies on runs that it was not trained on."""
    problem = benchmark(team=3, horizon=120, cost=1.0)
    started = time.perf_counter()
    agent = AgentPolicy(train_agent(problem).agent)
    seconds = time.perf_counter() - started
    assert isinstance(problem.workers, Recipe)
    lower = replace(problem, workers=replace(problem.workers, mean=0.25, sd=0.1))
    regret: dict[str, Any] = {}
    for pool, played, runs in (("trained for", problem, 300), ("lower levels", lower, 150)):
        result = simulate(played, [agent, "value-of-replacement", "dr-ucb", "keep-team"], runs=runs, seed=1)
        final = {name: ours.regret[:, -1] for name, ours in result.policies.items()}
        regret[pool] = {name: [float(each.mean()), float(each.std() / runs**0.5)] for name, each in final.items()}
    return {"seconds": seconds, "at_most": 90.0, "regret": regret, "agent": repr(agent.agent)}


def own_rules() -> dict[str, Any]:
    """Play copies of built-in policies that are a user's own code, and the policies themselves."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "own_copies.py").write_text(Path(simple.__file__).read_text())
        sys.path.insert(0, folder)
        own = importlib.import_module("own_copies")
        for name in ("Threshold", "EpsilonGreedy", "FixedScheduleGreedy"):
            ours, theirs = (_seconds(getattr(module, name)()) for module in (simple, own))
            rows[name] = {"ratio": theirs / ours, "at_most": 3.0}
    return rows


def _seconds(policy: Any) -> float:
    problem = benchmark(conventions="as-released")
    block = Block(problem, policy, 1, 0, 256, (problem.horizon,))
    worlds = worlds_of(block)
    play = partial(play_compiled, block, *worlds)
    play(empty_tally(block))
    return best_of(7, lambda: play(empty_tally(block)))


def measure(quick: bool) -> Results:
    """Run all measurements; if `quick`, skip the training."""
    results: Results = {}
    for step in [vector_against_single, own_rules, *([] if quick else [trained_agent])]:
        results[step.__name__] = step()
        print(json.dumps({step.__name__: results[step.__name__]}), flush=True)
    return results


if __name__ == "__main__":
    run_part("learners", measure, __doc__)
