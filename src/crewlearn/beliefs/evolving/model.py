"""The model of people who change, its grid of hypotheses, and the arrays that hold what was learned.

Output on [0, 1]; n is the number of days that a person has worked here before today:

    y[i, t] = r(n) a[i, t] (1 + d[t]) + e,   e ~ N(0, s^2)
    r(n)    = 1 - depth exp(-n / days)        ramp-up, shared by the pool
    a[i, t] = a[i, t-1] + N(0, q^2)           a person's level after ramp-up
    d[t]    ~ N(mu, sd_d^2)                   the day, the same for all who work

People's first levels are drawn from a pool: most are normal around a common centre, some lie in a wider tail, and a few
could be anywhere. Ramps, spreads of the pool and drifts are averaged over grids.

All arrays are flat, so that the same functions work on lists, which plain Python reads several times as fast.
"""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.posterior import LEARN
from crewlearn.problem.arrays import FloatArray, IntArray

DEPTHS = (0.1, 0.2, 0.3, 0.45)
RAMP_DAYS = (2.0, 3.5, 6.0, 10.0, 18.0)
"""The grid of ramps beside "no ramp": how far below their level newcomers begin, and the days that it takes to fade."""

RAMPS = 1 + len(DEPTHS) * len(RAMP_DAYS)
NO_RAMP_SHARE = 0.4
"""The prior probability that newcomers do not ramp up."""

DRIFTS = (0.0, 0.002, 0.005, 0.015)
DRIFT_SHARES = (0.88, 0.05, 0.05, 0.02)
"""The classes of daily drift, as standard deviations, and their prior shares of people."""

CLASSES = len(DRIFTS)
SHARES_WEIGHT = 10.0
"""The weight of the prior shares, in people."""

SCALES = 6
NARROWEST = 0.0125
"""The grid of spreads between people: 0.0125 to 0.4, each twice the last."""

TAIL_SHARE, TAIL_WIDTH = 0.08, 4.0
"""The share of people in the tail, if there is one, and how many times as wide it is."""

POOLS = 2 * SCALES
"""Hypotheses of the pool: each spread, without and with a tail."""

ANY_SHARE, ANY_CENTRE, ANY_SD = 0.1, 0.5, 0.3
"""A share of people whose level may be anywhere, whatever the others are like."""

CENTRE_GUESS, CENTRE_SD = 0.5, 0.3
"""The prior of the pool's centre."""

OWN_RAMP = 0.3
"""How far people's own ramps lie apart, relative to the ramp."""

FADED = 256
"""Days worked after which every ramp has faded."""


class Told(NamedTuple):
    """What is assumed before any data; LEARN stands for what is to be learned."""

    noise_guess: float
    guess_weight: float
    centre: float
    between_sd: float
    noise_sd: float
    ramp_depth: float
    ramp_days: float


class Filters(NamedTuple):
    """The filters of people, by slot, ramp and drift class: index ((slot * RAMPS) + ramp) * CLASSES + class.

    Given a person's first level x, the present level is normal with mean `base + slope x` and variance `spread`, and
    the log-likelihood of x is `fit + pull x - stiffness x^2 / 2`. So the pool's centre and spread need no filters of
    their own. `own_base`, `own_slope` and `own_spread` tell the same of the depth of the person's own ramp, in units of
    output beyond the common one; `shared` is its covariance with the level.
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
    """What is known of each worker: slot of the filters (-1 if never seen), days worked, last day seen, and belief.

    `means` and `variances` are of the level on the last day seen; `drift` is its expected variance a day since then.
    `alike` says whether all ramps have the same filters, as for those who began experienced.
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


class Pool(NamedTuple):
    """The pool by ramp: weight of the ramp, centre, its variance, variance between people, share of the tail.

    `centres` holds the centre by ramp and hypothesis of the pool. `depths`, `ramp_days` and `fading` are the grid of
    ramps; `fading[ramp * FADED + n]` is exp(-n / days). `live` says which ramps are not ruled out, `share`
    the expected share of a level put out by days worked, and `log_shares` the shares of the drift classes.
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
    live: IntArray
    share: FloatArray
    log_shares: FloatArray


class History(NamedTuple):
    """The first days on record, kept to be learned from again when the noise is better known."""

    worker: IntArray
    output: FloatArray
    period: IntArray
    counts: IntArray


class Evolving(NamedTuple):
    """Everything learned; `numbers` and `counts` are indexed by the names below."""

    numbers: FloatArray
    counts: IntArray
    people: People
    filters: Filters
    pool: Pool
    history: History
    scratch: FloatArray


NOISE, NOISE_USED, NOISE_SUM, NOISE_WEIGHT, DAY_VAR, DAY_VAR_USED, DAY_SUM, DAY_WEIGHT, DAY_MEAN, DAY_COUNT = range(10)
"""Indices into `Evolving.numbers`."""

SLOTS, DAYS_LEARNED, LAST_DAY, ROWS, REPLAYABLE, FRESH_POOL = range(6)
"""Indices into `Evolving.counts`."""

LEAST_NOISE = 1e-8


def ramp_grid(told: Told, depths: FloatArray, ramp_days: FloatArray, priors: FloatArray) -> None:
    """Fill in the grid of ramps with log prior weights; a ramp that was told is the only one."""
    for ramp in range(RAMPS):
        depths[ramp] = 0.0
        ramp_days[ramp] = 1.0
        priors[ramp] = -math.inf
    if told.ramp_depth >= 0.0:
        depths[0] = told.ramp_depth
        ramp_days[0] = max(told.ramp_days, 0.1)
        priors[0] = 0.0
        return
    priors[0] = math.log(NO_RAMP_SHARE)
    whole = 0.0
    for place in range(RAMPS - 1):
        depth, days = DEPTHS[place // len(RAMP_DAYS)], RAMP_DAYS[place % len(RAMP_DAYS)]
        z_depth, z_days = (depth - 0.2) / 0.15, (days - 5.0) / 4.0
        depths[place + 1] = depth
        ramp_days[place + 1] = days
        weight = math.exp(-0.5 * z_depth * z_depth - 0.5 * min(z_days * z_days, 6.0))
        priors[place + 1] = weight
        whole += weight
    for place in range(1, RAMPS):
        priors[place] = math.log((1.0 - NO_RAMP_SHARE) * priors[place] / whole)
