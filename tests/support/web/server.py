"""Real server processes for tests: started on a database, polled until ready, and stopped by process id."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from crewlearn.advisor.advice.opening import open_store
from crewlearn.web.auth import users
from support.waiting import PATIENCE

_AT = re.compile(r"crewlearn is at (http://127\.0\.0\.1:\d+)/")
_LINK = re.compile(r"/sign-in/once\?code=(\S+)")


@dataclass
class Server:
    """A server process: its address, its log, and the secrets that must never be logged."""

    db: str
    url: str
    process: "subprocess.Popen[bytes]"
    log_file: Path
    secrets: list[str] = field(default_factory=list)

    def output(self) -> str:
        """Return the process's output so far."""
        return self.log_file.read_text()

    def first_link(self) -> str:
        """Return the one-time link that a first start prints."""
        match = _LINK.search(self.output())
        assert match is not None, self.output()
        return self._link(match[1])

    def _link(self, code: str) -> str:
        return f"{self.url}/sign-in/once?code={code}"

    def user(self, name: str, role: str, *, days: float = 90.0) -> str:
        """Add a user; return a token, which must never be logged."""
        with open_store(self.db) as store:
            users.add(store, name, role)
            self.secrets.append(users.new_token(store, name, days)[1])
        return self.secrets[-1]

    def link(self, name: str) -> str:
        """Return a new one-time link for a user."""
        with open_store(self.db) as store:
            return self._link(users.new_link(store, name))

    def get(self, path: str, token: str | None = None) -> Any:
        """Get a document from the API, without a browser."""
        return self.ask("GET", path, token)

    def ask(self, method: str, path: str, token: str | None = None, body: Any = None) -> Any:
        """Send a request to the API; return its JSON response."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def stop(self) -> None:
        """Stop the process cleanly, and check its log."""
        if self.process.poll() is None:
            self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self.output()
        self.check_log()

    def kill(self) -> None:
        """Kill the process."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)
        self.check_log()

    def check_log(self) -> None:
        """Check that the log has no traceback and no secret: no token, link or session."""
        lines = [line for line in self.output().splitlines() if not _LINK.search(line)]
        failed = [number for number, line in enumerate(lines) if line.startswith("Traceback")]
        assert not failed, "\n".join(lines[failed[0] - 1 :][:80])
        hidden = re.compile(
            "|".join([r"code=", r"crew_[\w-]{20,}", "crewlearn_session", *map(re.escape, self.secrets)])
        )
        assert not [line for line in lines if hidden.search(line)]


def start(db: str, log_file: Path, *options: str) -> Server:
    """Start a server and wait until it responds."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "crewlearn", "serve", "--port", "0", "--db", db, *options],
            stdout=log,
            stderr=log,
            env=environment,
        )
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        text = log_file.read_text()
        match = _AT.search(text)
        if match is not None and _answers(match[1]):
            return Server(db, match[1], process, log_file)
        if process.poll() is not None:
            break
        time.sleep(0.05)
    process.kill()
    process.wait()
    raise AssertionError(f"the server did not start: {log_file.read_text()}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/v1/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


Serve = Callable[..., Server]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """A function that starts a server on a database; those still running at the end of the test are stopped."""
    numbers = itertools.count()
    with ExitStack() as started:

        def begin(db: str, *options: str) -> Server:
            server = start(db, tmp_path / f"server-{next(numbers)}.log", *options)
            started.callback(_end, server)
            return server

        yield begin


def _end(server: Server) -> None:
    """Stop a server that is still running, by force if necessary."""
    if server.process.poll() is None:
        try:
            server.stop()
        finally:
            if server.process.poll() is None:
                server.kill()
