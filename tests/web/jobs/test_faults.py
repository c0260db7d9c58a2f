"""Jobs whose server is killed or whose store fails: they are restarted and lose no results; on both databases."""

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.jobs import queue
from crewlearn.web.jobs.queue import DONE, FAILED, RUNNING, Job
from crewlearn.web.jobs.runner import MOST_ATTEMPTS, JobRunner, Progress
from support.stores import Database
from support.waiting import until
from support.web.app import two_sites
from support.web.jobs import BUSY, QUICK, Gate, doubled, failing, submit

store = two_sites

DIES = """
import os, signal, sys, time
from crewlearn.advisor.advice.opening import open_store
from crewlearn.web.jobs.runner import JobRunner

def work(store, job, progress):
    progress(0.75, "nearly there")
    print("begun", flush=True)
    time.sleep(60)

with open_store(sys.argv[1]) as store:
    runner = JobRunner(store, {"work": work}, beat_seconds=0.05, lost_seconds=0.6)
    while not runner.run_one():
        time.sleep(0.02)
"""


def die(url: str) -> None:
    """Run a server process that claims a job and is killed while running it."""
    source = str(Path(queue.__file__).parents[3])
    command = [sys.executable, "-c", DIES, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": source}) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.3)  # so that the heartbeat writes the progress
        finally:
            process.kill()


def test_a_killed_servers_job_is_taken_up_again_three_times_at_most(store: Store, database: Database) -> None:
    first = submit(store)
    die(database.url)
    assert (queue.read(store, first.id).status, queue.read(store, first.id).progress) == (RUNNING, 0.75)
    messages = []

    def done_after_all(store: Store, job: Job, progress: Progress) -> str:
        progress(0.5, "halfway")
        until(lambda: queue.read(store, job.id).progress == 0.5)
        messages.append(queue.read(store, job.id).message)
        return "done after all"

    runner = JobRunner(store, {"work": done_after_all}, **QUICK)
    until(lambda: runner.run_one() and queue.read(store, first.id).over)
    assert messages == ["restarted (attempt 2): halfway"]
    done = queue.read(store, first.id)
    assert (done.status, done.attempts, done.result) == (DONE, 2, "done after all")
    second = submit(store, number=2)
    for attempt in range(MOST_ATTEMPTS):
        die(database.url)
        assert queue.read(store, second.id).attempts == attempt + 1
    until(lambda: runner.run_one() or queue.read(store, second.id).over)
    given_up = queue.read(store, second.id)
    assert (given_up.status, given_up.attempts, given_up.result) == (FAILED, MOST_ATTEMPTS, None)
    assert given_up.message.startswith("given up after 3 attempts")
    assert given_up.message.endswith("nearly there")
    assert not runner.run_one()


def test_who_lost_a_job_notices_and_writes_nothing(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = JobRunner(store, {"work": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    with other.changing() as connection:  # as another server does when it claims the job
        connection.execute(schema.jobs.update().values(owner="another", heartbeat=time.time() + 1000))
    until(lambda: gate.sent_away)
    runner.stop()
    current = queue.read(other, job.id)
    assert (current.status, current.attempts, current.result) == (RUNNING, 1, None)


def test_a_runner_outlives_a_store_out_of_reach(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    failing = threading.Event()
    failing.set()

    @sa.event.listens_for(store.engine, "before_cursor_execute")
    def fail(*_: Any) -> None:
        if failing.is_set() and threading.current_thread().name == "jobs":
            raise OSError("out of reach")

    runner = JobRunner(store, {"work": doubled}, **QUICK)
    runner.start()
    until(lambda: "looking for jobs failed" in caplog.text)
    failing.clear()
    job = submit(store, number=4)
    assert until(lambda: (read := queue.read(store, job.id)).over and read).result == {"twice": 8}
    runner.stop()


def test_work_that_is_done_is_not_lost_to_a_busy_store(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crewlearn.web.jobs.runner.POLL_SECONDS", 0.05)
    job = submit(store, number=5)
    failing(store, monkeypatch, lambda number: 2 <= number <= 4, BUSY)  # the first transaction claims it
    assert JobRunner(store, {"work": doubled}, beat_seconds=60.0).run_one()
    done = queue.read(other, job.id)
    assert (done.status, done.result, done.attempts) == (DONE, {"twice": 10}, 1)


def test_a_store_that_fails_amid_a_job_fails_no_job(store: Store) -> None:
    job, attempts = submit(store, number=1), []

    def unlucky(store: Store, job: Job, progress: Progress) -> Any:
        attempts.append(job.attempts)
        if len(attempts) < MOST_ATTEMPTS:
            raise BUSY
        return "at last"

    runner = JobRunner(store, {"work": unlucky}, pause_seconds=0.0)
    while runner.run_one():
        pass
    assert attempts == [1, 2, 3], "it is retried a limited number of times"
    assert queue.read(store, job.id).result == "at last"


def test_the_heart_beats_on_whatever_goes_wrong_once(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, gate = submit(store), Gate()
    changes = failing(store, monkeypatch, lambda number: 2 <= number <= 4, sa.exc.TimeoutError("no connection is free"))
    runner = JobRunner(store, {"work": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    watching = JobRunner(other, {"work": doubled}, **QUICK)
    until(lambda: watching.run_one() or changes[0] > 6)
    assert queue.read(other, job.id).attempts == 1
    gate.open.set()
    until(lambda: queue.read(other, job.id).status == DONE)
    runner.stop()
