"""DR-UCB's rule: the timing, selection and pairing of a decision, combined."""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.estimates import Estimates
from crewlearn.beliefs.radii import confidence_bounds, log_term
from crewlearn.policies.contract import Hidden
from crewlearn.policies.dr_ucb.candidates import Candidates, list_candidates, list_going, room_for_candidates
from crewlearn.policies.dr_ucb.pairing import LATE, ORACLE, choose_leaver, keep_legal, pair_by_delay, pair_up
from crewlearn.policies.dr_ucb.selection import (
    DIAGNOSTICS,
    EXACT,
    FRONTIER_STATES,
    LARGEST_FRONTIER,
    LOSS_BOUND,
    select_ranked,
)
from crewlearn.policies.dr_ucb.timing import (
    ADAPTIVE,
    CYCLE,
    DECIDED_AT,
    DISTURBED,
    FIXED_CALENDAR,
    LEAST,
    MEMORY,
    NEW_CYCLE,
    WAIT,
    begin_cycle,
    idle,
    time_to_replace,
)
from crewlearn.policies.rule import Happened, Rule, RuleFacts
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.laws import pair_delay
from crewlearn.problem.transitions import PENDING, RosterArrays


class Choices(NamedTuple):
    """The codes of the chosen rules, and their parameters."""

    timing: int
    selection: int
    pairing: int
    radius: int
    frontier_cap: int
    always_build: bool
    gamma: FloatArray


class Scratch(NamedTuple):
    """Room for the numbers of a decision, by worker or in lists of workers.

    It is made once a run. Compiled code that makes arrays counts references to everything it is given, which took a
    third of DR-UCB's time.
    """

    ucb: FloatArray
    lcb: FloatArray
    keys: FloatArray
    replaceable: BoolArray
    going: BoolArray
    leaving: IntArray
    entering: IntArray
    leavers: IntArray
    entrants: IntArray
    candidates: Candidates


class Memory(NamedTuple):
    """DR-UCB's memory, as arrays that the rule functions change.

    `timing` defines the layout of `cycle`, `selection` that of `diagnostics`. `target` and `marked` hold m workers or
    NOBODY. `stream` is the key and the number of draws of the policy's own stream. `scratch` tells nothing.
    """

    cycle: IntArray
    target: IntArray
    marked: IntArray
    stream: IntArray
    diagnostics: FloatArray
    scratch: Scratch


def fresh_scratch(workers: int, team: int) -> Scratch:
    """Make room for decisions about so many workers; empty stations are candidates, too."""
    return Scratch(
        np.empty(workers, dtype=np.float64),
        np.empty(workers, dtype=np.float64),
        np.empty(workers + team, dtype=np.float64),
        np.empty(workers, dtype=np.bool_),
        np.empty(workers, dtype=np.bool_),
        np.empty(team, dtype=np.int64),
        np.empty(workers, dtype=np.int64),
        np.empty(team, dtype=np.int64),
        np.empty(workers, dtype=np.int64),
        room_for_candidates(workers, team),
    )


def pace_in(choices: Choices, period: int) -> float:
    """Return gamma in a period: one for all, or one a period where the horizon that policies are told moves."""
    return float(choices.gamma[min(period, len(choices.gamma)) - 1])


def fresh_dr_ucb(parameters: Choices, facts: RuleFacts, stream_key: int) -> Memory:
    """Return the memory of a new run, before the first cycle."""
    return fresh_memory(len(facts.roster.role), len(facts.roster.stations), stream_key)


def fresh_memory(workers: int, team: int, stream_key: int) -> Memory:
    """Allocate the memory, before the first cycle."""
    memory = Memory(
        np.zeros(MEMORY, dtype=np.int64),
        np.full(team, NOBODY, dtype=np.int64),
        np.full(team, NOBODY, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(DIAGNOSTICS, dtype=np.float64),
        fresh_scratch(workers, team),
    )
    memory.cycle[LEAST] = NOBODY
    memory.stream[0] = stream_key
    memory.diagnostics[EXACT] = 1.0
    return memory


def replacement_threshold(cost: float, horizon: int, period: int) -> float:
    """Return c/(T-t), the gain per period that pays for a replacement; infinite in the last period."""
    return cost / (horizon - period) if period < horizon else math.inf


def decide_dr_ucb(
    choices: Choices, memory: Memory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Wait, or choose a new target and fill in the pairs that lead to it; return their number."""
    roster, estimates, may_enter = facts.roster, facts.estimates, facts.may_enter
    action = time_to_replace(
        choices.timing, memory.cycle, memory.target, roster, estimates, may_enter, period, pace_in(choices, period)
    )
    if action == WAIT:
        return 0
    return begin_round(
        choices,
        memory,
        period,
        facts.horizon,
        facts.cost,
        roster,
        estimates,
        may_enter,
        facts.may_leave,
        facts.hidden,
        action == NEW_CYCLE,
        outs,
        ins,
    )


def begin_round(
    choices: Choices,
    memory: Memory,
    period: int,
    horizon: int,
    cost: float,
    roster: RosterArrays,
    estimates: Estimates,
    may_enter: BoolArray,
    may_leave: BoolArray,
    hidden: Hidden,
    new_cycle: bool,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Choose the target of a new cycle, or choose again; fill in the pairs that lead to it and return their number.

    Within a cycle only unreachable parts of the target are chosen again: active workers in the old target stay. New
    cycles of the fixed calendar ignore pending replacements; every other choice takes them into account.
    """
    scratch = memory.scratch
    ucb, lcb, going, replaceable = scratch.ucb, scratch.lcb, scratch.going, scratch.replaceable
    leaving, entering = scratch.leaving, scratch.entering
    if new_cycle:
        memory.cycle[CYCLE] += 1
    confidence_bounds(choices.radius, estimates, log_term(choices.radius, horizon, period), ucb, lcb)
    pending_too = new_cycle and choices.timing == FIXED_CALENDAR
    for worker in range(len(replaceable)):
        replaceable[worker] = may_leave[worker]
        going[worker] = False
    if not new_cycle:
        _spare(memory.target, replaceable)
    if not pending_too:
        list_going(roster, memory.marked, lcb, may_leave, going)
    room = scratch.candidates
    sizes = list_candidates(roster, ucb, lcb, replaceable, may_enter, going, pending_too, room)
    candidates = Candidates(
        room.out_worker[: sizes.leavers],
        room.out_ucb[: sizes.leavers],
        room.out_lcb[: sizes.leavers],
        room.in_worker[: sizes.entrants],
        room.in_ucb[: sizes.entrants],
        room.in_lcb[: sizes.entrants],
    )
    r = 0
    threshold = replacement_threshold(cost, horizon, period)
    if not math.isinf(threshold):
        r = select_ranked(
            choices.selection,
            candidates,
            threshold,
            choices.frontier_cap,
            choices.always_build,
            leaving,
            entering,
            memory.diagnostics,
            scratch.leavers,
            scratch.entrants,
        )
    _set_target(memory, roster, candidates, leaving, entering, r, going, pending_too)
    begin_cycle(memory.cycle, memory.target, estimates, period, pace_in(choices, period))
    pair_up(
        choices.pairing,
        candidates,
        leaving,
        entering,
        r,
        memory.stream,
        outs,
        ins,
        scratch.keys,
        scratch.entrants,
    )
    if choices.pairing == ORACLE:
        _pair_as_oracle(hidden, period, outs, ins, r)
    if choices.pairing != LATE:
        for place in range(len(memory.marked)):
            memory.marked[place] = NOBODY
    return keep_legal(roster, outs, ins, r)


def assign_dr_ucb(choices: Choices, memory: Memory, period: int, facts: RuleFacts, incoming: int) -> int:
    """Return who makes room for a worker whose hire was left open; NOBODY for an empty station or if nobody may."""
    log_value = log_term(choices.radius, facts.horizon, period)
    roster, marked, target = facts.roster, memory.marked, memory.target
    return _leaver(choices.radius, log_value, roster, facts.estimates, marked, target, facts.may_leave)


def _leaver(
    radius: int,
    log_value: float,
    roster: RosterArrays,
    estimates: Estimates,
    marked: IntArray,
    target: IntArray,
    may_leave: BoolArray,
) -> int:
    """Return who makes room by the current confidence bounds."""
    ucb = np.empty(len(roster.role), dtype=np.float64)
    lcb = np.empty(len(roster.role), dtype=np.float64)
    confidence_bounds(radius, estimates, log_value, ucb, lcb)
    return choose_leaver(roster, marked, target, lcb, may_leave)


def idle_dr_ucb(choices: Choices, memory: Memory, period: int, facts: RuleFacts, behind: int) -> bool:
    """Return whether there is nothing to decide, as in most periods."""
    cycle, seen = memory.cycle, 0
    least = cycle[LEAST]
    if least != NOBODY:
        seen = facts.estimates.counts[least] + (behind if facts.roster.station_of[least] >= 0 else 0)
    return idle(choices.timing, cycle, period, facts.roster.counts[PENDING], seen)


def after_moves_dr_ucb(choices: Choices, memory: Memory, happened: Happened) -> None:
    """Record disturbances of the plan."""
    notice_disturbance(choices.timing, memory, happened)


def notice_disturbance(timing: int, memory: Memory, happened: Happened) -> None:
    """Mark the cycle as disturbed if a pair failed or, with adaptive timing, someone came or left off target."""
    if len(happened.failed_in) > 0:
        memory.cycle[DISTURBED] = 1
    if timing != ADAPTIVE:
        return
    for pair in range(len(happened.completed_in)):
        if happened.completed_out[pair] == NOBODY:
            continue
        came = stays = False
        for worker in memory.target:
            came = came or worker == happened.completed_in[pair]
            stays = stays or worker == happened.completed_out[pair]
        if stays or not came:
            memory.cycle[DISTURBED] = 1


def revise_dr_ucb(choices: Choices, memory: Memory) -> None:
    """Look, at the next decision, whether the target can still be reached."""
    memory.cycle[DISTURBED] = 1


def diagnose_dr_ucb(choices: Choices, memory: Memory, period: int, numbers: FloatArray) -> bool:
    """Return whether a target was chosen in this period; report the frontier and what the heuristic may have lost."""
    numbers[0] = memory.diagnostics[FRONTIER_STATES]
    numbers[1] = memory.diagnostics[LARGEST_FRONTIER]
    numbers[2] = 1.0 - memory.diagnostics[EXACT]
    numbers[3] = memory.diagnostics[LOSS_BOUND]
    return bool(memory.cycle[DECIDED_AT] == period)


DR_UCB_RULE = Rule(
    fresh=fresh_dr_ucb,
    decide=decide_dr_ucb,
    nothing_to_decide=idle_dr_ucb,
    assign=assign_dr_ucb,
    after_moves=after_moves_dr_ucb,
    revise=revise_dr_ucb,
    diagnose=diagnose_dr_ucb,
)
"""DR-UCB's rule."""


def _spare(target: IntArray, replaceable: BoolArray) -> None:
    """Keep the workers of the target from being replaced."""
    for worker in target:
        if worker != NOBODY:
            replaceable[worker] = False


def _set_target(
    memory: Memory,
    roster: RosterArrays,
    candidates: Candidates,
    leaving: IntArray,
    entering: IntArray,
    r: int,
    going: BoolArray,
    pending_too: bool,
) -> None:
    """Set the target that the chosen candidates lead to, and the workers marked to leave for it."""
    for index in range(r):
        worker = candidates.out_worker[leaving[index]]
        if worker != NOBODY:
            going[worker] = True

    size = marks = 0
    for place in range(len(memory.target)):
        memory.target[place] = NOBODY
        memory.marked[place] = NOBODY
    for worker in roster.stations:
        if worker == NOBODY:
            continue
        if going[worker]:
            memory.marked[marks] = worker
            marks += 1
        else:
            memory.target[size] = worker
            size += 1
    if not pending_too:
        for slot in range(roster.counts[PENDING]):
            if size < len(memory.target):
                memory.target[size] = roster.pending_in[slot]
                size += 1
    for index in range(r):
        if size < len(memory.target):
            memory.target[size] = candidates.in_worker[entering[index]]
            size += 1


def _pair_as_oracle(hidden: Hidden, period: int, outs: IntArray, ins: IntArray, r: int) -> None:
    """Pair by true means and delays; an empty station counts as mean 0."""
    means = np.zeros(r, dtype=np.float64)
    delays = np.empty((r, r), dtype=np.int64)
    for a in range(r):
        if outs[a] != NOBODY:
            means[a] = hidden.means[outs[a]]
        for b in range(r):
            delays[a, b] = pair_delay(hidden.delay_form, hidden.delay_key, period, int(outs[a]), int(ins[b]))
    pair_by_delay(outs, ins, r, means, delays)
