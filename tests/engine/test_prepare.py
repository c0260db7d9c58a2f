"""A simulation's arguments are checked once, and its loops are loaded once in a process."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.engine import local
from crewlearn.engine.compiled import loops
from crewlearn.engine.compiled.forms import policy_form
from crewlearn.engine.local import prepare, simulate
from crewlearn.engine.results import same_numbers
from crewlearn.engine.sweep import plan_cells, run_sweep
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.rule import NoParameters
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.toml import problem_to_toml

PROBLEM = benchmark(3, horizon=20)
CHECKS = ("checked_periods", "checked_policies", "make_policy", "choose_player")
RUNNER = CliRunner()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the checks of arguments and the first calls of loops, in a process that has loaded none."""
    counts: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        return call

    for name in CHECKS:
        monkeypatch.setattr(local, name, counted(name, getattr(local, name)))
    monkeypatch.setattr(loops, "first_call", counted("first_call", loops.first_call))
    monkeypatch.setattr(loops, "_shipped", {})
    return counts


def test_a_loop_is_loaded_once_in_a_process(calls: Counter[str]) -> None:
    first, second = (simulate(PROBLEM, ["keep-team"], 2) for _ in range(2))
    assert same_numbers(first, second)
    assert calls["first_call"] == 1
    simulate(benchmark(2, horizon=10), [KeepTeam()], 2)
    assert calls["first_call"] == 1, "another problem is played by the same loop"


def test_a_loop_is_loaded_for_the_types_of_the_parameters() -> None:
    simulate(PROBLEM, ["keep-team"], 1)
    form = policy_form(KeepTeam(), PROBLEM)
    assert loops.is_loaded(KeepTeam.rule, form)
    assert isinstance(form.parameters, NoParameters)
    assert not loops.is_loaded(KeepTeam.rule, form._replace(parameters=(1.0,)))


def test_the_command_checks_its_arguments_once(calls: Counter[str], tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(problem_to_toml(PROBLEM))
    arguments = ["--policy", "keep-team", "--policy", "threshold", "--runs", "2", "--trace", str(tmp_path / "traces")]
    outcome = RUNNER.invoke(app, ["simulate", "--problem", str(path), *arguments])
    assert outcome.exit_code == 0
    assert calls == {
        "checked_periods": 1,
        "checked_policies": 1,
        "make_policy": 2,
        "choose_player": 1,
        "first_call": 2,
    }


def test_the_leaderboard_checks_its_arguments_once_for_all_settings(
    calls: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crewlearn.study.result_cache.cache_folder", lambda part, what: tmp_path)
    arguments = ["leaderboard", "--family", "paper", "--policy", "threshold", "--runs", "2", "--json"]
    for _ in range(2):  # played, then read from the cache
        calls.clear()
        assert RUNNER.invoke(app, arguments).exit_code == 0
        assert (calls["checked_policies"], calls["make_policy"], calls["checked_periods"]) == (1, 4, 1)
    assert calls["first_call"] == 0


def test_a_sweep_loads_each_loop_once(calls: Counter[str], tmp_path: Path) -> None:
    cells = plan_cells(PROBLEM, ["keep-team"], {"cost": [3, 7]}, runs=2)
    run_sweep(cells, tmp_path / "cells.jsonl")
    run_sweep(cells, tmp_path / "again.jsonl")
    assert calls["first_call"] == 1


def test_nothing_is_compiled_before_all_is_checked(calls: Counter[str]) -> None:
    wrong: list[dict[str, Any]] = [{"runs": 0}, {"at": [21]}, {"policies": ["nobody"]}, {"threads": 0}]
    for changes in wrong:
        with pytest.raises(InvalidInput):
            prepare(PROBLEM, **{"policies": ["keep-team"], **changes})
    prepare(PROBLEM, ["keep-team"])
    assert calls["first_call"] == 0
