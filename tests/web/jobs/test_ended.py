"""Jobs that are cancelled, or whose server stops; on both databases."""

import threading
import time
from typing import Any

import pytest

from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.jobs import queue
from crewlearn.web.jobs.queue import CANCELLED, DONE, FAILED, QUEUED, RUNNING, Job
from crewlearn.web.jobs.runner import Interrupted, JobRunner, Progress
from support.stores import ME, site_with_proposals
from support.waiting import until
from support.web.app import two_sites
from support.web.jobs import QUICK, Gate, cancel, doubled, submit, unstoppable

store = two_sites


def test_what_waits_is_cancelled_and_never_begun(store: Store, other: Store) -> None:
    job = queue.submit(store, "north", "writes", ME, {}, b"some ids of people")
    ended = cancel(other, job.id)
    assert (ended.status, ended.message, ended.over, ended.started) == (CANCELLED, "cancelled by ann", True, None)
    assert ended.finished is not None
    assert cancel(store, job.id, "ben") == ended, "the first cancellation stays"
    assert not JobRunner(store, {"writes": doubled}).run_one()
    with pytest.raises(InvalidInput, match="has no file any more"):
        queue.file_of(store, job.id)
    with pytest.raises(InvalidInput, match="does not exist"):
        cancel(store, 999)


def test_what_is_over_is_not_cancelled(store: Store) -> None:
    done, failed = submit(store, number=1), submit(store)
    runner = JobRunner(store, {"work": doubled})
    while runner.run_one():
        pass
    for job, status in ((done, DONE), (failed, FAILED)):
        before = queue.read(store, job.id)
        assert before.status == status
        with pytest.raises(Conflict, match=f"is over: it is {status}"):
            cancel(store, job.id)
        assert queue.read(store, job.id) == before


def test_what_is_under_way_ends_soon_when_another_server_cancels_it(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = JobRunner(store, {"work": gate}, beat_seconds=60.0)  # a heartbeat alone would notice too late
    runner.start()
    until(lambda: gate.begun)
    cancel(other, job.id)
    asked = time.monotonic()
    until(lambda: gate.sent_away)
    assert time.monotonic() - asked < 5  # half a second on an idle machine
    gate.open.set()
    next_one = submit(store)
    assert until(lambda: (read := queue.read(store, next_one.id)).over and read).result == 2
    runner.stop()
    ended = queue.read(store, job.id)
    assert (ended.status, ended.message, ended.attempts, ended.result) == (CANCELLED, "cancelled by ann", 1, None)


def test_what_must_not_be_interrupted_goes_on(store: Store, other: Store) -> None:
    job, gate = submit(store, "writes"), Gate()
    runner = JobRunner(store, {"writes": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    with pytest.raises(Conflict, match=f"job = {job.id}: cannot be stopped halfway"):
        cancel(other, job.id)
    gate.open.set()
    assert until(lambda: (read := queue.read(other, job.id)).over and read).status == DONE
    runner.stop()


def test_what_was_cancelled_stays_so_though_its_work_is_done(store: Store, other: Store) -> None:
    def just_done(store: Store, job: Job, progress: Progress) -> Any:
        cancel(other, job.id)
        return "too late"

    job = submit(store)
    JobRunner(store, {"work": just_done}).run_one()
    ended = queue.read(store, job.id)
    assert (ended.status, ended.result, ended.message) == (CANCELLED, None, "cancelled by ann")


def test_a_check_tells_how_far_it_is_and_ends_when_it_is_told_to(store: Store) -> None:
    site_with_proposals(store, "busy")
    reports: list[tuple[int, int]] = []
    verified = verify(store, "busy", lambda *so_far: reports.append(so_far))
    assert verified.events > 2
    assert reports == [(number, verified.events) for number in range(1, verified.events + 1)]

    def enough(taken: int, events: int) -> None:
        reports.append((taken, events))
        raise Interrupted

    with pytest.raises(Interrupted):
        verify(store, "busy", enough)
    assert reports[-1] == (1, verified.events)


def test_stopping_gives_the_job_back(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = JobRunner(store, {"work": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    runner.stop()
    back = queue.read(other, job.id)
    assert (back.status, back.attempts) == (QUEUED, 0)
    gate.open.set()
    assert JobRunner(other, {"work": gate}, **QUICK).run_one()
    assert queue.read(other, job.id).result == 2


def test_stopping_waits_for_no_job_that_does_not_listen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewlearn.web.jobs.runner.PATIENCE_SECONDS", 0.2)
    job, let_go, ended = submit(store), threading.Event(), threading.Event()

    def deaf(store: Store, job: Job, progress: Progress) -> Any:
        let_go.wait(20)
        ended.set()
        return "too late"

    runner = JobRunner(store, {"work": deaf}, **QUICK)
    runner.start()
    until(lambda: queue.read(store, job.id).status == RUNNING)
    runner.stop()
    assert queue.read(store, job.id).status == QUEUED
    let_go.set()
    assert ended.wait(5)
    monkeypatch.setattr("crewlearn.web.jobs.runner.PATIENCE_SECONDS", 20.0)
    runner.stop()  # this time it finishes
    after = queue.read(store, job.id)
    assert (after.status, after.result) == (QUEUED, None), "the runner no longer owned it"


def test_what_cannot_be_stopped_is_not_given_back(store: Store, other: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its server stops while it runs, and it may still finish: so it cannot be cancelled like a queued job."""
    monkeypatch.setattr("crewlearn.web.jobs.runner.PATIENCE_SECONDS", 0.2)
    job, let_go = submit(store, "writes"), threading.Event()

    def deaf(store: Store, job: Job, progress: Progress) -> Any:
        let_go.wait(20)
        return "written"

    runner = JobRunner(store, {"writes": deaf}, unstoppable, **QUICK)
    runner.start()
    until(lambda: queue.read(store, job.id).status == RUNNING)
    runner.stop()
    with pytest.raises(Conflict, match="cannot be stopped halfway"):
        cancel(other, job.id)
    let_go.set()
    until(lambda: queue.read(other, job.id).status == DONE)
    monkeypatch.setattr("crewlearn.web.jobs.runner.PATIENCE_SECONDS", 20.0)
    runner.stop()  # so that it stops writing
