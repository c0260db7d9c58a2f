"""`crewlearn serve` as a process: starting, refusing bad options, and stopping."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

import crewlearn
from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import make_engine
from crewlearn.advisor.ledger.store import Store
from crewlearn.cli.main import app
from crewlearn.planning.plan import plan
from crewlearn.web.jobs import queue, runner
from support.stores import ME, Database, config, site_with_proposals, state_of
from support.waiting import until

SOURCE = str(Path(crewlearn.__file__).parents[1])


class ServeCommand:
    """A server process and its log lines."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": SOURCE, "LOGNAME": "erika"},
        )
        self.lines: list[str] = []
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            self.lines.extend(iter(lines.readline, ""))

    def find(self, pattern: str) -> str:
        """Wait until a log line matches; return the first group."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for line in list(self.lines):
                match = re.search(pattern, line)
                if match:
                    return match.group(1)
            assert self.process.poll() is None or self._listener.is_alive(), self.lines
            time.sleep(0.02)
        raise AssertionError(f"{pattern} was not printed: {self.lines}")

    @property
    def url(self) -> str:
        return self.find(r"crewlearn is at (http://\S+)/ ")

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(30)
        self._listener.join()
        return code


def serving(url: str, *options: str) -> AbstractContextManager[ServeCommand]:
    return running("-m", "crewlearn", "serve", "--port", "0", "--db", url, *options)


@contextmanager
def running(*arguments: str) -> Iterator[ServeCommand]:
    server = ServeCommand(*arguments)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        server._listener.join()


def users(url: str, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["users", *arguments, "--db", url])
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: str) -> str:
    """Run `serve` with bad options; return its one-line error."""
    done = CliRunner().invoke(app, ["serve", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


def pressed(browser: httpx.Client, link: str) -> httpx.Response:
    """Submit the confirmation page of a one-time link."""
    return browser.post("/sign-in/once", data={"code": link.partition("code=")[2]})


def test_the_first_start_lets_its_person_in_and_a_signal_ends_it(empty_database: Database) -> None:
    with serving(empty_database.url) as server, httpx.Client(base_url=server.url) as browser:
        link = server.find(r"^  (http://\S+)$")
        assert link.startswith(f"{server.url}/sign-in/once?code=")
        assert "Sign in as erika" in browser.get(link).text
        assert pressed(browser, link).headers["location"] == "/"
        me = {"name": "erika", "role": "admin", "sites": None}
        assert browser.get("/api/v1/me").json() == me
        assert httpx.get(link).status_code == 401
        assert browser.get("/api/v1/health", headers={"Host": "evil.example"}).status_code == 400
        again = users(empty_database.url, "link", "erika", "--url", server.url).strip()
        with httpx.Client(base_url=server.url) as later:
            pressed(later, again)
            assert later.get("/api/v1/me").json() == me
        assert server.end() == 0
        logged = [
            line for line in server.lines if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} (GET|POST) /", line)
        ]
        assert len(logged) == 7
        output = "".join(server.lines)
        assert output.count(link.partition("code=")[2]) == 1, "shown once, and never in the log"
        assert again.partition("code=")[2] not in output
        assert str(browser.cookies["crewlearn_session"]) not in output
        assert "Traceback" not in output
    with serving(empty_database.url) as server:
        assert server.url
        server.find("(Sign in with a token)")
        assert server.end(signal.SIGINT) == 0
        assert not any("code=" in line for line in server.lines)


def test_other_addresses_take_users(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/site.db"
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.com"):
        message = refused("--host", host, "--db", url)
        assert "crewlearn users add NAME --role admin, then: crewlearn users token NAME" in message
    users(url, "add", "ann", "--role", "viewer")
    token = users(url, "token", "ann").strip()
    with serving(url, "--host", "0.0.0.0", "--allowed-host", "crew.example") as server:
        headers = {"Authorization": f"Bearer {token}", "Host": "crew.example"}
        assert httpx.get(f"{server.url}/api/v1/me", headers=headers).json()["name"] == "ann"
        server.find("(Tokens are sent unencrypted)")
        assert not any("code=" in line or token in line for line in server.lines)
    users(url, "disable", "ann")
    assert "has no users yet" in refused("--host", "0.0.0.0", "--db", url)


def test_links_are_for_where_people_come_in(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/site.db"
    with serving(url, "--https", "--allowed-host", "crew.example.org", "--allowed-host", "other.example") as server:
        assert server.url.startswith("http://127.0.0.1:")
        server.find(r"(Users reach it at https://crew\.example\.org/)")
        server.find(r"(https://crew\.example\.org/sign-in/once\?code=)")
        server.find(r"(--url https://crew\.example\.org)$")
        assert httpx.head(f"{server.url}/api/v1/health").content == b""


def test_what_cannot_be_listened_at_is_one_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/site.db"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        message = refused("--port", port, "--db", url)
    assert message == f"crewlearn: port = {port}: is in use by another program; choose another with --port\n"
    assert "from 0 to 65535" in refused("--port", "70000", "--db", url)
    users(url, "add", "ann", "--role", "viewer")
    assert "is not an address of this machine" in refused("--host", "192.0.2.1", "--db", url)
    assert "is not an address of this machine" in refused("--host", "nowhere.invalid", "--db", url)


def test_addresses_of_callers_come_from_a_proxy_only_if_there_is_one(tmp_path: Path) -> None:
    for options, expected in (((), "127.0.0.1"), (("--behind-proxy",), "198.51.100.7")):
        url = f"sqlite:///{tmp_path}/{len(options)}.db"
        with serving(url, *options) as server:
            wrong = {"Authorization": "Bearer crew_wrong", "X-Forwarded-For": "198.51.100.7"}
            assert httpx.get(f"{server.url}/api/v1/me", headers=wrong).status_code == 401
        engine = make_engine(url)
        with engine.connect() as connection, connection.begin():
            assert connection.execute(sa.select(schema.sign_in_failures.c.address)).scalars().all() == [expected]
        engine.dispose()


SLOW = """
import sys, time
from crewlearn.advisor.advice.opening import open_store
from crewlearn.web import server
from crewlearn.web.app import make_app
from crewlearn.web.settings import Settings

def work(store, job, progress):
    while True:
        progress(0.5, "at it")
        time.sleep(0.02)

def slow():
    print("asked", file=sys.stderr, flush=True)
    time.sleep(1)
    return "answered"

settings = Settings(port=0)
with open_store(sys.argv[1]) as store, server.listen(settings) as taken:
    app = make_app(store, settings, [{"work": work}])
    app.get("/slow")(slow)
    print(f"crewlearn is at {server.url_of(taken, settings)}/ ", file=sys.stderr, flush=True)
    server.run(app, taken, settings, lambda: None)
"""


def test_at_the_end_requests_are_answered_and_the_job_goes_back(database: Database) -> None:
    with database.open() as store:
        site_with_proposals(store)
        job = queue.submit(store, "site", "work", ME, {})
    answers: list[httpx.Response] = []
    with running("-c", SLOW, database.url) as server, open_store(database.url) as store:
        asking = threading.Thread(target=lambda: answers.append(httpx.get(f"{server.url}/slow")))
        asking.start()
        server.find("(asked)")
        deadline = time.monotonic() + 20
        while queue.read(store, job.id).status != queue.RUNNING:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert server.end() == 0
        back = queue.read(store, job.id)
        asking.join()
    assert [answer.json() for answer in answers] == ["answered"]
    assert (back.status, back.attempts) == (queue.QUEUED, 0)


SLOW_POLICY = "value-of-replacement"
LONG = {"runs": 5, "policies": [SLOW_POLICY], "horizon": 100_000}
"""With five thousand workers a run takes half a minute, and no block of runs is smaller than one run."""


def large_site(store: Store) -> None:
    commands.create_site(store, "large", config(team=20, rolling=True), ME)
    many = [WorkerRow(f"W{n}", None, n < 20, prior_n=5, prior_mean=30.0 + n % 50) for n in range(5000)]
    worker_imports.import_workers(store, "large", many, b"", ME)


def test_a_long_plan_ends_within_a_second_or_two(empty_database: Database) -> None:
    """Cancelled, or stopped with its server; then the next server resumes it."""
    with empty_database.open() as store:
        site_with_proposals(store)
        plan(state_of(store), [SLOW_POLICY], 2)  # so that the server finds compiled code
        large_site(store)
    users(empty_database.url, "add", "mia", "--role", "manager")
    manager = {"Authorization": f"Bearer {users(empty_database.url, 'token', 'mia').strip()}"}
    with serving(empty_database.url) as server, httpx.Client(base_url=server.url, headers=manager) as api:

        def begun() -> int:
            job = api.post("/api/v1/sites/large/plan", json=LONG)
            assert job.status_code == 202, job.text
            number = int(job.json()["id"])
            until(lambda: "simulated years" in job_of(number)["message"])
            assert job_of(number)["status"] == "running"
            return number

        def job_of(number: int) -> Any:
            return api.get(f"/api/v1/jobs/{number}").json()

        cancelled = begun()
        began = time.monotonic()
        assert api.delete(f"/api/v1/jobs/{cancelled}").json()["status"] == "cancelled"
        stopped = begun()  # it occupies the lane of plans
        assert time.monotonic() - began < 10, "two seconds on an idle machine"
        check = api.post("/api/v1/sites/site/ledger/verification").json()["id"]
        until(lambda: job_of(check)["status"] == "done")
        assert job_of(stopped)["status"] == "running", "a check does not wait for a plan"
        began = time.monotonic()
        assert server.end() == 0
        took = time.monotonic() - began
        assert "Traceback" not in "".join(server.lines)
    assert took < runner.PATIENCE_SECONDS, "the job noticed before the timeout; a second on an idle machine"
    with open_store(empty_database.url) as store:
        back = queue.read(store, stopped)
        assert (back.status, back.attempts, back.finished) == (queue.QUEUED, 0, None)
        assert queue.read(store, cancelled).status == queue.CANCELLED


def test_other_commands_do_not_load_the_web(tmp_path: Path) -> None:
    program = (
        "import sys; from typer.testing import CliRunner; import crewlearn; from crewlearn.cli.main import app; "
        f"CliRunner().invoke(app, ['site', 'list', '--db', 'sqlite:///{tmp_path}/x.db']); "
        "print([name for name in ('fastapi', 'starlette', 'uvicorn', 'crewlearn.web') if name in sys.modules])"
    )
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True, env={"PYTHONPATH": SOURCE})
    assert loaded == "[]\n"


def test_users_from_the_command_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/site.db"
    with open_store(url) as store:
        site_with_proposals(store, "north")
    assert "There is no user yet" in users(url, "list")
    users(url, "add", "ann", "--role", "manager", "--site", "north")
    token = users(url, "token", "ann", "--days", "5", "--label", "laptop").strip()
    listed = users(url, "list")
    assert re.search(r"ann +manager +north +1 laptop until \d{4}-", listed)
    assert token not in listed
    users(url, "set", "ann", "--role", "admin", "--all-sites")
    assert re.search(r"ann +admin +all", users(url, "list"))
    users(url, "revoke", "ann", "--token", "1")
    assert "laptop" not in users(url, "list")
    assert '"revoked": "2' in users(url, "list", "--json")
    for arguments, message in (
        (["token", "bob"], "user = 'bob': does not exist"),
        (["add", "bob", "--role", "king"], "role = 'king'"),
        (["add", "bob", "--role", "viewer", "--site", "east"], "there are: north"),
        (["set", "ann", "--all-sites", "--site", "north"], "choose one of the two"),
    ):
        done = CliRunner().invoke(app, ["users", *arguments, "--db", url])
        assert done.exit_code == 2
        assert message in done.stderr


@pytest.mark.parametrize("command", ["serve", "users"])
def test_help_is_at_hand(command: str) -> None:
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0
