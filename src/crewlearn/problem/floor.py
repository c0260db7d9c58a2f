"""A floor on which people and days change: rule functions over arrays, the same interpreted and compiled.

A period runs so:

1. `begin_period`: levels move; people quit; in the warm-up, places change hands.
2. Outside the warm-up replacements are asked for, and hires whose delay has elapsed start or decline (`declines`).
3. `begin_work`: some are absent. The centre of an output is `centre_of`: level x ramp x weekday x shock x day.
4. `end_work`: those who were there gain a day of experience.

All chance is a function of the run's key for its purpose, the period and the worker. What happened in one period never
changes what will be drawn in another, so that all policies face the same world.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.chance import mix, normal, uniform
from crewlearn.problem.laws.output import (
    OWN_OUTPUT,
    OutputForm,
    day_mean,
    draw_day_effect,
    draw_output,
    own_output,
    room_of,
)
from crewlearn.problem.laws.own import NO_NUMBERS, numbers_of
from crewlearn.problem.model import Problem
from crewlearn.problem.people import MOST_DEPTH, Drift
from crewlearn.problem.script import ABSENT, NO_SCRIPT, UNKNOWN, ScriptForm, noise_given, presence_given
from crewlearn.problem.transitions import (
    FREE,
    INCOMING_LEFT_FOR_GOOD,
    LEAVING,
    LEGAL,
    RosterArrays,
    request_fault,
    vacate,
)

EXPERIENCED = 10**7
"""The days worked of somebody who begins experienced: enough that no ramp is left."""

LONGEST_RAMP = 745.0
"""exp(-x) is 0 in floating point beyond this."""

VACANCIES = 0
"""The place in `Floor.counts` of quits whose place nobody was asked for."""


class FloorForm(NamedTuple):
    """What a problem says of how people and days change, as rule functions take it.

    - `changes` is whether anything does; if not, only brakes or an output law of a user's own need this form.
    - `ramp` is whether newcomers ramp up; `depth_low` and `depth_high` bound their depth or, if `depth_is_normal`, are
      its mean and standard deviation. `fading[n]` is exp(-n / days).
    - `experience` are the days worked before the first period, and `team_experience` those of the first team, if more.
    - `drift_sd` is the relative standard deviation of a level's step, `decliners` has the rows of `Drift.decliners`.
    - `own_path` are the numbers of a path of a user's own. `is_own_path` says whether there is one.
    - `foreseeable` is whether levels can be known ahead.
    - `best_changes` is whether the best team may differ from period to period.
    - `day_shares` are everybody's share of an ordinary day by weekday and shock, one a period.
    - `script` are the parts of the floor that are given instead of drawn.
    - The rest are the numbers of `Presence` and `Start`.
    """

    changes: bool
    ramp: bool
    depth_low: float
    depth_high: float
    depth_is_normal: bool
    fading: FloatArray
    experience: IntArray
    team_experience: int
    drift_sd: float
    decliners: FloatArray
    own_path: Any
    is_own_path: bool
    foreseeable: bool
    best_changes: bool
    day_shares: FloatArray
    absence: float
    quits: float
    quit_at: IntArray
    declines: float
    warmup: int
    turnover: int
    gone: float
    spared: BoolArray
    tenure: IntArray
    script: ScriptForm


class FloorKeys(NamedTuple):
    """A run's keys, one for each purpose."""

    ramp: int
    drift: int
    absence: int
    quit: int
    decline: int
    turnover: int
    refill: int


class Floor(NamedTuple):
    """The people of a run as they are.

    `levels[i, t-1]` is worker i's level in period t, known ahead where the path is foreseeable. `experience` counts
    days worked, and `since` is the period in which each took a station last. `may_enter` says who may be hired: not
    those who left for good. `absent` is about the present period. `order` are the workers by level, and `counts` has
    VACANCIES. `pool` is scratch.
    """

    levels: FloatArray
    depth: FloatArray
    experience: IntArray
    since: IntArray
    gone: BoolArray
    may_enter: BoolArray
    absent: BoolArray
    order: IntArray
    pool: IntArray
    counts: IntArray


def floor_form(problem: Problem) -> FloorForm:
    """Return what a problem says of how people and days change."""
    workers, horizon, ramp = problem.workers.count, problem.horizon, problem.ramp
    presence, start, path = problem.presence, problem.start, problem.drift
    script = (NO_SCRIPT if problem.script is None else problem.script).form()
    given = len(script.levels) > 0 or bool(script.leaves.any()) or bool(script.joins.any())
    drift = path if isinstance(path, Drift) else Drift()
    step = None if path is None else path.own_step()
    low, high = (0.0, 0.0) if ramp is None else ramp.range
    experience, team = np.zeros(workers, dtype=np.int64), EXPERIENCED
    if ramp is not None and ramp.veterans != "team":
        team = 0
        if isinstance(ramp.veterans, tuple):
            experience[:] = ramp.veterans
        elif ramp.veterans == "all":
            experience[:] = EXPERIENCED
    longest = horizon + int(experience.max(where=experience < EXPERIENCED, initial=0))
    leavers = presence is not None and (presence.quits > 0.0 or len(presence.quit_at) > 0)
    turnover = start is not None and start.turnover > 0 and start.gone > 0.0
    spared = np.zeros(workers, dtype=np.bool_)
    if start is not None:
        spared[list(start.spared)] = True
    return FloorForm(
        changes=problem.changes,
        ramp=ramp is not None,
        depth_low=low,
        depth_high=high,
        depth_is_normal=ramp is not None and ramp.normal,
        fading=np.zeros(1) if ramp is None else _fading(float(ramp.days), longest),
        experience=experience,
        team_experience=team,
        drift_sd=float(drift.sd),
        decliners=np.array(drift.decliners, dtype=np.float64).reshape(-1, 4),
        own_path=NO_NUMBERS if step is None else numbers_of(path, step),
        is_own_path=step is not None,
        foreseeable=path is None or path.foreseeable,
        best_changes=leavers or turnover or given or (path is not None and not path.neutral),
        day_shares=problem.output.day_shares(horizon),
        absence=0.0 if presence is None else float(presence.absence),
        quits=0.0 if presence is None else float(presence.quits),
        quit_at=np.array(() if presence is None else presence.quit_at, dtype=np.int64),
        declines=0.0 if presence is None else float(presence.declines),
        warmup=problem.warmup,
        turnover=0 if start is None else start.turnover,
        gone=0.0 if start is None else float(start.gone),
        spared=spared,
        tenure=problem.tenure(),
        script=script,
    )


def _fading(days: float, longest: int) -> FloatArray:
    """Return exp(-n / days) for n = 0, 1, ... until it is 0 or nobody has worked longer; the last entry is 0."""
    entries = min(longest, math.ceil(LONGEST_RAMP * days)) + 1
    return np.array([*(math.exp(-n / days) for n in range(entries)), 0.0])


def empty_floor(workers: int, horizon: int) -> Floor:
    """Make room for the people of a run."""
    return Floor(
        np.zeros((workers, horizon), dtype=np.float64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.bool_),
        np.zeros(workers, dtype=np.bool_),
        np.zeros(workers, dtype=np.bool_),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


def begin_run(
    form: FloorForm, keys: FloorKeys, floor: Floor, means: FloatArray, stations: IntArray, may_enter: BoolArray
) -> None:
    """Let a run begin: everybody's ramp, experience and level, as far ahead as it can be known."""
    workers = len(means)
    floor.counts[VACANCIES] = 0
    for worker in range(workers):
        floor.depth[worker] = _draw_depth(form, mix(keys.ramp, worker)) if form.ramp else 0.0
        floor.experience[worker] = form.experience[worker]
        floor.since[worker] = 1 - form.tenure[worker]
        floor.gone[worker] = False
        floor.may_enter[worker] = may_enter[worker]
        if len(form.script.joins) > 0 and form.script.joins[worker] > 1:
            floor.may_enter[worker] = False
        floor.absent[worker] = False
        floor.order[worker] = worker
        _move_level(form, keys, floor, means, worker, 1, floor.levels.shape[1] if form.foreseeable else 1)
    for station in range(len(stations)):
        if stations[station] != NOBODY:
            worker = stations[station]
            floor.experience[worker] = max(floor.experience[worker], form.team_experience)
        elif form.script.refill:
            floor.counts[VACANCIES] += 1
    for row in range(len(form.decliners)):
        _decline(form, floor, row)


def _draw_depth(form: FloorForm, key: int) -> float:
    if form.depth_is_normal:
        return min(max(form.depth_low + form.depth_high * normal(key, 0), 0.0), MOST_DEPTH)
    return form.depth_low + (form.depth_high - form.depth_low) * uniform(key, 0)


def _move_level(
    form: FloorForm, keys: FloorKeys, floor: Floor, means: FloatArray, worker: int, first: int, last: int
) -> None:
    """Fill in a worker's level from period `first` to `last`, each from the period before."""
    levels, own = floor.levels, mix(keys.drift, worker)
    if len(form.script.levels) > 0:
        for place in range(first - 1, last):
            levels[worker, place] = form.script.levels[worker, place]
        return
    if not form.is_own_path and form.drift_sd <= 0.0:
        levels[worker, first - 1 : last] = means[worker]
        return
    for period in range(first, last + 1):
        if period == 1:
            levels[worker, 0] = means[worker]
        elif form.is_own_path:
            before, worked = float(levels[worker, period - 2]), int(floor.experience[worker])
            level = own_step(form.own_path, before, float(means[worker]), period, worked, mix(own, period))
            levels[worker, period - 1] = min(max(level, 0.0), 1.0)
        else:
            level = levels[worker, period - 2] * (1.0 + form.drift_sd * normal(mix(own, period), 0))
            levels[worker, period - 1] = min(max(level, 0.0), 1.0)


def own_step(numbers: Any, level: float, first: float, period: int, worked: int, key: int) -> float:
    """Move a level along a path of a user's own, whose numbers carry how to."""
    return float(numbers.draw(numbers, level, first, period, worked, key))


def _decline(form: FloorForm, floor: Floor, row: int) -> None:
    """Multiply a decliner's levels by max(floor, 1 + change (t - from)) from that period on."""
    worker, since = int(form.decliners[row, 0]), int(form.decliners[row, 1])
    change, least = form.decliners[row, 2], form.decliners[row, 3]
    for period in range(since, floor.levels.shape[1] + 1):
        level = floor.levels[worker, period - 1] * max(least, 1.0 + change * (period - since))
        floor.levels[worker, period - 1] = min(level, 1.0)


def begin_period(
    form: FloorForm, keys: FloorKeys, floor: Floor, roster: RosterArrays, means: FloatArray, period: int, quit: IntArray
) -> int:
    """Move levels, let people quit and, in the warm-up, places change hands; list who quit and return their number."""
    if not form.foreseeable and period > 1:
        for worker in range(len(means)):
            _move_level(form, keys, floor, means, worker, period, period)
    n = _follow_script(form.script, floor, roster, period, quit)
    if form.quits > 0.0:
        own = mix(keys.quit, 2 * period)
        for station in range(len(roster.stations)):
            worker = int(roster.stations[station])
            if worker == NOBODY or presence_given(form.script, worker, period) != UNKNOWN:
                continue
            if uniform(own, worker) < form.quits:
                _leave_for_good(floor, roster, worker)
                quit[n] = worker
                n += 1
    for place in range(len(form.quit_at)):
        if form.quit_at[place] == period:
            station = int(uniform(mix(keys.quit, 2 * period + 1), 0) * len(roster.stations))
            worker = int(roster.stations[station])
            if worker != NOBODY:
                _leave_for_good(floor, roster, worker)
                quit[n] = worker
                n += 1
    if period <= form.warmup:
        refills = floor.counts[VACANCIES]
        for number in range(refills):
            worker = draw_outsider(floor, roster, mix(mix(keys.refill, period), number))
            if worker != NOBODY:
                _take_station(floor, roster, worker, _first_empty(roster), period)
                floor.counts[VACANCIES] -= 1
        if form.turnover > 0 and period % form.turnover == 0:
            _change_hands(form, floor, roster, mix(keys.turnover, period), period)
    return n


def _follow_script(script: ScriptForm, floor: Floor, roster: RosterArrays, period: int, quit: IntArray) -> int:
    """Let people join and leave the pool as scripted; list those who left a station and return their number.

    Whoever is about to start leaves once they have started.
    """
    n = 0
    for worker in range(len(script.joins)):
        if script.joins[worker] == period and not floor.gone[worker]:
            floor.may_enter[worker] = True
    for worker in range(len(script.leaves)):
        if 0 < script.leaves[worker] <= period and not floor.gone[worker]:
            if roster.station_of[worker] >= 0:
                _leave_for_good(floor, roster, worker)
                quit[n] = worker
                n += 1
            elif roster.role[worker] == FREE:
                floor.gone[worker] = True
                floor.may_enter[worker] = False
    return n


def _leave_for_good(floor: Floor, roster: RosterArrays, worker: int) -> None:
    """Empty a worker's station; a hire that was to replace them will fill it, else it is vacant."""
    if roster.role[worker] != LEAVING:
        floor.counts[VACANCIES] += 1
    vacate(roster, worker)
    floor.gone[worker] = True
    floor.may_enter[worker] = False


def _change_hands(form: FloorForm, floor: Floor, roster: RosterArrays, key: int, period: int) -> None:
    """Let somebody at random take the place of somebody at random; a share of leavers cannot come back."""
    stations, n = roster.stations, 0
    for station in range(len(stations)):
        if stations[station] != NOBODY and not form.spared[stations[station]]:
            n += 1
    into = draw_outsider(floor, roster, mix(key, 1))
    if n == 0 or into == NOBODY:
        return
    skip = int(uniform(key, 2) * n)
    for station in range(len(stations)):
        out = int(stations[station])
        if out != NOBODY and not form.spared[out]:
            if skip == 0:
                vacate(roster, out)
                if uniform(key, 3) < form.gone:
                    floor.gone[out] = True
                    floor.may_enter[out] = False
                _take_station(floor, roster, into, station, period)
                return
            skip -= 1


def _take_station(floor: Floor, roster: RosterArrays, worker: int, station: int, period: int) -> None:
    """Put a worker at an empty station."""
    roster.stations[station] = worker
    roster.station_of[worker] = station
    floor.since[worker] = period


def _first_empty(roster: RosterArrays) -> int:
    for station in range(len(roster.stations)):
        if roster.stations[station] == NOBODY:
            return station
    return NOBODY


def draw_outsider(floor: Floor, roster: RosterArrays, key: int) -> int:
    """Draw one of those who may be hired now, or NOBODY if there are none."""
    n = 0
    for worker in range(len(roster.role)):
        if roster.station_of[worker] < 0 and roster.role[worker] == FREE and floor.may_enter[worker]:
            floor.pool[n] = worker
            n += 1
    return int(floor.pool[int(uniform(key, 0) * n)]) if n > 0 else NOBODY


def offer_fault(floor: Floor, roster: RosterArrays, out: int, into: int) -> int:
    """Return the code of what forbids replacing `out` by `into` now, or LEGAL."""
    fault = request_fault(roster, out, into)
    if fault == LEGAL and floor.gone[into]:
        return INCOMING_LEFT_FOR_GOOD
    return fault


def declined(form: FloorForm, keys: FloorKeys, since: int, into: int) -> bool:
    """Return whether the offer made to a worker in a period is declined."""
    return form.declines > 0.0 and uniform(mix(keys.decline, since), into) < form.declines


def begin_work(form: FloorForm, keys: FloorKeys, floor: Floor, roster: RosterArrays, period: int) -> None:
    """Draw who of the team is absent."""
    own = mix(keys.absence, period)
    for station in range(len(roster.stations)):
        worker = int(roster.stations[station])
        if worker != NOBODY:
            given = presence_given(form.script, worker, period)
            if given != UNKNOWN:
                floor.absent[worker] = given == ABSENT
            else:
                floor.absent[worker] = form.absence > 0.0 and uniform(own, worker) < form.absence


def centre_of(form: FloorForm, output: OutputForm, floor: Floor, worker: int, period: int, day_effect: float) -> float:
    """Return the mean of a worker's output in a period, given the day's own effect."""
    centre = floor.levels[worker, period - 1] * ramp_share(form, floor, worker) * form.day_shares[period - 1]
    if output.day_is_relative:
        return float(min(max(centre * (1.0 + day_effect), 0.0), 1.0))
    return day_mean(float(min(centre, 1.0)), day_effect)


def ramp_share(form: FloorForm, floor: Floor, worker: int) -> float:
    """Return the share of their level that a worker reaches with the days worked so far."""
    worked = min(floor.experience[worker], len(form.fading) - 1)
    return float(1.0 - floor.depth[worker] * form.fading[worked])


def counted_of(form: FloorForm, worker: int, period: int, centre: float) -> float:
    """Return what counts of a worker's output: its mean or, where their own noise is given, all of it."""
    noise = noise_given(form.script, worker, period)
    return centre if math.isnan(noise) else min(max(centre + noise, 0.0), 1.0)


def put_out(
    form: FloorForm, output: OutputForm, floor: Floor, worker: int, period: int, centre: float, key: int
) -> float:
    """Return a worker's output around its centre: as given, or drawn from the key of that worker and period."""
    if math.isnan(noise_given(form.script, worker, period)):
        return output_of(output, floor, worker, period, centre, key)
    return counted_of(form, worker, period, centre)


def output_of(output: OutputForm, floor: Floor, worker: int, period: int, centre: float, key: int) -> float:
    """Draw a worker's output around its centre, from the key of that worker and period."""
    if output.noise_is_relative:
        spread = output.spread * floor.levels[worker, period - 1]
        return draw_output(output.code, spread, centre, room_of(centre), key)
    return draw_any(output, centre, key)


def draw_any(output: OutputForm, centre: float, key: int) -> float:
    """Draw an output around its centre, from a built-in law or one of a user's own; it stays in [0, 1]."""
    if output.code == OWN_OUTPUT:
        return min(max(own_output(output.own, centre, room_of(centre), key), 0.0), 1.0)
    return draw_output(output.code, output.spread, centre, room_of(centre), key)


def end_work(floor: Floor, roster: RosterArrays) -> None:
    """Give a day of experience to those of the team who were there."""
    for station in range(len(roster.stations)):
        worker = int(roster.stations[station])
        if worker != NOBODY and not floor.absent[worker]:
            floor.experience[worker] += 1


def best_levels(floor: Floor, team: int, period: int) -> float:
    """Return the sum of the `team` highest levels of a period among those who have not left for good."""
    order, levels = floor.order, floor.levels
    for place in range(1, len(order)):  # nearly sorted from the period before
        worker = order[place]
        level, hole = levels[worker, period - 1], place
        while hole > 0 and levels[order[hole - 1], period - 1] < level:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = worker
    total, taken = 0.0, 0
    for worker in order:
        if taken < team and not floor.gone[worker]:
            total += levels[worker, period - 1]
            taken += 1
    return total


def day_effect_of(output: OutputForm, key: int, period: int) -> float:
    """Draw the effect of a period on everybody, from the run's key for days."""
    return draw_day_effect(output.day_effect_sd, mix(key, period))
