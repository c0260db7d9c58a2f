"""Recipes: counter-based draws follow their laws, and fixed levels and stars are where they must be.

Statistical checks use fixed seeds and limits of 5 standard errors: under a correct program each would fail, over fresh
seeds, less than once in a million times.
"""

import math

import numpy as np
import pytest

from crewlearn.problem.recipes import DRAWS, Recipe, Stars


@pytest.mark.parametrize("draw", DRAWS)
def test_both_generators_follow_the_law(draw: str) -> None:
    """With mean 0.5 and sd 0.1 the cuts at 0 and 1 are five standard deviations away."""
    n = 20_000
    for generator in ("numpy", "counter"):
        means = Recipe(draw, n, 0.5, 0.1, generator=generator).means()
        assert abs(means.mean() - 0.5) < 5 * 0.1 / math.sqrt(n)
        assert abs(means.std() - 0.1) < 5 * 0.1 / math.sqrt(2 * n)  # none of the laws has heavier tails than a normal
        assert (means >= 0.0).all()
        assert (means <= 1.0).all()


@pytest.mark.parametrize("draw", ["clipped-normal", "truncated-normal"])
def test_levels_beyond_the_ends_are_cut_as_the_law_says(draw: str) -> None:
    means = Recipe(draw, 20_000, 0.8, 0.4, generator="counter").means()
    above = 0.5 * math.erfc(0.5 / math.sqrt(2.0))  # the chance to exceed 1
    at_the_top = (means == 1.0).mean()
    if draw == "clipped-normal":
        assert abs(at_the_top - above) < 5 * math.sqrt(above * (1.0 - above) / 20_000)
    else:
        assert at_the_top == 0.0


def test_a_counter_based_level_depends_on_seed_run_and_worker_alone() -> None:
    recipe = Recipe("beta", 8, 0.5, 0.2, per_run=True, generator="counter")
    first = recipe.means(seed=3, run=4)
    assert first.tolist() == recipe.means(seed=3, run=4).tolist()
    larger = Recipe("beta", 20, 0.5, 0.2, per_run=True, generator="counter").means(seed=3, run=4)
    assert larger[:8].tolist() == first.tolist()
    for seed, run in ((4, 4), (3, 5)):
        assert not (recipe.means(seed, run) == first).any()
    shared = Recipe("beta", 8, 0.5, 0.2, generator="counter")
    assert shared.means(1, 2).tolist() == shared.means(9, 9).tolist()


@pytest.mark.parametrize("generator", ["numpy", "counter"])
def test_fixed_levels_and_stars(generator: str) -> None:
    """Every worker is a star equally often; fixed levels win over stars."""
    times, chosen = 2000, np.zeros(10)
    recipe = Recipe("uniform", 10, 0.3, 0.1, per_run=True, generator=generator, stars=Stars(4, 0.72, 0.82))
    for run in range(times):
        means = recipe.means(1, run)
        stars = means >= 0.72
        assert stars.sum() == 4
        assert means[stars].max() <= 0.82
        chosen += stars
    assert (abs(chosen / times - 0.4) < 5 * math.sqrt(0.24 / times)).all()
    fixed = Recipe("uniform", 5, 0.3, 0.1, generator=generator, stars=Stars(5, 0.8, 0.9), fixed=((2, 0.1), (0, 0.2)))
    means = fixed.means()
    assert (means[0], means[2]) == (0.2, 0.1)
    assert (means[[1, 3, 4]] >= 0.8).all()


@pytest.mark.parametrize("generator", ["numpy", "counter"])
def test_a_share_of_stars_comes_from_a_tail_four_times_as_wide(generator: str) -> None:
    """With sd 0.05 a level lies over two standard deviations away with chance 0.0455, in the tail with 0.617."""
    n, share = 40_000, 0.2
    means = Recipe("clipped-normal", n, 0.5, 0.05, generator=generator, stars=share).means()
    far = (1.0 - share) * math.erfc(2.0 / math.sqrt(2.0)) + share * math.erfc(0.5 / math.sqrt(2.0))
    assert abs((abs(means - 0.5) > 0.1).mean() - far) < 5 * math.sqrt(far * (1.0 - far) / n)


def test_without_new_keys_the_numpy_draws_are_the_old_ones() -> None:
    expected = np.clip(np.random.default_rng((7, 3, 2)).normal(0.5, 0.3, 25), 0.0, 1.0)
    assert Recipe("clipped-normal", 25, seed=7, per_run=True).means(3, 2).tolist() == expected.tolist()
