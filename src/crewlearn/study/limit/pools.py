"""The pools that the bound averages over: those of a simulation with the same seed, and what is known of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crewlearn.engine.world import World
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.model import Problem
from crewlearn.study.limit.mean_law import MeanLaw

TABLE_POINTS = 2001
"""Points of the table that the best team's expected output is integrated on."""


@dataclass(frozen=True)
class Pools:
    """Pools, one a row, with a worker a column: the means, who begins in the team, and whose mean is not known."""

    levels: FloatArray
    in_team: BoolArray
    untried: BoolArray

    def __len__(self) -> int:
        return len(self.levels)

    def known_first(self) -> tuple[IntArray, BoolArray]:
        """Return the columns of those whose means are known, row by row and padded with others, and which count."""
        most = int((~self.untried).sum(axis=1).max())
        columns = np.argsort(self.untried, axis=1, kind="stable")[:, :most]
        return columns, ~np.take_along_axis(self.untried, columns, axis=1)


def draw_pools(
    problem: Problem, laws: Sequence[MeanLaw | None], seed: int, runs: range, *, team_known: bool = True
) -> Pools:
    """Draw the pools and first teams of some runs of a simulation.

    With `team_known` the team's means count as known from the start, as where a period of work tells them.
    """
    levels = np.empty((len(runs), problem.workers.count))
    in_team = np.zeros(levels.shape, dtype=np.bool_)
    for row, run in enumerate(runs):
        world = World(problem, seed, run)
        levels[row] = world.means
        team = world.starting_team()
        in_team[row, team[team != NOBODY]] = True
    drawn = np.array([law is not None for law in laws])
    return Pools(levels, in_team, drawn & ~(in_team & team_known))


def best_output_expected(pools: Pools, laws: Sequence[MeanLaw | None], team: int) -> FloatArray:
    """Return the expected output per period of each pool's best team, given the means that are known.

    The best team's output is the integral over x of min(m, number of means above x).
    """
    points = np.linspace(0.0, 1.0, TABLE_POINTS)
    chances: dict[tuple[float | str, ...], FloatArray] = {}
    tables: dict[tuple[tuple[float | str, ...], ...], FloatArray] = {}
    expected = np.empty(len(pools))
    for row in range(len(pools)):
        drawn = [law for law, out in zip(laws, pools.untried[row], strict=True) if out and law is not None]
        names = tuple(sorted((law.name for law in drawn), key=str))
        if names not in tables:
            for law in drawn:
                if law.name not in chances:
                    above = law.above(points)
                    above[-1] = law.above(np.array([1.0 - 1e-12]))[0]  # an atom at 1 is above all that is below 1
                    chances[law.name] = above
            tables[names] = _integrated(_expected_places([chances[name] for name in names], team), points)
        known = np.sort(pools.levels[row][~pools.untried[row]])[::-1]
        ends = np.concatenate([[1.0], known, [0.0]])
        table = tables[names]
        total = 0.0
        for count in range(len(known) + 1):
            integral = table[min(count, team)]
            high, low = np.interp([ends[count], ends[count + 1]], points, integral)
            total += float(high - low)
        expected[row] = total
    return expected


def luck_above(pools: Pools, laws: Sequence[MeanLaw | None], levels: FloatArray) -> FloatArray:
    """Return by how much the unknown means exceed a pool's level in sum, less the expectation of that."""
    levels, points = np.clip(levels, 0.0, 1.0), np.linspace(0.0, 1.0, TABLE_POINTS)
    expected: dict[tuple[float | str, ...], FloatArray] = {}
    luck: FloatArray = (np.maximum(pools.levels - levels[:, None], 0.0) * pools.untried).sum(axis=1)
    for worker, law in enumerate(laws):
        if law is None:
            continue
        if law.name not in expected:
            integral = _integrated(law.above(points)[None], points)[0]
            expected[law.name] = integral[-1] - np.interp(levels, points, integral)
        luck = luck - pools.untried[:, worker] * expected[law.name]
    return luck


def _expected_places(above: Sequence[FloatArray], team: int) -> FloatArray:
    """Return E min(team, n + B) by n and level, where B counts workers above the level with these chances."""
    size = len(above[0]) if above else TABLE_POINTS
    chances = np.zeros((team + 1, size))  # of B = 0, 1, ..., and of at least `team`
    chances[0] = 1.0
    for chance in above:
        moved = chances * chance
        chances = chances - moved
        chances[1:] += moved[:-1]
        chances[-1] += moved[-1]
    counts = np.arange(team + 1)
    return np.array([np.minimum(team, known + counts) @ chances for known in range(team + 1)])


def _integrated(table: FloatArray, points: FloatArray) -> FloatArray:
    steps = 0.5 * (table[:, 1:] + table[:, :-1]) * np.diff(points)
    return np.concatenate([np.zeros((len(table), 1)), np.cumsum(steps, axis=1)], axis=1)
