"""The runner of `make calibrate`: cases are measured once, results outlive an interruption, and misses are listed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"

PART = """
from pathlib import Path
from calibration.parts import Limit, Line, Part

def cases(quick):
    return [{"seed": seed} for seed in range(3 if quick else 5)]

def measure(case):
    with Path("measured.txt").open("a") as file:
        file.write(f"{case['seed']}\\n")
    return {"square": case["seed"] ** 2}

def table(rows):
    return [Line("squares", {"rows": len(rows), "mean": sum(row["square"] for row in rows) / len(rows)},
                 {"mean": Limit(0.0, 2.0)})]

PART = Part(cases, measure, table)
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A calibration with one part, whose mean is within its limit if it is quick and outside otherwise."""
    (tmp_path / "calibration").mkdir()
    for name in ("__init__.py", "parts.py"):
        (tmp_path / "calibration" / name).write_text((BENCH / "calibration" / name).read_text())
    (tmp_path / "calibration" / "squares.py").write_text(PART)
    program = (BENCH / "calibrate.py").read_text()
    start = program.index("PARTS: ")
    changed = program[:start] + 'PARTS = ("squares",)' + program[program.index("\n", start) :]
    (tmp_path / "calibrate.py").write_text(changed)
    return tmp_path


def run(bench: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(bench / "calibrate.py"), "--jobs", "1", *arguments]
    return subprocess.run(command, cwd=bench, capture_output=True, text=True, check=False)


def measured(bench: Path) -> list[int]:
    return [int(line) for line in (bench / "measured.txt").read_text().split()]


def test_a_rerun_measures_only_what_is_not_on_file(bench: Path) -> None:
    assert run(bench, "--quick").returncode == 0
    assert run(bench).returncode == 1
    assert measured(bench) == [0, 1, 2, 3, 4]
    run(bench, "--quick", "--fresh")
    assert measured(bench) == [0, 1, 2, 3, 4, 0, 1, 2]


def test_a_line_cut_short_is_measured_again(bench: Path) -> None:
    run(bench, "--quick")
    results = bench / "reports" / "calibrate" / "squares.jsonl"
    results.write_text(results.read_text()[:-5])
    run(bench)
    assert measured(bench) == [0, 1, 2, 2, 3, 4]
    whole = [json.loads(line) for line in results.read_text().splitlines() if line.endswith("}")]
    assert sorted(row["square"] for row in whole) == [0, 1, 4, 9, 16]


def test_misses_are_listed_and_marked_in_the_table(bench: Path) -> None:
    kept = run(bench, "--quick")
    assert "| squares | 3 | 1.67 |" in kept.stdout
    assert kept.stdout.splitlines()[-1] == "== all parts: every limit kept"
    missed = run(bench)
    assert "| squares | 5 | **6** |" in missed.stdout
    assert missed.stdout.splitlines()[-1] == "  squares: squares: mean is 6, must be 0 to 2"
    assert (bench / "reports" / "calibrate" / "squares.md").read_text() in missed.stdout


def test_parts_can_be_named(bench: Path) -> None:
    refused = run(bench, "circles")
    assert refused.returncode == 2
    assert "unknown part circles; choose from squares" in refused.stderr
