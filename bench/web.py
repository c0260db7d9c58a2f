"""Load test of the web server, at a site with 1,000 workers and 730 days.

Fifty users with a second of think time send nine reads per write for a minute, on SQLite with one server process and on
PostgreSQL with two. In a second minute a server is killed and restarted. Every write has a unique mark. Afterwards the
record must verify and hold each acknowledged write exactly once, and no other write except those whose response was
lost with the server. With `--quick` it runs for ten seconds on SQLite, at a site with 60 days.
"""

import asyncio
import itertools
import math
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import ProposalApproved, ProposalRejected, WorkerChanged
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import STATIONARY_POLICY, SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.web.auth import users
from limits import Results, run_part
from support.stores import postgres_server
from support.web.server import Server, start

WORKERS, TEAM = 1000, 300
USERS, THINKING = 50, 1.0
WRITES = 0.1
ADVICE_P99 = 0.100
SITE = "bench"
WRITES_A_DAY = 40
"""Number of output writes per simulated day, so that advice is derived again throughout the test."""

CONFLICTS = (409, 412)
READS = ("advice",) * 5 + ("status", "workers", "proposals", "explanation", "page")
PATHS = {
    "advice": f"/api/v1/sites/{SITE}/advice",
    "status": f"/api/v1/sites/{SITE}/status",
    "workers": f"/api/v1/sites/{SITE}/workers",
    "proposals": f"/api/v1/sites/{SITE}/proposals?newest=true",
    "page": f"/sites/{SITE}",
}


def make_site(store: Store, days: int) -> None:
    """Create the site: different workers with output for every day; the team is the best except for the 20 worst."""
    calendar = WorkCalendar(date(2015, 1, 1), weekdays=(0, 1, 2, 3, 4, 5, 6))
    config = SiteConfig(
        TEAM, 100.0, Units(0.0, 100.0), calendar, 2000, 3.0, policy=STATIONARY_POLICY, least_tenure=0, most_a_week=None
    )
    commands.create_site(store, SITE, config, "bench")
    rng = np.random.default_rng(1)
    means = rng.uniform(30, 70, WORKERS)
    team = {*np.argsort(means)[-TEAM + 20 :].tolist(), *np.argsort(means)[:20].tolist()}
    rows = [WorkerRow(f"w{n}", name=f"Worker {n}", active=n in team) for n in range(WORKERS)]
    worker_imports.import_workers(store, SITE, rows, b"", "bench")
    output = np.clip(rng.normal(means, 10.0, (days, WORKERS)), 0.0, 100.0).round(2)
    record = [
        OutputRow(2, None, day + 1, f"w{n}", float(output[day, n]), None, "worked")
        for day in range(days)
        for n in range(WORKERS)
    ]
    output_imports.import_output(store, SITE, record, b"", "bench", accept_unusual=True)


@dataclass
class LoadResults:
    """The results of a load test: times by kind of request, and marks of writes by their response."""

    times: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: set[Any] = field(default_factory=set)
    refused: set[Any] = field(default_factory=set)
    unsure: set[Any] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    unanswered: int = 0

    def took(self, kind: str, share: float) -> float:
        """Return a quantile of the response times of a kind of request."""
        times = sorted(self.times.get(kind, [math.inf]))
        return times[min(len(times) - 1, math.ceil(share * len(times)) - 1)]


@dataclass
class Crowd:
    """Concurrent users of a site, whose writes do not overlap."""

    urls: list[str]
    tokens: list[str]
    first_period: int
    first_worker: int
    thinking: float = THINKING
    tally: LoadResults = field(default_factory=LoadResults)

    def __post_init__(self) -> None:
        self.days, self.pins = itertools.count(), itertools.count(self.first_worker)
        self.open: list[int] = []
        self.explained = 1

    async def run(self, seconds: float) -> LoadResults:
        """Run all users concurrently for some seconds."""
        limits = httpx2.Limits(max_connections=2 * len(self.tokens))
        async with httpx2.AsyncClient(timeout=30.0, limits=limits) as client:
            self.client, self.ends = client, time.perf_counter() + seconds
            await asyncio.gather(*(self._user(number) for number in range(len(self.tokens))))
        return self.tally

    async def _user(self, number: int) -> None:
        chance, pinned = random.Random(number), list[str]()
        self_url = number % len(self.urls)
        await asyncio.sleep(chance.uniform(0, self.thinking))
        while time.perf_counter() < self.ends:
            if chance.random() < WRITES:
                await self._write(self_url, self.tokens[number], chance, pinned)
            else:
                await self._read(self_url, self.tokens[number], chance.choice(READS))
            await asyncio.sleep(chance.uniform(0.5, 1.5) * self.thinking)

    async def _read(self, server: int, token: str, kind: str) -> None:
        path = PATHS.get(kind, f"/api/v1/sites/{SITE}/proposals/{self.explained}/explanation")
        answer = await self._ask(server, token, kind, "GET", path, None)
        if answer is not None and kind == "advice":
            self.open = [proposal["id"] for proposal in answer.json()["proposals"]]
            self.explained = max([self.explained, *self.open])

    async def _write(self, server: int, token: str, chance: random.Random, pinned: list[str]) -> None:
        """Make a write, and repeat it if the response was lost, since writes are idempotent."""
        site, kind = f"/api/v1/sites/{SITE}", chance.choice(("output", "output", "pin", "answer"))
        if kind == "answer" and not self.open:
            kind = "output"
        body: dict[str, Any]
        if kind == "output":
            number = next(self.days)
            period, worker = self.first_period + number // WRITES_A_DAY, f"w{number % WRITES_A_DAY}"
            units = 30.0 + number / 1024
            mark: tuple[Any, ...] = ("output", worker, period, units)
            method, path = "POST", f"{site}/output"
            body = {"rows": [{"period": period, "worker_id": worker, "units": units}]}
        elif kind == "pin":
            undo = bool(pinned) and chance.random() < 0.5
            worker = pinned.pop() if undo else f"w{next(self.pins) % WORKERS}"
            mark, method, path, body = (
                ("pin", worker, not undo),
                "PATCH",
                f"{site}/workers/{worker}",
                {"pinned": not undo},
            )
        else:
            proposal = chance.choice(self.open)
            method, reason = "POST", f"bench {chance.random()}"
            if chance.random() < 0.5:
                mark, path, body = ("approved", proposal), f"{site}/proposals/{proposal}/approval", {}
            else:
                mark, path, body = (
                    ("rejected", proposal, reason),
                    f"{site}/proposals/{proposal}/rejection",
                    {"reason": reason},
                )
        while True:
            answer = await self._ask(server, token, "write", method, path, body)
            if answer is not None or time.perf_counter() > self.ends + 30:
                break
            self.tally.unsure.add(mark)
            await asyncio.sleep(0.5)
        if answer is None:
            return
        if answer.status_code in CONFLICTS:
            self.tally.refused.add(mark)
        elif answer.is_success:
            self.tally.acknowledged.add(mark)
            if mark[0] == "pin" and mark[2]:
                pinned.append(mark[1])

    async def _ask(self, server: int, token: str, kind: str, method: str, path: str, body: Any) -> Any:
        """Send a request; return the response, or None if there was none because the server was killed."""
        headers, began = {"Authorization": f"Bearer {token}"}, time.perf_counter()
        try:
            answer = await self.client.request(method, self.urls[server] + path, headers=headers, json=body)
        except (httpx2.TransportError, OSError) as error:
            self.tally.unanswered += 1
            self.tally.statuses[f"{kind} {type(error).__name__}"] += 1
            return None
        self.tally.times.setdefault(kind, []).append(time.perf_counter() - began)
        self.tally.statuses[f"{kind} {answer.status_code}"] += 1
        if not answer.is_success and not (kind == "write" and answer.status_code in CONFLICTS):
            self.tally.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return answer


def marks_on_record(store: Store, after: int) -> Counter[Any]:
    """Return the marks of all writes after an event, and how often each was recorded."""
    marks: Counter[Any] = Counter()
    rows = schema.output_rows
    with store.reading() as connection:
        key, _, _ = store.site(connection, SITE)
        people = schema.identities
        named = sa.select(people.c.worker, people.c.external_id).where(people.c.site == key)
        ids = {row.worker: row.external_id for row in connection.execute(named)}
        for row in connection.execute(sa.select(rows).where(rows.c.site == key, rows.c.event > after)):
            marks["output", ids[row.worker], row.period, row.units] += 1
        for event in read_events(connection, key, after):
            fact = event.fact
            if isinstance(fact, WorkerChanged):
                marks["pin", ids[fact.worker], fact.changes["pinned"]] += 1
            elif isinstance(fact, ProposalApproved):
                marks["approved", fact.proposal] += 1
            elif isinstance(fact, ProposalRejected):
                marks["rejected", fact.proposal, fact.reason] += 1
    return marks


def faults_of(store: Store, tally: LoadResults, after: int) -> list[str]:
    """Compare the record with the responses that users got, and verify it; return what is wrong."""
    recorded = marks_on_record(store, after)
    acknowledged = tally.acknowledged
    faults = [
        *(f"acknowledged but not on record: {mark}" for mark in acknowledged - recorded.keys()),
        *(f"on record but never acknowledged: {mark}" for mark in recorded.keys() - acknowledged - tally.unsure),
        *(f"{count} times on record: {mark}" for mark, count in recorded.items() if count > 1),
    ]
    checked = verify(store, SITE)
    return [*faults, *checked.faults]


Begin = Callable[[], Server]


async def with_a_kill(crowd: Crowd, servers: list[Server], begin: Begin, seconds: float) -> LoadResults:
    """Run the crowd; halfway through, kill the first server and start a new one in its place."""
    working = asyncio.create_task(crowd.run(seconds))
    await asyncio.sleep(seconds / 2)
    await asyncio.to_thread(servers[0].kill)
    servers[0] = await asyncio.to_thread(begin)
    crowd.urls[0] = servers[0].url
    return await working


def one_run(
    store: Store, servers: list[Server], begin: Begin, tokens: list[str], kill: bool, seconds: float
) -> dict[str, Any]:
    """Run the crowd for some seconds; return the measurements and faults."""
    with store.reading() as connection:
        _, site, after = store.site(connection, SITE)
        pinned = sum(worker.pinned for worker in site.workers)
    first_worker = TEAM + (WORKERS // 2 if kill else 0)
    crowd = Crowd([server.url for server in servers], tokens, site.period, first_worker)
    assert not kill or pinned < WORKERS // 2
    tally = asyncio.run(with_a_kill(crowd, servers, begin, seconds) if kill else crowd.run(seconds))
    faults = faults_of(store, tally, after)
    milliseconds = {
        kind: {f"p{round(100 * share)}": round(1000 * tally.took(kind, share), 1) for share in (0.5, 0.95, 0.99)}
        for kind in sorted(tally.times)
    }
    return {
        "requests": sum(map(len, tally.times.values())),
        "writes_on_record": len(tally.acknowledged),
        "conflicts": len(tally.refused),
        "unanswered": {"count": tally.unanswered} | ({} if kill else {"at_most": 0}),
        "errors": {"count": len(tally.errors), "at_most": 0},
        "statuses": dict(sorted(tally.statuses.items())),
        "milliseconds": milliseconds,
        "advice_p99": {"seconds": tally.took("advice", 0.99), "at_most": ADVICE_P99},
        "faults_of_the_record": {"count": len(faults), "at_most": 0},
        "examples": [*tally.errors[:5], *faults[:5]],
    }


@contextmanager
def databases(folder: Path, names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the address of an empty database on each backend."""
    urls = {"sqlite": f"sqlite:///{folder}/bench.db"}
    if "postgresql" not in names:
        yield urls
        return
    with postgres_server(durable=True) as address:
        urls["postgresql"] = address.replace("DATABASE", "postgres")
        yield urls


def measure_on(db: str, count: int, folder: Path, days: int, seconds: float) -> dict[str, dict[str, Any]]:
    """Run the crowd against `count` servers on a database, without and with killing a server."""
    results = {}
    numbers = itertools.count()
    with open_store(db) as store:
        make_site(store, days)
        for n in range(USERS):
            users.add(store, f"user {n}", "manager", None)
        tokens = [users.new_token(store, f"user {n}", 1.0, "")[1] for n in range(USERS)]

        def begin() -> Server:
            return start(db, folder / f"{store.engine.dialect.name}-{next(numbers)}.log")

        servers = [begin() for _ in range(count)]
        try:
            for kill in (False, True):
                results["killed" if kill else "steady"] = one_run(store, servers, begin, tokens, kill, seconds)
        finally:
            for server in servers:
                with suppress(AssertionError):
                    server.stop()
    return results


def measure(quick: bool) -> Results:
    """Measure on SQLite and PostgreSQL; if `quick`, on SQLite only, with a smaller site and for a shorter time."""
    backends, days, seconds = (("sqlite",), 60, 10.0) if quick else (("sqlite", "postgresql"), 730, 60.0)
    results: Results = {}
    with tempfile.TemporaryDirectory() as folder, databases(Path(folder), backends) as urls:
        for backend in backends:
            count = 1 if backend == "sqlite" else 2
            for kind, run in measure_on(urls[backend], count, Path(folder), days, seconds).items():
                results[f"{backend}, {count} server{'s'[: count - 1]}, {kind}"] = run
    return results


if __name__ == "__main__":
    run_part("web", measure, __doc__)
