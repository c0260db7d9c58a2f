"""A manager's answers in real Chromium: by keyboard, many at once, taken back, and two managers at once."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.store import Store
from support.stores import ME, config
from support.web.browsing import Visit
from support.web.looking import PHONE, axe_in_light_and_dark, shift_of, too_wide
from support.web.server import Serve, Server

TEAM = 8


def poor_team(store: Store) -> None:
    """A team of poor workers with good ones outside: all are to be replaced."""
    commands.create_site(store, "hall", config(team=TEAM, most_a_week=None, least_tenure=0), ME)
    crew = [WorkerRow(f"t{n}", f"Ana Maier {n}", True, prior_n=400, prior_mean=10.0) for n in range(TEAM)]
    crew += [WorkerRow(f"p{n}", f"Ben Ivanova {n}", False, prior_n=400, prior_mean=80.0 + n / 10) for n in range(20)]
    worker_imports.import_workers(store, "hall", crew, b"", ME)


@pytest.fixture
def poor(prepared: Any, serve: Serve) -> Server:
    """A server with a site that has as many proposals as people."""
    return serve(prepared("sqlite", poor_team).url)


PLACES = """(cards) => cards.map((card) => card.getBoundingClientRect()).map(
  (box) => [Math.round(box.top + scrollY), Math.round(box.height)])"""


def cards(page: Page) -> Any:
    return page.locator("[data-proposal]")


def answered(page: Page, count: int) -> None:
    expect(page.locator("[data-proposal].answered")).to_have_count(count)


def test_five_are_answered_by_keyboard_and_one_is_taken_back(poor: Server, visit: Visit) -> None:
    me = visit(poor, poor.user("ann", "manager"))
    page = me.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/sites/hall")
    places = cards(page).evaluate_all(PLACES)
    assert len(places) == 5
    assert places[-1][0] + places[-1][1] <= 800, "five fit a screen"
    page.keyboard.press("a")
    expect(page.locator("#proposal-1")).to_be_focused()  # nothing is answered that was not looked at
    answered(page, 0)
    for number in range(1, 5):
        page.keyboard.press("a")
        answered(page, number)
        expect(page.locator(f"#proposal-{number + 1}")).to_be_focused()
        assert cards(page).evaluate_all(PLACES) == places, "no card moves"
    page.keyboard.press("k")
    expect(page.locator("#proposal-5")).to_be_focused()  # answered ones are passed over
    page.keyboard.press("r")
    page.keyboard.press("ArrowDown")  # keep who would leave
    page.keyboard.press("Enter")
    answered(page, 5)
    expect(page.locator("#proposal-5")).to_contain_text("rejected")
    bar = page.locator("#said")
    expect(bar).to_contain_text("Rejected")
    expect(bar).to_be_focused()
    page.keyboard.press("u")
    expect(bar).to_contain_text("Taken back")
    answered(page, 4)
    expect(page.locator("#proposal-5")).to_contain_text("Approve")
    assert [place for place, _ in cards(page).evaluate_all(PLACES)] == [place for place, _ in places]
    assert shift_of(page) < 0.02
    expect(page.get_by_role("article", name="Offer to")).to_have_count(3)  # the rest of the page follows
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.get_by_label("Use these keys on this device").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.get_by_role("link", name="more to answer").click()
    answered(page, 0)
    page.keyboard.press("j")
    expect(page.locator("[data-proposal]:focus")).to_have_count(0)  # the keys stay off


def test_a_message_offers_undo_for_ten_seconds(poor: Server, visit: Visit) -> None:
    page = visit(poor, poor.user("ann", "manager")).page
    page.clock.install()
    page.goto("/sites/hall")
    page.get_by_role("button", name="Approve Ben").first.click()
    undo = page.locator("#said").get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    page.mouse.move(5, 700)
    page.clock.fast_forward(9_000)
    expect(undo).to_be_visible()
    page.clock.fast_forward(2_000)
    expect(undo).to_have_count(0)
    page.get_by_role("region", name="The last answer").get_by_role("button", name="Undo").click()
    answered(page, 0)


def test_all_are_answered_at_once_and_the_second_manager_is_told(poor: Server, visit: Visit) -> None:
    ann, ben = (visit(poor, poor.user(name, "manager")) for name in ("ann", "ben"))
    for visitor in (ann, ben):
        visitor.page.goto("/sites/hall")
    ann.page.get_by_label("Select Ben Ivanova").nth(0).check()
    ann.page.get_by_label("Select Ben Ivanova").nth(2).check()
    expect(ann.page.get_by_text("2 selected")).to_be_visible()
    ann.page.keyboard.press("a")
    expect(ann.page.locator("#said")).to_contain_text("2 approved.")
    answered(ann.page, 2)

    ben.page.get_by_label(f"Select all {TEAM}").check()
    expect(ben.page.get_by_text(f"{TEAM} selected")).to_be_visible()
    ben.page.keyboard.press("r")
    ben.page.get_by_label("Not now", exact=False).first.check()
    ben.page.get_by_label("Reason, for the record").first.fill("stocktaking this week")
    ben.page.get_by_role("button", name="Reject selected").click()
    message = ben.page.locator("#said")
    expect(message).to_contain_text(f"{TEAM - 2} rejected. 2 could not be")
    expect(message).to_contain_text("answered before: ann approved it")
    answered(ben.page, 5)
    token = poor.user("vic", "viewer")
    statuses = [proposal["status"] for proposal in poor.get("/sites/hall/proposals", token)["items"][:TEAM]]
    assert statuses.count("approved") == 2
    assert statuses.count("rejected") == TEAM - 2


@pytest.mark.parametrize("scripts", [True, False])
def test_cards_are_fit_for_everybody(poor: Server, visit: Visit, scripts: bool) -> None:
    page = visit(poor, poor.user("ann", "manager"), scripts=scripts).page
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto("/sites/hall")
    if scripts:
        assert shift_of(page) < 0.02
        faults = axe_in_light_and_dark(page)
        page.get_by_role("button", name="Approve Ben").first.click()
        answered(page, 1)
        page.get_by_text("Reject…").first.click()
        faults += [*axe_in_light_and_dark(page), *too_wide(page)]
        assert not faults, "\n".join(faults)
        return
    page.get_by_label("Select Ben Ivanova").nth(1).check()
    page.get_by_role("button", name="Approve selected").click()
    answered(page, 1)  # it keeps its place here, too
    expect(page.locator("[data-proposal]").nth(1)).to_contain_text("approved")
    page.locator("#said").get_by_role("button", name="Undo").click()
    answered(page, 0)


def test_charts_are_read_by_keyboard_and_pointer(visit: Visit, poor: Server) -> None:
    token = poor.user("ann", "manager")
    rows = [
        {"date": f"2024-01-{day:02}", "worker_id": f"t{n}", "units": 10 + n + day}
        for day in range(1, 6)
        for n in range(TEAM)
    ]
    poor.ask("POST", "/sites/hall/output", token, {"rows": rows})
    page = visit(poor, token).page
    page.goto("/sites/hall/history")
    chart = page.get_by_role("slider", name="Output by day against what was expected: values")
    table = page.locator("#output-table tbody tr")
    chart.focus()
    words = []
    for key in ("End", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        words.append(chart.get_attribute("aria-valuetext") or "")
        expect(chart.locator("[data-reading]")).to_have_text(words[-1])
    page.get_by_text("Show as table").nth(1).click()
    for text, row in zip(words, (0, 1, 4), strict=True):  # the newest day is first
        cells = table.nth(row).locator("th, td").all_inner_texts()
        assert text == f"{cells[0]}: output {cells[1]}, expected {cells[2]}, 95% interval {cells[3]}"
    sums = [sum(10 + n + day for n in range(TEAM)) for day in (5, 4, 1)]
    assert all(f"output {total}.0" in text for total, text in zip(sums, words, strict=True))
    box = page.locator("#output-by-day").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 50)
    assert chart.get_attribute("aria-valuetext") == words[0]
    spans = page.get_by_role("slider", name="Who worked where: values")
    spans.focus()
    page.keyboard.press("Home")
    expect(spans).to_have_attribute("aria-valuetext", "Station 1: Ana Maier 0 (t0), Mon 1 Jan 2024 to now")
    page.get_by_label("From", exact=True).fill("2024-01-02")
    page.get_by_label("To", exact=True).fill("2024-01-03")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(table).to_have_count(2)
    assert not axe_in_light_and_dark(page)
