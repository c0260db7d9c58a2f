"""Many runs under way at once, side by side in arrays: plain Python over arrays that Numba can compile.

What `Course` does for one run, these functions do for each run of a batch, with the same rule functions in the same
order, so that the numbers agree to the last bit.
"""

from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.estimates import Estimates, no_data, record
from crewlearn.engine.compiled.floor_kernel import FloorProblem
from crewlearn.engine.compiled.kernel import ProblemForm
from crewlearn.engine.streams import DAY, DELAY, OUTPUT, TEAM, floor_keys, run_key
from crewlearn.policies.learned.view import KEEP, View, list_requests, mask_all, mask_choices, show
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.chance import choose_sorted, mix
from crewlearn.problem.floor import (
    Floor,
    begin_period,
    begin_run,
    begin_work,
    best_levels,
    centre_of,
    counted_of,
    day_effect_of,
    declined,
    empty_floor,
    end_work,
    put_out,
    ramp_share,
)
from crewlearn.problem.laws import pair_delay
from crewlearn.problem.roster import Roster
from crewlearn.problem.transitions import (
    FREE,
    LEGAL,
    PENDING,
    RosterArrays,
    complete,
    completion_fault,
    fail,
    initiate,
    next_elapsed,
)


class Worlds(NamedTuple):
    """A batch of n runs: every array, also of the tuples, has an axis of n in front.

    `root` is the key of a run's seed, `run` its number, `means` and `best` the hidden means of its workers and the mean
    output of its best team. `period` is about to be played, and counts the warm-up, from 1.
    """

    roster: RosterArrays
    estimates: Estimates
    floor: Floor
    means: FloatArray
    best: FloatArray
    root: IntArray
    run: IntArray
    period: IntArray


class Outcomes(NamedTuple):
    """What a period came to in each of n runs, as in the `info` of one environment, but pairs are only counted."""

    reward: FloatArray
    fees: FloatArray
    regret: FloatArray
    net: FloatArray
    requests: IntArray
    completions: IntArray
    declines: IntArray
    dropped: IntArray


def empty_worlds(n: int, workers: int, team: int, horizon: int) -> Worlds:
    """Return room for n runs."""
    roster, estimates = Roster.start(workers, [], team).arrays, no_data(workers)
    floor = empty_floor(workers, horizon)
    return Worlds(
        RosterArrays(*(np.zeros((n, *array.shape), dtype=array.dtype) for array in roster)),
        Estimates(*(np.zeros((n, *array.shape), dtype=array.dtype) for array in estimates)),
        Floor(*(np.zeros((n, *array.shape), dtype=array.dtype) for array in floor)),
        np.zeros((n, workers)),
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )


def empty_outcomes(n: int) -> Outcomes:
    """Return the outcomes of a period in which nothing happened."""
    numbers, counts = np.zeros((4, n)), np.zeros((4, n), dtype=np.int64)
    return Outcomes(numbers[0], numbers[1], numbers[2], numbers[3], counts[0], counts[1], counts[2], counts[3])


def play_worlds(
    changing: FloorProblem,
    worlds: Worlds,
    fresh: BoolArray,
    going: BoolArray,
    choices: IntArray,
    outcomes: Outcomes,
    views: View,
) -> None:
    """Begin the `fresh` runs, play a period of the others that are `going`, and show what an agent sees of all.

    Fresh runs play their warm-up. `choices` has a row for each run, and the arrays of `views` are zero.
    """
    problem, form = changing.problem, changing.floor
    team, workers, warmup = problem.team, problem.workers, form.warmup
    outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
    quit = np.empty(workers, dtype=np.int64)
    mask = np.empty((team, workers + 1), dtype=np.int8)
    for index in range(len(fresh)):
        roster, estimates, floor = _roster(worlds, index), _estimates(worlds, index), _floor(worlds, index)
        root, run, means = int(worlds.root[index]), int(worlds.run[index]), worlds.means[index]
        keys, days, delays = floor_keys(root, run), run_key(root, run, DAY), run_key(root, run, DELAY)
        outputs = run_key(root, run, OUTPUT)
        period = int(worlds.period[index])
        until = period if going[index] else -1
        if fresh[index]:
            _take_places(problem, roster, estimates, run_key(root, run, TEAM))
            begin_run(form, keys, floor, means, roster.stations, problem.may_enter)
            period, until = 0, warmup
        while period <= until:
            n = asked = arrived = refusals = 0
            t = period - warmup
            if t >= 1:
                mask[:] = 0
                if t < changing.told[t - 1]:
                    mask_choices(mask, roster, floor.may_enter, problem.may_leave)
                else:
                    mask_all(mask)
                for station in range(team):
                    if choices[index, station] != KEEP:
                        asked += 1
                n = list_requests(mask, roster, choices[index], outs, ins)
                for pair in range(n):
                    out, into = int(outs[pair]), int(ins[pair])
                    initiate(roster, out, into, t, t + pair_delay(problem.delay, delays, t, out, into))
                slot = next_elapsed(roster, t) if roster.counts[PENDING] > 0 else -1
                while slot >= 0:
                    out, into = int(roster.pending_out[slot]), int(roster.pending_in[slot])
                    refused = declined(form, keys, int(roster.pending_since[slot]), into)
                    if completion_fault(roster, slot, out) == LEGAL and not refused:
                        complete(roster, slot, out)
                        floor.since[into] = period
                        arrived += 1
                    else:
                        fail(roster, slot)
                        refusals += int(refused)
                    slot = next_elapsed(roster, t)
            if period >= 1:
                begin_work(form, keys, floor, roster, period)
                day_effect = day_effect_of(problem.output, days, period)
                period_key = mix(outputs, period)
                produced = made = expected = 0.0
                for station in range(team):
                    worker = int(roster.stations[station])
                    if worker == NOBODY or floor.absent[worker]:
                        continue
                    centre = centre_of(form, problem.output, floor, worker, period, day_effect)
                    key = mix(period_key, worker)
                    amount = put_out(form, problem.output, floor, worker, period, centre, key)
                    record(estimates, worker, amount)
                    produced += amount
                    made += floor.levels[worker, period - 1] * ramp_share(form, floor, worker)
                    expected += counted_of(form, worker, period, centre)
                end_work(floor, roster)
                if t >= 1:
                    possible = best_levels(floor, team, period) if form.best_changes else worlds.best[index]
                    fees = problem.cost * (arrived if problem.paid_on_completion else n)
                    outcomes.reward[index] = produced - fees
                    outcomes.fees[index] = fees
                    outcomes.regret[index] = possible - made + fees
                    outcomes.net[index] = expected - fees
                    outcomes.requests[index] = n
                    outcomes.completions[index] = arrived
                    outcomes.declines[index] = refusals
                    outcomes.dropped[index] = asked - n
            period += 1
            if period <= problem.horizon:
                begin_period(form, keys, floor, roster, means, period, quit)
        worlds.period[index] = period
        t = period - warmup
        told, cost, mean_delay = int(changing.told[t - 1]), problem.cost, problem.mean_delay
        may_enter, may_leave, view = floor.may_enter, problem.may_leave, _view(views, index)
        show(view, roster, estimates, floor.experience, may_enter, may_leave, t, told, cost, mean_delay)


def _take_places(problem: ProblemForm, roster: RosterArrays, estimates: Estimates, key: int) -> None:
    """Put the first team at its stations, with nothing pending, and prior data on record."""
    if len(problem.stations) > 0:
        for station in range(problem.team):
            roster.stations[station] = problem.stations[station]
    else:
        choose_sorted(roster.stations, problem.team, problem.workers, key)
    for worker in range(problem.workers):
        roster.station_of[worker] = NOBODY
        roster.role[worker] = FREE
        estimates.counts[worker] = problem.seen_counts[worker]
        estimates.sums[worker] = problem.seen_sums[worker]
        estimates.squares[worker] = problem.seen_squares[worker]
    for station in range(problem.team):
        if roster.stations[station] != NOBODY:
            roster.station_of[roster.stations[station]] = station
    for place in range(len(roster.counts)):
        roster.counts[place] = 0


def _view(views: View, index: int) -> View:
    return View(
        views.means[index],
        views.seen[index],
        views.worked[index],
        views.may_enter[index],
        views.may_leave[index],
        views.stations[index],
        views.arriving[index],
        views.waiting[index],
        views.periods_left[index],
        views.time_left[index],
        views.fee[index],
        views.delay[index],
        views.action_mask[index],
    )


def _roster(worlds: Worlds, index: int) -> RosterArrays:
    roster = worlds.roster
    return RosterArrays(
        roster.stations[index],
        roster.station_of[index],
        roster.role[index],
        roster.pending_out[index],
        roster.pending_in[index],
        roster.pending_since[index],
        roster.pending_due[index],
        roster.counts[index],
    )


def _estimates(worlds: Worlds, index: int) -> Estimates:
    estimates = worlds.estimates
    return Estimates(estimates.counts[index], estimates.sums[index], estimates.squares[index])


def _floor(worlds: Worlds, index: int) -> Floor:
    floor = worlds.floor
    return Floor(
        floor.levels[index],
        floor.depth[index],
        floor.experience[index],
        floor.since[index],
        floor.gone[index],
        floor.may_enter[index],
        floor.absent[index],
        floor.order[index],
        floor.pool[index],
        floor.counts[index],
    )
