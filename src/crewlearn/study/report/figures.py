"""Drawing of pictures with matplotlib: sized for a printed page, colour-blind safe, with labels at the lines.

Each policy has the same colour, dash and marker in every figure, so that any of the three identifies its line.
"""

import io
import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from crewlearn.engine.results.styles import POLICY_STYLES, Style, styles_of
from crewlearn.study.outcome import Line, Panel, Picture, Timeline

STYLES = {
    **POLICY_STYLES,
    "paper": Style("#D55E00", "-", "s"),
    "ours": Style("#0072B2", "-", "o"),
    "bound": Style("#000000", "-", "", 1.6),
    "limit": Style("#000000", "-", "d"),
    "term": Style("#8a8a8a", (0, (4, 2)), "", 0.9),
    "minimax rate": Style("#009E73", (0, (1.5, 1.5)), ""),
    "lower bound": Style("#009E73", (0, (1.5, 1.5)), ""),
    "decisions": Style("#8a8a8a", "-", "."),
}

TRANSITION, EXPLORATION = "#c8453b", "#bcd9ee"
"""Red and blue as in the paper's timeline, with a much darker red."""

PAGE_WIDTH, PANEL_HEIGHT = 7.0, 2.7
"""In inches, so that text has its intended size in print."""

LOOK: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "svg.hashsalt": "crewlearn",
    "svg.fonttype": "path",
}


def draw(picture: Picture) -> dict[str, bytes]:
    """Draw a picture as PNG (200 dpi) and SVG; equal data give equal bytes."""
    with mpl.rc_context(LOOK):
        figure = _panels(picture) if picture.timeline is None else _timeline(picture.timeline)
        FigureCanvasAgg(figure)
        images = {}
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=200, metadata=metadata)
            images[kind] = file.getvalue()
    return images


def _panels(picture: Picture) -> Figure:
    panels, columns = picture.panels, min(len(picture.panels), picture.abreast)
    rows = math.ceil(len(panels) / columns)
    width = PAGE_WIDTH if columns > 1 else 0.7 * PAGE_WIDTH
    figure = Figure(figsize=(width, PANEL_HEIGHT * rows), layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(places, panels, strict=False):
        _panel(axes, panel)
    for axes in places[len(panels) :]:
        axes.set_visible(False)
    return figure


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, pad=16 if panel.marks else 6)
    if panel.categories:
        _categories(axes, panel)
        return
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(10.0, numticks=12))
    if panel.log_y:
        axes.set_yscale("log")
    for line in panel.lines:
        _line(axes, line)
    if not panel.log_y and not _below_zero(panel):
        axes.set_ylim(bottom=0.0)
    for axis, is_log in ((axes.xaxis, panel.log_x), (axes.yaxis, panel.log_y)):
        if is_log:
            axis.set_minor_formatter(NullFormatter())
        if is_log or axis is axes.yaxis:
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    _label_lines(axes, [line for line in panel.lines if not line.points])
    if any(line.points for line in panel.lines):
        axes.legend(loc="best")
    for mark in panel.marks:
        axes.axvline(mark.x, color="#444444", linewidth=0.9, linestyle=(0, (2, 2)))
        axes.annotate(
            f"{mark.label.replace('gamma', 'γ')} {mark.x:,.1f}",
            (mark.x, 1.01),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            fontsize=7.5,
            color="#444444",
        )


def _categories(axes: Axes, panel: Panel) -> None:
    """Draw points with error bars, one category per row, so that long names fit."""
    styles = {**styles_of(line.label for line in panel.lines), **STYLES}
    for line in panel.lines:
        style = styles[line.label]
        look: dict[str, Any] = {"fmt": style.marker, "color": style.colour, "capsize": 3, "markersize": 5}
        axes.errorbar(line.y, line.x, xerr=line.sd, label=line.label, **look)
    axes.set_yticks(range(len(panel.categories)), panel.categories)
    axes.set_ylim(len(panel.categories) - 0.5, -0.5)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(panel.y_label)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.grid(visible=False, axis="y")
    axes.legend(loc="best")


def _below_zero(panel: Panel) -> bool:
    return any((line.y - (0.0 if line.sd is None else line.sd)).min() < 0.0 for line in panel.lines if len(line.y))


def _line(axes: Axes, line: Line) -> None:
    style = STYLES.get(line.policy or line.label, Style("#777777"))
    if line.points:
        axes.plot(line.x, line.y, style.marker, color=style.colour, markersize=3, alpha=0.35, label=line.label)
    else:
        few = len(line.x) <= 12
        kept = np.unique(np.linspace(0, len(line.x) - 1, min(len(line.x), MOST_POINTS)).astype(int))
        x, y = line.x[kept], line.y[kept]
        axes.plot(
            x,
            y,
            color=style.colour,
            linestyle=style.dash,
            linewidth=style.width,
            marker=style.marker or None,
            markevery=None if few else max(1, len(x) // 7),
            markersize=4,
            label=line.label,
        )
        if line.sd is not None:
            sd = line.sd[kept]
            axes.fill_between(x, y - sd, y + sd, color=style.colour, alpha=0.15, linewidth=0)


MOST_POINTS = 250
"""Upper limit on the points drawn of a line: more are not visible and make files large."""

LEAST_GAP = 0.062
"""Least distance between two labels, as a fraction of the axes' height."""


def _label_lines(axes: Axes, lines: Sequence[Line]) -> None:
    """Write each line's name at its right end, moving labels apart if they would overlap."""
    if not lines:
        return
    axes.get_ylim()  # computes the limits, which the transforms need
    to_axes = axes.transAxes.inverted()
    ends = [to_axes.transform(axes.transData.transform((line.x[-1], line.y[-1])))[1] for line in lines]
    for line, height in zip(lines, apart(ends, LEAST_GAP), strict=True):
        style = STYLES.get(line.policy or line.label, Style("#777777"))
        axes.annotate(
            line.label,
            (1.015, height),
            xycoords="axes fraction",
            color=_darker(style.colour),
            va="center",
            fontsize=7.5,
            annotation_clip=False,
        )


def _darker(colour: str) -> tuple[float, float, float]:
    """Return a colour dark enough for text on white."""
    red, green, blue = to_rgb(colour)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    share = min(1.0, 0.36 / light) if light > 0.0 else 1.0
    return red * share, green * share, blue * share


def apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move heights in [0, 1] apart so that none are closer than `gap`, or less if there is no room for that.

    >>> [round(height, 3) for height in apart([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    >>> [round(height, 3) for height in apart([0.0, 0.0], 0.1)]
    [0.0, 0.1]
    """
    gap = min(gap, 1.0 / max(1, len(heights) - 1))
    order = np.argsort(heights, kind="stable")
    placed = np.clip(np.asarray(heights, dtype=float)[order], 0.0, 1.0)
    for _ in range(200):
        short = gap - np.diff(placed)
        if (short <= 1e-9).all():
            break
        for index in np.flatnonzero(short > 1e-9):
            need = gap - (placed[index + 1] - placed[index])
            if need > 0.0:
                placed[index] -= need / 2.0
                placed[index + 1] += need / 2.0
    steps = gap * np.arange(len(placed))  # move them back into [0, 1], from below and then from above
    placed = np.minimum(np.maximum(placed, steps), 1.0 - steps[::-1])
    result = np.empty(len(placed))
    result[order] = placed
    return [float(height) for height in result]


def _timeline(timeline: Timeline) -> Figure:
    figure = Figure(figsize=(PAGE_WIDTH, 3.0), layout="constrained")
    overview, close_up = figure.subplots(2, 1)
    _cycles(overview, timeline, timeline.horizon, named=False)
    overview.set_title(f"The whole run: {len(timeline.cycles)} cycles")
    _cycles(close_up, timeline, timeline.close_up, named=True)
    close_up.set_title("The first cycles in detail")
    close_up.set_xlabel("period")
    return figure


def _cycles(axes: Axes, timeline: Timeline, until: int, *, named: bool) -> None:
    for cycle in timeline.cycles:
        if cycle.decided > until:
            break
        spans = ((cycle.decided, cycle.complete, TRANSITION), (cycle.complete, cycle.end, EXPLORATION))
        for start, end, colour in spans:
            axes.axvspan(start, min(end, until + 1), 0.0, 0.7, facecolor=colour, edgecolor="#555555", linewidth=0.4)
        axes.axvline(cycle.decided, color="#333333", linestyle=(0, (3, 2)), linewidth=0.9)
        if named and cycle.decided < until:
            axes.text(cycle.decided, 0.78, f" d{cycle.number}", fontsize=8, va="bottom")
    axes.set_xlim(1, until)
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    if named:
        handles = [Patch(facecolor=colour, edgecolor="#555555", linewidth=0.4) for colour in (TRANSITION, EXPLORATION)]
        names = ["transition: the team is not yet the target", "exploration: the team is the target"]
        axes.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, -0.45), ncols=2)
