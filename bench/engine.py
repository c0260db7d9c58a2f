"""Benchmark of the engine's speed, as ratios to a floor measured in the same process.

The floor is a compiled loop that only draws and adds the m x T outputs of a run, with the same generator and laws. The
kernel keeps the team's numbers in contiguous arrays, which the compiler can vectorise, so it can be faster than that
floor. `side_by_side_microseconds` is the floor written with such arrays, for a stricter comparison.
"""

import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np

from crewlearn.beliefs.estimates import Estimates
from crewlearn.engine.blocks import Block, empty_tally, play_compiled, worlds_of
from crewlearn.engine.compiled.loops import compiled_rule, make_compilable
from crewlearn.engine.local import compile_first, simulate
from crewlearn.engine.world import World
from crewlearn.policies.contract import Situation
from crewlearn.policies.dr_ucb.candidates import Candidates
from crewlearn.policies.dr_ucb.frontier import FRONTIER_CAP
from crewlearn.policies.dr_ucb.selection import CONSTRAINED, DIAGNOSTICS, EXACT, LOSS_BOUND, select
from crewlearn.policies.registry import make_policy
from crewlearn.policies.value.policy import ValueOfReplacement
from crewlearn.problem.chance import mix
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import draw_output, room_of
from crewlearn.problem.model import Problem, Setting
from crewlearn.problem.recipes import Recipe
from crewlearn.problem.roster import Roster
from limits import Results, best_of, run_part

make_compilable([mix, draw_output, room_of])


@numba.njit
def floor_loop(runs: int, teams: Any, horizon: int, means: Any, law: int, spread: float) -> float:
    """Draw and add the outputs of `runs` runs, each with a random team, and do nothing else."""
    rooms = np.empty(len(means))
    for worker in range(len(means)):
        rooms[worker] = room_of(means[worker])
    total = 0.0
    for run in range(runs):
        run_key, team = mix(7, run), teams[run % len(teams)]
        for period in range(1, horizon + 1):
            key = mix(run_key, period)
            for worker in team:
                total += draw_output(law, spread, means[worker], rooms[worker], mix(key, worker))
    return total


@numba.njit
def side_by_side_loop(runs: int, teams: Any, horizon: int, means: Any, law: int, spread: float) -> float:
    """Do the same as `floor_loop`, with the stations' means, rooms and sums in contiguous arrays."""
    centre, room, sums = np.empty(teams.shape[1]), np.empty(teams.shape[1]), np.zeros(teams.shape[1])
    for run in range(runs):
        run_key, team = mix(7, run), teams[run % len(teams)]
        for station in range(len(team)):
            centre[station] = means[team[station]]
            room[station] = room_of(means[team[station]])
        for period in range(1, horizon + 1):
            key = mix(run_key, period)
            for station in range(len(team)):
                sums[station] += draw_output(law, spread, centre[station], room[station], mix(key, team[station]))
    return float(sums.sum())


def best_warm(times: int, work: Callable[[], object]) -> float:
    """Return the shortest of several timings in seconds, after a warm-up call."""
    work()
    return best_of(times, work)


def seconds_per_run(problem: Problem, spec: str, runs: int) -> float:
    """Return the seconds per run of the compiled loop on one thread."""
    policy = make_policy(spec, "as-released")
    block = Block(problem, policy, 1, 0, runs, (problem.horizon,))
    worlds = worlds_of(block)
    return best_warm(7, lambda: play_compiled(block, *worlds, empty_tally(block))) / runs


def floor_per_run(problem: Problem, runs: int, loop: Callable[..., float] = floor_loop) -> float:
    """Return the floor's seconds per run."""
    output, means = problem.output.form(), problem.means()
    teams = np.array([World(problem, 1, run).starting_team() for run in range(runs)])
    return best_warm(7, lambda: loop(runs, teams, problem.horizon, means, output.code, output.spread)) / runs


def policies_against_the_floor() -> dict[str, Any]:
    """Time the paper's policies, and value-of-replacement, on the paper's benchmark."""
    problem = benchmark(conventions="as-released")
    floor = floor_per_run(problem, 256)
    strict = floor_per_run(problem, 256, side_by_side_loop)
    rows: dict[str, Any] = {"floor_microseconds": floor * 1e6, "side_by_side_microseconds": strict * 1e6}
    limits = {"dr-ucb": 4, "a-aht": 10, "a-omm": 20, "interview-screen": 4, "work-trial": 4, "value-of-replacement": 15}
    for spec, limit in limits.items():
        seconds = seconds_per_run(problem, spec, 256)
        ratios = {"ratio": seconds / floor, "at_most": limit, "to_side_by_side": seconds / strict}
        rows[spec] = {"microseconds": seconds * 1e6, **ratios}
    return rows


def two_threads() -> dict[str, Any]:
    """Compare the throughput of two threads with that of one."""
    problem = benchmark(conventions="as-released")
    on_one, on_two = (
        best_warm(3, partial(simulate, problem, ["dr-ucb"], 20_000, conventions="as-released", threads=n))
        for n in (1, 2)
    )
    return {"ratio": on_one / on_two, "at_least": 1.7}


def growth() -> dict[str, Any]:
    """Compare the time per output in problems up to 16 times larger with that in the smallest."""
    costs = []
    for scale, team, horizon in ((1, 10, 730), (2, 20, 1460), (4, 40, 2920)):
        pool = Recipe("clipped-normal", 25 * scale, seed=12345)
        problem = Problem(team, horizon, 5.0, pool, benchmark(conventions="as-released").delay)
        costs.append(seconds_per_run(problem, "dr-ucb", 32) / (team * horizon))
    return {"nanoseconds_an_output": [cost * 1e9 for cost in costs], "ratio": max(costs[1:]) / costs[0], "at_most": 1.1}


def large_selection() -> dict[str, Any]:
    """Time a selection with k = 2,000 and m = 1,000, very uneven counts and a binding constraint."""
    rng = np.random.default_rng(1)
    counts = np.exp(rng.uniform(3, 9, 2000)).astype(int)
    means, radius = rng.uniform(0.45, 0.55, 2000), np.sqrt(np.log(730) / counts)
    ucb, lcb = means + radius, means - radius
    out, into = np.arange(1000), np.arange(1000, 2000)
    candidates = Candidates(out, ucb[out], lcb[out], into, ucb[into], lcb[into])
    leaving, entering, diagnostics = np.empty(1000, np.int64), np.empty(1000, np.int64), np.zeros(DIAGNOSTICS)
    worst, kinds = 0.0, []
    for threshold in (0.01, 0.2, 0.3, 0.4, 0.5):
        arguments = (CONSTRAINED, candidates, threshold, FRONTIER_CAP, False, leaving, entering, diagnostics)
        worst = max(worst, best_warm(3, partial(compiled_rule(select), *arguments)))
        kinds.append({"threshold": threshold, "exact": bool(diagnostics[EXACT]), "loss_bound": diagnostics[LOSS_BOUND]})
    return {"milliseconds": worst * 1e3, "at_most": 100, "cases": kinds}


def live_decision() -> dict[str, Any]:
    """Time a decision of value-of-replacement in plain Python with k = 1,000, all observed and all different."""
    rng = np.random.default_rng(1)
    counts = rng.integers(2, 40, 1000)
    sums = counts * rng.uniform(0.2, 0.8, 1000)
    estimates = Estimates(counts, sums, sums * sums / counts + 0.01 * counts)
    policy, worst = ValueOfReplacement(), 0.0
    for team, cost in ((10, 5.0), (100, 5.0), (500, 0.0), (900, 5.0)):
        setting = Setting(1000, team, 730, cost, 3.0)
        situation = Situation.open_to_all(60, setting, Roster.start(1000, list(range(team))), estimates)
        state = policy.start(situation, 1)
        worst = max(worst, best_warm(5, partial(policy.decide, state, situation)))
    return {"milliseconds": worst * 1e3, "at_most": 50}


def from_a_shell() -> dict[str, Any]:
    """Time the headline, the benchmark and the help text as commands, with compiled code cached on disk."""
    policies = ["dr-ucb", "a-aht", "a-omm", "interview-screen", "work-trial"]
    command = [sys.executable, "-m", "crewlearn", "simulate", "--runs", "250", "--conventions", "as-released"]
    for policy in policies:
        command += ["--policy", policy]

    def run(arguments: list[str]) -> None:
        subprocess.run(arguments, check=True, capture_output=True)

    return {
        "headline_seconds": {"seconds": best_warm(3, lambda: headline(run)), "at_most": 3.0},
        "benchmark_seconds": {"seconds": best_warm(3, lambda: run(command)), "at_most": 2.0},
        "help_seconds": {
            "seconds": best_warm(5, lambda: run([sys.executable, "-m", "crewlearn", "--help"])),
            "at_most": 0.4,
        },
    }


def headline(run: Callable[[list[str]], None]) -> None:
    """Reproduce the headline with its report, with only compiled code cached."""
    with tempfile.TemporaryDirectory() as folder:
        run([sys.executable, "-m", "crewlearn", "reproduce", "--fresh", "--out", folder])


def the_whole_paper() -> dict[str, Any]:
    """Time every study and the report, with only compiled code cached."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "crewlearn", "reproduce", "--all", "--fresh", "--out", folder]
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return {"seconds": time.perf_counter() - started, "at_most": 300.0}


def a_million_runs() -> dict[str, Any]:
    """Measure the peak memory of a million runs with curves and four checkpoints."""
    started = time.perf_counter()
    simulate(benchmark(conventions="as-released"), ["dr-ucb"], 1_000_000, at=[91, 182, 365, 730])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {"gibibytes": peak, "at_most": 1.0, "seconds": time.perf_counter() - started}


def measure(quick: bool) -> Results:
    """Run all measurements; if `quick`, skip the whole paper and the million runs."""
    compile_first(benchmark(), [make_policy("dr-ucb")], 1)
    results: Results = {"python": platform.python_version(), "numba": numba.__version__}
    steps = [policies_against_the_floor, two_threads, growth, large_selection, live_decision, from_a_shell]
    for step in steps + ([] if quick else [the_whole_paper, a_million_runs]):
        results[step.__name__] = step()
        print(json.dumps({step.__name__: results[step.__name__]}), flush=True)
    return results


if __name__ == "__main__":
    run_part("engine", measure, __doc__)
