"""Ranking by a key, with the same order compiled and in plain Python.

Of NumPy's sorts, only a stable one orders equal keys alike in both.
"""

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray

SMALL = 32
"""Up to this many keys, insertion sort is faster than merge sort, which allocates arrays."""


def rank_ascending(keys: FloatArray, order: IntArray, n: int) -> None:
    """Fill `order` with the positions 0..n-1 by ascending key, the lower position first among equals."""
    if n <= SMALL:
        for place in range(n):
            hole = place
            while hole > 0 and keys[order[hole - 1]] > keys[place]:
                order[hole] = order[hole - 1]
                hole -= 1
            order[hole] = place
        return
    ranked = np.argsort(keys[:n], kind="mergesort")
    for place in range(n):
        order[place] = int(ranked[place])


def rank_descending(keys: FloatArray, order: IntArray, n: int) -> None:
    """Fill `order` with the positions 0..n-1 by descending key, the lower position first among equals."""
    negated = np.empty(n, dtype=np.float64)
    for place in range(n):
        negated[place] = -keys[place]
    rank_ascending(negated, order, n)


def rank_leavers(keys: FloatArray, order: IntArray) -> None:
    """Fill `order` with positions by ascending key, the highest first among equals, so that low numbers stay."""
    n = len(keys)
    backwards = np.empty(n, dtype=np.float64)
    for place in range(n):
        backwards[place] = keys[n - 1 - place]
    rank_ascending(backwards, order, n)
    for place in range(n):
        order[place] = n - 1 - order[place]
