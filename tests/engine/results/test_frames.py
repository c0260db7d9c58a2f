"""Frames hold the numbers of the result, to the last digit."""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from crewlearn import simulate
from crewlearn.engine.results import SimulationResult
from crewlearn.problem.instances import benchmark


@pytest.fixture(scope="module")
def result() -> SimulationResult:
    return simulate(benchmark(horizon=40), ["keep-team", "oracle"], runs=6, at=[10, 40])


def test_the_tidy_frame_has_every_number_once(result: SimulationResult) -> None:
    frame = result.to_pandas()
    assert list(frame.columns) == ["policy", "run", "period", "measure", "value"]
    assert not frame.duplicated(["policy", "run", "period", "measure"]).any()
    assert len(frame) == 2 * 6 * (3 * 2 + 2)
    for name, played in result.policies.items():
        for measure, numbers in (("regret", played.regret), ("normalized_loss", played.normalized_loss)):
            rows = frame[(frame.policy == name) & (frame.measure == measure)]
            wide = rows.pivot(index="run", columns="period", values="value")
            assert np.array_equal(wide.to_numpy(), numbers)
        counted = frame[(frame.policy == name) & (frame.measure == "replacements")]
        assert counted.value.tolist() == played.replacements.tolist()
        assert set(counted.period) == {40}


def test_means_of_the_frame_are_those_of_the_json(result: SimulationResult) -> None:
    means = result.to_pandas().groupby(["policy", "measure", "period"])["value"].mean()
    for name, told in result.to_json()["policies"].items():
        for period in (10, 40):
            assert means[name, "regret", period] == pytest.approx(told["regret"][str(period)]["mean"], rel=1e-14)


def test_polars_reads_the_result_by_the_arrow_interface(result: SimulationResult) -> None:
    frame = pl.DataFrame(result)
    assert frame["value"].to_list() == result.to_pandas()["value"].tolist()


def test_the_parquet_file_has_a_row_for_each_checkpoint(result: SimulationResult, tmp_path: Path) -> None:
    result.to_parquet(tmp_path / "runs.parquet")
    table = pq.read_table(tmp_path / "runs.parquet").to_pandas()
    assert table[table.policy == "oracle"]["regret"].tolist() == result.policies["oracle"].regret.ravel().tolist()
