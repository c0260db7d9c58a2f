"""Frames, figures and paired differences of a sweep hold what simulations of its cells give."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest

from crewlearn import InvalidInput, simulate
from crewlearn.engine.sweep import Grid, Sweep, plan_cells, run_sweep
from crewlearn.engine.sweep.files import runs_file
from crewlearn.problem.instances import benchmark

mpl.use("agg")
PROBLEM = benchmark(horizon=25)


@pytest.fixture
def swept(tmp_path: Path) -> Sweep:
    grid: Grid = {"cost": [3, 7], "delay.p": [0.2, 0.5]}
    cells = plan_cells(PROBLEM, ["keep-team", "oracle"], grid, runs=4, at=[10, 25])
    return run_sweep(cells, tmp_path / "results.jsonl")


def test_the_frame_has_the_numbers_of_each_cell(swept: Sweep) -> None:
    frame = swept.to_pandas()
    assert list(frame.columns) == ["cost", "delay.p", "policy", "run", "period", "measure", "value"]
    for cell in swept.cells:
        alone = simulate(cell.problem, [cell.policy_name], runs=4, at=[10, 25]).policies[cell.policy_name]
        varied = dict(cell.varied)
        rows = frame[(frame.cost == varied["cost"]) & (frame["delay.p"] == varied["delay.p"])]
        rows = rows[(rows.policy == cell.policy_name) & (rows.measure == "regret")]
        wide = rows.pivot(index="run", columns="period", values="value").to_numpy()
        assert np.array_equal(wide, alone.regret)
    assert pl.DataFrame(swept)["value"].to_list() == frame["value"].tolist()


def test_pairs_are_compared_in_each_variant(swept: Sweep) -> None:
    paired = swept.paired("oracle", "keep-team", at=25)
    assert [dict(variant)["cost"] for variant in paired] == [3, 3, 7, 7]
    for cell in swept.cells[::2]:
        result = simulate(cell.problem, ["oracle", "keep-team"], runs=4, at=[10, 25])
        assert result.paired("oracle", "keep-team", at=25) in paired.values()


def test_a_figure_has_a_line_for_each_policy(tmp_path: Path) -> None:
    cells = plan_cells(PROBLEM, ["keep-team", "oracle"], {"cost": [7, 3]}, runs=4)
    swept = run_sweep(cells, tmp_path / "results.jsonl")
    axes = swept.plot()
    assert axes.get_xlabel() == "cost"
    for drawn, name in zip(axes.lines[::3], ("keep-team", "oracle"), strict=True):  # each with two caps
        means = [record["regret"]["25"]["mean"] for record in swept.records if record["policy"] == name]
        assert np.asarray(drawn.get_ydata()).tolist() == pytest.approx(means[::-1])
    assert "oracle" in repr(swept)
    assert swept._repr_html_().count("<tr>") == 5


def test_a_file_without_numbers_by_run_is_named(swept: Sweep) -> None:
    runs_file(swept.path, swept.cells[0].key).unlink()
    with pytest.raises(InvalidInput, match="sweep into another file"):
        swept.to_pandas()
