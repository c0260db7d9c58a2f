"""Many runs of one policy as one loop over arrays, written so that it can be compiled; it is plain Python itself.

Period by period it does what `interpreted.play` does, with the same rule functions in the same order, so that both give
the same decisions and the same numbers to the last bit. What most periods come to (nothing to decide, nothing pending)
is found out from a few numbers first.
"""

import types
from typing import NamedTuple

import numpy as np

from crewlearn.engine.streams import DAY, DELAY, INTERVIEW, OUTPUT, TEAM, policy_key, run_key
from crewlearn.policies.adapted import decide_aht, decide_omm
from crewlearn.policies.baselines import decide_oracle
from crewlearn.policies.contract import Hidden
from crewlearn.policies.estimates import Estimates
from crewlearn.policies.rounds import Choices, assign_dr_ucb, decide_dr_ucb, fresh_memory
from crewlearn.policies.screening import decide_interview_screen, decide_work_trial
from crewlearn.policies.selection import FRONTIER_STATES, LARGEST_FRONTIER
from crewlearn.policies.simple import decide_epsilon_greedy, decide_fixed_schedule, decide_threshold
from crewlearn.policies.teams import Facts, fresh_team_memory, nothing_to_ask, within_horizon
from crewlearn.policies.timing import DECIDED_AT, DISTURBED, LEAST, idle
from crewlearn.policies.worth import decide_value, draw_queue, fresh_value_memory
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.chance import choose_sorted, mix
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
    INITIATED,
    LEGAL,
    PENDING,
    RosterArrays,
    complete,
    completion_fault,
    fail,
    initiate,
    next_elapsed,
)

(
    KEEP_TEAM,
    ORACLE_POLICY,
    DR_UCB,
    A_OMM,
    A_AHT,
    INTERVIEW_SCREEN,
    WORK_TRIAL,
    EPSILON_GREEDY,
    THRESHOLD,
    FIXED_SCHEDULE,
    VALUE,
) = range(11)
"""Kinds of policy that the loop knows."""

KIND = KEEP_TEAM
"""The kind this loop plays: a constant, so that what other kinds need is not even compiled. `specialised` gives the
loop of each kind."""

NO_INTERVIEW = -9.0
"""The correlation of a policy that buys no interview scores."""

REQUEST, ARRIVAL, LAPSE, DECISION = range(4)
"""Kinds of event in a log. A decision is DR-UCB's choice of a target; it notes, in place of a pair, the states kept in
its frontier and the largest frontier."""


class ProblemForm(NamedTuple):
    """A problem as the loop takes it.

    `seen_*` is what is known of each worker at the start, `spared_*` the part whose spread nobody knows. `stations` is
    the team at the start; where it is empty, each run draws its own.
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
    spared_counts: IntArray
    spared_sums: FloatArray
    stations: IntArray
    may_enter: BoolArray
    may_leave: BoolArray


class PolicyForm(NamedTuple):
    """A policy as the loop takes it: DR-UCB's choices, other policies' parameters, the interview it buys."""

    choices: Choices
    parameters: FloatArray
    rho: float
    interview_fee: float


class Tally(NamedTuple):
    """What the loop fills in for each run.

    Regret after each period asked for, and after every period; replacements initiated and completed; the largest
    frontier built; the sums of output by worker; and, as far as there is room, a log of events (run, period, kind, out,
    in) whose number stands in `logged`. `curve` and `sums` may have no columns, and the log no rows. Somebody else sets
    `stop` to have the loop end early.
    """

    regret: FloatArray
    curve: FloatArray
    initiated: IntArray
    completed: IntArray
    largest_frontier: IntArray
    sums: FloatArray
    log: IntArray
    logged: IntArray
    stop: IntArray


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
    """Play the runs from `first_run` on, one for each row of `means`; `best` is what each run's best team puts out."""
    workers, team, horizon = problem.workers, problem.team, problem.horizon
    choices, parameters = policy.choices, policy.parameters
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
    sums = np.empty(workers, dtype=np.float64)
    squares = np.empty(workers, dtype=np.float64)
    estimates = Estimates(seen, sums, squares)
    facts = Facts(roster, estimates, may_enter, may_leave)
    scores = np.empty(workers, dtype=np.float64)
    centre = np.empty(team, dtype=np.float64)
    room = np.empty(team, dtype=np.float64)
    station_sums = np.empty(team, dtype=np.float64)
    station_squares = np.empty(team, dtype=np.float64)
    desk = Desk(centre, room, station_sums, station_squares)
    for index in range(len(means)):
        run = first_run + index
        mu = means[index]
        outputs = run_key(root, run, OUTPUT)
        days = run_key(root, run, DAY)
        delays = run_key(root, run, DELAY)
        hidden = Hidden(mu, delay_form, delays)
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
        for place in range(len(counts)):
            counts[place] = 0
        if policy.rho != NO_INTERVIEW:
            score_interviews(mu, policy.rho, run_key(root, run, INTERVIEW), scores)
        memory = fresh_memory(team, policy_key(root, run))
        named = fresh_team_memory(workers, team, policy_key(root, run), scores)
        weighing = workers if KIND == VALUE else 0
        queue = draw_queue(weighing, policy_key(root, run))
        weighed = fresh_value_memory(team, problem.spared_counts[:weighing], problem.spared_sums[:weighing], queue)
        cycle = memory.cycle
        numbers = weighed.numbers if KIND == VALUE else named.numbers
        made = _take_seats(desk, stations, mu, estimates)
        written = 0
        regret = 0.0
        column = 0
        largest = 0
        for period in range(1, horizon + 1):
            if stop[0] != 0:
                return
            n = 0
            if KIND == DR_UCB:
                least, seen_least = cycle[LEAST], 0
                if least != NOBODY:
                    seen_least = seen[least] + (period - 1 - written if station_of[least] >= 0 else 0)
                if not idle(choices.timing, cycle, period, counts[PENDING], seen_least):
                    written = _write_up(desk, stations, estimates, written, period - 1)
                    n = decide_dr_ucb(
                        choices,
                        memory,
                        period,
                        horizon,
                        cost,
                        roster,
                        estimates,
                        may_enter,
                        may_leave,
                        hidden,
                        outs,
                        ins,
                    )
                    largest = max(largest, int(memory.diagnostics[LARGEST_FRONTIER]))
                    if cycle[DECIDED_AT] == period:
                        states = int(memory.diagnostics[FRONTIER_STATES])
                        _note(tally, run, period, DECISION, states, int(memory.diagnostics[LARGEST_FRONTIER]))
            elif KIND == ORACLE_POLICY:
                if period == 1:
                    lasting = horizon - problem.mean_delay
                    n = decide_oracle(mu, lasting, cost, roster, may_enter, may_leave, outs, ins)
            elif KIND != KEEP_TEAM and not nothing_to_ask(numbers, period):
                written = _write_up(desk, stations, estimates, written, period - 1)
                if KIND == A_OMM:
                    n = decide_omm(parameters, named, period, facts, outs, ins)
                elif KIND == A_AHT:
                    n = decide_aht(parameters, named, period, facts, outs, ins)
                elif KIND == INTERVIEW_SCREEN:
                    n = decide_interview_screen(parameters, named, period, facts, outs, ins)
                elif KIND == WORK_TRIAL:
                    n = decide_work_trial(parameters, named, period, facts, outs, ins)
                elif KIND == EPSILON_GREEDY:
                    n = decide_epsilon_greedy(parameters, named, period, facts, outs, ins)
                elif KIND == THRESHOLD:
                    n = decide_threshold(parameters, named, period, facts, outs, ins)
                elif KIND == FIXED_SCHEDULE:
                    n = decide_fixed_schedule(parameters, named, period, facts, outs, ins)
                elif KIND == VALUE:
                    n = decide_value(parameters, weighed, period, facts, outs, ins)
                n = within_horizon(n, period, horizon)
            for pair in range(n):
                out, into = int(outs[pair]), int(ins[pair])
                initiate(roster, out, into, period, period + pair_delay(delay_form, delays, period, out, into))
                _note(tally, run, period, REQUEST, out, into)
            arrived = 0
            if counts[PENDING] > 0:
                slot = next_elapsed(roster, period)
                if slot >= 0:
                    written = _write_up(desk, stations, estimates, written, period - 1)
                while slot >= 0:
                    out, into = int(pending_out[slot]), int(pending_in[slot])
                    if KIND == DR_UCB and out == NOBODY:
                        out = assign_dr_ucb(choices, memory, period, horizon, roster, estimates, may_leave)
                    if completion_fault(roster, slot, out) == LEGAL:
                        complete(roster, slot, out)
                        arrived += 1
                        _note(tally, run, period, ARRIVAL, out, into)
                    else:  # nobody makes room: the hire lapses, its fee is lost
                        fail(roster, slot)
                        cycle[DISTURBED] = 1
                        _note(tally, run, period, LAPSE, out, into)
                    slot = next_elapsed(roster, period)
                if arrived > 0:
                    made = _take_seats(desk, stations, mu, estimates)
            if day_effect_sd > 0.0:
                day_effect = draw_day_effect(day_effect_sd, mix(days, period))
                for station in range(team):
                    if stations[station] != NOBODY:
                        centre[station] = day_mean(mu[stations[station]], day_effect)
                        room[station] = room_of(centre[station])
            period_key = mix(outputs, period)
            if law == UNIFORM_OUTPUT:  # apart, so that the compiler draws several outputs at once
                for station in range(team):
                    key = mix(period_key, stations[station])
                    output = draw_output(UNIFORM_OUTPUT, spread, centre[station], room[station], key)
                    station_sums[station] += output
                    station_squares[station] += output * output
            else:
                for station in range(team):
                    key = mix(period_key, stations[station])
                    output = draw_output(law, spread, centre[station], room[station], key)
                    station_sums[station] += output
                    station_squares[station] += output * output
            fees = cost * (arrived if paid_on_completion else n)
            if period == 1:
                fees += policy.interview_fee
            regret += best[index] - made + fees
            if want_curve:
                curve[index, period - 1] = regret
            if column < checkpoints and at[column] == period:
                regrets[index, column] = regret
                column += 1
        _write_up(desk, stations, estimates, written, horizon)
        tally.initiated[index] = counts[INITIATED]
        tally.completed[index] = counts[COMPLETED]
        tally.largest_frontier[index] = largest
        if tally.sums.shape[1] > 0:
            for worker in range(workers):
                tally.sums[index, worker] = sums[worker]


class Desk(NamedTuple):
    """The active team's numbers by station, side by side: the day's mean and room, and the sums of output so far.

    The sums are the workers' own, taken over and given back, so adding to them here or there is the same to the last
    bit. An empty station has mean and room 0, so that every law draws an output of 0 there, and nobody's sums.
    """

    centre: FloatArray
    room: FloatArray
    sums: FloatArray
    squares: FloatArray


def _take_seats(desk: Desk, stations: IntArray, mu: FloatArray, estimates: Estimates) -> float:
    """Take over the sums of the active team; give its mean output."""
    made = 0.0
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
        made += mu[worker]
    return made


def _write_up(desk: Desk, stations: IntArray, estimates: Estimates, written: int, completed: int) -> int:
    """Give back the sums of the active team, with the periods since they were last written up; give the new date."""
    for station in range(len(stations)):
        worker = stations[station]
        if worker != NOBODY:
            estimates.counts[worker] += completed - written
            estimates.sums[worker] = desk.sums[station]
            estimates.squares[worker] = desk.squares[station]
    return completed


def _note(tally: Tally, run: int, period: int, event: int, out: int, into: int) -> None:
    """Log an event as long as there is room."""
    place = tally.logged[0]
    if place < len(tally.log):
        tally.log[place, 0] = run
        tally.log[place, 1] = period
        tally.log[place, 2] = event
        tally.log[place, 3] = out
        tally.log[place, 4] = into
        tally.logged[0] = place + 1


def specialised(kind: int) -> types.FunctionType:
    """Give the loop with KIND fixed to a kind, under a name of its own."""
    loop = types.FunctionType(play_runs.__code__, {**globals(), "KIND": kind}, f"play_runs_{kind}")
    loop.__qualname__ = loop.__name__
    loop.__module__ = play_runs.__module__
    return loop
