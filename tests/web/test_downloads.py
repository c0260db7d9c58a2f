"""Exports over the web: slow readers, disconnects and many requests do not delay other responses."""

import asyncio
import errno
import gc
import io
import tempfile
import threading
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from python_calamine import CalamineWorkbook
from sqlalchemy.pool import QueuePool

from crewlearn.advisor.evidence.exports import EXPORTS
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import downloads
from crewlearn.web.app import make_app
from crewlearn.web.auth import users
from crewlearn.web.settings import Settings
from support.stores import busy_site
from support.waiting import PATIENCE
from support.web.api import PROBLEM
from support.web.app import BASE, bearer

API, PAGE, ADVICE = "/api/v1/sites/site/ledger/export", "/sites/site/record/export/output", "/api/v1/sites/site/advice"
MANY = 20
"""More than there are connections: SQLAlchemy's pools have 5, and up to 10 more on demand."""


@dataclass
class Reader:
    """A client that stops at the first chunk of a body until told to go on, or disconnects.

    It speaks ASGI as uvicorn does, so that the test controls when things happen.
    """

    app: FastAPI
    token: str
    path: str
    query: str = ""
    began: asyncio.Event = field(default_factory=asyncio.Event)
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""

    async def ask(self) -> None:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": self.query.encode(),
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {self.token}".encode())],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
            "state": {},
        }
        await self.app(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
            return
        self.began.set()
        await self.reads.wait()
        self.body += message["body"]


@pytest.fixture
def app(store: Store) -> FastAPI:
    busy_site(store)
    users.add(store, "vic", "viewer")
    return make_app(store, Settings())


@pytest.fixture
def token(app: FastAPI, store: Store) -> str:
    return users.new_token(store, "vic")[1]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> list[IO[bytes]]:
    """The files written for exports, in small chunks and on disk."""
    made: list[IO[bytes]] = []

    class ListedFile(tempfile.SpooledTemporaryFile[bytes]):
        def __init__(self, most: int) -> None:
            super().__init__(most)
            made.append(self)

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", ListedFile)
    monkeypatch.setattr(downloads, "IN_MEMORY", 20)
    monkeypatch.setattr(downloads, "PIECE", 50)
    return made


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Without the cyclic garbage collector: what only it frees may be held for hours on a quiet server."""
    gc.disable()
    yield
    gc.enable()


def held(store: Store) -> int:
    """Count the connections in use."""
    assert isinstance(store.engine.pool, QueuePool)
    return store.engine.pool.checkedout()


async def answered(app: FastAPI, token: str) -> int:
    """Request the advice; return the status."""
    reader = Reader(app, token, ADVICE)
    reader.reads.set()
    await asyncio.wait_for(reader.ask(), PATIENCE)
    return reader.status


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("path", [API, PAGE])
def test_slow_readers_keep_nobody_from_an_answer(
    app: FastAPI, token: str, store: Store, files: list[IO[bytes]], path: str
) -> None:
    async def all_at_once() -> list[Reader]:
        readers = [Reader(app, token, path, "what=output") for _ in range(MANY)]
        asking = [asyncio.create_task(reader.ask()) for reader in readers]
        for reader in readers:
            await asyncio.wait_for(reader.began.wait(), PATIENCE)
        assert not any(task.done() for task in asking)
        assert held(store) == 0
        assert await answered(app, token) == 200
        for reader in readers:
            reader.reads.set()
        await asyncio.gather(*asking)
        return readers

    expected = "".join(EXPORTS["output"](store, "site")).encode()
    assert len(expected) > 2 * downloads.PIECE
    for reader in asyncio.run(all_at_once()):
        assert (reader.status, reader.body) == (200, expected)
        assert reader.headers[b"content-length"] == str(len(expected)).encode()
    assert [file.closed for file in files] == [True] * MANY


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("path", [API, PAGE])
def test_who_hangs_up_leaves_nothing_open(
    app: FastAPI, token: str, store: Store, files: list[IO[bytes]], path: str
) -> None:
    async def hung_up() -> Reader:
        reader = Reader(app, token, path, "what=output")
        asking = asyncio.create_task(reader.ask())
        await asyncio.wait_for(reader.began.wait(), PATIENCE)
        assert [file.closed for file in files] == [False]
        reader.gone.set()
        await asyncio.wait_for(asking, PATIENCE)
        return reader

    reader = asyncio.run(hung_up())
    assert (reader.status, reader.body) == (200, b"")
    assert [file.closed for file in files] == [True]
    assert held(store) == 0


def test_few_are_made_at_once_and_the_others_wait_without_a_thread(
    app: FastAPI, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More are requested than there are threads (40): waiting in threads would leave none free."""
    going_on, lock, under_way, most = threading.Event(), threading.Lock(), set[int](), 0

    def slowly(store: Store, name: str) -> Generator[str, None, None]:
        nonlocal most
        with lock:
            under_way.add(threading.get_ident())
            most = max(most, len(under_way))
        assert going_on.wait(PATIENCE)
        with lock:
            under_way.remove(threading.get_ident())
        yield "line\n"

    async def all_at_once() -> list[Reader]:
        readers = [Reader(app, token, API, "what=output") for _ in range(60)]
        asking = [asyncio.create_task(reader.ask()) for reader in readers]
        for reader in readers:
            reader.reads.set()
        try:
            async with asyncio.timeout(PATIENCE):
                while len(under_way) < downloads.AT_ONCE:
                    await asyncio.sleep(0.01)
            assert await answered(app, token) == 200
        finally:
            going_on.set()
        await asyncio.gather(*asking)
        return readers

    monkeypatch.setattr(downloads, "EXPORTS", {"output": slowly})
    assert [reader.body for reader in asyncio.run(all_at_once())] == [b"line\n"] * 60
    assert most == downloads.AT_ONCE


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (StoreUnavailable("x", "cannot be used"), 503),
        (InvalidInput("site", "x", "cannot be read"), 422),
        (RuntimeError("a fault of ours"), 500),
    ],
)
@pytest.mark.parametrize("path", [API, PAGE])
def test_what_goes_wrong_half_way_is_a_problem_and_no_broken_file(
    app: FastAPI, token: str, monkeypatch: pytest.MonkeyPatch, path: str, fault: Exception, status: int
) -> None:
    def broken(store: Store, name: str) -> Generator[str, None, None]:
        yield "x" * (downloads.PIECE + 1)
        raise fault

    monkeypatch.setattr(downloads, "EXPORTS", {"output": broken})
    with TestClient(app, base_url=BASE) as client:
        response = client.get(path, params={"what": "output"}, headers=bearer(token))
    assert (response.status_code, response.headers["content-type"]) == (status, PROBLEM)
    assert response.json()["status"] == status


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("what", EXPORTS)
def test_a_full_disk_is_told_of_and_lets_go_of_the_store(
    app: FastAPI, token: str, store: Store, files: list[IO[bytes]], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def full(file: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", full)
    with TestClient(app, base_url=BASE) as client:
        response = client.get(API, params={"what": what}, headers=bearer(token))
    assert held(store) == 0
    assert (response.status_code, response.headers["content-type"]) == (503, PROBLEM)
    assert [file.closed for file in files] == [True]


@pytest.mark.parametrize("waits", [False, True])
def test_nothing_is_made_for_who_has_hung_up(
    app: FastAPI, token: str, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    """Not for a client that disconnects in the queue, and not to the end for one that does so halfway."""
    begun, going_on, lines = threading.Event(), threading.Event(), 0

    def slowly(store: Store, name: str) -> Generator[str, None, None]:
        nonlocal lines
        begun.set()
        assert going_on.wait(PATIENCE)
        while lines < 100:
            lines += 1
            yield "line\n"

    async def hung_up() -> None:
        app.state.exporting = asyncio.Semaphore(1)
        if waits:
            await app.state.exporting.acquire()
        reader = Reader(app, token, API, "what=output")
        asking = asyncio.create_task(reader.ask())
        if not waits:
            assert await asyncio.to_thread(begun.wait, PATIENCE)
        reader.gone.set()
        await asyncio.sleep(0.1)
        going_on.set()
        await asyncio.wait_for(asking, PATIENCE)
        if waits:
            app.state.exporting.release()
        await asyncio.wait_for(app.state.exporting.acquire(), PATIENCE)
        assert reader.body == b""

    monkeypatch.setattr(downloads, "EXPORTS", {"output": slowly})
    asyncio.run(hung_up())
    assert begun.is_set() != waits
    assert lines <= 1


@pytest.mark.parametrize(("path", "given"), [(API, {"what": "output", "format": "xlsx"}), (PAGE, {"format": "xlsx"})])
def test_tables_are_workbooks_when_asked_for(app: FastAPI, token: str, path: str, given: dict[str, str]) -> None:
    with TestClient(app, base_url=BASE) as client:
        response = client.get(path, params=given, headers=bearer(token))
        events = client.get(API, params={"format": "xlsx"}, headers=bearer(token))
        text = client.get(API, params={"what": "output"}, headers=bearer(token))
    assert response.headers["content-type"] == downloads.WORKBOOK
    assert response.headers["content-disposition"].endswith('output.xlsx"')
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(response.content)).get_sheet_by_name("output")
    assert sheet.height == len(text.text.splitlines())
    assert events.status_code == 422
    assert "is for tables only" in events.json()["detail"]
