"""A company's store: 1,000 sites and 100,000 people, used by 100 people at once, on one server over SQLite.

The server starts cold. The limits: how long the first look at the front page takes, and while everybody works the 99th
percentiles of the front page, a search in it, a site's page and its advice, an import, and a job that checks a record.
With `--quick` there are 100 sites and 20 users.
"""

import asyncio
import itertools
import math
import random
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import httpx2

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from limits import Results, run_part, timed
from support.web.server import Server, start

PEOPLE, TEAM = 100, 30
THINKING = 2.0
"""Seconds that a user reads a page, on average."""

FIRST_LOOK, COLD_SITES = 3.0, 60.0
LIMITS = {"front": 1.0, "search": 1.0, "site": 1.0, "advice": 0.5, "import": 2.0, "job": 30.0}
"""Seconds within which 99 of 100 are answered."""

FIRST = date(2026, 1, 5)


def make_sites(store: Store, sites: int) -> None:
    """Create the sites: a hundred people each, a day of output, and proposals."""
    calendar = WorkCalendar(FIRST, weekdays=(0, 1, 2, 3, 4, 5, 6))
    config = SiteConfig(TEAM, 100.0, Units(0.0, 100.0), calendar, 365, 3.0)
    rng = random.Random(1)
    for number in range(sites):
        name = f"site {number:04d}"
        commands.create_site(store, name, config, "bench")
        rows = [
            WorkerRow(
                f"w{number}-{n}", name=f"Worker {n}", active=n < TEAM, prior_n=10, prior_mean=rng.uniform(30.0, 70.0)
            )
            for n in range(PEOPLE)
        ]
        worker_imports.import_workers(store, name, rows, b"", "bench")
        day = [OutputRow(2, None, 1, f"w{number}-{n}", rng.uniform(30, 70), None, "worked") for n in range(TEAM)]
        output_imports.import_output(store, name, day, b"", "bench", accept_unusual=True)


@dataclass
class Everybody:
    """Users who look and record at sites of their own choice."""

    url: str
    tokens: list[str]
    sites: int
    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.imports = itertools.count()

    async def run(self, seconds: float) -> None:
        """Let all users work at the same time."""
        limits = httpx2.Limits(max_connections=2 * len(self.tokens))
        async with httpx2.AsyncClient(timeout=60.0, limits=limits) as client:
            ends = time.perf_counter() + seconds
            await asyncio.gather(*(self._user(client, number, ends) for number in range(len(self.tokens))))

    async def _user(self, client: httpx2.AsyncClient, number: int, ends: float) -> None:
        chance = random.Random(number)
        await asyncio.sleep(chance.uniform(0.0, THINKING))
        while time.perf_counter() < ends:
            site = f"site%20{chance.randrange(self.sites):04d}"
            api, roll = f"/api/v1/sites/{site}", chance.random()
            if roll < 0.3:
                await self._ask(client, number, "front", "GET", "/")
            elif roll < 0.4:
                await self._ask(client, number, "search", "GET", f"/?q={chance.randrange(100)}")
            elif roll < 0.65:
                await self._ask(client, number, "site", "GET", f"/sites/{site}")
            elif roll < 0.93:
                await self._ask(client, number, "advice", "GET", f"{api}/advice")
            elif roll < 0.99:
                row = {"period": 2, "worker_id": f"w{int(site[-4:])}-{next(self.imports) % TEAM}", "units": 50.0}
                path = f"{api}/output?correct=true&accept_unusual=true"
                await self._ask(client, number, "import", "POST", path, {"rows": [row]})
            else:
                await self._job(client, number, f"{api}/ledger/verification")
            await asyncio.sleep(chance.uniform(0.5, 1.5) * THINKING)

    async def _ask(
        self, client: httpx2.AsyncClient, number: int, kind: str, method: str, path: str, body: Any = None
    ) -> Any:
        headers = {
            "Authorization": f"Bearer {self.tokens[number]}",
            "Accept": "*/*" if "/api/" in path else "text/html",
        }
        began = time.perf_counter()
        answer = await client.request(method, self.url + path, headers=headers, json=body)
        self.times.setdefault(kind, []).append(time.perf_counter() - began)
        if not answer.is_success:
            self.errors.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return answer

    async def _job(self, client: httpx2.AsyncClient, number: int, path: str) -> None:
        began = time.perf_counter()
        asked = await self._ask(client, number, "asking for a job", "POST", path)
        if not asked.is_success:
            return
        job = asked.json()
        while job["status"] in ("queued", "running") and time.perf_counter() - began < 60.0:
            await asyncio.sleep(0.5)
            job = (await self._ask(client, number, "looking at a job", "GET", f"/api/v1/jobs/{job['id']}")).json()
        self.times.setdefault("job", []).append(time.perf_counter() - began)
        if job["status"] != "done":
            self.errors.append(f"job {job['id']} is {job['status']}: {job['message']}")

    def took(self, kind: str) -> float:
        """Return the 99th percentile of a kind of request, in seconds."""
        times = sorted(self.times.get(kind, [math.inf]))
        return times[math.ceil(0.99 * len(times)) - 1]


def front(server: Server, token: str) -> str:
    """Return the front page."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/html"}
    return httpx2.get(f"{server.url}/", headers=headers, timeout=60.0).raise_for_status().text


def measure(quick: bool) -> Results:
    """Measure with 1,000 sites and 100 users; if `quick`, with a tenth and a fifth of that."""
    sites, crowd, seconds = (100, 20, 10.0) if quick else (1000, 100, 60.0)
    with tempfile.TemporaryDirectory() as folder:
        db = f"sqlite:///{folder}/company.db"
        with open_store(db) as store:
            made = timed(lambda: make_sites(store, sites))
            for n in range(crowd):
                users.add(store, f"user {n}", "manager", None)
            tokens = [users.new_token(store, f"user {n}", 1.0, "")[1] for n in range(crowd)]
        server = start(db, Path(folder) / "server.log")
        try:
            cold = timed(lambda: front(server, tokens[0]))
            began = time.perf_counter()
            while "data-unread" in front(server, tokens[0]) and time.perf_counter() - began < 300.0:
                time.sleep(0.5)
            everything = time.perf_counter() - began
            warm = timed(lambda: front(server, tokens[0]))
            everybody = Everybody(server.url, tokens, sites)
            asyncio.run(everybody.run(seconds))
        finally:
            server.stop()
    return {
        f"{sites:,} sites with {sites * PEOPLE:,} people, {crowd} users": {
            "made": {"seconds": round(made, 1)},
            "first look": {"seconds": cold, "at_most": FIRST_LOOK},
            "all sites read": {"seconds": everything, "at_most": COLD_SITES},
            "front page, nobody else": {"seconds": warm},
            "requests": sum(map(len, everybody.times.values())),
            **{kind: {"seconds": everybody.took(kind), "at_most": most} for kind, most in LIMITS.items()},
            "errors": {"count": len(everybody.errors), "at_most": 0, "examples": everybody.errors[:5]},
        }
    }


if __name__ == "__main__":
    run_part("sites", measure, __doc__)
