"""An application over a store, a clock that can be moved, and ways to sign in, for tests of the web room."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from httpx2 import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.app import make_app
from crewlearn.web.auth import users
from crewlearn.web.auth.access import ADMIN, COOKIE, MANAGER, VIEWER, Caller, require
from crewlearn.web.settings import Settings
from support.stores import ME, Database, config

BASE = "http://127.0.0.1:8000"
ME_PATH = "/api/v1/me"


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = field(default_factory=lambda: datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **time: float) -> None:
        self.now += timedelta(**time)


@contextmanager
def client(store: Store, settings: Settings | None = None, **options: Any) -> Iterator[TestClient]:
    """A client of the application, which has routes for each role, with and without a site."""
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


@pytest.fixture
def clock() -> Clock:
    """The clock of the store and of its servers."""
    return Clock()


@pytest.fixture
def two_sites(database: Database, clock: Clock) -> Iterator[Store]:
    """A store with two sites, on each backend in turn; test modules use it as their `store`."""
    with opened(database.url, clock, "north", "south") as made:
        yield made


@pytest.fixture
def web(store: Store) -> Iterator[TestClient]:
    """A client of a server over the store."""
    with client(store) as made:
        yield made


def token_of(store: Store, name: str = "ann", role: str = ADMIN, sites: list[str] | None = None, **more: Any) -> str:
    users.add(store, name, role, sites)
    return users.new_token(store, name, **more)[1]


def sign_in(web: TestClient, token: str) -> str:
    """Sign in by the form; return the session's secret."""
    answer = web.post("/sign-in", data={"token": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    return str(answer.cookies[COOKIE])


def open_link(web: TestClient, code: str) -> Response:
    """Open a one-time link."""
    return web.get("/sign-in/once", params={"code": code})


def use_link(web: TestClient, code: str, **more: Any) -> Response:
    """Submit the confirmation page of a one-time link."""
    return web.post("/sign-in/once", data={"code": code}, **more)
