"""Sweeps: the cells of a grid, the results on disk, and what a rerun repeats."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import crewlearn
from crewlearn.cli.main import app
from crewlearn.cli.research.sweep import parse_grid
from crewlearn.engine.blocks import Block, blocks_of
from crewlearn.engine.caching.identity import digest_of
from crewlearn.engine.local import simulate
from crewlearn.engine.scale_out.player import Player
from crewlearn.engine.sweep import Cell, Grid, plan_cells, problem_fields, run_sweep
from crewlearn.policies.contract import Policy
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import NoDelay
from crewlearn.problem.model import Problem
from crewlearn.problem.people import Drift, Presence, Ramp
from crewlearn.problem.toml import problem_to_table, problem_to_toml
from support.floors import NEUTRAL, QUIET, TEAM, TOGETHER

RUNNER = CliRunner()
PROBLEM = replace(benchmark(team=3, horizon=30, conventions="as-released"), conventions="as-written")
"""The problem of the tables, with policies as the text defines them."""
GRID: Grid = {"cost": [3, 7], "delay.mean": [0.5, 2.0], "dr-ucb:gamma": [5, 10]}


def small_cells(seed: int = 2) -> list[Cell]:
    return plan_cells(PROBLEM, ["dr-ucb", "keep-team"], GRID, runs=5, seed=seed)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_policy_s_parameter_makes_no_cells_of_other_policies() -> None:
    cells = small_cells()
    assert len(cells) == 4 * (2 + 1)
    assert len({cell.key for cell in cells}) == len(cells)
    assert [cell.policy_name for cell in cells[:3]] == ["dr-ucb:gamma=5", "dr-ucb:gamma=10", "keep-team"]
    assert cells[0].policy == DRUCB(gamma=5.0)
    assert cells[0].varied == (("cost", 3), ("delay.mean", 0.5), ("dr-ucb:gamma", 5))
    assert cells[2].varied == (("cost", 3), ("delay.mean", 0.5))
    assert problem_to_table(cells[-1].problem) == {
        **problem_to_table(PROBLEM),
        "cost": 7,
        "delay": {"law": "geometric", "mean": 2.0, "first": 0},
    }


def test_a_varied_parameter_takes_the_place_of_a_given_one() -> None:
    given: list[str | Policy[Any]] = [
        "dr-ucb:gamma=20,radius=log-t",
        "dr-ucb:pairing=random",
        DRUCB(timing="fixed-calendar"),
    ]
    grid: Grid = {"dr-ucb:gamma": [5, None], "dr-ucb+fixed-calendar:radius": ["log-t"]}
    cells = plan_cells(PROBLEM, given, grid)
    assert [cell.policy_name for cell in cells] == [
        "dr-ucb:radius=log-t,gamma=5",
        "dr-ucb:radius=log-t,gamma=none",
        "dr-ucb:pairing=random,gamma=5",
        "dr-ucb:pairing=random,gamma=none",
        "dr-ucb+fixed-calendar:radius=log-t",
    ]
    assert cells[1].policy == DRUCB(radius="log-t")
    assert cells[4].policy == DRUCB(timing="fixed-calendar", radius="log-t")


def test_a_changed_law_keeps_only_the_numbers_it_has() -> None:
    none, geometric = plan_cells(PROBLEM, ["keep-team"], {"delay.law": ["none", "geometric"]})
    assert none.problem.delay == NoDelay()
    assert geometric.problem == PROBLEM
    (fixed,) = plan_cells(PROBLEM, ["keep-team"], {"delay.law": ["fixed"], "delay.periods": [4]})
    assert fixed.problem.delay.mean_delay == 4.0


def test_every_field_of_a_problem_has_a_name() -> None:
    fields = set(problem_fields())
    for name, value in problem_to_table(PROBLEM).items():
        assert {f"{name}.{key}" for key in value} <= fields if isinstance(value, dict) else name in fields
    assert {"fee_due", "assumed_mean_delay", "workers.means", "workers.count", "output.sd", "delay.p"} <= fields
    for name, value in problem_to_table(TOGETHER).items():
        assert {f"{name}.{key}" for key in value} <= fields if isinstance(value, dict) else name in fields


FLOOR_GRID: Grid = {
    "ramp.depth": [0.1, {"mean": 0.3, "sd": 0.1}],
    "ramp.days": [2.0],
    "drift.sd": [0.02],
    "presence.absence": [0.1],
    "presence.quits": [0.05],
    "presence.declines": [0.3],
    "start.warmup": [10],
}


@pytest.mark.parametrize("base", [QUIET, NEUTRAL], ids=["left out", "neutral"])
def test_tables_of_people_who_change_can_be_varied(base: Problem) -> None:
    first, second = (cell.problem for cell in plan_cells(base, ["keep-team"], FLOOR_GRID))
    assert first.ramp == Ramp(0.1, 2.0, "team" if base.ramp is None else base.ramp.veterans)
    assert second.ramp is not None
    assert second.ramp.range == (0.3, 0.1)
    assert isinstance(first.drift, Drift)
    assert first.drift.sd == 0.02
    assert first.presence == Presence(absence=0.1, quits=0.05, declines=0.3)
    assert first.start is not None
    assert (first.start.stations, first.start.warmup) == (TEAM, 10)


def test_fields_not_varied_keep_their_values() -> None:
    (cell,) = plan_cells(TOGETHER, ["keep-team"], {"presence.absence": [0.3], "drift.sd": [0.0]})
    assert cell.problem == replace(
        TOGETHER,
        presence=Presence(absence=0.3, quits=0.01, quit_at=(8, 25, 40), declines=0.2),
        drift=Drift(0.0, ((0, 10, -0.01, 0.6), (5, 40, -0.02, 0.0))),
    )
    (ramped,) = plan_cells(NEUTRAL, ["keep-team"], {"ramp.depth": [0.2]})
    assert ramped.problem.ramp == Ramp(0.2, 4.0, "none"), "a neutral table has other fields, too"


def test_a_table_can_be_varied_as_a_whole_and_in_a_field() -> None:
    ramp = {"depth": 0.3, "days": 4.0}
    grid: Grid = {"ramp.days": [7.0], "ramp": [ramp]}
    assert [cell.problem.ramp for cell in plan_cells(TOGETHER, ["keep-team"], grid)] == [Ramp(0.3, 7.0)]
    assert ramp == {"depth": 0.3, "days": 4.0}
    without = plan_cells(TOGETHER, ["keep-team"], {"ramp": [None]})
    assert [cell.problem.ramp for cell in without] == [None]


def test_captured_is_that_of_a_simulation_and_only_where_the_world_changes(tmp_path: Path) -> None:
    grid: Grid = {"presence.absence": [0.0, 0.1], "dr-ucb:gamma": [1.0, 5.0]}
    cells = plan_cells(QUIET, ["oracle", "dr-ucb", "keep-team"], grid, runs=6, seed=5, at=[30, 60])
    told: list[int] = []
    swept = run_sweep(cells, tmp_path / "results.jsonl", progress=told.append)
    assert sum(told) == 6 * len(cells), "runs of the ends of the scale count where they are cells"
    assert [json.loads(line)["key"] for line in lines(tmp_path / "results.jsonl")] == [cell.key for cell in cells]
    for cell, record in zip(cells, swept.records, strict=True):
        alone = simulate(cell.problem, [cell.policy_name], runs=6, seed=5, at=[30, 60]).to_json()
        ours = alone["policies"][cell.policy_name]
        assert cell.problem.changes == ("captured" in record)
        for name in set(ours) - {"microseconds_per_run"}:
            assert record[name] == ours[name], name
    assert swept.records[-1]["captured"] == {"30": {"mean": 0.0, "stderr": 0.0}, "60": {"mean": 0.0, "stderr": 0.0}}


def test_the_ends_of_the_scale_are_played_once_for_the_cells_of_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[float, str]] = []

    def noted(cell: Cell, player: Player) -> list[Block]:
        played.append((cell.problem.cost, cell.policy_name))
        return blocks_of(cell.problem, cell.policy, cell.runs, cell.seed, cell.at)

    monkeypatch.setattr(Cell, "blocks", noted)
    absent = replace(QUIET, presence=Presence(absence=0.1))
    cells = plan_cells(absent, ["threshold", "keep-team"], {"cost": [0.2, 0.4]}, runs=3)
    run_sweep(cells[:2], tmp_path / "results.jsonl")
    names = ["keep-team", "oracle", "threshold"]
    assert played == [(0.2, name) for name in names]
    run_sweep(cells, tmp_path / "results.jsonl")
    assert played == [(cost, name) for cost in (0.2, 0.4) for name in names], "none for cells that were skipped"


def test_a_key_tells_all_that_made_a_cell_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(problem: Problem = PROBLEM, policy: str = "dr-ucb", **more: Any) -> str:
        return plan_cells(problem, [policy], {}, **more)[0].key

    ours = key()
    others = {
        key(runs=99),
        key(seed=2),
        key(at=[10]),
        key(policy="dr-ucb:gamma=5"),
        key(policy="keep-team"),
        key(conventions="as-released"),
        key(problem=benchmark(team=4, horizon=30, conventions="as-released")),
    }
    assert len({ours, *others}) == 8
    (written_otherwise,) = plan_cells(PROBLEM, ["dr-ucb:radius=log-T"], {"cost": [5]})
    assert written_otherwise.key == ours  # 5 is 5.0, and log-T the default
    monkeypatch.setattr("crewlearn.__version__", "9.9")
    assert key() != ours


def test_a_key_tells_every_edit_of_the_code_behind_the_numbers(tmp_path: Path) -> None:
    """In a copy of the package: edits of rules, classes, presets and recipes count, edits of commands do not."""
    source = Path(crewlearn.__file__).parent
    shutil.copytree(source, tmp_path / "crewlearn", ignore=shutil.ignore_patterns("__pycache__"))
    program = "from crewlearn import benchmark; from crewlearn.engine.sweep import plan_cells\n"
    program += "print(plan_cells(benchmark(), ['dr-ucb'], {})[0].key)"

    def key() -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    keys = [key()]
    for name in (
        "policies/dr_ucb/policy",
        "policies/teams/policy",
        "problem/recipes",
        "theory/gamma",
        "engine/event_log",
    ):
        path = tmp_path / "crewlearn" / f"{name}.py"
        path.write_text(path.read_text() + "\n# edited\n")
        keys.append(key())
    assert len(set(keys)) == len(keys)
    path = tmp_path / "crewlearn" / "cli" / "main.py"
    path.write_text(path.read_text() + "\n# edited\n")
    assert key() == keys[-1]


def test_long_arrays_are_told_apart() -> None:
    zeros = np.zeros(5000)
    other = zeros.copy()
    other[2500] = 1.0
    assert digest_of({"a": zeros}) != digest_of({"a": other})
    assert digest_of({"a": zeros}) == digest_of({"a": zeros.copy()})


def without_digest(line: str | bytes) -> dict[str, Any]:
    """Return the record on a line of a result file, without the digest that only the file has."""
    record: dict[str, Any] = json.loads(line)
    assert len(record.pop("digest")) == 16
    return record


def test_cells_hold_what_a_simulation_of_each_gives(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    swept = run_sweep(small_cells(), path)
    assert [without_digest(line) for line in lines(path)] == list(swept.records)
    for cell, record in zip(small_cells(), swept.records, strict=True):
        alone = simulate(cell.problem, [cell.policy_name], runs=5, seed=2).to_json()
        ours = alone["policies"][cell.policy_name]
        assert record["key"] == cell.key
        assert record["problem"] == alone["problem"]
        assert record["regret"] == ours["regret"]
        assert record["replacements"] == ours["replacements"]


def test_a_rerun_does_only_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    cells = small_cells()
    run_sweep(cells[:5], path)
    before = path.read_bytes()
    told: list[int] = []
    swept = run_sweep(cells, path, progress=told.append)
    assert swept.skipped == 5
    assert told == [25, *[5] * 7]
    assert path.read_bytes().startswith(before)
    assert len(lines(path)) == len(cells)
    complete = path.read_bytes()
    again = run_sweep(cells, path)
    assert (again.skipped, again.records) == (len(cells), swept.records)
    assert path.read_bytes() == complete
    assert run_sweep(small_cells(seed=3), path).skipped == 0


def test_cells_that_are_the_same_are_played_once(tmp_path: Path) -> None:
    cells = plan_cells(PROBLEM, ["dr-ucb", "dr-ucb:radius=log-T"], {}, runs=3)
    swept = run_sweep(cells, tmp_path / "results.jsonl")
    assert swept.records[0] == swept.records[1]
    assert len(lines(tmp_path / "results.jsonl")) == 1


@pytest.mark.parametrize("kept", [1, 9, 40, -1])
def test_a_torn_last_line_is_mended(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "results.jsonl"
    cells = small_cells()[:3]
    run_sweep(cells, path)
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    path.write_bytes(whole[: len(whole) - len(last)] + last[:kept])
    swept = run_sweep(cells, path)
    assert swept.skipped == (3 if kept == -1 else 2)  # a line that lacks only its line break is complete
    assert [json.loads(line)["key"] for line in lines(path)] == [cell.key for cell in cells]


@pytest.mark.parametrize("content", ["my notes\n", "my notes", '{"key": "a"}\nnotes\n{"key": "b"}\n', '{"a": 1}'])
def test_another_file_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(InvalidInput, match="is not a sweep result; give another file"):
        run_sweep(small_cells(), path)
    assert path.read_text() == content


def test_a_second_sweep_into_a_file_is_refused(tmp_path: Path) -> None:
    path, refused = tmp_path / "results.jsonl", list[Any]()

    def second(runs: int) -> None:
        if not refused:
            with pytest.raises(InvalidInput, match="another sweep") as error:
                run_sweep(small_cells()[2:3], path)
            refused.append(error)

    run_sweep(small_cells()[2:3], path, progress=second)
    assert len(lines(path)) == len(refused) == 1
    assert run_sweep(small_cells()[2:3], path).skipped == 1


def test_a_changed_line_is_refused_and_one_of_an_earlier_version_read(tmp_path: Path) -> None:
    path, cells = tmp_path / "results.jsonl", small_cells()[2:3]
    swept = run_sweep(cells, path)
    written = path.read_text()
    assert without_digest(written) == swept.records[0]
    path.write_text(json.dumps(swept.records[0]) + "\n")
    assert run_sweep(cells, path).records == swept.records
    assert path.read_text() == json.dumps(swept.records[0]) + "\n"
    changed = written.replace('"runs": 5', '"runs": 6')
    assert changed != written
    path.write_text(changed)
    with pytest.raises(InvalidInput, match="line 1 was changed"):
        run_sweep(cells, path)
    assert path.read_text() == changed


def test_a_killed_sweep_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path, problem = tmp_path / "results.jsonl", tmp_path / "problem.toml"
    problem.write_text(problem_to_toml(PROBLEM))
    costs = list(range(1, 400))
    grid = f"cost={','.join(map(str, costs))}"
    arguments = ["sweep", "--problem", str(problem), "--policy", "keep-team", "--vary", grid, "--out", str(path)]
    program = [sys.executable, "-c", "from crewlearn.cli.main import main; main()", *arguments, "--runs", "640"]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < 20):
            time.sleep(0.002)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = path.read_bytes().count(b"\n")
    assert 20 <= kept < len(costs)
    cells = plan_cells(PROBLEM, ["keep-team"], {"cost": costs}, runs=640)
    swept = run_sweep(cells, path)
    assert kept <= swept.skipped <= kept + 1
    assert [json.loads(line)["varied"]["cost"] for line in lines(path)] == costs


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--vary", "csot=3"], "did you mean 'cost'"),
        (["--vary", "dealy.mean=3"], "did you mean 'delay.mean'"),
        (["--vary", "delay.maen=3"], "did you mean 'delay.mean'"),
        (["--vary", "delay.periods=3"], "[delay] key = 'periods': unknown"),
        (["--vary", "delay=3"], "vary = 'delay': unknown"),
        (["--vary", "presence.absense=0.1"], "did you mean 'presence.absence'"),
        (["--vary", "presence.absence=0.1,1.1"], "[presence] absence = 1.1"),
        (["--vary", "ramp.depth=0.3"], "[ramp] days = None: is missing"),
        (["--vary", "ramp=3"], "must be a table headed [ramp]"),
        (["--vary", "delay.law=geometrc"], "did you mean 'geometric'"),
        (["--vary", "cost=3,-1"], "cost = -1"),
        (["--vary", "team=2,25"], "must be below the number of workers, 25"),
        (["--vary", "horizon=5,30", "--at", "10"], "lies beyond the horizon; choose periods from 1 to 5"),
        (["--vary", "dr-ubc:gamma=3"], "did you mean 'dr-ucb'"),
        (["--vary", "a-aht:begin=clean"], "vary a-aht:begin: policy = 'a-aht': unknown"),
        (["--vary", "dr-ucb:gama=3"], "did you mean 'gamma'"),
        (["--vary", "dr-ucb:gamma=3,-1"], "gamma = -1"),
        (["--vary", "dr-ucb:gamma=three"], "must be a number"),
        (["--policy", "dr-ubc"], "did you mean 'dr-ucb'"),
        (["--vary", "cost"], "is written name=value,value"),
        (["--vary", "cost=3,,4"], "vary cost = ''"),
        (["--vary", "cost=3", "--vary", "cost=4"], "is given twice"),
        (["--runs", "0"], "runs = 0"),
        (["--at", "ten"], "at = 'ten'"),
        (["--engine", "dusk"], "did you mean 'dask'"),
        (["--out", "no-such-folder/results.jsonl"], "No such file or directory"),
    ],
)
def test_errors_come_before_anything_runs(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    problem, out = tmp_path / "problem.toml", tmp_path / "results.jsonl"
    problem.write_text(problem_to_toml(PROBLEM))
    outcome = RUNNER.invoke(
        app, ["sweep", "--problem", str(problem), "--policy", "dr-ucb", "--out", str(out), *arguments]
    )
    assert outcome.exit_code == 2
    assert complaint in outcome.stderr
    assert outcome.stdout == ""
    assert not out.exists()


def test_values_are_toml_with_or_without_quotes() -> None:
    texts = ["a=1, 2.5,1e3", "b=true,false", "c='x,y',z-1,\"w\"", "d=[0.1,0.2],[0.3, 0.4]", "e:f=none", "g={a=1,b=2},3"]
    assert parse_grid(texts) == {
        "a": [1, 2.5, 1000.0],
        "b": [True, False],
        "c": ["x,y", "z-1", "w"],
        "d": [[0.1, 0.2], [0.3, 0.4]],
        "e:f": ["none"],
        "g": [{"a": 1, "b": 2}, 3],
    }


def test_the_command_gives_json_and_says_what_it_skipped(tmp_path: Path) -> None:
    problem, out = tmp_path / "problem.toml", tmp_path / "results.jsonl"
    problem.write_text(problem_to_toml(PROBLEM))
    arguments = ["sweep", "--problem", str(problem), "--policy", "dr-ucb", "--policy", "keep-team", "--runs", "4"]
    grid = ["--vary", "fee_due=initiation,completion", "--vary", "dr-ucb:radius=log-t,log-T", "--at", "10,30"]
    outcome = RUNNER.invoke(app, [*arguments, *grid, "--out", str(out), "--json"])
    assert outcome.exit_code == 0, outcome.stderr
    document = json.loads(outcome.stdout)
    assert (document["out"], document["skipped"], len(document["cells"])) == (str(out), 0, 6)
    assert document["cells"] == [without_digest(line) for line in lines(out)]
    first = document["cells"][0]
    assert first["varied"] == {"fee_due": "initiation", "dr-ucb:radius": "log-t"}
    assert (first["policy"], first["parameters"]["radius"], first["at"]) == ("dr-ucb:radius=log-t", "log-t", [10, 30])
    assert set(first["regret"]["30"]) == {"mean", "std", "stderr", "p95"}
    again = RUNNER.invoke(app, [*arguments, *grid, "--out", str(out)])
    assert again.exit_code == 0
    assert "6 of 6 cells were in" in again.stderr
    assert "Regret after period 30" in again.stdout
    assert again.stdout.count("dr-ucb:radius=log-t") == 2
    assert again.stdout.count("completion") == 3


def test_the_command_shows_net_and_captured_where_the_world_changes(tmp_path: Path) -> None:
    problem, out = tmp_path / "problem.toml", tmp_path / "results.jsonl"
    problem.write_text(problem_to_toml(QUIET))
    arguments = ["sweep", "--problem", str(problem), "--policy", "oracle", "--runs", "4", "--out", str(out)]
    outcome = RUNNER.invoke(app, [*arguments, "--vary", "ramp.depth=0,{mean=0.3,sd=0.1}", "--vary", "ramp.days=4"])
    assert outcome.exit_code == 0, outcome.stderr
    quiet, ramped = (line for line in outcome.stdout.splitlines() if line.strip().startswith("oracle"))
    assert quiet.split()[-2:] == ["–", "–"]
    assert ramped.split()[-3:] == ["1.00", "±", "0.00"]
