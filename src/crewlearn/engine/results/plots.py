"""Figures of a result, drawn with matplotlib into axes of their own or of the caller."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from crewlearn.engine.results.styles import Style, styles_of
from crewlearn.problem.errors import InvalidInput, one_of

if TYPE_CHECKING:
    from crewlearn.engine.results.result import SimulationResult


def plot_result(result: "SimulationResult", measure: str, axes: Axes | None) -> Axes:
    """Draw a measure of all policies and return the axes; without axes, into a new figure."""
    draw = _DRAWN[one_of("measure", measure, _DRAWN)]
    axes = _new_axes() if axes is None else axes
    for label, style in styles_of(result.policies).items():
        draw(axes, result, label, style)
    axes.set_xlabel("period")
    return _finished(axes)


def plot_points(
    lines: Mapping[str, Sequence[tuple[float, float, float]]], x_label: str, y_label: str, axes: Axes | None
) -> Axes:
    """Draw a line for each label through points (x, y, half width of an interval), and return the axes."""
    axes = _new_axes() if axes is None else axes
    for label, style in styles_of(lines).items():
        _draw_points(axes, lines[label], label, style)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return _finished(axes)


def _new_axes() -> Axes:
    return plt.subplots(figsize=(7.0, 4.2), layout="constrained")[1]


def _finished(axes: Axes) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False)
    return axes


def _draw_regret(axes: Axes, result: "SimulationResult", label: str, style: Style) -> None:
    axes.set_ylabel(f"cumulative regret, mean ± SD of {result.runs:,} runs")
    curve = result.policies[label].regret_curve
    _draw_band(axes, curve.mean, curve.std, label, style)


def _draw_loss(axes: Axes, result: "SimulationResult", label: str, style: Style) -> None:
    axes.set_ylabel(f"loss in % of the best team's output, mean ± SD of {result.runs:,} runs")
    curve = result.policies[label].loss_curve
    _draw_band(axes, curve.mean, curve.std, label, style)


def _draw_band(axes: Axes, mean: np.ndarray, std: np.ndarray, label: str, style: Style) -> None:
    periods = np.arange(1, len(mean) + 1)
    axes.plot(periods, mean, color=style.colour, linestyle=style.dash, linewidth=style.width, label=label)
    axes.fill_between(periods, mean - std, mean + std, color=style.colour, alpha=0.15, linewidth=0)


def _draw_captured(axes: Axes, result: "SimulationResult", label: str, style: Style) -> None:
    axes.set_ylabel(f"share of the oracle's gain over keep-team, {result.runs:,} runs")
    known = [(period, share) for period in result.at if (share := result.captured(label, period)) is not None]
    if not known:
        remedy = "needs keep-team and oracle, and an oracle that gains something; list both policies"
        raise InvalidInput("measure", "captured", remedy)
    points = [(period, share.mean, 1.96 * share.stderr) for period, share in known]
    _draw_points(axes, points, label, style)


def _draw_points(axes: Axes, points: Sequence[tuple[float, float, float]], label: str, style: Style) -> None:
    x, y, half_widths = zip(*points, strict=True)
    look = {"color": style.colour, "linestyle": style.dash, "linewidth": style.width, "marker": style.marker}
    axes.errorbar(x, y, yerr=half_widths, capsize=3, label=label, **look)


_DRAWN: dict[str, Callable[[Axes, "SimulationResult", str, Style], None]] = {
    "regret": _draw_regret,
    "loss": _draw_loss,
    "captured": _draw_captured,
}
"""How each measure is drawn."""
