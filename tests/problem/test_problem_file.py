"""The problem file: it builds the problem it describes, and errors name the field."""

from typing import Any

import numpy as np
import pytest

from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark, design_choices, gamma_curve
from crewlearn.problem.laws import (
    AvailabilityDelay,
    DelayLaw,
    FixedDelay,
    GeometricDelay,
    NoDelay,
    OutputLaw,
    UniformDelay,
    UniformOutput,
)
from crewlearn.problem.model import CONVENTIONS, Pool, Problem, Setting, Start
from crewlearn.problem.recipes import DRAWS, Estimated, Recipe
from crewlearn.problem.toml import problem_from_toml, problem_to_toml, read_problem
from support.laws import OUTPUT_EXAMPLES, with_day_effect

EXAMPLE = """
team = 1
horizon = 730
cost = 5.0
fee_due = "initiation"
assumed_mean_delay = 3.0
[workers]
means = [0.42, 0.77]
[output]
law = "uniform"
half_width = 0.1
day_effect_sd = 0.0
[delay]
law = "geometric"
mean = 3.0
first = 0
"""

OUTPUTS: list[OutputLaw] = [*OUTPUT_EXAMPLES, *(with_day_effect(law, 0.09) for law in OUTPUT_EXAMPLES)]
DELAYS: list[DelayLaw] = [
    NoDelay(),
    FixedDelay(4),
    GeometricDelay(3.0),
    GeometricDelay(3.0, first=1),
    AvailabilityDelay(0.25),
    AvailabilityDelay((0.5, 0.25, 1.0)),
    UniformDelay(1, 5),
]


def test_the_documented_example_is_read_as_written() -> None:
    problem = problem_from_toml(EXAMPLE)
    assert problem.setting == Setting(workers=2, team=1, horizon=730, cost=5.0, mean_delay=3.0)
    assert problem.workers == Pool((0.42, 0.77))
    assert problem.output == UniformOutput(0.1)
    assert problem.delay == GeometricDelay(3.0, first=0)


@pytest.mark.parametrize("output", OUTPUTS, ids=str)
@pytest.mark.parametrize("delay", DELAYS, ids=str)
def test_every_law_survives_the_round_trip(output: OutputLaw, delay: DelayLaw) -> None:
    pool = Pool((0.1, 0.2, 0.3), prior_n=(0, 3, 7), prior_mean=(0.0, 0.25, 0.5))
    problem = Problem(2, 50, 1.5, pool, delay, output, fee_due="completion", assumed_mean_delay=2.5)
    assert problem_from_toml(problem_to_toml(problem)) == problem


@pytest.mark.parametrize("draw", DRAWS)
def test_every_recipe_survives_the_round_trip_and_draws_means(draw: str) -> None:
    recipe = Recipe(draw, count=200, mean=0.45, sd=0.2, seed=5, per_run=True)
    problem = Problem(20, 50, 1.5, recipe, NoDelay())
    assert problem_from_toml(problem_to_toml(problem)) == problem
    means = problem.means(seed=3, run=4)
    assert len(means) == 200
    assert means.min() >= 0.0
    assert means.max() <= 1.0
    assert (means == problem.means(seed=3, run=4)).all()
    assert (means != problem.means(seed=3, run=5)).any()
    assert (means != problem.means(seed=4, run=4)).any()
    # 200 draws: the sample mean lies within 5 standard errors but once in two million; clipping moves it by < 0.01.
    assert abs(means.mean() - 0.45) < 5 * 0.2 / 200**0.5 + 0.01


def test_without_per_run_all_runs_share_one_pool() -> None:
    problem = benchmark(conventions="as-released")
    expected = np.clip(np.random.default_rng(12345).normal(0.5, 0.3, 25), 0.0, 1.0)
    assert (problem.means(seed=1, run=0) == expected).all()
    assert (problem.means(seed=9, run=77) == expected).all()


def test_the_paper_s_instances() -> None:
    for conventions in CONVENTIONS:
        for team in (5, 10, 20):
            assert benchmark(team, conventions).setting == Setting(25, team, 730, 5.0, 3.0)
    assert benchmark(conventions="as-written").delay == AvailabilityDelay(1 / 3)
    assert benchmark(conventions="as-released").delay == GeometricDelay(3.0, first=0)
    assert benchmark(mean_delay=0.0).delay == NoDelay()
    printed = design_choices(90, "as-released", cost=168.0)
    assert (printed.delay.mean_delay, printed.setting.mean_delay) == (2.0, 3.0)
    assert design_choices(365).delay.mean_delay == 3.0
    five_years = gamma_curve("as-released")
    expected = np.clip(np.random.default_rng(1).normal(0.5, 0.3, 25), 0.0, 1.0)
    assert five_years.horizon == 1825
    assert (five_years.means() == expected).all()


def test_the_law_s_own_mean_is_told_unless_another_is_assumed() -> None:
    laws: list[DelayLaw] = [NoDelay(), FixedDelay(4), GeometricDelay(2.5), UniformDelay(1, 5)]
    laws.append(AvailabilityDelay((0.5, 0.25, 1.0)))
    told = [Problem(1, 9, 1.0, Pool((0.1, 0.2, 0.3)), law).setting.mean_delay for law in laws]
    # The paper's bound on the mean delay is that of the least available worker.
    assert told == [0.0, 4.0, 2.5, 3.0, 4.0]


GEOMETRIC = 'law = "geometric"\nmean = 3.0\nfirst = 0'

BAD = [
    ("team = 1", "team = 2", "team", "below the number of workers, 2"),
    ("team = 1", "team = 3", "team", "below the number of workers, 2"),
    ("team = 1", "team = 0", "team", "from 1 to"),
    ("team = 1", "team = 1.5", "team", "whole number"),
    ("cost = 5.0", "cost = -0.5", "cost", ">= 0"),
    ("cost = 5.0", "cost = nan", "cost", "finite"),
    ("cost = 5.0", 'cost = "5"', "cost", "finite number"),
    ("0.42", "1.42", "[workers] means[0]", "<= 1"),
    ("0.42", "-0.1", "[workers] means[0]", ">= 0"),
    ("0.42", "nan", "[workers] means[0]", "finite"),
    ("horizon = 730", "horizon = 0", "horizon", "from 1 to"),
    ("horizon = 730", "horizon = 10000000000000", "horizon", "from 1 to"),
    ("horizon = 730", "horizon = 1000000000", "horizon", "from 1 to 10000000"),
    pytest.param("horizon = 730", f"horizon = {'9' * 5000}", "problem file", "is not valid TOML", id="5,000 digits"),
    pytest.param("cost = 5.0", f"cost = {'9' * 400}", "cost", "finite", id="400 digits"),
    pytest.param("cost = 5.0", f"cost = {'[' * 20_000}", "problem file", "is not valid TOML", id="20,000 deep"),
    ("horizon = 730", "horizon = true", "horizon", "whole number"),
    ('"uniform"', '"unform"', "[output] law", "did you mean 'uniform'"),
    ('"geometric"', '"geometrical"', "[delay] law", "did you mean 'geometric'"),
    ("mean = 3.0\nfirst = 0", "mean = 0.5\nfirst = 1", "[delay] mean", "mean >= 1"),
    ("mean = 3.0", "mean = -1.0", "[delay] mean", ">= 0"),
    ("assumed_mean_delay = 3.0", "assumed_mean_delay = -3.0", "assumed_mean_delay", ">= 0"),
    ("horizon", "horizn", "problem file key", "did you mean 'horizon'"),
    ("half_width", "halfwidth", "[output] key", "did you mean 'half_width'"),
    ("first = 0", "frist = 0", "[delay] key", "did you mean 'first'"),
    ("means =", "meens =", "[workers] key", "did you mean 'means'"),
    ("half_width = 0.1", "half_width = 0.6", "[output] half_width", "<= 0.5"),
    ('"initiation"', '"arrival"', "fee_due", "initiation, completion"),
    ("means = [0.42, 0.77]", "means = [0.42, 0.77]\nprior_n = [1, 2]", "[workers] prior_mean", "together with prior_n"),
    ("means = [0.42, 0.77]", "means = [0.42, 0.77]\nprior_n = [1]", "[workers] prior_n", "2 entries"),
    ("means = [0.42, 0.77]", 'means = [0.4, 0.7]\ndraw = "beta"', "[workers] draw", "not both"),
    ("means = [0.42, 0.77]", "means = 0.42", "[workers] means", "list"),
    ("means = [0.42, 0.77]", 'draw = "normal"\ncount = 9', "[workers] draw", "clipped-normal"),
    ("means = [0.42, 0.77]", 'draw = "beta"\ncount = 9\nsd = 0.6', "[workers] sd", "below 0.5"),
    ("means = [0.42, 0.77]", 'draw = "beta"', "[workers] count", "is missing"),
    ("cost = 5.0", "", "problem file cost", "is missing"),
    ("[workers]\nmeans = [0.42, 0.77]", "", "[workers]", "is missing"),
    ("team = 1", "team =", "problem file", "not valid TOML"),
    ('law = "geometric"', 'law = ["geometric"]', "[delay] law", "Known: none, fixed, geometric"),
    ('law = "uniform"', "law = {a = 1}", "[output] law", "Known: uniform"),
    ('law = "geometric"\nmean = 3.0\nfirst = 0', 'law = "availability"\np = 2024-01-01', "[delay] p", "finite number"),
    (
        'law = "geometric"\nmean = 3.0\nfirst = 0',
        'law = "fixed"\nperiods = 9999999999',
        "[delay] periods",
        "to 1000000",
    ),
    ("mean = 3.0", "mean = 1e19", "[delay] mean", "<= 1e+06"),
    ("cost = 5.0", "cost = 1e200", "cost", "<= 1e+09"),
    ("cost = 5.0", "cost = " + "9" * 400, "cost", "finite number"),
    ("assumed_mean_delay = 3.0", "assumed_mean_delay = 1e300", "assumed_mean_delay", "<= 1e+09"),
    ("means = [0.42, 0.77]", 'draw = "beta"\ncount = 1000000000000', "[workers] count", "to 1000000"),
]


@pytest.mark.parametrize(("old", "new", "field", "remedy"), BAD, ids=lambda part: str(part)[:30])
def test_bad_input_names_field_value_and_remedy(old: str, new: str, field: str, remedy: str) -> None:
    assert old in EXAMPLE
    with pytest.raises(InvalidInput) as caught:
        problem_from_toml(EXAMPLE.replace(old, new, 1))
    assert caught.value.field == field
    assert remedy in str(caught.value)


@pytest.mark.parametrize("p", [0.0, 1.5, (0.5, 0.0, 1.0), (0.5, 0.5)])
def test_availability_must_be_a_probability_for_all_or_for_each(p: float | tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"\[delay\] p"):
        Problem(1, 9, 1.0, Pool((0.1, 0.2, 0.3)), AvailabilityDelay(p))


def test_a_file_that_is_not_there_is_named(tmp_path: object) -> None:
    with pytest.raises(InvalidInput, match=r"nowhere\.toml"):
        read_problem(f"{tmp_path}/nowhere.toml")


def test_wrong_types_are_named_too() -> None:
    with pytest.raises(InvalidInput, match=r"delay = 'none': must be one of NoDelay"):
        Problem(1, 9, 1.0, Pool((0.1, 0.2)), "none")  # type: ignore[arg-type]  # the wrong type is the point
    with pytest.raises(InvalidInput, match=r"workers = .* must be one of Pool, Recipe"):
        Problem(1, 9, 1.0, (0.1, 0.2), NoDelay())  # type: ignore[arg-type]  # the wrong type is the point
    for mean_delay in (-1.0, "x", 0.5):
        with pytest.raises(InvalidInput, match=f"mean_delay = {mean_delay!r}"):
            benchmark(mean_delay=mean_delay)  # type: ignore[arg-type]  # the wrong type is the point


def test_a_recipe_with_hardly_any_spread_gives_equal_means() -> None:
    for draw in DRAWS:
        means = Recipe(draw, count=5, mean=0.4, sd=1e-200).means()
        assert means.tolist() == pytest.approx([0.4] * 5)


BEGUN = Problem(
    team=2,
    horizon=30,
    cost=1.0,
    workers=Estimated((0.4, 0.6, 0.9), (0.1, 0.0, 0.5)),
    delay=NoDelay(),
    start=Start((1, -1), (3, 10, 0), (1.2, 6.0, 0.0), (0.5, 3.7, 0.0), (True, True, False), (True, False, True)),
)


def test_a_given_start_and_estimated_means_are_written_and_read_back() -> None:
    assert problem_from_toml(problem_to_toml(BEGUN)) == BEGUN
    short = Problem(2, 30, 1.0, Pool((0.4, 0.6, 0.9)), NoDelay(), start=Start((2, 0)))
    assert problem_from_toml(problem_to_toml(short)) == short
    assert "start" not in problem_to_toml(benchmark())


def test_estimated_means_are_drawn_anew_in_every_run() -> None:
    drawn = np.array([BEGUN.means(seed=5, run=run) for run in range(4000)])
    assert ((drawn >= 0.0) & (drawn <= 1.0)).all()
    assert (drawn[:, 1] == 0.6).all()
    assert drawn[:, 0].mean() == pytest.approx(0.4, abs=0.01)
    assert drawn[:, 0].std() == pytest.approx(0.1, abs=0.01)
    assert BEGUN.drawn_per_run
    assert (BEGUN.means(5, 7) == BEGUN.means(5, 7)).all()
    assert (BEGUN.means(5, 7) != BEGUN.means(6, 7)).any()


def test_a_start_says_what_was_seen_and_who_may_come_and_go() -> None:
    counts, sums, squares = BEGUN.seen_before()
    assert (counts.tolist(), sums.tolist(), squares.tolist()) == ([3, 10, 0], [1.2, 6.0, 0.0], [0.5, 3.7, 0.0])
    assert BEGUN.may_enter().tolist() == [True, True, False]
    assert BEGUN.may_leave().tolist() == [True, False, True]
    seated = Problem(1, 30, 1.0, Pool((0.4, 0.6), (0, 4), (0.0, 0.5)), NoDelay(), start=Start((1,)))
    assert seated.seen_before()[1].tolist() == seated.seen_before()[2].tolist() == [0.0, 2.0]  # the pool's prior data
    assert seated.may_enter().all()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"stations": [0]}, "must have 2 entries, one per station"),
        ({"stations": [0, 3]}, "must be a worker from 0 to 2, or -1"),
        ({"stations": [0, 0]}, "must name each worker once"),
        ({"stations": 3}, "must be a list"),
        ({"stations": [0, -2]}, r"stations\[1\] = -2"),
        ({"stations": [0, 1], "counts": [1, 2, 3]}, "counts, sums and squares go together"),
        ({"stations": [0, 1], "counts": [1], "sums": [1.0], "squares": [1.0]}, "must have 3 entries"),
        ({"stations": [0, 1], "may_enter": [True]}, "must have 3 entries, one for each worker"),
        ({"stations": [0, 1], "may_leave": [1, 0, 1]}, "must be true or false"),
    ],
)
def test_a_start_that_does_not_fit_is_named(start: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Problem(2, 30, 1.0, Pool((0.4, 0.6, 0.9)), NoDelay(), start=Start(**start))


def test_estimates_that_do_not_fit_are_named() -> None:
    with pytest.raises(InvalidInput, match="must have 2 entries"):
        Estimated((0.1, 0.2), (0.1,))
    with pytest.raises(InvalidInput, match=r"sds\[0\] = -0.1"):
        Estimated((0.1,), (-0.1,))
    with pytest.raises(InvalidInput, match="must be a list"):
        Estimated(0.5, (0.1,))  # type: ignore[arg-type]  # the wrong type is the point
    with pytest.raises(InvalidInput, match="must be a Start"):
        Problem(1, 30, 1.0, Pool((0.4, 0.6)), NoDelay(), start=(0,))  # type: ignore[arg-type]  # the wrong type is the point
