"""Benchmark of a process pool: how much faster two processes play a policy in plain Python than one.

Both are timed in turn, each as a whole with the start of its processes, and the least disturbed of each counts. On a
machine with other work two processes get less than twice the time of one, whatever they do: `given_to_two` is what two
loops that only count got, as a multiple of one. The numbers must be those of the local engine.
"""

import subprocess
import sys
from functools import partial
from typing import Any

from crewlearn.engine.local import simulate
from crewlearn.engine.results import same_numbers
from crewlearn.problem.instances import benchmark
from limits import Results, run_part, timed
from support.own_code import Plain

RUNS, TIMES = 200, 3
BARE = "import time; end = time.perf_counter() + 1.0\nwhile time.perf_counter() < end: pass\nprint(time.process_time())"


def pool_of_two() -> dict[str, Any]:
    """Compare two processes with one, and with the local engine, which plays plain Python on one thread."""
    problem, policies = benchmark(), [Plain()]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(TIMES):
        for processes, taken in seconds.items():
            taken.append(timed(partial(simulate, problem, policies, RUNS, engine="processes", threads=processes)))
    best = {processes: min(taken) for processes, taken in seconds.items()}
    return {
        "ratio": best[1] / best[2],
        "at_least": 1.8,
        "seconds_on_one": best[1],
        "seconds_on_two": best[2],
        "given_to_two": processor_seconds(2) / processor_seconds(1),
    }


def processor_seconds(processes: int) -> float:
    """Return the processor time that so many processes get together in a second."""
    command = [sys.executable, "-c", BARE]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    return sum(float(process.communicate()[0]) for process in started)


def same_bits() -> dict[str, Any]:
    """Count simulations whose numbers on processes differ from the local ones."""
    problem, policies = benchmark(horizon=100), [Plain()]
    here = simulate(problem, policies, 70)
    others = [simulate(problem, policies, 70, engine="processes", threads=processes) for processes in (1, 2, 3)]
    return {"count": sum(not same_numbers(here, other) for other in others), "at_most": 0}


def measure(quick: bool) -> Results:
    """Run all measurements."""
    return {step.__name__: step() for step in (pool_of_two, same_bits)}


if __name__ == "__main__":
    run_part("processes", measure, __doc__)
