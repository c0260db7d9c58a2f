"""Results of a simulation: values per run at the checkpoints, curves over all periods, and summaries."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

import crewlearn
from crewlearn.engine.blocks import BlockResult
from crewlearn.policies.contract import Policy
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput, one_of
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table


def student_95(degrees: int) -> float:
    """Return the two-sided 95% point of Student's t: exact for 1 and 2 degrees of freedom, else a series in 1/degrees.

    >>> [round(student_95(degrees), 2) for degrees in (1, 2, 4, 10, 249)]
    [12.71, 4.3, 2.78, 2.23, 1.97]
    """
    if degrees == 1:
        return math.tan(0.475 * math.pi)
    if degrees == 2:
        return 0.95 * math.sqrt(2.0 / (1.0 - 0.95 * 0.95))
    z = NormalDist().inv_cdf(0.975)
    terms = (
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, start=1))


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation over runs (population form), standard error of the mean, and 95th percentile."""

    mean: float
    std: float
    stderr: float
    p95: float

    @classmethod
    def of(cls, values: FloatArray) -> "Summary":
        """Summarise values, one per run."""
        std = float(values.std())
        return cls(
            mean=float(values.mean()),
            std=std,
            stderr=std / max(len(values) - 1, 1) ** 0.5,
            p95=float(np.percentile(values, 95)),
        )


@dataclass(frozen=True)
class Share:
    """A ratio of means over the same worlds, with its standard error (by the delta method)."""

    mean: float
    stderr: float

    @classmethod
    def of(cls, part: FloatArray, whole: FloatArray) -> "Share | None":
        """Return the mean of `part` over that of `whole`, one entry a run; None if the latter is not positive.

        >>> Share.of(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
        Share(mean=0.5, stderr=0.0)
        """
        bottom = float(whole.mean())
        if bottom <= 0.0:
            return None
        ratio = float(part.mean()) / bottom
        return cls(ratio, Summary.of(part - ratio * whole).stderr / bottom)


KEEP, ORACLE = "keep-team", "oracle"
"""The ends of the scale on which `captured` is read."""


@dataclass(frozen=True)
class Curve:
    """Mean and standard deviation over runs after every period; entry t-1 is period t."""

    mean: FloatArray
    std: FloatArray


@dataclass(frozen=True)
class PolicyResult:
    """The results of a policy.

    `regret`, `normalized_loss` (percent) and `net` have the shape (runs, checkpoints). `replacements` initiated, those
    `completed` and the `largest_frontier` built are per run. Curves run over all periods. `seconds` sums over threads.
    `played` is "compiled" or "interpreted".
    """

    policy: Policy[Any]
    regret: FloatArray
    normalized_loss: FloatArray
    replacements: IntArray
    completed: IntArray
    largest_frontier: IntArray
    regret_curve: Curve
    loss_curve: Curve
    seconds: float
    net: FloatArray
    played: str


@dataclass(frozen=True)
class SimulationResult:
    """The results of all policies in the same worlds, with the inputs; `at` are the checkpoints in periods."""

    problem: Problem
    runs: int
    seed: int
    at: tuple[int, ...]
    conventions: str
    policies: Mapping[str, PolicyResult]
    version: str = crewlearn.__version__
    ends: Mapping[str, PolicyResult] = field(default_factory=dict)
    """keep-team and the oracle in the same worlds, where people or days change."""

    def regret(self, policy: str, at: int) -> Summary:
        """Summarise a policy's cumulative regret after period `at`."""
        return Summary.of(self._played(policy).regret[:, self._column(at)])

    def net(self, policy: str, at: int) -> Summary:
        """Summarise a policy's expected output less fees after period `at`; a warm-up does not count."""
        return Summary.of(self._played(policy).net[:, self._column(at)])

    def captured(self, policy: str, at: int) -> Share | None:
        """Return the share of the oracle's gain over keep-team that a policy captures by period `at`.

        It is None where the oracle gains nothing, and where keep-team and the oracle were not played: in worlds that do
        not change they are played only if they are listed.
        """
        keep, oracle = (self.ends.get(name, self.policies.get(name)) for name in (KEEP, ORACLE))
        if keep is None or oracle is None:
            return None
        column, net = self._column(at), self._played(policy).net
        return Share.of(net[:, column] - keep.net[:, column], oracle.net[:, column] - keep.net[:, column])

    def worse_than_keep_team(self, policy: str, at: int) -> float | None:
        """Return the share of worlds in which a policy's net is below keep-team's; None if that was not played."""
        keep = self.ends.get(KEEP, self.policies.get(KEEP))
        if keep is None:
            return None
        column = self._column(at)
        return float((self._played(policy).net[:, column] < keep.net[:, column]).mean())

    def _played(self, policy: str) -> PolicyResult:
        return self.policies[one_of("policy", policy, self.policies)]

    def _column(self, at: int) -> int:
        if at not in self.at:
            raise InvalidInput("at", at, f"was not asked for; choose one of {list(self.at)}")
        return self.at.index(at)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data for JSON."""
        return {
            **self.made_by(),
            "policies": {
                name: {"parameters": asdict(result.policy), **self._summaries(result), **self._scaled(name)}
                for name, result in self.policies.items()
            },
        }

    def made_by(self) -> dict[str, Any]:
        """Return the inputs of the simulation, except the policies, as plain data."""
        return {
            "problem": problem_to_table(self.problem),
            "runs": self.runs,
            "seed": self.seed,
            "conventions": self.conventions,
            "version": self.version,
        }

    def to_parquet(self, path: Path | str) -> None:
        """Write one row per policy, run and checkpoint to a Parquet file, with the inputs in its metadata."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables = []
        for name, result in self.policies.items():
            runs, width = np.arange(self.runs), len(self.at)
            columns = {
                "policy": pa.array([name] * (self.runs * width)).dictionary_encode(),
                "run": np.repeat(runs, width),
                "at": np.tile(np.array(self.at), self.runs),
                "regret": result.regret.ravel(),
                "normalized_loss": result.normalized_loss.ravel(),
                "net": result.net.ravel(),
                "replacements": np.repeat(result.replacements, width),
                "completed": np.repeat(result.completed, width),
            }
            tables.append(pa.table(columns))
        parameters = {name: asdict(result.policy) for name, result in self.policies.items()}
        made_by = json.dumps({**self.made_by(), "policies": parameters})
        table = pa.concat_tables(tables).replace_schema_metadata({"crewlearn": made_by})
        part = Path(f"{path}.part")
        pq.write_table(table, part)
        part.replace(path)  # a reader sees the whole file or none

    def _scaled(self, policy: str) -> dict[str, Any]:
        """Return net and captured by checkpoint, in worlds where people or days change."""
        if not self.problem.changes:
            return {}
        captured = {str(period): self.captured(policy, period) for period in self.at}
        return {
            "net": {str(period): vars(self.net(policy, period)) for period in self.at},
            "captured": {period: None if share is None else vars(share) for period, share in captured.items()},
            "worse_than_keep_team": {str(period): self.worse_than_keep_team(policy, period) for period in self.at},
        }

    def _summaries(self, result: PolicyResult) -> dict[str, Any]:
        def by_period(values: FloatArray) -> dict[str, Any]:
            return {str(period): vars(Summary.of(values[:, column])) for column, period in enumerate(self.at)}

        return {
            "regret": by_period(result.regret),
            "normalized_loss": by_period(result.normalized_loss),
            "replacements": {"mean": float(result.replacements.mean())},
            "completed": {"mean": float(result.completed.mean())},
            "microseconds_per_run": result.seconds / self.runs * 1e6,
        }


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
