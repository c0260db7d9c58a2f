"""The manuals' pictures of the pages, taken of the demo site in Chromium: `make pictures` writes them to docs/images.

A test takes them afresh and compares, so a page that looks otherwise than its picture is noticed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "images"

VIEWS = {
    "dashboard.png": ("/sites/demo", 1010),
    "history.png": ("/sites/demo/history", 900),
}
"""The file of each picture, the page that it shows, and its height in pixels."""

WIDTH = 1240

SECONDS = 120
"""The time that a server may take to start."""


def take(folder: Path) -> None:
    """Take all pictures of a fresh demo site and write them to a folder."""
    with tempfile.TemporaryDirectory() as scratch, demo_server(Path(scratch)) as link, sync_playwright() as driver:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to run as root with a sandbox
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=sandbox)
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 1010}, color_scheme="light", reduced_motion="reduce"
        )
        page.goto(link)
        page.get_by_role("button", name="Sign in as").click()
        home = page.url.split("/sites")[0].rstrip("/")
        for name, (path, height) in VIEWS.items():
            page.set_viewport_size({"width": WIDTH, "height": height})
            page.goto(home + path)
            page.screenshot(path=folder / name)
        browser.close()


@contextmanager
def demo_server(scratch: Path) -> Iterator[str]:
    """Serve a new demo site from a scratch store, and yield the link that signs in."""
    store = f"sqlite:///{scratch}/demo.db"
    command = [sys.executable, "-m", "crewlearn"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "LOGNAME": "ines"}  # whose name the pictures show
    subprocess.run([*command, "demo", "--db", store], check=True, stdout=subprocess.DEVNULL)
    log_file = scratch / "server.log"
    with log_file.open("wb") as log:
        server = subprocess.Popen(
            [*command, "serve", "--port", "0", "--db", store],
            stdout=log,
            stderr=log,
            env=environment,
        )
    try:
        yield _link(server, log_file)
    finally:
        server.terminate()
        server.wait(SECONDS)


def _link(server: "subprocess.Popen[bytes]", log_file: Path) -> str:
    """Wait until a server listens, and return the one-time link that it prints."""
    give_up = time.monotonic() + SECONDS
    while server.poll() is None and time.monotonic() < give_up:
        printed = log_file.read_text()
        if link := re.search(r"http://\S+/sign-in/once\?code=\S+", printed):
            return link[0]
        time.sleep(0.1)
    raise RuntimeError(f"the server of the pictures did not start: {log_file.read_text()}")


if __name__ == "__main__":
    take(FOLDER)
