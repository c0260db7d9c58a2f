"""The law that a worker's mean is drawn from, and expectations under it that err on the safe side."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.model import Problem
from crewlearn.problem.recipes import TAIL, Estimated, Recipe, Stars

Below = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Returns P(mean <= x) and E[mean; mean <= x] for each x in [0, 1]."""

BETA_POINTS = 200_001
"""Points of the table that a beta law is integrated on."""


@dataclass(frozen=True)
class MeanLaw:
    """A law on [0, 1] of a worker's mean; laws with equal `name` are the same.

    >>> nodes = np.array([0.0, 0.5, 1.0])
    >>> uniform_law(0.5, 0.5 / math.sqrt(3.0)).weights(nodes)
    array([0.25, 0.5 , 0.25])
    """

    name: tuple[float | str, ...]
    below: Below

    def weights(self, nodes: FloatArray) -> FloatArray:
        """Return weights of the nodes, from 0 to 1 in order, whose sum over a convex function exceeds its expectation.

        Within each interval the law's mass is moved to the two ends in such shares that its mean stays (the inequality
        of Edmundson and Madansky). Linear functions keep their expectation exactly.
        """
        mass, moment = self.below(nodes)
        width = np.diff(nodes)
        inside, weighed = np.diff(mass), np.diff(moment)
        weights = np.zeros(len(nodes))
        weights[0] = mass[0]
        weights[:-1] += (nodes[1:] * inside - weighed) / width
        weights[1:] += (weighed - nodes[:-1] * inside) / width
        return np.maximum(weights, 0.0)

    def above(self, levels: FloatArray) -> FloatArray:
        """Return the chance that the mean is above each level."""
        return 1.0 - self.below(levels)[0]


def laws_of(problem: Problem) -> list[MeanLaw | None]:
    """Return the law of each worker's mean, None for a mean that a policy may know beforehand.

    A policy may know the means of a pool that is the same in every run. It may also know those of a recipe with a fixed
    number of stars: there, one worker's mean tells something about the others', which the bound does not allow for.
    """
    workers = problem.workers
    if isinstance(workers, Estimated):
        pairs = zip(workers.means, workers.sds, strict=True)
        return [truncated_normal_law(mean, sd) if sd > 0.0 else None for mean, sd in pairs]
    if not isinstance(workers, Recipe) or not workers.per_run or isinstance(workers.stars, Stars):
        return [None] * workers.count
    law = _recipe_law(workers)
    known = {worker for worker, _ in workers.fixed}
    return [None if worker in known else law for worker in range(workers.count)]


def _recipe_law(recipe: Recipe) -> MeanLaw | None:
    share = float(recipe.stars) if not isinstance(recipe.stars, Stars) else 0.0
    if recipe.sd < 1e-6:
        return None
    base = {
        "clipped-normal": clipped_normal_law,
        "truncated-normal": truncated_normal_law,
        "uniform": uniform_law,
        "beta": beta_law,
    }[recipe.draw](recipe.mean, recipe.sd)
    return mixed_law(base, clipped_normal_law(recipe.mean, TAIL * recipe.sd), share) if share > 0.0 else base


def truncated_normal_law(mean: float, sd: float) -> MeanLaw:
    """Return a normal law, given that it falls into [0, 1]."""
    total = float(_inside_normal(np.array([1.0]), mean, sd)[0][0])

    def below(levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        mass, moment = _inside_normal(levels, mean, sd)
        return mass / total, moment / total

    return MeanLaw(("truncated-normal", mean, sd), below)


def clipped_normal_law(mean: float, sd: float) -> MeanLaw:
    """Return a normal law with what falls outside of [0, 1] moved to its ends."""
    at_zero = float(_normal_cdf(np.array([-mean / sd]))[0])

    def below(levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        mass, moment = _inside_normal(levels, mean, sd)
        inside, at_one = mass + at_zero, 1.0 - _normal_cdf(np.array([(1.0 - mean) / sd]))
        top = levels >= 1.0
        return np.where(top, 1.0, inside), np.where(top, moment + at_one, moment)

    return MeanLaw(("clipped-normal", mean, sd), below)


def uniform_law(mean: float, sd: float) -> MeanLaw:
    """Return the uniform law with this mean and standard deviation."""
    half_width = min(sd * math.sqrt(3.0), mean, 1.0 - mean)
    low, high = mean - half_width, mean + half_width

    def below(levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        cut = np.clip(levels, low, high)
        return (cut - low) / (high - low), (cut * cut - low * low) / (2.0 * (high - low))

    return MeanLaw(("uniform", mean, sd), below)


def beta_law(mean: float, sd: float) -> MeanLaw:
    """Return the beta law with this mean and standard deviation, integrated over the logit of the level."""
    concentration = mean * (1.0 - mean) / (sd * sd) - 1.0
    first, second = mean * concentration, (1.0 - mean) * concentration
    logits = np.linspace(-40.0 / min(first, 1.0), 40.0 / min(second, 1.0), BETA_POINTS)
    rising = -np.logaddexp(0.0, -logits)  # the log of the level
    log_density = first * rising - second * np.logaddexp(0.0, logits)
    density = np.exp(log_density - log_density.max())
    levels = np.exp(rising)
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    weighed = density * levels
    moment = np.concatenate([[0.0], np.cumsum(0.5 * (weighed[1:] + weighed[:-1]))])
    mass, moment = mass / mass[-1], moment * (mean / moment[-1])

    def below(asked: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.interp(asked, levels, mass, left=0.0), np.interp(asked, levels, moment, left=0.0)

    return MeanLaw(("beta", mean, sd), below)


def mixed_law(base: MeanLaw, tail: MeanLaw, share: float) -> MeanLaw:
    """Return a law from which a mean comes from the tail with this probability."""

    def below(levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        (mass, moment), (tail_mass, tail_moment) = base.below(levels), tail.below(levels)
        return (1.0 - share) * mass + share * tail_mass, (1.0 - share) * moment + share * tail_moment

    return MeanLaw(("mixed", *base.name, *tail.name, share), below)


def _inside_normal(levels: FloatArray, mean: float, sd: float) -> tuple[FloatArray, FloatArray]:
    """Return mass and first moment of a normal law on (0, level]."""
    low, high = np.array([-mean / sd]), (levels - mean) / sd
    mass = _normal_cdf(high) - _normal_cdf(low)
    density = np.exp(-0.5 * high * high) - np.exp(-0.5 * low * low)
    return mass, mean * mass - sd * density / math.sqrt(2.0 * math.pi)


def _normal_cdf(values: FloatArray) -> FloatArray:
    return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in values.tolist()])
