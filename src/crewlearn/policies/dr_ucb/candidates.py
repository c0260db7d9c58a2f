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


class Sizes(NamedTuple):
    """The numbers of possible leavers and entrants."""

    leavers: int
    entrants: int


def room_for_candidates(workers: int, team: int) -> Candidates:
    """Make room for as many as there can be."""
    return Candidates(
        np.empty(team, dtype=np.int64),
        np.empty(team, dtype=np.float64),
        np.empty(team, dtype=np.float64),
        np.empty(workers, dtype=np.int64),
        np.empty(workers, dtype=np.float64),
        np.empty(workers, dtype=np.float64),
    )


def list_candidates(
    roster: RosterArrays,
    ucb: FloatArray,
    lcb: FloatArray,
    may_leave: BoolArray,
    may_enter: BoolArray,
    going: BoolArray,
    pending_too: bool,
    room: Candidates,
) -> Sizes:
    """List who may leave and who may enter in the first places of `room`; return their numbers.

    Workers who are `going` anyway are left out, as are those in pending replacements unless `pending_too`.
    """
    station_of, role = roster.station_of, roster.role
    n_out = n_in = 0
    for worker in range(len(station_of)):
        if going[worker] or (not pending_too and role[worker] != FREE):
            continue
        if station_of[worker] >= 0:
            if may_leave[worker]:
                room.out_worker[n_out] = worker
                room.out_ucb[n_out] = ucb[worker]
                room.out_lcb[n_out] = lcb[worker]
                n_out += 1
        elif may_enter[worker]:
            room.in_worker[n_in] = worker
            room.in_ucb[n_in] = ucb[worker]
            room.in_lcb[n_in] = lcb[worker]
            n_in += 1
    for _ in range(max(0, unclaimed_stations(roster))):
        room.out_worker[n_out] = NOBODY
        room.out_ucb[n_out] = room.out_lcb[n_out] = 0.0
        n_out += 1
    return Sizes(n_out, n_in)


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
