"""TimeToReplace: when a new round of replacements may start (the paper's Section 4.3).

The adaptive rule waits until the whole target is active and its least-observed worker has been observed N more times.
The fixed calendar sets its dates in advance, independently of observations and completions.
"""

import math
from collections.abc import Sequence

from crewlearn.beliefs.estimates import Estimates
from crewlearn.problem.arrays import NOBODY, BoolArray, IntArray
from crewlearn.problem.transitions import ARRIVING, FREE, LEAVING, PENDING, RosterArrays

ADAPTIVE, FIXED_CALENDAR = range(2)

TIMINGS = {"adaptive": ADAPTIVE, "fixed-calendar": FIXED_CALENDAR}
"""Names of the timing rules and their codes."""

WAIT, NEW_CYCLE, CHOOSE_AGAIN = range(3)
"""Possible actions in a period."""

CYCLE, DECIDED_AT, LEAST, SEEN_THEN, NEEDED, NEXT_DATE, DISTURBED = range(7)
"""Indices into the memory of a cycle: its number, its decision period, the least-observed worker of its target, that
worker's count at the decision, the number of further observations needed, the fixed calendar's next date in periods
after the first, and whether something unplanned happened since the target was chosen."""

MEMORY = 7


def block_threshold(gamma: float, observed: int) -> int:
    """Return N >= 1, the number of further observations of the least-observed worker that a cycle needs.

    >>> block_threshold(16.0, 0), block_threshold(16.0, 16)
    (16, 48)
    """
    return max(1, math.ceil(min(2.0 * math.sqrt(gamma * observed) + gamma, 1e15)))


def least_observed(target: IntArray, estimates: Estimates) -> int:
    """Return the target's least-observed worker, with ties by worker number, or NOBODY; empty stations are ignored."""
    least = NOBODY
    for worker in target:
        if worker == NOBODY:
            continue
        if (
            least == NOBODY
            or estimates.counts[worker] < estimates.counts[least]
            or (estimates.counts[worker] == estimates.counts[least] and worker < least)
        ):
            least = worker
    return least


def begin_cycle(memory: IntArray, target: IntArray, estimates: Estimates, period: int, gamma: float) -> None:
    """Record, at a decision, the new target's least-observed worker and the number of observations needed."""
    least = least_observed(target, estimates)
    memory[DECIDED_AT] = period
    memory[LEAST] = least
    memory[SEEN_THEN] = 0 if least == NOBODY else estimates.counts[least]
    memory[NEEDED] = block_threshold(gamma, memory[SEEN_THEN])
    memory[DISTURBED] = 0


def idle(code: int, memory: IntArray | Sequence[int], period: int, pending: int, seen: int) -> bool:
    """Return whether a few counters show that there is nothing to decide, as in most periods.

    `pending` is the number of pending replacements, `seen` that of observations of the least-observed worker.
    """
    if memory[CYCLE] == 0 or memory[DISTURBED] != 0:
        return False
    if code == FIXED_CALENDAR:
        return bool(period < 1 + memory[NEXT_DATE])
    if code == ADAPTIVE:
        return pending > 0 or bool(memory[LEAST] != NOBODY and seen < memory[SEEN_THEN] + memory[NEEDED])
    raise ValueError("unknown code of a timing rule")


def seen_of_least(memory: IntArray, estimates: Estimates) -> int:
    """Return the number of observations of the cycle's least-observed worker."""
    return 0 if memory[LEAST] == NOBODY else int(estimates.counts[memory[LEAST]])


def time_to_replace(
    code: int,
    memory: IntArray,
    target: IntArray,
    roster: RosterArrays,
    estimates: Estimates,
    may_enter: BoolArray,
    period: int,
    gamma: float,
) -> int:
    """Return the action: WAIT, NEW_CYCLE, or CHOOSE_AGAIN if this cycle's target can no longer be reached.

    After a disturbance (a failed pair, a revised setting), the target is chosen again only if it is out of reach.
    """
    pending, seen = int(roster.counts[PENDING]), seen_of_least(memory, estimates)
    if idle(code, memory, period, pending, seen):
        return WAIT
    if memory[CYCLE] == 0 or (code == FIXED_CALENDAR and period >= 1 + memory[NEXT_DATE]):
        if code == FIXED_CALENDAR:
            _next_date(memory, period, gamma)
        return NEW_CYCLE
    if memory[DISTURBED] != 0:
        if not on_track(target, roster, may_enter):
            return CHOOSE_AGAIN
        memory[DISTURBED] = 0
        if idle(code, memory, period, pending, seen):
            return WAIT
    return NEW_CYCLE if memory[LEAST] != NOBODY and target_is_active(target, roster) else CHOOSE_AGAIN


def target_is_active(target: IntArray, roster: RosterArrays) -> bool:
    """Return whether everybody in the target is at a station."""
    missing = 0
    for worker in target:
        if worker != NOBODY and roster.station_of[worker] < 0:
            missing += 1
    return missing == 0


def on_track(target: IntArray, roster: RosterArrays, may_enter: BoolArray) -> bool:
    """Return whether the active and pending workers still lead to the target, and no empty station can be filled."""
    size = len(target)
    if size != len(roster.stations):
        return False
    staying = arriving = vacant = 0
    for place in range(size):
        worker = target[place]
        if worker == NOBODY:
            vacant += 1
        elif roster.role[worker] == ARRIVING:
            arriving += 1
        elif roster.station_of[worker] >= 0 and roster.role[worker] != LEAVING:
            staying += 1
        else:
            return False
    if arriving != roster.counts[PENDING]:
        return False
    uncommitted = 0  # active workers in no pending replacement
    for station in range(size):
        worker = roster.stations[station]
        if worker != NOBODY and roster.role[worker] == FREE:
            uncommitted += 1
    open_hires = 0
    for slot in range(roster.counts[PENDING]):
        if roster.pending_out[slot] == NOBODY:
            open_hires += 1
    if uncommitted - staying > open_hires:
        return False
    return vacant == 0 or not someone_free(roster, may_enter)


def someone_free(roster: RosterArrays, may_enter: BoolArray) -> bool:
    """Return whether a worker outside the team, in no pending replacement, may enter."""
    for worker in range(len(roster.station_of)):
        if may_enter[worker] and roster.station_of[worker] < 0 and roster.role[worker] == FREE:
            return True
    return False


def _next_date(memory: IntArray, period: int, gamma: float) -> None:
    """Advance the calendar to its first date after `period`."""
    while 1 + memory[NEXT_DATE] <= period:
        memory[NEXT_DATE] += block_threshold(gamma, memory[NEXT_DATE])
