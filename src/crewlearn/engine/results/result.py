"""Results of a simulation: values per run at the checkpoints, curves over all periods, and what is made of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crewlearn
from crewlearn.engine.results import frames
from crewlearn.engine.results.summaries import PairedDifference, Share, Summary
from crewlearn.engine.results.tables import Table, as_html, as_lines
from crewlearn.policies.contract import Policy
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput, one_of
from crewlearn.problem.extras import extra_for
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

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
    `completed` are per run. So are diagnostics of compiled runs: the `largest_frontier` built, the number of targets
    that the selection heuristic chose (`heuristics`), and the largest bound on what such a target lacks of the best sum
    of UCBs (`loss_bound`). Curves run over all periods. `seconds` sums over threads.
    `played` is "compiled" or "interpreted".
    """

    policy: Policy[Any]
    regret: FloatArray
    normalized_loss: FloatArray
    replacements: IntArray
    completed: IntArray
    largest_frontier: IntArray
    heuristics: IntArray
    loss_bound: FloatArray
    regret_curve: Curve
    loss_curve: Curve
    seconds: float
    net: FloatArray
    played: str


@dataclass(frozen=True, repr=False)
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

    def regret(self, policy: str, at: int | None = None) -> Summary:
        """Summarise a policy's cumulative regret after period `at`, which may be left out if there is only one."""
        return Summary.of(self.values("regret", policy, at))

    def net(self, policy: str, at: int | None = None) -> Summary:
        """Summarise a policy's expected output less fees after period `at`; a warm-up does not count."""
        return Summary.of(self.values("net", policy, at))

    def captured(self, policy: str, at: int | None = None) -> Share | None:
        """Return the share of the oracle's gain over keep-team that a policy captures by period `at`.

        It is None where the oracle gains nothing, and where keep-team and the oracle were not played: in worlds that do
        not change they are played only if they are listed.
        """
        keep, oracle = (self.ends.get(name, self.policies.get(name)) for name in (KEEP, ORACLE))
        if keep is None or oracle is None:
            return None
        column, net = self._column(at), self._played(policy).net
        return Share.of(net[:, column] - keep.net[:, column], oracle.net[:, column] - keep.net[:, column])

    def worse_than_keep_team(self, policy: str, at: int | None = None) -> float | None:
        """Return the share of worlds in which a policy's net is below keep-team's; None if that was not played."""
        keep = self.ends.get(KEEP, self.policies.get(KEEP))
        if keep is None:
            return None
        column = self._column(at)
        return float((self._played(policy).net[:, column] < keep.net[:, column]).mean())

    def values(self, measure: str, policy: str, at: int | None = None) -> FloatArray:
        """Return a policy's numbers, one a run: "regret", "normalized_loss" or "net" after period `at`."""
        numbers: FloatArray = getattr(self._played(policy), one_of("measure", measure, frames.MEASURES))
        return numbers[:, self._column(at)]

    def paired(self, policy: str, rival: str, at: int | None = None, measure: str = "regret") -> PairedDifference:
        """Compare two policies world by world: the difference of a measure, its 95% interval and a test.

        >>> from crewlearn import benchmark, simulate
        >>> result = simulate(benchmark(horizon=30), ["keep-team", "oracle"], runs=20)
        >>> result.paired("oracle", "keep-team").high < 0
        True
        """
        ours, theirs = (self.values(measure, name, at) for name in (policy, rival))
        period = self.at[self._column(at)]
        return PairedDifference.of(ours, theirs, policy=policy, rival=rival, measure=measure, at=period)

    def _played(self, policy: str) -> PolicyResult:
        return self.policies[one_of("policy", policy, self.policies)]

    def _column(self, at: int | None) -> int:
        if at is None and len(self.at) == 1:
            return 0
        if at is None or at not in self.at:
            remedy = "choose one of" if at is None else "was not asked for; choose one of"
            raise InvalidInput("at", at, f"{remedy} {list(self.at)}")
        return self.at.index(at)

    def to_pandas(self) -> "pd.DataFrame":
        """Return all numbers as a tidy frame: a row for each policy, run, period and measure, with its `value`.

        Replacements, initiated and completed, are counted to the horizon.
        """
        return frames.to_pandas(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the tidy numbers by the Arrow interface: `polars.DataFrame(result)`, say."""
        return frames.to_arrow(self).__arrow_c_stream__(requested_schema)

    def to_parquet(self, path: Path | str) -> None:
        """Write one row per policy, run and checkpoint to a Parquet file, with the inputs in its metadata."""
        frames.to_parquet(self, path)

    def plot(self, measure: str = "regret", *, ax: "Axes | None" = None) -> "Axes":
        """Draw a measure of all policies, into `ax` if it is given, and return the axes.

        "regret" and "loss" are curves over all periods with bands of one standard deviation, "captured" is the share of
        the oracle's gain at the checkpoints with its 95% interval.
        """
        with extra_for("a figure"):
            from crewlearn.engine.results.plots import plot_result

        return plot_result(self, measure, ax)

    def table(self) -> Table:
        """Return a table for people: regret at the checkpoints, mean ± SD over runs, loss and replacements."""
        rows = []
        for name, played in self.policies.items():
            regret = [self.regret(name, period) for period in self.at]
            rows.append(
                [
                    name,
                    *(f"{summary.mean:,.0f} ± {summary.std:,.0f}" for summary in regret),
                    f"{played.normalized_loss[:, -1].mean():.1f}%",
                    f"{played.replacements.mean():,.1f}",
                ]
            )
        return ["policy", *map(str, self.at), "loss", "replaced"], rows

    def scale_table(self) -> Table | None:
        """Return what each policy earned, and its place between keep-team and the oracle; None where nobody changes."""
        if not self.problem.changes:
            return None
        rows, last = [], self.at[-1]
        for name in self.policies:
            net, captured, worse = (
                self.net(name, last),
                self.captured(name, last),
                self.worse_than_keep_team(name, last),
            )
            share = "–" if captured is None else f"{captured.mean:.2f} ± {captured.stderr:.2f}"
            rows.append([name, f"{net.mean:,.1f} ± {net.stderr:,.1f}", share, "–" if worse is None else f"{worse:.0%}"])
        return ["policy", "net", "captured", "worse than keep-team"], rows

    def __repr__(self) -> str:
        """Return the tables as text."""
        return "\n\n".join("\n".join([caption, *as_lines(table)]) for caption, table in self._tables())

    def _repr_html_(self) -> str:
        """Return the tables for a notebook."""
        return "".join(as_html(caption, table) for caption, table in self._tables())

    def _tables(self) -> list[tuple[str, Table]]:
        tables, scale = [(self._caption(), self.table())], self.scale_table()
        return tables if scale is None else [*tables, ("Earned, mean ± SE:", scale)]

    def _caption(self) -> str:
        setting = self.problem.setting
        return (
            f"Regret, mean ± SD over {self.runs:,} runs; team of {setting.team} from {setting.workers} workers, "
            f"{self.problem.horizon} periods, fee {setting.cost:g}, mean delay {setting.mean_delay:g}"
        )

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
