"""The work of jobs when something else fails: the result says what is on record."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.web import snapshots
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.queue import MOST_WAITING, Job
from crewlearn.web.jobs.runner import JobRunner, Progress
from support.stores import CALENDAR, ME, site_with_proposals, state_of
from support.web.api import Api, caller, served

OUT_OF_REACH = StoreUnavailable("somewhere", "has no free connection; nothing was done, try again")


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    """A server that runs no jobs by itself."""
    site_with_proposals(store)
    with served(store, jobs=False) as made:
        yield made


@pytest.fixture
def mia(client: TestClient) -> Api:
    return caller(client, "mia", "manager")


def output(period: int) -> bytes:
    return "".join(
        ["date,worker_id,units\n", *(f"{CALENDAR.date_of(period)},{worker},50\n" for worker in "ac")]
    ).encode()


def done(store: Store, job: Job) -> Job:
    runner = JobRunner(store, work.LANES[1], pause_seconds=0.0)
    while runner.run_one():
        pass
    return queue.read(store, job.id)


@pytest.mark.parametrize("error", [OUT_OF_REACH, RuntimeError("of a policy of the firm's own")])
def test_what_is_on_record_is_told_though_the_advice_cannot_be(
    store: Store,
    client: TestClient,
    mia: Api,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    plain, before = snapshots.snapshot, len(caplog.records)

    def fails_after(period: int) -> Callable[[Store, str], snapshots.Snapshot]:
        def snapshot(store: Store, name: str) -> snapshots.Snapshot:
            if state_of(store, name).period > period:
                raise error
            return plain(store, name)

        return snapshot

    monkeypatch.setattr(snapshots, "snapshot", fails_after(1))
    job = done(store, queue.submit(store, "site", work.OUTPUT_IMPORT, ME, {"mapping": {}}, output(1)))
    assert (job.status, job.attempts) == ("done", 1)
    assert (job.result["recorded"], job.result["known"], job.result["advice"]) == (2, 0, "")
    assert any(record.exc_info for record in caplog.records[before:]), "the fault is logged"
    assert mia.get(f"/jobs/{job.id}")["result"]["recorded"] == 2
    monkeypatch.setattr(snapshots, "snapshot", plain)
    assert done(store, queue.submit(store, "site", work.OUTPUT_IMPORT, ME, {"mapping": {}}, output(2))).result["advice"]


def test_a_check_finds_a_wrong_number_of_events(store: Store) -> None:
    site_with_proposals(store)
    with store.changing() as connection:
        connection.execute(sa.text("update sites set events = 0"))
    verified = verify(store, "site")
    assert not verified.sound
    job = done(store, queue.submit(store, "site", work.VERIFY, ME, {}))
    assert (job.status, job.result["sound"], job.result["faults"]) == ("done", False, list(verified.faults))


def test_a_file_that_is_only_tried_cannot_be_stopped_halfway_either(store: Store, mia: Api) -> None:
    """Its transaction would continue and hold the lock."""
    options = {"mapping": {}, "check_only": True}
    waiting, begun = (
        queue.submit(store, "site", work.OUTPUT_IMPORT, "mia", options, output(period)).id for period in (1, 2)
    )
    assert mia.call("DELETE", f"/jobs/{waiting}")["status"] == "cancelled"
    answers: list[str] = []

    def trying(store: Store, job: Job, progress: Progress) -> Any:
        answers.append(mia.call("DELETE", f"/jobs/{begun}", 409)["detail"])
        return work.run_import(store, job, progress)

    assert JobRunner(store, {work.OUTPUT_IMPORT: trying}).run_one()
    assert len(answers) == 1
    assert "cannot be stopped; it changes nothing" in answers[0]
    assert "correct" not in answers[0]
    assert queue.read(store, begun).status == "done"
    assert state_of(store).period == 1


def test_whoever_asks_for_too_much_at_once_is_told_what_to_do(client: TestClient, mia: Api) -> None:
    for runs in range(2, 2 + MOST_WAITING):
        mia.post("/sites/site/plan", {"runs": runs}, 202)
    problem = mia.post("/sites/site/plan", {"runs": 100}, 409)
    assert "wait for one to begin, or cancel one" in problem["detail"], json.dumps(problem)
    mia.post("/sites/site/ledger/verification", None, 202)
    caller(client, "ben", "manager").post("/sites/site/plan", {"runs": 100}, 202)
