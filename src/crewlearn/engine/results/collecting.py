"""Collecting blocks of runs into the result of a policy, and comparing results to the bit."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from crewlearn.engine.blocks import BlockResult
from crewlearn.engine.results.result import Curve, PolicyResult, SimulationResult
from crewlearn.policies.contract import Policy


class Collector:
    """Accumulates a policy's blocks, in order, into values per run at the checkpoints and curves over all periods."""

    def __init__(self, policy: Policy[Any], runs: int, at: Sequence[int], horizon: int) -> None:
        self.policy, self.taken = policy, 0
        self.by_run: dict[str, Any] = {
            "regret": np.zeros((runs, len(at))),
            "normalized_loss": np.zeros((runs, len(at))),
            "net": np.zeros((runs, len(at))),
            "initiated": np.zeros(runs, dtype=np.int64),
            "completed": np.zeros(runs, dtype=np.int64),
            "largest_frontier": np.zeros(runs, dtype=np.int64),
            "heuristics": np.zeros(runs, dtype=np.int64),
            "loss_bound": np.zeros(runs),
        }
        self.curves = {name: (np.zeros(horizon), np.zeros(horizon)) for name in ("regret", "loss")}
        self.seconds = 0.0
        self.compiled = True

    def add(self, block: BlockResult, seconds: float) -> None:
        """Add the next block in order (Chan's update of mean and squared deviations)."""
        count = len(block.regret)
        for name, values in self.by_run.items():
            values[self.taken : self.taken + count] = getattr(block, name)
        after = self.taken + count
        for name, (mean, squares) in self.curves.items():
            step = getattr(block, f"{name}_mean") - mean
            self.curves[name] = (
                mean + step * (count / after),
                squares + getattr(block, f"{name}_squares") + step * step * (self.taken * count / after),
            )
        self.taken = after
        self.seconds += seconds
        self.compiled = self.compiled and block.compiled

    def result(self) -> PolicyResult:
        """Return the policy's result; call it after the last block was added."""
        curves = {name: Curve(mean, np.sqrt(squares / self.taken)) for name, (mean, squares) in self.curves.items()}
        return PolicyResult(
            policy=self.policy,
            regret=self.by_run["regret"],
            normalized_loss=self.by_run["normalized_loss"],
            replacements=self.by_run["initiated"],
            completed=self.by_run["completed"],
            largest_frontier=self.by_run["largest_frontier"],
            heuristics=self.by_run["heuristics"],
            loss_bound=self.by_run["loss_bound"],
            regret_curve=curves["regret"],
            loss_curve=curves["loss"],
            seconds=self.seconds,
            net=self.by_run["net"],
            played="compiled" if self.compiled else "interpreted",
        )


def same_numbers(first: SimulationResult, second: SimulationResult) -> bool:
    """Return whether two results are bit-identical, apart from the seconds taken and the way of playing."""

    def equal(a: Any, b: Any) -> bool:
        if isinstance(a, Curve):
            return np.array_equal(a.mean, b.mean) and np.array_equal(a.std, b.std)
        return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)

    names: Iterable[str] = (item.name for item in fields(PolicyResult) if item.name not in ("seconds", "played"))
    columns = list(names)
    return first.policies.keys() == second.policies.keys() and all(
        equal(getattr(mine, column), getattr(second.policies[name], column))
        for name, mine in first.policies.items()
        for column in columns
    )
