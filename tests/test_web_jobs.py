"""Jobs: done once, by one server, told to all, and taken up again when a server dies; on both databases."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor import schema
from crewlearn.advisor.conflict import Conflict
from crewlearn.advisor.csv_table import CsvError, CsvErrors
from crewlearn.advisor.store import Store
from crewlearn.advisor.verify import verify
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import jobs
from crewlearn.web.jobs import CANCELLED, DONE, FAILED, QUEUED, RUNNING, Job
from crewlearn.web.runner import MOST_ATTEMPTS, Handler, Interrupted, Lanes, Progress, Runner
from stores import ME, Database, site_with_proposals
from web_app import Clock, opened

QUICK: dict[str, Any] = {"poll_seconds": 0.02, "beat_seconds": 0.05, "lost_seconds": 0.6}


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    with opened(database.url, Clock(), "north", "south") as made:
        yield made


@pytest.fixture
def other(store: Store, database: Database) -> Iterator[Store]:
    """The same database, as another server process has it."""
    with opened(database.url, Clock()) as made:
        yield made


def until(what: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Wait until something is so; give it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def submit(store: Store, kind: str = "work", site: str = "north", **given: Any) -> Job:
    return jobs.submit(store, site, kind, ME, given)


def doubled(store: Store, job: Job, progress: Progress) -> Any:
    progress(0.5, "half way")
    return {"twice": 2 * job.input["number"]}


class Gate:
    """Work that says how far it is and waits there until it is let go on."""

    def __init__(self) -> None:
        self.open, self.begun, self.sent_away = threading.Event(), 0, 0

    def __call__(self, store: Store, job: Job, progress: Progress) -> Any:
        self.begun += 1
        try:
            progress(0.25, "waiting at the gate")
            while not self.open.wait(0.02):
                progress(0.25, "waiting at the gate")
        except Interrupted:
            self.sent_away += 1
            raise
        return self.begun


def test_a_job_is_queued_done_and_told(store: Store, other: Store) -> None:
    job = submit(store, number=21)
    assert (job.status, job.progress, job.attempts, job.site, job.actor) == (QUEUED, 0.0, 0, "north", ME)
    runner = Runner(store, {"work": doubled})
    assert runner.run_one()
    assert not runner.run_one()
    done = jobs.read(other, job.id)
    assert (done.status, done.progress, done.result, done.attempts, done.over) == (DONE, 1.0, {"twice": 42}, 1, True)
    assert done.started is not None
    assert done.finished is not None
    assert done.created <= done.started <= done.finished


def test_jobs_are_done_in_turn_and_listed_newest_first(store: Store) -> None:
    made = [submit(store, number=number).id for number in range(3)]
    submit(store, site="south", number=0)
    Runner(store, {"work": doubled}).run_one()
    assert [jobs.read(store, id).status for id in made] == [DONE, QUEUED, QUEUED]
    assert [job.id for job in jobs.jobs_of(store, "north")] == made[::-1]
    assert [job.id for job in jobs.jobs_of(store, "north", limit=2)] == made[:0:-1]
    assert [job.id for job in jobs.jobs_of(store, "north", before=made[1])] == made[:1]
    assert jobs.jobs_of(store, "north", kind="else") == []
    with pytest.raises(InvalidInput, match="does not exist"):
        jobs.read(store, 999)
    with pytest.raises(InvalidInput, match="does not exist"):
        submit(store, site="nowhere")


def test_of_many_runners_one_gets_a_job(store: Store, database: Database) -> None:
    made = [submit(store, number=number).id for number in range(12)]
    done: list[int] = []

    def once(store: Store, job: Job, progress: Progress) -> Any:
        done.append(job.id)

    def run() -> None:
        with opened(database.url, Clock()) as own:
            runner = Runner(own, {"work": once})
            while any(jobs.read(own, id).status == QUEUED for id in made):
                runner.run_one()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == made
    until(lambda: all(jobs.read(store, id).status == DONE for id in made))
    assert [jobs.read(store, id).attempts for id in made] == [1] * 12


def test_progress_is_seen_from_another_server_and_a_beating_job_is_left_alone(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = Runner(store, {"work": gate}, **QUICK)
    runner.start()
    seen = until(lambda: (found := jobs.read(other, job.id)).progress and found)
    assert (seen.status, seen.progress, seen.message) == (RUNNING, 0.25, "waiting at the gate")
    watching, deadline = Runner(other, {"work": gate}, **QUICK), time.monotonic() + 2 * QUICK["lost_seconds"]
    while time.monotonic() < deadline:
        assert not watching.run_one()
        time.sleep(0.05)
    gate.open.set()
    assert until(lambda: (found := jobs.read(other, job.id)).over and found).result == 1
    runner.stop()


def test_a_job_amid_a_transaction_may_say_how_far_it_is(store: Store) -> None:
    """On SQLite there is one writer: the job must not wait for itself."""

    def busy(store: Store, job: Job, progress: Progress) -> Any:
        with store.changing():
            for step in range(10):
                progress(step / 10, f"step {step}")
                time.sleep(0.03)
        return "well"

    job = submit(store)
    began = time.monotonic()
    Runner(store, {"work": busy}, **QUICK).run_one()
    assert jobs.read(store, job.id).result == "well"
    assert time.monotonic() - began < 5


def test_what_is_wrong_with_its_input_fails_a_job_in_words(store: Store) -> None:
    def fails(store: Store, job: Job, progress: Progress) -> Any:
        raise CsvErrors("output.csv", [CsvError(7, "units", "many", "a number")], 1)

    def breaks(store: Store, job: Job, progress: Progress) -> Any:
        raise RuntimeError("inner details")

    handlers: dict[str, Handler] = {"fails": fails, "breaks": breaks, "odd": lambda *_: float("nan")}
    ids = [submit(store, kind).id for kind in ("fails", "breaks", "odd")]
    runner = Runner(store, handlers)
    while runner.run_one():
        pass
    bad, broken, odd = (jobs.read(store, id) for id in ids)
    assert [job.status for job in (bad, broken, odd)] == [FAILED] * 3
    assert bad.result["status"] == 422
    assert bad.result["errors"] == [
        {"field": "units", "value": "many", "remedy": "a number", "line": 7, "column": "units"}
    ]
    assert broken.result is None
    assert "inner details" not in broken.message


def test_stopping_gives_the_job_back(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = Runner(store, {"work": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    runner.stop()
    back = jobs.read(other, job.id)
    assert (back.status, back.attempts) == (QUEUED, 0)
    gate.open.set()
    assert Runner(other, {"work": gate}, **QUICK).run_one()
    assert jobs.read(other, job.id).result == 2


def test_stopping_waits_for_no_job_that_does_not_listen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewlearn.web.runner.PATIENCE_SECONDS", 0.2)
    job, let_go, ended = submit(store), threading.Event(), threading.Event()

    def deaf(store: Store, job: Job, progress: Progress) -> Any:
        let_go.wait(20)
        ended.set()
        return "too late"

    runner = Runner(store, {"work": deaf}, **QUICK)
    runner.start()
    until(lambda: jobs.read(store, job.id).status == RUNNING)
    runner.stop()
    assert jobs.read(store, job.id).status == QUEUED
    let_go.set()
    assert ended.wait(5)
    monkeypatch.setattr("crewlearn.web.runner.PATIENCE_SECONDS", 20.0)
    runner.stop()  # this time it comes to its end
    after = jobs.read(store, job.id)
    assert (after.status, after.result) == (QUEUED, None), "it was no longer its own"


def test_who_lost_a_job_notices_and_writes_nothing(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = Runner(store, {"work": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    with other.changing() as connection:  # as another server does that takes it up
        connection.execute(schema.jobs.update().values(owner="another", heartbeat=time.time() + 1000))
    until(lambda: gate.sent_away)
    runner.stop()
    found = jobs.read(other, job.id)
    assert (found.status, found.attempts, found.result) == (RUNNING, 1, None)


def test_each_lane_does_its_own_kinds_whatever_the_others_are_at(store: Store) -> None:
    long, gate = submit(store, "long"), Gate()
    strange = submit(store, "unheard-of")
    quick = [submit(store, "quick", number=number).id for number in range(3)]
    lanes = Lanes(store, [{"long": gate}, {"quick": doubled}])
    lanes.start()
    try:
        until(lambda: gate.begun)
        until(lambda: all(jobs.read(store, id).status == DONE for id in quick))
        assert jobs.read(store, long.id).status == RUNNING
        assert jobs.read(store, strange.id).status == QUEUED, "another server may know what it is"
    finally:
        lanes.stop()
    assert jobs.read(store, long.id).status == QUEUED


def test_lanes_stop_side_by_side(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crewlearn.web.runner.PATIENCE_SECONDS", 60.0)
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
    assert [jobs.read(store, id).status for id in ids] == [QUEUED, QUEUED]


def cancel(store: Store, id: int, actor: str = "ann") -> Job:
    return jobs.cancel(store, id, actor, unstoppable)


def unstoppable(job: Job) -> str | None:
    return "cannot be stopped halfway" if job.kind == "writes" else None


def test_what_waits_is_cancelled_and_never_begun(store: Store, other: Store) -> None:
    job = jobs.submit(store, "north", "writes", ME, {}, b"some ids of people")
    ended = cancel(other, job.id)
    assert (ended.status, ended.message, ended.over, ended.started) == (CANCELLED, "cancelled by ann", True, None)
    assert ended.finished is not None
    assert cancel(store, job.id, "ben") == ended, "who was first stays"
    assert not Runner(store, {"writes": doubled}).run_one()
    with pytest.raises(InvalidInput, match="has no file any more"):
        jobs.file_of(store, job.id)
    with pytest.raises(InvalidInput, match="does not exist"):
        cancel(store, 999)


def test_what_is_over_is_not_cancelled(store: Store) -> None:
    done, failed = submit(store, number=1), submit(store)
    runner = Runner(store, {"work": doubled})
    while runner.run_one():
        pass
    for job, status in ((done, DONE), (failed, FAILED)):
        before = jobs.read(store, job.id)
        assert before.status == status
        with pytest.raises(Conflict, match=f"is over already: it is {status}"):
            cancel(store, job.id)
        assert jobs.read(store, job.id) == before


def test_what_is_under_way_ends_soon_when_another_server_cancels_it(store: Store, other: Store) -> None:
    job, gate = submit(store), Gate()
    runner = Runner(store, {"work": gate}, beat_seconds=60.0)  # a beat alone would find out too late
    runner.start()
    until(lambda: gate.begun)
    cancel(other, job.id)
    asked = time.monotonic()
    until(lambda: gate.sent_away)
    assert time.monotonic() - asked < 5  # half a second where the machine is free
    gate.open.set()
    next_one = submit(store)
    assert until(lambda: (found := jobs.read(store, next_one.id)).over and found).result == 2
    runner.stop()
    ended = jobs.read(store, job.id)
    assert (ended.status, ended.message, ended.attempts, ended.result) == (CANCELLED, "cancelled by ann", 1, None)


def test_what_must_not_be_interrupted_goes_on(store: Store, other: Store) -> None:
    job, gate = submit(store, "writes"), Gate()
    runner = Runner(store, {"writes": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    with pytest.raises(Conflict, match=f"job = {job.id}: cannot be stopped halfway"):
        cancel(other, job.id)
    gate.open.set()
    assert until(lambda: (found := jobs.read(other, job.id)).over and found).status == DONE
    runner.stop()


def test_what_was_cancelled_stays_so_though_its_work_is_done(store: Store, other: Store) -> None:
    def just_done(store: Store, job: Job, progress: Progress) -> Any:
        cancel(other, job.id)
        return "too late"

    job = submit(store)
    Runner(store, {"work": just_done}).run_one()
    ended = jobs.read(store, job.id)
    assert (ended.status, ended.result, ended.message) == (CANCELLED, None, "cancelled by ann")


def test_a_check_tells_how_far_it_is_and_ends_when_it_is_told_to(store: Store) -> None:
    site_with_proposals(store, "busy")
    told: list[tuple[int, int]] = []
    found = verify(store, "busy", lambda *so_far: told.append(so_far))
    assert found.events > 2
    assert told == [(number, found.events) for number in range(1, found.events + 1)]

    def enough(taken: int, events: int) -> None:
        told.append((taken, events))
        raise Interrupted

    with pytest.raises(Interrupted):
        verify(store, "busy", enough)
    assert told[-1] == (1, found.events)


DIES = """
import os, signal, sys, time
from crewlearn.advisor.store import open_store
from crewlearn.web.runner import Runner

def work(store, job, progress):
    progress(0.75, "nearly there")
    print("begun", flush=True)
    time.sleep(60)

with open_store(sys.argv[1]) as store:
    runner = Runner(store, {"work": work}, beat_seconds=0.05, lost_seconds=0.6)
    while not runner.run_one():
        time.sleep(0.02)
"""


def die(url: str) -> None:
    """A server process that takes up a job and is killed over it."""
    source = str(Path(jobs.__file__).parents[2])
    command = [sys.executable, "-c", DIES, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": source}) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(0.3)  # for the heartbeat to tell how far it is
        finally:
            process.kill()


def test_a_killed_servers_job_is_taken_up_again_three_times_at_most(store: Store, database: Database) -> None:
    first = submit(store)
    die(database.url)
    assert (jobs.read(store, first.id).status, jobs.read(store, first.id).progress) == (RUNNING, 0.75)
    told = []

    def done_after_all(store: Store, job: Job, progress: Progress) -> str:
        progress(0.5, "halfway")
        until(lambda: jobs.read(store, job.id).progress == 0.5)
        told.append(jobs.read(store, job.id).message)
        return "done after all"

    runner = Runner(store, {"work": done_after_all}, **QUICK)
    until(lambda: runner.run_one() and jobs.read(store, first.id).over)
    assert told == ["taken up again (attempt 2): halfway"]
    done = jobs.read(store, first.id)
    assert (done.status, done.attempts, done.result) == (DONE, 2, "done after all")
    second = submit(store, number=2)
    for attempt in range(MOST_ATTEMPTS):
        die(database.url)
        assert jobs.read(store, second.id).attempts == attempt + 1
    until(lambda: runner.run_one() or jobs.read(store, second.id).over)
    given_up = jobs.read(store, second.id)
    assert (given_up.status, given_up.attempts, given_up.result) == (FAILED, MOST_ATTEMPTS, None)
    assert given_up.message.startswith("given up after 3 attempts")
    assert given_up.message.endswith("nearly there")
    assert not runner.run_one()


def test_a_runner_outlives_a_store_out_of_reach(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    failing = threading.Event()
    failing.set()

    @sa.event.listens_for(store.engine, "before_cursor_execute")
    def fail(*_: Any) -> None:
        if failing.is_set() and threading.current_thread().name == "jobs":
            raise OSError("out of reach")

    runner = Runner(store, {"work": doubled}, **QUICK)
    runner.start()
    until(lambda: "looking for jobs failed" in caplog.text)
    failing.clear()
    job = submit(store, number=4)
    assert until(lambda: (found := jobs.read(store, job.id)).over and found).result == {"twice": 8}
    runner.stop()


def test_who_asks_for_the_same_at_once_gets_one_job(store: Store, other: Store) -> None:
    together, ids = threading.Barrier(6), []

    def ask(own: Store) -> None:
        together.wait(20)
        ids.append(submit(own, number=3).id)

    asking = [threading.Thread(target=ask, args=(own,)) for own in (store, other) for _ in range(3)]
    for one in asking:
        one.start()
    for one in asking:
        one.join(20)
    assert len(ids) == 6
    assert len(set(ids)) == 1
    assert submit(store, number=4).id not in ids
    assert submit(store, site="south", number=3).id not in ids
    assert jobs.submit(store, "north", "work", "ben", {"number": 3}).id not in ids
    Runner(store, {"work": doubled}).run_one()
    assert submit(store, number=3).id == ids[0], "what is done need not be done again"
    assert jobs.submit(store, "north", "work", ME, {"number": 3}, again=True).id not in ids
    files = {jobs.submit(store, "north", "read", ME, {}, text).id for text in (b"one", b"two", b"one")}
    assert len(files) == 2


def failing(store: Store, monkeypatch: pytest.MonkeyPatch, when: Callable[[int], bool], error: Exception) -> list[int]:
    """Let changes of a store fail, those that are told by number."""
    plain, changes = store.changing, [0]

    @contextmanager
    def changing() -> Iterator[sa.Connection]:
        changes[0] += 1
        if when(changes[0]):
            raise error
        with plain() as connection:
            yield connection

    monkeypatch.setattr(store, "changing", changing)
    return changes


BUSY = Conflict("db", "somewhere", "is being written to by somebody else")


def test_work_that_is_done_is_not_lost_to_a_busy_store(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crewlearn.web.runner.POLL_SECONDS", 0.05)
    job = submit(store, number=5)
    failing(store, monkeypatch, lambda number: 2 <= number <= 4, BUSY)  # the first one claims it
    assert Runner(store, {"work": doubled}, beat_seconds=60.0).run_one()
    done = jobs.read(other, job.id)
    assert (done.status, done.result, done.attempts) == (DONE, {"twice": 10}, 1)


def test_a_store_that_fails_amid_a_job_fails_no_job(store: Store) -> None:
    job, attempts = submit(store, number=1), []

    def unlucky(store: Store, job: Job, progress: Progress) -> Any:
        attempts.append(job.attempts)
        if len(attempts) < MOST_ATTEMPTS:
            raise BUSY
        return "at last"

    runner = Runner(store, {"work": unlucky}, pause_seconds=0.0)
    while runner.run_one():
        pass
    assert attempts == [1, 2, 3], "it is tried again, and not for ever"
    assert jobs.read(store, job.id).result == "at last"


def test_the_heart_beats_on_whatever_goes_wrong_once(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, gate = submit(store), Gate()
    changes = failing(store, monkeypatch, lambda number: 2 <= number <= 4, sa.exc.TimeoutError("no connection is free"))
    runner = Runner(store, {"work": gate}, **QUICK)
    runner.start()
    until(lambda: gate.begun)
    watching = Runner(other, {"work": doubled}, **QUICK)
    until(lambda: watching.run_one() or changes[0] > 6)
    assert jobs.read(other, job.id).attempts == 1
    gate.open.set()
    until(lambda: jobs.read(other, job.id).status == DONE)
    runner.stop()


def test_what_cannot_be_stopped_is_not_given_back(store: Store, other: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its server stops over it, and it may still come to its end: so it cannot be cancelled, as if it had not begun."""
    monkeypatch.setattr("crewlearn.web.runner.PATIENCE_SECONDS", 0.2)
    job, let_go = submit(store, "writes"), threading.Event()

    def deaf(store: Store, job: Job, progress: Progress) -> Any:
        let_go.wait(20)
        return "written"

    runner = Runner(store, {"writes": deaf}, unstoppable, **QUICK)
    runner.start()
    until(lambda: jobs.read(store, job.id).status == RUNNING)
    runner.stop()
    with pytest.raises(Conflict, match="cannot be stopped halfway"):
        cancel(other, job.id)
    let_go.set()
    until(lambda: jobs.read(other, job.id).status == DONE)
