"""Transitions of a roster: rule functions over arrays, compiled in simulations and plain Python on the live side.

A period has five steps (the paper's Section 3): replacements are initiated and paid; their delays are drawn; hires
whose delay has elapsed become available; the active team is formed; the team produces. `initiate` is the first step,
`next_elapsed` the third and `complete` the fourth. A replacement is a pair (out, into). With out = NOBODY the outgoing
worker is left open until arrival, or the hire fills an empty station.
"""

from typing import NamedTuple

from crewlearn.problem.arrays import NOBODY, IntArray

FREE, LEAVING, ARRIVING = range(3)
"""A worker's role in the pending replacements."""

PENDING, INITIATED, COMPLETED, FAILED = range(4)
"""Indices into `RosterArrays.counts`."""

NEVER = -1
"""The due period of a hire with unknown delay, which completes when its start is reported."""

(
    LEGAL,
    NO_SUCH_INCOMING,
    NO_SUCH_OUTGOING,
    INCOMING_IS_ACTIVE,
    INCOMING_IS_PENDING,
    OUTGOING_IS_NOT_ACTIVE,
    OUTGOING_IS_PENDING,
    EVERY_STATION_IS_SPOKEN_FOR,
    NO_EMPTY_STATION,
) = range(9)
"""Codes for what makes a replacement illegal, and LEGAL."""


class RosterArrays(NamedTuple):
    """A roster of m stations and k workers.

    `stations[s]` is the worker at station s or NOBODY, and `station_of[i]` the inverse. The first `counts[PENDING]`
    entries of the `pending_*` arrays are the pending replacements in order of initiation. Each claims a different
    station, so there are at most m. `role[i]` is worker i's role in them.
    """

    stations: IntArray
    station_of: IntArray
    role: IntArray
    pending_out: IntArray
    pending_in: IntArray
    pending_since: IntArray
    pending_due: IntArray
    counts: IntArray


def request_fault(roster: RosterArrays, out: int, into: int) -> int:
    """Return the code of what forbids replacing `out` by `into` now, or LEGAL."""
    workers = len(roster.station_of)
    if into < 0 or into >= workers:
        return NO_SUCH_INCOMING
    if out < NOBODY or out >= workers:
        return NO_SUCH_OUTGOING
    if roster.station_of[into] >= 0:
        return INCOMING_IS_ACTIVE
    if roster.role[into] != FREE:
        return INCOMING_IS_PENDING
    if out != NOBODY:
        if roster.station_of[out] < 0:
            return OUTGOING_IS_NOT_ACTIVE
        if roster.role[out] != FREE:
            return OUTGOING_IS_PENDING
    if roster.counts[PENDING] >= len(roster.stations):
        return EVERY_STATION_IS_SPOKEN_FOR
    return LEGAL


def initiate(roster: RosterArrays, out: int, into: int, period: int, due: int) -> None:
    """Begin a legal replacement in `period`; the incoming worker becomes available in period `due`."""
    slot = roster.counts[PENDING]
    roster.pending_out[slot] = out
    roster.pending_in[slot] = into
    roster.pending_since[slot] = period
    roster.pending_due[slot] = due
    roster.role[into] = ARRIVING
    if out != NOBODY:
        roster.role[out] = LEAVING
    roster.counts[PENDING] += 1
    roster.counts[INITIATED] += 1


def is_due(roster: RosterArrays, slot: int, period: int) -> bool:
    """Return whether the incoming worker of the pending replacement `slot` is available by `period`."""
    return bool(roster.pending_due[slot] != NEVER and roster.pending_due[slot] <= period)


def next_elapsed(roster: RosterArrays, period: int) -> int:
    """Return the slot of the earliest initiated replacement that is due by `period`, or -1."""
    for slot in range(roster.counts[PENDING]):
        if is_due(roster, slot, period):
            return slot
    return -1


def empty_station(roster: RosterArrays) -> int:
    """Return the first station without a worker, or -1."""
    for station in range(len(roster.stations)):
        if roster.stations[station] == NOBODY:
            return station
    return -1


def unclaimed_stations(roster: RosterArrays) -> int:
    """Return the number of empty stations less open hires; below 0, the leavers still to be named."""
    stations, pending_out = roster.stations, roster.pending_out
    unclaimed = 0
    for station in range(len(stations)):
        if stations[station] == NOBODY:
            unclaimed += 1
    for slot in range(roster.counts[PENDING]):
        if pending_out[slot] == NOBODY:
            unclaimed -= 1
    return unclaimed


def completion_fault(roster: RosterArrays, slot: int, leaver: int) -> int:
    """Return the code of what forbids completing `slot` with `leaver` making room, or LEGAL."""
    if leaver == NOBODY:
        return LEGAL if empty_station(roster) >= 0 else NO_EMPTY_STATION
    if leaver < 0 or leaver >= len(roster.station_of):
        return NO_SUCH_OUTGOING
    if roster.station_of[leaver] < 0:
        return OUTGOING_IS_NOT_ACTIVE
    if roster.role[leaver] != FREE and leaver != roster.pending_out[slot]:
        return OUTGOING_IS_PENDING
    return LEGAL


def complete(roster: RosterArrays, slot: int, leaver: int) -> None:
    """Move the incoming worker of `slot` to the station of `leaver`, or to the first empty one; must be legal."""
    into = roster.pending_in[slot]
    station = empty_station(roster) if leaver == NOBODY else roster.station_of[leaver]
    _close(roster, slot)
    if leaver != NOBODY:
        roster.station_of[leaver] = NOBODY
    roster.stations[station] = into
    roster.station_of[into] = station
    roster.counts[COMPLETED] += 1


def fail(roster: RosterArrays, slot: int) -> None:
    """Withdraw the pending replacement `slot`: declined, rejected, expired, or a no-show."""
    _close(roster, slot)
    roster.counts[FAILED] += 1


def vacate(roster: RosterArrays, worker: int) -> None:
    """Remove an active worker at once; the station stays empty until a hire fills it.

    A pending hire that was to replace the worker becomes an open hire.
    """
    for slot in range(roster.counts[PENDING]):
        if roster.pending_out[slot] == worker:
            roster.pending_out[slot] = NOBODY
    roster.stations[roster.station_of[worker]] = NOBODY
    roster.station_of[worker] = NOBODY
    roster.role[worker] = FREE


def _close(roster: RosterArrays, slot: int) -> None:
    """Free both workers of a pending replacement and remove it, keeping the order of the others."""
    roster.role[roster.pending_in[slot]] = FREE
    if roster.pending_out[slot] != NOBODY:
        roster.role[roster.pending_out[slot]] = FREE
    roster.counts[PENDING] -= 1
    for later in range(slot, roster.counts[PENDING]):
        roster.pending_out[later] = roster.pending_out[later + 1]
        roster.pending_in[later] = roster.pending_in[later + 1]
        roster.pending_since[later] = roster.pending_since[later + 1]
        roster.pending_due[later] = roster.pending_due[later + 1]
