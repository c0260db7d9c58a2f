"""Pools with random means: drawn by a recipe, once or in each run, or around an estimate for each worker."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.chance import mix, normal, uniform
from crewlearn.problem.errors import InvalidInput, one_of, real, whole
from crewlearn.problem.laws.draws import draw_beta


@dataclass(frozen=True)
class Estimated:
    """Workers with uncertain means: every run draws each mean from a normal law around its estimate.

    The laws are truncated to [0, 1]. With standard deviation 0 a mean is known exactly.

    >>> Estimated(means=(0.4, 0.8), sds=(0.0, 0.05)).means_of_run(seed=1, run=0).round(3)
    array([0.4  , 0.841])
    """

    means: tuple[float, ...]
    sds: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("means", "sds"):
            values = getattr(self, name)
            if not isinstance(values, (list, tuple, np.ndarray)):
                raise InvalidInput(f"[workers] {name}", values, "must be a list with one entry for each worker")
            checked = tuple(real(f"[workers] {name}[{index}]", value, 0.0, 1.0) for index, value in enumerate(values))
            object.__setattr__(self, name, checked)
        if len(self.sds) != len(self.means):
            raise InvalidInput(
                "[workers] sds", list(self.sds), f"must have {len(self.means)} entries, one for each worker"
            )

    @property
    def count(self) -> int:
        """Number of workers, k."""
        return len(self.means)

    def means_of_run(self, seed: int, run: int) -> FloatArray:
        """Draw the pool of a run of a simulation with the given seed."""
        rng = np.random.default_rng((seed, run))
        centres, spreads = np.array(self.means, dtype=np.float64), np.array(self.sds, dtype=np.float64)
        drawn = rng.normal(centres, spreads)
        while len(outside := np.flatnonzero((drawn < 0.0) | (drawn > 1.0))):  # each draw is inside with chance >= 1/3
            drawn[outside] = rng.normal(centres[outside], spreads[outside])
        return drawn


DRAWS = ("clipped-normal", "truncated-normal", "uniform", "beta")
CLIPPED_NORMAL, TRUNCATED_NORMAL, UNIFORM, BETA = range(4)
"""Codes of the draws, in the order of their names."""

GENERATORS = ("numpy", "counter")

TAIL = 4.0
"""How many times as wide as the rest of the pool the tail is that a share of stars comes from."""

LEVELS, STARS = range(2)
"""The purposes of a pool's streams."""


@dataclass(frozen=True)
class Stars:
    """So many workers, drawn at random, with levels uniform from low to high."""

    count: int
    low: float
    high: float

    def __post_init__(self) -> None:
        whole("[workers] stars count", self.count, 0)
        low = real("[workers] stars low", self.low, 0.0, 1.0)
        real("[workers] stars high", self.high, low, 1.0)


class PoolForm(NamedTuple):
    """A recipe on counter-based streams, as rule functions take it.

    `share` is that of the workers from a tail. `stars` workers have levels from `star_low` to `star_high`. `fixed` are
    (worker, level).
    """

    draw: int
    mean: float
    sd: float
    share: float
    stars: int
    star_low: float
    star_high: float
    fixed: FloatArray


@dataclass(frozen=True)
class Recipe:
    """How to draw the means of `count` workers.

    `mean` and `sd` are those of the law before it is cut to [0, 1]. With `per_run` each run of a simulation draws
    its own pool; without it, all runs share one. `generator` is "numpy", whose `default_rng(seed)` draws them, or
    "counter", whose draws are functions of seed, run and worker, which compiled code can make.

    `fixed` sets the levels of single workers: (worker, level). `stars` is the share of workers who come from a tail
    four times as wide, or `Stars`.

    >>> Recipe(draw="clipped-normal", count=3, mean=0.5, sd=0.3, seed=12345).means().round(3)
    array([0.073, 0.879, 0.239])
    >>> drawn = Recipe("uniform", count=3, sd=0.1, generator="counter", fixed=[(0, 0.9)]).means()
    >>> float(drawn[0]), bool(0.3 < drawn[1] < 0.7)
    (0.9, True)
    """

    draw: str
    count: int
    mean: float = 0.5
    sd: float = 0.3
    seed: int = 12345
    per_run: bool = False
    generator: str = "numpy"
    fixed: tuple[tuple[int, float], ...] = ()
    stars: float | Stars = 0.0

    def __post_init__(self) -> None:
        one_of("[workers] draw", self.draw, DRAWS)
        whole("[workers] count", self.count, 2, 10**6)
        whole("[workers] seed", self.seed, 0)
        real("[workers] mean", self.mean, 0.0, 1.0)
        real("[workers] sd", self.sd, 0.0, 1.0)
        one_of("[workers] generator", self.generator, GENERATORS)
        if not isinstance(self.per_run, bool):
            raise InvalidInput("[workers] per_run", self.per_run, "must be true or false")
        widest = {
            "uniform": min(self.mean, 1.0 - self.mean) / math.sqrt(3.0),
            "beta": math.sqrt(self.mean * (1.0 - self.mean)),
        }.get(self.draw, math.inf)
        if self.sd > widest * (1.0 + 1e-9) or (self.draw == "beta" and self.sd >= widest):
            raise InvalidInput(
                "[workers] sd",
                self.sd,
                f"a {self.draw} law on [0, 1] with mean {self.mean:g} has sd below {widest:.4g}",
            )
        object.__setattr__(self, "fixed", _checked_levels(self.fixed, self.count))
        object.__setattr__(self, "stars", _checked_stars(self.stars, self.count))

    def means(self, seed: int = 0, run: int = 0) -> FloatArray:
        """Draw the pool of a run of a simulation with the given seed."""
        number = run if self.per_run else 0
        if self.generator == "counter":
            pools = np.empty((1, self.count))
            draw_pools(self.form(), self.key(seed), number, pools)
            return pools.reshape(self.count)
        means = self._drawn_by_numpy(seed, run)
        if self.fixed or self.stars != 0.0:
            own = mix(self.key(seed), number)
            scatter_stars(self.form(), own, means, np.empty(self.count, dtype=np.int64))
        return means

    def form(self) -> PoolForm:
        """Return the recipe as rule functions take it."""
        several = self.stars if isinstance(self.stars, Stars) else Stars(0, 0.0, 0.0)
        return PoolForm(
            DRAWS.index(self.draw),
            float(self.mean),
            float(self.sd),
            0.0 if isinstance(self.stars, Stars) else float(self.stars),
            several.count,
            float(several.low),
            float(several.high),
            np.array(self.fixed, dtype=np.float64).reshape(-1, 2),
        )

    def key(self, seed: int) -> int:
        """Return the key of the pools of a simulation, one for all simulations if all runs share a pool."""
        return mix(mix(0, self.seed), seed if self.per_run else 0)

    def _drawn_by_numpy(self, seed: int, run: int) -> FloatArray:
        rng = np.random.default_rng((self.seed, seed, run) if self.per_run else self.seed)
        if self.draw == "clipped-normal":
            return np.clip(rng.normal(self.mean, self.sd, self.count), 0.0, 1.0)
        if self.draw == "truncated-normal":
            return _inside(rng, self.mean, self.sd, self.count)
        if self.sd < 1e-6:
            return np.full(self.count, float(self.mean))
        if self.draw == "uniform":
            half_width = min(self.sd * math.sqrt(3.0), self.mean, 1.0 - self.mean)
            return rng.uniform(self.mean - half_width, self.mean + half_width, self.count)
        concentration = self.mean * (1.0 - self.mean) / self.sd**2 - 1.0
        return rng.beta(self.mean * concentration, (1.0 - self.mean) * concentration, self.count)


def _checked_levels(fixed: object, workers: int) -> tuple[tuple[int, float], ...]:
    if isinstance(fixed, str) or not isinstance(fixed, Iterable):
        raise InvalidInput("[workers] fixed", fixed, "must be a list of [worker, level]")
    checked = []
    for number, pair in enumerate(fixed):
        name = f"[workers] fixed[{number}]"
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise InvalidInput(name, pair, "must be [worker, level]")
        checked.append((whole(f"{name} worker", pair[0], 0, workers - 1), real(f"{name} level", pair[1], 0.0, 1.0)))
    return tuple(checked)


def _checked_stars(stars: object, workers: int) -> float | Stars:
    if isinstance(stars, Mapping):
        if set(stars) != {"count", "low", "high"}:
            raise InvalidInput("[workers] stars", dict(stars), "must be a share, or have count, low and high")
        stars = Stars(**stars)
    if not isinstance(stars, Stars):
        return real("[workers] stars", stars, 0.0, 1.0)
    whole("[workers] stars count", stars.count, 0, workers)
    return stars if stars.count > 0 else 0.0


def _inside(rng: np.random.Generator, mean: float, sd: float, count: int) -> FloatArray:
    """Draw normals and keep those in [0, 1]; with a mean in [0, 1] and sd at most 1, a third or more are."""
    kept = np.empty(0)
    while len(kept) < count:
        drawn = rng.normal(mean, sd, 2 * count)
        kept = np.concatenate([kept, drawn[(drawn >= 0.0) & (drawn <= 1.0)]])
    return kept[:count]


def draw_pools(form: PoolForm, key: int, first_run: int, pools: FloatArray) -> None:
    """Fill in the pools of the runs from `first_run` on, one a row, from the key of a simulation's pools."""
    order = np.empty(pools.shape[1], dtype=np.int64)
    for row in range(len(pools)):
        own = mix(key, first_run + row)
        draw_levels(form, own, pools[row])
        scatter_stars(form, own, pools[row], order)


def draw_levels(form: PoolForm, key: int, levels: FloatArray) -> None:
    """Fill in everybody's level, each from a stream of its own."""
    stream = mix(key, LEVELS)
    for worker in range(len(levels)):
        levels[worker] = draw_level(form.draw, form.mean, form.sd, mix(stream, worker))


def draw_level(draw: int, mean: float, sd: float, key: int) -> float:
    """Draw a level from the law with this code."""
    if draw == CLIPPED_NORMAL:
        return min(max(mean + sd * normal(key, 0), 0.0), 1.0)
    if draw == TRUNCATED_NORMAL:
        n = 0
        while True:  # a third or more of the draws fall inside
            level = mean + sd * normal(key, n)
            if 0.0 <= level <= 1.0:
                return level
            n += 1
    if sd < 1e-6:
        return mean
    if draw == UNIFORM:
        half_width = min(sd * math.sqrt(3.0), mean, 1.0 - mean)
        return mean + half_width * (2.0 * uniform(key, 0) - 1.0)
    if draw == BETA:
        concentration = mean * (1.0 - mean) / (sd * sd) - 1.0
        return draw_beta(mean * concentration, (1.0 - mean) * concentration, key)
    raise ValueError("unknown code of a draw")


def scatter_stars(form: PoolForm, key: int, levels: FloatArray, order: IntArray) -> None:
    """Give some workers levels from the tail or from the stars' range, then the fixed ones theirs.

    `order` is scratch, one entry a worker.
    """
    stream, workers = mix(key, STARS), len(levels)
    if form.share > 0.0:
        for worker in range(workers):
            own = mix(stream, worker)
            if uniform(own, 0) < form.share:
                levels[worker] = min(max(form.mean + TAIL * form.sd * normal(own, 1), 0.0), 1.0)
    if form.stars > 0:
        for worker in range(workers):
            order[worker] = worker
        for place in range(form.stars):  # the first places of a random order
            own = mix(stream, workers + place)
            other = place + int(uniform(own, 0) * (workers - place))
            worker = order[other]
            order[other] = order[place]
            levels[worker] = form.star_low + (form.star_high - form.star_low) * uniform(own, 1)
    for row in range(len(form.fixed)):
        levels[int(form.fixed[row, 0])] = form.fixed[row, 1]
