"""DR-UCB's inner workings: the learning cycles of a run, and the size of the frontier."""

import numpy as np

from crewlearn.engine.caching.identity import result_key
from crewlearn.engine.event_log import ARRIVAL, DECISION, LAPSE, REQUEST, events_of_runs
from crewlearn.engine.results import Summary
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.instances import benchmark
from crewlearn.study.lab import Lab, counted
from crewlearn.study.outcome import CycleSpan, Line, Number, Panel, Part, Picture, StudyRow, Timeline
from crewlearn.study.paper.paper_numbers import RUNS, largest_frontier

TREND_WIDTH = 25.0
"""Standard deviation, in periods, of the kernel that smooths the trend."""


def _events(lab: Lab, spec: str, runs: int) -> tuple[IntArray, int]:
    """Return the events of the benchmark's runs and its horizon."""
    problem, policy = benchmark(10, lab.conventions), make_policy(spec, lab.conventions)
    key = {"result": result_key(problem, policy, runs, lab.seed, (problem.horizon,), lab.conventions)}
    arrays = lab.measure("events", key, lambda: {"events": events_of_runs(problem, policy, runs, lab.seed)})
    return arrays["events"], problem.horizon


def frontier(lab: Lab) -> Part:
    """The largest frontier of each decision, built even if it is not needed."""
    spec = "dr-ucb:always_build_frontier=true"
    events, horizon = _events(lab, spec, lab.runs)
    decisions = events[events[:, 2] == DECISION]
    periods, sizes = decisions[:, 1].astype(float), decisions[:, 4].astype(float)
    built = sizes > 0  # at the first decision nobody was observed, so there is nothing to build
    periods, sizes = periods[built], sizes[built]
    blocks = [decisions[decisions[:, 0] // RUNS == block, 4] for block in range(max(1, lab.runs // RUNS))]
    largest = np.array([block.max() for block in blocks], dtype=float)
    rows = (
        StudyRow(
            "dr-ucb",
            f"largest of {min(RUNS, lab.runs)} runs",
            horizon,
            {"states": Number(Summary.of(largest), len(largest), largest_frontier())},
        ),
        StudyRow("dr-ucb", "each decision", horizon, {"states": Number(Summary.of(sizes), len(sizes))}),
    )
    at = np.linspace(periods.min(), horizon, 200)
    lines = (
        Line("one decision", *_thinned(periods, sizes), points=True, policy="decisions"),
        Line("smoothed trend", at, smoothed(periods, sizes, at), policy="dr-ucb"),
    )
    panel = Panel("Frontier size at each decision", "period", "states of the largest frontier", lines)
    caption = (
        f"Decisions of {counted(lab.runs, 'run')}, m = 10, with a Gaussian kernel trend (SD {TREND_WIDTH:g} periods)."
    )
    findings = [
        f"In {counted(len(largest), 'block')} of {counted(min(RUNS, lab.runs), 'run')} the largest frontier has "
        f"{_range(largest)} states; the paper reports one block.",
        f"The mean size at a decision is {sizes.mean():.2f}.",
    ]
    pictures = (Picture("frontier-size", caption, (panel,)),)
    return lab.part(rows, pictures, (), tuple(findings))


def _range(values: FloatArray) -> str:
    low, high = f"{values.min():.0f}", f"{values.max():.0f}"
    return low if low == high else f"{low} to {high}"


def smoothed(x: FloatArray, y: FloatArray, at: FloatArray, width: float = TREND_WIDTH) -> FloatArray:
    """Return the average of y around each point of `at`, with Gaussian weights.

    >>> smoothed(np.array([0.0, 10.0]), np.array([1.0, 3.0]), np.array([5.0])).tolist()
    [2.0]
    """
    values, counts = np.unique(np.stack([x, y]), axis=1, return_counts=True)
    weights = np.exp(-0.5 * ((at[:, None] - values[0]) / width) ** 2) * counts
    trend: FloatArray = (weights * values[1]).sum(axis=1) / weights.sum(axis=1)
    return trend


def _thinned(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Remove duplicate points."""
    points = np.unique(np.stack([x, y]), axis=1)
    return points[0], points[1]


def cycles_of(events: IntArray, run: int, horizon: int) -> tuple[CycleSpan, ...]:
    """Return the cycles of a run of DR-UCB: from each decision to the next, and when its target was complete.

    A target is complete in the first period that ends with nothing pending. Without delay that is the period of the
    decision itself.
    """
    in_run = events[events[:, 0] == run]
    decided = in_run[in_run[:, 2] == DECISION, 1].tolist()
    cycles = []
    for number, start in enumerate(decided, start=1):
        end = decided[number] if number < len(decided) else horizon + 1
        requests = int(((in_run[:, 1] == start) & (in_run[:, 2] == REQUEST)).sum())
        in_cycle = in_run[(in_run[:, 1] >= start) & (in_run[:, 1] < end)]
        settled = np.sort(in_cycle[np.isin(in_cycle[:, 2], (ARRIVAL, LAPSE)), 1])
        complete = start if requests == 0 else int(settled[requests - 1]) if len(settled) >= requests else end
        cycles.append(CycleSpan(number, start, complete, end))
    return tuple(cycles)


def timeline(lab: Lab) -> Part:
    """The cycles of the first run: transition in red, exploration in blue."""
    events, horizon = _events(lab, "dr-ucb", 1)
    cycles = cycles_of(events, 0, horizon)
    lengths = {
        "transition": np.array([float(cycle.complete - cycle.decided) for cycle in cycles]),
        "exploration": np.array([float(cycle.end - cycle.complete) for cycle in cycles]),
    }
    rows = tuple(
        StudyRow("dr-ucb", f"{phase} of a cycle", horizon, {"periods": Number(Summary.of(values), len(values))})
        for phase, values in lengths.items()
    )
    close_up = next((cycle.end for cycle in cycles[5:]), horizon)
    caption = (
        f"One run, m = 10: {len(cycles)} cycles in {horizon} periods. Each begins with a decision (dashed); in red the "
        "team is not yet the target, in blue it is."
    )
    findings = (
        f"The team is not yet the target in {lengths['transition'].sum() / horizon:.0%} of the periods of this run.",
        f"A cycle is in transition for {lengths['transition'].mean():.1f} periods on average and explores for "
        f"{lengths['exploration'].mean():.1f}.",
    )
    pictures = (Picture("timeline", caption, timeline=Timeline(cycles, horizon, close_up)),)
    return Part(lab.conventions, 1, lab.seed, rows, pictures, (), findings)
