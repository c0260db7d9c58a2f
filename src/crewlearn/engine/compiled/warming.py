"""Several loops compiled at the same time, each group of them in a process of its own.

Compiling holds the interpreter's lock, so threads would not help. The processes write to the disk cache, from which the
caller then loads the loops. They import nothing but the package: a script without a guard around its main program is
not run again.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from crewlearn.policies.contract import Policy
from crewlearn.problem.model import Problem

PROGRAM = """
import pickle, sys
from crewlearn.engine.local import compile_one
for problem, policy in pickle.load(sys.stdin.buffer):
    compile_one(problem, policy)
"""

Job = tuple[Problem, Policy[Any]]


def compile_at_once(jobs: Sequence[Job], processes: int | None = None) -> None:
    """Compile the loops that play these policies, on as many processes as there are cores.

    The classes of the policies and laws must be the package's own, so that any process can import them. A process that
    fails leaves its loops to the caller, who compiles what is missing.
    """
    count = min(len(jobs), (os.cpu_count() or 1) if processes is None else processes)
    if count < 2:
        return
    tasks = [pickle.dumps(list(jobs[first::count])) for first in range(count)]
    begun: list[subprocess.Popen[bytes]] = []
    try:
        for task in tasks:
            begun.append(subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE))
            pipe = begun[-1].stdin
            assert pipe is not None
            with suppress(OSError), pipe:  # a process that has ended already leaves its loops to the caller
                pipe.write(task)
        for process in begun:
            process.wait()
    finally:  # also when interrupted
        for process in begun:
            process.kill()
            process.wait()
