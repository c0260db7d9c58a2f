"""ConstructPairing: who replaces whom (the paper's Section 4.4).

- `rank-lcb`, `rank-ucb`: both sides are ranked by descending bound and matched by rank (LCB in the paper's text, UCB in
  its printed tables), with ties by worker number;
- `random`: outgoing in worker order, incoming shuffled;
- `oracle`: uses true means and delays; by ascending mean, each outgoing worker gets the incoming worker with whom the
  replacement completes first;
- `late`: hires are left open, and on arrival the lowest LCB of those marked leaves.
"""

import numpy as np

from crewlearn.policies.dr_ucb.candidates import Candidates, can_go, goes_first
from crewlearn.policies.ranking import rank_ascending, rank_descending
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.chance import shuffle
from crewlearn.problem.transitions import FREE, PENDING, RosterArrays, empty_station

RANK_LCB, RANK_UCB, RANDOM, ORACLE, LATE = range(5)

PAIRINGS = {"rank-lcb": RANK_LCB, "rank-ucb": RANK_UCB, "random": RANDOM, "oracle": ORACLE, "late": LATE}
"""Names of the pairing rules and their codes."""


def pair_up(
    code: int,
    candidates: Candidates,
    leaving: IntArray,
    entering: IntArray,
    r: int,
    stream: IntArray,
    outs: IntArray,
    ins: IntArray,
    keys: FloatArray,
    order: IntArray,
) -> None:
    """Pair `r` leavers with `r` entrants, given as places in `candidates`; fill in the workers of each pair.

    The places are put in order on the way. `keys` and `order` are scratch, with room for all candidates. The oracle's
    pairing is by worker number here; `pair_by_delay` completes it with the hidden delays.
    """
    if code not in (RANK_LCB, RANK_UCB, RANDOM, ORACLE, LATE):
        raise ValueError("unknown code of a pairing rule")
    _put_in_order(leaving, r, len(candidates.out_worker), keys)
    _put_in_order(entering, r, len(candidates.in_worker), keys)
    if code in (RANK_LCB, RANK_UCB):
        by_upper = code == RANK_UCB
        for index in range(r):
            place = leaving[index]
            keys[index] = candidates.out_ucb[place] if by_upper else candidates.out_lcb[place]
        rank_descending(keys, order, r)
        for rank in range(r):
            outs[rank] = candidates.out_worker[leaving[order[rank]]]
        for index in range(r):
            place = entering[index]
            keys[index] = candidates.in_ucb[place] if by_upper else candidates.in_lcb[place]
        rank_descending(keys, order, r)
        for rank in range(r):
            ins[rank] = candidates.in_worker[entering[order[rank]]]
        return
    for index in range(r):
        outs[index] = NOBODY if code == LATE else candidates.out_worker[leaving[index]]
        ins[index] = candidates.in_worker[entering[index]]
    if code == RANDOM:
        shuffle(ins, r, stream)


def _put_in_order(places: IntArray, r: int, n: int, flags: FloatArray) -> None:
    """Put the first `r` places, which are below `n` and distinct, in ascending order."""
    for place in range(n):
        flags[place] = 0.0
    for index in range(r):
        flags[places[index]] = 1.0
    index = 0
    for place in range(n):
        if flags[place] > 0.0:
            places[index] = place
            index += 1


def pair_by_delay(outs: IntArray, ins: IntArray, r: int, out_means: FloatArray, delays: IntArray) -> None:
    """Reorder `ins` for the oracle: by ascending mean, each outgoing worker gets the fastest remaining entrant.

    `delays[a, b]` is the delay of the pair (outs[a], ins[b]). Ties go to the earlier in the list.
    """
    order = np.empty(r, dtype=np.int64)
    rank_ascending(out_means, order, r)
    taken = np.zeros(r, dtype=np.bool_)
    matched = np.empty(r, dtype=np.int64)
    for rank in range(r):
        quickest = -1
        for index in range(r):
            if not taken[index] and (quickest < 0 or delays[order[rank], index] < delays[order[rank], quickest]):
                quickest = index
        taken[quickest] = True
        matched[order[rank]] = ins[quickest]
    for index in range(r):
        ins[index] = matched[index]


def keep_legal(roster: RosterArrays, outs: IntArray, ins: IntArray, r: int) -> int:
    """Drop pairs with a worker in a pending replacement, keeping the order of the rest; return how many remain."""
    kept = 0
    role = roster.role
    room = len(roster.stations) - roster.counts[PENDING]
    for index in range(r):
        out, into = outs[index], ins[index]
        if into == NOBODY or kept >= room:
            continue
        if role[into] == FREE and (out == NOBODY or role[out] == FREE):
            outs[kept] = out
            ins[kept] = into
            kept += 1
    return kept


def choose_leaver(
    roster: RosterArrays, marked: IntArray, target: IntArray, lcb: FloatArray, may_leave: BoolArray
) -> int:
    """Return who makes room for a worker whose hire was left open.

    An empty station comes first, then the lowest LCB of those marked to leave, then the lowest LCB of those outside the
    target. Return NOBODY for an empty station or if nobody may leave. Among equals the lower number stays.
    """
    if empty_station(roster) >= 0:
        return NOBODY
    leaver = NOBODY
    for worker in marked:
        if can_go(roster, may_leave, worker) and goes_first(lcb, worker, leaver):
            leaver = worker
    if leaver != NOBODY:
        return leaver
    for worker in roster.stations:
        wanted = False
        for member in target:
            wanted = wanted or member == worker
        if not wanted and can_go(roster, may_leave, worker) and goes_first(lcb, worker, leaver):
            leaver = worker
    return leaver
