"""Processes compute the local numbers, are ended at once, and leave nobody behind."""

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from crewlearn.cli.main import app
from crewlearn.engine.blocks import Block, blocks_of
from crewlearn.engine.local import prepare, simulate
from crewlearn.engine.results import same_numbers
from crewlearn.engine.scale_out import processes
from crewlearn.engine.scale_out.processes import parts_of, play_on_processes
from crewlearn.engine.sweep import plan_cells, run_sweep
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.toml import problem_to_toml
from support.own_code import Failing, OwnError, Plain, Stuck

PROBLEM = benchmark(team=3, horizon=40)
TESTS = Path(__file__).parents[2]
AT_ONCE = 5.0
"""Seconds within which interrupted work must have ended, on a loaded machine; a decision under way takes an hour."""


def exists(pid: int) -> bool:
    """Return whether a process is there that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pids_in(folder: Path, count: int) -> list[int]:
    """Wait for so many processes to be at work, and return their numbers."""
    deadline = time.monotonic() + 30.0
    while len(pids := [int(path.name) for path in folder.iterdir()]) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return pids


def gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + AT_ONCE
    while any(map(exists, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_processes_play_the_local_numbers_interpreted_and_compiled() -> None:
    policies: list[Any] = [Plain(trial=3), "threshold:trial=3"]
    here = simulate(PROBLEM, policies, runs=70, seed=3, at=[10, 40])
    told: list[int] = []
    there = simulate(
        PROBLEM, policies, runs=70, seed=3, at=[10, 40], engine="processes", threads=2, progress=told.append
    )
    assert same_numbers(here, there)
    assert sum(told) == 2 * 70
    assert [there.policies[name].played for name in there.policies] == ["interpreted", "compiled"]
    assert here.policies["plain"].replacements.sum() > 0
    assert here.policies["plain"].regret.tolist() == here.policies["threshold:trial=3"].regret.tolist()


def test_a_sweep_on_processes_has_the_local_cells(tmp_path: Path) -> None:
    cells = plan_cells(PROBLEM, [Plain(trial=3)], {"cost": [3, 7]}, runs=5)
    here = run_sweep(cells, tmp_path / "here.jsonl")
    there = run_sweep(cells, tmp_path / "there.jsonl", engine="processes", threads=2)
    for mine, other in zip(here.records, there.records, strict=True):
        assert {**mine, "microseconds_per_run": 0} == {**other, "microseconds_per_run": 0}


def test_the_command_plays_on_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(problem_to_toml(PROBLEM))
    command = [
        "simulate",
        "--problem",
        str(path),
        "--policy",
        "support.own_code:Plain:trial=3",
        "--runs",
        "3",
        "--json",
    ]
    here = CliRunner().invoke(app, command)
    there = CliRunner().invoke(app, [*command, "--engine", "processes", "--threads", "2"])
    assert (here.exit_code, there.exit_code) == (0, 0)

    def numbers(text: str) -> list[str]:
        return [line for line in text.splitlines() if "microseconds" not in line]

    assert numbers(here.stdout) == numbers(there.stdout)


@pytest.mark.parametrize("count", [1, 7, 36, 64])
@pytest.mark.parametrize("workers", [1, 2, 5, 64])
def test_parts_are_all_runs_of_a_block_and_enough_for_all_processes(count: int, workers: int) -> None:
    parts = parts_of(0, Block(PROBLEM, Plain(), 1, 128, count, (40,)), workers)
    assert [run for part in parts for run in range(part.first, part.first + part.count)] == [*range(128, 128 + count)]
    assert min(count, workers) <= len(parts) <= processes.PARTS_AHEAD * workers


def test_an_exception_from_progress_ends_the_work_at_once(tmp_path: Path) -> None:
    started = [0.0]

    def interrupt(done: int) -> None:
        if len(list(tmp_path.iterdir())) == 2:
            started[0] = time.monotonic()
            raise InterruptedError

    simulation = prepare(PROBLEM, [Stuck(folder=str(tmp_path))], runs=4, engine="processes", threads=2)
    with pytest.raises(InterruptedError):
        simulation.run(interrupt)
    assert time.monotonic() - started[0] < AT_ONCE
    assert gone(pids_in(tmp_path, 2))


PROGRAM = """
import sys
from crewlearn import benchmark, simulate
from support.own_code import Stuck
if __name__ == "__main__":
    simulate(benchmark(team=3, horizon=40), [Stuck(folder=sys.argv[1])], runs=4, engine="processes", threads=2)
"""


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL])
def test_nobody_is_left_when_the_program_is_interrupted_or_killed(ended_by: int, tmp_path: Path) -> None:
    folder = tmp_path / "at_work"
    folder.mkdir()
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), str(folder)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, "PYTHONPATH": str(TESTS)}
    ) as program:
        pids = pids_in(folder, 2)
        if ended_by == signal.SIGINT:
            os.killpg(program.pid, ended_by)  # as a terminal does, to the program and all that it started
        else:
            program.kill()
        _, errors = program.communicate(timeout=30.0)
    assert gone(pids)
    assert errors.count("Traceback") == (1 if ended_by == signal.SIGINT else 0)
    assert program.returncode == -ended_by


def test_an_error_in_a_process_is_raised_here_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="OwnError: no idea in period 4") as raised:
        simulate(PROBLEM, [Failing()], runs=2, engine="processes", threads=1)
    assert "in decide" in raised.value.__notes__[0]
    with pytest.raises(OwnError):
        simulate(PROBLEM, [Failing()], runs=2)


def test_a_process_that_ends_by_itself_is_told() -> None:
    with pytest.raises(InvalidInput, match="a process ended with status 7; if memory ran out"):
        simulate(PROBLEM, [Failing(abruptly=True)], runs=2, engine="processes", threads=1)


def test_a_program_without_a_guard_is_told_of_it(tmp_path: Path) -> None:
    source = PROGRAM.replace('if __name__ == "__main__":', "if True:").replace("Stuck(folder=sys.argv[1])", "Plain()")
    (tmp_path / "program.py").write_text(source.replace("Stuck", "Plain"))
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60.0)
    assert "call this under if __name__ == '__main__':" in done.stderr.splitlines()[-1]


GUARDED = """
from dataclasses import dataclass
from crewlearn import benchmark, simulate
from support.own_code import Plain

@dataclass(frozen=True)
class Mine(Plain):
    def decide(self, state, situation):
        return super().decide(state, situation)

if __name__ == "__main__":
    print(simulate(benchmark(team=3, horizon=40), [Mine()], runs=4, engine=ENGINE, threads=2).regret("plain", 40).mean)
"""


def test_a_class_of_a_program_is_played_and_one_typed_in_is_refused_with_a_remedy(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    (tmp_path / "mine.py").write_text(GUARDED.replace("ENGINE", "'processes'"))
    played = subprocess.run(
        [sys.executable, str(tmp_path / "mine.py")], capture_output=True, text=True, check=True, env=environment
    )
    assert float(played.stdout) == simulate(PROBLEM, [Plain()], runs=4).regret("plain", 40).mean
    typed = subprocess.run(
        [sys.executable, "-"],
        input=GUARDED.replace("ENGINE", "'processes'"),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert "module __main__ has no source file; put the class into a .py file" in typed.stderr.splitlines()[-1]
    assert "Put your classes into a .py file" in typed.stderr.splitlines()[-1]


def test_what_another_process_could_not_import_is_refused_before_anything_is_played() -> None:
    local_class = type("Local", (Plain,), {"__module__": Plain.__module__, "decide": Plain.decide})
    for policy in (local_class(), Plain(level=Level(0.5))):
        simulation = prepare(PROBLEM, [policy], runs=1, engine="processes")
        with pytest.raises(InvalidInput, match="cannot play plain, since other processes could not import its code"):
            simulation.compile()


class Level(float):
    """A parameter that cannot be pickled."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("it will not be pickled")


def test_a_module_that_another_process_does_not_find_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "hidden_policy.py").write_text("from support.own_code import Plain\nclass Hidden(Plain):\n    pass\n")
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(tmp_path))
        hidden = importlib.import_module("hidden_policy").Hidden
    with pytest.raises(InvalidInput, match=r"other processes cannot import your code .*hidden_policy"):
        simulate(PROBLEM, [hidden()], runs=2, engine="processes", threads=2)


def test_a_generator_that_is_closed_ends_its_processes_and_threads() -> None:
    before = threading.active_count()
    played = play_on_processes(blocks_of(PROBLEM, Plain(), 130, 1, (40,)), 2)
    next(played)
    children = {child.pid for child in multiprocessing.active_children()}
    assert len(children) >= 2
    played.close()
    assert not any(exists(pid) for pid in children if pid is not None)
    assert threading.active_count() == before


def test_the_number_of_processes_and_the_engines_are_checked() -> None:
    with pytest.raises(InvalidInput, match="threads = 0"):
        prepare(PROBLEM, ["keep-team"], engine="processes", threads=0)
    with pytest.raises(InvalidInput, match=r"did you mean 'processes'\? Known: local, processes, dask, tcp"):
        prepare(PROBLEM, ["keep-team"], engine="process")
