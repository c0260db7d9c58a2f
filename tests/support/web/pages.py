"""In-process browsers, small sites and a link checker, for tests of the pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.store import Store
from crewlearn.planning.demo import make_demo
from crewlearn.web.app import make_app
from crewlearn.web.auth import users
from crewlearn.web.settings import Settings
from crewlearn.web.snapshots import snapshot
from support.stores import config, nothing
from support.web.app import BASE

HOSTILE = "<script>alert(1)</script>"
DEMO = "Demo hall"
NOW = datetime(2026, 11, 16, 7, tzinfo=UTC)


@dataclass
class Browser:
    """A signed-in client that sends browser headers and follows redirects."""

    client: httpx.Client

    def get(self, path: str, status: int = 200) -> str:
        response = self.client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
        assert response.status_code == status, (path, response.status_code, response.text[:500])
        return response.text

    def post(self, path: str, data: dict[str, Any], status: int = 200, **more: Any) -> str:
        response = self.send(path, data, **more)
        assert response.status_code == status, (path, response.status_code, response.text[:2000])
        return response.text

    def send(self, path: str, data: dict[str, Any], **more: Any) -> Response:
        headers = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
        return self.client.post(path, data=data, headers=headers, follow_redirects=True, **more)


@pytest.fixture
def pages_store(prepared: Any) -> Iterator[Store]:
    """An empty store on a day in November; test modules use it as their `store`."""
    with open_store(prepared("sqlite", nothing).url, lambda: NOW) as made:
        yield made


@pytest.fixture
def pages_demo(prepared: Any) -> Iterator[Store]:
    """A store with the demo site; test modules use it as their `demo`."""
    with open_store(prepared("sqlite", demo_hall).url, lambda: NOW) as made:
        yield made


def demo_hall(store: Store) -> None:
    make_demo(store, DEMO, today=NOW.date())


def browser(store: Store, role: str = "manager", sites: list[str] | None = None) -> Browser:
    client = TestClient(make_app(store, Settings()), base_url=BASE)
    name = f"{role} {len(users.list_users(store))}"
    users.add(store, name, role, sites)
    _, token = users.new_token(store, name)
    assert client.post("/sign-in", data={"token": token}).status_code == 200
    return Browser(client)


def set_up(store: Store, name: str = "hall", **changes: Any) -> None:
    settings = {"calendar": WorkCalendar(date(2026, 11, 2)), "policy": "dr-ucb", **changes}
    commands.create_site(store, name, config(**settings), "test")


CREW = [
    WorkerRow("a", "Ann", True, prior_n=30, prior_mean=10.0),
    WorkerRow("b", "Ben", True, prior_n=30, prior_mean=50.0),
    WorkerRow("c", "Cleo", False, prior_n=30, prior_mean=90.0),
    WorkerRow("d", HOSTILE, False, prior_n=30, prior_mean=95.0),
]


def with_crew(store: Store, name: str = "hall") -> None:
    set_up(store, name)
    worker_imports.import_workers(store, name, CREW, b"", "test")


def recorded(store: Store, name: str = "hall") -> int:
    return snapshot(store, name).version


class Links(HTMLParser):
    """Collects the links and ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        for name in ("href", "src"):
            if attributes.get(name):
                self.targets.add(str(attributes[name]))
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))
        assert "style" not in attributes, "the Content-Security-Policy forbids it"
        assert not any(name.startswith("on") for name in attributes)


def crawl(user: Browser, first: str = "/") -> dict[str, str]:
    """Follow every link from the first page on; each must lead to a page, and to an id that exists."""
    waiting, seen, fragments = [first], {}, []
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        response = user.client.get(path, headers={"Accept": "text/html"}, follow_redirects=True)
        assert response.status_code == 200, (path, response.status_code)
        seen[path] = response.text if "html" in response.headers["content-type"] else ""
        if not seen[path]:
            continue
        links = Links(seen[path])
        assert len(links.ids) == len(set(links.ids)), (path, "a duplicate id")
        for link in links.targets:
            address = urlsplit(urljoin(path, link))
            assert not address.netloc, f"{path} leads off this machine: {link}"
            target = address.path + (f"?{address.query}" if address.query else "")
            if address.fragment:
                fragments.append((path, target, address.fragment))
            if len([path for path in seen if "/workers/" in path]) < 12 or "/workers/" not in target:
                waiting.append(target)
    for path, target, fragment in fragments:
        if target in seen:
            assert f'id="{fragment}"' in seen[target], (path, target, fragment)
    return seen


def packed_in(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
