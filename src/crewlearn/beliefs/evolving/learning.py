"""Learning day by day, and learning the first days again when the noise is better known.

The first days are learned with a guess of the noise, which makes them count for too little. So they are kept, and
learned again from the beginning whenever the noise or the spread of days turns out to be another.
"""

import math

from crewlearn.beliefs.evolving.allocation import VIEW, empty_evolving, rows_kept
from crewlearn.beliefs.evolving.crowd import (
    empty_crowd,
    expect,
    expect_all,
    follow_crowd,
    leave_crowd,
    outlook_of,
)
from crewlearn.beliefs.evolving.days import (
    DAY_GUESS,
    LONGEST_GAP,
    estimate_noise,
    learn_noise,
    view_day,
)
from crewlearn.beliefs.evolving.filters import begin_filters, summarise, update_filters
from crewlearn.beliefs.evolving.model import (
    ANCHOR_DAYS,
    ANCHORS,
    CENTRE_GUESS,
    CLASSES,
    CROWD,
    DAY_MEAN,
    DAY_PRECISION,
    DAY_SUM,
    DAY_VAR,
    DAY_VAR_USED,
    DAY_WEIGHT,
    DAYS_JUDGED,
    DAYS_LEARNED,
    DAYS_NOTED,
    DAYS_WORKED,
    DRIFT_SHARES,
    FADED,
    LAST_DAY,
    LEAST_NOISE,
    NEVER,
    NO_FILTERS,
    NOISE,
    NOISE_SUM,
    NOISE_USED,
    NOISE_WEIGHT,
    OWN_RAMP,
    POOLS,
    QUITS,
    RAMPED,
    RAMPS,
    REPLAYABLE,
    ROWS,
    SLOTS,
    UNSEEN,
    Evolving,
    Told,
    fill_pool_grid,
    fill_ramp_grid,
    has_no_filters,
    share_put_out,
)
from crewlearn.beliefs.evolving.pool import learn_pool
from crewlearn.problem.arrays import FloatArray, IntArray

NOISE_MOVED, DAYS_MOVED, LEAST_DAYS = 1.4, 2.0, 1e-5
"""By which factor the variance of output, or that of days above LEAST_DAYS, must have moved to learn again."""

DOUBT_MOVED = 1.1
"""By which factor the doubt about a day's effect must then have moved too: large teams show it, whatever days do."""

POOL_DAILY, POOL_EVERY = 4, 4
"""The pool is inferred on each of the first days, and then on every so many."""


def fresh_evolving(
    told: Told, days: IntArray, prior_counts: IntArray, prior_sums: FloatArray, team: int, capacity: int
) -> Evolving:
    """Return what is believed before any output.

    `days` are the days that each has worked already, at least as many as there are prior observations, and `capacity`
    is how many people can work here.
    """
    learned = empty_evolving(len(days), rows_kept(team), capacity)
    begin(learned, told, days, prior_counts, prior_sums)
    return learned


def begin(learned: Evolving, told: Told, days: IntArray, prior_counts: IntArray, prior_sums: FloatArray) -> None:
    """Fill in what is believed before any output."""
    people, pool, numbers = learned.people, learned.pool, learned.numbers
    fill_ramp_grid(told, pool.depths, pool.ramp_days, pool.priors)
    fill_pool_grid(told, pool.scales, pool.tails)
    for ramp in range(RAMPS):
        if pool.priors[ramp] > -math.inf:
            for day in range(FADED):
                pool.fading[ramp * FADED + day] = math.exp(-day / float(pool.ramp_days[ramp]))
    for worker in range(len(days)):
        people.first_days[worker] = max(days[worker], prior_counts[worker])
        people.prior_counts[worker] = prior_counts[worker]
        people.prior_sums[worker] = prior_sums[worker]
    guess = told.noise_guess if told.noise_sd < 0.0 else told.noise_sd
    numbers[NOISE] = max(guess * guess, LEAST_NOISE)
    numbers[DAY_VAR] = DAY_GUESS * DAY_GUESS
    learned.counts[REPLAYABLE] = 1
    _forget(learned, told)
    expect_all(learned)


def _forget(learned: Evolving, told: Told) -> None:
    """Return to the state before any output, but for the noise and the spread of days."""
    people, pool, numbers, counts = learned.people, learned.pool, learned.numbers, learned.counts
    numbers[NOISE_USED] = numbers[NOISE]
    numbers[DAY_VAR_USED] = numbers[DAY_VAR]
    numbers[NOISE_SUM] = 0.0
    numbers[NOISE_WEIGHT] = 0.0
    numbers[DAY_SUM] = 0.0
    numbers[DAY_WEIGHT] = 0.0
    numbers[DAY_MEAN] = 0.0
    empty_crowd(learned)
    counts[SLOTS] = 0
    counts[DAYS_LEARNED] = 0
    counts[RAMPED] = 0
    counts[DAYS_JUDGED] = 0
    counts[DAYS_NOTED] = 0
    for kind in range(CLASSES):
        pool.log_shares[kind] = math.log(DRIFT_SHARES[kind])
    for ramp in range(RAMPS):
        pool.weights[ramp] = math.exp(float(pool.priors[ramp]))
        pool.centre[ramp] = CENTRE_GUESS if told.centre < 0.0 else told.centre
        pool.live[ramp] = 1 if pool.priors[ramp] > -math.inf else 0
        for kind in range(POOLS):
            pool.centres[ramp * POOLS + kind] = pool.centre[ramp] if told.pool_weight < 0.0 else CENTRE_GUESS
    for worker in range(len(people.slot)):
        people.slot[worker] = UNSEEN
        people.days[worker] = people.first_days[worker]
        people.last_seen[worker] = NEVER
        if people.prior_counts[worker] > 0:
            people.slot[worker] = NO_FILTERS
            counts[CROWD] += 1
    _infer_pool(learned, told)
    if counts[CROWD] > 0:  # once more, from the centre that the first call inferred
        _infer_pool(learned, told)


def _infer_pool(learned: Evolving, told: Told) -> None:
    follow_crowd(learned)
    learn_pool(learned, told)


def meet(learned: Evolving, worker: int) -> None:
    """Allocate filters for a person who works here for the first time."""
    people, counts = learned.people, learned.counts
    expect(learned, outlook_of(learned), worker)
    if people.slot[worker] == NO_FILTERS:
        leave_crowd(learned, worker)
    slot = int(counts[SLOTS])
    counts[SLOTS] = slot + 1
    people.slot[worker] = slot
    people.alike[worker] = 1 if people.days[worker] >= FADED else 0
    if people.alike[worker] == 0:
        counts[RAMPED] += 1
    for place in range(slot * ANCHORS, (slot + 1) * ANCHORS):
        learned.anchors.periods[place] = NEVER
    begin_filters(learned, worker, float(learned.numbers[NOISE_USED]))


def learn_day(learned: Evolving, told: Told, period: int, workers: IntArray, output: FloatArray, quits: int) -> None:
    """Learn from one day's output, and from how many left unasked; `workers` are those who worked, each once."""
    learned.counts[QUITS] += quits
    learned.counts[DAYS_WORKED] += len(workers)
    if len(workers) == 0:
        return
    _keep(learned, period, workers, output)
    _take_in(learned, told, period, workers, output)
    again = learned.counts[REPLAYABLE] == 1 and _noise_moved(learned)
    if again:
        _learn_again(learned, told)
    else:
        _conclude(learned, told, period, workers)
    if again or _pool_due(learned):
        expect_all(learned)


def _keep(learned: Evolving, period: int, workers: IntArray, output: FloatArray) -> None:
    """Keep the day to learn from it again, as long as there is room."""
    history, counts = learned.history, learned.counts
    first = int(counts[ROWS])
    if counts[REPLAYABLE] == 1 and first + len(workers) > len(history.worker):
        counts[REPLAYABLE] = 0
    if counts[REPLAYABLE] == 0:
        return
    for place in range(len(workers)):
        history.worker[first + place] = workers[place]
        history.output[first + place] = output[place]
        history.period[first + place] = period
    counts[ROWS] = first + len(workers)


def _noise_moved(learned: Evolving) -> bool:
    """Return whether the noise or the spread of days is far from what was learned with."""
    numbers = learned.numbers
    noise = float(numbers[NOISE]) / float(numbers[NOISE_USED])
    now, used = float(numbers[DAY_VAR]) + LEAST_DAYS, float(numbers[DAY_VAR_USED]) + LEAST_DAYS
    if max(noise, 1.0 / noise) > NOISE_MOVED:
        return True
    precision = float(numbers[DAY_PRECISION])
    doubt = (precision + 1.0 / used) / (precision + 1.0 / now)
    return max(now / used, used / now) > DAYS_MOVED and max(doubt, 1.0 / doubt) > DOUBT_MOVED


def _learn_again(learned: Evolving, told: Told) -> None:
    """Learn all days kept once more, oldest first, with the noise and the spread of days as known now."""
    history = learned.history
    _forget(learned, told)
    rows, first = int(learned.counts[ROWS]), 0
    while first < rows:
        last = first
        while last < rows and history.period[last] == history.period[first]:
            last += 1
        period, workers = int(history.period[first]), history.worker[first:last]
        _take_in(learned, told, period, workers, history.output[first:last])
        _conclude(learned, told, period, workers)
        first = last


def _take_in(learned: Evolving, told: Told, period: int, workers: IntArray, output: FloatArray) -> None:
    """Learn from one day's output: the day's effect, then the noise and the filters of those who worked."""
    if learned.counts[REPLAYABLE] == 0:  # nothing can be learned again: new days count by what is known now
        learned.numbers[NOISE_USED] = learned.numbers[NOISE]
        learned.numbers[DAY_VAR_USED] = learned.numbers[DAY_VAR]
    people, noise, view = learned.people, float(learned.numbers[NOISE_USED]), learned.scratch
    precision = weighted = 0.0
    for place in range(len(workers)):
        worker = workers[place]
        seen_before = people.slot[worker] != UNSEEN
        if has_no_filters(people.slot[worker]):
            meet(learned, worker)
        share, mean = share_put_out(learned.pool, int(people.days[worker])), float(people.means[worker])
        expected, own = share * mean, OWN_RAMP * (1.0 - share) * mean
        weight = expected / (share * share * float(people.variances[worker]) + noise + own * own)
        if not seen_before:  # whose level is not known tells nothing about the day
            weight = 0.0
        view[VIEW * place] = expected
        view[VIEW * place + 1] = expected * weight
        view[VIEW * place + 2] = (output[place] - expected) * weight
        precision += expected * weight
        weighted += (output[place] - expected) * weight
    day = view_day(learned, period, precision, weighted)
    for place in range(len(workers)):
        worker, expected = workers[place], float(view[VIEW * place])
        doubt = 1.0 / (day.precision - float(view[VIEW * place + 1]) + 1.0 / day.variance)
        effect = doubt * (day.weighted - float(view[VIEW * place + 2]) + day.mean / day.variance)
        adjusted, unsure = output[place] - expected * effect, expected * expected * doubt
        gap = 0 if people.last_seen[worker] == NEVER else max(0, period - int(people.last_seen[worker]))
        if 0 < gap <= LONGEST_GAP:
            learn_noise(learned, worker, adjusted, unsure)
        update_filters(learned, worker, adjusted, noise + unsure, gap)
        people.last_seen[worker] = period
        people.last_output[worker] = adjusted
        people.last_doubt[worker] = unsure
        people.days[worker] += 1
    estimate_noise(learned, told)
    learned.counts[DAYS_LEARNED] += 1
    learned.counts[LAST_DAY] = period


def _conclude(learned: Evolving, told: Told, period: int, workers: IntArray) -> None:
    """Update the beliefs about those who worked, or, if that is due, about everybody with filters, and the pool."""
    if _pool_due(learned):
        _infer_pool(learned, told)
    else:
        for place in range(len(workers)):
            summarise(learned, workers[place], 0)
    for place in range(len(workers)):
        _drop_anchor(learned, workers[place], period)


def _pool_due(learned: Evolving) -> bool:
    """Return whether the pool is inferred on the day that was learned last."""
    days = int(learned.counts[DAYS_LEARNED])
    return days <= POOL_DAILY or days % POOL_EVERY == 0


def _drop_anchor(learned: Evolving, worker: int, period: int) -> None:
    """Keep a person's level of today, now and then, to tell later how it has changed."""
    people = learned.people
    worked = int(people.days[worker]) - int(people.first_days[worker])
    if worked % ANCHOR_DAYS == 0:
        place = int(people.slot[worker]) * ANCHORS + worked // ANCHOR_DAYS % ANCHORS
        learned.anchors.periods[place] = period
        learned.anchors.means[place] = people.means[worker]
