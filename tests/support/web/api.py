"""Callers of the API for tests; every response is validated against the OpenAPI document."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from httpx2 import Response

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.app import make_app
from crewlearn.web.auth import users
from crewlearn.web.settings import Settings
from support.stores import CALENDAR, STATIONARY
from support.web.app import BASE, bearer

API = "/api/v1"
PROBLEM = "application/problem+json"
SETTINGS: dict[str, Any] = {
    "team": 2,
    "fee": 5.0,
    "units": {"low": 0.0, "high": 100.0},
    "calendar": {"start": "2024-01-01"},
    "horizon": 300,
    "mean_delay": 2.0,
    **STATIONARY,
}
MEANS = {"a": 10.0, "b": 90.0, "c": 50.0, "d": 95.0, "e": 80.0, "f": 85.0}
CREW = [
    {"worker_id": worker, "name": f"Person {worker}", "active": worker in "ac", "prior_n": 30, "prior_mean": mean}
    for worker, mean in MEANS.items()
]


@dataclass
class Api:
    """The API for one user; paths are relative to /api/v1."""

    client: TestClient
    headers: dict[str, str]
    contract: "Contract"

    def call(self, method: str, path: str, status: int = 200, **options: Any) -> Any:
        """Send a request and check its status; return the JSON document, or the text."""
        response = self.send(method, path, **options)
        assert response.status_code == status, (response.status_code, response.text)
        return response.json() if "json" in response.headers.get("content-type", "").split(";")[0] else response.text

    def send(self, method: str, path: str, headers: dict[str, str] | None = None, **options: Any) -> Response:
        response = self.client.request(method, f"{API}{path}", headers={**self.headers, **(headers or {})}, **options)
        self.contract.check(method, path, response)
        return response

    def get(self, path: str, status: int = 200, **options: Any) -> Any:
        return self.call("GET", path, status, **options)

    def post(self, path: str, body: Any = None, status: int = 200, **options: Any) -> Any:
        return self.call("POST", path, status, **options, **({} if body is None else {"json": body}))

    def csv(self, path: str, text: str, status: int = 200, **options: Any) -> Any:
        headers = {"Content-Type": "text/csv", **options.pop("headers", {})}
        return self.call("POST", path, status, content=text.encode(), headers=headers, **options)

    def pages(self, path: str, **parameters: Any) -> Iterator[list[Any]]:
        """Return all pages of a list."""
        cursor: dict[str, str] = {}
        while True:
            piece = self.get(path, params={**parameters, **cursor})
            yield piece["items"]
            if piece["next"] is None:
                return
            cursor = {"cursor": piece["next"]}

    def all(self, path: str, **parameters: Any) -> list[Any]:
        return [item for piece in self.pages(path, **parameters) for item in piece]


@dataclass
class Contract:
    """Validates responses against the OpenAPI document."""

    document: dict[str, Any]
    validators: dict[str, Any] = field(default_factory=dict)

    def operation(self, method: str, path: str) -> tuple[str, dict[str, Any]]:
        """Return the operation of a request; templates with more literal characters take precedence."""
        bare = f"{API}{path}".partition("?")[0]
        for template, item in sorted(self.document["paths"].items(), key=lambda entry: entry[0].count("{")):
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
            if re.fullmatch(pattern, bare) and method.lower() in item:
                return template, item[method.lower()]
        raise AssertionError(f"{method} {path} is not documented")

    def check(self, method: str, path: str, response: Response) -> None:
        template, operation = self.operation(method, path)
        documented = operation["responses"].get(str(response.status_code))
        assert documented is not None, f"{method} {path}: {response.status_code} is not documented: {response.text}"
        kind = response.headers.get("content-type", "").split(";")[0]
        content = documented.get("content", {})
        assert (kind in content) or (not content and not response.content), (method, path, response.status_code, kind)
        if "json" in kind and kind != "application/jsonl":
            key = f"{method} {template} {response.status_code} {kind}"
            if key not in self.validators:
                schema = {**content[kind]["schema"], "components": self.document["components"]}
                self.validators[key] = jsonschema_rs.validator_for(schema)
            self.validators[key].validate(response.json())


@contextmanager
def served(store: Store, *, settings: Settings | None = None, jobs: bool = True) -> Iterator[TestClient]:
    """A server over a store; without `jobs` it does nothing by itself."""
    app = make_app(store, Settings() if settings is None else settings)
    with TestClient(app, base_url=BASE, follow_redirects=False) as client:
        if not jobs:
            stop_jobs(client)
        yield client


def stop_jobs(client: TestClient) -> None:
    """Stop a server from running jobs, and from writing notices in its rounds."""
    app: Any = client.app
    app.state.jobs.stop()
    app.state.rounds.stop()


def caller(client: TestClient, name: str, role: str, sites: list[str] | None = None) -> Api:
    """Return the API for a user, who is added if unknown."""
    app: Any = client.app
    store: Store = app.state.store
    if name not in [user.name for user in users.list_users(store)]:
        users.add(store, name, role, sites)
    _, token = users.new_token(store, name)
    return Api(client, bearer(token), contract())


@cache
def contract() -> Contract:
    """The document, which is the same over every store."""
    with open_store("sqlite://") as store:
        return Contract(make_app(store, Settings()).openapi())


def rows(period: int, units: float = 50.0, workers: Sequence[str] = "ac") -> dict[str, Any]:
    when = str(CALENDAR.date_of(period))
    return {"rows": [{"date": when, "worker_id": worker, "units": units + at} for at, worker in enumerate(workers)]}


def with_crew(api: Api, name: str = "north") -> str:
    api.post("/sites", {"site": name, "settings": SETTINGS}, 201)
    api.post(f"/sites/{name}/workers", {"workers": CREW})
    return f"/sites/{name}"


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    with served(store) as made:
        yield made


@pytest.fixture
def mia(client: TestClient) -> Api:
    """An admin of all sites."""
    return caller(client, "mia", "admin")


def finished(api: Api, job: dict[str, Any], status: str = "done") -> dict[str, Any]:
    """Wait for a job; return its result."""
    deadline = time.monotonic() + 120.0
    while job["status"] in ("queued", "running"):
        assert time.monotonic() < deadline, job
        time.sleep(0.05)
        job = api.get(f"/jobs/{job['id']}")
    assert job["status"] == status, job
    assert job["finished"] is not None
    result: dict[str, Any] = job["result"]
    return result


def everything(store: Store) -> dict[str, list[Any]]:
    """Return all rows by table, but for marks, which a server sets by the clock."""
    with store.reading() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=repr)
            for table in schema.metadata.sorted_tables
            if table is not schema.notice_marks
        }
