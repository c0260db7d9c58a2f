"""A command that is interrupted as with Ctrl-C."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_toml


def check_an_interrupt_ends(problem: Problem, policy: str, folder: Path) -> None:
    """Check that an interrupt ends a simulation of minutes cleanly within seconds; its loop must be on disk."""
    (folder / "long.toml").write_text(problem_to_toml(problem))
    program = [sys.executable, "-m", "crewlearn", "simulate", "--problem", "long.toml", "--policy", policy]
    with subprocess.Popen(
        [*program, "--runs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        time.sleep(4.0)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        asked = time.perf_counter()
        out, err = process.communicate(timeout=20)
    assert time.perf_counter() - asked < 5  # a second where the machine is free; not a benchmark
    assert process.returncode not in (0, None)
    assert out == ""
    assert "Traceback" not in err
