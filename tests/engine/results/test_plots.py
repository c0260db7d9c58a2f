"""Figures show the numbers of the result."""

import matplotlib as mpl
import numpy as np
import pytest

from crewlearn import FAMILIES, InvalidInput, simulate
from crewlearn.problem.instances import benchmark

mpl.use("agg")


def test_curves_are_the_result_s_means() -> None:
    result = simulate(benchmark(horizon=30), {"a": "keep-team", "b": "oracle"}, runs=4)
    for measure, name in (("regret", "regret_curve"), ("loss", "loss_curve")):
        axes = result.plot(measure)
        drawn = {str(line.get_label()): np.asarray(line.get_ydata()) for line in axes.lines}
        assert list(drawn) == ["a", "b"]
        for label, played in result.policies.items():
            assert np.array_equal(drawn[label], getattr(played, name).mean)
        assert len(axes.collections) == 2  # the bands


def test_a_figure_is_drawn_into_the_caller_s_axes() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    result = simulate(benchmark(horizon=10), ["keep-team"], runs=2)
    assert result.plot(ax=axes) is axes
    with pytest.raises(InvalidInput, match="regret"):
        result.plot("regert")


def test_captured_needs_both_ends_of_its_scale() -> None:
    floor = simulate(FAMILIES["floor-small"].problem(), ["keep-team"], runs=3, at=[150, 230])
    drawn = floor.plot("captured").lines[0]
    assert np.asarray(drawn.get_ydata()).tolist() == [0.0, 0.0]
    quiet = simulate(benchmark(horizon=10), ["keep-team"], runs=2)
    with pytest.raises(InvalidInput, match="list both policies"):
        quiet.plot("captured")
