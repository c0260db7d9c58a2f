"""Every page in process: roles, dead links, hostile names, and numbers that are too large."""

import base64
import re

import pytest
from fastapi.testclient import TestClient

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.app import make_app
from crewlearn.web.auth import users
from crewlearn.web.auth.access import ROLES
from crewlearn.web.pages.common import TABS
from crewlearn.web.settings import Settings
from crewlearn.web.snapshots import snapshot
from support.stores import Database, proposed
from support.web.app import BASE
from support.web.pages import (
    CREW,
    HOSTILE,
    browser,
    crawl,
    pages_demo,
    pages_store,
    recorded,
    set_up,
    with_crew,
)

store, demo = pages_store, pages_demo
CHANGING = re.compile(r'<form[^>]*method="post"[^>]*action="(?!/sign-out|/language|/notifications)([^"]*)"')


def table_of(words: str) -> str:
    """Return the id of the table that a chart is read from; empty if it is read from its spans."""
    return words.partition('data-table="')[2].partition('"')[0]


@pytest.mark.parametrize("role", ROLES)
def test_every_link_leads_somewhere_for_everybody(demo: Store, role: str) -> None:
    set_up(demo, "empty line")
    with_crew(demo, "small hall")
    pages = crawl(browser(demo, role))
    charts = [
        (path, words) for path, page in pages.items() for words in re.findall('<div class="chart-box"([^>]*)>', page)
    ]
    assert {"track-record-table", "output-table", "learning-table"} <= {table_of(words) for _, words in charts}
    for path, words in charts:
        table = table_of(words)
        assert (
            f'id="{table}"' in pages[path] and "<tr data-at=" in pages[path] if table else "data-readable" in words
        ), path
    parts = [part for _, part, needed in TABS if ROLES.index(role) >= ROLES.index(needed)]
    for site in ("Demo%20hall", "empty%20line", "small%20hall"):
        for part in parts:
            assert f"/sites/{site}/{part}".rstrip("/") in pages, (site, part)
    assert ("/sites/new" in pages) == (role == "admin")
    assert any("/record/export/events" in path for path in pages)
    if role == "viewer":
        for path, text in pages.items():
            assert not CHANGING.findall(text), path


def test_a_viewer_may_not_change_anything(store: Store) -> None:
    with_crew(store)
    viewer, before = browser(store, "viewer"), recorded(store)
    number = proposed(store, "hall")[0]
    for path in (
        f"proposals/{number}/approve",
        f"proposals/{number}/reject",
        f"proposals/{number}/offer",
        "undo",
        "workers/0",
        "workers/0/note",
        "workers/0/erase",
        "import",
        "settings",
        "plan",
        "record/verify",
    ):
        response = viewer.send(f"/sites/hall/{path}", {"status": "left", "outcome": "started", "sure": "yes"})
        assert response.status_code == 403, path
        assert "Back to the sites" in response.text
    assert recorded(store) == before
    assert viewer.send("/sites/new", {"name": "x"}).status_code == 403


def test_who_is_not_signed_in_is_asked_to(store: Store) -> None:
    with_crew(store)
    stranger = TestClient(make_app(store, Settings()), base_url=BASE)
    for path, asked in (
        ("/", ""),
        ("/sites/hall", "?next=/sites/hall"),
        ("/sites/a%20hall/history?to=9&stations=1", "?next=/sites/a%2520hall/history%3Fto%3D9%26stations%3D1"),
    ):
        response = stranger.get(path, headers={"Accept": "text/html"}, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, f"/sign-in{asked}")
    assert "Your token" in stranger.get("/sign-in").text
    wrong = stranger.post("/sign-in", data={"token": "crew_wrong"})
    assert wrong.status_code == 401
    assert 'role="alert"' in wrong.text


def test_who_signs_in_goes_on_to_what_they_asked_for_and_never_elsewhere(store: Store) -> None:
    with_crew(store)
    users.add(store, "ann", "viewer")
    _, token = users.new_token(store, "ann")
    client = TestClient(make_app(store, Settings()), base_url=BASE)
    asked = client.get("/sites/hall/history?to=1", headers={"Accept": "text/html"}).text
    address = re.search(r'<input type="hidden" name="next" value="([^"]*)">', asked)
    assert address
    assert address[1] == "/sites/hall/history?to=1"
    wrong = client.post("/sign-in", data={"token": "crew_wrong", "next": address[1]})
    assert f'name="next" value="{address[1]}"' in wrong.text
    old = client.get("/sign-in/once", params={"code": "old", "next": address[1]})
    assert f'name="next" value="{address[1]}"' in old.text, "without a valid link, a token still signs in"
    for wanted, gone in (
        (address[1], address[1]),
        ("", "/"),
        ("/sign-in", "/"),
        ("sites/hall", "/"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("/\t/evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/" + "x" * 3000, "/"),
    ):
        response = client.post("/sign-in", data={"token": token, "next": wanted}, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, gone), wanted
        shown = client.get("/sign-in", params={"next": wanted}).text
        assert f'name="next" value="{gone}"' in shown, wanted
        code = users.new_link(store, "ann")
        shown = client.get("/sign-in/once", params={"code": code, "next": wanted}).text
        assert f'name="next" value="{gone}"' in shown, wanted
        response = client.post("/sign-in/once", data={"code": code, "next": wanted}, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, gone), wanted


def test_what_was_said_is_kept_by_the_same_rules_as_the_session(store: Store) -> None:
    with_crew(store)
    users.add(store, "max", "manager")
    _, token = users.new_token(store, "max")
    for https in (False, True):
        client = TestClient(make_app(store, Settings(secure_cookies=https)), base_url=BASE, follow_redirects=False)
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/html"}
        set_cookie = client.post("/sites/hall/undo", data={"number": "1"}, headers=headers).headers["set-cookie"]
        name = "__Host-crewlearn_said" if https else "crewlearn_said"
        shown = client.get("/sites/hall", headers={**headers, "Cookie": f"{name}=x"}).headers["set-cookie"]
        for cookie in (set_cookie, shown):
            parts = {part.strip().lower() for part in cookie.split(";")[1:]}
            assert parts >= {"httponly", "path=/", "samesite=strict"}
            assert ("secure" in parts) == https


def test_hostile_names_are_words(store: Store) -> None:
    with_crew(store)
    admin = browser(store, "admin")
    pages = crawl(admin)
    assert any("&lt;script&gt;alert(1)" in text for text in pages.values())
    for path, text in pages.items():
        assert HOSTILE not in text, path
    note = admin.post("/sites/hall/workers/0", {"fee": f'"{HOSTILE}'}, 422)
    assert HOSTILE not in note
    assert "fee-wrong" in note
    shown = admin.post("/sites/hall/import", {"text": f'worker_id,name,fee\nx,"{HOSTILE}",{HOSTILE}'})
    assert HOSTILE not in shown


def test_one_is_one(store: Store) -> None:
    set_up(store, team=1)
    worker_imports.import_workers(store, "hall", [WorkerRow("a", None, True), WorkerRow("b")], b"", "test")
    output_imports.import_output(store, "hall", [OutputRow(2, None, 1, "a", 30.0, None, "worked")], b"", "test")
    manager = browser(store)
    page = manager.get("/sites/hall")
    assert "1 in the team, 1 other<" in page
    assert "1 of 1 station filled" in page
    assert "Station 1 · 1 day<" in page
    for path, text in crawl(manager).items():
        assert not re.search(r"\b1 (others|errors|periods|days|rows|proposals|events|workers|stations)\b", text), path


def test_days_are_in_words_wherever_the_advice_is_told(store: Store) -> None:
    set_up(store, least_tenure=50, policy="value-of-replacement")
    worker_imports.import_workers(store, "hall", CREW, b"", "test")
    rows = [OutputRow(2, None, 1, worker, 30.0, None, "worked") for worker in "ab"]
    output_imports.import_output(store, "hall", rows, b"", "test")
    manager = browser(store)
    assert "for the least tenure, the first to Mon 11 Jan 2027" in manager.get("/sites/hall")
    assert "Advice for Tue 3 Nov" in manager.get("/sites/hall/record")
    for path in ("/", "/sites/hall", "/sites/hall/record"):
        words = re.sub(r"<[^>]*>", "", manager.get(path))
        assert not re.search(r"\d{4}-\d{2}-\d{2}", words), path


def test_where_less_is_better_and_where_the_pool_is_small(store: Store) -> None:
    set_up(store, "errors", units=Units(30.0, 0.0, 4.0))
    worker_imports.import_workers(
        store, "errors", [WorkerRow(worker, None, worker in "ab") for worker in "abc"], b"", "test"
    )
    rows = [OutputRow(2, None, period, worker, 6.0, None, "worked") for period in range(1, 6) for worker in "ab"]
    output_imports.import_output(store, "errors", rows, b"", "test")
    set_up(store, "short", team=5)
    worker_imports.import_workers(store, "short", [WorkerRow(worker, None, True) for worker in "ab"], b"", "test")
    manager = browser(store)
    assert "less is better" in manager.get("/sites/errors")
    assert "2 of 5 stations filled" in manager.get("/sites/short")
    crawl(manager)


def test_what_is_beyond_measure_is_refused_and_not_a_fault(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    huge = 99_999_999_999_999_999_999_999
    for path in (
        f"plan/{huge}",
        f"import/{huge}",
        f"workers/{huge}",
        f"history?before={huge}",
        f"record?before={huge}",
    ):
        assert manager.client.get(f"/sites/hall/{path}").status_code in (404, 422)
    assert manager.client.get(f"/sites/hall/history?to={huge}").status_code == 200
    for message in (b"[" * 2900, b'{"text":"\\ud800","tone":"","more":[]}'):
        manager.client.cookies.set("crewlearn_said", base64.urlsafe_b64encode(message).decode())
        assert manager.client.get("/sites/hall").status_code == 200
    plan = {"team": "2", "fee": "5", "horizon": "1000000000", "mean_delay": "1", "runs": "200", "policies": "dr-ucb"}
    assert "periods ahead" in manager.send("/sites/hall/plan", plan).text
    admin = browser(store, "admin")
    site = {"name": "late", "team": "2", "fee": "5", "low": "0", "high": "10", "start": "9999-12-31", "weekdays": "0"}
    assert admin.send("/sites/new", site).status_code == 422
    assert admin.send("/sites/new", {**site, "start": "2026-01-05", "weekdays": ""}).status_code == 422
    with pytest.raises(InvalidInput, match="another name"):
        commands.create_site(store, "new", snapshot(store, "hall").site.config, "ann")


@pytest.mark.parametrize("number", [2**31, 2**63, 2**64 + 1, 10**39, -(2**63) - 1])
def test_no_number_of_a_form_is_too_large_for_a_database(database: Database, number: int) -> None:
    with database.open() as store:
        with_crew(store)
        admin, before = browser(store, "admin"), recorded(store)
        page = admin.get("/sites/hall/settings")
        values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
        settings = {**values, "weekdays": ["0"], "fee_due": "initiation", "version": str(before)}
        plan = {"team": "2", "fee": "5", "horizon": "40", "mean_delay": "1", "runs": "20", "policies": "dr-ucb"}
        refused = admin.send("/sites/hall/settings", {**settings, "version": str(number)})
        assert refused.status_code == 422
        assert "must be a version of the site" in refused.text
        typed = [name for name in settings if name not in ("fee_due", "weekdays")]
        forms = [("settings", {**settings, name: str(number)}) for name in typed]
        forms += [("plan", {**plan, name: str(number)}) for name in plan if name != "policies"]
        forms += [("undo", {"number": str(number)}), ("workers/0", {"fee": str(number)})]
        forms += [(f"proposals/{number}/{answer}", {"outcome": "started"}) for answer in ("approve", "reject", "offer")]
        forms += [(f"workers/{number}/note", {"note": "a note"})]
        forms += [(f"workers/{number}", {"pinned": "yes"}), (f"workers/{number}/erase", {"sure": "yes"})]
        for path, form in forms:
            assert admin.send(f"/sites/hall/{path}", form).status_code < 500, (path, form)
        admin.get("/sites/hall")
