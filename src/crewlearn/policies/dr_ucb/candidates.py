"""Candidates for selection: who may leave and who may enter."""

from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.transitions import FREE, LEAVING, RosterArrays, unclaimed_stations

TOLERANCE = 1e-12
"""Rounding tolerance of "strictly better" and "feasible"."""


class Candidates(NamedTuple):
    """Possible leavers and entrants with their confidence bounds, each list in worker order.

    An empty station is a possible leaver: worker NOBODY, with known output 0. Empty stations come last.
    """

    out_worker: IntArray
    out_ucb: FloatArray
    out_lcb: FloatArray
    in_worker: IntArray
    in_ucb: FloatArray
    in_lcb: FloatArray


def list_candidates(
    roster: RosterArrays,
    ucb: FloatArray,
    lcb: FloatArray,
    may_leave: BoolArray,
    may_enter: BoolArray,
    going: BoolArray,
    pending_too: bool,
) -> Candidates:
    """List who may leave and who may enter.

    Workers who are `going` anyway are left out, as are those in pending replacements unless `pending_too`.
    """
    station_of, role = roster.station_of, roster.role
    workers, team = len(station_of), len(roster.stations)
    out_worker = np.empty(team, dtype=np.int64)
    in_worker = np.empty(workers, dtype=np.int64)
    n_out = n_in = 0
    for worker in range(workers):
        if going[worker] or (not pending_too and role[worker] != FREE):
            continue
        if station_of[worker] >= 0:
            if may_leave[worker]:
                out_worker[n_out] = worker
                n_out += 1
        elif may_enter[worker]:
            in_worker[n_in] = worker
            n_in += 1
    for _ in range(max(0, unclaimed_stations(roster))):
        out_worker[n_out] = NOBODY
        n_out += 1
    out_ucb = np.zeros(n_out, dtype=np.float64)
    out_lcb = np.zeros(n_out, dtype=np.float64)
    in_ucb = np.empty(n_in, dtype=np.float64)
    in_lcb = np.empty(n_in, dtype=np.float64)
    for place in range(n_out):
        worker = out_worker[place]
        if worker != NOBODY:
            out_ucb[place] = ucb[worker]
            out_lcb[place] = lcb[worker]
    for place in range(n_in):
        in_ucb[place] = ucb[in_worker[place]]
        in_lcb[place] = lcb[in_worker[place]]
    return Candidates(out_worker[:n_out], out_ucb, out_lcb, in_worker[:n_in], in_ucb, in_lcb)


def list_going(roster: RosterArrays, marked: IntArray, lcb: FloatArray, may_leave: BoolArray, going: BoolArray) -> None:
    """Flag the active workers whom pending hires will replace: those named and, for open hires, the first marked."""
    for worker in range(len(roster.role)):
        going[worker] = roster.role[worker] == LEAVING
    for _ in range(-unclaimed_stations(roster)):
        leaver = NOBODY
        for worker in marked:
            if can_go(roster, may_leave, worker) and not going[worker] and goes_first(lcb, worker, leaver):
                leaver = worker
        if leaver != NOBODY:
            going[leaver] = True


def can_go(roster: RosterArrays, may_leave: BoolArray, worker: int) -> bool:
    """Return whether a worker is active, in no pending replacement, and may be let go."""
    return bool(
        worker != NOBODY and roster.station_of[worker] >= 0 and roster.role[worker] == FREE and may_leave[worker]
    )


def goes_first(lcb: FloatArray, worker: int, than: int) -> bool:
    """Return whether `worker` leaves before `than`: by lower LCB, then by higher number."""
    if than == NOBODY or lcb[worker] < lcb[than]:
        return True
    return bool(lcb[worker] == lcb[than] and worker > than)
