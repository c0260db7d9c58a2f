"""FrontierConstrainedKnapsack: the Pareto frontiers of sets of q leavers (the paper's appendix, "Computation of
Selection Rule").

For each number q of leavers, the frontier holds the pairs (sum of LCBs, sum of UCBs) that no other set of q leavers
dominates. One pass builds the frontiers for every q. Each state links to the one it was extended from, so that its
leavers can be recovered.
"""

from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray

FRONTIER_CAP = 50_000
"""Upper limit on the total number of states, which bounds time and memory."""


class Frontier(NamedTuple):
    """The states, and the frontier for each q.

    `lower[s]` and `upper[s]` are the sums of state s. State s extends state `grown_from[s]` by the leaver at place
    `added[s]`. `members[first[q]:first[q+1]]` are the states of q leavers, by ascending lower and descending upper sum.
    """

    lower: FloatArray
    upper: FloatArray
    grown_from: IntArray
    added: IntArray
    members: IntArray
    first: IntArray
    totals: IntArray


STATES, LARGEST, OVERFLOWED = range(3)
"""Indices into `Frontier.totals`: number of states, size of the largest frontier, whether the cap was exceeded."""


def build_frontier(lcb: FloatArray, ucb: FloatArray, most: int, cap: int) -> Frontier:
    """Build the frontiers for 0 to `most` leavers among workers with finite bounds; stop if `cap` is exceeded.

    Most frontiers are small, so it starts with small arrays and retries with larger ones on overflow.
    """
    room = min(cap, 512)
    while True:
        frontier = _build_within(lcb, ucb, most, room)
        if frontier.totals[OVERFLOWED] == 0 or room >= cap:
            return frontier
        room = min(cap, 16 * room)


def _build_within(lcb: FloatArray, ucb: FloatArray, most: int, cap: int) -> Frontier:
    """Build the frontiers in one pass; stop and set OVERFLOWED if there are more than `cap` states."""
    lower = np.empty(cap, dtype=np.float64)
    upper = np.empty(cap, dtype=np.float64)
    grown_from = np.empty(cap, dtype=np.int64)
    added = np.empty(cap, dtype=np.int64)
    members = np.empty(cap, dtype=np.int64)
    merged = np.empty(cap, dtype=np.int64)
    first = np.zeros(most + 2, dtype=np.int64)
    bounds = np.zeros(most + 2, dtype=np.int64)
    totals = np.zeros(3, dtype=np.int64)
    lower[0] = upper[0] = 0.0
    grown_from[0] = added[0] = -1
    members[0] = 0
    for q in range(1, most + 2):
        first[q] = 1
    states, largest = 1, 1
    for place in range(len(lcb)):
        size = 0
        for q in range(min(place + 1, most) + 1):
            bounds[q] = size
            old, old_end = first[q], first[q + 1]
            new, new_end = (first[q - 1], first[q]) if q > 0 else (0, 0)
            if states + new_end - new > cap or size + old_end - old + new_end - new > cap:
                totals[STATES] = states
                totals[LARGEST] = largest
                totals[OVERFLOWED] = 1
                return Frontier(lower, upper, grown_from, added, members, first, totals)
            last_upper = np.inf
            while old < old_end or new < new_end:
                take_new = old >= old_end
                new_lower = new_upper = 0.0
                if new < new_end:
                    new_lower = lower[members[new]] + lcb[place]
                    new_upper = upper[members[new]] + ucb[place]
                    if not take_new:
                        old_lower, old_upper = lower[members[old]], upper[members[old]]
                        # Among equals the later place leaves, so that the lower worker number stays.
                        take_new = new_lower < old_lower or (new_lower == old_lower and new_upper <= old_upper)
                if take_new:
                    if new_upper < last_upper:
                        lower[states] = new_lower
                        upper[states] = new_upper
                        grown_from[states] = members[new]
                        added[states] = place
                        merged[size] = states
                        states += 1
                        size += 1
                        last_upper = new_upper
                    new += 1
                else:
                    if upper[members[old]] < last_upper:
                        merged[size] = members[old]
                        size += 1
                        last_upper = upper[members[old]]
                    old += 1
            largest = max(largest, size - bounds[q])
        for q in range(min(place + 1, most) + 1):
            first[q] = bounds[q]
        for q in range(min(place + 1, most) + 1, most + 2):
            first[q] = size
        members, merged = merged, members
    totals[STATES] = states
    totals[LARGEST] = largest
    return Frontier(lower, upper, grown_from, added, members, first, totals)


def cheapest_leavers(frontier: Frontier, q: int, budget: float) -> int:
    """Return the state of q leavers with the smallest sum of UCBs whose LCBs sum to at most `budget`, or -1."""
    low, high = frontier.first[q], frontier.first[q + 1]
    state = -1
    while low < high:  # bisect: lower sums rise and upper sums fall, so the last state within budget is the best
        middle = (low + high) // 2
        if frontier.lower[frontier.members[middle]] <= budget:
            state = frontier.members[middle]
            low = middle + 1
        else:
            high = middle
    return state


def leavers_of(frontier: Frontier, state: int, places: IntArray) -> int:
    """Fill `places` with the leavers of a state, in ascending order, and return their number."""
    n = 0
    step = state
    while frontier.added[step] >= 0:
        n += 1
        step = frontier.grown_from[step]
    step = state
    for index in range(n - 1, -1, -1):
        places[index] = frontier.added[step]
        step = frontier.grown_from[step]
    return n
