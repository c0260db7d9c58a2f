"""How groups' output varies around that of the day, from a site's own record.

After each day's mean over the groups is taken off, the covariance of a group's output on days s and t, counted from the
first day of the record, is modelled as

    lasting + fading x memory ** |s - t| + wandering x min(s, t) + (daily if s = t)

for groups that always differ, people who come and go, people who drift or decline, and the noise of single days. The
first three are fitted by non-negative least squares to all pairs of days, for each of a list of memories; the best is
kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crewlearn.planning.pilot.comparison import Cells
from crewlearn.problem.arrays import FloatArray

MEMORIES = (0.5, 0.8, 0.9, 0.94, 0.97, 0.985)


@dataclass(frozen=True)
class Variation:
    """Variances of groups' output around the day's mean; `wandering` is a day's."""

    lasting: float
    fading: float
    memory: float
    wandering: float
    daily: float

    def covariance(self, cells: Cells) -> FloatArray:
        """Return the covariance of a group's means in the baseline and in each cell.

        Days are counted from the first of the record that the variation was fitted to.
        """
        own = [np.array(days) for days in (cells.baseline, *cells.days)]
        length = 1 + max(int(days.max()) for days in own)
        member = np.zeros((len(own), length))
        for row, days in enumerate(own):
            member[row, days] = 1.0 / len(days)
        flat, faded, wandered = _curves(length, self.memory)
        day = self.lasting * flat + self.fading * faded + self.wandering * wandered + self.daily * np.eye(length)
        shared: FloatArray = member @ day @ member.T
        return shared


def _curves(days: int, memory: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the covariances of all pairs of days that one unit of each lasting part makes."""
    place = np.arange(days, dtype=np.float64)
    faded = memory ** np.abs(place[:, None] - place[None, :])
    return np.ones((days, days)), faded, np.minimum(place[:, None], place[None, :])


@dataclass(frozen=True)
class Products:
    """What fitting takes of each group's products of two days.

    `variances` are the sums of squares of each group and `days` their number. For each memory, `onto` has the sums of
    products times each curve (memories, groups, 3), `gram` the curves' own products (memories, 3, 3).
    """

    variances: FloatArray
    days: FloatArray
    onto: FloatArray
    gram: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> "Products":
        """Return the products of groups' days (groups, days), around the mean of each day; NaN is a missing day."""
        groups, days = values.shape
        there = ~np.isnan(values)
        mean = np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        around = np.where(there, values - mean, 0.0) * np.sqrt(groups / max(1, groups - 1))
        present = there.astype(np.float64)
        pairs = present.T @ present / groups
        np.fill_diagonal(pairs, 0.0)
        onto, gram = [], []
        for memory in MEMORIES:
            curves = _curves(days, memory)
            for curve in curves:
                np.fill_diagonal(curve, 0.0)  # single days have noise of their own
            onto.append([[float(own @ curve @ own) for curve in curves] for own in around])
            gram.append([[float((pairs * one * other).sum()) for other in curves] for one in curves])
        return cls((around**2).sum(axis=1), present.sum(axis=1), np.array(onto), np.array(gram))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.variances)

    def fit(self, chosen: Sequence[int] | None = None) -> Variation:
        """Fit the variation to all groups, or to some of them, possibly repeated."""
        rows = list(range(self.groups) if chosen is None else chosen)
        variance = float(self.variances[rows].sum() / self.days[rows].sum())
        best: tuple[float, Variation] | None = None
        for memory, onto, gram in zip(MEMORIES, self.onto, self.gram, strict=True):
            weights, misfit = _non_negative(gram, onto[rows].mean(axis=0))
            if best is None or misfit < best[0]:
                lasting, fading, wandering = (float(weight) for weight in weights)
                middle = wandering * (self.days[rows].mean() - 1) / 2.0
                best = (
                    misfit,
                    Variation(lasting, fading, memory, wandering, max(0.0, variance - lasting - fading - middle)),
                )
        assert best is not None
        return best[1]


def _non_negative(gram: FloatArray, onto: FloatArray) -> tuple[FloatArray, float]:
    """Return the weights >= 0 that minimise w'gram w - 2 w'onto, and that minimum: the best of every subset."""
    best, least = np.zeros(3), 0.0
    for count in (1, 2, 3):
        for some in map(list, combinations(range(3), count)):
            part = gram[np.ix_(some, some)]
            if abs(np.linalg.det(part)) <= 1e-12 * float(np.prod(np.diag(part))):
                continue
            weights = np.linalg.solve(part, onto[some])
            value = -float(weights @ onto[some])
            if (weights >= 0).all() and value < least:
                best, least = np.zeros(3), value
                best[some] = weights
    return best, least


def carried_share(covariance: FloatArray, weights: FloatArray) -> float:
    """Return the share of a group's baseline that predicts its output in the pilot best, from 0 to 1."""
    if covariance[0, 0] <= 0:
        return 0.0
    compared = np.abs(weights).sum(axis=0)
    share = float((compared * covariance[0, 1:]).sum() / (compared.sum() * covariance[0, 0]))
    return min(1.0, max(0.0, share))
