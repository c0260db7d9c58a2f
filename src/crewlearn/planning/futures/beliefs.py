"""One draw of everything unknown about a site: people, days, ramp, pool and rates, given its record.

The grids of ramps and drifts, and the estimates of the noise and of days, are those of the evolving model
(`beliefs.evolving`). Given a ramp and the noise, levels, days and the pool are drawn in turn, each given the others.
"""

import math
from dataclasses import dataclass

import numpy as np

from crewlearn.beliefs.evolving.model import (
    ANY_CENTRE,
    ANY_SD,
    ANY_SHARE,
    CLASSES,
    DAY_MEAN,
    DRIFTS,
    LEAST_NOISE,
    LEAST_VARIANCE,
    NARROWEST,
    OWN_RAMP,
    RAMPS,
    TAIL_SHARE,
    TAIL_WIDTH,
    Evolving,
)
from crewlearn.beliefs.evolving.reading import days_learned, days_noted, noise_learned
from crewlearn.engine.compiled.loops import compiled_function
from crewlearn.planning.futures.paths import draw_paths
from crewlearn.planning.futures.record import Record
from crewlearn.problem.arrays import FloatArray, IntArray

SWEEPS = 4
"""How often levels, days and the pool are drawn in turn; they begin at the learned values, which lie close."""

STAY_GUESS = 500.0
"""Person-days without a quit, with half a quit, that are taken for granted."""

PART_WEIGHT = 4.0
"""The weight, in people, of the guesses of the tail's share and of that of people who may be anywhere."""

SPREAD_WEIGHT = 2.0
"""The weight, in people, of the learned spread between people when it is drawn anew."""

UNUSUAL_SD = 0.3
"""The prior standard deviation of the effect of a day that was found unusual."""

OFFERS_GUESS, DECLINES_GUESS = 5.0, 0.5
"""Offers taken for granted, and how many of them were declined."""

MAIN, TAIL, ANYWHERE = range(3)
"""The parts of the pool."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """One draw of everything unknown.

    `levels` and `effects` are by worker and day and by day on record, `drift` is everybody's standard deviation of
    change a day. `noise`, `day_sd` and `day_mean` say how output and days vary, `ramp_depth` and `ramp_days` how
    newcomers ramp up. `absence`, `quits` and `declines` are chances.
    """

    levels: FloatArray
    effects: FloatArray
    drift: FloatArray
    noise: float
    day_sd: float
    day_mean: float
    ramp_depth: float
    ramp_days: float
    absence: float
    quits: float
    declines: float

    def shares(self, worked: IntArray) -> FloatArray:
        """Return the share of their level that people put out after so many days worked."""
        return ramp_shares(self.ramp_depth, self.ramp_days, worked)


def ramp_shares(depth: float, days: float, worked: IntArray) -> FloatArray:
    """Return the share of their level that people put out after so many days worked."""
    shares: FloatArray = 1.0 - depth * np.exp(-worked / days)
    return shares


@dataclass(frozen=True)
class _Pool:
    """The pool: centre and spread of its main part, and the shares of the tail and of people from anywhere."""

    centre: float
    variance: float
    tail: float
    anywhere: float

    def parts(self) -> FloatArray:
        """Return the log share, mean and variance of each part."""
        usual = max(1.0 - self.tail - self.anywhere, 1e-6)
        return np.array(
            [
                [math.log(usual), self.centre, self.variance],
                [math.log(max(self.tail, 1e-9)), self.centre, TAIL_WIDTH * TAIL_WIDTH * self.variance],
                [math.log(max(self.anywhere, 1e-9)), ANY_CENTRE, ANY_SD * ANY_SD],
            ]
        )


def draw_beliefs(record: Record, learned: Evolving, guess_weight: float, rng: np.random.Generator) -> Drawn:
    """Draw everything unknown, given a record and what the evolving model has learned from all of it."""
    ramp = int(rng.choice(RAMPS, p=learned.pool.weights / learned.pool.weights.sum()))
    depth, days = float(learned.pool.depths[ramp]), float(learned.pool.ramp_days[ramp])
    noise_read, day_read = noise_learned(learned, guess_weight), days_learned(learned)
    noise = max(noise_read.mean * math.exp(rng.normal(0.0, noise_read.sd / noise_read.mean)), math.sqrt(LEAST_NOISE))
    day_sd = max(day_read.mean * math.exp(rng.normal(0.0, day_read.sd / day_read.mean)), 1e-6)
    day_mean = float(learned.numbers[DAY_MEAN])
    seen = ~np.isnan(record.output)
    people = seen.any(axis=1) | (record.prior_counts > 0)
    shares = ramp_shares(depth, days, record.worked[:, : record.days])
    own = OWN_RAMP * (1.0 - shares) * learned.people.means[:, None]
    variances = noise * noise + own * own
    known = np.column_stack([record.prior_counts, record.prior_sums, np.full(record.workers, noise * noise)])
    log_drifts = np.array(learned.pool.log_shares)
    effects, widths = np.full(record.days, day_mean), np.full(record.days, day_sd)
    for note in days_noted(learned):
        effects[note.period - 1] = note.effect
        if note.unusual:
            widths[note.period - 1] = max(UNUSUAL_SD, day_sd)
    pool = _Pool(
        rng.normal(float(learned.pool.centre[ramp]), math.sqrt(max(float(learned.pool.doubt[ramp]), 0.0))),
        max(float(learned.pool.between[ramp]), LEAST_VARIANCE),
        float(learned.pool.tail[ramp]),
        ANY_SHARE,
    )
    levels, kinds = np.zeros((record.workers, record.days)), np.zeros(record.workers, dtype=np.int64)
    for _ in range(SWEEPS):
        compiled_function(draw_paths)(
            record.output,
            shares * (1.0 + effects),
            variances,
            known.astype(np.float64),
            pool.parts(),
            np.array(DRIFTS),
            log_drifts,
            rng.random(record.workers),
            rng.standard_normal((record.workers, record.days)),
            levels,
            kinds,
        )
        if record.days:
            effects = _draw_effects(record, shares * levels, variances, widths, day_mean, rng)
        pool = _draw_pool(learned, ramp, _first_levels(record, levels)[people], kinds[people] // CLASSES, rng)
    held, absent = int(record.held.sum()), record.absences
    return Drawn(
        levels=_cut(levels),
        effects=effects,
        drift=np.array(DRIFTS)[kinds % CLASSES],
        noise=noise,
        day_sd=day_sd,
        day_mean=day_mean,
        ramp_depth=depth,
        ramp_days=days,
        absence=float(rng.beta(0.5 + absent, 0.5 + max(held - absent, 0) + 10.0)),
        quits=min(0.5, float(rng.gamma(0.5 + record.quits.sum()) / (STAY_GUESS + held))),
        declines=float(
            rng.beta(DECLINES_GUESS + record.declines, OFFERS_GUESS - DECLINES_GUESS + record.offers - record.declines)
        ),
    )


def _cut(levels: FloatArray) -> FloatArray:
    return np.clip(levels, 0.0, 1.0)


def _first_levels(record: Record, levels: FloatArray) -> FloatArray:
    """Return the level of each on the first day worked."""
    start = np.argmax(~np.isnan(record.output), axis=1)
    first: FloatArray = levels[np.arange(record.workers), start]
    return first


def _draw_effects(
    record: Record, expected: FloatArray, noise: FloatArray, widths: FloatArray, mean: float, rng: np.random.Generator
) -> FloatArray:
    """Draw the effect of each day on everybody, given levels."""
    seen = ~np.isnan(record.output)
    precision = np.where(seen, expected * expected / noise, 0.0).sum(axis=0)
    off = np.where(seen, expected * (np.nan_to_num(record.output) - expected) / noise, 0.0).sum(axis=0)
    total = precision + 1.0 / (widths * widths)
    effects = (off + mean / (widths * widths)) / total + rng.standard_normal(record.days) / np.sqrt(total)
    kept: FloatArray = np.maximum(effects, -0.95)
    return kept


def _draw_pool(learned: Evolving, ramp: int, levels: FloatArray, parts: IntArray, rng: np.random.Generator) -> _Pool:
    """Draw the pool, given the levels of everybody seen and the part that each comes from."""
    scale = np.where(parts == TAIL, TAIL_WIDTH * TAIL_WIDTH, 1.0)[parts != ANYWHERE]
    usual, n = levels[parts != ANYWHERE], len(scale)
    between = max(float(learned.pool.between[ramp]), LEAST_VARIANCE)
    centre = float(learned.pool.centre[ramp])
    if n > 0:
        middle = float((usual / scale).sum() / (1.0 / scale).sum())
        squares = float(((usual - middle) ** 2 / scale).sum())
        shape = 0.5 * (SPREAD_WEIGHT + max(n - 1, 0))
        variance = (0.5 * (SPREAD_WEIGHT * between + squares)) / float(rng.gamma(shape))
        variance = min(max(variance, NARROWEST * NARROWEST / 4.0), 0.25)
        centre = float(rng.normal(middle, math.sqrt(variance / float((1.0 / scale).sum()))))
    else:
        variance = between
        centre = float(rng.normal(centre, math.sqrt(max(float(learned.pool.doubt[ramp]), 0.0))))
    people = len(levels)
    tail_guess, any_guess = PART_WEIGHT * 0.5 * TAIL_SHARE, PART_WEIGHT * ANY_SHARE
    tails, anywhere = int((parts == TAIL).sum()), int((parts == ANYWHERE).sum())
    return _Pool(
        centre=min(max(centre, 0.0), 1.0),
        variance=variance,
        tail=float(rng.beta(tail_guess + tails, PART_WEIGHT - tail_guess + people - tails)),
        anywhere=float(rng.beta(any_guess + anywhere, PART_WEIGHT - any_guess + people - anywhere)),
    )
