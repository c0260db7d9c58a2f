"""The runner of `make bench`: every part runs, and all missed limits are listed at the end."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


def test_limits_are_found_however_deep_they_lie() -> None:
    results = {
        "kept": {"seconds": 1.0, "at_most": 1.0, "note": "seconds of three"},
        "slow": {"of many": {"seconds": 2.0, "at_most": 1.0}},
        "memory first": {"gibibytes": 0.5, "at_most": 1.0, "seconds": 60.0},
        "too few": {"ratio": 1.5, "at_least": 1.7},
        "unknown": {"seconds": float("nan"), "at_most": 1.0},
        "no limit": {"seconds": 99.0},
    }
    missed = runpy.run_path(str(BENCH / "limits.py"))["missed"]
    assert list(missed(results)) == [
        "slow/of many: 2, at most 1",
        "too few: 1.5, at least 1.7",
        "unknown: nan, at most 1",
    ]


PART = """
import argparse, json, sys
from pathlib import Path
parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true")
parser.add_argument("--out", type=Path)
options = parser.parse_args()
assert options.quick
{body}
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A benchmark of three parts: one misses a limit, one fails, one keeps its limits."""
    bodies = {
        "slow": "options.out.write_text(json.dumps({'missed': ['x: 2, at most 1', 'y: 3, at most 1']})); sys.exit(1)",
        "broken": "raise SystemExit(3)",
        "good": "options.out.write_text(json.dumps({'missed': []}))",
    }
    for part, body in bodies.items():
        (tmp_path / f"{part}.py").write_text(PART.format(body=body))
    program = (BENCH / "run.py").read_text()
    start = program.index("PARTS = ")
    (tmp_path / "run.py").write_text(
        program[:start] + f"PARTS = {tuple(bodies)!r}\n" + program[program.index("\nFOLDER", start) :]
    )
    return tmp_path


def run(bench: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(bench / "run.py"), *arguments]
    return subprocess.run(command, cwd=bench, capture_output=True, text=True, check=False)


def test_every_part_runs_and_all_misses_are_listed_at_the_end(bench: Path) -> None:
    done = run(bench, "--quick")
    assert done.returncode == 1
    assert done.stdout.split("== all parts: ")[1].splitlines() == [
        "3 missed",
        "  slow: x: 2, at most 1",
        "  slow: y: 3, at most 1",
        "  broken: exited with status 3 without results",
    ]
    assert json.loads((bench / "bench-good.json").read_text()) == {"missed": []}


def test_parts_can_be_named(bench: Path) -> None:
    assert run(bench, "good", "--quick").returncode == 0
    refused = run(bench, "god")
    assert refused.returncode == 2
    assert "unknown part god; choose from slow, broken, good" in refused.stderr
