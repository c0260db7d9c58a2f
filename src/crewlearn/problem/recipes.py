"""Pools with random means: drawn by a recipe, once or in each run, or around an estimate for each worker."""

import math
from dataclasses import dataclass

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput, one_of, real, whole


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


@dataclass(frozen=True)
class Recipe:
    """How to draw the means of `count` workers.

    `mean` and `sd` are those of the law before it is cut to [0, 1]. With `per_run` each run of a simulation draws its
    own pool. Without it, all runs share the pool drawn from NumPy's `default_rng(seed)`.

    >>> Recipe(draw="clipped-normal", count=3, mean=0.5, sd=0.3, seed=12345).means().round(3)
    array([0.073, 0.879, 0.239])
    """

    draw: str
    count: int
    mean: float = 0.5
    sd: float = 0.3
    seed: int = 12345
    per_run: bool = False

    def __post_init__(self) -> None:
        one_of("[workers] draw", self.draw, DRAWS)
        whole("[workers] count", self.count, 2, 10**6)
        whole("[workers] seed", self.seed, 0)
        real("[workers] mean", self.mean, 0.0, 1.0)
        real("[workers] sd", self.sd, 0.0, 1.0)
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

    def means(self, seed: int = 0, run: int = 0) -> FloatArray:
        """Draw the pool of a run of a simulation with the given seed."""
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


def _inside(rng: np.random.Generator, mean: float, sd: float, count: int) -> FloatArray:
    """Draw normals and keep those in [0, 1]; with a mean in [0, 1] and sd at most 1, a third or more are."""
    kept = np.empty(0)
    while len(kept) < count:
        drawn = rng.normal(mean, sd, 2 * count)
        kept = np.concatenate([kept, drawn[(drawn >= 0.0) & (drawn <= 1.0)]])
    return kept[:count]
