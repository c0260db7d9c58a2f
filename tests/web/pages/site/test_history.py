"""The History page: imports of output, and taking one back."""

import re

from crewlearn.advisor.files import output_imports
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.snapshots import snapshot
from support.stores import sound
from support.web.pages import browser, pages_store, with_crew

store = pages_store


def test_an_import_is_undone_by_a_button(store: Store) -> None:
    with_crew(store)
    manager, viewer = browser(store), browser(store, "viewer")
    assert 'id="imports"' not in manager.get("/sites/hall/history")
    for period in (1, 2):
        row = OutputRow(2, None, period, "a", 30.0, None, "worked")
        output_imports.import_output(store, "hall", [row], b"", "test")
    page = manager.get("/sites/hall/history")
    actions = re.findall(r'action="(/sites/hall/history/imports/\d+/undo)"', page)
    assert len(actions) == 2
    assert "/undo" not in viewer.get("/sites/hall/history")
    viewer.post(actions[0], {}, 403)
    assert "was taken back: 1 row no longer count" in manager.post(actions[0], {})
    assert snapshot(store, "hall").site.period == 2
    assert "undone by manager 0" in manager.get("/sites/hall/history")
    again = browser(store).post(actions[0], {})
    assert "Nothing was done: import" in again
    assert "was taken back already, by manager 0" in again
    sound(store, "hall")


def test_a_persons_chart_shows_the_days_that_are_chosen(store: Store) -> None:
    with_crew(store)
    for period in range(1, 6):
        row = OutputRow(2, None, period, "a", 30.0 + period, None, "worked")
        output_imports.import_output(store, "hall", [row], b"", "test")
    manager = browser(store)
    whole = manager.get("/sites/hall/workers/0")
    assert 'name="since" value="2026-11-02"' in whole
    assert 'name="until" value="2026-11-06"' in whole
    assert len(re.findall("<tr data-at", whole)) == 5
    part = manager.get("/sites/hall/workers/0?since=2026-11-03&until=2026-11-05")
    assert [float(at) for at in re.findall('<tr data-at="([0-9.]+)"', part)] == [0.83333, 0.5, 0.16667]
    assert "3 days of output" in part
    last = re.findall('<tr data-at="[0-9.]+"><th scope="row">Thu 5 Nov</th>(.*)</tr>', whole)
    assert last
    assert last == re.findall('<tr data-at="[0-9.]+"><th scope="row">Thu 5 Nov</th>(.*)</tr>', part), (
        "nothing is forgotten"
    )
    nothing = manager.get("/sites/hall/workers/0?since=2026-11-07")
    assert "No output on these days" in nothing
    assert 'name="since" value="2026-11-07"' in nothing, "other days can be chosen"
    for page in ("workers/0", "history"):
        for days in ("since=2026-13-01", "until=9999-12-31", "since=0001-01-01"):
            manager.get(f"/sites/hall/{page}?{days}", 422)
        manager.get(f"/sites/hall/{page}?since=2026-11-05&until=2026-11-03")
