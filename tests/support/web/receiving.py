"""A receiver of webhooks on loopback, and server processes that deliver; both can be killed and begun again."""

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.notices import outbox
from crewlearn.advisor.ledger.notices.kinds import FAILED_IMPORT, Notice
from crewlearn.advisor.ledger.store import Store

HERE = ("127.0.0.1", "localhost")
"""This machine, as an operator allows it."""

DELIVERING = """
import sys, time
from crewlearn.advisor.advice.opening import open_store
from crewlearn.web.notices.deliverer import Deliverer
store = open_store(sys.argv[1], make=False)
lost = float(sys.argv[2])
Deliverer(store, ["127.0.0.1"], poll_seconds=0.05, lost_seconds=lost, post_seconds=lost / 2).start()
print("delivering", flush=True)
time.sleep(3600)
"""


@dataclass
class Received:
    """A request as the receiver got it."""

    headers: Message
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(self.body)
        return made


@dataclass
class Receiver:
    """An HTTP server that keeps what is posted; `answers` decides the status, given how many came before."""

    answers: Callable[[int], int] = lambda number: 200
    port: int = 0
    got: list[Received] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def start(self) -> None:
        """Listen, at the same port as before."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.paths.append(self.path)
                outer.got.append(Received(self.headers, body))
                with suppress(OSError):
                    status = outer.answers(len(outer.got) - 1)
                    self.send_response(status)
                    if 300 <= status < 400:
                        self.send_header("Location", f"http://127.0.0.1:{outer.port}/elsewhere")
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *words: object) -> None:
                """Say nothing."""

        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        assert self._server is not None
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def stop(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def first_of_each(self) -> list[dict[str, Any]]:
        """The documents by their first arrival: a delivery may come more than once."""
        seen: dict[str, dict[str, Any]] = {}
        for received in list(self.got):
            seen.setdefault(received.document["delivery"], received.document)
        return list(seen.values())


@contextmanager
def receiver(answers: Callable[[int], int] = lambda number: 200) -> Iterator[Receiver]:
    made = Receiver(answers)
    made.start()
    try:
        yield made
    finally:
        made.stop()


class Delivering:
    """A server process that only delivers; it is killed, never stopped."""

    def __init__(self, url: str, lost_seconds: float) -> None:
        self.url, self.lost = url, lost_seconds
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", DELIVERING, self.url, str(self.lost)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"delivering\n"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None


def cause(store: Store, site: str, number: int) -> None:
    """Put a notice with a number in the outbox of a site's webhooks."""
    with store.changing() as connection:
        key = store.locked_key(connection, site)
        outbox.put(connection, key, [Notice(FAILED_IMPORT, {"source": "test", "n": number})])


def statuses(store: Store) -> list[str]:
    """Return the states of all deliveries, the oldest first."""
    with store.reading() as connection:
        table = schema.deliveries
        return list(connection.execute(sa.select(table.c.status).order_by(table.c.id)).scalars())


@contextmanager
def raw_receiver(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A receiver that answers each connection as a function does; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, suppress(OSError):
                        connection.recv(65_536)
                        answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/hook"
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
