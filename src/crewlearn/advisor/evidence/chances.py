"""Counter-based draws as arrays: each stream has a key and is drawn from in order, so that a result is stable."""

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crewlearn.problem.arrays import FloatArray

_GOLDEN, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_UNIT = 2.0**-52


class Stream:
    """A stream of random numbers, the same for the same key; `problem.chance` has its words one by one."""

    def __init__(self, key: int) -> None:
        self._key = np.uint64(key & 0xFFFFFFFFFFFFFFFF)
        self._drawn = 0

    def uniform(self, *shape: int) -> FloatArray:
        """Return numbers uniform on (0, 1).

        >>> from crewlearn.problem.chance import uniform
        >>> Stream(7).uniform(3).tolist() == [uniform(7, n) for n in range(3)]
        True
        """
        size = math.prod(shape)
        numbers = np.arange(self._drawn, self._drawn + size, dtype=np.uint64)
        self._drawn += size
        with np.errstate(over="ignore"):
            words = _mixed(self._key + numbers * _GOLDEN)
        return np.asarray(((words >> np.uint64(12)).astype(np.float64) + 0.5) * _UNIT).reshape(shape)

    def normal(self, *shape: int) -> FloatArray:
        """Return standard normal numbers."""
        radius, angle = self.uniform(2, math.prod(shape))
        return np.asarray(np.sqrt(-2.0 * np.log(radius)) * np.cos(2.0 * math.pi * angle)).reshape(shape)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def key_of(*facts: Any) -> int:
    """Return a key that is the same for the same arrays and numbers."""
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(np.ascontiguousarray(fact).tobytes())
    return int.from_bytes(digest.digest()[:8], "little")
