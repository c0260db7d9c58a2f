"""The table of workers on the Today page, with up to a thousand of them, and the page of a worker."""

import re

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.snapshots import snapshot
from support.web.pages import HOSTILE, browser, pages_store, recorded, set_up, with_crew

store = pages_store


def test_a_site_without_anybody_says_once_what_to_do(store: Store) -> None:
    set_up(store)
    manager = browser(store)
    for path, words in (("", "Import workers"), ("/history", "Import workers first")):
        page = manager.get(f"/sites/hall{path}").partition("<main")[2]
        assert page.count("<section") == 1, path
        assert page.count('href="/sites/hall/import"') == 1, path
        assert f">{words}</a>" in page, path


def test_what_waits_here_is_no_link_to_here(store: Store) -> None:
    with_crew(store)
    page = browser(store).get("/sites/hall")
    waits = page.partition('id="waits"')[2].partition("</ul>")[0]
    assert "/sites/hall/import" in waits
    assert "to answer" not in waits  # the advice above says it
    seen = browser(store, "viewer").get("/sites/hall").partition('id="waits"')[2].partition("</ul>")[0]
    assert '<span class="chip wait">Output of 10 days to import</span>' in seen
    assert "<a" not in seen


def names_in(page: str) -> list[str]:
    return re.findall(r'role="rowheader"><a href="[^"]*">([^<]*)<', page)


def test_the_table_is_sorted_without_a_script(store: Store) -> None:
    with_crew(store)
    viewer = browser(store, "viewer")
    hostile = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
    assert names_in(viewer.get("/sites/hall")) == ["Ann", "Ben", hostile, "Cleo"]
    for sort, names in {
        "name": [hostile, "Ann", "Ben", "Cleo"],
        "-name": ["Cleo", "Ben", "Ann", hostile],
        "station": ["Ann", "Ben", hostile, "Cleo"],
        "-station": ["Ben", "Ann", hostile, "Cleo"],
        "estimate": [hostile, "Cleo", "Ben", "Ann"],
        "-estimate": ["Ann", "Ben", "Cleo", hostile],
        "nonsense": ["Ann", "Ben", hostile, "Cleo"],
    }.items():
        page = viewer.get(f"/sites/hall?sort={sort}")
        assert names_in(page) == names, sort
        ways = re.findall(r'aria-sort="(\w+)"', page)
        assert ways == {
            "name": ["ascending"],
            "-name": ["descending"],
            "station": ["ascending"],
            "-station": ["descending"],
            "estimate": ["descending"],
            "-estimate": ["ascending"],
        }.get(sort, [])
    assert 'href="/sites/hall?sort=-estimate#people"' in viewer.get("/sites/hall?sort=estimate")
    commands.change_worker(store, "hall", "d", "test", status="left")
    assert names_in(viewer.get("/sites/hall"))[-1] == hostile  # though the best


def test_a_thousand_workers_are_one_page(store: Store) -> None:
    set_up(store, team=200, policy="value-of-replacement")
    crew = [WorkerRow(f"W{n:04d}", f"Person {n} of many", n < 200) for n in range(1000)]
    worker_imports.import_workers(store, "hall", crew, b"", "test")
    rows = [OutputRow(2, None, 1, f"W{n:04d}", 30.0 + n % 50, None, "worked") for n in range(200)]
    output_imports.import_output(store, "hall", rows, b"", "test")
    viewer = browser(store, "viewer")
    page = viewer.get("/sites/hall")
    assert len(page.encode()) < 150_000
    assert page.count("<tr") == 101
    assert "Show 900 more" in page
    whole = viewer.get("/sites/hall?everybody=true")
    assert len(whole.encode()) < 1_500_000
    assert whole.count("<tr") == 1001
    few = viewer.get("/sites/hall?q=w0777")
    assert few.count("<tr") == 2
    assert viewer.get("/sites/hall?show=team&everybody=true").count("<tr") == 201
    viewer.get("/sites/hall/history?stations=41")


def test_what_is_said_of_workers(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    for form, name, value in (
        ({"pinned": "yes"}, "pinned", True),
        ({"pinned": "no"}, "pinned", False),
        ({"status": "blocked"}, "status", "blocked"),
        ({"status": "left"}, "status", "left"),
        ({"status": "pool"}, "status", "pool"),
        ({"fee": "7.5"}, "fee", 7.5),
        ({"fee": ""}, "fee", None),
    ):
        manager.post("/sites/hall/workers/2", form)
        assert getattr(snapshot(store, "hall").site.workers[2], name) == value
    before = recorded(store)
    for wrong in ({"status": "gone"}, {"status": ""}, {"pinned": "maybe"}, {"pinned": ""}, {"other": "x"}, {}):
        assert "Nothing was done" in manager.post("/sites/hall/workers/2", wrong), wrong
    assert recorded(store) == before
    manager.get("/sites/hall/workers/99", 404)
    admin = browser(store, "admin")
    assert "check the box to confirm" in admin.post("/sites/hall/workers/2/erase", {})
    assert "Erased" in admin.post("/sites/hall/workers/2/erase", {"sure": "yes"})
    assert "Cleo" not in admin.get("/sites/hall")
    assert "erased" in admin.get("/sites/hall/workers/2")


def test_only_who_is_in_the_team_can_be_pinned(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    assert ">Pin:" in manager.get("/sites/hall/workers/0")
    assert ">Pin:" not in manager.get("/sites/hall/workers/2")
    manager.post("/sites/hall/workers/2", {"pinned": "yes"})
    assert ">Unpin<" in manager.get("/sites/hall/workers/2")
