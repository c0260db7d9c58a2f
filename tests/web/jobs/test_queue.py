"""The job queue: each job runs once, in order, on one server, and is visible to all; on both databases."""

import threading
import time
from typing import Any

import pytest

from crewlearn.advisor.files.tables import CsvError, CsvErrors
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.jobs import queue
from crewlearn.web.jobs.queue import DONE, FAILED, QUEUED, RUNNING, Job
from crewlearn.web.jobs.runner import Handler, JobRunner, Lanes, Progress
from support.stores import ME, Database
from support.waiting import until
from support.web.app import Clock, opened, two_sites
from support.web.jobs import QUICK, Gate, doubled, submit

store = two_sites


def test_a_job_is_queued_done_and_told(store: Store, other: Store) -> None:
    job = submit(store, number=21)
    assert (job.status, job.progress, job.attempts, job.site, job.actor) == (QUEUED, 0.0, 0, "north", ME)
    runner = JobRunner(store, {"work": doubled})
    assert runner.run_one()
    assert not runner.run_one()
    done = queue.read(other, job.id)
    assert (done.status, done.progress, done.result, done.attempts, done.over) == (DONE, 1.0, {"twice": 42}, 1, True)
    assert done.started is not None
    assert done.finished is not None
    assert done.created <= done.started <= done.finished


def test_jobs_are_done_in_turn_and_listed_newest_first(store: Store) -> None:
    made = [submit(store, number=number).id for number in range(3)]
    submit(store, site="south", number=0)
    JobRunner(store, {"work": doubled}).run_one()
    assert [queue.read(store, id).status for id in made] == [DONE, QUEUED, QUEUED]
    assert [job.id for job in queue.jobs_of(store, "north")] == made[::-1]
    assert [job.id for job in queue.jobs_of(store, "north", limit=2)] == made[:0:-1]
    assert [job.id for job in queue.jobs_of(store, "north", before=made[1])] == made[:1]
    assert queue.jobs_of(store, "north", kind="else") == []
    with pytest.raises(InvalidInput, match="does not exist"):
        queue.read(store, 999)
    with pytest.raises(InvalidInput, match="does not exist"):
        submit(store, site="nowhere")


def test_sites_take_turns_however_many_jobs_one_has_queued(store: Store, other: Store) -> None:
    many = [submit(store, number=number).id for number in range(5)]
    order = list[int]()

    def noted(store: Store, job: Job, progress: Progress) -> None:
        order.append(job.id)

    runners = [JobRunner(opened_store, {"work": noted}) for opened_store in (store, other)]
    assert runners[0].run_one()
    few = [submit(store, site="south", number=number).id for number in range(2)]
    elsewhere = submit(store, "else", site="south").id
    with store.changing() as connection:  # another lane's job, begun by a clock that was 20 years ahead
        ahead = now_on(connection) + 20 * 365 * 86_400
        connection.execute(schema.jobs.update().where(schema.jobs.c.id == elsewhere).values(started=ahead))
    while any(runner.run_one() for runner in runners):
        pass
    assert order == [many[0], few[0], many[1], few[1], *many[2:]]


def test_who_asks_for_the_same_at_once_gets_one_job(store: Store, other: Store) -> None:
    together, ids = threading.Barrier(6), []

    def ask(asked_store: Store) -> None:
        together.wait(20)
        ids.append(submit(asked_store, number=3).id)

    asking = [threading.Thread(target=ask, args=(asked_store,)) for asked_store in (store, other) for _ in range(3)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(20)
    assert len(ids) == 6
    assert len(set(ids)) == 1
    assert submit(store, number=4).id not in ids
    assert submit(store, site="south", number=3).id not in ids
    assert queue.submit(store, "north", "work", "ben", {"number": 3}).id not in ids
    JobRunner(store, {"work": doubled}).run_one()
    assert submit(store, number=3).id == ids[0], "a finished job is not repeated"
    assert queue.submit(store, "north", "work", ME, {"number": 3}, again=True).id not in ids
    files = {queue.submit(store, "north", "read", ME, {}, text).id for text in (b"one", b"two", b"one")}
    assert len(files) == 2


def test_of_many_runners_one_gets_a_job(store: Store, database: Database) -> None:
    made = [submit(store, number=number).id for number in range(12)]
    done: list[int] = []

    def once(store: Store, job: Job, progress: Progress) -> Any:
        done.append(job.id)

    def run() -> None:
        with opened(database.url, Clock()) as own_store:
            runner = JobRunner(own_store, {"work": once})
            while any(queue.read(own_store, id).status == QUEUED for id in made):
                runner.run_one()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == made
    until(lambda: all(queue.read(store, id).status == DONE for id in made))
    assert [queue.read(store, id).attempts for id in made] == [1] * 12


def test_progress_is_seen_from_another_server_and_a_beating_job_is_left_alone(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = JobRunner(store, {"work": gate}, **QUICK)
    runner.start()
    seen = until(lambda: (read := queue.read(other, job.id)).progress and read)
    assert (seen.status, seen.progress, seen.message) == (RUNNING, 0.25, "waiting at the gate")
    watching, deadline = JobRunner(other, {"work": gate}, **QUICK), time.monotonic() + 2 * QUICK["lost_seconds"]
    while time.monotonic() < deadline:
        assert not watching.run_one()
        time.sleep(0.05)
    gate.open.set()
    assert until(lambda: (read := queue.read(other, job.id)).over and read).result == 1
    runner.stop()


def test_a_job_amid_a_transaction_may_say_how_far_it_is(store: Store) -> None:
    """SQLite has one writer: the job must not wait for itself."""

    def busy(store: Store, job: Job, progress: Progress) -> Any:
        with store.changing():
            for step in range(10):
                progress(step / 10, f"step {step}")
                time.sleep(0.03)
        return "well"

    job = submit(store)
    began = time.monotonic()
    JobRunner(store, {"work": busy}, **QUICK).run_one()
    assert queue.read(store, job.id).result == "well"
    assert time.monotonic() - began < 5


def test_what_is_wrong_with_its_input_fails_a_job_in_words(store: Store) -> None:
    def fails(store: Store, job: Job, progress: Progress) -> Any:
        raise CsvErrors("output.csv", [CsvError(7, "units", "many", "a number")], 1)

    def breaks(store: Store, job: Job, progress: Progress) -> Any:
        raise RuntimeError("inner details")

    handlers: dict[str, Handler] = {"fails": fails, "breaks": breaks, "odd": lambda *_: float("nan")}
    ids = [submit(store, kind).id for kind in ("fails", "breaks", "odd")]
    runner = JobRunner(store, handlers)
    while runner.run_one():
        pass
    bad, broken, odd = (queue.read(store, id) for id in ids)
    assert [job.status for job in (bad, broken, odd)] == [FAILED] * 3
    assert bad.result["status"] == 422
    assert bad.result["errors"] == [
        {"field": "units", "value": "many", "remedy": "a number", "line": 7, "column": "units"}
    ]
    assert broken.result is None
    assert "inner details" not in broken.message


def test_each_lane_does_its_own_kinds_whatever_the_others_are_at(store: Store) -> None:
    long, gate = submit(store, "long"), Gate()
    strange = submit(store, "unheard-of")
    quick = [submit(store, "quick", number=number).id for number in range(3)]
    lanes = Lanes(store, [{"long": gate}, {"quick": doubled}])
    lanes.start()
    try:
        until(lambda: gate.begun)
        until(lambda: all(queue.read(store, id).status == DONE for id in quick))
        assert queue.read(store, long.id).status == RUNNING
        assert queue.read(store, strange.id).status == QUEUED, "another server may know what it is"
    finally:
        lanes.stop()
    assert queue.read(store, long.id).status == QUEUED


def test_lanes_stop_side_by_side(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewlearn.web.jobs.runner.PATIENCE_SECONDS", 60.0)
    ids, begun = [submit(store, kind).id for kind in ("one", "other")], threading.Barrier(3)

    def takes_a_while(store: Store, job: Job, progress: Progress) -> Any:
        begun.wait(20)
        while True:
            progress(0.5, "on the way")
            time.sleep(1.0)

    lanes = Lanes(store, [{"one": takes_a_while}, {"other": takes_a_while}])
    lanes.start()
    begun.wait(20)
    asked = time.monotonic()
    lanes.stop()
    assert time.monotonic() - asked < 1.9, "one after the other it would take two seconds"
    assert [queue.read(store, id).status for id in ids] == [QUEUED, QUEUED]
