"""A problem remembers its conventions, and policies given by name follow them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.engine.local import simulate
from crewlearn.engine.results import same_numbers
from crewlearn.engine.sweep import plan_cells
from crewlearn.engine.trace import trace
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark, design_choices, gamma_curve
from crewlearn.problem.toml import problem_from_toml, problem_to_table, problem_to_toml

RUNNER = CliRunner()
WRITTEN, RELEASED = benchmark(5, horizon=120), benchmark(5, "as-released", horizon=120)
AS_RELEASED = DRUCB(radius="log-t", pairing="rank-ucb")


def test_names_follow_the_problem_s_conventions() -> None:
    result = simulate(RELEASED, ["dr-ucb"], runs=5)
    assert result.policies["dr-ucb"].policy == AS_RELEASED
    assert result.conventions == result.to_json()["conventions"] == "as-released"
    assert same_numbers(result, simulate(RELEASED, ["dr-ucb"], runs=5, conventions="as-released"))
    assert simulate(WRITTEN, ["dr-ucb"], runs=5).policies["dr-ucb"].policy == DRUCB()


def test_a_mix_is_possible_when_it_is_explicit() -> None:
    mixed = simulate(RELEASED, ["dr-ucb"], runs=5, conventions="as-written")
    assert (mixed.policies["dr-ucb"].policy, mixed.conventions) == (DRUCB(), "as-written")
    said_otherwise = simulate(replace(RELEASED, conventions="as-written"), ["dr-ucb"], runs=5)
    assert same_numbers(mixed, said_otherwise)
    assert simulate(RELEASED, ["dr-ucb:radius=log-T"], runs=5).policies["dr-ucb:radius=log-T"].policy == DRUCB(
        radius="log-T", pairing="rank-ucb"
    )


def test_traces_and_sweeps_follow_too() -> None:
    rows = list(trace(RELEASED, "dr-ucb", seed=1))
    assert rows == list(trace(RELEASED, AS_RELEASED, seed=1))
    assert rows != list(trace(RELEASED, "dr-ucb", seed=1, conventions="as-written"))
    cells = plan_cells(RELEASED, ["dr-ucb"], {"conventions": ["as-written", "as-released"]})
    assert [(cell.conventions, cell.policy) for cell in cells] == [
        ("as-written", DRUCB()),
        ("as-released", AS_RELEASED),
    ]
    (explicit,) = plan_cells(RELEASED, ["dr-ucb"], {}, conventions="as-written")
    assert (explicit.conventions, explicit.policy) == ("as-written", DRUCB())


def test_the_problem_file_says_so_only_where_it_differs_from_the_text() -> None:
    assert "conventions" not in problem_to_table(WRITTEN)
    assert problem_to_table(RELEASED)["conventions"] == "as-released"
    for problem in (WRITTEN, RELEASED, design_choices(90, "as-released"), gamma_curve("as-released")):
        assert problem_from_toml(problem_to_toml(problem)) == problem
    assert design_choices(90, "as-released").conventions == gamma_curve("as-released").conventions == "as-released"
    with pytest.raises(InvalidInput, match="did you mean 'as-released'"):
        problem_from_toml('conventions = "as-relaesed"\n' + problem_to_toml(WRITTEN))


@pytest.mark.parametrize(("arguments", "radius"), [([], "log-t"), (["--conventions", "as-written"], "log-T")])
def test_commands_take_the_file_s_conventions_unless_told(tmp_path: Path, arguments: list[str], radius: str) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(problem_to_toml(RELEASED))
    common = ["--problem", str(path), "--policy", "dr-ucb", "--runs", "2", "--json", *arguments]
    simulated = json.loads(RUNNER.invoke(app, ["simulate", *common]).stdout)
    swept = json.loads(RUNNER.invoke(app, ["sweep", "--out", str(tmp_path / "cells.jsonl"), *common]).stdout)
    followed = arguments[-1] if arguments else "as-released"
    assert (simulated["conventions"], swept["cells"][0]["conventions"]) == (followed, followed)
    assert simulated["policies"]["dr-ucb"]["parameters"]["radius"] == radius
    assert swept["cells"][0]["parameters"]["radius"] == radius
