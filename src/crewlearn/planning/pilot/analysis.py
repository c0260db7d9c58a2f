"""The one analysis of a pilot: the estimated gain, its p-value and its interval, all from the random assignment.

If advice had no effect, the groups' output would have been the same under any other assignment. So the p-value is the
share of the possible assignments whose estimate is at least as far from 0 as the one found. That is exact for any
number of groups, and counts groups, not days: errors are clustered by construction. The interval holds the constant
gains that the same test does not reject.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crewlearn.planning.pilot.comparison import Cells, assignments, estimates, exposure, possible, scores
from crewlearn.problem.arrays import FloatArray

_TIE = 1e-9


@dataclass(frozen=True)
class Effect:
    """Gain of advice over usual practice, with the ends of its interval, its standard error and its p-value.

    An end is None where the groups are too few to bound it. The interval has confidence 1 - `level`.
    """

    gain: float
    low: float | None
    high: float | None
    error: float
    p: float
    level: float
    assignments: int

    @property
    def detected(self) -> bool:
        """Whether the pilot shows an effect at its level."""
        return self.p <= self.level

    def to_json(self) -> dict[str, Any]:
        """Describe the effect as plain data."""
        return asdict(self)


def analyse(values: FloatArray, cells: Cells, waves: Sequence[int], carried: float, level: float) -> Effect:
    """Compare groups in advice with groups in usual practice, given each group's days (groups, days)."""
    sizes = tuple(int(size) for size in np.bincount(waves, minlength=cells.arms.shape[0]))
    score = scores(cells.means(values), cells.weights(sizes), carried)
    exposed = exposure(cells)[list(waves)] @ cells.weights(sizes).T
    return effect(score, exposed, waves, sizes, level)


def effect(
    score: FloatArray, exposed: FloatArray, waves: Sequence[int], sizes: tuple[int, ...], level: float
) -> Effect:
    """Return the effect, given what each group adds to the estimate in each wave, and what a gain of 1 would add."""
    own = np.array([waves], dtype=np.int8)
    gain = float(estimates(score, own)[0])
    listed = assignments(sizes)
    complete = possible(sizes) == len(listed)
    others = listed if complete else np.vstack([own, listed])
    found, moved = estimates(score, others), estimates(exposed, others)
    tie = _TIE * float(np.abs(found).max(initial=1e-300))
    p = float(np.mean(np.abs(found) >= abs(gain) - tie))
    low, high = _interval(gain, found, moved, level)
    error = math.sqrt(float(np.mean((found - gain * moved) ** 2)))
    return Effect(gain, low, high, error, p, level, len(others))


def _interval(gain: float, found: FloatArray, moved: FloatArray, level: float) -> tuple[float | None, float | None]:
    """Return the gains that the test does not reject.

    For a gain g the estimate under an assignment is found - g moved, and gain - g under the one that came about. The
    first is at least as far from 0 for g between (gain - found) / (1 - moved) and (gain + found) / (1 + moved). Each
    of these ranges contains `gain`, so the accepted g are an interval, whose ends are order statistics.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(moved < 1 - _TIE, (gain - found) / (1 - moved), np.nan)
        other = np.where(moved > -1 + _TIE, (gain + found) / (1 + moved), np.nan)
    always = np.isnan(one) | np.isnan(other)
    lower = np.sort(np.where(always, -np.inf, np.fmin(one, other)))
    upper = np.sort(np.where(always, np.inf, np.fmax(one, other)))[::-1]
    place = math.floor(level * len(found) * (1 + 1e-12))
    ends = float(lower[place]), float(upper[place])
    return (ends[0] if math.isfinite(ends[0]) else None), (ends[1] if math.isfinite(ends[1]) else None)
