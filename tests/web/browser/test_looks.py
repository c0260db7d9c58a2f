"""Every page in real Chromium: fit for phones and desks, light and dark, fingers, keyboards and screen readers."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Browser, Page, expect

from crewlearn.advisor.advice.opening import open_store
from crewlearn.planning.demo import make_demo
from crewlearn.web.pages.common import TABS
from support.stores import Database
from support.waiting import until
from support.web.browsing import COMPILING, WORKERS_CSV, Visit, give_file, proposal_of
from support.web.looking import (
    DARKENED,
    DESK,
    PHONE,
    SHIFTS,
    axe_faults,
    axe_in_light_and_dark,
    look_at,
    look_over,
    scrolls_sideways,
    shift_of,
    too_wide,
)
from support.web.server import Serve, Server, start


@pytest.fixture(scope="module")
def demo(prepared: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server with the demo site, and an admin's token."""
    database: Database = prepared("sqlite", make_demo)
    server = start(database.url, tmp_path_factory.mktemp("demo") / "server.log")
    try:
        yield server, server.user("eve", "admin")
    finally:
        server.stop()


SITE = re.compile(r"^/sites/(?!new$)[^/]+")


def kind_of(path: str) -> str:
    """Return the part of a path that all pages of its kind share."""
    return re.sub(r"/\d+(?=/|$)", "/N", SITE.sub("/sites/S", path.partition("?")[0].partition("#")[0]))


def pages_from(page: Page, first: str) -> Iterator[str]:
    """Yield the path of one page of each kind, following links; the caller opens it and leaves it open."""
    waiting, known = [first], {kind_of(first)}
    while waiting:
        yield waiting.pop(0)
        links = page.eval_on_selector_all(
            "a[href]", "(all) => all.filter((a) => a.origin === location.origin).map((a) => a.pathname + a.search)"
        )
        for link in links:
            if "/export/" not in link and kind_of(link) not in known:
                known.add(kind_of(link))
                waiting.append(link)


KINDS = {
    "/",
    "/sites/new",
    *(f"/sites/S/{part}".rstrip("/") for _, part, _ in TABS),
}


def test_every_page_is_fit_for_everybody(demo: tuple[Server, str], visit: Visit) -> None:
    server, token = demo
    me = visit(server, token)
    page, seen, faults = me.page, set(), list[str]()
    job = server.ask("POST", "/sites/demo/plan", token, {"runs": 20})["id"]
    until(lambda: server.get(f"/jobs/{job}", token)["status"] == "done", COMPILING)
    for path in pages_from(page, "/"):
        seen.add(kind_of(path))
        faults += look_at(page, path)
    assert page.evaluate(DARKENED) == [], "axe checks only colours in dark mode"
    me.page.get_by_role("button", name="Sign out").click()
    faults += look_at(page, "/sign-in")
    faults += look_at(page, server.link("eve"))
    assert not faults, "\n".join(faults)
    assert seen >= KINDS | {"/sites/S/workers/N", "/sites/S/workers/N/sheet", "/sites/S/plan/N"}, seen


def test_pages_with_little_or_wrong_on_them_are_fit_too(make_database: Any, serve: Serve, visit: Visit) -> None:
    server = serve(make_database("sqlite").url)
    me = visit(server)
    page = me.page
    me.open_link(server.first_link())
    expect(page.get_by_role("heading", name="There is no site yet")).to_be_visible()
    faults = look_over(page)
    me.expected = {404, 422}
    page.goto("/sites/new")
    page.get_by_text("Set the site up by hand").click()
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_role("alert")).to_be_visible()
    faults += look_over(page)
    page.get_by_label("Name", exact=True).fill("Line 3")
    page.get_by_label("Highest plausible output").fill("100")
    page.get_by_role("button", name="Set up the site").click()
    expect(page.get_by_text("Line 3 is set up")).to_be_visible()
    for tab, _, _ in TABS:
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
    expect(page.locator("tr.fault")).to_have_count(50)  # two wrong cells per row, and a hundred errors listed
    faults += look_over(page)
    page.goto("/sites/nowhere")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
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
  const active = document.activeElement, style = getComputedStyle(active);
  return { words: active.textContent.trim(), tag: active.tagName,
    seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
}"""


def test_the_keyboard_suffices(hall: Server, visit: Visit) -> None:
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
    assert sum(element.startswith("BUTTON") for element in reached) >= buttons
    _, into = proposal_of(me.page)
    me.page.goto("/sites/hall")
    while not me.page.evaluate(FOCUS)["words"].startswith("Approve Person"):
        me.page.keyboard.press("Tab")
    me.page.keyboard.press("Enter")
    expect(me.page.get_by_role("article", name=f"Offer to {into}")).to_be_visible()
    expect(me.page.locator("#said")).to_contain_text("Approved")
    expect(me.page.locator("[data-proposal]:focus, #said:focus")).to_have_count(1)  # the next one, or the message
    me.page.keyboard.press("Tab")
    assert me.page.evaluate("document.activeElement.closest('.hero, #said') !== null")


def test_the_table_is_sorted_at_a_click(demo: tuple[Server, str], visit: Visit) -> None:
    server, token = demo
    page = visit(server, token).page
    page.goto("/sites/demo")
    rows = page.locator("#people-table tbody tr")
    means = sorted((float(value) for value in rows.locator("td[data-value]").evaluate_all(VALUES)), reverse=True)
    for name, way, column, first in (
        ("Station", "ascending", 1, "1"),
        ("Station", "descending", 1, "10"),
        ("Level, 95%", "descending", 2, str(means[0])),
        ("Level, 95%", "ascending", 2, str(means[-1])),
    ):
        head = page.get_by_role("columnheader", name=name)
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", way)
        cell = rows.first.locator("> *").nth(column)
        assert (cell.get_attribute("data-value") or cell.inner_text()) == first
    assert page.url.endswith("/sites/demo")  # the server was not asked


PLACES = """(all) => all.map((each) => each.getBoundingClientRect()).map(
  (box) => [box.x + scrollX, box.y + scrollY, box.width, box.height])"""
"""Where elements are on the page, wherever it is scrolled to."""

VALUES = "(all) => all.map((each) => each.dataset.value)"


@pytest.mark.parametrize("size", [PHONE, DESK])
@pytest.mark.parametrize("scripts", [True, False])
def test_what_a_button_opens_moves_no_button(
    demo: tuple[Server, str], visit: Visit, size: tuple[int, int], scripts: bool
) -> None:
    server, token = demo
    me = visit(server, token, scripts=scripts)
    page = me.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/sites/demo")
    answers = page.locator(".answers").first
    buttons = answers.locator("form:not(.panel) button, summary")
    places = buttons.evaluate_all(PLACES)
    assert len(places) == 4
    for name, panel in (("Reject…", ".panel.reject"), ("Choose…", ".panel.other"), ("Why?", ".panel.why")):
        answers.locator("summary", has_text=name).click()
        expect(answers.locator(panel)).to_be_visible()
        expect(answers.locator(".panel:visible")).to_have_count(1)  # one at a time
        assert buttons.evaluate_all(PLACES) == places
    answers.locator("summary", has_text="Why?").click()
    expect(answers.locator(".panel:visible")).to_have_count(0)


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_the_pages_are_fit_in_every_language(demo: tuple[Server, str], visit: Visit, language: str) -> None:
    """English is looked at above; elsewhere words are longer, and each page says in which language it is."""
    server, token = demo
    page, faults = visit(server, token).page, list[str]()
    page.set_extra_http_headers({"Accept-Language": language})
    for part in ("", "/sites/demo", *(f"/sites/demo/{tab}" for tab in ("workers", "history", "import", "settings"))):
        page.goto(part or "/")
        assert page.locator("html").get_attribute("lang") == language
        faults += axe_in_light_and_dark(page)
        faults += too_wide(page)
        page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    assert not faults, "\n".join(faults)
