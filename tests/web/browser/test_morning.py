"""A whole morning of a manager in real Chromium: from the digest's link to the last chart, on every kind of screen."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import OUTPUT, WorkerRow
from crewlearn.advisor.files.imports import ImportFile, ImportOptions, take_in
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.web.auth.access import Caller
from crewlearn.web.notices.messages import digest_of
from support.stores import ME, config, state_of
from support.web.browsing import Visit
from support.web.looking import DESK, PHONE, axe_faults, scrolls_sideways, shift_of
from support.web.server import Serve

TEAM = 8
TABLET = (820, 1180)
FILES = "Leistung {day:02}.01.2024.csv"


def report(day: int) -> bytes:
    """A day's export of another system: semicolons, decimal commas, German headers, names only in part."""
    lines = ["Schichtbericht Halle 3", "Datum;Personalnr.;Stück"]
    lines += [f"{day:02}.01.2024;t{n};{10 + n + day},5" for n in range(TEAM)]
    return "\n".join([*lines, ""]).encode("cp1252")


def hall(store: Store) -> None:
    """A poor team with good people outside and three days on record, read from exports whose layout is known since."""
    settings = config(team=TEAM, most_a_week=None, least_tenure=0, currency="EUR", time_zone="Europe/Berlin")
    commands.create_site(store, "hall", settings, ME)
    crew = [WorkerRow(f"t{n}", f"Ana Maier {n}", True, prior_n=400, prior_mean=10.0) for n in range(TEAM)]
    crew += [WorkerRow(f"p{n}", f"Ben Ivanova {n}", False, prior_n=400, prior_mean=80.0 + n / 10) for n in range(20)]
    worker_imports.import_workers(store, "hall", crew, b"", ME)
    for day in (1, 2, 3):
        options = ImportOptions(yes=day == 1)
        take_in(store, "hall", ImportFile(OUTPUT.kind, report(day), options, FILES.format(day=day)), ME)
    assert state_of(store, "hall").profiles


@dataclass(frozen=True)
class Reader:
    """To whom the digest goes."""

    caller: Caller
    sites: tuple[str, ...] = ("hall",)
    code: str = "none"


DROP = """([name, type, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name, { type }));
  document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
}"""


def answered(page: Page, count: int) -> None:
    expect(page.locator("[data-proposal].answered")).to_have_count(count)


@pytest.mark.parametrize(
    ("backend", "screen"),
    [("sqlite", DESK), ("postgresql", TABLET), ("sqlite", PHONE)],
    ids=["desk on SQLite", "tablet on PostgreSQL", "phone on SQLite"],
)
def test_a_morning(prepared: Any, serve: Serve, visit: Visit, backend: str, screen: tuple[int, int]) -> None:
    server = serve(prepared(backend, hall).url)
    token = server.user("ann", "manager")
    with open_store(server.db) as store:
        digest = digest_of(store, server.url, Reader(Caller("ann", "manager")))
    assert digest is not None
    assert digest.subject == "hall: 8 proposals to answer"
    link = re.search(r"- 8 proposals to answer: (\S+)", digest.text)
    assert link is not None

    page = visit(server).page
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.goto(link[1])  # it leads to the site, after signing in
    page.get_by_label("Your token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="8 replacements proposed")).to_be_visible()
    assert page.url.partition("#")[0].endswith("/sites/hall")

    page.wait_for_load_state("load")  # keys work once the scripts have run
    page.keyboard.press("j")
    for number in range(4):
        expect(page.locator("[data-proposal]").nth(number)).to_be_focused()
        page.keyboard.press("a")
        answered(page, number + 1)
    expect(page.locator("[data-proposal]").nth(4)).to_be_focused()
    page.keyboard.press("r")
    page.keyboard.press("Enter")  # keep who would leave, or not now: what is asked first
    answered(page, 5)
    page.keyboard.press("u")
    expect(page.locator("#said")).to_contain_text("Taken back")
    answered(page, 4)
    assert shift_of(page) < 0.02
    statuses = [proposal["status"] for proposal in server.get("/sites/hall/proposals", token)["items"]]
    assert (statuses.count("approved"), statuses.count("rejected")) == (4, 0)

    page.get_by_role("link", name="Import", exact=True).click()
    page.wait_for_url("**/import")  # a file is taken once the scripts of this page have run
    with page.expect_navigation():
        page.evaluate(DROP, [FILES.format(day=4), "text/csv", list(report(4))])
    expect(page.get_by_role("heading", name="8 rows")).to_be_visible()
    page.get_by_role("button", name="Record it").click()
    expect(page.locator("#said")).to_contain_text("8 rows")

    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_label("Find", exact=True).fill("Maier 7")
    page.get_by_role("link", name="Ana Maier 7").first.click()
    page.get_by_label("Pin or block until").fill("2024-03-01")
    page.get_by_label("Reason, for the record").fill("learns the new line")
    page.get_by_role("button", name="Pin: never propose to replace them").click()
    expect(page.get_by_text("learns the new line").first).to_be_visible()

    chart = page.get_by_role("slider").first
    chart.focus()
    page.keyboard.press("End")
    expect(chart).to_have_attribute("aria-valuetext", re.compile(r"^Thu 4 Jan 2024: output 21\.5, "))
    page.keyboard.press("ArrowLeft")
    expect(chart.locator("[data-reading]")).to_contain_text("Wed 3 Jan 2024: output 20.5")
    assert not scrolls_sideways(page)
    assert not axe_faults(page)

    with open_store(server.db) as store:
        site = state_of(store, "hall")
        assert site.is_pinned(7)
        assert site.period == 5
        assert verify(store, "hall").sound
