"""The loops that the whole suite needs, compiled before its workers start."""

import subprocess
import sys

from crewlearn.policies.registry import REGISTRY

PROGRAM = """
import sys
from crewlearn import FAMILIES, benchmark, simulate
for problem in (benchmark(5, horizon=1), FAMILIES["floor"].problem()):
    simulate(problem, sys.argv[1:], 1)
"""


def compile_loops() -> None:
    """Compile every loop once, for quiet worlds and for floors, on two cores; with a warm cache it takes a second.

    Otherwise the workers of the suite, and the processes that tests start, would each compile the same loops at the
    same time. DR-UCB's takes as long as all the others. A loop that does not compile fails the tests that need it.
    """
    others = [name for name in REGISTRY if not name.startswith("dr-ucb")]
    for process in [subprocess.Popen([sys.executable, "-c", PROGRAM, *names]) for names in (["dr-ucb"], others)]:
        process.wait()


if __name__ == "__main__":
    compile_loops()
