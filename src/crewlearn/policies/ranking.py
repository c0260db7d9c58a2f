"""Ranking by a key, the same in both modes: of NumPy's sorts, only a stable one orders equal keys alike compiled."""

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray

SMALL = 32
"""Up to so many keys, insertion is quicker than merging, which takes new arrays."""


def rank_ascending(keys: FloatArray, order: IntArray, n: int) -> None:
    """Fill `order` with the places 0..n-1 from the smallest key up, the lower place first among equals."""
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
    """Fill `order` with the places 0..n-1 from the largest key down, the lower place first among equals."""
    negated = np.empty(n, dtype=np.float64)
    for place in range(n):
        negated[place] = -keys[place]
    rank_ascending(negated, order, n)


def rank_leavers(keys: FloatArray, order: IntArray) -> None:
    """Rank who leaves first: the smallest key, and among equals the highest place, so that lower numbers are kept."""
    n = len(keys)
    backwards = np.empty(n, dtype=np.float64)
    for place in range(n):
        backwards[place] = keys[n - 1 - place]
    rank_ascending(backwards, order, n)
    for place in range(n):
        order[place] = n - 1 - order[place]
