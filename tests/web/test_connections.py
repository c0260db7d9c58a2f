"""Slow and many connections, by raw sockets on a server in a thread of this process."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import uvicorn

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.store import Store
from crewlearn.web import server
from crewlearn.web.app import make_app
from crewlearn.web.connections import Limits
from crewlearn.web.settings import Settings
from support.waiting import PATIENCE, until
from support.web.app import add_probes

HEALTH = b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
QUICK = Limits(
    most=300, most_of_network=200, head_seconds=0.5, body_seconds=0.5, reading_seconds=0.5, check_seconds=0.05
)
Listen = Callable[..., "Listening"]


class Listening:
    """A server that listens on loopback, and the sockets connected to it."""

    def __init__(self, store: Store, limits: Limits, settings: Settings, stack: ExitStack) -> None:
        app = make_app(store, settings, lanes=())
        add_probes(app)
        self.stack = stack
        taken = server.listen(settings)
        self.address = taken.getsockname()
        self.server = uvicorn.Server(server.config_of(app, settings, limits))
        thread = threading.Thread(target=self.server.run, kwargs={"sockets": [taken]})
        thread.start()

        def stop() -> None:
            self.server.should_exit = True
            thread.join(PATIENCE)

        stack.callback(stop)
        until(lambda: self.server.started)

    def connect(self, sent: bytes = b"") -> socket.socket:
        made = self.stack.enter_context(socket.create_connection(self.address, timeout=PATIENCE))
        made.sendall(sent)
        return made

    @property
    def connections(self) -> int:
        return len(self.server.server_state.connections)


@pytest.fixture
def listen(tmp_path: Path) -> Iterator[Listen]:
    """A function that starts a server with limits; it stops at the end of the test."""
    with open_store(f"sqlite:///{tmp_path}/site.db") as store, ExitStack() as stack:

        def start(limits: Limits = QUICK, settings: Settings | None = None) -> Listening:
            return Listening(store, limits, settings or Settings(port=0), stack)

        yield start


def answered(sock: socket.socket) -> bytes:
    """Return what comes until the server closes the connection, or one response to a GET."""
    got = b""
    try:
        while piece := sock.recv(65_536):
            got += piece
            if got.startswith(b"HTTP/1.1 200") and got.endswith(b"}"):
                break
    except ConnectionResetError:
        pass
    return got


def send_until_cut(sock: socket.socket, data: bytes) -> bool:
    """Send something; return whether that was impossible."""
    try:
        sock.sendall(data)
    except OSError:
        return True
    return False


def status(sock: socket.socket) -> int:
    first = answered(sock).split(b" ", 2)
    return int(first[1]) if len(first) > 1 else 0


def test_half_a_head_is_answered_with_408_and_silence_is_closed(listen: Listen) -> None:
    here = listen()
    half, silent, second = here.connect(HEALTH[:30]), here.connect(), here.connect(HEALTH)
    assert answered(second).endswith(b"}")
    second.sendall(HEALTH[:10])  # on a connection that was kept
    assert (status(half), answered(silent), status(second)) == (408, b"", 408)
    until(lambda: here.connections == 0)
    assert status(here.connect(HEALTH)) == 200


def test_a_trickled_head_is_cut_off_too(listen: Listen) -> None:
    here = listen()
    slow = here.connect(b"GET /api/v1/health HTTP/1.1\r\n")
    until(lambda: send_until_cut(slow, b"X: y\r\n"))
    until(lambda: here.connections == 0)


def test_a_body_that_stops_is_answered_with_408_and_leaves_no_traceback(
    listen: Listen, caplog: pytest.LogCaptureFixture
) -> None:
    here = listen()
    head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\nContent-Type: application/json\r\n\r\n{"
    stopped = [here.connect(head % path) for path in (b"/api/v1/echo", b"/api/v1/json")]
    assert [status(sock) for sock in stopped] == [408, 408]
    until(lambda: here.connections == 0)
    until(lambda: not here.server.server_state.tasks)
    assert "Traceback" not in caplog.text
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_large_body_may_take_longer_if_it_comes_steadily(listen: Listen) -> None:
    """At about 50,000 bytes a second where 4000 are asked for, in four times the time that a stopped body has."""
    here = listen(Limits(body_seconds=0.2, body_rate=4000.0, check_seconds=0.05))
    head = b"POST /api/v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 40000\r\n\r\n"
    steady = here.connect(head)
    for _ in range(20):
        steady.sendall(b"x" * 2000)
        time.sleep(0.04)
    assert steady.recv(4096).startswith(b"HTTP/1.1 200")


def test_a_client_that_reads_nothing_is_cut_off(listen: Listen) -> None:
    here = listen()
    deaf = here.connect()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    request = b"GET /static/app.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    deaf.settimeout(0.2)
    until(lambda: send_until_cut(deaf, request * 50))  # they are no longer read, or the connection is gone
    until(lambda: here.connections == 0)


def test_hundreds_of_sockets_are_bounded_told_so_and_logged_once(
    listen: Listen, caplog: pytest.LogCaptureFixture
) -> None:
    here = listen(Limits(most=300, most_of_network=200, head_seconds=PATIENCE, check_seconds=0.05))
    kept = [here.connect(HEALTH[:20]) for _ in range(200)]
    until(lambda: here.connections == 200)
    refused = [here.connect() for _ in range(300)]
    told = [answered(sock) for sock in refused]
    assert all(text.startswith(b"HTTP/1.1 503 ") and b"\r\nretry-after: 5\r\n" in text for text in told)
    head, _, body = told[0].partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert here.connections == 200
    lines = [record.getMessage() for record in caplog.records if "connections" in record.getMessage()]
    assert len(lines) == 1
    assert "too many connections: 1 refused, the last from 127.0.0.1" in lines[0]
    for sock in kept:
        sock.close()
    until(lambda: here.connections == 0)
    assert status(here.connect(HEALTH)) == 200


def test_behind_a_proxy_only_all_connections_together_are_bounded(listen: Listen) -> None:
    here = listen(Limits(most=30, most_of_network=20, head_seconds=PATIENCE), Settings(port=0, behind_proxy=True))
    for _ in range(30):
        here.connect(HEALTH[:20])
    until(lambda: here.connections == 30)
    assert answered(here.connect()).startswith(b"HTTP/1.1 503 ")
