"""Pools on counter-based streams: compiled as in plain Python, and of the law that they state."""

import math
from dataclasses import replace

import numpy as np
import pytest

from crewlearn.engine.blocks import Block, worlds_of
from crewlearn.engine.world import best_output
from crewlearn.policies.baselines import KeepTeam
from crewlearn.problem.instances import benchmark
from crewlearn.problem.recipes import DRAWS, Recipe, Stars

RECIPES = [
    *(Recipe(draw, 40, 0.5, 0.15, per_run=True, generator="counter") for draw in DRAWS),
    Recipe("clipped-normal", 40, 0.5, 0.05, per_run=True, generator="counter", fixed=((3, 0.9),), stars=0.2),
    Recipe("uniform", 40, 0.5, 0.05, per_run=True, generator="counter", stars=Stars(5, 0.8, 0.9)),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.draw}-{recipe.stars}")
def test_a_block_draws_the_pools_of_its_runs(recipe: Recipe) -> None:
    problem = replace(benchmark(team=12), workers=recipe)
    means, best = worlds_of(Block(problem, KeepTeam(), 7, 5, 9, (730,)))
    for row, run in enumerate(range(5, 14)):
        assert means[row].tolist() == problem.means(7, run).tolist()
        assert best[row] == best_output(means[row], 12)


@pytest.mark.parametrize("draw", DRAWS)
def test_counted_levels_follow_the_law_that_numpy_draws_from(draw: str) -> None:
    """Means and spreads differ by no more than 5 standard errors, an error rate below 1e-6 for each."""
    ours, theirs = (
        np.concatenate([recipe.means(1, run) for run in range(100)])
        for recipe in (Recipe(draw, 100, 0.4, 0.2, per_run=True, generator=name) for name in ("counter", "numpy"))
    )
    n = len(ours)
    assert abs(ours.mean() - theirs.mean()) < 5.0 * 0.2 * math.sqrt(2.0 / n)
    assert abs(ours.std() - theirs.std()) < 5.0 * 0.2 * math.sqrt(2.0 / n)


def test_stars_are_as_many_and_as_good_as_stated() -> None:
    recipe = Recipe("uniform", 60, 0.5, 0.05, per_run=True, stars=Stars(4, 0.8, 0.9))
    places: set[int] = set()
    for run in range(40):
        means = recipe.means(1, run)
        stars = np.flatnonzero(means > 0.75)
        assert len(stars) == 4
        assert ((means[stars] >= 0.8) & (means[stars] <= 0.9)).all()
        places |= set(stars.tolist())
    assert len(places) > 50, "anybody may be a star"


def test_a_share_of_stars_comes_from_a_tail_four_times_as_wide() -> None:
    """Variance and kurtosis of 40,000 draws are within a tenth of the mixture's, several standard errors."""
    share = 0.08
    recipe = Recipe("clipped-normal", 400, 0.5, 0.02, per_run=True, generator="counter", stars=share)
    drawn = np.concatenate([recipe.means(2, run) for run in range(100)]) - 0.5
    expected = 3.0 * (1.0 - share + 256.0 * share) / (1.0 - share + 16.0 * share) ** 2
    assert (drawn**4).mean() / (drawn**2).mean() ** 2 == pytest.approx(expected, rel=0.1)
    assert drawn.var() == pytest.approx(0.02**2 * (1.0 - share + 16.0 * share), rel=0.1)


def test_a_shared_pool_is_the_same_in_all_runs_and_seeds() -> None:
    recipe = Recipe("uniform", 10, 0.5, 0.1, generator="counter")
    assert recipe.means(1, 0).tolist() == recipe.means(9, 5).tolist()
