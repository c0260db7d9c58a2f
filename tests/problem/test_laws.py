"""Draws are uniform and independent, with the means and ranges of their laws.

Statistical checks use fixed seeds and limits of 5 standard errors: under a correct program each would fail, over fresh
seeds, less than once in a million times.
"""

import math

import numpy as np
import pytest

from crewlearn.engine.local import simulate
from crewlearn.engine.streams import PURPOSES, TEAM, run_key, seed_root
from crewlearn.engine.world import World
from crewlearn.problem.chance import choose_sorted, mix, next_uniform, normal, shuffle, uniform, unit
from crewlearn.problem.laws import (
    OUTPUT_LAWS,
    AvailabilityDelay,
    BetaOutput,
    DelayLaw,
    FixedDelay,
    GeometricDelay,
    NoDelay,
    OutputLaw,
    TruncatedNormalOutput,
    UniformDelay,
    UniformOutput,
    day_mean,
    draw_beta,
    draw_delay,
    draw_gamma,
    draw_output,
    room_of,
)
from crewlearn.problem.model import Pool, Problem, Start
from support.laws import OUTPUT_EXAMPLES

LAWS: list[OutputLaw] = [*OUTPUT_EXAMPLES, UniformOutput(0.5), TruncatedNormalOutput(0.8), BetaOutput(0.5)]
MEANS = (0.02, 0.3, 0.5, 0.85, 0.99)


def world(means: tuple[float, ...], output: OutputLaw, delay: DelayLaw) -> World:
    return World(Problem(1, 10_000, 1.0, Pool(means), delay, output), seed=11, run=0)


def test_every_output_law_has_an_example_and_a_code_of_its_own() -> None:
    assert {type(law) for law in OUTPUT_EXAMPLES} == set(OUTPUT_LAWS)
    assert (
        len({law.law for law in OUTPUT_LAWS}) == len({law.form().code for law in OUTPUT_EXAMPLES}) == len(OUTPUT_LAWS)
    )


@pytest.mark.parametrize("day_effect_sd", [0.0, 0.2])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_output_keeps_each_mean_and_stays_in_range(law: OutputLaw, day_effect_sd: float) -> None:
    law = type(law)(**{**vars(law), "day_effect_sd": day_effect_sd})
    here = world((*MEANS, 0.0, 1.0), law, NoDelay())
    drawn = np.array([[here.output(t, i) for i in range(7)] for t in range(1, 4001)])
    assert drawn.min() >= 0.0
    assert drawn.max() <= 1.0
    for worker, mean in enumerate(MEANS):
        error = drawn[:, worker].std() / len(drawn) ** 0.5
        assert abs(drawn[:, worker].mean() - mean) < 5 * error, (worker, mean)
    assert (drawn[:, 5] == 0.0).all()
    assert (drawn[:, 6] == 1.0).all()


def test_spreads_are_as_declared_where_there_is_room() -> None:
    for law, sd in OUTPUT_EXAMPLES.items():
        here = world((0.5, 0.5), law, NoDelay())
        drawn = np.array([here.output(t, 0) for t in range(1, 6001)])
        assert drawn.std() == pytest.approx(sd, rel=5 / math.sqrt(2 * 6000)), law


def test_the_uniform_law_narrows_to_the_room_a_mean_has() -> None:
    here = world((0.03, 0.96), UniformOutput(0.1), NoDelay())
    drawn = np.array([[here.output(t, i) for i in range(2)] for t in range(1, 3001)])
    assert drawn[:, 0].max() <= 0.06
    assert drawn[:, 0].max() > 0.059
    assert drawn[:, 1].min() >= 0.92


def test_a_day_effect_is_common_to_all_workers_and_noise_is_not() -> None:
    shared = world((0.5, 0.5), UniformOutput(0.05, day_effect_sd=0.1), NoDelay())
    alone = world((0.5, 0.5), UniformOutput(0.05), NoDelay())
    for here, low, high in ((shared, 0.9, 0.95), (alone, -5 / 3000**0.5, 5 / 3000**0.5)):
        drawn = np.array([[here.output(t, i) for i in range(2)] for t in range(1, 3001)])
        # Day variance 0.01 against own variance 0.05^2/3: correlation 0.923.
        assert low < np.corrcoef(drawn.T)[0, 1] < high


@pytest.mark.parametrize(
    ("law", "least", "mean", "sd"),
    [
        (NoDelay(), 0, 0.0, 0.0),
        (FixedDelay(4), 4, 4.0, 0.0),
        (GeometricDelay(3.0, first=0), 0, 3.0, math.sqrt(12.0)),
        (GeometricDelay(3.0, first=1), 1, 3.0, math.sqrt(6.0)),
        (GeometricDelay(1.0, first=1), 1, 1.0, 0.0),
        (AvailabilityDelay(1 / 3), 1, 3.0, math.sqrt(6.0)),
        (UniformDelay(1, 5), 1, 3.0, math.sqrt(2.0)),
    ],
    ids=str,
)
def test_delays_have_the_mean_and_spread_of_their_law(law: DelayLaw, least: int, mean: float, sd: float) -> None:
    here = world((0.5,) * 12, UniformOutput(), law)
    drawn = np.array([here.delay(t, out, into) for t in range(1, 101) for out in range(-1, 5) for into in range(6, 12)])
    assert drawn.min() == least
    assert abs(drawn.mean() - mean) <= 5 * sd / len(drawn) ** 0.5
    # The variance of the sample variance of a geometric law with mean 3 is below 9 times its square, over 3,600 draws.
    assert drawn.var() == pytest.approx(sd**2, rel=5 * math.sqrt(9.0 / len(drawn)))


def test_availability_is_that_of_the_incoming_worker() -> None:
    here = world((0.5, 0.5, 0.5), UniformOutput(), AvailabilityDelay((1.0, 0.5, 0.1)))
    means = [np.mean([here.delay(t, 0, into) for t in range(1, 4001)]) for into in range(3)]
    assert means[0] == 1.0
    assert means[1] == pytest.approx(2.0, abs=5 * math.sqrt(2.0 / 4000))
    assert means[2] == pytest.approx(10.0, abs=5 * math.sqrt(90.0 / 4000))


def test_extreme_draws_are_handled() -> None:
    assert draw_delay(1, 0, 0, 1.0, 0) == 0
    narrow_to_wide = [BetaOutput(concentration) for concentration in (1e-6, 0.5, 1.0, 1e9)]
    for key in range(50):
        for mean in (5e-324, 1e-320, 1e-300, 1.0 - 2**-53):
            for code, spread, *_ in (law.form() for law in [*OUTPUT_EXAMPLES, *narrow_to_wide]):
                for centre in (mean, day_mean(mean, 0.3), day_mean(mean, -0.3)):
                    assert 0.0 <= draw_output(code, spread, centre, room_of(centre), mix(1, key)) <= 1.0


def test_a_beta_law_whose_shape_rounds_to_nothing_puts_out_nothing() -> None:
    """0.5 x 5e-324 is 0 in floating point; both loops draw the limit of the law, which is 0."""
    assert 0.5 * 5e-324 == 0.0
    assert draw_gamma(0.0, 7) == 0.0
    assert {draw_beta(0.0, 0.5, key) for key in range(50)} == {0.0}
    assert {draw_beta(0.5, 0.0, key) for key in range(50)} == {1.0}
    problem = Problem(1, 40, 1.0, Pool((5e-324, 0.5)), NoDelay(), BetaOutput(0.5), start=Start((0,)))
    assert {World(problem, seed=1, run=0).output(period, 0) for period in range(1, 41)} == {0.0}
    assert simulate(problem, ["keep-team"], runs=2, seed=1).regret("keep-team", at=40).mean == 20.0


def test_normals_are_normal() -> None:
    drawn = np.array([normal(7, n) for n in range(20_000)])
    assert abs(drawn.mean()) < 5 / 20_000**0.5
    assert abs(drawn.var() - 1.0) < 5 * (2 / 20_000) ** 0.5
    assert abs((drawn**4).mean() - 3.0) < 5 * (96 / 20_000) ** 0.5
    assert abs((drawn < -1.0).mean() - 0.158655) < 5 * (0.158655 * 0.841345 / 20_000) ** 0.5


def test_words_are_mixed_well() -> None:
    """One bit of the counter or the key changes half of the word's bits."""
    flips = [bin(mix(5, n) ^ mix(5, n ^ (1 << bit))).count("1") for n in range(300) for bit in range(32)]
    flips += [bin(mix(n, 9) ^ mix(n ^ (1 << bit), 9)).count("1") for n in range(300) for bit in range(32)]
    assert abs(np.mean(flips) - 32.0) < 5 * 4.0 / len(flips) ** 0.5
    drawn = np.array([uniform(mix(3, t), i) for t in range(100) for i in range(100)])
    counts = np.histogram(drawn, bins=100, range=(0, 1))[0]
    assert ((counts - 100.0) ** 2 / 100.0).sum() < 99 + 5 * math.sqrt(2 * 99)


def test_shuffles_and_teams_are_uniform() -> None:
    stream = np.array([77, 0], dtype=np.int64)
    firsts = []
    for _ in range(6000):
        items = np.arange(4)
        shuffle(items, 3, stream)
        assert sorted(items.tolist()) == [0, 1, 2, 3]
        assert items[3] == 3
        firsts.append(tuple(items[:3].tolist()))
    shares = [firsts.count(order) / 6000 for order in set(firsts)]
    assert len(shares) == 6
    assert max(abs(share - 1 / 6) for share in shares) < 5 * math.sqrt(5 / 36 / 6000)
    assert 0.0 < next_uniform(stream) < 1.0
    teams = []
    for run in range(6000):
        team = np.empty(2, dtype=np.int64)
        choose_sorted(team, 2, 4, mix(5, run))
        teams.append(tuple(team.tolist()))
    shares = [teams.count(team) / 6000 for team in set(teams)]
    assert set(teams) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    assert max(abs(share - 1 / 6) for share in shares) < 5 * math.sqrt(5 / 36 / 6000)


def test_a_delay_belongs_to_its_pair_and_period() -> None:
    here = world((0.5,) * 6, UniformOutput(), GeometricDelay(1000.0))
    drawn = {here.delay(t, out, into) for t in (1, 2, 3) for out in (-1, 0, 1) for into in (3, 4, 5)}
    assert len(drawn) == 27


def test_the_starting_team_has_a_stream_of_its_own() -> None:
    here = World(Problem(3, 9, 1.0, Pool((0.5,) * 9), NoDelay()), seed=11, run=4)
    expected = np.empty(3, dtype=np.int64)
    choose_sorted(expected, 3, 9, run_key(seed_root(11), 4, TEAM))
    assert here.starting_team().tolist() == expected.tolist()
    assert (
        len({run_key(seed_root(11), run, purpose) for run in range(50) for purpose in range(PURPOSES)}) == 50 * PURPOSES
    )


def test_no_draw_is_0_or_1() -> None:
    assert 0.0 < unit(0) < 1e-15
    assert 1.0 - 1e-15 < unit(2**64 - 1) < 1.0


def test_worlds_differ_by_seed_and_run_alone() -> None:
    problem = Problem(1, 9, 1.0, Pool((0.4, 0.5, 0.6)), GeometricDelay(30.0))
    facts = {
        (seed, run): (World(problem, seed, run).output(3, 1), World(problem, seed, run).delay(3, 1, 2))
        for seed in range(4)
        for run in range(4)
    }
    assert len(set(facts.values())) == 16
    assert facts[2, 3] == (World(problem, 2, 3).output(3, 1), World(problem, 2, 3).delay(3, 1, 2))
