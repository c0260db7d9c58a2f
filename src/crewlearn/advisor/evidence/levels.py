"""Everybody's level and every day's effect, inferred jointly from the whole record.

What a site's policy believes is filtered: of each day by what was known then. Looking back, more is known: the output
before and after a day bears on it, and doubts that people share, such as those about days and the pool's centre, do
not average out over people. So given what the evolving model has learned of noise, ramps and the pool, all levels and
days are one normal law here, which is exact up to products of two doubts:

    y[i, t] = r(n) (a[i, t] + a[i] d[t]) + e,   a[i, t] = centre + own[i] + path[i, t]

A person's path is of a class: steady, a random walk, or a trend whose slope fades. People's classes are judged by how
well they fit. Paths are held in blocks of several days, which makes long records cheap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crewlearn.advisor.evidence.record import WorkRecord
from crewlearn.beliefs.evolving.model import (
    CENTRE_GUESS,
    CENTRE_SD,
    DAY_VAR,
    FADED,
    LEAST_VARIANCE,
    NOISE,
    OWN_RAMP,
    RAMPS,
    TAIL_WIDTH,
    Evolving,
)
from crewlearn.problem.arrays import FloatArray, IntArray

BLOCKS = 40
"""The most blocks of a person's path."""

SLOPE_DAYS = 60.0
"""Days over which a trend's slope fades by a factor e."""

UNUSUAL = 6.0
"""A day is unusual if the square of its effect exceeds so many variances; then it may be as far out as it is."""

LEAST_RAMP = 0.02
"""Ramps less likely than this are left out."""


@dataclass(frozen=True)
class PathClass:
    """How a person's level moves: by a random walk with steps of sd `walk`, or at a slope of sd `slope` a day."""

    walk: float
    slope: float
    share: float


CLASSES = (
    PathClass(0.0, 0.0, 0.80),
    PathClass(0.0015, 0.0, 0.05),
    PathClass(0.003, 0.0, 0.04),
    PathClass(0.006, 0.0, 0.02),
    PathClass(0.0, 0.0008, 0.05),
    PathClass(0.0, 0.002, 0.04),
)
SHARES_WEIGHT = 4.0
"""The classes of paths with their prior shares, and the weight of these in people."""


def path_covariance(kind: PathClass, one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the covariance of a path between days, counted from the person's first."""
    first, second = one[:, None], other[None, :]
    least = np.minimum(first, second)
    cov = kind.walk * kind.walk * least
    if kind.slope > 0.0:
        t = SLOPE_DAYS
        fading = np.exp(-first / t) + np.exp(-second / t) - np.exp(-np.abs(first - second) / t) - 1.0
        cov = cov + kind.slope * kind.slope * (2.0 * t * least + t * t * fading)
    return np.asarray(cov)


@dataclass(frozen=True)
class Ramped:
    """A hypothesis of the ramp with its probability, and the pool's spread under it."""

    weight: float
    depth: float
    days: float

    def lacking(self, worked: FloatArray) -> FloatArray:
        """Return the share of the ramp that is left after so many days worked."""
        return np.where(worked < FADED, np.exp(-np.minimum(worked, FADED) / self.days), 0.0) * (self.depth > 0.0)


@dataclass(frozen=True)
class Learned:
    """What the evolving model has learned that is not about single people or days."""

    noise: float
    day_variance: float
    between: float
    tail: float
    ramps: tuple[Ramped, ...]

    @classmethod
    def of(cls, learned: Evolving) -> "Learned":
        """Take what is used from everything learned."""
        pool = learned.pool
        weights = np.asarray(pool.weights, dtype=np.float64)
        likely = [ramp for ramp in range(RAMPS) if weights[ramp] >= LEAST_RAMP]
        whole = float(sum(weights[ramp] for ramp in likely))
        return cls(
            noise=float(learned.numbers[NOISE]),
            day_variance=max(float(learned.numbers[DAY_VAR]), LEAST_VARIANCE),
            between=float(sum(weights[ramp] * float(pool.between[ramp]) for ramp in likely)) / whole,
            tail=float(sum(weights[ramp] * float(pool.tail[ramp]) for ramp in likely)) / whole,
            ramps=tuple(
                Ramped(float(weights[ramp]) / whole, float(pool.depths[ramp]), float(pool.ramp_days[ramp]))
                for ramp in likely
            ),
        )

    @property
    def pool_variance(self) -> float:
        """The variance between people, tail included."""
        return self.between * (1.0 - self.tail + self.tail * TAIL_WIDTH * TAIL_WIDTH)


@dataclass(frozen=True)
class Person:
    """A worker's rows: days, output, and the days that they had worked before each."""

    worker: int
    days: IntArray
    output: FloatArray
    worked: FloatArray

    @property
    def first(self) -> int:
        """The first day on record."""
        return int(self.days[0])


def people_of(record: WorkRecord) -> dict[int, Person]:
    """Return everybody who worked."""
    order = np.lexsort((record.day, record.worker))
    workers, days, output = record.worker[order], record.day[order], record.output[order]
    ends = np.flatnonzero(np.diff(workers)) + 1
    people = {}
    for rows in np.split(np.arange(len(workers)), ends) if len(workers) else ():
        worker = int(workers[rows[0]])
        worked = record.experience[worker] + np.arange(len(rows), dtype=np.float64)
        people[worker] = Person(worker, days[rows], output[rows], worked)
    return people


@dataclass(frozen=True)
class View:
    """A person's rows under a ramp and a class of path, ready to be conditioned on.

    The state is the level of each block, beyond the pool's centre, and the person's own ramp. `blend` maps residuals of
    rows to the pull on the state, `prior` is its covariance, `solved` is (1 + information times prior) to the power -1.
    """

    person: Person
    kind: PathClass
    block_days: FloatArray
    level: float
    centred: FloatArray
    weights: FloatArray
    design: FloatArray
    information: FloatArray
    prior: FloatArray
    solved: FloatArray
    spread: float

    def pull(self, residuals: FloatArray) -> FloatArray:
        """Return the state's pull, by draw and state, of residuals by draw and row."""
        return np.asarray((residuals * self.weights) @ self.design)

    def fit(self, residuals: FloatArray) -> float:
        """Return the log-likelihood of residuals, but for a constant."""
        pull = self.pull(residuals[None, :])[0]
        _, volume = np.linalg.slogdet(self.solved)
        square = float(residuals * self.weights @ residuals) - float(pull @ self.prior @ self.solved @ pull)
        return 0.5 * (float(volume) - square)

    def ahead(self, days: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what maps a pull to levels on days, and the covariance that remains.

        The last state of the second is the person's own ramp.
        """
        own = self.prior[-1, -1]
        covariance = np.zeros((len(days) + 1, len(self.block_days) + 1))
        ages = days - self.person.first
        covariance[:-1, :-1] = self.spread + path_covariance(self.kind, np.maximum(ages, 0.0), self.block_days)
        covariance[-1, -1] = own
        gain = covariance @ self.solved
        ours = np.zeros((len(days) + 1, len(days) + 1))
        ours[:-1, :-1] = self.spread + path_covariance(self.kind, np.maximum(ages, 0.0), np.maximum(ages, 0.0))
        ours[-1, -1] = own
        return gain, ours - gain @ self.information @ covariance.T


def view(person: Person, learned: Learned, ramp: Ramped, kind: PathClass, level: float) -> View:
    """Return a person's rows under a ramp and a class; `level` is about their level."""
    rows = len(person.days)
    moving = kind.walk > 0.0 or kind.slope > 0.0
    count = min(BLOCKS, rows) if moving else 1
    block = np.arange(rows) * count // rows
    lacking = ramp.lacking(person.worked)
    share = 1.0 - ramp.depth * lacking
    design = np.zeros((rows, count + 1))
    design[np.arange(rows), block] = 1.0
    design[:, -1] = -lacking / share
    weights = share * share / learned.noise
    ages = (person.days - person.first).astype(np.float64)
    block_days = np.bincount(block, ages) / np.bincount(block)
    prior = np.zeros((count + 1, count + 1))
    prior[:-1, :-1] = learned.pool_variance + path_covariance(kind, block_days, block_days)
    prior[-1, -1] = (OWN_RAMP * ramp.depth * level) ** 2
    information = design.T @ (design * weights[:, None])
    solved = np.asarray(np.linalg.inv(np.eye(count + 1) + information @ prior), dtype=np.float64)
    centred = person.output / share
    return View(
        person, kind, block_days, level, centred, weights, design, information, prior, solved, learned.pool_variance
    )


@dataclass(frozen=True)
class Common:
    """What people share, under a ramp: the effects of days and, last, the pool's centre."""

    mean: FloatArray
    factor: FloatArray
    """The inverse of the Cholesky factor of the precision: mean + factor.T @ normals is a draw."""


def common_of(views: Sequence[View], days: int, day_variances: FloatArray) -> Common:
    """Infer days and the pool's centre from everybody's rows."""
    precision = np.zeros((days + 1, days + 1))
    weighted = np.zeros(days + 1)
    precision[np.arange(days), np.arange(days)] = 1.0 / day_variances
    precision[days, days] = 1.0 / (CENTRE_SD * CENTRE_SD)
    weighted[days] = CENTRE_GUESS / (CENTRE_SD * CENTRE_SD)
    for seen in views:
        at, level = seen.person.days, seen.level
        lifted = seen.weights[:, None] * seen.design
        inner = seen.prior @ seen.solved
        ours = np.zeros((len(at), len(at)))
        ours[np.arange(len(at)), np.arange(len(at))] = seen.weights
        ours -= lifted @ inner @ lifted.T
        told = ours @ seen.centred
        across = ours.sum(axis=1)
        precision[np.ix_(at, at)] += level * level * ours
        precision[at, days] += level * across
        precision[days, at] += level * across
        precision[days, days] += float(across.sum())
        weighted[at] += level * told
        weighted[days] += float(told.sum())
    root = np.linalg.cholesky(precision)
    factor = np.linalg.inv(root)
    return Common(factor.T @ (factor @ weighted), factor)


@dataclass(frozen=True)
class RampView:
    """Everything inferred under one hypothesis of the ramp."""

    ramp: Ramped
    common: Common
    views: dict[int, View]


@dataclass(frozen=True)
class Levels:
    """Everything inferred: by ramp, and the probabilities of classes by person and of somebody never seen."""

    learned: Learned
    people: dict[int, Person]
    by_ramp: tuple[RampView, ...]
    classes: dict[int, FloatArray]
    shares: FloatArray
    about: dict[int, float]


def infer(record: WorkRecord, learned: Learned) -> Levels:
    """Infer everybody's level and every day's effect from a record."""
    people = people_of(record)
    likeliest = max(learned.ramps, key=lambda ramp: ramp.weight)
    about = _about(people, learned, likeliest)
    kinds = dict.fromkeys(people, 0)
    variances = np.full(record.days, learned.day_variance)
    shares = np.array([kind.share for kind in CLASSES])
    classes: dict[int, FloatArray] = {}
    for _ in range(2):
        views = {
            worker: view(person, learned, likeliest, CLASSES[kinds[worker]], about[worker])
            for worker, person in people.items()
        }
        common = common_of(list(views.values()), record.days, variances)
        effects, doubts = common.mean[:-1], (common.factor**2).sum(axis=0)[:-1]
        far = effects * effects > UNUSUAL * (learned.day_variance + doubts)
        variances = np.where(far, effects * effects, learned.day_variance)
        fits = {worker: _fits(person, learned, likeliest, about[worker], common) for worker, person in people.items()}
        shares, classes = _weighed(fits)
        kinds = {worker: int(np.argmax(weights)) for worker, weights in classes.items()}
        about = {worker: _level(views[worker], common) for worker in people}
    by_ramp = []
    for ramp in learned.ramps:
        views = {
            worker: view(person, learned, ramp, CLASSES[kinds[worker]], about[worker])
            for worker, person in people.items()
        }
        by_ramp.append(RampView(ramp, common_of(list(views.values()), record.days, variances), views))
    return Levels(learned, people, tuple(by_ramp), classes, shares, about)


def _about(people: dict[int, Person], learned: Learned, ramp: Ramped) -> dict[int, float]:
    """Return about everybody's level: the mean output, less what ramp-up lacks, drawn to that of all."""
    means, counts = {}, {}
    for worker, person in people.items():
        share = 1.0 - ramp.depth * ramp.lacking(person.worked)
        means[worker], counts[worker] = float(person.output.sum() / share.sum()), len(person.days)
    centre = sum(means.values()) / max(1, len(means))
    own = learned.noise / max(learned.pool_variance, LEAST_VARIANCE)
    return {worker: (counts[worker] * mean + own * centre) / (counts[worker] + own) for worker, mean in means.items()}


def _residuals(seen: View, common: Common) -> FloatArray:
    return np.asarray(seen.centred - common.mean[-1] - seen.level * common.mean[seen.person.days])


def _level(seen: View, common: Common) -> float:
    """Return a person's mean level over their days."""
    pull = seen.pull(_residuals(seen, common)[None, :])[0]
    state = seen.prior @ seen.solved @ pull
    return float(common.mean[-1] + (seen.design[:, :-1] @ state[:-1]).mean())


def _fits(person: Person, learned: Learned, ramp: Ramped, level: float, common: Common) -> FloatArray:
    """Return the log-likelihood of each class of path."""
    fits = []
    for kind in CLASSES:
        seen = view(person, learned, ramp, kind, level)
        fits.append(seen.fit(_residuals(seen, common)))
    return np.array(fits)


def _weighed(fits: dict[int, FloatArray]) -> tuple[FloatArray, dict[int, FloatArray]]:
    """Return the shares of classes, and each person's probabilities, by a few steps of expectation-maximisation."""
    prior = np.array([kind.share for kind in CLASSES])
    shares, weights = prior, dict[int, FloatArray]()
    for _ in range(8):
        for worker, fit in fits.items():
            likely = shares * np.exp(fit - fit.max())
            weights[worker] = likely / likely.sum()
        counts = SHARES_WEIGHT * prior + (sum(weights.values()) if weights else 0.0)
        shares = counts / counts.sum()
    return shares, weights


def ramp_of_draws(ramps: Sequence[Ramped], draws: int) -> IntArray:
    """Return the ramp of each draw, as often as it is likely."""
    ends = np.cumsum([ramp.weight for ramp in ramps])
    places = np.minimum(np.searchsorted(ends, (np.arange(draws) + 0.5) / draws * ends[-1]), len(ramps) - 1)
    return np.asarray(places, dtype=np.int64)
