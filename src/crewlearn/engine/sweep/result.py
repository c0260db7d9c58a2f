"""A finished sweep: its records, and the numbers of every run as frames, figures and paired differences."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crewlearn.engine.results import MEASURES, PairedDifference, Summary, tables
from crewlearn.engine.results.frames import COUNTS
from crewlearn.engine.sweep.cells import Cell, Record
from crewlearn.engine.sweep.files import runs_file
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput, one_of
from crewlearn.problem.extras import extra_for

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

Variant = tuple[tuple[str, Any], ...]
"""A variant of the problem: the grid's fields with their values."""


@dataclass(frozen=True, repr=False)
class Sweep:
    """The cells in planned order with their records, and how many were skipped because the file had them.

    `not_reusable` maps a policy to the reason why its cells are played every time. `path` is the file.
    """

    records: tuple[Record, ...]
    skipped: int
    not_reusable: Mapping[str, str]
    cells: tuple[Cell, ...]
    path: Path

    def values(self, cell: Cell, measure: str, at: int | None = None) -> FloatArray:
        """Return the numbers of a cell, one a run, after period `at`, which may be left out if there is only one."""
        name = one_of("measure", measure, (*MEASURES, *COUNTS))
        numbers, column = self._numbers(cell), _column(cell, at)
        return np.asarray(numbers[name], dtype=np.float64).reshape(cell.runs, len(cell.at))[:, column]

    def paired(
        self, policy: str, rival: str, at: int | None = None, measure: str = "regret"
    ) -> dict[Variant, PairedDifference]:
        """Compare two policies in each variant of the problem, world by world."""
        ours, theirs = (self._cells_of(name) for name in (policy, rival))
        return {
            variant: PairedDifference.of(
                self.values(cell, measure, at),
                self.values(theirs[variant], measure, at),
                policy=policy,
                rival=rival,
                measure=measure,
                at=cell.at[_column(cell, at)],
            )
            for variant, cell in ours.items()
            if variant in theirs
        }

    def to_pandas(self) -> "pd.DataFrame":
        """Return a tidy frame: the grid's values, then policy, run, period, measure and value."""
        with extra_for("a frame"):
            import pandas as pd

        return pd.DataFrame(self._tidy())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the tidy frame by the Arrow interface: `polars.DataFrame(sweep)`, say."""
        with extra_for("the Arrow interface"):
            import pyarrow as pa

        return pa.table(self._tidy()).__arrow_c_stream__(requested_schema)

    def plot(
        self, measure: str = "regret", *, x: str | None = None, at: int | None = None, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw a measure over a field of the problem, a line a policy with 95% intervals, and return the axes.

        `x` may be left out if the grid has one numeric field. Other fields are to have one value.
        """
        with extra_for("a figure"):
            from crewlearn.engine.results.plots import plot_points

        field = self._field(x)
        lines = {}
        for policy in dict.fromkeys(cell.policy_name for cell in self.cells):
            points = []
            for variant, cell in self._cells_of(policy).items():
                summary = Summary.of(self.values(cell, measure, at))
                points.append((float(dict(variant)[field]), summary.mean, 1.96 * summary.stderr))
            lines[policy] = sorted(points)
        return plot_points(lines, field, f"{measure.replace('_', ' ')}, mean with 95% interval", ax)

    def table(self) -> tables.Table:
        """Return a table for people: a row a cell, with its numbers after the last checkpoint."""
        scaled = any("captured" in record for record in self.records)
        fields = self._fields()
        rows = []
        for cell, record in zip(self.cells, self.records, strict=True):
            period, varied = str(cell.at[-1]), dict(cell.varied)
            regret = record["regret"][period]
            rows.append(
                [
                    cell.policy_name,
                    *(str(varied[name]) for name in fields),
                    f"{regret['mean']:,.0f} ± {regret['std']:,.0f}",
                    f"{record['replacements']['mean']:,.1f}",
                    *(_scale(record, period) if scaled else []),
                ]
            )
        return ["policy", *fields, "regret", "replaced", *(["net", "captured"] if scaled else [])], rows

    def __repr__(self) -> str:
        """Return the table as text."""
        return "\n".join([self._caption(), *tables.as_lines(self.table())])

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return tables.as_html(self._caption(), self.table())

    def _caption(self) -> str:
        runs = ", ".join(f"{count:,}" for count in sorted({cell.runs for cell in self.cells}))
        return f"{len(self.cells)} cells in {self.path}; regret after the last period, mean ± SD over {runs} runs"

    def _fields(self) -> list[str]:
        """Return the names of the problem's fields in the grid."""
        return list(dict.fromkeys(name for cell in self.cells for name, _ in cell.varied if ":" not in name))

    def _field(self, x: str | None) -> str:
        fields = self._fields()
        if x is not None:
            return one_of("x", x, fields)
        if len(fields) != 1:
            raise InvalidInput("x", x, f"name the field to draw over, one of {fields}")
        return fields[0]

    def _cells_of(self, policy: str) -> dict[Variant, Cell]:
        """Return a policy's cells by variant of the problem."""
        known = dict.fromkeys(cell.policy_name for cell in self.cells)
        name = one_of("policy", policy, known)
        return {_variant(cell): cell for cell in self.cells if cell.policy_name == name}

    @cached_property
    def _read(self) -> dict[str, "pa.Table"]:
        """The tables read so far, by key."""
        return {}

    def _numbers(self, cell: Cell) -> "pa.Table":
        """Return the numbers of every run of a cell."""
        with extra_for("a Parquet file"):
            import pyarrow.parquet as pq

        if cell.key not in self._read:
            file = runs_file(self.path, cell.key)
            if not file.exists():
                remedy = "is from an earlier version, without the numbers of every run; sweep into another file"
                raise InvalidInput("out", str(self.path), remedy)
            self._read[cell.key] = pq.read_table(file)
        return self._read[cell.key]

    def _tidy(self) -> dict[str, Any]:
        """Return the columns of the tidy frame."""
        varied = list(dict.fromkeys(name for cell in self.cells for name, _ in cell.varied))
        columns: dict[str, list[Any]] = {name: [] for name in (*varied, "policy", "run", "period", "measure", "value")}
        for cell in self.cells:
            given = {name: _plain(value) for name, value in cell.varied}
            for measure in (*MEASURES, *COUNTS):
                periods = cell.at if measure in MEASURES else (cell.problem.horizon,)
                for period in periods:
                    values = self.values(cell, measure, period if measure in MEASURES else cell.at[-1])
                    for name in varied:
                        columns[name] += [given.get(name)] * cell.runs
                    columns["policy"] += [cell.policy_name] * cell.runs
                    columns["run"] += range(cell.runs)
                    columns["period"] += [period] * cell.runs
                    columns["measure"] += [measure] * cell.runs
                    columns["value"] += values.tolist()
        return columns


def _column(cell: Cell, at: int | None) -> int:
    if at is None and len(cell.at) == 1:
        return 0
    if at is None or at not in cell.at:
        raise InvalidInput("at", at, f"choose one of {list(cell.at)}")
    return cell.at.index(at)


def _variant(cell: Cell) -> Variant:
    return tuple((name, _plain(value)) for name, value in cell.varied if ":" not in name)


def _plain(value: Any) -> Any:
    """Return a grid value as a number or text; lists and tables as JSON."""
    return json.dumps(value) if isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) else value


def _scale(record: Record, period: str) -> list[str]:
    """Return what a cell earned, and its place between keep-team and the oracle; dashes where nothing changes."""
    if "captured" not in record:
        return ["–", "–"]
    net, captured = record["net"][period], record["captured"][period]
    share = "–" if captured is None else f"{captured['mean']:.2f} ± {captured['stderr']:.2f}"
    return [f"{net['mean']:,.1f} ± {net['stderr']:,.1f}", share]
