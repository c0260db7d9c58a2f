"""The scale of changing floors: `net`, `captured`, and what fees and refills do to them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.engine.interpreted import play
from crewlearn.engine.local import simulate
from crewlearn.engine.results import Share, SimulationResult
from crewlearn.engine.world import World
from crewlearn.policies.baselines import KeepTeam, Oracle
from crewlearn.policies.brakes import Braked
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Start
from crewlearn.problem.people import Presence
from crewlearn.problem.toml import problem_to_toml
from support.floors import ALONE, QUIET, TOGETHER

RUNS = 300


@pytest.fixture(scope="module")
def everybody() -> SimulationResult:
    return simulate(TOGETHER, list(REGISTRY), RUNS, seed=2, at=[30, 60])


def test_keep_team_captures_nothing_and_the_oracle_everything(everybody: SimulationResult) -> None:
    for at in (30, 60):
        assert everybody.captured("keep-team", at) == Share(0.0, 0.0)
        assert everybody.captured("oracle", at) == Share(1.0, 0.0)


def test_the_ends_of_the_scale_are_played_unlisted(everybody: SimulationResult) -> None:
    alone = simulate(TOGETHER, ["dr-ucb"], RUNS, seed=2, at=[30, 60])
    assert list(alone.policies) == ["dr-ucb"]
    assert alone.captured("dr-ucb", 60) == everybody.captured("dr-ucb", 60)
    assert alone.worse_than_keep_team("dr-ucb", 60) == everybody.worse_than_keep_team("dr-ucb", 60)
    with pytest.raises(InvalidInput, match="policy = 'keep-team'"):
        alone.net("keep-team", 60)


def test_captured_is_a_ratio_of_means_with_its_error(everybody: SimulationResult) -> None:
    """The standard error agrees with the bootstrap's, whose own error is 1/sqrt(2 x 400) = 3.5 %."""
    keep, oracle, ours = (everybody.policies[name].net[:, 1] for name in ("keep-team", "oracle", "a-omm"))
    captured = everybody.captured("a-omm", 60)
    assert captured is not None
    assert captured.mean == pytest.approx((ours.mean() - keep.mean()) / (oracle.mean() - keep.mean()))
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(400):
        chosen = rng.integers(RUNS, size=RUNS)
        top, bottom = (values[chosen].mean() - keep[chosen].mean() for values in (ours, oracle))
        ratios.append(top / bottom)
    assert captured.stderr == pytest.approx(float(np.std(ratios)), rel=0.25)
    worse = everybody.worse_than_keep_team("a-omm", 60)
    assert worse == sum(mine < kept for mine, kept in zip(ours, keep, strict=True)) / RUNS


def test_no_policy_beats_the_oracle(everybody: SimulationResult) -> None:
    """Mean net within 2 standard errors of the difference, which one policy in 44 would exceed if it were equal."""
    best = everybody.policies["oracle"].net[:, 1]
    for name, result in everybody.policies.items():
        difference = result.net[:, 1] - best
        assert difference.mean() <= 2.0 * difference.std() / (RUNS - 1) ** 0.5, name


def test_the_whole_path_has_the_scale(tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    path.write_text(problem_to_toml(TOGETHER))
    arguments = ["simulate", "--problem", str(path), "--runs", "20", "--at", "40,60", "--json"]
    named = [word for name in ("oracle", "epsilon-greedy", "keep-team") for word in ("--policy", name)]
    outcome = CliRunner().invoke(app, [*arguments, *named])
    assert outcome.exit_code == 0
    policies = json.loads(outcome.stdout)["policies"]
    for at in ("40", "60"):
        assert policies["keep-team"]["captured"][at] == {"mean": 0.0, "stderr": 0.0}
        assert policies["oracle"]["captured"][at] == {"mean": 1.0, "stderr": 0.0}
        assert policies["keep-team"]["worse_than_keep_team"][at] == 0.0
        gain = policies["oracle"]["net"][at]["mean"] - policies["keep-team"]["net"][at]["mean"]
        share = (policies["epsilon-greedy"]["net"][at]["mean"] - policies["keep-team"]["net"][at]["mean"]) / gain
        assert policies["epsilon-greedy"]["captured"][at]["mean"] == pytest.approx(share)


def test_quiet_worlds_report_what_they_did() -> None:
    result = simulate(QUIET, ["keep-team"], 3)
    assert result.ends == {}
    assert result.captured("keep-team", 60) is None
    assert set(result.to_json()["policies"]["keep-team"]) == {
        "parameters",
        "regret",
        "normalized_loss",
        "replacements",
        "completed",
        "microseconds_per_run",
    }
    both = simulate(QUIET, ["keep-team", "oracle"], 3)
    assert both.captured("oracle", 60) == Share(1.0, 0.0)


def test_captured_is_nothing_where_the_oracle_gains_nothing() -> None:
    dear = replace(QUIET, cost=1e6, start=Start((0, 1, 2, 3), warmup=10))
    result = simulate(dear, ["dr-ucb"], 4)
    assert result.captured("dr-ucb", 60) is None
    assert result.to_json()["policies"]["dr-ucb"]["captured"] == {"60": None}


def test_brakes_under_the_name_of_an_end_do_not_move_the_scale() -> None:
    plain = simulate(TOGETHER, ["oracle", "a-omm"], RUNS)
    braked = simulate(TOGETHER, [Braked(Oracle(), 0, 0), make_policy("a-omm")], RUNS)
    assert braked.captured("a-omm", 60) == plain.captured("a-omm", 60)
    held = braked.captured("oracle", 60)
    assert held is not None
    assert held.mean < 1.0


def test_the_warm_up_does_not_count() -> None:
    result = simulate(TOGETHER, ["a-omm"], 5).policies["a-omm"]
    for curve in (result.regret_curve, result.loss_curve):
        assert not curve.mean[:20].any()
        assert curve.mean[20] != 0.0
    for at in (1, 20):
        with pytest.raises(InvalidInput, match=f"at = {at}: lies in the warm-up; choose periods from 21 to 60"):
            simulate(TOGETHER, ["a-omm"], 5, at=[at, 60])
    simulate(TOGETHER, ["a-omm"], 1, at=[21])
    with pytest.raises(InvalidInput, match="at = 61: lies beyond the horizon; choose periods from 21 to 60"):
        simulate(TOGETHER, ["a-omm"], 1, at=[61])


@pytest.mark.parametrize("fee_due", ["initiation", "completion"])
def test_fees_of_declined_offers_follow_fee_due(fee_due: str) -> None:
    problem = replace(QUIET, fee_due=fee_due, **ALONE["declines"])
    declined = 0
    for run in range(4):
        for step in play(World(problem, 1, run), make_policy("epsilon-greedy")):
            paid = step.requested if fee_due == "initiation" else step.completed
            assert step.fees == pytest.approx(0.4 * len(paid))
            declined += len(step.declined)
    assert declined > 10


def test_keep_team_pays_for_refills_and_leaves_empty_stations_empty() -> None:
    problem = replace(QUIET, start=Start((0, -1, 2, 3)), presence=Presence(quits=0.05, declines=0.3))
    refills = quits = declined = 0
    for run in range(10):
        steps = list(play(World(problem, 1, run), KeepTeam()))
        pending = 0
        for step in steps:
            quits += len(step.quit)
            refills += len(step.requested)
            declined += len(step.declined)
            assert all(out == -1 for out, _ in step.requested)
            assert step.fees == pytest.approx(0.4 * len(step.requested))
            pending += len(step.requested) - len(step.completed) - len(step.declined)
            assert step.stations.count(-1) >= 1 + pending
            assert not step.failed
    assert quits > 50
    assert declined > 10
    assert refills <= quits + declined


def test_without_quits_keep_team_asks_for_nobody() -> None:
    problem = replace(QUIET, start=Start((0, -1, 2, -1), warmup=5), presence=Presence(absence=0.3, declines=0.5))
    for step in play(World(problem, 1, 0), KeepTeam()):
        assert step.requested == ()
        assert step.stations == (0, -1, 2, -1)


def test_the_same_people_are_absent_and_quit_whoever_decides() -> None:
    """Chance is a function of period and worker, whatever the policy did before."""
    paths = [list(play(World(TOGETHER, 3, 0), make_policy(name))) for name in ("keep-team", "epsilon-greedy", "a-omm")]
    common = 0
    for steps in zip(*paths, strict=True):
        for first in steps:
            for second in steps:
                both = set(first.stations) & set(second.stations) - {-1}
                assert both & set(first.absent) == both & set(second.absent)
                assert all(first.output[worker] == second.output[worker] for worker in both - set(first.absent)) or (
                    first.period > 20  # with other days worked behind them
                )
                common += len(both & set(first.absent))
    assert common > 0
