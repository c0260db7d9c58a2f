"""The table of workers on the Today page, with up to a thousand of them, and the page of a worker."""

import re
from datetime import date

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.snapshots import snapshot
from support.web.pages import CREW, HOSTILE, browser, pages_store, recorded, set_up, with_crew

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


def test_everybody_is_found_on_the_people_page(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    manager.post("/sites/hall/workers/2/note", {"note": "speaks Polish"})
    for query, names in {
        "": ["Ann", "Ben", HOSTILE, "Cleo"],
        "?q=EN": ["Ben"],
        "?q=d": [HOSTILE],
        "?show=pool&sort=-estimate": ["Cleo", HOSTILE],
        "?show=noted": ["Cleo"],
        "?show=changing": [],
    }.items():
        found = [
            name.replace("&lt;", "<").replace("&gt;", ">")
            for name in names_in(manager.get(f"/sites/hall/workers{query}"))
        ]
        assert found == names, query
    assert "1 of 4 people" in manager.get("/sites/hall/workers?q=en")
    assert "Nobody fits" in manager.get("/sites/hall/workers?q=zz")


def test_somebody_at_several_sites_is_one_person_to_those_who_see_them(store: Store) -> None:
    for name in ("hall", "south", "secret"):
        with_crew(store, name)
    page = browser(store, "viewer", ["hall", "south"]).get("/sites/hall/workers/2")
    assert 'Also at <a href="/sites/south/workers/2">south</a>' in page
    assert "secret" not in page
    assert "Also at" not in browser(store, "viewer", ["hall"]).get("/sites/hall/workers/2")


def test_a_sheet_tells_a_person_everything_about_them_and_nothing_of_others(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    proposal = next(iter(snapshot(store, "hall").site.proposals.values()))
    leaver, entrant = str(CREW[proposal.out].name), str(CREW[proposal.into].name)
    commands.approve(store, "hall", proposal.id, "boss")
    worker = CREW[proposal.out].worker_id
    rows = [OutputRow(1, date(2026, 11, day), None, worker, 10.0 + day, None, "worked") for day in (2, 3)]
    rows += [OutputRow(1, date(2026, 11, 4), None, worker, None, None, "absent")]
    output_imports.import_output(store, "hall", rows, b"", "test")
    manager.post(f"/sites/hall/workers/{proposal.out}/note", {"note": "speaks Polish"})
    page = manager.get(f"/sites/hall/workers/{proposal.out}/sheet").partition("<main")[2]
    assert leaver in page
    assert entrant.replace("<", "&lt;").replace(">", "&gt;") not in page
    assert "boss" not in page
    assert "to give their place to somebody else" in page
    assert "approved, under way" in page
    assert "speaks Polish" in page
    assert 'Nov 2026</th><td class="number">2</td><td class="number">12.5</td><td class="number">1</td>' in page
    member = snapshot(store, "hall").members[proposal.out]
    assert f"{member.level.mean:,.1f}" in page
    assert "30 earlier days from before this site count too." in page
    other = manager.get(f"/sites/hall/workers/{proposal.into}/sheet").partition("<main")[2]
    assert "to bring them in" in other
    assert leaver not in other
    manager.get("/sites/hall/workers/99/sheet", 404)
