"""The loop over runs on a floor where people and days change, or where brakes hold a policy back.

It does what the loop of `kernel` does, with the rule functions of `problem.floor` around each period. Workers are
observed, absent or gone each for themselves, so estimates are written in every period.
"""

from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.estimates import Estimates, record
from crewlearn.engine.compiled.kernel import (
    ARRIVAL,
    DECISION,
    DECLINE,
    DIAGNOSES,
    LAPSE,
    NO_INTERVIEW,
    OBSERVES,
    QUIT,
    REQUEST,
    PolicyForm,
    ProblemForm,
    Tally,
    find_fault,
    note,
    rule_after_moves,
    rule_assign,
    rule_decide,
    rule_diagnose,
    rule_fresh,
    rule_nothing_to_decide,
    rule_observe,
    rule_revise,
)
from crewlearn.engine.streams import DAY, DELAY, INTERVIEW, OUTPUT, TEAM, floor_keys, policy_key, run_key
from crewlearn.policies.brakes import PERIODS_A_WEEK, fills_empty_station
from crewlearn.policies.contract import Foresight, Hidden
from crewlearn.policies.rule import Happened, RuleFacts
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.chance import choose_sorted, mix
from crewlearn.problem.floor import (
    VACANCIES,
    FloorForm,
    begin_period,
    begin_run,
    begin_work,
    best_levels,
    centre_of,
    counted_of,
    day_effect_of,
    declined,
    draw_outsider,
    empty_floor,
    end_work,
    offer_fault,
    put_out,
    ramp_share,
)
from crewlearn.problem.interviews import score_interviews
from crewlearn.problem.laws import pair_delay
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
    unclaimed_stations,
)


class FloorProblem(NamedTuple):
    """A problem with its floor, as the loop takes it.

    `told[t-1]` is the horizon that policies are told in period t.
    """

    problem: ProblemForm
    floor: FloorForm
    told: IntArray


def play_floor_runs(
    changing: FloorProblem,
    policy: PolicyForm,
    means: FloatArray,
    best: FloatArray,
    root: int,
    first_run: int,
    at: IntArray,
    tally: Tally,
) -> None:
    """Play the runs from `first_run` on, one per row of `means`; `best` is the mean output of each run's best team.

    Where that changes, it is looked up in every period.
    """
    problem, form = changing.problem, changing.floor
    workers, team, horizon, warmup = problem.workers, problem.team, problem.horizon, form.warmup
    parameters, output, stop = policy.parameters, problem.output, tally.stop
    cost, paid_on_completion = problem.cost, problem.paid_on_completion
    outs = np.empty(team, dtype=np.int64)
    ins = np.empty(team, dtype=np.int64)
    stations = np.empty(team, dtype=np.int64)
    pending = np.empty((4, team), dtype=np.int64)
    counts = np.empty(4, dtype=np.int64)
    roster = RosterArrays(
        stations,
        np.empty(workers, dtype=np.int64),
        np.empty(workers, dtype=np.int64),
        pending[0],
        pending[1],
        pending[2],
        pending[3],
        counts,
    )
    estimates = Estimates(
        np.empty(workers, dtype=np.int64),
        np.empty(workers, dtype=np.float64),
        np.empty(workers, dtype=np.float64),
    )
    floor = empty_floor(workers, horizon)
    may_leave = np.empty(workers, dtype=np.bool_)
    scores = np.empty(workers if policy.rho != NO_INTERVIEW else 0, dtype=np.float64)
    present_levels = np.empty(workers if policy.oracle else 0, dtype=np.float64)
    foresees = form.changes or policy.least_tenure > 0 or policy.most_a_week >= 0
    quit = np.empty(workers, dtype=np.int64)
    completed_out = np.empty(team, dtype=np.int64)
    completed_in = np.empty(team, dtype=np.int64)
    failed_out = np.empty(2 * team, dtype=np.int64)
    failed_in = np.empty(2 * team, dtype=np.int64)
    worked = np.empty(team, dtype=np.int64)
    amounts = np.empty(team, dtype=np.float64)
    noted = np.zeros(4)
    counted = np.zeros(workers, dtype=np.bool_)
    for index in range(len(means)):
        run = first_run + index
        mu = means[index]
        keys = floor_keys(root, run)
        outputs, days, delays = run_key(root, run, OUTPUT), run_key(root, run, DAY), run_key(root, run, DELAY)
        if len(problem.stations) > 0:
            for station in range(team):
                stations[station] = problem.stations[station]
        else:
            choose_sorted(stations, team, workers, run_key(root, run, TEAM))
        for worker in range(workers):
            roster.station_of[worker] = NOBODY
            roster.role[worker] = 0
            estimates.counts[worker] = problem.seen_counts[worker]
            estimates.sums[worker] = problem.seen_sums[worker]
            estimates.squares[worker] = problem.seen_squares[worker]
            may_leave[worker] = problem.may_leave[worker]
        for station in range(team):
            if stations[station] != NOBODY:
                roster.station_of[stations[station]] = station
        for place in range(len(counts)):
            counts[place] = 0
        begin_run(form, keys, floor, mu, stations, problem.may_enter)
        if policy.rho != NO_INTERVIEW:
            score_interviews(mu, policy.rho, run_key(root, run, INTERVIEW), scores)
        for worker in range(len(present_levels)):
            present_levels[worker] = floor.levels[worker, 0]
        hidden = Hidden(
            present_levels,
            policy.delay_shown,
            delays if policy.oracle else delays ^ delays,  # 0, of the same type
            Foresight(
                form.foreseeable,
                floor.levels[: len(present_levels) if foresees else 0, warmup:],
                floor.depth,
                form.fading,
                form.day_shares[warmup:],
                form.quits,
                form.declines,
                not paid_on_completion,
            ),
        )
        facts = _facts(changing, roster, estimates, floor.may_enter, may_leave, 1, scores, hidden, floor.experience)
        memory = rule_fresh(parameters, facts, policy_key(root, run))
        regret = net = ideal = 0.0
        column = largest = heuristics = week = begun = 0
        loss_bound = 0.0
        for period in range(1, horizon + 1):
            if stop[0] != 0:
                return
            t = period - warmup
            n_quit = begin_period(form, keys, floor, roster, mu, period, quit)
            for place in range(n_quit):
                note(tally, run, period, QUIT, quit[place], NOBODY)
            n = held_back = refills = 0
            arrived = lapsed = 0
            facts = _facts(changing, roster, estimates, floor.may_enter, may_leave, t, scores, hidden, floor.experience)
            if t >= 1:
                for worker in range(len(present_levels)):
                    present_levels[worker] = floor.levels[worker, period - 1]
                if n_quit > 0:
                    rule_revise(parameters, memory)
                if policy.least_tenure > 0:
                    for worker in range(workers):
                        stayed = period - floor.since[worker]
                        may_leave[worker] = problem.may_leave[worker] and stayed >= policy.least_tenure
                if (period - 1) // PERIODS_A_WEEK != week:
                    week = (period - 1) // PERIODS_A_WEEK
                    begun = 0
                if not rule_nothing_to_decide(parameters, memory, t, facts, 0):
                    n = rule_decide(parameters, memory, t, facts, outs, ins)
                    if DIAGNOSES and rule_diagnose(parameters, memory, t, noted):
                        largest = max(largest, int(noted[1]))
                        heuristics += int(noted[2])
                        loss_bound = max(loss_bound, noted[3])
                        note(tally, run, period, DECISION, int(noted[0]), int(noted[1]))
                    if n > team:
                        find_fault(tally, EVERY_STATION_IS_SPOKEN_FOR, run, period, NOBODY, NOBODY)
                        return
                for pair in range(n):
                    out, into = int(outs[pair]), int(ins[pair])
                    fault = offer_fault(floor, roster, out, into)
                    if fault != LEGAL:
                        find_fault(tally, fault, run, period, out, into)
                        return
                    limited = not fills_empty_station(out, unclaimed_stations(roster))
                    counted[into] = limited and policy.most_a_week >= 0
                    if counted[into]:
                        if begun >= policy.most_a_week:
                            failed_out[held_back] = out
                            failed_in[held_back] = into
                            held_back += 1
                            continue
                        begun += 1
                    initiate(roster, out, into, t, t + pair_delay(problem.delay, delays, t, out, into))
                    note(tally, run, period, REQUEST, out, into)
                n -= held_back
                if policy.refilled:
                    while floor.counts[VACANCIES] > 0:
                        into = draw_outsider(floor, roster, mix(mix(keys.refill, period), refills))
                        if into == NOBODY or counts[PENDING] >= team:
                            break
                        initiate(roster, NOBODY, into, t, t + pair_delay(problem.delay, delays, t, NOBODY, into))
                        note(tally, run, period, REQUEST, NOBODY, into)
                        floor.counts[VACANCIES] -= 1
                        refills += 1
                lapsed = held_back
                slot = next_elapsed(roster, t) if counts[PENDING] > 0 else -1
                while slot >= 0:
                    out, into = int(roster.pending_out[slot]), int(roster.pending_in[slot])
                    asked = int(roster.pending_since[slot])
                    refused = declined(form, keys, asked, into)
                    if out == NOBODY and not refused and not policy.refilled:
                        out = rule_assign(parameters, memory, t, facts, into)
                    fault = completion_fault(roster, slot, out)
                    if fault == LEGAL and not refused:
                        complete(roster, slot, out)
                        floor.since[into] = period
                        completed_out[arrived] = out
                        completed_in[arrived] = into
                        arrived += 1
                        note(tally, run, period, ARRIVAL, out, into)
                    elif refused or out == NOBODY:  # declined, or nobody makes room: the hire fails, its fee is lost
                        fail(roster, slot)
                        failed_out[lapsed] = out
                        failed_in[lapsed] = into
                        lapsed += 1
                        if policy.refilled and refused and out == NOBODY:
                            floor.counts[VACANCIES] += 1
                        if counted[into] and (asked + warmup - 1) // PERIODS_A_WEEK == week:
                            begun -= 1  # a decline makes room for the next candidate
                        note(tally, run, period, DECLINE if refused else LAPSE, out, into)
                    else:
                        find_fault(tally, fault, run, period, out, into)
                        return
                    slot = next_elapsed(roster, t)
            begin_work(form, keys, floor, roster, period)
            day_effect = day_effect_of(output, days, period)
            period_key = mix(outputs, period)
            made = expected = 0.0
            present = 0
            for station in range(team):
                worker = stations[station]
                if worker == NOBODY or floor.absent[worker]:
                    continue
                centre = centre_of(form, output, floor, worker, period, day_effect)
                amount = put_out(form, output, floor, worker, period, centre, mix(period_key, worker))
                record(estimates, worker, amount)
                made += floor.levels[worker, period - 1] * ramp_share(form, floor, worker)
                expected += counted_of(form, worker, period, centre)
                worked[present] = worker
                amounts[present] = amount
                present += 1
            end_work(floor, roster)
            if arrived + lapsed > 0:
                moves = Happened(
                    t,
                    worked[:0],
                    amounts[:0],
                    completed_out[:arrived],
                    completed_in[:arrived],
                    failed_out[:lapsed],
                    failed_in[:lapsed],
                    quit[:0],
                )
                rule_after_moves(parameters, memory, moves)
            if OBSERVES:
                happened = Happened(
                    t,
                    worked[:present],
                    amounts[:present],
                    completed_out[:arrived],
                    completed_in[:arrived],
                    failed_out[:lapsed],
                    failed_in[:lapsed],
                    quit[:n_quit],
                )
                rule_observe(parameters, memory, happened)
            if t >= 1:
                fees = cost * (arrived if paid_on_completion else n + refills)
                if t == 1:
                    fees += policy.interview_fee
                possible = best_levels(floor, team, period) if form.best_changes else best[index]
                regret += possible - made + fees
                net += expected - fees
                ideal += possible
            tally.curve[index, period - 1] = regret
            tally.net[index, period - 1] = net
            tally.ideal[index, period - 1] = ideal
            if column < len(at) and at[column] == period:
                tally.regret[index, column] = regret
                column += 1
        tally.initiated[index] = counts[INITIATED]
        tally.completed[index] = counts[COMPLETED]
        tally.largest_noted[index] = largest
        tally.heuristics[index] = heuristics
        tally.loss_bound[index] = loss_bound
        if tally.sums.shape[1] > 0:
            for worker in range(workers):
                tally.sums[index, worker] = estimates.sums[worker]


def _facts(
    changing: FloorProblem,
    roster: RosterArrays,
    estimates: Estimates,
    may_enter: BoolArray,
    may_leave: BoolArray,
    t: int,
    scores: FloatArray,
    hidden: Hidden,
    experience: IntArray,
) -> RuleFacts:
    """Return the facts of a period; before period 1 policies are told the horizon of period 1."""
    problem = changing.problem
    return RuleFacts(
        roster,
        estimates,
        may_enter,
        may_leave,
        int(changing.told[max(t, 1) - 1]),
        problem.cost,
        problem.mean_delay,
        problem.prior,
        scores,
        hidden,
        experience,
    )
