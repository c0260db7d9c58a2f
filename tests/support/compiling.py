"""The loops that the whole suite needs, compiled before its workers start."""

import os
import subprocess
import sys
from pathlib import Path

from crewlearn.policies.registry import REGISTRY

PROGRAM = """
import sys
from crewlearn import benchmark, make_policy
from crewlearn.engine.local import compile_first
from support.floors import TOGETHER

worlds = {"quiet": benchmark(5, horizon=1), "floor": TOGETHER}
for job in sys.argv[1:]:
    world, name = job.split(":")
    compile_first(worlds[world], [make_policy(name)], 1)
"""

LONG = ("dr-ucb", "value-of-replacement", "oracle")
"""The policies of one process. Their loops take as long as all the others, which are those of a second one."""


def compile_loops() -> None:
    """Compile every loop once, on two cores; with a warm cache it takes a few seconds.

    Otherwise the workers of the suite, and the processes that tests start, would each compile the same loops at the
    same time. Policies of DR-UCB's family share its loop. A loop that does not compile fails the tests that need it.
    """
    others = [name for name in REGISTRY if name not in LONG and not name.startswith("dr-ucb")]
    commands = [
        [sys.executable, "-c", PROGRAM, *(f"{world}:{name}" for name in names for world in ("floor", "quiet"))]
        for names in (LONG, others)
    ]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    for process in [subprocess.Popen(command, env=environment) for command in commands]:
        process.wait()


if __name__ == "__main__":
    compile_loops()
