"""Chromium for tests: every page is watched for errors and for requests that leave this machine."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

from crewlearn.advisor.ledger.store import Store
from support.stores import BACKENDS, CALENDAR, MEANS, Database, site_with_proposals
from support.waiting import PATIENCE
from support.web.looking import DESK, SHIFTS
from support.web.server import Serve, Server

WORKERS_CSV = "worker_id,name,active,prior_n,prior_mean\n" + "".join(
    f"{worker},Person {worker},{'yes' if worker in 'ac' else 'no'},30,{mean}\n" for worker, mean in MEANS.items()
)
FIRST = CALENDAR.date_of(1)
OUTPUT_CSV = f"date,worker_id,units\n{FIRST},a,11\n{FIRST},c,52\n"
COMPILING = 300.0
"""Seconds that a first simulation may take, as it compiles."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's Chromium; without it these tests are skipped, or fail if it is required."""
    path = shutil.which("chromium")
    if path is None:
        reason = "THE BROWSER TESTS ARE NOT RUN: there is no chromium here"
        if os.environ.get("CREWLEARN_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to run as root with a sandbox
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=sandbox)
        expect.set_options(timeout=PATIENCE * 1000)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """A person with their own browser, whose pages must report no errors.

    `expected` are error statuses that the test is about, such as 403; all others from 400 on are faults.
    """

    def __init__(self, browser: Browser, server: Server, *, scripts: bool = True) -> None:
        self.server = server
        self.faults: list[str] = []
        self.expected: set[int] = set()
        self.context: BrowserContext = browser.new_context(
            base_url=server.url, java_script_enabled=scripts, viewport={"width": DESK[0], "height": DESK[1]}
        )
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.add_init_script(SHIFTS)
        self.context.on("console", self._on_console)
        self.context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        self.context.on("request", self._on_request)
        self.context.on("requestfailed", self._on_failure)
        self.context.on("response", self._on_response)
        self.page: Page = self.context.new_page()

    def _on_console(self, message: ConsoleMessage) -> None:
        answered = any(f"status of {status}" in message.text for status in self.expected)
        if message.type in ("error", "warning") and not answered:
            self.faults.append(f"console {message.type}: {message.text}")

    def _on_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme != "data" and address.hostname != "127.0.0.1":
            self.faults.append(f"asks another machine: {request.url}")

    def _on_failure(self, request: Request) -> None:
        failure = request.failure or ""
        if "ERR_ABORTED" not in failure:  # the page was left, or the response is a download
            self.faults.append(f"{request.url}: {failure}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.faults.append(f"{response.status}: {response.url}")

    def sign_in(self, token: str) -> None:
        """Sign in by the form."""
        self.page.goto("/sign-in")
        self.page.get_by_label("Your token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()

    def open_link(self, link: str) -> None:
        """Sign in by a one-time link."""
        self.page.goto(link)
        self.page.get_by_role("button", name="Sign in as").click()

    def said(self) -> str:
        """Return the page's messages."""
        return " ".join(self.page.locator(".flash").all_inner_texts())

    def leave(self) -> None:
        """Close the browser; check that there were no errors, and that the log does not contain the session."""
        self.server.secrets += [
            cookie["value"] for cookie in self.context.cookies() if cookie["name"] == "crewlearn_session"
        ]
        self.context.close()
        assert not self.faults, "\n".join(self.faults)


Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, per test module: while it is open, no other event loop can run in this thread."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """A function that opens a browser at a server; at the end there must be no errors in it."""
    with ExitStack() as leaving:

        def come(server: Server, token: str | None = None, **options: Any) -> Visitor:
            visitor = Visitor(browser, server, **options)
            leaving.callback(visitor.leave)
            if token is not None:
                visitor.sign_in(token)
            return visitor

        yield come


@pytest.fixture(params=BACKENDS)
def hall(request: pytest.FixtureRequest, prepared: Any, serve: Serve) -> Server:
    """A server with a site of six workers and proposals, on each backend in turn."""
    database: Database = prepared(request.param, hall_site)
    return serve(database.url)


def hall_site(store: Store) -> None:
    site_with_proposals(store, "hall", team=2)


def give_file(page: Page, name: str, text: str) -> None:
    """Choose a file on the import page; the script submits it at once."""
    with page.expect_navigation():
        page.get_by_role("link", name="Import", exact=True).click()
    with page.expect_navigation():
        page.get_by_label("CSV file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def proposal_of(page: Page) -> tuple[str, str]:
    """Return the outgoing and the incoming worker of the first proposal shown."""
    expect(page.locator("article.exchange").first).to_be_visible()
    names = page.locator("article.exchange").first.locator(".side .name").all_inner_texts()
    return names[0], names[1]
