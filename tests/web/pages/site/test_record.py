"""The History, Plan and Record pages: charts agree with the numbers, and long work runs in the background."""

import re
from datetime import date

import pytest

from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.ledger.events import observation
from crewlearn.advisor.ledger.queries import standing_rows
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.snapshots import snapshot
from crewlearn.web.views.history import Window, marks
from crewlearn.web.views.people.learning import narrowing
from crewlearn.web.views.reading import Reading
from support.waiting import until
from support.web.pages import DEMO, Browser, browser, pages_demo, pages_store, with_crew

store, demo = pages_store, pages_demo


def test_a_day_is_named_below_its_output(demo: Store) -> None:
    reading = Reading(snapshot(demo, DEMO), date(2026, 11, 16))
    window = Window(1, 5)
    for mark, day in zip(marks(reading, window), range(1, 6), strict=True):
        assert mark.at == pytest.approx(window.middle(day))
    assert marks(reading, window, 0.0)[0].at == 0.0  # a stint begins with its day


@pytest.mark.parametrize("name", [DEMO, "hall"])  # the hall's people have prior data
def test_the_band_of_a_worker_ends_at_the_estimate_shown_elsewhere(demo: Store, name: str) -> None:
    if name == "hall":
        with_crew(demo)
        worked = [OutputRow(2, date(2026, 11, 2 + day), None, "a", 11.0 + day, None, "worked") for day in range(3)]
        import_output(demo, name, worked, b"output", "ann", accept_unusual=True)
    now = snapshot(demo, name)
    reading = Reading(now, date(2026, 11, 16))
    everybody, _ = estimates_of(now.site)
    with demo.reading() as connection:
        rows = [row for _, row in standing_rows(connection, reading.key, range(len(now.site.workers)))]
    seen = sorted({row.worker for row in rows})
    assert name == DEMO or any(now.site.workers[number].prior_n for number in seen)
    for number in seen:
        theirs = [row for row in rows if row.worker == number]
        values = [value for row in theirs if (value := observation(now.site.config.units, row)) is not None]
        mean, sd = narrowing(reading, number, values)[-1]
        assert mean == pytest.approx(everybody[number]["mean"], rel=1e-12)
        assert sd == pytest.approx(everybody[number]["sd"], rel=1e-12)
        widths = [width for _, width in narrowing(reading, number, values)]
        assert widths == sorted(widths, reverse=True)


def page_saying(user: Browser, path: str, words: str) -> str:
    """Reload a page until it contains a text; return it."""
    return str(until(lambda: words in (page := user.get(path)) and page))


def test_a_check_and_a_plan_run_in_the_background(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    with manager.client:
        assert "under way" in manager.post("/sites/hall/record/verify", {})
        page_saying(manager, "/sites/hall/record", "✓ sound")
        form = {"team": "2", "fee": "7", "horizon": "40", "mean_delay": "1", "runs": "20", "policies": ["dr-ucb"]}
        refused = manager.post("/sites/hall/plan", {**form, "policies": []}, 422)
        assert 'id="policies-wrong"' in refused
        assert "Nothing was simulated yet" in refused
        assert 'id="horizon-wrong"' in manager.post("/sites/hall/plan", {**form, "horizon": "0"}, 422)
        assert "policies-wrong" in manager.post("/sites/hall/plan", {**form, "policies": ["oracle"]}, 422)
        begun = manager.send("/sites/hall/plan", form)
        assert begun.status_code == 200
        page = page_saying(manager, begun.url.path, "simulated worlds, against keeping")
    assert "Fee of a replacement: 7" in page
    assert "keep-team" in page
    assert re.search(r'<td role="cell" class="number fact" data-label="Better in">(over |under )?\d+%</td>', page)
    assert re.search(
        r'<td class="desk small nowrap">Mon 16 Nov 2026, \d\d:\d\d \S+</td>', manager.get("/sites/hall/record")
    )
    manager.get("/sites/hall/plan/999", 404)


def test_a_plan_that_a_program_asked_for_is_shown_too(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    with manager.client:
        asked = manager.client.post("/api/v1/sites/hall/plan", json={"runs": 20, "policies": ["dr-ucb"]})
        assert asked.status_code == 202
        page = page_saying(manager, f"/sites/hall/plan/{asked.json()['id']}", "simulated worlds, against keeping")
    assert "With the settings as they are" in page


def test_exports_are_files(demo: Store) -> None:
    viewer = browser(demo, "viewer")
    for what, ending in (("events", "jsonl"), ("decisions", "csv"), ("output", "csv"), ("workers", "csv")):
        response = viewer.client.get(f"/sites/Demo%20hall/record/export/{what}")
        assert response.headers["content-disposition"] == f'attachment; filename="Demo-hall-{what}.{ending}"'
        assert response.text.count("\n") > 9
    viewer.get("/sites/Demo%20hall/record/export/passwords", 404)
