"""What tests of the web room share: an application over a store, with a clock that can be moved, and a few routes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from crewlearn.advisor import commands
from crewlearn.advisor.store import Store, open_store
from crewlearn.web.access import ADMIN, MANAGER, VIEWER, Caller, require
from crewlearn.web.app import make_app
from crewlearn.web.settings import Settings
from stores import ME, config

BASE = "http://127.0.0.1:8000"


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    now: datetime = field(default_factory=lambda: datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)


@contextmanager
def client(store: Store, settings: Settings | None = None, **options: Any) -> Iterator[TestClient]:
    """A browser at the application, which has a route for each role at a site and without one."""
    app = make_app(store, Settings() if settings is None else settings)
    add_probes(app)
    with TestClient(app, base_url=BASE, follow_redirects=False, **options) as made:
        yield made


def add_probes(app: FastAPI) -> None:
    for role in (VIEWER, MANAGER, ADMIN):
        _add_probe(app, role)

    @app.post("/api/v1/echo")
    async def echo(request: Request) -> int:
        return len(await request.body())

    @app.post("/api/v1/json")
    def json(body: dict[str, Any]) -> int:
        return len(body)

    @app.get("/api/v1/fault")
    def fault() -> None:
        raise RuntimeError("a secret in a traceback")


def _add_probe(app: FastAPI, role: str) -> None:
    def probe(caller: Annotated[Caller, require(role)]) -> str:
        return caller.name

    app.get(f"/api/v1/{role}")(probe)
    app.get(f"/api/v1/sites/{{site}}/{role}")(probe)


@contextmanager
def opened(url: str, clock: Clock, *sites: str) -> Iterator[Store]:
    """An open store with some sites."""
    with open_store(url, clock) as store:
        for site in sites:
            if site not in store.names():
                commands.create_site(store, site, config(), ME)
        yield store


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
