"""Ranking by a key, the same in both modes: NumPy's sorts may order equal keys differently when compiled."""

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray

SMALL = 32
"""Up to so many keys, insertion is quicker than merging."""


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
    for place in range(n):
        order[place] = place
    spare = np.empty(n, dtype=np.int64)
    width = 1
    while width < n:  # bottom-up merge sort
        for start in range(0, n, 2 * width):
            left, right = start, min(start + width, n)
            left_end, right_end = right, min(start + 2 * width, n)
            for place in range(start, right_end):
                if left < left_end and (right >= right_end or keys[order[left]] <= keys[order[right]]):
                    spare[place] = order[left]
                    left += 1
                else:
                    spare[place] = order[right]
                    right += 1
        for place in range(n):
            order[place] = spare[place]
        width *= 2


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
