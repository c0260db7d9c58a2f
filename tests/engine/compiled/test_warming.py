"""Loops that are compiled at the same time, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

from crewlearn.engine.compiled.warming import compile_at_once
from crewlearn.engine.local import simulate
from crewlearn.policies.registry import make_policy
from crewlearn.problem.instances import benchmark

SCRIPT = """
from crewlearn import KeepTeam, benchmark, simulate
class Mine(KeepTeam):
    pass
result = simulate(benchmark(5, horizon=20), ["keep-team", "interview-screen"], 3)
simulate(benchmark(5, horizon=20), [Mine()], 1)
print(repr([result.regret(name, 20).mean for name in result.policies]))
"""


def test_a_script_without_a_guard_has_its_loops_compiled_in_other_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "CREWLEARN_CACHE": str(tmp_path / "cache")}
    first, second = (
        subprocess.run([sys.executable, str(script)], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    )
    for name in ("keep-team", "interview-screen"):
        assert first.stderr.count(f"compiling the loop of {name} ") == 1
    assert second.stderr == ""
    result = simulate(benchmark(5, horizon=20), ["keep-team", "interview-screen"], 3)
    expected = repr([result.regret(name, 20).mean for name in result.policies])
    assert first.stdout.strip() == second.stdout.strip() == expected


def test_a_process_that_fails_leaves_its_loops_to_the_caller() -> None:
    broken = (None, make_policy("keep-team"))
    compile_at_once([broken, broken], 2)  # type: ignore[list-item]  # a job that fails is the point
