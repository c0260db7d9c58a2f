"""Prices on places: the dual of "m work in each period", and its minimisation."""

from collections.abc import Callable

import numpy as np

from crewlearn.problem.arrays import FloatArray

Dual = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Returns, for prices of the shape (periods, rows), the dual's value by row and places less expected holders."""

MOMENTUM, STEP, STEP_OF_POOL, FADING = 0.9, 0.5, 1.25, 0.05
"""How much of the last direction is kept; the largest first step for an excess of the whole team, and of the whole
pool, as in a large pool a small change of the price moves many; and how steps shrink."""


def lowest(
    dual: Dual, prices: FloatArray, team: int, workers: int, rounds: int, *, never_negative: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest values found from these prices on, row by row, and their prices.

    The dual is convex in the prices, and any prices give a bound: where this stops matters only for how tight it is.
    Where places may stay empty, prices must not be negative.
    """
    best, at_best = np.full(prices.shape[1], np.inf), prices
    direction, step = np.zeros(prices.shape), min(STEP / team, STEP_OF_POOL / workers)
    for number in range(rounds):
        values, excess = dual(prices)
        better = values < best
        best, at_best = np.where(better, values, best), np.where(better, prices, at_best)
        direction = MOMENTUM * direction + (1.0 - MOMENTUM) * excess
        prices = prices - step / (1.0 + FADING * number) * direction
        if never_negative:
            prices = np.maximum(prices, 0.0)
    return best, at_best
