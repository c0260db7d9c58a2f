"""Every number printed in the paper's tables."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

RUNS = 250
"""Simulated runs behind each printed mean and standard deviation."""


@dataclass(frozen=True)
class Printed:
    """A printed mean and standard deviation over runs; `std` is None if the paper prints none."""

    mean: float
    std: float | None = None
    runs: int = RUNS


@cache
def _tables() -> dict[str, Any]:
    text = files("crewlearn.study.paper").joinpath("paper_numbers.json").read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text)
    return tables


def benchmark_cell(team: int, at: int, policy: str, measure: str) -> Printed | None:
    """Return a cell of the benchmark tables, or None if the paper has none; `measure` is "regret" or "normalized_loss".

    >>> benchmark_cell(10, 365, "dr-ucb", "regret")
    Printed(mean=402, std=24, runs=250)
    """
    name = {"normalized_loss": "normalized_loss_percent"}.get(measure, measure)
    cell = _tables()["benchmark"].get(str(team), {}).get(str(at), {}).get(policy, {})
    return Printed(*cell[name]) if name in cell else None


def design_choice(policy: str, horizon: int) -> Printed | None:
    """Return a cell of the design-choice table."""
    cell = _tables()["design_choices"].get(policy, {}).get(str(horizon))
    return None if cell is None else Printed(*cell)


def high_cost(policy: str) -> Printed | None:
    """Return a cell of the table with fee 168 over 12 months."""
    cell = _tables()["high_cost_c168_365"].get(policy)
    return None if cell is None else Printed(*cell)


def milliseconds_a_run(policy: str) -> Printed | None:
    """Return the authors' time for a run of 730 periods."""
    cell = _tables()["runtime_ms_per_run"].get(policy)
    return None if cell is None else Printed(*cell)


def choose_target_milliseconds() -> tuple[Printed, float]:
    """Return the authors' mean time for a call of ChooseTarget, and the longest."""
    cell = _tables()["choose_target_ms"]
    return Printed(cell["mean"], cell["std"]), float(cell["max"])


def largest_frontier() -> Printed:
    """Return the size of the largest frontier that the authors report."""
    return Printed(_tables()["largest_frontier"])
