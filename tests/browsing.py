"""Chromium for tests: every page is watched for errors and for requests that leave this machine."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
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

from web_server import PATIENCE, Server

AXE = files("axe_playwright_python").joinpath("axe.min.js")
PHONE, DESK = (360, 800), (1280, 900)

SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts.push(one.value);
}).observe({ type: "layout-shift", buffered: true });
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's Chromium; where there is none, these tests are not run, or fail if that is asked for."""
    path = shutil.which("chromium")
    if path is None:
        said = "THE BROWSER TESTS ARE NOT RUN: there is no chromium here"
        if os.environ.get("CREWLEARN_REQUIRE_BROWSER"):
            pytest.fail(said)
        pytest.skip(said)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # it refuses to run as root with one
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=sandbox)
        expect.set_options(timeout=PATIENCE * 1000)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Somebody at a browser of their own, whose pages may complain of nothing.

    `expected` are statuses of answers that the test is about, such as 403; all others from 400 on are faults.
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
        if "ERR_ABORTED" not in failure:  # a page was left, or the answer is a download
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
        """Give what the page says of what was just done."""
        return " ".join(self.page.locator(".flash").all_inner_texts())

    def leave(self) -> None:
        """Close the browser; check that nothing went wrong, and that the log does not know the session."""
        self.server.secrets += [
            cookie["value"] for cookie in self.context.cookies() if cookie["name"] == "crewlearn_session"
        ]
        self.context.close()
        assert not self.faults, "\n".join(self.faults)


def axe_faults(page: Page) -> list[str]:
    """Give the serious and critical faults that axe finds on a page as it is shown."""
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{page.url}: {one['id']}: {node['html'][:160]} {' '.join(node.get('failureSummary', '').split())[:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def shift_of(page: Page) -> float:
    """Give how far things on a page have moved by themselves since it was opened."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return float(page.evaluate("window.shifts.reduce((sum, one) => sum + one, 0)"))


def scrolls_sideways(page: Page) -> bool:
    """Say whether a page is wider than its window."""
    return bool(page.evaluate("document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"))
