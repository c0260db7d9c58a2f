"""The Pilot page: a pilot from its plan to its report."""

import json
import re

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.work import run_pilot_plan
from support.pilots import advised_stations, pilot_site, work_days
from support.web.pages import Browser, browser, pages_store

store = pages_store
PLAN = {"days": "12", "gain": "", "groups": "", "waves": "2", "run_in": "0", "baseline": "30", "looks": "0"}


def planned(store: Store, manager: Browser, **changes: str) -> str:
    """Submit a plan, work it out as a server would, and return its page's path."""
    manager.post("/sites/hall/pilot", {**PLAN, "outside_fee": "", **changes})
    job = queue.jobs_of(store, "hall", kind=work.PILOT_PLAN)[0]
    result = run_pilot_plan(store, job, lambda share, words: None)
    finish(store, job.id, result)
    return f"/sites/hall/pilot/{job.id}"


def finish(store: Store, job: int, result: object) -> None:
    """Keep the result of a job."""
    with store.changing() as connection:
        done = {"status": queue.DONE, "result": json.dumps(result)}
        connection.execute(sa.update(schema.jobs).where(schema.jobs.c.id == job).values(**done))


def test_a_pilot_from_its_plan_to_its_report(store: Store) -> None:
    pilot_site(store)
    manager, viewer = browser(store), browser(store, "viewer")
    assert "Does it pay here?" in manager.get("/sites/hall/pilot")
    page = manager.get(planned(store, manager, gain="5"))
    assert "is shown with probability 80%" in page
    assert "Seal this plan and begin" in page
    job = queue.jobs_of(store, "hall", kind=work.PILOT_PLAN)[0].id
    assert "Seal this plan" not in viewer.get(f"/sites/hall/pilot/{job}")
    viewer.post(f"/sites/hall/pilot/{job}/start", {}, 403)
    page = manager.post(f"/sites/hall/pilot/{job}/start", {})
    assert "The plan is sealed" in page
    assert "The effect is told at the end" in page
    assert "End it and see the result" not in page
    assert "End it" not in viewer.get("/sites/hall/pilot")
    protocol = viewer.get("/sites/hall/pilot/report")
    assert "Digest of the plan" in protocol
    assert "The answer" not in protocol
    assert "Nothing was done" in manager.post("/sites/hall/pilot/end", {}), "it is not over"
    assert "say why" in manager.post("/sites/hall/pilot/end", {"how": "give-up", "reason": " "})
    work_days(store, 12, dict.fromkeys(advised_stations(store), 10.0))
    page = manager.post("/sites/hall/pilot/end", {})
    assert "Advice paid during the pilot." in page
    report = viewer.get("/sites/hall/pilot/report")
    for heading in ("The question", "The answer", "The design", "The draw", "Sealed beforehand", "cannot rule out"):
        assert heading in report
    low, high = re.findall(r"interval ([+-][0-9.]+) to ([+-][0-9.]+)\)", report)[0]
    assert float(low) < 10.0 < float(high)
    assert "<form" not in report.partition("<main")[2].partition("</main>")[0]


def test_a_pilot_can_be_given_up(store: Store) -> None:
    pilot_site(store)
    manager = browser(store)
    page = planned(store, manager)
    manager.post(f"{page}/start", {})
    assert "has one already" in manager.post(f"{page}/start", {})
    given_up = manager.post("/sites/hall/pilot/end", {"how": "give-up", "reason": "the hall burnt down"})
    assert "without a result: the hall burnt down" in given_up
    work_days(store, 1, {})
    assert "Output was recorded since" in manager.get(page), "a plan of the past cannot be sealed"


def test_wrong_plans_are_refused_at_their_fields(store: Store) -> None:
    pilot_site(store)
    manager = browser(store)
    page = manager.post("/sites/hall/pilot", {**PLAN, "days": "many", "waves": "40", "outside_fee": "-1"}, 422)
    assert "must be a whole number" in page
    assert manager.get("/sites/hall/pilot/report", 404)
    manager.get("/sites/hall/pilot/77", 404)
    assert queue.jobs_of(store, "hall") == []
