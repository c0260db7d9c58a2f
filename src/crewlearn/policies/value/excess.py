"""How far a normal exceeds a level in expectation, exactly and nearly.

Gains are compared far more often than their values are needed. `near_excess` reads a table, which is several times as
fast as `excess` when compiled, and its error is bounded. So a comparison is made with near values, and with exact ones
only if the near values are too close to tell. The answer is always that of the exact values.
"""

import math

import numpy as np

from crewlearn.problem.arrays import FloatArray

HIGHEST = 1.0
"""The highest possible output."""

_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_FAR = 8.0

_STEPS = 64
"""Steps of the table per standard deviation."""

ROUGHNESS = 0.4 / (8 * _STEPS * _STEPS)
"""Upper limit on the error of `near_excess`, in standard deviations.

A chord of width h lies above a convex function by at most h^2 / 8 times the function's greatest second derivative. Here
that is the normal density, which is below 0.4.
"""


def excess(mean: float, sd: float, level: float) -> float:
    """Return E[max(X - level, 0)] for a normal X."""
    distance = mean - level
    if distance >= _FAR * sd:
        return distance
    if distance <= -_FAR * sd:
        return 0.0
    z = distance / sd
    return sd * _DENSITY * math.exp(-0.5 * z * z) + distance * 0.5 * math.erfc(-z * _ROOT_HALF)


def _table() -> FloatArray:
    """Return the excess of a standard normal over levels from 0 to just beyond _FAR."""
    return np.array([excess(0.0, 1.0, step / _STEPS) for step in range(int(_FAR) * _STEPS + 2)])


_TABLE = _table()


def near_excess(mean: float, sd: float, level: float) -> float:
    """Return `excess`, or up to ROUGHNESS * sd more.

    >>> 0.0 <= near_excess(0.5, 0.1, 0.537) - excess(0.5, 0.1, 0.537) <= ROUGHNESS * 0.1
    True
    """
    distance = mean - level
    if abs(distance) >= _FAR * sd:
        return max(distance, 0.0)
    place = abs(distance) / sd * _STEPS
    step = int(place)
    above, below = float(_TABLE[step]), float(_TABLE[step + 1])
    return max(distance, 0.0) + sd * (above + (place - step) * (below - above))


def upside(mean: float, sd: float, level: float) -> float:
    """Return E[max(X - level, 0)] for a normal X capped at the highest possible output.

    >>> round(upside(0.5, 0.1, 0.5), 4), round(upside(0.5, 0.1, 0.9), 6)
    (0.0399, 1e-06)
    """
    if level >= HIGHEST:
        return 0.0
    return max(0.0, excess(mean, sd, level) - excess(mean, sd, HIGHEST))


def near_upside(mean: float, sd: float, level: float) -> float:
    """Return `upside`, or up to ROUGHNESS * sd more or less."""
    if level >= HIGHEST:
        return 0.0
    return max(0.0, near_excess(mean, sd, level) - near_excess(mean, sd, HIGHEST))


def possible(mean: float, sd: float) -> float:
    """Return the mean of a normal capped at the highest possible output.

    >>> round(possible(0.5, 0.1), 6), round(possible(1.0, 0.1), 3)
    (0.5, 0.96)
    """
    return mean - excess(mean, sd, HIGHEST)
