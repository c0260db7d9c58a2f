"""Where notices come from: overdue offers by the calendar day, trends, and failed imports; on both databases."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files.intake.watching import FolderWatch
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.notices.daily import daily_pass
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.runner import JobRunner
from crewlearn.web.notices.deliveries import list_deliveries
from support.floor_site import DECLINER, FIRST, TIRES_FROM, floor_site
from support.stores import ME, proposed, site_with_proposals
from support.web.app import Clock
from support.web.pages import pages_store

URL = "https://example.org/hook"
plain_store = pages_store


def told(store: Store, kind: str, site: str = "site") -> list[dict[str, Any]]:
    return [sent.facts for sent in reversed(list_deliveries(store, site, 1, limit=1000)) if sent.kind == kind]


def test_an_offer_is_told_once_when_it_is_overdue_by_the_calendar(store: Store, clock: Clock) -> None:
    """With a mean delay of 2 days it is overdue after more than 7 of them, though no output is imported meanwhile."""
    site_with_proposals(store)
    store.clock = clock
    webhooks.add(store, "site", URL, ME)
    first, second = proposed(store)
    commands.approve(store, "site", first, ME)
    counts = []
    for days in range(14):  # the site's first day is Monday, 1 January 2024, with five working days a week
        clock.now = datetime(2024, 1, 1, 9, tzinfo=UTC) + timedelta(days=days)
        daily_pass(store)
        assert daily_pass(store) == []
        counts.append(len(told(store, "offer.overdue")))
    working = [
        sum((datetime(2024, 1, 1) + timedelta(days=past)).weekday() < 5 for past in range(days)) for days in range(14)
    ]
    assert counts == [int(passed > 7) for passed in working]
    (facts,) = told(store, "offer.overdue")
    assert (facts["proposal"], facts["days_waited"], facts["usual_days"]) == (first, 8, 2.0)
    commands.approve(store, "site", second, ME)
    clock.now = datetime(2024, 2, 1, 9, tzinfo=UTC)
    assert daily_pass(store) == ["site"]
    assert [facts["proposal"] for facts in told(store, "offer.overdue")] == [first, second]


def test_a_trend_is_told_once_when_it_first_shows(plain_store: Store) -> None:
    store = plain_store
    floor_site(store, set_up=lambda: webhooks.add(store, "hall", URL, ME))
    trends = [facts for facts in told(store, "trend.found", "hall") if facts["worker"] == DECLINER]
    assert [facts["direction"] for facts in trends] == ["down"]
    assert str(FIRST) < trends[0]["since"] < str(FIRST + timedelta(days=2 * TIRES_FROM))
    assert trends[0]["chance"] > 0.5
    webhooks.add(store, "hall", URL + "2", ME)
    assert all(sent.kind != "trend.found" for sent in list_deliveries(store, "hall", 2))


def test_failed_imports_of_jobs_and_folders_are_told_without_quoting_the_file(store: Store, tmp_path: Path) -> None:
    site_with_proposals(store)
    webhooks.add(store, "site", URL, ME, ["import.failed"])
    file = b"date,worker_id,units\n2024-01-01,a,many\n2024-01-01,Secret Name,3\n"
    for check_only in (False, True):
        queue.submit(store, "site", work.OUTPUT_IMPORT, ME, {"check_only": check_only}, file)
        runner = JobRunner(store, {work.OUTPUT_IMPORT: work.run_import}, on_failure=work.tell_failure)
        assert runner.run_one()
    (tmp_path / "monday.csv").write_bytes(file)
    watch = FolderWatch(store, "site", tmp_path, ME)
    watch.complete_files()
    (moved,) = watch.look()
    assert moved.result is None
    job, folder = told(store, "import.failed")
    assert job == {"source": "job", "job": 1, "reason": "errors", "errors": 2}
    assert folder == {"source": "folder", "file": "monday.csv", "reason": "errors", "errors": 2}


def test_a_site_without_webhooks_writes_nothing(store: Store) -> None:
    site_with_proposals(store)
    commands.approve(store, "site", proposed(store)[0], ME)
    assert daily_pass(store) == []
    with store.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(schema.deliveries)).scalar_one() == 0
