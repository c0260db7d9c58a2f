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
