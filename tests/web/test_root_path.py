"""Hosting under a path: every link, form, redirect, cookie and file stays below it, behind a proxy that strips it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.rendering import FOLDER
from crewlearn.web.settings import Settings
from support.web.app import client as web_client
from support.web.pages import Browser, crawl, demo_hall
from support.web.proxy import ELSEWHERE, stripping_proxy
from support.web.server import Serve, Server

ROOT = "/crew"


@pytest.fixture
def server(prepared: Any, serve: Serve) -> Server:
    return serve(prepared("sqlite", demo_hall).url, "--root-path", ROOT)


@pytest.fixture
def proxy(server: Server) -> Iterator[httpx.Client]:
    """A client of a proxy in front of a server with the demo site."""
    with stripping_proxy(server.url, ROOT) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def test_everything_stays_below_the_path(server: Server, proxy: httpx.Client) -> None:
    link = server.first_link()
    assert f"{ROOT}/sign-in/once?code=" in server.output()
    asked = proxy.get(f"{ROOT}/sites/Demo%20hall", headers={"Accept": "text/html"})
    assert (asked.status_code, asked.headers["location"]) == (303, f"{ROOT}/sign-in?next=/sites/Demo%2520hall")
    confirmation = proxy.get(ROOT + link.removeprefix(server.url))
    action = re.search(r'<form class="form" method="post" action="([^"]*)"', confirmation.text)
    assert action is not None
    assert action[1] == f"{ROOT}/sign-in/once"
    code = link.partition("code=")[2]
    signed_in = proxy.post(action[1], data={"code": code, "next": "/sites/Demo%20hall"})
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, f"{ROOT}/sites/Demo%20hall")
    assert "path=/crew" in [part.strip().lower() for part in signed_in.headers["set-cookie"].split(";")]
    pages = crawl(Browser(proxy), f"{ROOT}/")
    assert len(pages) > 30
    assert all(path.startswith(f"{ROOT}/") or path == ROOT for path in pages)
    for path, text in pages.items():
        assert ELSEWHERE not in text, path
        for action in re.findall(r'\saction="([^"]*)"', text):
            assert action.startswith(f"{ROOT}/"), (path, action)
    assert not re.findall(r"url\(['\"]?/", proxy.get(f"{ROOT}/static/app.css").text)
    said = proxy.post(f"{ROOT}/sites/Demo%20hall/undo", data={"number": "1"})
    assert (said.status_code, said.headers["location"]) == (303, f"{ROOT}/sites/Demo%20hall#said")
    contract = proxy.get(f"{ROOT}/api/v1/openapi.json").json()
    assert contract["servers"] == [{"url": ROOT}]
    job = proxy.post(f"{ROOT}/api/v1/sites/Demo%20hall/ledger/verification")
    assert job.headers["location"].startswith(f"{ROOT}/api/v1/jobs/")
    assert proxy.get(job.headers["location"]).status_code == 200
    out = proxy.post(f"{ROOT}/sign-out")
    assert out.headers["location"] == f"{ROOT}/sign-in"
    assert "crewlearn_session" not in proxy.cookies
    direct = httpx.get(f"{server.url}{ROOT}/sign-in")  # a proxy that leaves the path as it is
    assert direct.status_code == 200
    assert f'href="{ROOT}/static/app.css"' in direct.text


def test_redirects_by_slashes_stay_below_the_path(store: Store) -> None:
    with web_client(store, Settings(root_path=ROOT)) as web:
        for path in ("/sign-in/", "/users/"):
            moved = web.get(f"{ROOT}{path}", follow_redirects=False)
            assert (moved.status_code, moved.headers["location"]) == (307, f"{ROOT}{path.rstrip('/')}")


def test_templates_name_addresses_only_where_they_are_put_below_the_path() -> None:
    for template in Path(FOLDER).rglob("*.html"):
        for name in re.findall(r'([\w-]+)="/', template.read_text()):
            assert name in ("href", "src", "action", "formaction"), (template.name, name)


def test_scripts_name_no_address_from_the_first_slash_on() -> None:
    for script in (FOLDER.parent / "static").rglob("*.js"):
        assert not re.findall(r"""["'`]/(?:api|sites|static|sign|users|jobs)\b[^"'`]*""", script.read_text()), script


@pytest.mark.parametrize("path", ["crew", "/crew/", "//evil.example", "/a b", "/../x", "/", "/crew?x", '/"'])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="must be a path such as /crew"):
        Settings(root_path=path)
    assert Settings(root_path="/tools/crew").cookie_path == "/tools/crew"
