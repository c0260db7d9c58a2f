"""Learning day by day: day effects, noise, people, pool, and learning again when the noise is better known."""

import math

import numpy as np

from crewlearn.beliefs.evolving.filters import begin_filters, mean_share, summarise, update_filters
from crewlearn.beliefs.evolving.model import (
    CENTRE_GUESS,
    CLASSES,
    DAY_COUNT,
    DAY_MEAN,
    DAY_SUM,
    DAY_VAR,
    DAY_VAR_USED,
    DAY_WEIGHT,
    DAYS_LEARNED,
    DRIFT_SHARES,
    FADED,
    LAST_DAY,
    LEAST_NOISE,
    NOISE,
    NOISE_SUM,
    NOISE_USED,
    NOISE_WEIGHT,
    POOLS,
    RAMPS,
    REPLAYABLE,
    ROWS,
    SLOTS,
    Evolving,
    Filters,
    History,
    People,
    Pool,
    Told,
    ramp_grid,
)
from crewlearn.beliefs.evolving.pool import SUMMARY, learn_pool
from crewlearn.problem.arrays import FloatArray, IntArray

REPLAY_DAYS = 64
DAY_GUESS, DAY_GUESS_WEIGHT, DAY_MEMORY = 0.02, 4.0, 80.0
SHOCK = 6.0
NEVER = -(2**62)
OWN_STEP = 0.3


def fresh_evolving(told: Told, days: IntArray, prior_counts: IntArray, prior_sums: FloatArray, team: int) -> Evolving:
    """Return what is believed before any output; `days` are the days that each has worked already."""
    workers = len(days)
    learned = Evolving(
        np.zeros(10, dtype=np.float64),
        np.zeros(6, dtype=np.int64),
        People(
            np.full(workers, -1, dtype=np.int64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.float64),
        ),
        Filters(
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
            np.zeros(workers * RAMPS * CLASSES, dtype=np.float64),
        ),
        Pool(
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS * POOLS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS * FADED, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.int64),
            np.zeros(FADED, dtype=np.float64),
            np.zeros(CLASSES, dtype=np.float64),
        ),
        History(
            np.zeros(REPLAY_DAYS * team, dtype=np.int64),
            np.zeros(REPLAY_DAYS * team, dtype=np.float64),
            np.zeros(REPLAY_DAYS * team, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        ),
        np.zeros(SUMMARY * (workers + 1) + 4 * team, dtype=np.float64),
    )
    people, pool, numbers = learned.people, learned.pool, learned.numbers
    ramp_grid(told, pool.depths, pool.ramp_days, pool.priors)
    for ramp in range(RAMPS):
        if pool.priors[ramp] > -math.inf:
            for day in range(FADED):
                pool.fading[ramp * FADED + day] = math.exp(-day / pool.ramp_days[ramp])
    for worker in range(workers):
        people.first_days[worker] = days[worker]
        people.prior_counts[worker] = prior_counts[worker]
        people.prior_sums[worker] = prior_sums[worker]
    guess = told.noise_guess if told.noise_sd < 0.0 else told.noise_sd
    numbers[NOISE] = max(guess * guess, LEAST_NOISE)
    numbers[DAY_VAR] = DAY_GUESS * DAY_GUESS
    learned.counts[REPLAYABLE] = 1
    _forget(learned, told)
    return learned


def _forget(learned: Evolving, told: Told) -> None:
    """Return to the state before any output, but for the noise and the spread of days."""
    people, pool, numbers = learned.people, learned.pool, learned.numbers
    numbers[NOISE_USED] = numbers[NOISE]
    numbers[DAY_VAR_USED] = numbers[DAY_VAR]
    numbers[NOISE_SUM] = 0.0
    numbers[NOISE_WEIGHT] = 0.0
    numbers[DAY_SUM] = 0.0
    numbers[DAY_WEIGHT] = 0.0
    numbers[DAY_MEAN] = 0.0
    numbers[DAY_COUNT] = 0.0
    learned.counts[SLOTS] = 0
    learned.counts[DAYS_LEARNED] = 0
    for worker in range(len(people.slot)):
        people.slot[worker] = -1
        people.days[worker] = people.first_days[worker]
        people.last_seen[worker] = NEVER
    for kind in range(CLASSES):
        pool.log_shares[kind] = math.log(DRIFT_SHARES[kind])
    for ramp in range(RAMPS):
        pool.centre[ramp] = CENTRE_GUESS if told.centre < 0.0 else told.centre
        pool.live[ramp] = 1 if pool.priors[ramp] > -math.inf else 0
        for kind in range(POOLS):
            pool.centres[ramp * POOLS + kind] = CENTRE_GUESS if told.centre < 0.0 else told.centre
    for worker in range(len(people.slot)):
        if people.prior_counts[worker] > 0:
            _meet(learned, worker)
    learn_pool(learned, told)


def _meet(learned: Evolving, worker: int) -> None:
    """Give somebody seen for the first time filters of their own."""
    people = learned.people
    slot = int(learned.counts[SLOTS])
    learned.counts[SLOTS] = slot + 1
    people.slot[worker] = slot
    people.alike[worker] = 1 if people.days[worker] >= FADED else 0
    begin_filters(learned, worker, float(learned.numbers[NOISE_USED]))


def learn_day(learned: Evolving, told: Told, period: int, workers: IntArray, output: FloatArray) -> None:
    """Learn from one day's output."""
    if len(workers) == 0:
        return
    _keep(learned, period, workers, output)
    _learn(learned, told, period, workers, output)
    if _noise_moved(learned) and learned.counts[REPLAYABLE] == 1:
        _learn_again(learned, told)


def _keep(learned: Evolving, period: int, workers: IntArray, output: FloatArray) -> None:
    """Keep the day to learn from it again, as long as there is room."""
    history = learned.history
    first = int(history.counts[0])
    if first + len(workers) > len(history.worker):
        learned.counts[REPLAYABLE] = 0
    if learned.counts[REPLAYABLE] == 0:
        return
    for place in range(len(workers)):
        history.worker[first + place] = workers[place]
        history.output[first + place] = output[place]
        history.period[first + place] = period
    history.counts[0] = first + len(workers)


def _noise_moved(learned: Evolving) -> bool:
    numbers = learned.numbers
    ratio = float(numbers[NOISE] / numbers[NOISE_USED])
    days = float((numbers[DAY_VAR] + 1e-5) / (numbers[DAY_VAR_USED] + 1e-5))
    return ratio > 1.2 or ratio < 1.0 / 1.2 or days > 1.5 or days < 1.0 / 1.5


def _learn_again(learned: Evolving, told: Told) -> None:
    """Learn all days kept once more, with the noise and the spread of days as known now."""
    history = learned.history
    _forget(learned, told)
    rows, first = int(history.counts[0]), 0
    while first < rows:
        last = first
        while last < rows and history.period[last] == history.period[first]:
            last += 1
        _learn(learned, told, int(history.period[first]), history.worker[first:last], history.output[first:last])
        first = last


def _learn(learned: Evolving, told: Told, period: int, workers: IntArray, output: FloatArray) -> None:
    people, pool, numbers = learned.people, learned.pool, learned.numbers
    noise, memo = float(numbers[NOISE_USED]), learned.scratch
    of_days = len(learned.scratch) - 4 * (len(learned.history.worker) // REPLAY_DAYS)
    sum_xx = sum_xz = 0.0
    for place in range(len(workers)):
        worker = workers[place]
        new = people.slot[worker] < 0
        if new:
            _meet(learned, worker)
        share = mean_share(pool, people.days[worker])
        expected = share * float(people.means[worker])
        own = OWN_STEP * (1.0 - share) * float(people.means[worker])
        weight = 1.0 / (share * share * float(people.variances[worker]) + noise + own * own)
        if new:
            weight = 0.0
        memo[of_days + 4 * place] = expected
        memo[of_days + 4 * place + 1] = expected * expected * weight
        memo[of_days + 4 * place + 2] = expected * (output[place] - expected) * weight
        sum_xx += expected * expected * weight
        sum_xz += expected * (output[place] - expected) * weight
    day_mean, day_var = float(numbers[DAY_MEAN]), max(float(numbers[DAY_VAR_USED]), 1e-12)
    if sum_xx > 0.0:
        far = sum_xz / sum_xx - day_mean
        if far * far > SHOCK * (day_var + 1.0 / sum_xx):
            day_var = far * far
        else:
            _learn_spread_of_days(numbers, far, 1.0 / sum_xx)
    for place in range(len(workers)):
        worker = workers[place]
        expected = float(memo[of_days + 4 * place])
        doubt = 1.0 / (sum_xx - float(memo[of_days + 4 * place + 1]) + 1.0 / day_var)
        effect = doubt * (sum_xz - float(memo[of_days + 4 * place + 2]) + day_mean / day_var)
        adjusted, unsure = output[place] - expected * effect, expected * expected * doubt
        gap = period - people.last_seen[worker] if people.last_seen[worker] > NEVER else 0
        if 0 < gap <= 5:
            _learn_noise(learned, worker, adjusted, unsure)
        update_filters(learned, worker, adjusted, noise + unsure, gap)
        people.last_seen[worker] = period
        people.last_output[worker] = adjusted
        people.last_doubt[worker] = unsure
        people.days[worker] += 1
    if told.noise_sd < 0.0:
        guess, weight = told.noise_guess * told.noise_guess, told.guess_weight
        total = weight + float(numbers[NOISE_WEIGHT])
        numbers[NOISE] = max((weight * guess + numbers[NOISE_SUM]) / total, LEAST_NOISE)
    learned.counts[DAYS_LEARNED] += 1
    learned.counts[LAST_DAY] = period
    if _pool_is_due(learned, workers):
        learn_pool(learned, told)
    else:
        for place in range(len(workers)):
            summarise(learned, workers[place], learned.scratch[SUMMARY:])


def _pool_is_due(learned: Evolving, workers: IntArray) -> bool:
    days = learned.counts[DAYS_LEARNED]
    return bool(days <= 4 or days % 4 == 0)


def _learn_spread_of_days(numbers: FloatArray, far: float, doubt: float) -> None:
    keep = 1.0 - 1.0 / DAY_MEMORY
    numbers[DAY_SUM] = keep * numbers[DAY_SUM] + far * far - doubt
    numbers[DAY_WEIGHT] = keep * numbers[DAY_WEIGHT] + 1.0
    weight = DAY_GUESS_WEIGHT + numbers[DAY_WEIGHT]
    numbers[DAY_VAR] = max((DAY_GUESS_WEIGHT * DAY_GUESS * DAY_GUESS + numbers[DAY_SUM]) / weight, 1e-8)
    numbers[DAY_COUNT] += 1.0
    numbers[DAY_MEAN] += far / max(20.0, min(numbers[DAY_COUNT], DAY_MEMORY))


def _learn_noise(learned: Evolving, worker: int, adjusted: float, unsure: float) -> None:
    """Learn from the difference to the person's last output, less the expected step of the ramp."""
    people, numbers = learned.people, learned.numbers
    days, mean = people.days[worker], float(people.means[worker])
    step = (mean_share(learned.pool, days) - mean_share(learned.pool, days - 1)) * mean
    change = adjusted - float(people.last_output[worker]) - step
    own = OWN_STEP * step
    part = 0.5 * (change * change - unsure - float(people.last_doubt[worker]) - own * own)
    numbers[NOISE_SUM] += part
    numbers[NOISE_WEIGHT] += 1.0
