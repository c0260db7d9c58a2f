"""The Team page: who holds which station, and recording what changed outside advice."""

from crewlearn.advisor.ledger.store import Store
from crewlearn.web.snapshots import snapshot
from support.web.pages import browser, pages_store, set_up, with_crew

store = pages_store


def test_changes_are_recorded_on_the_page(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    assert 'href="/sites/hall/team"' in manager.get("/sites/hall")
    page = manager.get("/sites/hall/team")
    assert "The team now" in page
    ids = snapshot(store, "hall").people.ids
    first, second = (ids[worker] for worker, _ in snapshot(store, "hall").site.seats[:2])
    other = next(ids[number] for number in ids if ids[number] not in (first, second))
    said = manager.post("/sites/hall/team", {"what": "left", "worker": first})
    assert "Recorded: 1 change of the team." in said
    assert ">empty<" in said
    said = manager.post("/sites/hall/team", {"what": "took", "worker": other, "station": "1", "on": ""})
    assert "Recorded: 1 change of the team." in said
    said = manager.post("/sites/hall/team", {"what": "took", "worker": other, "station": "1", "on": ""})
    assert "That is on record already." in said
    said = manager.post("/sites/hall/team", {"what": "stint", "worker": first, "from": ""})
    assert "Nothing was done" in said
    said = manager.post(
        "/sites/hall/team", {"what": "list", "list": f"worker_id,from,until,station\n{first},2026-10-01,2026-10-02,2\n"}
    )
    assert "Recorded: 1 change" in said
    assert "Who was there before" in said
    assert manager.get("/sites/hall/history")


def test_viewers_see_the_team_and_no_forms(store: Store) -> None:
    set_up(store)
    viewer = browser(store, "viewer")
    page = viewer.get("/sites/hall/team")
    assert "<form" not in page.partition("<main")[2].partition("</main")[0]
    viewer.post("/sites/hall/team", {"what": "left", "worker": "a"}, 403)
