"""Simulations in a process of their own: whatever becomes of it, the server goes on and says what happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.jobs import apart, queue, work
from crewlearn.web.jobs.apart import SimulationEnded, simulate_apart
from crewlearn.web.jobs.queue import CANCELLED, DONE, FAILED, QUEUED, RUNNING, Job
from crewlearn.web.jobs.runner import JobRunner
from crewlearn.web.snapshots import snapshot
from support.stores import ME, site_with_proposals
from support.waiting import until
from support.web.jobs import cancel

QUICK: dict[str, Any] = {"poll_seconds": 0.05, "beat_seconds": 0.1}
SAYS = "import json, os, signal, sys, time; sys.stdin.readline()\ndef say(*what): print(json.dumps(what), flush=True)\n"


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """A store with a site."""
    with open_store(f"sqlite:///{tmp_path}/site.db") as made:
        site_with_proposals(made, "hall", horizon=30)
        yield made


def queued(store: Store, runs: int = 2) -> Job:
    input = work.plan_input(snapshot(store, "hall"), policies=["dr-ucb"], runs=runs)
    return queue.submit(store, "hall", work.PLAN, ME, input)


def run_as(store: Store, monkeypatch: pytest.MonkeyPatch, program: str) -> Job:
    """Run a job by a process that does this instead; return the job afterwards."""
    monkeypatch.setattr(apart, "_COMMAND", (sys.executable, "-c", SAYS + program))
    job = queued(store)
    assert JobRunner(store, work.LANES[0]).run_one()
    return queue.read(store, job.id)


def test_a_plan_is_simulated_in_a_process_of_its_own(store: Store) -> None:
    job = queued(store)
    assert JobRunner(store, work.LANES[0]).run_one()
    done = queue.read(store, job.id)
    assert (done.status, done.message) == (DONE, "done")
    here = work.run_plan(store, job, lambda share, message: None)
    assert done.result == json.loads(json.dumps(here))


def test_a_simulation_takes_no_module_of_the_folder_that_the_server_was_started_in(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crewlearn").mkdir()
    (tmp_path / "crewlearn" / "__init__.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path)
    job = queued(store)
    assert JobRunner(store, work.LANES[0]).run_one()
    assert queue.read(store, job.id).status == DONE


@pytest.mark.parametrize(("name", "remedy"), [("SIGSEGV", "deletes the folder `compiled`"), ("SIGKILL", "fewer runs")])
def test_what_ends_a_simulation_by_a_signal_is_told_with_a_remedy(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str, remedy: str
) -> None:
    ended = run_as(store, monkeypatch, f"say('progress', [0.5, 'half way'])\nos.kill(os.getpid(), signal.{name})")
    assert (ended.status, ended.attempts) == (FAILED, 1)
    assert f"simulation = '{name}'" in ended.message
    assert remedy in ended.message
    assert ended.result["errors"][0]["remedy"] in ended.message


@pytest.mark.parametrize(
    ("program", "logged"),
    [
        ("say('failed', 'Traceback: inner details')", "inner details"),
        ("print('[\"result\", 1', flush=True)", "it said"),
        ("sys.exit(3)", "status 3 and no result"),
    ],
)
def test_a_simulation_that_fails_otherwise_is_a_bug_in_the_log(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, program: str, logged: str
) -> None:
    ended = run_as(store, monkeypatch, program)
    assert (ended.status, ended.result) == (FAILED, None)
    assert ended.message == "failed because of a bug; the server's log has more"
    assert logged in caplog.text


def test_a_simulation_ended_with_its_servers_others_is_put_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service manager ends all processes of a server at once."""
    back = run_as(store, monkeypatch, "os.kill(os.getpid(), signal.SIGTERM)")
    assert (back.status, back.attempts) == (QUEUED, 0)


def test_a_cancelled_simulation_ends_though_it_says_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "LOOK_SECONDS", 0.05)
    program = "say('progress', [0.1, str(os.getpid())])\ntime.sleep(60)"
    monkeypatch.setattr(apart, "_COMMAND", (sys.executable, "-c", SAYS + program))
    job, runner = queued(store), JobRunner(store, work.LANES[0], **QUICK)
    runner.start()
    process = int(until(lambda: (now := queue.read(store, job.id)).progress == 0.1 and now.message))
    assert queue.read(store, job.id).status == RUNNING
    cancel(store, job.id)
    until(lambda: not _lives(process))
    runner.stop()
    assert queue.read(store, job.id).status == CANCELLED


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_a_simulation_refuses_is_refused_in_the_same_words(store: Store) -> None:
    job = queue.submit(store, "hall", work.BACKTEST, ME, {"first": 1, "runs": 2, "seed": 1})
    with pytest.raises(InvalidInput) as here:
        work.run_backtest(store, job, lambda share, message: None)
    with pytest.raises(InvalidInput) as there:
        simulate_apart(store, job, lambda share, message: None)
    assert str(there.value) == str(here.value)
    assert not isinstance(there.value, SimulationEnded)


def test_a_simulation_does_not_outlive_its_server() -> None:
    """The pipe from the server closes, however the server went."""
    command = [sys.executable, "-c", "import sys; from crewlearn.web.jobs import simulating; simulating.main()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    began = time.monotonic()
    process.stdin.write(b'{"db": "sqlite:////nowhere/at/all.db", "job": 1, "path": []}')
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, b"")
    assert time.monotonic() - began < 60
    assert process.returncode != -signal.SIGKILL
