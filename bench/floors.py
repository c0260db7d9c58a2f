"""Benchmark of changing floors: what they cost beside quiet worlds, and compiled play against plain Python.

Times are those of the processor, so that other work on the machine disturbs them less. Each pair is taken in turn, in
one process.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from crewlearn.engine.blocks import Block, play_block
from crewlearn.engine.interpreted import play
from crewlearn.engine.world import World
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import TruncatedNormalOutput
from crewlearn.problem.model import Problem
from crewlearn.problem.recipes import Recipe
from crewlearn.study.families import FAMILIES
from limits import Results, run_part
from support.floors import ALONE, QUIET, TOGETHER

RUNS, TIMES = 64, 15

COMPILING = """
import sys, time
from crewlearn import FAMILIES, benchmark, make_policy
from crewlearn.engine.local import compile_first
compile_first(benchmark(5, horizon=1), [make_policy("interview-screen")], 1)  # what the first loop of a process adds
started = time.process_time()
problem = benchmark(5, horizon=1) if sys.argv[1] == "quiet" else FAMILIES["floor"].problem()
compile_first(problem, [make_policy(sys.argv[2])], 1)
print(time.process_time() - started)
"""


def microseconds_a_run(problems: Sequence[Problem], name: str) -> list[float]:
    """Return the processor time of a run in each of the problems, the least of several taken in turn."""
    blocks = [Block(problem, make_policy(name), 1, 0, RUNS, (problem.horizon,)) for problem in problems]
    for block in blocks:
        play_block(block)
    least = [float("inf")] * len(blocks)
    for _ in range(TIMES):
        for place, block in enumerate(blocks):
            started = time.process_time()
            play_block(block)
            least[place] = min(least[place], (time.process_time() - started) / RUNS * 1e6)
    return least


def floors_against_quiet_worlds() -> dict[str, Any]:
    """Compare the floor with a quiet world of the same size, pool, noise and delays."""
    floor = FAMILIES["floor"].problem()
    quiet = Problem(
        team=floor.team,
        horizon=floor.horizon,
        cost=floor.cost,
        workers=floor.workers,
        delay=floor.delay,
        output=TruncatedNormalOutput(0.05, day_effect_sd=0.03),
    )
    compared = {}
    for name, limit in (("keep-team", 3.0), ("dr-ucb", 2.0)):
        still, changing = microseconds_a_run([quiet, floor], name)
        compared[name] = {"ratio": changing / still, "at_most": limit, "microseconds": [still, changing]}
    return compared


def counter_against_numpy() -> dict[str, Any]:
    """Compare pools drawn by counters with pools drawn by NumPy, on the benchmark as written; speed by speed."""
    drawn = benchmark()
    assert isinstance(drawn.workers, Recipe)
    counted = replace(drawn, workers=replace(drawn.workers, generator="counter"))
    numpy, counter = microseconds_a_run([drawn, counted], "dr-ucb")
    return {"ratio": numpy / counter, "at_least": 4.0 / 3.0, "microseconds": [numpy, counter]}


def compiling() -> dict[str, Any]:
    """Measure the processor time to compile one policy's loop, from an empty cache."""
    measured: dict[str, Any] = {}
    for world, name in (("quiet", "dr-ucb"), ("floor", "dr-ucb"), ("quiet", "value-of-replacement")):
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-c", COMPILING, world, name]
            environment = {**os.environ, "CREWLEARN_CACHE": cache}
            done = subprocess.run(
                command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        measured[f"{name}, {world}"] = {"seconds": float(done.stdout), "at_most": 15.0}
    return measured


def compiled_against_interpreted(names: Sequence[str]) -> dict[str, Any]:
    """Count the pairs of policy and table whose compiled run differs from the interpreted one in any bit."""
    problems = {"all": TOGETHER, **{table: replace(QUIET, **change) for table, change in ALONE.items()}}
    differing = [(name, table) for name in names for table, problem in problems.items() if not alike(problem, name)]
    return {"count": len(differing), "at_most": 0, "pairs": len(names) * len(problems), "differing": differing}


def alike(problem: Problem, name: str) -> bool:
    """Return whether two runs agree to the last bit."""
    policy = make_policy(name)
    compiled = play_block(Block(problem, policy, 2, 0, 2, (problem.horizon,)))
    for run in range(2):
        regret = net = 0.0
        for step in play(World(problem, 2, run), policy):
            regret += step.regret
            net += step.net
        if regret != compiled.regret[run, 0] or (problem.changes and net != compiled.net[run, 0]):
            return False
    return True


def measure(quick: bool) -> Results:
    """Run all measurements; a quick run compares three policies with plain Python instead of all."""
    names = ["dr-ucb", "value-of-replacement", "a-omm"] if quick else list(REGISTRY)
    return {
        "floors_against_quiet_worlds": floors_against_quiet_worlds(),
        "counter_against_numpy": counter_against_numpy(),
        "compiling": compiling(),
        "compiled_against_interpreted": compiled_against_interpreted(names),
    }


if __name__ == "__main__":
    run_part("floors", measure, __doc__)
