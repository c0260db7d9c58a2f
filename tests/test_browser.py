"""The pages in real Chromium, against real server processes, on SQLite and on PostgreSQL."""

import csv
import io
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Browser, Page, expect

from browsing import DESK, PHONE, SHIFTS, Visitor, axe_faults, chromium, scrolls_sideways, shift_of
from crewlearn.advisor.store import Store, open_store
from crewlearn.planning.demo import make_demo
from stores import CALENDAR, MEANS, Database, site_with_proposals
from web_server import PATIENCE, Serve, Server, add_user, crewlearn, start

WORKERS_CSV = "worker_id,name,active,prior_n,prior_mean\n" + "".join(
    f"{one},Person {one},{'yes' if one in 'ac' else 'no'},30,{mean}\n" for one, mean in MEANS.items()
)
FIRST, SECOND = CALENDAR.date_of(1), CALENDAR.date_of(2)
OUTPUT_CSV = f"date,worker_id,units\n{FIRST},a,11\n{FIRST},c,52\n"
COMPILING = 300.0
"""Seconds that a first simulation may take, as it compiles."""
LONG = 10_000
"""Simulated worlds that take a machine some seconds."""
WRONG_CSV = f"date,worker_id,units\n{FIRST},a,eleven\n2024-13-41,c,52\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """A function that brings somebody to a server; at the end nothing may have gone wrong in their browser."""
    with ExitStack() as leaving:

        def come(server: Server, token: str | None = None, **given: Any) -> Visitor:
            visitor = Visitor(browser, server, **given)
            leaving.callback(visitor.leave)
            if token is not None:
                visitor.sign_in(token)
            return visitor

        yield come


def give_file(page: Page, name: str, text: str) -> None:
    """Choose a file on the import page; the script sends it off at once."""
    with page.expect_navigation():
        page.get_by_role("link", name="Import", exact=True).click()
    with page.expect_navigation():
        page.get_by_label("CSV file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def proposal_of(page: Page) -> tuple[str, str]:
    """Give who is to leave and who is to come by the first proposal shown."""
    expect(page.locator("article.exchange").first).to_be_visible()
    names = page.locator("article.exchange").first.locator(".side .name").all_inner_texts()
    return names[0], names[1]


# --- from nothing to a record


def test_from_an_empty_store_to_a_checked_record(
    empty_database: Database, serve: Serve, visit: Callable[..., Visitor]
) -> None:
    server = serve(empty_database.url)
    me = visit(server)
    page = me.page
    me.open_link(server.first_link())
    expect(page.get_by_role("heading", name="There is no site yet")).to_be_visible()

    page.get_by_role("link", name="Set up a site").click()
    page.get_by_label("Name", exact=True).fill("North hall")
    page.get_by_label("Stations", exact=True).fill("2")
    page.get_by_label("Fee of a replacement").fill("5")
    page.get_by_label("Days from an offer").fill("2")
    page.get_by_label("First day", exact=True).fill(str(FIRST))
    page.get_by_label("Days ahead", exact=True).fill("250")
    page.get_by_text("Brakes, calendar and policy").click()
    page.get_by_label("Least stay").fill("0")
    me.expected = {422}
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed yet")
    expect(page.get_by_label("An excellent day")).to_have_attribute("aria-invalid", "true")
    me.expected = set()
    page.get_by_label("An excellent day").fill("100")
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_text("North hall is set up")).to_be_visible()

    give_file(page, "workers.csv", WORKERS_CSV)
    expect(page.get_by_role("heading", name="6")).to_be_visible()
    page.get_by_role("button", name="Record it").click()
    expect(page.get_by_role("link", name="Person a").first).to_be_visible()
    before = len(events_of(server.db, "North hall"))

    me.expected = {422}
    give_file(page, "output.csv", WRONG_CSV)
    expect(page.get_by_role("heading", name="2 things are wrong")).to_be_visible()
    expect(page.locator("td.cell-wrong")).to_have_count(2)
    expect(page.locator("tr.fault").first).to_contain_text("eleven")
    expect(page.get_by_role("button", name="Record it")).to_have_count(0)
    assert len(events_of(server.db, "North hall")) == before
    me.expected = set()
    give_file(page, "output.csv", OUTPUT_CSV)
    page.get_by_role("button", name="Record it").click()

    page.get_by_role("link", name="Today", exact=True).click()
    out, into = proposal_of(page)
    assert out == "Person a (a)"  # the team's worst by far
    expect(page.locator("#advice")).to_contain_text(into)
    page.locator("article.exchange summary", has_text="Why?").first.click()
    expect(page.locator(".why-lines").first).to_be_visible()
    expect(page.locator(".why-lines").first).to_contain_text(into)

    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    expect(page.get_by_role("status").first).to_contain_text("Approved")
    page.get_by_role("article", name=f"Offer to {into}").get_by_role("button", name="Declined").click()
    expect(page.get_by_role("status").first).to_contain_text("declined")
    out_again, next_one = proposal_of(page)
    assert (out_again, next_one != into) == (out, True)  # the next candidate

    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    page.get_by_role("article", name=f"Offer to {next_one}").get_by_role("button", name="Started").click()
    expect(page.get_by_role("status").first).to_contain_text("started")
    page.get_by_role("link", name="History", exact=True).click()
    decisions = page.locator("#decisions li")
    expect(decisions.filter(has_text=next_one).first).to_contain_text("started")
    expect(decisions.filter(has_text=into).filter(has_text="declined").first).to_be_visible()
    page.get_by_text("The same as a table").first.click()
    stints = page.get_by_role("table", name="Who held which station when")
    expect(stints.get_by_role("row").filter(has_text=next_one)).to_have_count(1)

    page.get_by_role("link", name="Today", exact=True).click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").first).to_contain_text("Taken back")
    expect(page.get_by_role("article", name=f"Offer to {next_one}")).to_be_visible()
    page.get_by_role("link", name="History", exact=True).click()
    page.get_by_text("The same as a table").first.click()
    expect(stints.get_by_role("row").filter(has_text=next_one)).to_have_count(0)

    page.get_by_role("link", name="Plan", exact=True).click()
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("table").first).to_contain_text("keep-team", timeout=COMPILING * 1000)

    page.get_by_role("link", name="Record", exact=True).click()
    page.get_by_role("button", name="Check now").click()
    expect(page.locator(".chip.good", has_text="sound")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Decisions", exact=True).click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    told = {value for row in rows for value in row.values()}
    assert {who.partition("(")[2].rstrip(")") for who in (into, next_one)} <= told
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def events_of(db: str, site: str) -> list[str]:
    """Give a site's events, one a line, as the command line exports them."""
    return crewlearn(db, "ledger", "export", site, "--what", "events").splitlines()


# --- two at once


@pytest.fixture(params=["sqlite", "postgresql"])
def hall(request: pytest.FixtureRequest, prepared: Any, serve: Serve) -> Server:
    """A server at a site of six people with proposals, on each backend in turn."""
    database: Database = prepared(request.param, _hall)
    return serve(database.url)


def _hall(store: Store) -> None:
    site_with_proposals(store, "hall", team=2)


def test_two_managers_are_told_of_each_other(hall: Server, visit: Callable[..., Visitor]) -> None:
    ann = visit(hall, hall.user("ann", "manager"))
    ben = visit(hall, hall.user("ben", "manager"))
    for one in (ann, ben):
        one.page.goto("/sites/hall")
    _, into = proposal_of(ann.page)
    ann.page.get_by_role("button", name=re.compile("^Approve")).first.click()
    expect(ann.page.get_by_role("status").first).to_contain_text("Approved")
    ben.page.get_by_role("button", name=re.compile("^Approve")).first.click()
    said = ben.page.get_by_role("status").first
    expect(said).to_contain_text("Nothing was done")
    expect(said).to_contain_text("ann")
    expect(ben.page.get_by_role("article", name=f"Offer to {into}")).to_be_visible()

    for one in (ann, ben):
        one.page.goto("/sites/hall/settings")
    ann.page.get_by_label("Fee of a replacement").fill("7")
    ann.page.get_by_role("button", name="Save the settings").click()
    expect(ann.page.get_by_role("status").first).to_contain_text("changed")
    ben.page.get_by_label("Stations", exact=True).fill("3")
    ben.expected = {412}
    ben.page.get_by_role("button", name="Save the settings").click()
    alert = ben.page.get_by_role("alert")
    expect(alert).to_contain_text("Somebody else was here")
    expect(alert).to_contain_text("ann")
    expect(alert).to_contain_text("7")
    expect(ben.page.get_by_label("Stations", exact=True)).to_have_value("3")
    ben.expected = set()
    ben.page.get_by_role("button", name="Save the settings").click()
    expect(ben.page.get_by_role("status").first).to_contain_text("changed")
    assert ben.page.goto("/sites/hall/settings")
    expect(ben.page.get_by_label("Stations", exact=True)).to_have_value("3")


# --- who may do what


def test_signing_in_and_being_shut_out(hall: Server, visit: Callable[..., Visitor]) -> None:
    token = hall.user("ann", "manager")
    soon = hall.user("cara", "manager", days=2.0 / 86_400)
    me = visit(hall)
    page = me.page
    me.expected = {401}
    page.goto("/sites/hall")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    me.sign_in(token[:-1] + ("A" if token[-1] != "A" else "B"))
    expect(page.get_by_role("alert")).to_contain_text("wrong, expired or revoked")
    time.sleep(2.0)
    me.sign_in(soon)
    expect(page.get_by_role("alert")).to_contain_text("wrong, expired or revoked")
    me.expected = set()
    page.goto("/sites/hall/history")
    expect(page.get_by_label("Your token")).to_be_focused()
    page.keyboard.type(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="History", exact=True)).to_have_attribute("aria-current", "page")
    page.get_by_role("link", name="Sites", exact=True).click()
    expect(page.get_by_role("heading", name="Sites")).to_be_visible()
    expect(page.locator(".who")).to_contain_text("ann, manager")
    crewlearn(hall.db, "users", "revoke", "ann")
    me.expected = {401}
    page.get_by_role("link", name="hall").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    me.open_link(crewlearn(hall.db, "users", "link", "cara", "--url", hall.url))
    expect(page.locator(".who")).to_contain_text("cara")
    link = crewlearn(hall.db, "users", "link", "cara", "--url", hall.url)
    other, third = visit(hall), visit(hall)
    for one in (third, other):
        one.page.goto(link)  # looking does not use it up
        expect(one.page.get_by_role("button", name="Sign in as cara")).to_be_visible()
    other.page.get_by_role("button", name="Sign in as cara").click()
    expect(other.page.locator(".who")).to_contain_text("cara")
    third.expected = {401}
    third.page.get_by_role("button", name="Sign in as cara").click()
    expect(third.page.get_by_role("alert")).to_contain_text("used already")
    third.page.goto(link)
    expect(third.page.get_by_role("alert")).to_contain_text("used already")
    assert third.page.goto("/sites/hall")
    expect(third.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_viewer_sees_no_buttons_and_is_refused(hall: Server, visit: Callable[..., Visitor]) -> None:
    me = visit(hall, hall.user("vic", "viewer"))
    for path in ("", "/history", "/plan", "/record", "/proposals", "/workers/0"):
        me.page.goto(f"/sites/hall{path}")
        forms = me.page.locator("main form[method=post]")
        expect(forms).to_have_count(0)
        expect(me.page.get_by_role("link", name="Settings")).to_have_count(0)
    me.page.goto("/sites/hall")
    _, into = proposal_of(me.page)
    me.expected = {403}
    for path in ("/sites/hall/settings", "/sites/hall/import", "/sites/new"):
        me.page.goto(path)
        expect(me.page.get_by_role("heading", name="This is not open to you")).to_be_visible()
    for path, form in (
        ("/sites/hall/proposals/1/approve", {}),
        ("/sites/hall/proposals/1/reject", {"reason": "no"}),
        ("/sites/hall/undo", {}),
        ("/sites/hall/workers/0", {"pinned": "yes"}),
        ("/api/v1/sites/hall/proposals/1/approval", {}),
    ):
        assert forged(me.page, path, form) == 403, path
    me.page.goto("/sites/hall")
    assert proposal_of(me.page)[1] == into


def forged(page: Page, path: str, form: dict[str, str]) -> int:
    """Send what no button of this page would; give the status of the answer."""
    script = """async ([path, form]) => (await fetch(path, {
        method: "POST", redirect: "manual",
        headers: path.startsWith("/api/") ? { "Content-Type": "application/json" } : {},
        body: path.startsWith("/api/") ? JSON.stringify(form) : new URLSearchParams(form) })).status"""
    return int(page.evaluate(script, [path, form]))


# --- every page, for everybody


@pytest.fixture(scope="module")
def demo(prepared: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server at the demo site, and an admin's token."""
    database: Database = prepared("sqlite", make_demo)
    server = start(database.url, tmp_path_factory.mktemp("demo") / "server.log")
    try:
        yield server, server.user("eve", "admin")
    finally:
        server.stop()


SITE = re.compile(r"^/sites/(?!new$)[^/]+")


def kind_of(path: str) -> str:
    """Give what all pages of a kind have in common of their path."""
    return re.sub(r"/\d+(?=/|$)", "/N", SITE.sub("/sites/S", path.partition("?")[0].partition("#")[0]))


def pages_from(page: Page, first: str) -> Iterator[str]:
    """Go from link to link through one page of each kind; every link must lead somewhere."""
    waiting, known = [first], {kind_of(first)}
    while waiting:
        path = waiting.pop(0)
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        links = page.eval_on_selector_all(
            "a[href]", "(all) => all.filter((a) => a.origin === location.origin).map((a) => a.pathname + a.search)"
        )
        yield path
        for link in links:
            if "/export/" not in link and kind_of(link) not in known:
                known.add(kind_of(link))
                waiting.append(link)


KINDS = {
    "/",
    "/sites/new",
    *(f"/sites/S{part}" for part in ("", "/history", "/plan", "/import", "/record", "/settings")),
}


def test_every_page_is_fit_for_everybody(demo: tuple[Server, str], visit: Callable[..., Visitor]) -> None:
    server, token = demo
    me = visit(server, token)
    page, seen, faults = me.page, set(), list[str]()
    job = server.ask("POST", "/sites/demo/plan", token, {"runs": 20})["id"]
    until(lambda: server.get(f"/jobs/{job}", token)["status"] == "done", COMPILING)
    for path in pages_from(page, "/"):
        seen.add(kind_of(path))
        faults += look_at(page, path)
    me.page.get_by_role("button", name="Sign out").click()
    faults += look_at(page, "/sign-in")
    faults += look_at(page, crewlearn(server.db, "users", "link", "eve", "--url", server.url))
    assert not faults, "\n".join(faults)
    assert seen >= KINDS | {"/sites/S/workers/N", "/sites/S/plan/N"}, seen


def look_at(page: Page, path: str) -> list[str]:
    """Look at a page on a phone and at a desk, in light and dark; give what is wrong with it."""
    faults = []
    for width, height in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(path)
        shift = shift_of(page)
        if shift >= 0.02:
            faults.append(f"{path}: moves by {shift:.3f} at {width}")
        faults += axe_in_light_and_dark(page)
    return [*faults, *too_wide(page)]


def look_over(page: Page) -> list[str]:
    """Look at a page that cannot be opened again, as it answers a form; give what is wrong with it."""
    faults = []
    for width, height in (PHONE, DESK):
        page.set_viewport_size({"width": width, "height": height})
        faults += axe_in_light_and_dark(page)
    return [*faults, *too_wide(page)]


def axe_in_light_and_dark(page: Page) -> list[str]:
    faults = axe_faults(page)
    page.emulate_media(color_scheme="dark")
    faults += [f"dark: {fault}" for fault in axe_faults(page)]
    page.emulate_media(color_scheme="light")
    return faults


def too_wide(page: Page) -> list[str]:
    """Look at a page on a phone: is it wider than that, are words torn, are there targets too small for a finger?"""
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    found = [f"{page.url}: scrolls sideways at {PHONE[0]}"] if scrolls_sideways(page) else []
    found += [f"{page.url}: torn: {word}" for word in page.evaluate(TORN)]
    found += [f"{page.url}: beyond the edge: {word}" for word in page.evaluate(CUT)]
    found += [f"{page.url}: too low for a finger: {words}" for words in page.evaluate(LOW)]
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    return found


TORN = """() => {
  const torn = [], range = document.createRange();
  for (const cell of document.querySelectorAll("h1, h2, h3, th, .name, dt, .chip, button, .button")) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode;
      for (const found of node.data.matchAll(/[\\p{L}\\p{M}\\d,.]{2,18}/gu)) {
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        const lines = new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top)));
        if (lines.size > 1) torn.push(found[0]);
      }
    }
  }
  return torn;
}"""
"""Words of headings, names and buttons that stand on two lines, unless they are longer than any line."""

CUT = """() => Array.from(document.querySelectorAll(".tabs a, .plan-table *, .ticks *")).filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 1 && (box.left < 0 || box.right > innerWidth);
}).map((one) => one.textContent.trim())"""
"""What has to be in sight without moving anything sideways, and is not."""

LOW = """() => Array.from(document.querySelectorAll("a.chip, a.button, button, summary.button, select"))
  .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 24).map((one) => one.textContent.trim())"""


def test_pages_with_little_or_wrong_on_them_are_fit_too(
    make_database: Any, serve: Serve, visit: Callable[..., Visitor]
) -> None:
    server = serve(make_database("sqlite").url)
    me = visit(server)
    page = me.page
    me.open_link(server.first_link())
    expect(page.get_by_role("heading", name="There is no site yet")).to_be_visible()
    faults = look_over(page)
    me.expected = {404, 422}
    page.goto("/sites/new")
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_role("alert")).to_be_visible()
    faults += look_over(page)
    page.get_by_label("Name", exact=True).fill("Line 3")
    page.get_by_label("An excellent day").fill("100")
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_text("Line 3 is set up")).to_be_visible()
    for tab in ("Today", "History", "Plan", "Import", "Record"):
        with page.expect_navigation():
            page.get_by_role("link", name=tab, exact=True).click()
        faults += look_over(page)
    give_file(page, "workers.csv", WORKERS_CSV)
    expect(page.get_by_role("button", name="Record it")).to_be_visible()
    faults += look_over(page)
    give_file(page, "workers.csv", "worker_id,prior_n\n1,many\n1,2\n")
    expect(page.locator(".cell-wrong").first).to_be_visible()
    faults += look_over(page)
    job = page.evaluate(SEND_BIG, ["/api/v1/sites/Line%203/output/csv", "date,worker_id,units\n" + "x,y,z\n" * 20_001])
    page.goto(f"/sites/Line%203/import/{job}")
    expect(page.get_by_role("heading", name="Nothing was recorded")).to_be_visible()
    expect(page.locator("tr.fault")).to_have_count(50)  # two wrong cells a row, and a hundred errors told
    faults += look_over(page)
    page.goto("/sites/nowhere")
    expect(page.get_by_role("heading", name="Not here")).to_be_visible()
    faults += look_over(page)
    with open_store(server.db) as store, store.changing() as connection:
        connection.execute(sa.text("UPDATE sites SET state = '{}', head = 'x' || substr(head, 2)"))
    page.goto("/")
    expect(page.locator(".chip.bad", has_text="cannot be read")).to_be_visible()
    faults += look_over(page)
    page.get_by_role("link", name="What to do about it").click()
    expect(page.get_by_role("button", name="Check now")).to_be_visible()
    faults += look_over(page)
    assert not faults, "\n".join(faults)


SEND_BIG = """async ([path, body]) => (await (await fetch(path, {
  method: "POST", headers: { "Content-Type": "text/csv" }, body })).json()).id"""


def test_the_looking_finds_what_is_wrong(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.add_init_script(SHIFTS)
    page.goto("about:blank")
    page.set_content(
        "<html lang=en><title>t</title><main><h1>t</h1><p style='color:#ddd;background:#fff'>pale</p>"
        "<div style='width:900px'>wide</div></main></html>"
    )
    assert "color-contrast" in " ".join(axe_faults(page))
    assert scrolls_sideways(page)
    assert shift_of(page) == 0.0
    page.evaluate("document.querySelector('main').style.marginTop = '300px'")
    assert shift_of(page) > 0.02
    page.set_content(
        "<title>t</title><table style='table-layout:fixed;width:60px'><th style='overflow-wrap:anywhere'>Vasconcelos"
        "</table><button style='all:unset;display:block;line-height:20px'>low</button>"
    )
    assert [words.rpartition(": ")[2] for words in too_wide(page)] == ["Vasconcelos", "low"]
    page.close()


FOCUS = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  return { words: one.textContent.trim(), tag: one.tagName,
    seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
}"""


def test_the_keyboard_suffices(hall: Server, visit: Callable[..., Visitor]) -> None:
    me = visit(hall, hall.user("ann", "manager"))
    me.page.goto("/sites/hall")
    buttons = me.page.locator("main button:visible").count()
    reached, hidden = list[str](), list[str]()
    for _ in range(200):
        me.page.keyboard.press("Tab")
        at = me.page.evaluate(FOCUS)
        if at["tag"] == "BODY":
            break
        reached.append(f"{at['tag']} {at['words']}")
        if not at["seen"]:
            hidden.append(reached[-1])
    assert not hidden, hidden
    assert reached[0].startswith("A Skip to the content"), reached
    assert sum(one.startswith("BUTTON") for one in reached) >= buttons
    _, into = proposal_of(me.page)
    me.page.goto("/sites/hall")
    while not me.page.evaluate(FOCUS)["words"].startswith("Approve"):
        me.page.keyboard.press("Tab")
    me.page.keyboard.press("Enter")
    expect(me.page.get_by_role("article", name=f"Offer to {into}")).to_be_visible()
    assert me.page.evaluate(FOCUS)["words"].startswith("Approved")  # what was done is where the keyboard goes on
    me.page.keyboard.press("Tab")
    assert me.page.evaluate("document.activeElement.closest('.hero') !== null")


def test_the_table_is_sorted_at_a_click(demo: tuple[Server, str], visit: Callable[..., Visitor]) -> None:
    server, token = demo
    page = visit(server, token).page
    page.goto("/sites/demo")
    rows = page.locator("#people-table tbody tr")
    means = sorted((float(one) for one in rows.locator("td[data-value]").evaluate_all(VALUES)), reverse=True)
    for name, way, column, first in (
        ("Station", "ascending", 1, "1"),
        ("Station", "descending", 1, "10"),
        ("Estimate, 95%", "descending", 2, str(means[0])),
        ("Estimate, 95%", "ascending", 2, str(means[-1])),
    ):
        head = page.get_by_role("columnheader", name=name)
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", way)
        cell = rows.first.locator("> *").nth(column)
        assert (cell.get_attribute("data-value") or cell.inner_text()) == first
    assert page.url.endswith("/sites/demo")  # the server was not asked


VALUES = "(all) => all.map((one) => one.dataset.value)"


@pytest.mark.parametrize("size", [PHONE, DESK])
@pytest.mark.parametrize("scripts", [True, False])
def test_what_a_button_opens_moves_no_button(
    demo: tuple[Server, str], visit: Callable[..., Visitor], size: tuple[int, int], scripts: bool
) -> None:
    server, token = demo
    me = visit(server, token, scripts=scripts)
    page = me.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/sites/demo")
    answers = page.locator(".answers").first
    buttons = answers.locator("form:not(.panel) button, summary")
    places = [one.bounding_box() for one in buttons.all()]
    assert len(places) == 4
    for name, panel in (("Reject…", ".panel.reject"), ("Somebody else", ".panel.other"), ("Why?", ".panel.why")):
        answers.locator("summary", has_text=name).click()
        expect(answers.locator(panel)).to_be_visible()
        expect(answers.locator(".panel:visible")).to_have_count(1)  # one at a time
        assert [one.bounding_box() for one in buttons.all()] == places
    answers.locator("summary", has_text="Why?").click()
    expect(answers.locator(".panel:visible")).to_have_count(0)


def test_nothing_needs_a_script(hall: Server, visit: Callable[..., Visitor]) -> None:
    me = visit(hall, hall.user("ann", "manager"), scripts=False)
    page = me.page
    page.goto("/sites/hall")
    _, into = proposal_of(page)
    page.get_by_role("button", name=re.compile("^Approve")).first.click()
    expect(page.get_by_role("status").first).to_contain_text("Approved")
    page.get_by_role("article", name=f"Offer to {into}").get_by_role("button", name="Started").click()
    expect(page.get_by_role("status").first).to_contain_text("started")
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_label("CSV file").set_input_files(
        {"name": "o.csv", "mimeType": "text/csv", "buffer": OUTPUT_CSV.encode()}
    )
    page.get_by_role("button", name="Check it").click()
    page.get_by_role("button", name="Record it").click()
    expect(page.get_by_role("link", name="Person a").first).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_plan_is_cancelled_by_a_button(hall: Server, visit: Callable[..., Visitor], scripts: bool) -> None:
    token = hall.user("ann", "manager")
    me = visit(hall, token, scripts=scripts)
    jobs = [hall.ask("POST", "/sites/hall/plan", token, {"runs": LONG, "seed": seed})["id"] for seed in (1, 2)]
    me.page.goto(f"/sites/hall/plan/{jobs[1]}")
    expect(me.page.get_by_role("progressbar", name="Simulation")).to_be_visible()
    me.page.get_by_role("button", name="Cancel").click()
    expect(me.page.get_by_text("The simulation was cancelled by ann.")).to_be_visible()
    expect(me.page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert hall.get(f"/jobs/{jobs[1]}", token)["status"] == "cancelled"
    if scripts:  # a page that is open when somebody else cancels says so by itself, also after no answer for a while
        third = hall.ask("POST", "/sites/hall/plan", token, {"runs": LONG, "seed": 3})["id"]
        me.page.goto(f"/sites/hall/plan/{third}")
        me.expected = {502}
        me.page.route("**/api/v1/jobs/*", lambda route: route.fulfill(status=502, body="no server"))
        expect(me.page.get_by_text("The server does not answer; asking again.")).to_be_visible()
        me.page.route("**/sites/**", lambda route: route.fulfill(status=502, body="no server"))  # nor for the page
        me.page.wait_for_timeout(4000)
        expect(me.page.get_by_role("progressbar", name="Simulation")).to_be_visible()
        me.page.unroute_all()
        hall.ask("DELETE", f"/jobs/{third}", token)
        expect(me.page.get_by_text("The simulation was cancelled by ann.")).to_be_visible()


# --- two servers, one store


def test_two_servers_are_one(prepared: Any, serve: Serve, visit: Callable[..., Visitor]) -> None:
    database: Database = prepared("postgresql", _hall)
    token = add_user(database.url, "ann", "manager")
    one, other = serve(database.url), serve(database.url)
    me = visit(one, token)
    me.page.goto("/sites/hall")
    _, into = proposal_of(me.page)
    me.page.goto(f"{other.url}/sites/hall")  # one machine, so the cookie holds for both
    me.page.get_by_role("button", name=re.compile("^Approve")).first.click()
    me.page.goto(f"{one.url}/sites/hall")
    expect(me.page.get_by_role("article", name=f"Offer to {into}")).to_be_visible()

    other.process.send_signal(signal.SIGSTOP)  # so that it is the first that takes the job
    job = one.ask("POST", "/sites/hall/plan", token, {"runs": LONG})["id"]
    until(lambda: one.get(f"/jobs/{job}", token)["status"] == "running")
    other.process.send_signal(signal.SIGCONT)
    assert other.get(f"/jobs/{job}", token)["status"] == "running"
    me.page.goto(f"{other.url}/sites/hall/plan/{job}")
    expect(me.page.get_by_role("progressbar", name="Simulation")).to_be_visible()
    one.kill()
    until(lambda: other.get(f"/jobs/{job}", token)["attempts"] == 2)
    expect(me.page.get_by_role("table").first).to_contain_text("keep-team", timeout=COMPILING * 1000)


def until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for something to come true."""
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.05)
