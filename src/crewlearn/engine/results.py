"""What a simulation found: regret of each run at the periods asked for, and its summaries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation over runs (population form), standard error of the mean, and 95th percentile."""

    mean: float
    std: float
    stderr: float
    p95: float

    @classmethod
    def of(cls, values: FloatArray) -> "Summary":
        """Summarise one number a run."""
        std = float(values.std())
        return cls(
            mean=float(values.mean()),
            std=std,
            stderr=std / max(len(values) - 1, 1) ** 0.5,
            p95=float(np.percentile(values, 95)),
        )


@dataclass(frozen=True)
class PolicyResult:
    """One policy's runs: cumulative regret [run, checkpoint], replacements initiated [run], time spent."""

    regret: FloatArray
    normalized_loss: FloatArray
    replacements: IntArray
    seconds: float


@dataclass(frozen=True)
class SimulationResult:
    """Every policy's runs in the same worlds; `at` are the checkpoints in periods."""

    problem: Problem
    runs: int
    seed: int
    at: tuple[int, ...]
    policies: Mapping[str, PolicyResult]

    def regret(self, policy: str, at: int) -> Summary:
        """Summarise a policy's cumulative regret after period `at`."""
        return Summary.of(self.policies[policy].regret[:, self.at.index(at)])

    def to_json(self) -> dict[str, Any]:
        """Describe the result as plain data."""
        return {
            "problem": problem_to_table(self.problem),
            "runs": self.runs,
            "seed": self.seed,
            "policies": {name: self._policy_json(result) for name, result in self.policies.items()},
        }

    def _policy_json(self, result: PolicyResult) -> dict[str, Any]:
        def by_period(values: FloatArray) -> dict[str, Any]:
            return {str(period): vars(Summary.of(values[:, column])) for column, period in enumerate(self.at)}

        return {
            "regret": by_period(result.regret),
            "normalized_loss": by_period(result.normalized_loss),
            "replacements": {"mean": float(result.replacements.mean())},
            "microseconds_per_run": result.seconds / self.runs * 1e6,
        }
