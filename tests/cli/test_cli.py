"""Research commands: their JSON, their tables and their errors."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import _import_from_current_folder, app
from crewlearn.policies.registry import REGISTRY
from crewlearn.problem.instances import benchmark
from crewlearn.problem.toml import problem_to_toml

RUNNER = CliRunner()


@pytest.fixture
def problem_file(tmp_path: Path) -> Path:
    path = tmp_path / "problem.toml"
    path.write_text(problem_to_toml(benchmark(team=3, horizon=40)))
    return path


def test_simulate_gives_the_documented_json(problem_file: Path) -> None:
    arguments = ["simulate", "--problem", str(problem_file), "--policy", "dr-ucb:gamma=4", "--policy", "keep-team"]
    outcome = RUNNER.invoke(app, [*arguments, "--runs", "4", "--seed", "7", "--at", "10,40", "--json"])
    assert outcome.exit_code == 0
    document = json.loads(outcome.stdout)
    assert (document["runs"], document["seed"], document["problem"]["team"]) == (4, 7, 3)
    ours = document["policies"]["dr-ucb:gamma=4"]
    assert {"regret", "normalized_loss", "replacements", "microseconds_per_run"} <= set(ours)
    assert set(ours["regret"]) == set(ours["normalized_loss"]) == {"10", "40"}
    assert set(ours["regret"]["10"]) == {"mean", "std", "stderr", "p95"}
    kept = document["policies"]["keep-team"]
    assert kept["replacements"] == {"mean": 0.0}
    assert kept["regret"]["40"]["mean"] == pytest.approx(4 * kept["regret"]["10"]["mean"])
    again = json.loads(RUNNER.invoke(app, [*arguments, "--runs", "4", "--seed", "7", "--at", "40", "--json"]).stdout)
    assert again["policies"]["dr-ucb:gamma=4"]["regret"]["40"] == ours["regret"]["40"]


def test_simulate_writes_runs_and_traces(problem_file: Path, tmp_path: Path) -> None:
    arguments = ["simulate", "--problem", str(problem_file), "--policy", "dr-ucb:gamma=4", "--policy", "keep-team"]
    arguments += ["--runs", "5", "--out", str(tmp_path / "runs.parquet"), "--trace", str(tmp_path / "traces")]
    outcome = RUNNER.invoke(app, [*arguments, "--trace-runs", "2", "--json"])
    assert outcome.exit_code == 0
    json.loads(outcome.stdout)
    assert pq.read_table(tmp_path / "runs.parquet").num_rows == 10
    files = {path.name for path in (tmp_path / "traces").iterdir()}
    assert files == {"dr-ucb-gamma-4.parquet", "keep-team.parquet"}
    rows = pq.read_table(tmp_path / "traces" / "keep-team.parquet").to_pylist()
    assert len(rows) == 2 * 40 * 3  # two runs, 40 periods, a team of three
    assert {row["event"] for row in rows} == {"output"}


def test_simulate_shows_people_a_table(problem_file: Path) -> None:
    outcome = RUNNER.invoke(app, ["simulate", "--problem", str(problem_file), "--runs", "2"])
    assert outcome.exit_code == 0
    assert "Team of 3 from 25 workers, 40 periods" in outcome.stdout
    for name in ("dr-ucb", "keep-team", "oracle"):
        assert name in outcome.stdout
    assert "…" not in outcome.stdout  # nothing is truncated


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--runs", "0"], "runs = 0: must be a whole number from 1"),
        (["--seed", "-1"], "seed = -1"),
        (["--at", "9999"], "lies beyond the horizon; choose periods from 1 to 730"),
        (["--at", "ten"], "at = 'ten': must be whole numbers"),
        (["--policy", "dr-ubc"], "did you mean 'dr-ucb'"),
        (["--policy", "dr-ucb", "--policy", "dr-ucb"], "is named twice"),
        (["--conventions", "as-writen"], "did you mean 'as-written'"),
        (["--problem", "nowhere.toml"], "nowhere.toml"),
        (["--out", "nowhere/at/all.parquet"], "a folder that exists"),
        (["--engine", "lokal"], "engine"),
    ],
)
def test_bad_calls_end_with_one_line_and_nothing_on_standard_output(arguments: list[str], complaint: str) -> None:
    outcome = RUNNER.invoke(app, ["simulate", *arguments])
    assert outcome.exit_code == 2
    assert complaint in outcome.stderr
    assert outcome.stdout == ""


def test_policies_are_listed_with_their_parameters() -> None:
    listed = json.loads(RUNNER.invoke(app, ["policies", "--json"]).stdout)
    assert set(listed) == set(REGISTRY)
    assert listed["dr-ucb"]["parameters"]["radius"] == "log-T"
    text = RUNNER.invoke(app, ["policies", "--conventions", "as-released"]).stdout
    assert all(name in text for name in REGISTRY)
    assert "radius=log-t" in text


def test_bounds_are_shown_with_their_terms() -> None:
    document = json.loads(RUNNER.invoke(app, ["bounds", "--json"]).stdout)
    assert document["gamma"] == pytest.approx(15.80, abs=0.005)
    terms = document["regret_bound"]
    assert terms.pop("total") == pytest.approx(sum(terms.values()))
    text = RUNNER.invoke(app, ["bounds", "--gamma", "20"]).stdout
    assert "gamma = 20.00" in text
    assert "unstated positive constant" in text


def test_importing_and_asking_for_help_loads_nothing_heavy() -> None:
    program = (
        "import sys, crewlearn, crewlearn.cli.main\n"
        "heavy = {'numba', 'matplotlib', 'jinja2', 'pandas', 'fastapi', 'numpy'} & set(sys.modules)\n"
        "print(sorted(heavy), crewlearn.simulate.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] simulate\n"


@pytest.fixture
def own_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    monkeypatch.setattr("crewlearn.study.result_cache.cache_folder", lambda part, what: folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_reproduce_without_a_name_runs_the_headline_and_says_how_to_go_on(own_results: Path, tmp_path: Path) -> None:
    outcome = RUNNER.invoke(app, ["reproduce", "--runs", "3"])
    assert outcome.exit_code == 0
    for words in ("402 ± 24", "649 ± 46", "difference", "95% interval", "--all", "--list", "reports/headline.html"):
        assert words in outcome.stdout
    assert (tmp_path / "reports" / "headline.html").exists()


def test_reproduce_gives_the_documented_json_and_nothing_else(own_results: Path, tmp_path: Path) -> None:
    outcome = RUNNER.invoke(app, ["reproduce", "headline", "--runs", "3", "--seed", "5", "--json"])
    document = json.loads(outcome.stdout)
    assert (document["study"], document["runs"], document["seed"]) == ("headline", 3, 5)
    assert len(document["rows"]) == 5
    assert not (tmp_path / "reports").exists()
    again = json.loads(RUNNER.invoke(app, ["reproduce", "--runs", "3", "--seed", "5", "--json"]).stdout)
    assert again["rows"] == document["rows"]
    fresh = json.loads(RUNNER.invoke(app, ["reproduce", "--runs", "3", "--seed", "5", "--fresh", "--json"]).stdout)
    assert fresh["rows"] == document["rows"]
    several = RUNNER.invoke(app, ["reproduce", "timeline", "high-cost", "--runs", "2", "--json", "--out", "here"])
    assert [study["study"] for study in json.loads(several.stdout)["studies"]] == ["timeline", "high-cost"]
    assert (tmp_path / "here" / "report.html").exists()


def test_reproduce_as_written_is_another_study(own_results: Path) -> None:
    arguments = ["reproduce", "high-cost", "--runs", "4", "--json"]
    released = json.loads(RUNNER.invoke(app, arguments).stdout)
    written = json.loads(RUNNER.invoke(app, [*arguments, "--conventions", "as-written"]).stdout)
    assert (released["conventions"], written["conventions"]) == ("as-released", "as-written")
    assert released["rows"][0]["paper_mean"] == written["rows"][0]["paper_mean"] == 4065
    assert released["rows"][0]["ours_mean"] != written["rows"][0]["ours_mean"]


def test_reproduce_names_its_studies() -> None:
    from crewlearn.study.studies import STUDIES

    text = RUNNER.invoke(app, ["reproduce", "--list"]).stdout
    assert all(f"{name} " in text for name in STUDIES)
    listed = json.loads(RUNNER.invoke(app, ["reproduce", "--list", "--json"]).stdout)
    assert [study["name"] for study in listed] == list(STUDIES)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["headlin"], "headline"),
        (["headline", "--all"], "--all"),
        (["--runs", "0"], "runs = 0"),
        (["--seed", "-1"], "seed"),
        (["--conventions", "as-told"], "as-released"),
        (["--out", "/dev/null/reports"], "out"),
    ],
)
def test_reproduce_refuses_wrong_input(arguments: list[str], complaint: str, tmp_path: Path, own_results: Path) -> None:
    outcome = RUNNER.invoke(app, ["reproduce", *arguments])
    assert outcome.exit_code == 2
    assert complaint in outcome.stderr
    assert "Traceback" not in outcome.stderr


OWN_POLICY = """
from dataclasses import dataclass
from crewlearn import KeepTeam
@dataclass(frozen=True)
class OwnPolicy(KeepTeam):
    name = "mine"
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "--runs", "1", "--json", "--policy", "own_rules:OwnPolicy"],
        ["sweep", "--runs", "1", "--json", "--policy", "own_rules:OwnPolicy", "--out", "cells.jsonl"],
        ["leaderboard", "--runs", "2", "--json", "--family", "paper", "--policy", "own_rules:OwnPolicy"],
        [
            *("site", "create", "depot", "--team", "2", "--cost", "5", "--horizon", "90", "--mean-delay", "2"),
            *("--output-range", "0:1", "--policy", "own_rules:OwnPolicy", "--db", "sqlite:///sites.db"),
        ],
    ],
)
def test_a_class_of_one_s_own_is_found_in_the_current_folder(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "own_rules.py").write_text(OWN_POLICY)
    (tmp_path / "numpy.py").write_text("raise RuntimeError('a file of the folder hid an installed module')")
    console_script = "import sys; sys.path.pop(0); from crewlearn.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", console_script, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_server_imports_nothing_from_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, added in ((["serve"], []), (["simulate"], [""]), (["site", "create", "serve"], [""])):
        monkeypatch.setattr(sys, "path", [])
        _import_from_current_folder(arguments)
        assert sys.path == added
