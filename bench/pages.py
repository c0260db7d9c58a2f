"""Pages at a site of 2,000 people: how long a server takes to answer, and when a browser can use the page.

The site runs the policy of new sites, and has 40 days of output and 80 proposals to answer. The browser is Chromium, if
there is one.
"""

import shutil
import statistics
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import users
from limits import Results, run_part
from support.web.server import Server, start

PEOPLE, TEAM, DAYS = 2000, 400, 40
SITE = "bench"
PAGES = {"Today": f"/sites/{SITE}", "People": f"/sites/{SITE}/workers", "Sites": "/"}
MOST_MILLISECONDS, MOST_SECONDS = 50.0, 1.0


def make_site(store: Store) -> None:
    """Create the site: a team drawn from all, so that many are to be replaced."""
    config = SiteConfig(TEAM, 300.0, Units(0.0, 140.0), WorkCalendar(date(2026, 1, 5)), 250, 3.0, rolling=True)
    commands.create_site(store, SITE, config, "bench")
    rng = np.random.default_rng(1)
    means = rng.uniform(60.0, 110.0, PEOPLE)
    people = [WorkerRow(f"w{n}", name=f"Worker {n}", active=n < TEAM) for n in range(PEOPLE)]
    worker_imports.import_workers(store, SITE, people, b"", "bench")
    made = np.clip(rng.normal(means[:TEAM], 10.0, (DAYS, TEAM)), 0.0, 140.0).round(1)
    rows = [
        OutputRow(2, None, day + 1, f"w{n}", float(made[day, n]), None, "worked")
        for day in range(DAYS)
        for n in range(TEAM)
    ]
    output_imports.import_output(store, SITE, rows, b"", "bench", accept_unusual=True)


def answers(server: Server, token: str, path: str, times: int) -> dict[str, Any]:
    """Return how long a page takes from request to last byte, once it was read before: the 95th percentile."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/html"}
    took = []
    with httpx2.Client(base_url=server.url, headers=headers, timeout=60.0) as client:
        for _ in range(times + 2):
            before = time.perf_counter()
            client.get(path).raise_for_status()
            took.append(1000.0 * (time.perf_counter() - before))
    took = sorted(took[2:])
    return {
        "milliseconds": round(took[int(0.95 * (len(took) - 1))], 1),
        "median": round(statistics.median(took), 1),
        "at_most": MOST_MILLISECONDS,
    }


def usable(server: Server, token: str, browser: str, times: int) -> Results:
    """Return the seconds until the scripts of a page have run and its content is painted, the best of some times."""
    from playwright.sync_api import sync_playwright

    results: Results = {}
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(base_url=server.url)
        page.goto("/sign-in")
        page.get_by_label("Your token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_load_state()
        for name, path in PAGES.items():
            took = []
            for _ in range(times):
                page.goto(path, wait_until="load")
                took.append(float(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")))
            results[name] = {"seconds": round(min(took) / 1000.0, 3), "at_most": MOST_SECONDS}
        opened.close()
    return results


def measure(quick: bool) -> Results:
    """Measure on SQLite."""
    times = 20 if quick else 100
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/bench.db"
        with open_store(url) as store:
            make_site(store)
            users.add(store, "reader", "manager", None)
            token = users.new_token(store, "reader", 1.0, "")[1]
        server = start(url, Path(folder) / "server.log")
        try:
            results: Results = {
                f"server, p95, {name}": answers(server, token, path, times) for name, path in PAGES.items()
            }
            browser = shutil.which("chromium")
            results["usable in Chromium"] = (
                {"not measured": "there is no chromium here"}
                if browser is None
                else usable(server, token, browser, 3 if quick else 10)
            )
        finally:
            server.stop()
    return results


if __name__ == "__main__":
    run_part("pages", measure, __doc__)
