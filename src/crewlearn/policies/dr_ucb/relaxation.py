"""Lagrangian relaxation of the selection knapsack, for pools whose exact frontier would grow too large.

A price on the constraint's slack makes the problem separable: each leaver costs UCB + price * LCB, each entrant is
worth UCB + price * (UCB - c/(T-t)), and the cheapest leavers are paired with the best entrants while that gains. At any
price the optimum of the relaxed problem bounds the true optimum from above. The price is found by intersecting the
lines of the best feasible and the best infeasible exchange so far, until no new line appears.
"""

import numpy as np

from crewlearn.policies.dr_ucb.candidates import TOLERANCE, Candidates
from crewlearn.policies.ranking import rank_leavers
from crewlearn.problem.arrays import FloatArray, IntArray

MOST_PRICES = 64
"""Upper limit on the prices tried; a few suffice to converge, and any price gives a valid bound."""

REPLACEMENTS, GAIN, SLACK = range(3)


def relaxed_exchange(
    candidates: Candidates, places: IntArray, entrants: IntArray, threshold: float, chosen: IntArray
) -> tuple[int, float, float]:
    """Find a feasible, near-optimal exchange over the leavers at `places`, whose bounds are finite.

    `entrants` ranks the incoming workers by descending UCB. Fill `chosen` with the places that leave. Return their
    number, the gain in the sum of UCBs, and an upper bound on the gain of any feasible exchange.
    """
    n = len(places)
    order = np.empty(n, dtype=np.int64)
    weights = np.empty(n, dtype=np.float64)
    line = np.zeros(3, dtype=np.float64)
    _priced_exchange(candidates, places, entrants, threshold, 0.0, weights, order, line)
    rich_gain, rich_slack = line[GAIN], line[SLACK]
    lean_gain, lean_slack = 0.0, 0.0
    bound = rich_gain
    best_r, best_gain = 0, 0.0
    for _ in range(MOST_PRICES):
        if rich_slack >= -TOLERANCE or rich_gain <= lean_gain:
            break
        price = (rich_gain - lean_gain) / (lean_slack - rich_slack)
        _priced_exchange(candidates, places, entrants, threshold, price, weights, order, line)
        bound = min(bound, line[GAIN] + price * line[SLACK])
        if line[SLACK] >= -TOLERANCE and line[GAIN] > best_gain + TOLERANCE:
            best_r, best_gain = int(line[REPLACEMENTS]), line[GAIN]
            for index in range(best_r):
                chosen[index] = places[order[index]]
        if line[GAIN] + price * line[SLACK] <= lean_gain + price * lean_slack + TOLERANCE:
            break
        if line[SLACK] >= -TOLERANCE:
            lean_gain, lean_slack = line[GAIN], line[SLACK]
        else:
            rich_gain, rich_slack = line[GAIN], line[SLACK]
    return best_r, best_gain, bound


def _priced_exchange(
    candidates: Candidates,
    places: IntArray,
    entrants: IntArray,
    threshold: float,
    price: float,
    weights: FloatArray,
    order: IntArray,
    line: FloatArray,
) -> None:
    """Solve the relaxed problem at a price: fill `order` with the leavers' order, `line` with number, gain, slack."""
    n = len(places)
    for index in range(n):
        weights[index] = candidates.out_ucb[places[index]] + price * candidates.out_lcb[places[index]]
    rank_leavers(weights, order)
    r = 0
    gain = slack = 0.0
    while r < min(n, len(entrants)):
        incoming = candidates.in_ucb[entrants[r]]
        if incoming + price * (incoming - threshold) <= weights[order[r]]:
            break
        gain += incoming - candidates.out_ucb[places[order[r]]]
        slack += incoming - threshold - candidates.out_lcb[places[order[r]]]
        r += 1
    line[REPLACEMENTS] = r
    line[GAIN] = gain
    line[SLACK] = slack
