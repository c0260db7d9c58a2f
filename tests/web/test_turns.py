"""Locks: long work is serialised per site, and does not delay other sites."""

import gc
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy.pool import QueuePool

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.answers import Answer, give_once
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.errors import Conflict, Overloaded
from crewlearn.advisor.ledger.events import OfferRecorded
from crewlearn.advisor.ledger.keyed_locks import KeyedLocks
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.writers import Writers
from crewlearn.web import snapshots
from crewlearn.web.jobs import queue
from support.stores import ME, Database, config, proposed, site_with_proposals
from support.waiting import until
from support.web.api import CREW, Api, caller, served, with_crew

SOON, LONG = 0.3, 60.0


@contextmanager
def held(store: Store, site: str) -> Iterator[None]:
    """Run long work on a site in another thread."""
    begun, over = threading.Event(), threading.Event()

    def hold() -> None:
        with store.in_turn(site):
            begun.set()
            over.wait(LONG)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert begun.wait(LONG)
        yield
    finally:
        over.set()
        thread.join()


def started(what: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=what)
    thread.start()
    return thread


def test_a_lock_is_the_same_for_the_same_thing_and_goes_when_nobody_has_it() -> None:
    turns = KeyedLocks()
    lock = turns.of("store", "north")
    assert turns.of("store", "north") is lock
    several = [turns.of("store", f"site {n}") for n in range(500)]
    assert len({id(lock) for lock in several}) == 500, "no two keys share a lock"
    del several
    gc.collect()
    assert len(turns._locks) == 1
    assert turns.of("store", "north") is lock


def test_who_writes_waits_for_long_work_at_the_same_site_and_for_none_elsewhere(store: Store) -> None:
    for name in ("north", "south"):
        commands.create_site(store, name, config(), ME)
    with held(store, "north"):
        commands.change_site(store, "south", {"fee": 9.0}, ME)
        waiting = started(lambda: commands.change_site(store, "north", {"fee": 9.0}, ME))
        waiting.join(SOON)
        assert waiting.is_alive()
    waiting.join(LONG)
    assert not waiting.is_alive()


def test_who_reads_waits_for_a_while_only_to_make_what_is_not_made(
    store: Store, client: TestClient, mia: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_crew(mia)
    tag = mia.send("GET", "/sites/north/status").headers["ETag"]
    mia.get("/sites/north/workers")
    monkeypatch.setattr(snapshots, "PATIENCE_SECONDS", LONG)
    with held(store, "north"):
        mia.get("/sites/north/status")
        mia.get("/sites/north/workers")
        assert mia.send("GET", "/sites/north/status", headers={"If-None-Match": tag}).status_code == 304
        waiting = started(lambda: client.get("/sites/north", headers=mia.headers))
        waiting.join(SOON)
        assert waiting.is_alive(), "a page is rendered each time"
    waiting.join(LONG)
    monkeypatch.setattr(snapshots, "PATIENCE_SECONDS", 0.01)
    with held(store, "north"):
        assert client.get("/sites/north", headers=mia.headers).status_code == 200


def test_who_waited_is_told_of_one_moment_also_by_name(
    store: Store, database: Database, client: TestClient, mia: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_crew(mia)
    monkeypatch.setattr(snapshots, "PATIENCE_SECONDS", LONG)
    answers: list[Any] = []
    with held(store, "north"), database.open() as other:
        waiting = started(lambda: answers.append(mia.get("/sites/north/workers", params={"search": "zed"})))
        waiting.join(SOON)
        assert waiting.is_alive()
        worker_imports.import_workers(other, "north", [WorkerRow("z", name="Zed")], b"", ME)
    waiting.join(LONG)
    assert [worker["name"] for worker in answers[0]["items"]] == ["Zed"]


def test_forty_writers_that_wait_for_a_site_leave_the_threads_to_readers(
    store: Store, client: TestClient, mia: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has forty threads. Writers that wait do not count as such, and of more than so many all are told."""
    with_crew(mia)
    with_crew(mia, "south")
    mia.get("/sites/north/status")
    monkeypatch.setattr(writers_of(client), "most_at_site", 45)
    answers: list[Response] = []

    def write() -> None:
        answers.append(mia.send("POST", "/sites/north/workers", json={"workers": CREW}))

    reads: list[int] = []

    def read() -> None:
        for path in ("/sites/north/status", "/sites/south/status", "/sites/south/workers"):
            reads.append(mia.send("GET", path).status_code)

    with held(store, "north"):
        writing = [started(write) for _ in range(50)]
        reading = started(read)
        reading.join(20.0)  # less than the writers wait
        assert reads == [200, 200, 200]
        until(lambda: len(answers) == 5)
        for refused in answers[:5]:
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.json()["detail"].startswith("Too many others wait to write; nothing was done, try again")
    for thread in writing:
        thread.join(LONG)
    assert [answer.status_code for answer in answers[5:]] == [200] * 45
    portal = client.portal
    assert portal is not None
    until(lambda: portal.call(tokens) == 40)


async def tokens() -> float:
    return to_thread.current_default_thread_limiter().total_tokens


def writers_of(client: TestClient) -> Writers:
    app: Any = client.app
    writers: Writers = app.state.store.writers
    return writers


def test_who_waited_too_long_for_a_site_is_refused_and_changes_nothing(
    store: Store, mia: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_crew(mia)
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine.LOCK_SECONDS", 0.1)
    with held(store, "north"):
        refused = mia.send("PATCH", "/sites/north", json={"fee": 7.0}, headers={"If-Match": "*"})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json()["detail"].startswith("Others were writing for 0.1 s; nothing was done, try again")
    assert mia.get("/sites/north")["settings"]["fee"] == 5.0


def test_writers_that_wait_hold_no_connection(database: Database) -> None:
    """A ticket allows one writer to take a connection; the next is refused, or waits outside of the pool."""
    with database.open() as store:
        commands.create_site(store, "north", config(), ME)
        bounded = store.bounded(Writers(1, most_waiting=1))
        begun, over = threading.Event(), threading.Event()

        def write() -> None:
            with bounded.changing():
                begun.set()
                over.wait(LONG)

        first = started(write)
        assert begun.wait(LONG)
        busy = pool_of(store).checkedout()
        second = started(lambda: commands.change_site(bounded, "north", {"fee": 9.0}, ME))
        try:
            until(lambda: waiting_in(bounded) == 1)
            assert pool_of(store).checkedout() == busy
            with pytest.raises(Overloaded, match="too many others wait to write; nothing was done"):
                commands.change_site(bounded, "south", {"fee": 9.0}, ME)
        finally:
            over.set()
            first.join(LONG)
            second.join(LONG)
        with store.reading() as connection:
            assert store.site(connection, "north")[1].config.fee == 9.0


def pool_of(store: Store) -> QueuePool:
    pool = store.engine.pool
    assert isinstance(pool, QueuePool)
    return pool


def waiting_in(store: Store) -> int:
    assert store.writers is not None
    return store.writers._waiting.total()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_job_can_be_asked_for_while_somebody_writes_to_its_site(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one writer for all sites, so there it waits."""
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine.LOCK_SECONDS", 2.0)
    with database.open() as store, database.open() as other:
        site_with_proposals(store)
        with store.writing("site", ME):
            assert queue.submit(other, "site", "verify", ME, {}).status == queue.QUEUED


@pytest.fixture
def hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store at a secret address, with a proposal approved by Ann and an open one."""
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine.LOCK_SECONDS", 0.2)
    with open_store(f"sqlite:///{tmp_path}/secret-place.db") as store:
        site_with_proposals(store)
        commands.approve(store, "site", proposed(store)[0], "ann")
        yield store


@contextmanager
def written_to(store: Store) -> Iterator[None]:
    """Write to a store from another process."""
    with closing(sqlite3.connect(str(store.engine.url.database), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_a_busy_store_is_not_told_as_somebodys_answer(hidden: Store) -> None:
    give = partial(commands.record_offer, hidden, "site", 1, "offered", "ben")
    with written_to(hidden), pytest.raises(Conflict, match="locked by another writer"):
        give_once(hidden, "site", "ben", Answer(OfferRecorded, 1, outcome="offered"), give)


def test_a_page_says_that_the_store_is_busy_and_not_where_it_is(hidden: Store) -> None:
    with served(hidden, jobs=False) as client:
        token = caller(client, "mia", "admin").headers["Authorization"].removeprefix("Bearer ")
        assert client.post("/sign-in", data={"token": token}).status_code == 303
        client.headers["Accept"] = "text/html"
        page = client.get("/sites/site/settings").text
        form = dict(re.findall(r'name="([a-z_]+)"[^>]*value="([^"]*)"', page))
        asked: list[tuple[str, dict[str, Any]]] = [
            (f"/sites/site/proposals/{proposed(hidden)[0]}/approve", {}),
            ("/sites/site/settings", {**form, **CHOSEN, "fee": "9"}),
            ("/sites/new", {**form, **CHOSEN, "name": "north", "fee": "9"}),
            (
                "/sites/site/import",
                {"text": "date,worker_id,units\n2024-01-01,a,5\n", "step": "confirm", "kind": "output"},
            ),
        ]
        with written_to(hidden):
            answers = [client.post(url, data=form) for url, form in asked]
    assert [answer.status_code for answer in answers] == [409] * len(asked), [answer.text for answer in answers]
    for answer in answers:
        assert "Another writer was active at the same time; nothing was done." in answer.text
        assert "secret-place" not in answer.text


CHOSEN = {"weekdays": ["0", "1", "2", "3", "4"], "policy": "value-of-replacement", "fee_due": "initiation"}
