"""Results as tables of numbers: tidy for pandas and Arrow, wide for Parquet files."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crewlearn.problem.extras import extra_for

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from crewlearn.engine.results.result import PolicyResult, SimulationResult

MEASURES = ("regret", "normalized_loss", "net")
"""What is measured in each run at each checkpoint; the loss is in percent."""

COUNTS = ("replacements", "completed")
"""What is counted in each run, to the horizon."""


def to_pandas(result: "SimulationResult") -> "pd.DataFrame":
    """Return a tidy frame with the columns policy, run, period, measure and value."""
    with extra_for("a frame"):
        import pandas as pd

    return pd.DataFrame(_tidy(result))


def to_arrow(result: "SimulationResult") -> "pa.Table":
    """Return the tidy frame as an Arrow table."""
    with extra_for("the Arrow interface"):
        import pyarrow as pa

    return pa.table(_tidy(result))


def _tidy(result: "SimulationResult") -> dict[str, Any]:
    """Return the columns of the tidy frame."""
    parts = [part for name, played in result.policies.items() for part in _tidy_parts(result, name, played)]
    return {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}


def _tidy_parts(result: "SimulationResult", name: str, played: "PolicyResult") -> list[Mapping[str, Any]]:
    """Return a policy's columns, a part for each measure."""
    parts: list[Mapping[str, Any]] = []
    for measure in (*MEASURES, *COUNTS):
        periods = np.array(result.at if measure in MEASURES else (result.problem.horizon,))
        values = np.asarray(getattr(played, measure), dtype=np.float64).ravel()
        parts.append(
            {
                "policy": np.full(len(values), name, dtype=object),
                "run": np.repeat(np.arange(result.runs), len(periods)),
                "period": np.tile(periods, result.runs),
                "measure": np.full(len(values), measure, dtype=object),
                "value": values,
            }
        )
    return parts


def to_parquet(result: "SimulationResult", path: Path | str) -> None:
    """Write one row per policy, run and checkpoint to a Parquet file, with the inputs in its metadata."""
    with extra_for("a Parquet file"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    tables = []
    for name, played in result.policies.items():
        runs, width = np.arange(result.runs), len(result.at)
        columns = {
            "policy": pa.array([name] * (result.runs * width)).dictionary_encode(),
            "run": np.repeat(runs, width),
            "at": np.tile(np.array(result.at), result.runs),
            **{measure: getattr(played, measure).ravel() for measure in MEASURES},
            **{measure: np.repeat(getattr(played, measure), width) for measure in COUNTS},
        }
        tables.append(pa.table(columns))
    parameters = {name: asdict(played.policy) for name, played in result.policies.items()}
    made_by = json.dumps({**result.made_by(), "policies": parameters})
    table = pa.concat_tables(tables).replace_schema_metadata({"crewlearn": made_by})
    part = Path(f"{path}.part")
    pq.write_table(table, part)
    part.replace(path)  # a reader sees the whole file or none
