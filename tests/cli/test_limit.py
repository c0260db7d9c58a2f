"""`crewlearn limit`: bound and policies, and what it does not cover."""

import json
from dataclasses import replace
from pathlib import Path

from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.problem.instances import benchmark
from crewlearn.problem.toml import problem_to_toml

RUNNER = CliRunner()


def test_limit_gives_the_bound_the_policies_and_their_gap(tmp_path: Path) -> None:
    problem = tmp_path / "problem.toml"
    problem.write_text(problem_to_toml(replace(benchmark(team=3, horizon=40), cost=0.5)))
    arguments = ["limit", "--problem", str(problem), "--policy", "dr-ucb", "--pools", "8", "--runs", "40", "--json"]
    document = json.loads(RUNNER.invoke(app, arguments).stdout)
    bound = document["regret_at_least"]["mean"]
    assert 0.0 < bound < document["policies"]["dr-ucb"]["regret"]["mean"]
    assert document["policies"]["keep-team"]["gap_left"] == 1.0
    assert document["policies"]["dr-ucb"]["above_limit"] > 0.0


def test_limit_names_the_table_that_it_does_not_cover(tmp_path: Path) -> None:
    problem = tmp_path / "floor.toml"
    problem.write_text(problem_to_toml(benchmark()) + "\n[ramp]\ndepth = 0.3\ndays = 4.0\n")
    refused = RUNNER.invoke(app, ["limit", "--problem", str(problem)])
    assert refused.exit_code != 0
    assert "[ramp]" in refused.output
    assert "leave the table out" in refused.output
