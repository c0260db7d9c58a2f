"""The comparison of a pilot: how groups' days become one difference, and which other assignments could have been.

The days of each step are cut in two *cells*: the run-in, in which the groups that just turned to advice do not count,
and the rest. Within a cell every group has the same days, so what a day does to everybody cancels out. The estimate is
the mean difference between groups in advice and in usual practice, over cells, weighted by days x n1 n0 / (n1 + n0).
It is a sum over groups of `scores[group, wave]`, which makes thousands of other assignments cheap.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from crewlearn.problem.arrays import FloatArray, IntArray

MOST_LISTED = 20_000
"""Assignments are listed one by one up to this number; beyond, so many less one are drawn."""

IN_ADVICE, IN_USUAL, NOT_COUNTED = 1, 0, -1


@dataclass(frozen=True)
class Cells:
    """The cells of a design: the days of each, by their place in the record, and the arm of each wave (waves, cells).

    `baseline` are the days before the pilot.
    """

    baseline: tuple[int, ...]
    days: tuple[tuple[int, ...], ...]
    arms: IntArray

    @classmethod
    def of(cls, baseline: Sequence[int], steps: Sequence[Sequence[int]], run_ins: Sequence[int]) -> "Cells":
        """Return the cells of steps, given the days of each step and how many of them are run-in."""
        days: list[tuple[int, ...]] = []
        arms: list[list[int]] = []
        waves = len(steps) + 1
        for step, (own, run_in) in enumerate(zip(steps, run_ins, strict=True)):
            for part, newest in ((own[:run_in], NOT_COUNTED), (own[run_in:], IN_ADVICE)):
                if part:
                    days.append(tuple(part))
                    arms.append(
                        [IN_ADVICE if wave < step else newest if wave == step else IN_USUAL for wave in range(waves)]
                    )
        return cls(tuple(baseline), tuple(days), np.array(arms, dtype=np.int64).reshape(len(days), waves).T)

    def weights(self, sizes: Sequence[int]) -> FloatArray:
        """Return the weight of a group's mean in each cell, by wave (waves, cells), given the groups in each wave."""
        counts = np.array(sizes, dtype=np.float64)
        advised = (self.arms == IN_ADVICE).T @ counts
        usual = (self.arms == IN_USUAL).T @ counts
        compared = (advised > 0) & (usual > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            height = np.where(compared, [len(own) for own in self.days] * advised * usual / (advised + usual), 0.0)
            each = np.where(self.arms == IN_ADVICE, 1.0 / advised, np.where(self.arms == IN_USUAL, -1.0 / usual, 0.0))
        total = height.sum()
        return np.where(compared, each, 0.0) * height / total if total > 0 else np.zeros_like(each)

    def means(self, values: FloatArray) -> FloatArray:
        """Return groups' means in the baseline, in column 0, and in each cell, given their days (groups, days).

        A group without a day in a cell gets the mean of the others there: it tells nothing.
        """
        columns = []
        for own in (self.baseline, *self.days):
            some = values[:, list(own)]
            there = ~np.isnan(some)
            count = there.sum(axis=1)
            mean = np.where(there, some, 0.0).sum(axis=1) / np.maximum(count, 1)
            known = count > 0
            columns.append(np.where(known, mean, mean[known].mean() if known.any() else 0.0))
        return np.column_stack(columns)


def scores(means: FloatArray, weights: FloatArray, carried: float) -> FloatArray:
    """Return what each group adds to the estimate in each wave, given `Cells.means`."""
    adjusted = means[..., 1:] - carried * means[..., :1]
    moved: FloatArray = adjusted @ weights.T
    return moved


def possible(sizes: Sequence[int]) -> int:
    """Return the number of possible assignments.

    >>> possible((5, 5)), possible((2, 2, 2))
    (252, 90)
    """
    number, left = 1, sum(sizes)
    for size in sizes:
        number *= math.comb(left, size)
        left -= size
    return number


@lru_cache(maxsize=16)
def assignments(sizes: tuple[int, ...], most: int = MOST_LISTED, seed: int = 1) -> npt.NDArray[np.int8]:
    """Return the wave of each group under every possible assignment, or under `most` - 1 random ones if there are more.

    Drawn ones leave room for the assignment that came about, which must be counted with them.
    """
    groups = sum(sizes)
    if possible(sizes) <= most:
        listed = np.array(list(_listed(sizes, groups)), dtype=np.int8)
    else:
        start = np.repeat(np.arange(len(sizes), dtype=np.int8), sizes)
        listed = np.random.default_rng([seed, *sizes]).permuted(np.tile(start, (most - 1, 1)), axis=1)
    listed.setflags(write=False)
    return listed


def _listed(sizes: Sequence[int], groups: int) -> list[list[int]]:
    """Return every assignment: choose who is in the last wave, then the others among the rest."""
    if len(sizes) == 1:
        return [[0] * groups]
    found = []
    for chosen in combinations(range(groups), sizes[-1]):
        rest = [group for group in range(groups) if group not in chosen]
        for others in _listed(sizes[:-1], len(rest)):
            waves = [len(sizes) - 1] * groups
            for group, wave in zip(rest, others, strict=True):
                waves[group] = wave
            found.append(waves)
    return found


def estimates(score: FloatArray, waves: npt.NDArray[np.int8]) -> FloatArray:
    """Return the estimate under each assignment: `score` is (groups, waves), or (samples, groups, waves)."""
    many, groups = waves.shape
    count = score.shape[-1]
    chosen = np.zeros((groups * count, many))
    chosen[np.arange(groups) * count + waves.astype(np.int64), np.arange(many)[:, None]] = 1.0
    flat = score.reshape(*score.shape[:-2], groups * count)
    under: FloatArray = flat @ chosen
    return under


def exposure(cells: Cells) -> FloatArray:
    """Return who is exposed to advice, as 1 and 0, by wave and cell; the run-in counts as exposed."""
    return np.asarray(cells.arms != IN_USUAL, dtype=np.float64)


def attainable_level(cells: Cells, sizes: tuple[int, ...], alpha: float) -> float:
    """Return the largest probability of at most `alpha` with which the test can reject without an effect.

    A few assignments give few p-values: with 8 groups in two arms there are 35 different comparisons, so that 5 %
    becomes 1 in 35. Comparisons that are the same by symmetry count together; numbers at random tell them apart.
    """
    waves = assignments(sizes)
    if possible(sizes) > MOST_LISTED:
        return alpha
    means = np.random.default_rng(1).normal(size=(sum(sizes), 1 + len(cells.days)))
    size = np.abs(estimates(scores(means, cells.weights(sizes), 0.0), waves))
    _, counts = np.unique(np.round(size / size.max(), 9), return_counts=True)
    largest_first = np.cumsum(counts[::-1]) / len(size)
    return float(largest_first[largest_first <= alpha * (1 + 1e-12)].max(initial=0.0))
