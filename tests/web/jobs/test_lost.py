"""Jobs that are lost or put back: who may claim one, when, and its messages; on both databases."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict, StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web.jobs import queue
from crewlearn.web.jobs.queue import DONE, FAILED, MOST_WAITING, QUEUED, RUNNING, Job
from crewlearn.web.jobs.runner import MOST_ATTEMPTS, JobRunner, Lanes, Progress
from support.stores import ME, site_with_proposals
from support.waiting import until
from support.web.app import two_sites
from support.web.jobs import BUSY, failing, submit

store = two_sites

BEAT, LOST = 0.2, 0.8
QUICK: dict[str, Any] = {"poll_seconds": 0.02, "beat_seconds": BEAT, "lost_seconds": LOST}
BROKEN = StoreUnavailable("sqlite:///place.db", "cannot be used (disk I/O error)")


def well(store: Store, job: Job, progress: Progress) -> str:
    progress(0.5, "half way")
    return "well"


def write(store: Store, job: Job, **values: Any) -> None:
    """Update a job, as its server does."""
    with store.changing() as connection:
        connection.execute(schema.jobs.update().where(schema.jobs.c.id == job.id).values(**values))


def given_to_another(store: Store, job: Job, heartbeat: float, **values: Any) -> None:
    write(store, job, **{"status": RUNNING, "owner": "another", "attempts": 1, "heartbeat": heartbeat, **values})


# --- heartbeats, timed by the runner's own clock


@pytest.mark.parametrize("ahead", [-3600.0, 0.0, 3600.0])
def test_a_dead_servers_job_is_taken_up_whatever_its_clock_said(store: Store, ahead: float) -> None:
    job = submit(store)
    given_to_another(store, job, time.time() + ahead)
    runner, began = JobRunner(store, {"work": well}, **QUICK), time.monotonic()
    until(runner.run_one)
    assert time.monotonic() - began >= LOST
    done = queue.read(store, job.id)
    assert (done.status, done.attempts, done.result) == (DONE, 2, "well")


@pytest.mark.parametrize("step", [-60.0, 1e-3, 60.0])
def test_a_live_servers_job_is_left_alone_whatever_its_clock_says(store: Store, step: float) -> None:
    """Whether set back, forward, or an hour behind: a heartbeat that changes is alive."""
    job, heartbeat = submit(store), time.time() - 3600.0
    runner, began = JobRunner(store, {"work": well}, **QUICK), time.monotonic()
    while time.monotonic() - began < 2 * LOST:
        heartbeat += step
        given_to_another(store, job, heartbeat)
        assert not runner.run_one()
        time.sleep(0.05)
    assert queue.read(store, job.id).attempts == 1


def test_a_runner_that_was_busy_meanwhile_looks_again(store: Store) -> None:
    """What a runner saw before its own long job says nothing about a heartbeat that changed since."""
    job = submit(store)
    given_to_another(store, job, 1.0)
    runner = JobRunner(store, {"work": well}, **QUICK)
    assert not runner.run_one()
    time.sleep(LOST)
    write(store, job, heartbeat=2.0)
    assert not runner.run_one()
    time.sleep(2 * BEAT)
    assert not runner.run_one()
    assert queue.read(store, job.id).attempts == 1


@contextmanager
def locked(store: Store, seconds: float) -> Iterator[None]:
    """Hold the store's lock for some time, in another thread."""
    held = threading.Event()

    def hold() -> None:
        with store.changing():
            held.set()
            time.sleep(seconds)

    holding = threading.Thread(target=hold)
    holding.start()
    assert held.wait(20)
    yield
    holding.join()


def test_who_waited_for_the_lock_takes_no_job_whose_heartbeat_waited_too(tmp_path: Path) -> None:
    """SQLite has one writer: a long import delays its own heartbeat, like every other write."""
    url = f"sqlite:///{tmp_path}/site.db"
    with open_store(url) as store, open_store(url) as other:
        site_with_proposals(store, "north")
        job = submit(store)
        given_to_another(store, job, 1.0)
        runner = JobRunner(other, {"work": well}, **QUICK)
        assert not runner.run_one()
        time.sleep(LOST)
        with locked(store, 2 * BEAT):
            assert not runner.run_one(), "it waited"
        time.sleep(BEAT)
        with locked(store, 12 * BEAT):
            assert not runner.run_one(), "it waited again"
        write(store, job, heartbeat=2.0)  # the heartbeat was written meanwhile
        time.sleep(2 * BEAT)
        assert not runner.run_one()
        assert queue.read(store, job.id).attempts == 1
        until(runner.run_one)
        assert queue.read(store, job.id).attempts == 2


def test_who_cannot_have_the_lock_looks_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = submit(store)
    given_to_another(store, job, 1.0)
    runner = JobRunner(store, {"work": well}, **QUICK)
    assert not runner.run_one()
    time.sleep(LOST - BEAT)
    assert not runner.run_one(), "it looks twice"
    time.sleep(BEAT)
    with monkeypatch.context() as broken:
        failing(store, broken, lambda number: True, BUSY)
        with pytest.raises(Conflict):
            runner.run_one()
    assert not runner.run_one(), "the lock was just released, and the heartbeat may be next"
    assert queue.read(store, job.id).attempts == 1
    until(runner.run_one)


def test_what_is_taken_up_again_began_when_it_first_began(store: Store) -> None:
    job = submit(store)
    given_to_another(store, job, 1.0, started=1_000_000.0)
    until(JobRunner(store, {"work": well}, **QUICK).run_one)
    done = queue.read(store, job.id)
    assert done.started is not None
    assert (done.started.timestamp(), done.attempts) == (1_000_000.0, 2)


def test_a_job_given_up_leaves_no_file(store: Store) -> None:
    job = queue.submit(store, "north", "work", ME, {}, b"some ids of people")
    given_to_another(store, job, 1.0, attempts=MOST_ATTEMPTS, message="reading the file")
    runner = JobRunner(store, {"work": well}, **QUICK)
    until(lambda: runner.run_one() or queue.read(store, job.id).over)
    ended = queue.read(store, job.id)
    assert (ended.status, ended.attempts) == (FAILED, MOST_ATTEMPTS)
    assert ended.message == (
        "given up after 3 attempts, the last of which ended with its server; it was at: reading the file"
    )
    assert ended.finished is not None
    with pytest.raises(Unknown, match="has no file any more"):
        queue.file_of(store, job.id)


# --- jobs put back because of the store


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (BUSY, "another writer was active at the same time"),
        (BROKEN, "the store could not be used; the server's log says why"),
    ],
)
def test_a_job_that_the_store_fails_rests_and_ends_with_a_true_reason(
    store: Store, other: Store, caplog: pytest.LogCaptureFixture, error: InvalidInput, why: str
) -> None:
    def unlucky(store: Store, job: Job, progress: Progress) -> Any:
        raise error

    job, pause = queue.submit(store, "north", "work", ME, {}, b"rows"), 0.5
    runners = [
        JobRunner(opened_store, {"work": unlucky}, **QUICK, pause_seconds=pause) for opened_store in (store, other)
    ]
    assert runners[0].run_one()
    for attempt in range(1, MOST_ATTEMPTS):
        began = time.monotonic()
        assert not any(runner.run_one() for runner in runners), "no server retries it at once"
        back = queue.read(other, job.id)
        assert (back.status, back.attempts, back.started) == (QUEUED, attempt, None)
        assert back.message == f"put back, to be tried again after a pause: {why}"
        until(runners[attempt % 2].run_one)
        assert time.monotonic() - began >= pause
    ended = queue.read(other, job.id)
    assert (ended.status, ended.attempts) == (FAILED, MOST_ATTEMPTS)
    assert ended.message == f"given up after 3 attempts; at the last one {why}. It may be submitted again"
    with pytest.raises(Unknown, match="has no file any more"):
        queue.file_of(store, job.id)
    assert caplog.text.count(error.remedy) == MOST_ATTEMPTS


def test_a_job_that_rests_keeps_no_other_waiting(store: Store) -> None:
    def unlucky(store: Store, job: Job, progress: Progress) -> Any:
        if job.input["number"] == 1:
            raise BUSY
        return "well"

    first, second = submit(store, number=1), submit(store, number=2)
    runner = JobRunner(store, {"work": unlucky})
    assert runner.run_one()
    assert runner.run_one()
    assert not runner.run_one()
    assert [queue.read(store, job.id).status for job in (first, second)] == [QUEUED, DONE]


def test_a_job_is_put_back_though_the_store_is_busy_at_first(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its server would seem to have died."""
    monkeypatch.setattr("crewlearn.web.jobs.runner.POLL_SECONDS", 0.05)
    left = [0]

    def busy(number: int) -> bool:
        left[0] -= 1
        return left[0] >= 0

    def unlucky(store: Store, job: Job, progress: Progress) -> Any:
        left[0] = 3
        raise BUSY

    failing(store, monkeypatch, busy, BUSY)
    job = submit(store)
    assert JobRunner(store, {"work": unlucky}, beat_seconds=60.0).run_one()
    back = queue.read(other, job.id)
    assert (back.status, back.attempts) == (QUEUED, 1)


# --- stopping


def test_a_lane_that_cannot_give_its_job_back_keeps_no_other_from_it(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("crewlearn.web.jobs.runner.PATIENCE_SECONDS", 0.2)
    let_go, here, once = threading.Event(), threading.current_thread(), iter([True])

    def first_here(number: int) -> bool:
        return threading.current_thread() is here and next(once, False)

    def deaf(store: Store, job: Job, progress: Progress) -> Any:
        let_go.wait(20)

    ids = [submit(store, kind).id for kind in ("one", "two")]
    lanes = Lanes(store, [{"one": deaf}, {"two": deaf}])
    lanes.start()
    try:
        until(lambda: all(queue.read(other, id).status == RUNNING for id in ids))
        failing(store, monkeypatch, first_here, OSError("out of reach"))
        lanes.stop()
        assert [queue.read(other, id).status for id in ids] == [RUNNING, QUEUED]
        assert "could not be put back" in caplog.text
        assert "out of reach" in caplog.text
    finally:
        let_go.set()
        lanes.stop()


def test_a_job_claimed_while_its_server_stops_is_given_back(store: Store) -> None:
    job, runner = submit(store), JobRunner(store, {"work": well})
    runner.ask_to_stop()
    assert runner.run_one()
    back = queue.read(store, job.id)
    assert (back.status, back.attempts, back.result) == (QUEUED, 0, None)


# --- the limit on queued jobs


def test_nobody_has_more_than_so_many_jobs_waiting(store: Store) -> None:
    made = [submit(store, number=number).id for number in range(MOST_WAITING)]
    assert submit(store, number=3).id == made[3], "the same job, not another one"
    with pytest.raises(Conflict, match=f"job = 'work': {MOST_WAITING} such jobs of {ME} are queued here already"):
        submit(store, number=MOST_WAITING)
    submit(store, "else")
    submit(store, site="south", number=1)
    queue.submit(store, "north", "work", "ben", {"number": 1})
    queue.cancel(store, made[7], ME, lambda job: None)
    submit(store, number=MOST_WAITING)
    with pytest.raises(Conflict):
        submit(store, number=-1)
    JobRunner(store, {"work": well}).run_one()
    submit(store, number=-1)
