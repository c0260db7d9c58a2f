"""Prices on places: the dual of "m work in each period", and its minimisation."""

from collections.abc import Callable

import numpy as np

from crewlearn.problem.arrays import FloatArray

Dual = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Returns, for prices of the shape (periods, rows), the dual's value by row and places less expected holders."""

MOMENTUM, STEP, FADING = 0.9, 0.5, 0.05
"""How much of the last direction is kept, the first step for an excess of the whole team, and how steps shrink."""


def lowest(
    dual: Dual, prices: FloatArray, team: int, rounds: int, *, never_negative: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest values found from these prices on, row by row, and their prices.

    The dual is convex in the prices, and any prices give a bound: where this stops matters only for how tight it is.
    Where places may stay empty, prices must not be negative.
    """
    best, at_best = np.full(prices.shape[1], np.inf), prices
    direction = np.zeros(prices.shape)
    for number in range(rounds):
        values, excess = dual(prices)
        better = values < best
        best, at_best = np.where(better, values, best), np.where(better, prices, at_best)
        direction = MOMENTUM * direction + (1.0 - MOMENTUM) * excess
        prices = prices - STEP / team / (1.0 + FADING * number) * direction
        if never_negative:
            prices = np.maximum(prices, 0.0)
    return best, at_best
