"""The tables of changing floors: errors name the field, and files hold what they must and no more."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest

from crewlearn.engine.caching.identity import result_identity
from crewlearn.policies.brakes import Braked
from crewlearn.policies.registry import make_policy
from crewlearn.problem.chance import unit
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import BernoulliOutput, DelayLaw, FixedDelay, OutputLaw, UniformOutput
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import Drift, LevelPath, Presence, Ramp
from crewlearn.problem.recipes import Recipe, Stars
from crewlearn.problem.toml import problem_from_toml, problem_to_table, problem_to_toml
from support.floors import ALONE, POOL, QUIET, TOGETHER, WORK

FLOOR = """
team = 2
horizon = 60
cost = 1.85
rolling = 30
[workers]
draw = "clipped-normal"
count = 6
generator = "counter"
fixed = [[0, 0.69]]
stars = {count = 2, low = 0.8, high = 0.9}
[output]
law = "truncated-normal"
sd = 0.05
day_effect_sd = 0.03
relative = ["day"]
weekdays = [-0.03, 0.01]
shocks = [[30, 34, -0.18]]
[ramp]
depth = 0.30
days = 4.0
veterans = "team"
[drift]
sd = 0.001
decliners = [[0, 35, -0.003, 0.6]]
[presence]
absence = 0.04
quits = 0.005
quit_at = [18]
declines = 0.08
[start]
stations = [0, 1]
warmup = 20
turnover = 8
gone = 0.6
spared = [0]
"""

BAD = [
    ("rolling = 30", "rolling = 0", "rolling", "from 1 to"),
    ("rolling = 30", "rolling = 30.5", "rolling", "whole number"),
    ('"counter"', '"counters"', "[workers] generator", "did you mean 'counter'"),
    ("[[0, 0.69]]", "[[6, 0.69]]", "[workers] fixed[0] worker", "from 0 to 5"),
    ("[[0, 0.69]]", "[[0, 1.69]]", "[workers] fixed[0] level", "<= 1"),
    ("[[0, 0.69]]", "[[0]]", "[workers] fixed[0]", "must be [worker, level]"),
    ("[[0, 0.69]]", "0.69", "[workers] fixed", "list of [worker, level]"),
    ("{count = 2, low = 0.8, high = 0.9}", "1.5", "[workers] stars", "<= 1"),
    ("{count = 2, low = 0.8, high = 0.9}", '"few"', "[workers] stars", "finite number"),
    ("{count = 2, low = 0.8, high = 0.9}", "{count = 2}", "[workers] stars", "count, low and high"),
    ("{count = 2,", "{count = 7,", "[workers] stars count", "from 0 to 6"),
    ("low = 0.8, high", "low = 0.95, high", "[workers] stars high", ">= 0.95"),
    ("high = 0.9", "high = 1.9", "[workers] stars high", "<= 1"),
    ('relative = ["day"]', 'relative = ["dya"]', "[output] relative", "did you mean 'day'"),
    ('relative = ["day"]', 'relative = "day"', "[output] relative", "must be a list"),
    ("[-0.03, 0.01]", "[-1.03, 0.01]", "[output] weekdays[0]", ">= -1"),
    ("[-0.03, 0.01]", '["mon"]', "[output] weekdays[0]", "finite number"),
    ("[-0.03, 0.01]", "0.01", "[output] weekdays", "must be a list"),
    ("[[30, 34, -0.18]]", "[[30, 61, -0.18]]", "[output] shocks[0]", "periods 1 to 60"),
    ("[[30, 34, -0.18]]", "[[0, 34, -0.18]]", "[output] shocks[0] first period", ">= 1"),
    ("[[30, 34, -0.18]]", "[[30, 29, -0.18]]", "[output] shocks[0] last period", ">= 30"),
    ("[[30, 34, -0.18]]", "[[30, 34, -1.18]]", "[output] shocks[0] effect", ">= -1"),
    ("[[30, 34, -0.18]]", "[[30, 34]]", "[output] shocks[0]", "first period, last period, relative effect"),
    ("[[30, 34, -0.18]]", "[30, 34, -0.18]", "[output] shocks[0]", "first period, last period, relative effect"),
    ("depth = 0.30", "depth = 1.0", "[ramp] depth", "<= 0.99"),
    ("depth = 0.30", "depth = -0.1", "[ramp] depth", ">= 0"),
    ("depth = 0.30", 'depth = "deep"', "[ramp] depth", "finite number"),
    ("depth = 0.30", "depth = true", "[ramp] depth", "finite number"),
    ("depth = 0.30", "depth = nan", "[ramp] depth", "finite"),
    ("depth = 0.30", "depth = [0.1]", "[ramp] depth", "[low, high], or {mean, sd}"),
    ("depth = 0.30", "depth = [0.5, 0.1]", "[ramp] depth high", ">= 0.5"),
    ("depth = 0.30", "depth = [0.5, 1.0]", "[ramp] depth high", "<= 0.99"),
    ("depth = 0.30", "depth = {mean = 0.3}", "[ramp] depth", "mean and sd"),
    ("depth = 0.30", "depth = {mean = 1.3, sd = 0.1}", "[ramp] depth mean", "<= 0.99"),
    ("depth = 0.30", "depth = {mean = 0.3, sd = -0.1}", "[ramp] depth sd", ">= 0"),
    ("depth = 0.30\n", "", "[ramp] depth", "is missing"),
    ("days = 4.0", "days = 0.0", "[ramp] days", "> 0"),
    ("days = 4.0", "days = -4.0", "[ramp] days", "> 0"),
    ("days = 4.0", "days = inf", "[ramp] days", "finite"),
    ('veterans = "team"', 'veterans = "teem"', "[ramp] veterans", "did you mean 'team'"),
    ('veterans = "team"', "veterans = [1, 2]", "[ramp] veterans", "6 entries"),
    ('veterans = "team"', "veterans = [1, 2, 0, 0, 0, -1]", "[ramp] veterans[5]", "from 0 to"),
    ('veterans = "team"', "veterans = 5", "[ramp] veterans", "or a list"),
    ('veterans = "team"', 'veteran = "team"', "[ramp] key", "did you mean 'veterans'"),
    ("sd = 0.001", "sd = -0.001", "[drift] sd", ">= 0"),
    ("sd = 0.001", "sd = 1.001", "[drift] sd", "<= 1"),
    ("[[0, 35, -0.003, 0.6]]", "[[6, 35, -0.003, 0.6]]", "[drift] decliners[0] worker", "from 0 to 5"),
    ("[[0, 35, -0.003, 0.6]]", "[[-1, 35, -0.003, 0.6]]", "[drift] decliners[0] worker", ">= 0"),
    ("[[0, 35, -0.003, 0.6]]", "[[0, 0, -0.003, 0.6]]", "[drift] decliners[0] from", "from 1 to"),
    ("[[0, 35, -0.003, 0.6]]", f"[[0, {10**400}, -0.003, 0.6]]", "[drift] decliners[0] from", "from 1 to"),
    ("[[0, 35, -0.003, 0.6]]", "[[0, 35, -1.003, 0.6]]", "[drift] decliners[0] change", ">= -1"),
    ("[[0, 35, -0.003, 0.6]]", "[[0, 35, -0.003, 1.6]]", "[drift] decliners[0] floor", "<= 1"),
    ("[[0, 35, -0.003, 0.6]]", "[[0, 35]]", "[drift] decliners[0]", "worker, from period, change a period, floor"),
    ("[[0, 35, -0.003, 0.6]]", "0", "[drift] decliners", "must be a list"),
    ("absence = 0.04", "absence = 1.04", "[presence] absence", "<= 1"),
    ("absence = 0.04", "absence = 0.996", "[presence] absence + quits", "must not exceed 1"),
    ("quits = 0.005", "quits = -0.005", "[presence] quits", ">= 0"),
    ("quits = 0.005", "quits = true", "[presence] quits", "finite number"),
    ("declines = 0.08", "declines = 1.08", "[presence] declines", "<= 1"),
    ("quit_at = [18]", "quit_at = [61]", "[presence] quit_at", "periods 1 to 60"),
    ("quit_at = [18]", "quit_at = [0]", "[presence] quit_at", ">= 1"),
    ("quit_at = [18]", "quit_at = 18", "[presence] quit_at", "must be a list"),
    ("quit_at = [18]", "quit_at = [1.5]", "[presence] quit_at", "whole number"),
    ("warmup = 20", "warmup = 60", "[start] warmup", "at most 59"),
    ("warmup = 20", "warmup = -1", "[start] warmup", "from 0 to"),
    ("turnover = 8", "turnover = -8", "[start] turnover", "from 0 to"),
    ("turnover = 8", "turnover = 1.5", "[start] turnover", "whole number"),
    ("gone = 0.6", "gone = 1.6", "[start] gone", "<= 1"),
    ("spared = [0]", "spared = [6]", "[start] spared", "from 0 to 5"),
    ("spared = [0]", "spared = [-1]", "[start] spared[0]", "from 0 to"),
    ("spared = [0]", "spared = 0", "[start] spared", "must be a list"),
    ("[presence]", "[presents]", "problem file key", "did you mean 'presence'"),
]


def test_the_file_is_read_as_written() -> None:
    problem = problem_from_toml(FLOOR)
    assert problem.rolling == 30
    assert problem.ramp == Ramp(0.3, 4.0, "team")
    assert problem.drift == Drift(0.001, ((0, 35, -0.003, 0.6),))
    assert problem.presence == Presence(0.04, 0.005, (18,), 0.08)
    assert problem.start == Start((0, 1), warmup=20, turnover=8, gone=0.6, spared=(0,))
    assert isinstance(problem.workers, Recipe)
    assert (problem.workers.fixed, problem.workers.stars) == (((0, 0.69),), Stars(2, 0.8, 0.9))
    assert (problem.output.relative, problem.output.weekdays) == (("day",), (-0.03, 0.01))
    assert problem.output.shocks == ((30, 34, -0.18),)


@pytest.mark.parametrize(("good", "bad", "field", "remedy"), BAD, ids=[f"{row[2]}: {row[1][:40]}" for row in BAD])
def test_errors_name_field_value_and_range(good: str, bad: str, field: str, remedy: str) -> None:
    assert FLOOR.count(good) == 1
    with pytest.raises(InvalidInput) as caught:
        problem_from_toml(FLOOR.replace(good, bad))
    assert caught.value.field == field
    assert remedy in caught.value.remedy
    assert repr(caught.value.value) in str(caught.value)


@pytest.mark.parametrize("law", ['law = "bernoulli"', 'law = "beta"\nconcentration = 5.0'])
def test_a_law_without_a_spread_has_no_relative_noise(law: str) -> None:
    text = FLOOR.replace('law = "truncated-normal"\nsd = 0.05', law).replace('["day"]', '["noise"]')
    with pytest.raises(InvalidInput, match=r"\[output\] relative = 'noise'"):
        problem_from_toml(text)


@pytest.mark.parametrize("wrong", [{"ramp": 0.3}, {"drift": 0.1}, {"presence": {}}, {"start": ()}], ids=str)
def test_tables_of_a_wrong_type_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(wrong))} = .* must be a "):
        replace(QUIET, **wrong)


@pytest.mark.parametrize("depth", [None, (), "x", object, {"low": 0.1}, (0.1, "x")], ids=str)
def test_a_depth_of_a_wrong_type_is_named(depth: Any) -> None:
    with pytest.raises(InvalidInput, match=r"\[ramp\] depth"):
        Ramp(depth, 4.0)


@pytest.mark.parametrize("table", [*ALONE, "all", "as read"])
def test_every_table_survives_the_round_trip(table: str) -> None:
    problem = {"all": TOGETHER, "as read": problem_from_toml(FLOOR)}.get(table) or replace(QUIET, **ALONE[table])
    again = problem_from_toml(problem_to_toml(problem))
    assert again == problem
    assert hash(again) == hash(problem)
    assert problem_to_table(again) == problem_to_table(problem)


def test_without_new_keys_a_table_is_as_it_was() -> None:
    problem = Problem(2, 9, 1.0, Recipe("beta", 5, 0.5, 0.1), FixedDelay(2), UniformOutput(0.2), start=Start((1, -1)))
    assert problem_to_table(problem) == {
        "team": 2,
        "horizon": 9,
        "cost": 1.0,
        "fee_due": "initiation",
        "workers": {"draw": "beta", "count": 5, "mean": 0.5, "sd": 0.1, "seed": 12345, "per_run": False},
        "output": {"law": "uniform", "half_width": 0.2, "day_effect_sd": 0.0},
        "delay": {"law": "fixed", "periods": 2},
        "start": {"stations": [1, -1]},
    }


@pytest.mark.parametrize(
    "neutral",
    [
        {"ramp": Ramp(0.0, 4.0, "none")},
        {"ramp": Ramp((0.0, 0.0), 4.0)},
        {"ramp": Ramp({"mean": 0.0, "sd": 0.0}, 4.0)},
        {"drift": Drift()},
        {"drift": Drift(0.0, ((1, 3, 0.0, 0.5),))},
        {"presence": Presence()},
        {"start": Start((0, 1, 2, 3), warmup=0, turnover=0, gone=0.0)},
        {"output": replace(WORK, weekdays=(0.0, 0.0))},
        {"output": replace(WORK, shocks=((1, 5, 0.0),))},
        {"workers": replace(POOL, stars=0.0, fixed=())},
        {"workers": replace(POOL, stars=Stars(0, 0.1, 0.2))},
    ],
    ids=str,
)
def test_neutral_values_are_neither_written_nor_hashed(neutral: dict[str, Any]) -> None:
    problem = replace(QUIET, **neutral)
    assert not problem.changes
    assert problem_to_table(problem) == problem_to_table(QUIET)
    policy = make_policy("dr-ucb")
    identities = [result_identity(world, policy, 10, 1, (60,), "as-written") for world in (problem, QUIET)]
    assert identities[0] == identities[1]


def test_neutral_keys_of_a_table_that_does_something_are_left_out() -> None:
    table = problem_to_table(replace(QUIET, presence=Presence(declines=0.1)))
    assert table["presence"] == {"declines": 0.1}


@pytest.mark.parametrize("table", ALONE)
def test_every_table_is_hashed(table: str) -> None:
    policy = make_policy("dr-ucb")
    changed, quiet = (
        result_identity(world, policy, 10, 1, (60,), "as-written").key
        for world in (replace(QUIET, **ALONE[table]), QUIET)
    )
    assert changed != quiet


@dataclass(frozen=True)
class Halves(OutputLaw):
    """Half of the mean or half more, with even chances."""

    law: ClassVar[str] = "halves"

    @staticmethod
    def draw(numbers: Any, centre: float, room: float, key: int) -> float:
        return centre * (0.5 if unit(key) < 0.5 else 1.5)


@dataclass(frozen=True)
class Instant(DelayLaw):
    """No delay."""

    law: ClassVar[str] = "instant"

    @property
    def mean_delay(self) -> float:
        return 0.0

    @staticmethod
    def draw(numbers: Any, out: int, into: int, key: int) -> int:
        return 0


@dataclass(frozen=True)
class Rising(LevelPath):
    """Levels rise a little every period."""

    sd: float = 0.1

    @staticmethod
    def step(numbers: Any, level: float, first: float, period: int, worked: int, key: int) -> float:
        change: float = numbers.sd
        return level * (1.0 + change)


@dataclass(frozen=True)
class Sudden(Drift):
    """A drift that cannot be foreseen."""

    foreseeable: ClassVar[bool] = False

    @staticmethod
    def step(numbers: Any, level: float, first: float, period: int, worked: int, key: int) -> float:
        return level


@pytest.mark.parametrize(
    ("own", "section", "name"),
    [
        ({"output": Halves()}, "output", "Halves"),
        ({"delay": Instant()}, "delay", "Instant"),
        ({"drift": Rising()}, "drift", "Rising"),
    ],
)
def test_an_own_law_is_never_read_back_as_a_built_in_one(own: dict[str, Any], section: str, name: str) -> None:
    problem = replace(QUIET, **own)
    assert problem_to_table(problem)[section]["own"] == name
    with pytest.raises(InvalidInput):
        problem_from_toml(problem_to_toml(problem))


def test_results_with_an_own_law_are_told_apart_by_its_code() -> None:
    policy = make_policy("keep-team")
    built_in, own = (
        result_identity(replace(QUIET, output=output), policy, 10, 1, (60,), "as-written")
        for output in (BernoulliOutput(), Halves())
    )
    assert built_in.key != own.key
    covered = result_identity(QUIET, policy, 10, 1, (60,), "as-written")
    assert covered.gap is None


def test_decliners_need_levels_that_are_known_ahead() -> None:
    with pytest.raises(InvalidInput, match=r"\[drift\] decliners = .* not foreseeable"):
        replace(QUIET, drift=Sudden(0.0, ((0, 3, -0.1, 0.5),)))
    assert replace(QUIET, drift=Sudden()).changes


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: Braked(make_policy("dr-ucb"), -1), "least_tenure"),
        (lambda: Braked(make_policy("dr-ucb"), 0, -1), "most_a_week"),
        (lambda: Braked(make_policy("dr-ucb"), 0, 1.5), "most_a_week"),  # type: ignore[arg-type]  # the wrong type is the point
        (lambda: Braked("dr-ucb"), "policy"),  # type: ignore[arg-type]  # the wrong type is the point
        (lambda: Braked(Braked(make_policy("dr-ucb"))), "policy"),
    ],
)
def test_wrong_brakes_are_named(call: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field


def test_ramps_of_a_pool_of_their_own_are_checked() -> None:
    with pytest.raises(InvalidInput, match="must have 3 entries"):
        Problem(1, 9, 1.0, Pool((0.1, 0.2, 0.3)), FixedDelay(1), ramp=Ramp(0.3, 4.0, (1, 2)))
