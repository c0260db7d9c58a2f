"""Choosing who comes in, saying no well, and reasons and notes on the page of a worker."""

import re
from datetime import timedelta

from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.snapshots import snapshot
from crewlearn.web.views.sites import CARDS
from support.stores import proposed
from support.web.pages import HOSTILE, browser, pages_store, recorded, with_crew

store = pages_store


def test_the_next_best_are_listed_and_one_of_them_comes_in(store: Store) -> None:
    with_crew(store)
    more = [WorkerRow("e", "Eve", prior_n=30, prior_mean=80.0)]
    worker_imports.import_workers(store, "hall", more, b"", "test")
    manager, number = browser(store), proposed(store, "hall")[0]
    now = snapshot(store, "hall")
    (other,) = (candidate.worker for candidate in now.candidates[number])
    page = manager.get("/sites/hall")
    assert f'<option value="{now.people.ids[other]}">' in page
    assert "Next best: " in page
    assert "Next best: " in browser(store, "viewer").get("/sites/hall")
    form = {"in": str(now.people.ids[other])}
    assert "Approved" in manager.post(f"/sites/hall/proposals/{number}/approve", form)
    assert snapshot(store, "hall").site.proposals[number].into == other
    after = recorded(store)
    manager.post(f"/sites/hall/proposals/{number}/approve", form)  # a double click
    assert recorded(store) == after
    refused = manager.post(f"/sites/hall/proposals/{number}/approve", {"other": "nobody"})
    assert "is not known at this site" in refused


def test_a_proposal_is_rejected_as_keep_with_an_end_and_a_reason(store: Store) -> None:
    with_crew(store)
    manager, number = browser(store), proposed(store, "hall")[0]
    site = snapshot(store, "hall").site
    proposal, ends = site.proposals[number], site.day + timedelta(days=20)
    form = {"as": "keep", "until": ends.isoformat(), "reason": f"trains {HOSTILE}"}
    assert "Rejected, with your reason on record" in manager.post(f"/sites/hall/proposals/{number}/reject", form)
    after = recorded(store)
    manager.post(f"/sites/hall/proposals/{number}/reject", form)
    assert recorded(store) == after, "a double click"
    now = snapshot(store, "hall").site
    assert not now.may_leave(proposal.out)
    assert now.may_enter(proposal.into)
    assert "pinned until" in manager.get("/sites/hall")
    page = manager.get(f"/sites/hall/workers/{proposal.out}")
    assert "Pinned until" in page
    assert "trains &lt;script&gt;" in page
    assert "manager 0, " in page.partition('id="remarks"')[2].partition("</section>")[0]
    assert ">Unpin</button>" in page


def test_ends_that_make_no_sense_are_refused(store: Store) -> None:
    with_crew(store)
    manager, number, before = browser(store), proposed(store, "hall")[0], recorded(store)
    for form, words in (
        ({"as": "not-now", "until": "2030-01-01"}, "Nothing was done: the day"),
        ({"as": "keep", "until": "2020-01-01"}, "must be after"),
        ({"as": "keep", "until": "soon"}, "must be a day"),
        ({"as": "keep", "until": "2030-01-01", "for_good": "yes"}, "choose one"),
        ({"as": "never"}, "unknown"),
    ):
        assert words in manager.post(f"/sites/hall/proposals/{number}/reject", form), form
    assert recorded(store) == before


def test_pins_blocks_and_notes_have_an_end_on_the_page_of_a_worker(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    ends = (snapshot(store, "hall").site.day + timedelta(days=9)).isoformat()
    manager.post("/sites/hall/workers/0", {"pinned": "yes", "until": ends, "reason": "knows the line"})
    manager.post("/sites/hall/workers/3", {"status": "blocked", "until": ends, "reason": "on holiday"})
    assert "The note is recorded" in manager.post("/sites/hall/workers/0/note", {"note": "speaks Polish"})
    site = snapshot(store, "hall").site
    assert (site.is_pinned(0), site.may_enter(3)) == (True, False)
    page = manager.get("/sites/hall/workers/0")
    assert "knows the line" in page
    said = re.sub("<[^>]*>", "|", page.partition('id="remarks"')[2].partition("</section>")[0])
    assert re.search(r"Pinned until \w+ \d+ \w+\|+knows the line\|+manager 0, Mon 16 Nov", said), said
    assert re.search(r"Note\|+speaks Polish\|+manager 0, Mon 16 Nov", said), said
    assert ">Unblock</button>" in manager.get("/sites/hall/workers/3")
    manager.post("/sites/hall/workers/3", {"status": "pool"})
    manager.post("/sites/hall/workers/0", {"pinned": "no"})
    site = snapshot(store, "hall").site
    assert (site.is_pinned(0), site.may_enter(3)) == (False, True)
    wrong = manager.post("/sites/hall/workers/0", {"status": "left", "until": ends})
    assert "belongs to a pin or a block" in wrong
    assert "the note" in manager.post("/sites/hall/workers/0/note", {"note": " "})
    assert snapshot(store, "hall").site.workers[0].status == "pool"


def test_budgets_are_settings_and_their_use_is_shown(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    page = manager.get("/sites/hall/settings")
    assert "Budget a month" in page
    assert "Fees this month" not in manager.get("/sites/hall")
    version = re.search(r'name="version" value="([^"]*)"', page)
    assert version is not None
    values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
    form = {**values, "weekdays": list("01234"), "fee_due": "initiation", "version": version[1]}
    manager.post("/sites/hall/settings", {**form, "budget_a_month": "12,5", "most_a_month": "3", "erase_after": "90"})
    config = snapshot(store, "hall").site.config
    assert (config.budget_a_month, config.most_a_month, config.budget_a_week) == (12.5, 3, None)
    assert config.erase_after == 90
    today = manager.get("/sites/hall")
    assert "Fees this month: 0 of 12.50." in today
    assert "Replacements this month: 0 of 3 replacements." in today


def test_the_currency_and_the_time_zone_of_a_site_are_shown(store: Store) -> None:
    with_crew(store)
    with_crew(store, "yard")
    manager = browser(store)
    page = manager.get("/sites/hall/settings")
    version = re.search(r'name="version" value="([^"]*)"', page)
    assert version is not None
    values = dict(re.findall(r'<input id="(\w+)" name="\w+" type="\w+" value="([^"]*)"', page))
    form = {**values, "weekdays": list("01234"), "fee_due": "initiation", "version": version[1]}
    wrong = manager.post("/sites/hall/settings", {**form, "currency": "euro", "time_zone": ""}, 422)
    assert "must be a code of three capital letters, such as EUR" in wrong
    wrong = manager.post("/sites/hall/settings", {**form, "time_zone": "Amsterdam"}, 422)
    assert "is no time zone; give its name in the IANA database" in wrong
    manager.post("/sites/hall/settings", {**form, "currency": "eur", "time_zone": "Asia/Tokyo"})
    today = manager.get("/sites/hall")
    assert re.search(r"<dt>Fees so far</dt><dd>€[\d.,]+</dd>", today)
    assert re.search(r"<dt>Fees so far</dt><dd>[\d.,]+</dd>", manager.get("/sites/yard"))
    assert "JST" in manager.get("/sites/hall/record")
    for number in range(CARDS):
        with_crew(store, f"hall {number}")
    total = re.search(r"<div><dt>Fees</dt>(.*?)</div>", manager.get("/"))
    assert total is not None
    assert re.findall(r"<dd>([^\d]*)", total[1]) == ["€", ""]
