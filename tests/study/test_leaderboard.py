"""Families of instances and the leaderboard of policies over them."""

import csv
import io
import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.engine.local import simulate
from crewlearn.engine.world import World
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.recipes import Recipe
from crewlearn.study import result_cache as kept
from crewlearn.study.families import FAMILIES, GROUPS
from crewlearn.study.leaderboard import Leaderboard, chosen_policies, chosen_settings, leaderboard, standing

RUNNER = CliRunner()


def test_the_families_are_those_named() -> None:
    names = ["paper", "bernoulli", "narrow-bernoulli", "warehouse", "call-centre", "sewing", "big-pool"]
    assert list(GROUPS["stationary"]) == names
    assert len(chosen_settings(None)) == 49
    assert all(family.story for family in FAMILIES.values())
    for family in map(FAMILIES.__getitem__, names):
        settings = {label: problem.setting for label, problem in family.settings}
        base = settings.pop("base")
        expected = (500, 50) if family.name == "big-pool" else (25, 10)
        assert (base.workers, base.team, base.horizon, base.cost, base.mean_delay) == (*expected, 730, 5.0, 3.0)
        same_horizon = [setting for setting in settings.values() if setting.horizon == 730]
        changed = {(setting.cost, setting.team, setting.mean_delay) for setting in same_horizon}
        m = expected[1]
        assert changed == {
            *((fee, m, 3.0) for fee in (1.0, 30.0)),
            *((5.0, team, 3.0) for team in (5, 20)),
            *((5.0, m, delay) for delay in (0.0, 14.0)),
        }


def test_the_paper_family_is_the_text() -> None:
    ours, text = FAMILIES["paper"].problem(), benchmark(10, "as-written")
    assert (ours.output, ours.delay, ours.setting) == (text.output, text.delay, text.setting)
    assert isinstance(ours.workers, Recipe)
    assert ours.workers == text.workers


@pytest.mark.parametrize(
    ("name", "between", "own", "day"),
    [
        ("narrow-bernoulli", 0.08, 0.49, 0.0),
        ("warehouse", 0.05, 0.11, 0.09),
        ("call-centre", 0.15, 0.11, 0.0),
        ("sewing", 0.05, 0.15, 0.0),
    ],
)
def test_spreads_between_workers_within_them_and_between_days(
    name: str, between: float, own: float, day: float
) -> None:
    """Measured on drawn outputs: the first on 400 pools, the others on 4,000 periods of two average workers.

    A relative error of 6% is more than four standard errors of each estimate. Truncation narrows the normal law.
    """
    problem = FAMILIES[name].problem()
    pools = np.array([problem.means(1, run) for run in range(400)])
    assert pools.std() == pytest.approx(between, rel=0.06)
    assert not np.array_equal(pools[0], pools[1])
    world = World(problem, seed=1, run=0)
    first, second = np.argsort(np.abs(world.means - 0.5))[:2]
    outputs = np.array([[world.output(period, int(worker)) for worker in (first, second)] for period in range(1, 4001)])
    shared = np.cov(outputs.T)[0, 1]
    assert math.sqrt(max(shared, 0.0)) == pytest.approx(day, abs=0.006 if day else 0.09)
    assert math.sqrt(outputs.var(axis=0).mean() - day**2) == pytest.approx(own, rel=0.06)


def test_a_standing_is_judged_between_oracle_and_keeping() -> None:
    judged = partial(standing, oracles=("oracle", "dr-ucb+oracle-delayed-pairing"))
    rng = np.random.default_rng(1)
    noise = rng.normal(0.0, 1.0, 100)
    regret = {
        "oracle": np.full(100, 10.0),
        "keep-team": 110.0 + noise,
        "dr-ucb": 120.0 + noise,
        "dr-ucb+oracle-delayed-pairing": np.full(100, 11.0),
        "threshold": 60.0 + noise,
    }
    base = judged("paper", "base", regret)
    shift = noise.mean()
    assert base.entries["oracle"].relative == 0.0
    assert base.entries["keep-team"].relative == pytest.approx(100.0)
    assert base.entries["threshold"].relative == pytest.approx(100 * (50.0 + shift) / (100.0 + shift))
    assert base.entries["threshold"].over_best_rival == pytest.approx((60.0 + shift) / (110.0 + shift))
    assert base.winner == "threshold"  # the pairing that knows the delays does not compete
    assert base.dr_ucb_harms
    assert base.against_keeping.mean == pytest.approx(10.0)
    assert not judged("paper", "base", {**regret, "dr-ucb": 110.0 - noise}).dr_ucb_harms
    same = judged("paper", "base", {name: np.full(5, 7.0) for name in regret})
    assert same.entries["threshold"].relative is None
    assert set(same.level_with_winner) == {"keep-team", "dr-ucb", "threshold"} - {same.winner}
    assert base.level_with_winner == ()
    nothing = judged("paper", "base", {name: np.zeros(5) for name in regret})
    assert nothing.entries["threshold"].over_best_rival is None
    assert Leaderboard(5, 1, "as-written", (nothing,)).summary()["threshold"] is None
    board = Leaderboard(
        100, 1, "as-written", (base, judged("paper", "x", {**regret, "threshold": regret["keep-team"]}))
    )
    score = math.sqrt((60.0 + shift) / (110.0 + shift))
    assert board.summary()["threshold"] == pytest.approx(score)
    assert board.wins()["threshold"] + board.wins()["keep-team"] == 2
    assert board.policies()[0] == "oracle"
    place = (100 * (50.0 + shift) / (100.0 + shift) + 100.0) / 2
    assert board.family_places("threshold") == {"paper": pytest.approx(place)}


def test_the_command_plays_all_policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "cache_folder", lambda part, what: tmp_path)
    out = tmp_path / "board.csv"
    arguments = ["leaderboard", "--family", "sewing", "--runs", "3", "--seed", "4", "--out", str(out)]
    outcome = RUNNER.invoke(app, [*arguments, "--json"])
    assert outcome.exit_code == 0, outcome.output
    document: dict[str, Any] = json.loads(outcome.stdout)
    settings = {label for label, _ in FAMILIES["sewing"].settings}
    assert {entry["setting"] for entry in document["settings"]} == settings
    base = document["settings"][0]
    assert set(base["policies"]) == set(REGISTRY) == set(document["summary"])
    result = simulate(FAMILIES["sewing"].problem(), ["dr-ucb", "keep-team", "oracle"], 3, 4)
    means = {name: result.regret(name, 730).mean for name in result.policies}
    for name, mean in means.items():
        assert base["policies"][name]["regret"]["mean"] == mean
        place = 100 * (mean - means["oracle"]) / (means["keep-team"] - means["oracle"])
        assert base["policies"][name]["relative"] == pytest.approx(place)
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert len(rows) == 7 * len(REGISTRY)
    for row in rows:
        (entry,) = (entry for entry in document["settings"] if entry["setting"] == row["setting"])
        ours = entry["policies"][row["policy"]]
        for name, value in {**ours["regret"], "relative": ours["relative"]}.items():
            assert float(row[name]) == value
        assert float(row["over_best_rival"]) == ours["over_min_of_dr_ucb_and_keep_team"]
    text = RUNNER.invoke(app, arguments).stdout
    assert "worse than keeping the team" in text
    assert f"fee 30: loses {document['settings'][2]['dr_ucb_less_keep_team']['mean']:,.0f}" in text


def test_a_few_policies_are_always_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "cache_folder", lambda part, what: tmp_path)
    arguments = ["leaderboard", "--family", "paper", "--policy", "threshold:level=0.6", "--runs", "2", "--json"]
    document = json.loads(RUNNER.invoke(app, arguments).stdout)
    assert set(document["summary"]) == {"threshold:level=0.6", "dr-ucb", "keep-team", "oracle"}


def test_wrong_input_to_the_leaderboard() -> None:
    with pytest.raises(InvalidInput, match="warehouse"):
        chosen_settings(["werehouse"])
    for arguments, complaint in (
        (["--family", "werehouse"], "did you mean"),
        (["--runs", "0"], "runs = 0"),
        (["--policy", "nobody"], "policy"),
        (["--out", "/nowhere/at/all.csv"], "out"),
    ):
        outcome = RUNNER.invoke(app, ["leaderboard", *arguments])
        assert outcome.exit_code == 2
        assert complaint in outcome.stderr


def test_a_floor_is_judged_by_net() -> None:
    net = {
        "oracle": np.array([30.0, 50.0]),
        "keep-team": np.array([10.0, 20.0]),
        "dr-ucb": np.array([5.0, 15.0]),
        "threshold": np.array([8.0, 27.0]),
    }
    regret = {name: np.full(2, 7.0) for name in net}
    ours = standing("floor", "base", regret, net)
    assert ours.is_floor
    assert ours.winner == "threshold"
    assert ours.by_net() == ["oracle", "threshold", "keep-team", "dr-ucb"]
    assert ours.against_keeping.mean == 5.0
    assert ours.dr_ucb_harms
    score = ours.entries["threshold"].to_json()
    assert score["net"]["mean"] == 17.5
    assert score["captured"]["mean"] == pytest.approx((17.5 - 15.0) / (40.0 - 15.0))
    assert score["worse_than_keep_team"] == 0.5
    board = Leaderboard(2, 1, "as-written", (ours, standing("paper", "base", regret)))
    assert board.floors == (ours,)
    assert board.by_captured() == ["oracle", "threshold", "keep-team", "dr-ucb"]
    assert board.captured("dr-ucb") == pytest.approx(-0.2)
    nothing = standing("floor", "base", regret, {name: np.zeros(2) for name in net})
    assert nothing.entries["oracle"].to_json()["captured"] is None
    assert Leaderboard(2, 1, "as-written", (nothing,)).captured("oracle") is None


def test_the_command_shows_floors_beside_stationary_families(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "cache_folder", lambda part, what: tmp_path)
    out, families = tmp_path / "board.csv", ["floor", "crowd", "floor-cold-start"]
    chosen = [word for name in families for word in ("--family", name)]
    arguments = ["leaderboard", *chosen, "--policy", "threshold", "--runs", "3", "--out", str(out)]
    document = json.loads(RUNNER.invoke(app, [*arguments, "--json"]).stdout)
    settings = {(entry["family"], entry["setting"]): entry["policies"] for entry in document["settings"]}
    assert [family for family, _ in settings] == ["floor", *["crowd"] * 4, "floor-cold-start"]
    assert set(settings["crowd", "rte, days of ten"]["threshold"]) == {
        *("regret", "relative", "over_min_of_dr_ucb_and_keep_team"),
    }
    result = simulate(FAMILIES["floor"].problem(), ["threshold"], 3, 1)
    played = json.loads(json.dumps(result.to_json()))["policies"]["threshold"]
    scores = settings["floor", "base"]
    for key in ("net", "captured", "worse_than_keep_team"):
        assert scores["threshold"][key] == played[key]["230"]
    assert scores["keep-team"]["captured"] == {"mean": 0.0, "stderr": 0.0}
    assert scores["oracle"]["captured"] == {"mean": 1.0, "stderr": 0.0}
    rows = {(row["family"], row["policy"]): row for row in csv.DictReader(io.StringIO(out.read_text()))}
    assert float(rows["floor", "threshold"]["captured"]) == scores["threshold"]["captured"]["mean"]
    assert float(rows["floor", "threshold"]["worse_than_keep_team"]) == scores["threshold"]["worse_than_keep_team"]
    assert rows["crowd", "threshold"]["captured"] == ""
    text = RUNNER.invoke(app, arguments).stdout
    assert f"{scores['threshold']['net']['mean']:,.1f} ± {scores['threshold']['net']['stderr']:,.1f}" in text
    assert "mean captured" in text
    assert "rte, single answers" in text


def test_policies_of_one_s_own_join_by_label() -> None:
    board = leaderboard(
        {"patient": make_policy("threshold:least_tenure=30"), "same": KeepTeam()}, ["bernoulli"], runs=3
    )
    base = board.standings[0]
    assert list(base.entries) == ["patient", "same", "dr-ucb", "keep-team", "oracle"]
    assert base.entries["same"].regret == base.entries["keep-team"].regret
    assert [name for name in base.entries if board.is_oracle(name)] == ["oracle"]
    apart = simulate(FAMILIES["bernoulli"].problem(), {"patient": make_policy("threshold:least_tenure=30")}, runs=3)
    assert base.entries["patient"].regret == apart.regret("patient")


def test_a_label_of_the_leaderboard_s_own_is_refused() -> None:
    assert list(chosen_policies(["oracle", "threshold"])) == ["oracle", "threshold", "dr-ucb", "keep-team"]
    with pytest.raises(InvalidInput, match="give your policy another"):
        chosen_policies({"oracle": KeepTeam()})
