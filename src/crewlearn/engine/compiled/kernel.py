"""The loop that plays many runs of a policy over arrays: plain Python that Numba can compile.

In every period it calls the functions of the policy's rule in the same order as `interpreted.play`, so both make the
same decisions and give bit-identical numbers. The loop is generic over the rule: the functions that it calls as
`rule_...` are placeholders, which `specialised` replaces in a copy of the loop.
"""

import types
from typing import Any, NamedTuple

import numpy as np

from crewlearn.beliefs.estimates import Estimates, Prior
from crewlearn.engine.streams import DAY, DELAY, INTERVIEW, OUTPUT, TEAM, policy_key, run_key
from crewlearn.policies.contract import Foresight, Hidden
from crewlearn.policies.rule import (
    Happened,
    Rule,
    RuleFacts,
    always_decide,
    ignore,
    no_memory,
    nobody_makes_room,
    nothing_to_revise,
)
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.chance import choose_sorted, mix
from crewlearn.problem.floor import EXPERIENCED
from crewlearn.problem.interviews import score_interviews
from crewlearn.problem.laws import (
    UNIFORM_OUTPUT,
    DelayForm,
    OutputForm,
    day_mean,
    draw_day_effect,
    draw_output,
    pair_delay,
    room_of,
)
from crewlearn.problem.transitions import (
    COMPLETED,
    EVERY_STATION_IS_SPOKEN_FOR,
    INITIATED,
    LEGAL,
    PENDING,
    RosterArrays,
    complete,
    completion_fault,
    fail,
    initiate,
    next_elapsed,
    request_fault,
)

OBSERVES, DIAGNOSES, READS_EXPERIENCE = False, False, False
"""Whether the rule has `observe` and `diagnose`, and reads days worked; constants, so that unused branches are not
compiled."""

NO_INTERVIEW = -9.0
"""Value of `PolicyForm.rho` for a policy that buys no interview scores."""

REQUEST, ARRIVAL, LAPSE, DECISION, QUIT, DECLINE = range(6)
"""Kinds of event in the log. A decision is reported by the rule's `diagnose`, and has its two numbers in place of a
pair."""

FAULT, FAULT_RUN, FAULT_PERIOD, FAULT_OUT, FAULT_IN = range(5)
"""Indices into `Tally.fault`: the fault's code, its run and period, and the pair."""


class ProblemForm(NamedTuple):
    """A problem as the loop takes it.

    `seen_*` are the statistics of each worker's prior observations, and `prior` covers those whose spread is unknown.
    `stations` is the starting team; if empty, each run draws its own.
    """

    workers: int
    team: int
    horizon: int
    cost: float
    mean_delay: float
    paid_on_completion: bool
    output: OutputForm
    delay: DelayForm
    seen_counts: IntArray
    seen_sums: FloatArray
    seen_squares: FloatArray
    prior: Prior
    stations: IntArray
    may_enter: BoolArray
    may_leave: BoolArray


class PolicyForm(NamedTuple):
    """A policy as the loop takes it: its parameters, the interview it buys, and the delay law shown to an oracle.

    `refilled` says that the world fills the places of those who quit. The last two are brakes; -1 is no limit.
    """

    parameters: Any
    rho: float
    interview_fee: float
    oracle: bool
    delay_shown: DelayForm
    refilled: bool
    least_tenure: int
    most_a_week: int


class Tally(NamedTuple):
    """Arrays that the loop fills in.

    - `regret` (runs, checkpoints) and `curve` (runs, periods): cumulative regret; `curve` may have no columns.
    - `net`, `ideal` (runs, periods): cumulative net and output of the best team, where people or days change; else
      they have no columns.
    - `initiated`, `completed` (runs): replacements.
    - `largest_noted`, `heuristics`, `loss_bound` (runs): of what the rule's `diagnose` reported, the largest second
      number, the sum of the third ones, and the largest fourth one.
    - `sums` (runs, workers): sums of output; may have no columns.
    - `log` (events, 5): run, period, kind, out and in of each event, as far as there is room; `logged` counts them.
    - `fault`: the illegal replacement, if any, that the rule requested. It ends the loop.
    - `stop`: set by another thread to end the loop early.
    """

    regret: FloatArray
    curve: FloatArray
    net: FloatArray
    ideal: FloatArray
    initiated: IntArray
    completed: IntArray
    largest_noted: IntArray
    heuristics: IntArray
    loss_bound: FloatArray
    sums: FloatArray
    log: IntArray
    logged: IntArray
    fault: IntArray
    stop: IntArray


def rule_decide(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """Placeholder for a rule's `decide`."""
    return 0


def rule_diagnose(parameters: Any, memory: Any, period: int, numbers: FloatArray) -> bool:
    """Placeholder for a rule's `diagnose`."""
    return False


rule_fresh, rule_nothing_to_decide, rule_assign = no_memory, always_decide, nobody_makes_room
rule_after_moves = rule_observe = ignore
rule_revise = nothing_to_revise


def play_runs(
    problem: ProblemForm,
    policy: PolicyForm,
    means: FloatArray,
    best: FloatArray,
    root: int,
    first_run: int,
    at: IntArray,
    tally: Tally,
) -> None:
    """Play the runs from `first_run` on, one per row of `means`; `best` is the mean output of each run's best team."""
    workers, team, horizon = problem.workers, problem.team, problem.horizon
    parameters = policy.parameters
    cost, paid_on_completion, delay_form = problem.cost, problem.paid_on_completion, problem.delay
    law, spread, day_effect_sd = problem.output.code, problem.output.spread, problem.output.day_effect_sd
    curve, regrets, stop = tally.curve, tally.regret, tally.stop
    want_curve, checkpoints = curve.shape[1] > 0, len(at)
    may_enter, may_leave = problem.may_enter, problem.may_leave
    outs = np.empty(team, dtype=np.int64)
    ins = np.empty(team, dtype=np.int64)
    stations = np.empty(team, dtype=np.int64)
    station_of = np.empty(workers, dtype=np.int64)
    role = np.empty(workers, dtype=np.int64)
    pending_out = np.empty(team, dtype=np.int64)
    pending_in = np.empty(team, dtype=np.int64)
    pending_since = np.empty(team, dtype=np.int64)
    pending_due = np.empty(team, dtype=np.int64)
    counts = np.empty(4, dtype=np.int64)
    roster = RosterArrays(stations, station_of, role, pending_out, pending_in, pending_since, pending_due, counts)
    seen = np.empty(workers, dtype=np.int64)
    experience = np.empty(workers if READS_EXPERIENCE else 0, dtype=np.int64)
    sums = np.empty(workers, dtype=np.float64)
    squares = np.empty(workers, dtype=np.float64)
    estimates = Estimates(seen, sums, squares)
    scores = np.empty(workers if policy.rho != NO_INTERVIEW else 0, dtype=np.float64)
    nothing_shown = np.empty(0, dtype=np.float64)
    nothing_foreseen = Foresight(
        True, np.empty((0, 0), dtype=np.float64), nothing_shown, nothing_shown, nothing_shown, 0.0, 0.0, True
    )
    centre = np.empty(team, dtype=np.float64)
    room = np.empty(team, dtype=np.float64)
    station_sums = np.empty(team, dtype=np.float64)
    station_squares = np.empty(team, dtype=np.float64)
    desk = Desk(centre, room, station_sums, station_squares)
    completed_out = np.empty(team, dtype=np.int64)
    completed_in = np.empty(team, dtype=np.int64)
    failed_out = np.empty(team, dtype=np.int64)
    failed_in = np.empty(team, dtype=np.int64)
    worked = np.empty(team, dtype=np.int64)
    amounts = np.empty(team, dtype=np.float64)
    noted = np.zeros(4)
    for index in range(len(means)):
        run = first_run + index
        mu = means[index]
        outputs = run_key(root, run, OUTPUT)
        days = run_key(root, run, DAY)
        delays = run_key(root, run, DELAY)
        shown_key = delays if policy.oracle else delays ^ delays  # 0, of the same type
        hidden = Hidden(mu if policy.oracle else nothing_shown, policy.delay_shown, shown_key, nothing_foreseen)
        if len(problem.stations) > 0:
            for station in range(team):
                stations[station] = problem.stations[station]
        else:
            choose_sorted(stations, team, workers, run_key(root, run, TEAM))
        for worker in range(workers):
            station_of[worker] = NOBODY
            role[worker] = 0
            seen[worker] = problem.seen_counts[worker]
            sums[worker] = problem.seen_sums[worker]
            squares[worker] = problem.seen_squares[worker]
        for station in range(team):
            if stations[station] != NOBODY:
                station_of[stations[station]] = station
        if READS_EXPERIENCE:
            for worker in range(workers):
                experience[worker] = EXPERIENCED if station_of[worker] >= 0 else 0
        for counter in range(len(counts)):
            counts[counter] = 0
        if policy.rho != NO_INTERVIEW:
            score_interviews(mu, policy.rho, run_key(root, run, INTERVIEW), scores)
        facts = RuleFacts(
            roster,
            estimates,
            may_enter,
            may_leave,
            horizon,
            cost,
            problem.mean_delay,
            problem.prior,
            scores,
            hidden,
            experience,
        )
        memory = rule_fresh(parameters, facts, policy_key(root, run))
        team_mean = _take_seats(desk, stations, mu, estimates)
        written = 0
        regret = 0.0
        column = 0
        largest = heuristics = 0
        loss_bound = 0.0
        for period in range(1, horizon + 1):
            if stop[0] != 0:
                return
            n = 0
            if not rule_nothing_to_decide(parameters, memory, period, facts, period - 1 - written):
                written = _write_up(desk, stations, estimates, experience, written, period - 1)
                n = rule_decide(parameters, memory, period, facts, outs, ins)
                if DIAGNOSES and rule_diagnose(parameters, memory, period, noted):
                    largest = max(largest, int(noted[1]))
                    heuristics += int(noted[2])
                    loss_bound = max(loss_bound, noted[3])
                    note(tally, run, period, DECISION, int(noted[0]), int(noted[1]))
                if n > team:
                    find_fault(tally, EVERY_STATION_IS_SPOKEN_FOR, run, period, NOBODY, NOBODY)
                    return
            for pair in range(n):
                out, into = int(outs[pair]), int(ins[pair])
                fault = request_fault(roster, out, into)
                if fault != LEGAL:
                    find_fault(tally, fault, run, period, out, into)
                    return
                initiate(roster, out, into, period, period + pair_delay(delay_form, delays, period, out, into))
                note(tally, run, period, REQUEST, out, into)
            arrived = lapsed = 0
            if counts[PENDING] > 0:
                slot = next_elapsed(roster, period)
                if slot >= 0:
                    written = _write_up(desk, stations, estimates, experience, written, period - 1)
                while slot >= 0:
                    out, into = int(pending_out[slot]), int(pending_in[slot])
                    if out == NOBODY:
                        out = rule_assign(parameters, memory, period, facts, into)
                    fault = completion_fault(roster, slot, out)
                    if fault == LEGAL:
                        complete(roster, slot, out)
                        completed_out[arrived] = out
                        completed_in[arrived] = into
                        arrived += 1
                        note(tally, run, period, ARRIVAL, out, into)
                    elif out == NOBODY:  # nobody makes room: the hire lapses, its fee is lost
                        fail(roster, slot)
                        failed_out[lapsed] = out
                        failed_in[lapsed] = into
                        lapsed += 1
                        note(tally, run, period, LAPSE, out, into)
                    else:
                        find_fault(tally, fault, run, period, out, into)
                        return
                    slot = next_elapsed(roster, period)
                if arrived > 0:
                    team_mean = _take_seats(desk, stations, mu, estimates)
            if day_effect_sd > 0.0:
                day_effect = draw_day_effect(day_effect_sd, mix(days, period))
                for station in range(team):
                    if stations[station] != NOBODY:
                        centre[station] = day_mean(mu[stations[station]], day_effect)
                        room[station] = room_of(centre[station])
            period_key = mix(outputs, period)
            if law == UNIFORM_OUTPUT:  # a separate branch, which the compiler vectorises
                for station in range(team):
                    key = mix(period_key, stations[station])
                    output = draw_output(UNIFORM_OUTPUT, spread, centre[station], room[station], key)
                    if OBSERVES:
                        amounts[station] = output
                    station_sums[station] += output
                    station_squares[station] += output * output
            else:
                for station in range(team):
                    key = mix(period_key, stations[station])
                    output = draw_output(law, spread, centre[station], room[station], key)
                    if OBSERVES:
                        amounts[station] = output
                    station_sums[station] += output
                    station_squares[station] += output * output
            if arrived + lapsed > 0:
                moves = Happened(
                    period,
                    worked[:0],
                    amounts[:0],
                    completed_out[:arrived],
                    completed_in[:arrived],
                    failed_out[:lapsed],
                    failed_in[:lapsed],
                    worked[:0],
                )
                rule_after_moves(parameters, memory, moves)
            if OBSERVES:
                present = _list_output(stations, amounts, worked)
                happened = Happened(
                    period,
                    worked[:present],
                    amounts[:present],
                    completed_out[:arrived],
                    completed_in[:arrived],
                    failed_out[:lapsed],
                    failed_in[:lapsed],
                    worked[:0],
                )
                rule_observe(parameters, memory, happened)
            fees = cost * (arrived if paid_on_completion else n)
            if period == 1:
                fees += policy.interview_fee
            regret += best[index] - team_mean + fees
            if want_curve:
                curve[index, period - 1] = regret
            if column < checkpoints and at[column] == period:
                regrets[index, column] = regret
                column += 1
        _write_up(desk, stations, estimates, experience, written, horizon)
        tally.initiated[index] = counts[INITIATED]
        tally.completed[index] = counts[COMPLETED]
        tally.largest_noted[index] = largest
        tally.heuristics[index] = heuristics
        tally.loss_bound[index] = loss_bound
        if tally.sums.shape[1] > 0:
            for worker in range(workers):
                tally.sums[index, worker] = sums[worker]


class Desk(NamedTuple):
    """The active team's numbers in contiguous arrays by station: the day's mean and room, and running sums of output.

    The sums are copied from the workers' estimates and back, so they are bit-identical to sums kept per worker. An
    empty station has mean and room 0, so that every law draws an output of 0 there; its sums are discarded.
    """

    centre: FloatArray
    room: FloatArray
    sums: FloatArray
    squares: FloatArray


def _take_seats(desk: Desk, stations: IntArray, mu: FloatArray, estimates: Estimates) -> float:
    """Load the active team's means and sums into the desk; return the team's mean output."""
    team_mean = 0.0
    for station in range(len(stations)):
        worker = stations[station]
        if worker == NOBODY:
            desk.centre[station] = desk.room[station] = 0.0
            desk.sums[station] = desk.squares[station] = 0.0
            continue
        desk.centre[station] = mu[worker]
        desk.room[station] = room_of(mu[worker])
        desk.sums[station] = estimates.sums[worker]
        desk.squares[station] = estimates.squares[worker]
        team_mean += mu[worker]
    return team_mean


def _write_up(
    desk: Desk, stations: IntArray, estimates: Estimates, experience: IntArray, written: int, completed: int
) -> int:
    """Write the active team's counts and sums back to the estimates; return the last period written.

    `experience` has no entries for a rule that does not read it.
    """
    for station in range(len(stations)):
        worker = stations[station]
        if worker != NOBODY:
            estimates.counts[worker] += completed - written
            estimates.sums[worker] = desk.sums[station]
            estimates.squares[worker] = desk.squares[station]
    if len(experience) > 0:
        for worker in stations:
            if worker != NOBODY:
                experience[worker] += completed - written
    return completed


def note(tally: Tally, run: int, period: int, event: int, out: int, into: int) -> None:
    """Log an event if there is room."""
    row = tally.logged[0]
    if row < len(tally.log):
        tally.log[row, 0] = run
        tally.log[row, 1] = period
        tally.log[row, 2] = event
        tally.log[row, 3] = out
        tally.log[row, 4] = into
        tally.logged[0] = row + 1


def find_fault(tally: Tally, fault: int, run: int, period: int, out: int, into: int) -> None:
    """Record an illegal replacement that the rule requested."""
    tally.fault[FAULT] = fault
    tally.fault[FAULT_RUN] = run
    tally.fault[FAULT_PERIOD] = period
    tally.fault[FAULT_OUT] = out
    tally.fault[FAULT_IN] = into


def _list_output(stations: IntArray, amounts: FloatArray, worked: IntArray) -> int:
    """List the workers present and move their amounts to the front, skipping empty stations; return their number."""
    present = 0
    for station in range(len(stations)):
        if stations[station] != NOBODY:
            worked[present] = stations[station]
            amounts[present] = amounts[station]
            present += 1
    return present


def specialised(body: types.FunctionType, rule: Rule, name: str, reads_experience: bool) -> types.FunctionType:
    """Return a copy of a loop, called `name`, with the rule's functions in place of the placeholders."""
    substitutes = {
        "rule_fresh": rule.fresh,
        "rule_nothing_to_decide": rule.nothing_to_decide,
        "rule_decide": rule.decide,
        "rule_assign": rule.assign,
        "rule_after_moves": rule.after_moves,
        "rule_revise": rule.revise,
        "rule_observe": rule.observe or rule_observe,
        "rule_diagnose": rule.diagnose or rule_diagnose,
        "OBSERVES": rule.observe is not None,
        "DIAGNOSES": rule.diagnose is not None,
        "READS_EXPERIENCE": reads_experience,
    }
    loop = types.FunctionType(body.__code__, {**body.__globals__, **substitutes}, name)
    loop.__qualname__ = loop.__name__
    loop.__module__ = body.__module__
    return loop
