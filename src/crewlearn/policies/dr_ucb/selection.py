"""ChooseTarget: whom to employ next (the paper's Section 4.5 and its appendix on computing the selection rule).

The target maximises the sum of UCBs over the teams that satisfy

    sum of UCB over the entrants - sum of LCB over the leavers  >=  r c/(T-t),    r = number of replacements.

That is the paper's constraint: summed over any pairing, the optimistic gains equal this difference. So it does not
depend on the pairing, and for a given r the best entrants are the r highest UCBs.

Sums are compared first by the number of untried workers (infinite bounds) in them and then by the finite rest.
"Strictly better" and "feasible" have a tolerance. With equal sums the team stays; otherwise the lower worker number is
preferred. An untried entrant always satisfies the constraint, and an untried leaver could make room only for an untried
entrant, which gains nothing; so the knapsack has finite bounds only. The frontier is built only if the unconstrained
optimum is infeasible.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crewlearn.policies.dr_ucb.candidates import TOLERANCE, Candidates
from crewlearn.policies.dr_ucb.closure import close_monotone
from crewlearn.policies.dr_ucb.frontier import (
    FRONTIER_CAP,
    LARGEST,
    OVERFLOWED,
    STATES,
    build_frontier,
    cheapest_leavers,
    leavers_of,
)
from crewlearn.policies.dr_ucb.relaxation import relaxed_exchange
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray

CONSTRAINED, TOP_TEAM = range(2)

SELECTIONS = {"constrained": CONSTRAINED, "top-m": TOP_TEAM}
"""Names of the selection rules and their codes."""

EXACT, FRONTIER_STATES, LARGEST_FRONTIER, LOSS_BOUND = range(4)
"""Indices into the diagnostics: whether the optimum was found (1) or the heuristic was used (0), the number of states,
the size of the largest frontier (a lower bound if the cap was exceeded), and a bound on how far the optimum's sum of
UCBs exceeds the chosen team's."""

DIAGNOSTICS = 4


def select(
    code: int,
    candidates: Candidates,
    threshold: float,
    cap: int,
    always_build: bool,
    leaving: IntArray,
    entering: IntArray,
    diagnostics: FloatArray,
) -> int:
    """Choose who leaves and who enters, as places in `candidates`; return the number of replacements.

    `threshold` is c/(T-t). With `always_build` the frontier is built even if it is not needed, to study its size.
    """
    leavers = np.empty(len(candidates.out_ucb), dtype=np.int64)
    entrants = np.empty(len(candidates.in_ucb), dtype=np.int64)
    return select_ranked(
        code, candidates, threshold, cap, always_build, leaving, entering, diagnostics, leavers, entrants
    )


def select_ranked(
    code: int,
    candidates: Candidates,
    threshold: float,
    cap: int,
    always_build: bool,
    leaving: IntArray,
    entering: IntArray,
    diagnostics: FloatArray,
    leavers: IntArray,
    entrants: IntArray,
) -> int:
    """Do what `select` does; `leavers` and `entrants` are scratch, for the candidates by rank.

    Nothing is allocated unless the frontier is built, which is rare.
    """
    diagnostics[EXACT] = 1.0
    diagnostics[FRONTIER_STATES] = 0.0
    diagnostics[LARGEST_FRONTIER] = 0.0
    diagnostics[LOSS_BOUND] = 0.0
    if code == TOP_TEAM:
        return select_top(candidates, leaving, entering)
    if code != CONSTRAINED:
        raise ValueError("unknown code of a selection rule")
    n_out, n_in = len(candidates.out_ucb), len(candidates.in_ucb)
    rank_leavers(candidates.out_ucb, leavers)
    rank_descending(candidates.in_ucb, entrants, n_in)
    tried = n_out
    while tried > 0 and math.isinf(candidates.out_ucb[leavers[tried - 1]]):
        tried -= 1
    most = min(tried, n_in)
    if most == 0:
        return 0

    r = 0
    slack = 0.0
    while r < most and candidates.in_ucb[entrants[r]] > candidates.out_ucb[leavers[r]] + TOLERANCE:
        slack += candidates.in_ucb[entrants[r]] - threshold - candidates.out_lcb[leavers[r]]
        leaving[r] = leavers[r]
        entering[r] = entrants[r]
        r += 1
    fits = slack >= -TOLERANCE  # infinite if an untried worker enters
    if fits and not always_build:
        return r
    best_r = _select_on_frontier(
        candidates, tried, entrants, most, threshold, cap, fits, leaving, entering, diagnostics
    )
    return r if fits else best_r


def _select_on_frontier(
    candidates: Candidates,
    tried: int,
    entrants: IntArray,
    most: int,
    threshold: float,
    cap: int,
    only_size: bool,
    leaving: IntArray,
    entering: IntArray,
    diagnostics: FloatArray,
) -> int:
    """Build the frontier of those `tried` and choose the best exchange on it, unless only its size is wanted."""
    places = np.empty(tried, dtype=np.int64)
    n = 0
    for place in range(len(candidates.out_ucb)):
        if not math.isinf(candidates.out_ucb[place]):
            places[n] = place
            n += 1
    frontier = build_frontier(candidates.out_lcb[places], candidates.out_ucb[places], most, cap)
    _note_size(diagnostics, frontier.totals)
    if only_size:
        return 0
    if frontier.totals[OVERFLOWED] != 0:
        return _select_relaxed(candidates, places, entrants, threshold, leaving, entering, diagnostics)
    best_gain, best_state, best_r = 0.0, -1, 0
    incoming = 0.0
    for q in range(1, most + 1):
        incoming += candidates.in_ucb[entrants[q - 1]]
        state = cheapest_leavers(frontier, q, incoming - q * threshold + TOLERANCE)
        if state >= 0 and incoming - frontier.upper[state] > best_gain + TOLERANCE:
            best_gain, best_state, best_r = incoming - frontier.upper[state], state, q
    if best_r > 0:
        leavers_of(frontier, best_state, leaving)
    for index in range(best_r):
        leaving[index] = places[leaving[index]]
        entering[index] = entrants[index]
    return best_r


def select_top(candidates: Candidates, leaving: IntArray, entering: IntArray) -> int:
    """Choose the highest UCBs overall, with ties by worker number, regardless of the active team."""
    n_out, n_in = len(candidates.out_ucb), len(candidates.in_ucb)
    keys = np.empty(n_out + n_in, dtype=np.float64)
    place_of = np.empty(n_out + n_in, dtype=np.int64)
    out = into = 0
    for index in range(n_out + n_in):  # merge the two lists into worker order, empty stations last
        holder_next = into >= n_in
        if not holder_next and out < n_out:
            worker = candidates.out_worker[out]
            holder_next = worker != NOBODY and worker < candidates.in_worker[into]
        if holder_next:
            keys[index] = candidates.out_ucb[out]
            place_of[index] = out
            out += 1
        else:
            keys[index] = candidates.in_ucb[into]
            place_of[index] = n_out + into
            into += 1
    order = np.empty(n_out + n_in, dtype=np.int64)
    rank_descending(keys, order, n_out + n_in)
    r = gone = 0
    for rank in range(n_out + n_in):
        place = place_of[order[rank]]
        if rank < n_out and place >= n_out:
            entering[r] = place - n_out
            r += 1
        elif rank >= n_out and place < n_out:
            leaving[gone] = place
            gone += 1
    return r


def _note_size(diagnostics: FloatArray, totals: IntArray) -> None:
    diagnostics[FRONTIER_STATES] = totals[STATES]
    diagnostics[LARGEST_FRONTIER] = totals[LARGEST]


def _select_relaxed(
    candidates: Candidates,
    places: IntArray,
    entrants: IntArray,
    threshold: float,
    leaving: IntArray,
    entering: IntArray,
    diagnostics: FloatArray,
) -> int:
    """Use the Lagrangian heuristic followed by MonotoneClosure, and bound its loss."""
    r, gain, bound = relaxed_exchange(candidates, places, entrants, threshold, leaving)
    stays = np.ones(len(candidates.out_ucb), dtype=np.bool_)
    enters = np.zeros(len(candidates.in_ucb), dtype=np.bool_)
    for index in range(r):
        stays[leaving[index]] = False
        enters[entrants[index]] = True
    if close_monotone(candidates, threshold, stays, enters) > 0:
        gain = 0.0
        r = 0
        for place in range(len(stays)):
            if not stays[place]:
                leaving[r] = place
                r += 1
                gain -= candidates.out_ucb[place]
        for place in range(len(enters)):
            if enters[place]:
                gain += candidates.in_ucb[place]
    arrived = 0
    for place in range(len(enters)):
        if enters[place]:
            entering[arrived] = place
            arrived += 1
    diagnostics[EXACT] = 0.0
    diagnostics[LOSS_BOUND] = max(0.0, bound - gain)
    return r


@dataclass(frozen=True)
class Selection:
    """A target and how it was found; `loss_bound` is 0 unless the heuristic was used."""

    target: tuple[int, ...]
    leaving: tuple[int, ...]
    entering: tuple[int, ...]
    exact: bool
    frontier_states: int
    largest_frontier: int
    loss_bound: float


def choose_target(
    active: Sequence[int],
    ucb: FloatArray,
    lcb: FloatArray,
    threshold: float,
    *,
    rule: str = "constrained",
    cap: int = FRONTIER_CAP,
    always_build: bool = False,
) -> Selection:
    """Choose the target, given the `active` team, everybody's bounds and `threshold` = c/(T-t).

    >>> ucb, lcb = np.array([0.6, 0.5, 0.9]), np.array([0.4, 0.3, 0.7])
    >>> choose_target([0, 1], ucb, lcb, threshold=0.2).target
    (0, 2)
    >>> choose_target([0, 1], ucb, lcb, threshold=0.7).target
    (0, 1)
    """
    candidates = _whole_pool(active, ucb, lcb)
    leaving = np.empty(len(candidates.out_worker), dtype=np.int64)
    entering = np.empty(len(candidates.in_worker), dtype=np.int64)
    diagnostics = np.zeros(DIAGNOSTICS)
    r = select(SELECTIONS[rule], candidates, threshold, cap, always_build, leaving, entering, diagnostics)
    gone = tuple(sorted(candidates.out_worker[leaving[:r]].tolist()))
    came = tuple(sorted(candidates.in_worker[entering[:r]].tolist()))
    return Selection(
        target=tuple(sorted((set(active) - set(gone)) | set(came))),
        leaving=gone,
        entering=came,
        exact=bool(diagnostics[EXACT]),
        frontier_states=int(diagnostics[FRONTIER_STATES]),
        largest_frontier=int(diagnostics[LARGEST_FRONTIER]),
        loss_bound=float(diagnostics[LOSS_BOUND]),
    )


def monotone_closure(
    active: Sequence[int], target: Sequence[int], ucb: FloatArray, lcb: FloatArray, threshold: float
) -> tuple[int, ...]:
    """Improve a feasible target by the paper's exchanges.

    >>> ucb, lcb = np.array([0.6, 0.5, 0.9]), np.array([0.4, 0.3, 0.7])
    >>> monotone_closure([0, 1], [0, 1], ucb, lcb, threshold=0.2)
    (0, 2)
    """
    candidates = _whole_pool(active, ucb, lcb)
    stays = np.isin(candidates.out_worker, target)
    enters = np.isin(candidates.in_worker, target)
    close_monotone(candidates, threshold, stays, enters)
    return tuple(sorted([*candidates.out_worker[stays].tolist(), *candidates.in_worker[enters].tolist()]))


def _whole_pool(active: Sequence[int], ucb: FloatArray, lcb: FloatArray) -> Candidates:
    out = np.array(sorted(active), dtype=np.int64)
    into = np.setdiff1d(np.arange(len(ucb)), out)
    return Candidates(out, ucb[out], lcb[out], into, ucb[into], lcb[into])
