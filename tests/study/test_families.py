"""The families: each floor differs from the base in the stated points, and the crowd is the published counts."""

import json
import math
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.engine.local import simulate
from crewlearn.engine.results import Share, paired_difference
from crewlearn.engine.world import World
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.model import Pool
from crewlearn.problem.toml import problem_from_toml, problem_to_table
from crewlearn.study.families import FAMILIES, GROUPS, families_of
from crewlearn.study.families.crowd import DAYS_OF_TEN, crowd_pool

RUNNER = CliRunner()

FLOOR = """
team = 14
horizon = 230
cost = 1.85
rolling = 120
[workers]
draw = "clipped-normal"
count = 60
mean = 0.63
sd = 0.054
per_run = true
generator = "counter"
fixed = [[0, 0.69]]
[output]
law = "truncated-normal"
sd = 0.05
day_effect_sd = 0.03
relative = ["day"]
weekdays = [-0.03, 0.01, 0.03, 0.01, -0.02]
shocks = [[70, 74, -0.18], [121, 125, -0.18]]
[delay]
law = "uniform"
low = 2
high = 5
[ramp]
depth = 0.30
days = 4.0
veterans = "team"
[drift]
sd = 0.0
decliners = [[0, 35, -0.003, 0.6]]
[presence]
absence = 0.04
quit_at = [118]
declines = 0.08
[start]
stations = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
warmup = 110
turnover = 8
gone = 0.6
spared = [0]
"""

GONE = None
"""A key that the base has and the variant does not."""

NO_RAMP = {"ramp.depth": GONE, "ramp.days": GONE, "ramp.veterans": GONE}

CHANGES: Mapping[str, Mapping[str, Any]] = {
    "floor": {},
    "floor-clean": {
        **NO_RAMP,
        "drift.sd": GONE,
        "drift.decliners": GONE,
        "output.day_effect_sd": 0.0,
        "output.relative": GONE,
        "output.weekdays": GONE,
        "output.shocks": GONE,
    },
    "floor-no-ramp": NO_RAMP,
    "floor-ramp-45": {"ramp.depth": 0.45},
    "floor-slow-ramp": {"ramp.days": 15.0},
    "floor-own-ramps": {"ramp.depth": GONE, "ramp.depth.mean": 0.30, "ramp.depth.sd": 0.09},
    "floor-day-10": {"output.day_effect_sd": 0.10},
    "floor-noise-15": {"output.sd": 0.15, "output.relative": ["day", "noise"]},
    "floor-drift": {"drift.sd": 0.005},
    "floor-live-decline": {"drift.decliners": [[0, 120, -0.003, 0.6]], "horizon": 350},
    "floor-narrow": {"workers.sd": 0.025},
    "floor-fee-0.41": {"cost": 0.41},
    "floor-fee-4.1": {"cost": 4.1},
    "floor-stars": {
        "workers.mean": 0.615,
        "workers.sd": 0.016,
        "workers.stars.count": 4,
        "workers.stars.low": 0.72,
        "workers.stars.high": 0.82,
    },
    "floor-quits": {"presence.quits": 0.005},
    "floor-small": {"team": 5, "workers.count": 30, "start.stations": list(range(5))},
    "floor-large": {"team": 40, "workers.count": 150, "start.stations": list(range(40))},
    "floor-long": {"horizon": 350},
    "floor-cold-start": {
        "horizon": 120,
        "output.shocks": [[11, 15, -0.18]],
        "presence.quit_at": [8],
        "drift.decliners": [[0, 1, -0.003, 0.6]],
        "start.warmup": GONE,
        "start.turnover": GONE,
        "start.gone": GONE,
        "start.spared": GONE,
    },
}


def flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return a table's values under dotted keys, tuples as lists."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            values |= flat(value, f"{above}{key}.")
        else:
            values[above + key] = json.loads(json.dumps(value))
    return values


def test_the_floors_are_those_listed() -> None:
    assert list(GROUPS["floors"]) == list(CHANGES)
    assert FAMILIES["floor"].problem() == problem_from_toml(FLOOR)
    assert all(len(FAMILIES[name].settings) == 1 for name in CHANGES)


def test_the_documentation_shows_the_base() -> None:
    text = (Path(__file__).parents[2] / "docs" / "evidence" / "floors.md").read_text(encoding="utf-8")
    block = text.partition("```toml\n")[2].partition("```")[0]
    assert problem_from_toml(block) == FAMILIES["floor"].problem()
    table = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `floor")]
    assert table == list(GROUPS["floors"])


@pytest.mark.parametrize("name", CHANGES)
def test_a_floor_differs_from_the_base_in_the_stated_points(name: str) -> None:
    base, ours = flat(problem_to_table(problem_from_toml(FLOOR))), flat(problem_to_table(FAMILIES[name].problem()))
    changed = {key: ours.get(key) for key in {*base, *ours} if base.get(key) != ours.get(key)}
    assert changed == CHANGES[name]


def test_the_decliner_holds_a_station_when_the_policy_takes_over() -> None:
    for family in families_of(["floors"]):
        problem = family.problem()
        assert problem.first_stations[0] == 0
        assert problem.warmup == 0 or (problem.start is not None and problem.start.spared == (0,))


def test_stars_stand_out() -> None:
    """The fixed worker 0 may be drawn as one of the four stars, so that three or four are left."""
    pools = [FAMILIES["floor-stars"].problem().means(1, run) for run in range(200)]
    assert {int((pool > 0.72).sum()) for pool in pools} == {3, 4}
    rest = np.concatenate([pool[1:][pool[1:] < 0.72] for pool in pools])
    assert abs(rest.mean() - 0.615) < 4.5 * 0.016 / math.sqrt(len(rest))  # exceeded with probability 7e-6
    assert rest.std() == pytest.approx(0.016, rel=4.5 / math.sqrt(2 * len(rest)))


def test_families_are_chosen_by_name_or_group() -> None:
    assert [family.name for family in families_of(())] == list(GROUPS["stationary"])
    assert len(families_of(["floors", "floor", "paper"])) == 20
    assert len(families_of(["all"])) == len(FAMILIES) == 27


def test_the_crowd_is_the_published_counts() -> None:
    data = json.loads(files("crewlearn.study.families").joinpath("crowd_workers.json").read_text())
    assert "Snow" in data["citation"]
    for name, workers, answers, right in (("rte", 40, 5520, 3729), ("temp", 31, 4096, 2943)):
        counts = data["pools"][name]
        assert (len(counts), sum(n for n, _ in counts), sum(r for _, r in counts)) == (workers, answers, right)
        assert all(0 < r <= n and n >= data["fewest_answers"] for n, r in counts)
        assert crowd_pool(name) == Pool(tuple(r / n for n, r in counts))
    labels = [label for label, _ in FAMILIES["crowd"].settings]
    assert labels == ["rte, single answers", "rte, days of ten", "temp, single answers", "temp, days of ten"]
    for label, problem in FAMILIES["crowd"].settings:
        assert problem.workers == crowd_pool(label.partition(",")[0])
        assert not problem.changes
        setting = problem.setting
        assert (setting.team, setting.horizon, setting.cost, setting.mean_delay) == (10, 730, 5.0, 3.0)


def test_a_day_of_ten_has_the_mean_and_variance_of_ten_answers() -> None:
    """4,000 outputs each; 4.5 standard errors are exceeded with probability 7e-6 in each of 12 comparisons."""
    (problem,) = (problem for _, problem in FAMILIES["crowd"].settings[1:2])
    assert problem.output == DAYS_OF_TEN
    world = World(problem, seed=1, run=0)
    for worker in range(0, 40, 7):
        p = world.means[worker]
        drawn = np.array([world.output(period, worker) for period in range(1, 4001)])
        variance = p * (1.0 - p) / 10.0
        assert abs(drawn.mean() - p) < 4.5 * math.sqrt(variance / 4000)
        squares = (drawn - p) ** 2
        assert abs(squares.mean() - variance) < 4.5 * squares.std() / math.sqrt(4000)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_policy_nets_more_than_the_oracle(name: str) -> None:
    """In 10 worlds; a policy level with the oracle would fail with probability 0.03. All lie further below."""
    problem = FAMILIES[name].problem()
    result = simulate(problem, list(REGISTRY), runs=10, seed=2)
    oracle = result.policies["oracle"].net[:, -1]
    for policy, played in result.policies.items():
        ahead = paired_difference(played.net[:, -1], oracle)
        assert ahead.mean <= 2.0 * ahead.stderr, policy
    assert result.captured("keep-team", problem.horizon) == Share(0.0, 0.0)
    assert result.captured("oracle", problem.horizon) == Share(1.0, 0.0)


def test_the_ends_of_the_scale_through_the_command(tmp_path: Path) -> None:
    file = tmp_path / "floor.toml"
    file.write_text(FLOOR)
    command = ["simulate", "--problem", str(file), "--runs", "6", "--at", "150,230", "--json", "--policy", "threshold"]
    unlisted = json.loads(RUNNER.invoke(app, command).stdout)["policies"]
    listed = json.loads(RUNNER.invoke(app, [*command, "--policy", "oracle", "--policy", "keep-team"]).stdout)[
        "policies"
    ]
    assert set(unlisted) == {"threshold"}
    for key in ("net", "captured", "worse_than_keep_team"):
        assert unlisted["threshold"][key] == listed["threshold"][key]
    for at in ("150", "230"):
        assert listed["keep-team"]["captured"][at] == {"mean": 0.0, "stderr": 0.0}
        assert listed["oracle"]["captured"][at] == {"mean": 1.0, "stderr": 0.0}
        assert listed["keep-team"]["worse_than_keep_team"][at] == 0.0
        net = {name: listed[name]["net"][at]["mean"] for name in listed}
        place = (net["threshold"] - net["keep-team"]) / (net["oracle"] - net["keep-team"])
        assert listed["threshold"]["captured"][at]["mean"] == pytest.approx(place)
