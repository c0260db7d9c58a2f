"""Several processes that serve one socket: replaced, stopped and killed under load, without a lost request."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import sqlalchemy as sa
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.cli.main import app
from crewlearn.client import ApiError, Client
from crewlearn.web import supervisor
from crewlearn.web.jobs import queue
from support.stores import ME, site_with_proposals
from support.waiting import until
from support.web.receiving import cause, receiver
from support.web.server import Server, start

ROOT = "/crew"
NORTH = f"{ROOT}/api/v1/sites/north"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two workers below a path, on a store with a site."""
    folder = tmp_path_factory.mktemp("workers")
    db = f"sqlite:///{folder}/site.db"
    with open_store(db, make=True) as store:
        site_with_proposals(store, "north")
    options = ("--workers", "2", "--root-path", ROOT, "--notify-host", "127.0.0.1")
    running = start(db, folder / "log", *options)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


def workers_of(server: Server) -> set[int]:
    """Return the processes that the supervisor has started."""
    pid = server.process.pid
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


class Load:
    """Clients that read and write over connections that they keep, until told to stop."""

    def __init__(self, server: Server, token: str, readers: int = 3, writers: int = 2) -> None:
        self.server, self.headers = server, {"Authorization": f"Bearer {token}"}
        self.ended, self.failures, self.read = threading.Event(), list[str](), Counter[int]()
        self.written: list[str] = []
        self.threads = [threading.Thread(target=self._reading, args=(n,)) for n in range(readers)]
        self.threads += [threading.Thread(target=self._writing, args=(n,)) for n in range(writers)]

    def __enter__(self) -> "Load":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self.server.url, headers=self.headers, timeout=60)

    def _reading(self, number: int) -> None:
        with self._client() as client:
            while not self.ended.is_set():
                if self._ask(client, "GET", f"{NORTH}/status"):
                    self.read[number] += 1

    def _writing(self, number: int) -> None:
        with self._client() as client:
            for count in range(10_000):
                if self.ended.is_set():
                    return
                text = f"note {number} {count}"
                if self._ask(client, "POST", f"{NORTH}/notes", {"worker_id": "a", "text": text}):
                    self.written.append(text)
                time.sleep(0.02)

    def _ask(self, client: httpx.Client, method: str, path: str, body: Any = None) -> bool:
        try:
            answer = client.request(method, path, json=body)
        except httpx.HTTPError as error:
            self.failures.append(f"{method}: {error!r}")
            return False
        if answer.status_code != 200 or not answer.json():
            self.failures.append(f"{method}: {answer.status_code} {answer.text}")
        return answer.status_code == 200


def test_workers_are_replaced_under_load_and_nothing_is_lost(server: Server) -> None:
    token = server.user("ann", "manager")
    first = until(lambda: workers_of(server))
    assert len(first) == 2
    with Load(server, token) as load:
        until(lambda: len(load.written) > 5)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: not first & workers_of(server) and len(workers_of(server)) == 2)
        until(lambda: "2 workers were replaced" in server.output())
        second = workers_of(server)
        os.kill(min(second), signal.SIGTERM)  # one alone, as a system short of memory might choose it
        until(lambda: min(second) not in workers_of(server) and len(workers_of(server)) == 2)
        until(lambda: "another is started" in server.output())
        done = len(load.written)
        until(lambda: len(load.written) > done + 5)
    assert load.failures == []
    assert min(load.read[number] for number in range(3)) > 5
    with open_store(server.db) as store, store.reading() as connection:
        notes = sa.select(schema.events.c.payload).where(schema.events.c.type == "note-added")
        texts = Counter(json.loads(payload)["text"] for payload in connection.execute(notes).scalars())
    assert texts == Counter(load.written), "every acknowledged write is on record, and once"
    answer = httpx.get(f"{server.url}/metrics", headers=load.headers, timeout=60)
    counted = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    route = "/api/v1/sites/{site}/status"
    assert counted["crewlearn_requests_total", "GET", route, "200"] == load.read.total(), (
        "of all workers, past ones too"
    )
    assert counted["crewlearn_requests_under_way",] == 1


def test_jobs_and_notices_are_done_once(server: Server) -> None:
    with receiver() as hook, open_store(server.db) as store:
        webhooks.add(store, "north", hook.url, ME)
        jobs = [queue.submit(store, "north", "verify", ME, {"n": number}).id for number in range(6)]
        for number in range(12):
            cause(store, "north", number)
        until(lambda: all(queue.read(store, job).over for job in jobs))
        until(lambda: len(hook.got) >= 12)
        time.sleep(1.5)  # for a second delivery, if there were one
        outcomes = [queue.read(store, job) for job in jobs]
        assert [(job.status, job.attempts) for job in outcomes] == [("done", 1)] * 6
        assert sorted(received.document["facts"]["n"] for received in hook.got) == list(range(12))


def test_the_typed_client_speaks_to_it_below_the_path(server: Server) -> None:
    client = Client(f"{server.url}{ROOT}/", server.user("carl", "manager"))
    assert client.get_me()["role"] == "manager"
    assert client.list_sites(limit=5)["items"][0]["site"] == "north"
    noted = client.add_note("north", {"worker_id": "a", "text": "said by a client"}, idempotency_key="once")
    assert noted["worker_id"] == "a"
    with pytest.raises(ApiError, match="404") as refused:
        client.get_status("no/where")
    assert refused.value.problem["status"] == 404
    until(lambda: refused.value.request_id in server.output())  # the log follows the answer


def test_everything_is_below_the_path(server: Server) -> None:
    page = httpx.get(f"{server.url}{ROOT}/sign-in")
    assert f'href="{ROOT}/static/app.css"' in page.text
    asked = httpx.get(f"{server.url}{ROOT}/sites/north", headers={"Accept": "text/html"})
    assert asked.headers["location"].startswith(f"{ROOT}/sign-in?next=")
    assert server.output().count("crewlearn is at ") == 1, "only the supervisor says so"
    assert server.output().count("/sign-in/once?code=") == 1


def test_workers_end_with_their_supervisor(server: Server) -> None:
    left = workers_of(server)
    server.kill()
    until(lambda: not any(_runs(pid) for pid in left))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_signal_stops_all_cleanly(tmp_path: Path) -> None:
    server = start(f"sqlite:///{tmp_path}/site.db", tmp_path / "log", "--workers", "1")
    left = workers_of(server)
    assert len(left) == 1
    server.stop()
    assert not any(_runs(pid) for pid in left)


def test_workers_that_cannot_start_end_the_server(tmp_path: Path) -> None:
    program = (
        "import sys; from crewlearn.web import supervisor; from crewlearn.web.server import listen; "
        "from crewlearn.web.settings import Settings; taken = listen(Settings(port=0)); "
        "sys.exit(0 if supervisor.Supervisor(taken, 2, ['serve', '--no-such-option']).run(lambda: print('up')) else 3)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "No such option" in done.stderr


def test_a_worker_that_cannot_be_started_holds_up_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **options: Any) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        running = supervisor.Supervisor(ours, 2, [])
        running._leaving.append(supervisor._Worker(ended, theirs, time.monotonic()))
        monkeypatch.setattr(subprocess, "Popen", full)
        before, begun = len(os.listdir("/proc/self/fd")), time.monotonic()
        for _ in range(3):
            running._replace_ended()
        assert running._leaving == []
        assert len(os.listdir("/proc/self/fd")) == before - 1, "the link of the one that left is closed"
        assert running._retry_at > begun, "it is tried again after a pause"


@pytest.mark.parametrize("number", ["0", "65"])
def test_the_number_of_workers_is_bounded(number: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["serve", "--workers", number, "--db", f"sqlite:///{tmp_path}/site.db"])
    assert done.exit_code == 2
    assert "workers" in done.stderr
