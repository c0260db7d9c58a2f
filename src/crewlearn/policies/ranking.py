"""Ranking by a key, with the same order compiled and in plain Python.

Of NumPy's sorts, only a stable one orders equal keys alike in both. Few keys are sorted by insertion, which allocates
nothing: compiled code that allocates counts references to all arrays that it is given. So what is longer is sorted in
functions of its own.
"""

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray

SMALL = 32
"""Up to this many keys, insertion sort is faster than merge sort."""


def rank_ascending(keys: FloatArray, order: IntArray, n: int) -> None:
    """Fill `order` with the positions 0..n-1 by ascending key, the lower position first among equals."""
    if n > SMALL:
        _rank_many(keys, order, n)
        return
    for place in range(n):
        hole = place
        while hole > 0 and keys[order[hole - 1]] > keys[place]:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = place


def rank_descending(keys: FloatArray, order: IntArray, n: int) -> None:
    """Fill `order` with the positions 0..n-1 by descending key, the lower position first among equals."""
    if n > SMALL:
        _rank_many_descending(keys, order, n)
        return
    for place in range(n):
        hole = place
        while hole > 0 and keys[order[hole - 1]] < keys[place]:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = place


def rank_leavers(keys: FloatArray, order: IntArray) -> None:
    """Fill `order` with positions by ascending key, the highest first among equals, so that low numbers stay."""
    n = len(keys)
    if n > SMALL:
        _rank_many_leavers(keys, order)
        return
    for place in range(n):
        hole, position = place, n - 1 - place
        while hole > 0 and keys[order[hole - 1]] > keys[position]:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = position


def _rank_many(keys: FloatArray, order: IntArray, n: int) -> None:
    ranked = np.argsort(keys[:n], kind="mergesort")
    for place in range(n):
        order[place] = int(ranked[place])


def _rank_many_descending(keys: FloatArray, order: IntArray, n: int) -> None:
    negated = np.empty(n, dtype=np.float64)
    for place in range(n):
        negated[place] = -keys[place]
    _rank_many(negated, order, n)


def _rank_many_leavers(keys: FloatArray, order: IntArray) -> None:
    n = len(keys)
    backwards = np.empty(n, dtype=np.float64)
    for place in range(n):
        backwards[place] = keys[n - 1 - place]
    _rank_many(backwards, order, n)
    for place in range(n):
        order[place] = n - 1 - order[place]
