"""MonotoneClosure: improving exchanges to apply after any selection heuristic (the paper's appendix).

While someone outside the team has a higher UCB than someone in it, and an optimistic gain of at least c/(T-t), the two
are exchanged. The paper's lemma says that each exchange preserves the constraint. That holds if the entrant is not
active. If the entrant is an active worker who was to leave, the exchange removes their low LCB from the constraint and
may violate it. Such exchanges are made here only if the constraint still holds.
"""

import math

import numpy as np

from crewlearn.policies.dr_ucb.candidates import TOLERANCE, Candidates
from crewlearn.problem.arrays import BoolArray


def close_monotone(candidates: Candidates, threshold: float, stays: BoolArray, enters: BoolArray) -> int:
    """Exchange until no exchange is possible, starting from a feasible team; return the number of exchanges.

    The team is given by `stays` and `enters`, which are updated in place.
    """
    n_out = len(candidates.out_ucb)
    n = n_out + len(candidates.in_ucb)
    ucb = np.concatenate((candidates.out_ucb, candidates.in_ucb))
    lcb = np.concatenate((candidates.out_lcb, candidates.in_lcb))
    member = np.concatenate((stays, enters))
    # What a member adds to the constraint's slack, compared with a non-member; `endless` is +-1 for infinite amounts.
    worth = np.zeros(n, dtype=np.float64)
    endless = np.zeros(n, dtype=np.int64)
    slack, endless_slack = 0.0, 0
    for x in range(n):
        if math.isinf(ucb[x]):
            endless[x] = -1 if x < n_out else 1
        else:
            worth[x] = lcb[x] if x < n_out else ucb[x] - threshold
        if x < n_out and not member[x]:
            slack -= worth[x]
            endless_slack -= endless[x]
        elif x >= n_out and member[x]:
            slack += worth[x]
            endless_slack += endless[x]
    exchanges = 0
    changed = True
    while changed:
        changed = False
        for entrant in range(n):
            if member[entrant]:
                continue
            leaver = -1
            for x in range(n):
                if not member[x] or ucb[entrant] <= ucb[x] + TOLERANCE:
                    continue
                if ucb[entrant] - lcb[x] < threshold - TOLERANCE or (leaver >= 0 and ucb[x] >= ucb[leaver]):
                    continue
                count = endless_slack + endless[entrant] - endless[x]
                if count > 0 or (count == 0 and slack + worth[entrant] - worth[x] >= -TOLERANCE):
                    leaver = x
            if leaver >= 0:
                slack += worth[entrant] - worth[leaver]
                endless_slack += endless[entrant] - endless[leaver]
                member[entrant] = True
                member[leaver] = False
                exchanges += 1
                changed = True
    for x in range(n):
        if x < n_out:
            stays[x] = member[x]
        else:
            enters[x - n_out] = member[x]
    return exchanges
