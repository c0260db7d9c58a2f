"""Signing in and being refused, in real Chromium against real server processes."""

from playwright.sync_api import Page, expect

from crewlearn.advisor.advice.opening import open_store
from crewlearn.web.auth import users
from support.web.browsing import Visit, proposal_of
from support.web.server import Server


def test_signing_in_and_being_shut_out(hall: Server, visit: Visit) -> None:
    token = hall.user("ann", "manager")
    past = hall.user("cara", "manager", days=1e-9)  # a tenth of a millisecond
    me = visit(hall)
    page = me.page
    me.expected = {401}
    page.goto("/sites/hall")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    me.sign_in(token[:-1] + ("A" if token[-1] != "A" else "B"))
    expect(page.get_by_role("alert")).to_contain_text("wrong, expired or revoked")
    me.sign_in(past)
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
    with open_store(hall.db) as store:
        users.revoke(store, "ann")
    me.expected = {401}
    page.get_by_role("link", name="hall").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    me.open_link(hall.link("cara"))
    expect(page.locator(".who")).to_contain_text("cara")
    link = hall.link("cara")
    other, third = visit(hall), visit(hall)
    for visitor in (third, other):
        visitor.page.goto(link)  # opening the link does not use it up
        expect(visitor.page.get_by_role("button", name="Sign in as cara")).to_be_visible()
    other.page.get_by_role("button", name="Sign in as cara").click()
    expect(other.page.locator(".who")).to_contain_text("cara")
    third.expected = {401}
    third.page.get_by_role("button", name="Sign in as cara").click()
    expect(third.page.get_by_role("alert")).to_contain_text("used already")
    third.page.goto(link)
    expect(third.page.get_by_role("alert")).to_contain_text("used already")
    assert third.page.goto("/sites/hall")
    expect(third.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_viewer_sees_no_buttons_and_is_refused(hall: Server, visit: Visit) -> None:
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
        expect(me.page.get_by_role("heading", name="You may not do this")).to_be_visible()
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
    """Send a request that no button of this page sends; return the status."""
    script = """async ([path, form]) => (await fetch(path, {
        method: "POST", redirect: "manual",
        headers: path.startsWith("/api/") ? { "Content-Type": "application/json" } : {},
        body: path.startsWith("/api/") ? JSON.stringify(form) : new URLSearchParams(form) })).status"""
    return int(page.evaluate(script, [path, form]))
