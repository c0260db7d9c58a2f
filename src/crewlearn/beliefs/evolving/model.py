"""The model of people who change, its grid of hypotheses, and the arrays that hold what was learned.

Output lies on [0, 1]; n is the number of days that a person has worked here before today:

    y[i, t] = r(n) a[i, t] (1 + d[t]) + e,   e ~ N(0, s^2)
    r(n)    = 1 - depth exp(-n / days)        ramp-up, shared by the pool; depths differ from person to person
    a[i, t] = a[i, t-1] + N(0, q^2)           a person's level after ramp-up
    d[t]    ~ N(mu, sd_d^2)                   the day, the same for all who work

People's first levels are drawn from a pool. Most are normal around a common centre, some lie in a wider tail, and a few
could be anywhere. Ramps, spreads of the pool and drifts are averaged over grids.

All arrays are flat, so that the same functions work on lists, which plain Python reads several times as fast.
"""

import math
from typing import NamedTuple

from crewlearn.beliefs.posterior import LEARN
from crewlearn.problem.arrays import FloatArray, IntArray

DEPTHS = (0.1, 0.2, 0.3, 0.45)
RAMP_DAYS = (2.0, 3.5, 6.0, 10.0, 18.0)
"""The grid of ramps beside "no ramp": how far below their level newcomers begin, and the days that it takes to fade."""

RAMPS = 1 + len(DEPTHS) * len(RAMP_DAYS)
NO_RAMP_SHARE = 0.4
"""The prior probability that newcomers do not ramp up."""

DEPTH_GUESS, DEPTH_SD, DAYS_GUESS, DAYS_SD, LEAST_FIT = 0.2, 0.15, 5.0, 4.0, 6.0
"""The prior of ramps on the grid: normal in depth and days, the latter cut off below exp(-LEAST_FIT / 2)."""

OWN_RAMP = 0.3
"""The standard deviation of people's own depths, relative to the common one."""

FADED = 256
"""Days worked after which every ramp has faded."""

DRIFTS = (0.0, 0.002, 0.005, 0.015)
DRIFT_SHARES = (0.88, 0.05, 0.05, 0.02)
"""The classes of drift a day, as standard deviations, and their prior shares of people."""

CLASSES = len(DRIFTS)
SHARES_WEIGHT = 3.0
"""The weight of the prior shares, in people."""

NARROWEST, SCALES = 0.0125, 6
"""The grid of spreads between people: 0.0125 to 0.4, each twice the last."""

TAIL_SHARE, TAIL_WIDTH, WIDEST_WITH_TAIL = 0.08, 4.0, 0.15
"""The share of people in the tail, if there is one, and how many times as wide it is; wide pools need none."""

POOLS = 2 * SCALES
"""Hypotheses of the pool: each spread, without and with a tail."""

ANY_SHARE, ANY_CENTRE, ANY_SD = 0.1, 0.5, 0.3
"""The share of people whose level may be anywhere, whatever the others are like, and where.

It is never learned away. So an untried worker is always worth a trial if enough periods are left.
"""

CENTRE_GUESS, CENTRE_SD = 0.5, 0.3
"""The prior of the pool's centre."""

BETWEEN_GUESS = 0.1
"""The spread by which a centre that was told is trusted, if no spread was."""

LEAST_NOISE, LEAST_VARIANCE = 1e-8, 1e-12
"""Lower limits on the variance of output and of a level, which avoid dividing by zero."""

NEVER = -(2**62)
"""The last day of somebody never seen."""

UNSEEN, NO_FILTERS = -1, 2**62
"""The slots of people who have no filters: of those about whom nothing is known, and of those with prior data alone."""

ANCHORS, ANCHOR_DAYS = 12, 20
"""How many earlier levels of a person are kept, and the days worked between two of them."""

DAYS_KEPT = 400
"""How many days' effects are kept to be read."""


class Told(NamedTuple):
    """What is assumed before any data; LEARN stands for what is to be learned.

    `noise_guess` is a standard deviation, with the weight of `guess_weight` observations. `centre` and `between_sd`
    have the weight of `pool_weight` people, so that data can overrule them; LEARN takes them as certain.
    """

    noise_guess: float
    guess_weight: float
    centre: float
    between_sd: float
    noise_sd: float
    ramp_depth: float
    ramp_days: float
    pool_weight: float = LEARN


class Filters(NamedTuple):
    """People's filters by slot, ramp and drift class, at ((slot * RAMPS) + ramp) * CLASSES + class.

    Given a person's first level x, the present level is normal with mean `base + slope x` and variance `spread`, and
    the log-likelihood of x is `fit + pull x - stiffness x^2 / 2`. So the pool's centre and spread need no filters of
    their own. `own_base`, `own_slope` and `own_spread` tell the same of the depth of the person's own ramp beyond the
    common one, in units of output; `shared` is its covariance with the level.
    """

    stiffness: FloatArray
    pull: FloatArray
    fit: FloatArray
    slope: FloatArray
    base: FloatArray
    spread: FloatArray
    own_slope: FloatArray
    own_base: FloatArray
    own_spread: FloatArray
    shared: FloatArray


class People(NamedTuple):
    """What is known of each worker.

    `slot` is the place of their filters, or says that they have none. `days` are the days worked here, `first_days`
    those before the record. `means` and `variances` are of the level after ramp-up on the last day seen, and `drift` is
    the expected variance of its change a day since then. `alike` is 1 if all ramps have the same filters, as for those
    who began experienced. `last_output` and `last_doubt` are the last output adjusted for the day, and the variance of
    that.
    """

    slot: IntArray
    days: IntArray
    first_days: IntArray
    last_seen: IntArray
    last_output: FloatArray
    last_doubt: FloatArray
    alike: IntArray
    means: FloatArray
    variances: FloatArray
    drift: FloatArray
    prior_counts: IntArray
    prior_sums: FloatArray


class Anchors(NamedTuple):
    """Earlier levels of people by slot: the periods and means at slot * ANCHORS onwards, used as a ring."""

    periods: IntArray
    means: FloatArray


class Pool(NamedTuple):
    """The pool by ramp, and the grid of ramps.

    - `weights` are the probabilities of ramps, `live` says which are not ruled out, `priors` are log prior weights.
    - `centre`, its variance `doubt`, the variance `between` people and the share of the `tail` are under each ramp.
    - `centres` holds the centre by ramp and hypothesis of the pool.
    - `depths` and `ramp_days` are the grid; `fading[ramp * FADED + n]` is exp(-n / days).
    - `scales` and `tails` are the hypotheses of the pool: spread, 0 if there is no such one, and share of the tail.
    - `share[n]` is the expected share of their level that somebody puts out after n days worked.
    - `log_shares` are the logarithms of the shares of the drift classes.
    """

    weights: FloatArray
    centre: FloatArray
    doubt: FloatArray
    between: FloatArray
    tail: FloatArray
    centres: FloatArray
    depths: FloatArray
    ramp_days: FloatArray
    priors: FloatArray
    fading: FloatArray
    scales: FloatArray
    tails: FloatArray
    live: IntArray
    share: FloatArray
    log_shares: FloatArray


class Crowd(NamedTuple):
    """What people known by prior data alone tell about the pool, by hypothesis of it.

    Their log-likelihood is a parabola of the pool's centre: at `centres` it is `evidence`, and its slope at a centre c
    is `weighted - precision c`.
    """

    centres: FloatArray
    precision: FloatArray
    weighted: FloatArray
    evidence: FloatArray


class History(NamedTuple):
    """The first days on record, row by row, kept to be learned from again when the noise is better known."""

    worker: IntArray
    output: FloatArray
    period: IntArray


class Days(NamedTuple):
    """The latest days' effects on everybody, as a ring: period, effect, its variance, and 1 if the day is unusual."""

    periods: IntArray
    effects: FloatArray
    doubts: FloatArray
    unusual: IntArray


class Evolving(NamedTuple):
    """Everything learned. `numbers` and `counts` are indexed by the names below; `scratch` is not part of it."""

    numbers: FloatArray
    counts: IntArray
    people: People
    filters: Filters
    anchors: Anchors
    pool: Pool
    crowd: Crowd
    history: History
    days: Days
    scratch: FloatArray


NOISE, NOISE_USED, NOISE_SUM, NOISE_WEIGHT, DAY_VAR, DAY_VAR_USED, DAY_SUM, DAY_WEIGHT, DAY_MEAN = range(9)
DAY_PRECISION, CROWD_NOISE = range(9, 11)
"""Indices into `Evolving.numbers`: variances of output and of days as estimated and as used, and their sums.

The last two are how precisely the output of the last day showed its effect, and the variance of output by which prior
data count in the crowd.
"""

NUMBERS = 11

SLOTS, DAYS_LEARNED, LAST_DAY, ROWS, REPLAYABLE, RAMPED = range(6)
DAYS_JUDGED, DAYS_NOTED, QUITS, DAYS_WORKED, CROWD = range(6, 11)
"""Indices into `Evolving.counts`.

Slots in use, days learned, the last of them, rows of history, 1 while history is complete, people whose ramp-up was
seen; days judged by those who had worked before, days ever noted, people who left unasked, days worked by all, and
people known by prior data alone.
"""

COUNTS = 11


def fill_ramp_grid(told: Told, depths: FloatArray, ramp_days: FloatArray, priors: FloatArray) -> None:
    """Fill in the grid of ramps with log prior weights; a ramp that was told is the only one."""
    for ramp in range(RAMPS):
        depths[ramp] = 0.0
        ramp_days[ramp] = 1.0
        priors[ramp] = -math.inf
    priors[0] = 0.0
    if told.ramp_depth >= 0.0:
        depths[0] = told.ramp_depth
        ramp_days[0] = told.ramp_days if told.ramp_days > 0.0 else DAYS_GUESS
        return
    priors[0] = math.log(NO_RAMP_SHARE)
    whole = 0.0
    for ramp in range(1, RAMPS):
        depth, days = DEPTHS[(ramp - 1) // len(RAMP_DAYS)], RAMP_DAYS[(ramp - 1) % len(RAMP_DAYS)]
        if told.ramp_days > 0.0:
            days = told.ramp_days
        off_depth, off_days = (depth - DEPTH_GUESS) / DEPTH_SD, (days - DAYS_GUESS) / DAYS_SD
        weight = math.exp(-0.5 * (off_depth * off_depth + min(off_days * off_days, LEAST_FIT)))
        depths[ramp] = depth
        ramp_days[ramp] = days
        priors[ramp] = weight
        whole += weight
    for ramp in range(1, RAMPS):
        priors[ramp] = math.log((1.0 - NO_RAMP_SHARE) * priors[ramp] / whole)


def fill_pool_grid(told: Told, scales: FloatArray, tails: FloatArray) -> None:
    """Fill in the hypotheses of the pool: each spread without and, unless it is wide, with a tail."""
    certain = told.between_sd > 0.0 and told.pool_weight < 0.0
    for kind in range(POOLS):
        tails[kind] = TAIL_SHARE if kind % 2 == 1 else 0.0
        scales[kind] = NARROWEST * (1 << (kind // 2))
        if certain:
            scales[kind] = told.between_sd if kind < 2 else 0.0
        if kind % 2 == 1 and scales[kind] > WIDEST_WITH_TAIL:
            scales[kind] = 0.0


def has_no_filters(slot: int) -> bool:
    """Return whether a slot is that of somebody who has not worked here."""
    return slot < 0 or slot == NO_FILTERS


def share_put_out(pool: Pool, days: int) -> float:
    """Return the expected share of their level that somebody puts out after so many days worked."""
    return 1.0 if days >= FADED else float(pool.share[days])


def variance_now(learned: Evolving, worker: int) -> float:
    """Return the variance of a worker's level today, which grows while they are away."""
    people = learned.people
    away = 0
    if people.last_seen[worker] > NEVER:
        away = max(0, int(learned.counts[LAST_DAY]) - int(people.last_seen[worker]))
    return float(people.variances[worker]) + float(people.drift[worker]) * away
