"""A slice of `make calibrate`: on a few firms, what people are told covers the truth and says something.

The firms are the same in every run, so these tests pass or fail for good. The error rates are those of drawing eight
other firms, if coverage is what it is meant to be.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def part(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of the calibration."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "bench"))
    for name in [name for name in sys.modules if name.split(".")[0] == "calibration"]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module(f"calibration.{request.param}")


def covered(rows: Sequence[Any]) -> int:
    """Return how many intervals hold the truth, after a look at whether they could miss it."""
    assert len({row["true"] for row in rows}) == len(rows), "each firm has a truth of its own"
    return sum(row["low"] <= row["true"] <= row["high"] for row in rows)


def half_width(rows: Sequence[Any]) -> float:
    """Return the mean half-width, in days of the best possible output of one person."""
    return float(sum(row["high"] - row["low"] for row in rows)) / 2.0 / len(rows)


@pytest.mark.parametrize("part", ["gain"], indirect=True)
def test_gains(part: Any) -> None:
    """At 95%, fewer than 6 of 8 are covered in 0.6% of slices. Half-widths are near 25; true gains differ by sd 19."""
    firms = [(firm, 9001 + world) for firm in ("floor", "floor-quits") for world in range(4)]
    rows = [part.measure({"firm": firm, "follow": 1.0, "seed": seed}) for firm, seed in firms]
    assert all(row["changes"] > 0 for row in rows)
    assert covered(rows) >= 6
    assert half_width(rows) < 35.0, "wider than guessing the same for every firm"


@pytest.mark.parametrize("part", ["plan"], indirect=True)
def test_plans(part: Any) -> None:
    """At 90%, fewer than 5 of 8 are covered in 0.5% of slices. Half-widths are near 30."""
    firms = [(firm, run) for firm in part.FIRMS for run in range(2)]
    rows = [part.measure({"firm": firm, "seed": 9001, "run": run}) for firm, run in firms]
    assert covered(rows) >= 5
    assert half_width(rows) < 60.0


@pytest.mark.parametrize("part", ["backtest"], indirect=True)
def test_backtests(part: Any) -> None:
    """At 90%, fewer than 5 of 8 are covered in 0.5% of slices, against practice and against keeping the team."""
    rows = [
        part.measure({"firm": firm, "seed": 9001, "run": run}) for firm in ("floor", "floor-quits") for run in range(4)
    ]
    for against in ("practice", "keeping"):
        compared = [row[against] for row in rows]
        assert covered(compared) >= 5
        assert half_width(compared) < 60.0
    assert all(0.0 < row["on_record"] < 1.0 for row in rows)


def test_the_docs_have_the_figures_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The table of docs/evidence/gain.md and the model card's file are the same; `--record` writes it so."""
    root = Path(__file__).parents[1]
    monkeypatch.syspath_prepend(str(root / "bench"))
    for name in [name for name in sys.modules if name.split(".")[0] in ("calibration", "calibrate")]:
        monkeypatch.delitem(sys.modules, name)
    runner = importlib.import_module("calibrate")
    package = root / runner.RECORD
    lines = runner.recorded(package, "gain")
    assert runner.markdown(lines) in (root / "docs" / "evidence" / "gain.md").read_text(encoding="utf-8")
    copy = tmp_path / package.name
    copy.write_text(package.read_text(encoding="utf-8").replace("floor", "store"), encoding="utf-8")
    runner.record(copy, "gain", lines)
    runner.record(copy, "pilot", lines)  # which the package does not have
    assert copy.read_text(encoding="utf-8") == package.read_text(encoding="utf-8")
