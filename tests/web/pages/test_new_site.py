"""A site is set up from an export on the pages: proposed, edited, shown, confirmed once."""

import re
from html import unescape
from typing import Any

import pytest

from crewlearn.advisor.ledger.store import Store
from crewlearn.web.jobs import work
from crewlearn.web.jobs.runner import JobRunner
from crewlearn.web.snapshots import snapshot
from support.exports import SHAPES, path_of
from support.stores import contents, sound
from support.web.pages import HOSTILE, Browser, browser, pages_store

store = pages_store
EXPORT = path_of(SHAPES[0], 0)
NO_FILE = {"file": ("", b"")}


def fields_in(page: str) -> dict[str, Any]:
    """Return what a browser would send of the form with the proposals."""
    form, sent = page.partition('class="form stack"')[2], dict[str, Any]()
    for tag in re.findall(r"<input ([^>]*)>", form):
        named = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if named.get("type") != "checkbox":
            sent[named["name"]] = unescape(named.get("value", ""))
        elif "checked" in tag:
            sent.setdefault(named["name"], []).append(named["value"])
    sent["fee_due"], sent["closures"] = "initiation", ""
    return sent


def dropped(admin: Browser) -> str:
    return admin.post("/sites/new/file", {}, files={"file": (EXPORT.name, EXPORT.read_bytes())})


def test_from_a_file_to_advice(store: Store) -> None:
    admin, before = browser(store, "admin"), contents(store)
    page = dropped(admin)
    form = fields_in(page)
    assert (form["team"], form["hours_per_period"], form["fee"], form["value_per_unit"]) == ("4", "7.12", "", "")
    assert "4 people on a usual day." in page
    assert "No file can tell this" in page
    wrong = admin.post("/sites/new/file", {**form, "step": "advice"}, 422, files=NO_FILE)
    assert {"name-wrong", "fee-wrong", "value_per_unit-wrong"} <= set(re.findall(r'id="([\w-]+-wrong)"', wrong))
    form |= {"name": "Hall 7", "fee": "300", "value_per_unit": "0,2", "step": "advice"}
    page = admin.post("/sites/new/file", form, files=NO_FILE)
    assert "The first advice, for Fri 6 Feb" in page
    assert "nobody outside the team may come in now" in page
    form = {**fields_in(page), "step": "create"}
    changed = admin.post("/sites/new/file", {**form, "team": "3"}, files=NO_FILE)
    assert "The settings have changed since the advice was shown" in changed
    assert "Changed by you. Proposed from the file: 4 people" in changed
    assert store.names() == []
    assert {**contents(store), "sessions": ()} == {**before, "sessions": ()}
    page = admin.post("/sites/new/file", form, files=NO_FILE)
    assert "Hall 7 is set up, with its people, output and team." in page
    assert "4 of 4 stations filled" in page
    sound(store, "Hall 7")
    again = admin.post("/sites/new/file", {**form, "step": "advice"}, 422, files=NO_FILE)
    assert "exists already" in again


def test_a_file_that_cannot_be_read_offers_its_columns(store: Store) -> None:
    admin = browser(store, "admin")
    rows = "".join(f"{who};{day:02}.11.2026;{made}\n" for day in (2, 3) for who, made in ((1, 5), (2, 7)))
    data = f"zone {HOSTILE};day;made\n{rows}".encode()
    page = admin.post("/sites/new/file", {}, 422, files={"file": ("odd.csv", data)})
    assert "odd.csv could not be read" in page
    assert "<option>zone &lt;script&gt;" in page
    assert HOSTILE not in page
    chosen = {"text": data.decode(), "column-worker_id": f"zone {HOSTILE}"}
    page = admin.post("/sites/new/file", chosen, files=NO_FILE)
    assert fields_in(page)["team"] == "2"
    assert "Choose a file" in admin.post("/sites/new/file", {}, 422, files=NO_FILE)
    assert "got lost" in admin.post("/sites/new/file", {"packed": "?"}, 422, files=NO_FILE)


def test_only_an_admin_of_all_sites_sets_one_up(store: Store) -> None:
    for role in ("viewer", "manager"):
        assert browser(store, role).send("/sites/new/file", {}, files=NO_FILE).status_code == 403
    assert store.names() == []


def test_a_large_file_is_recorded_by_a_job(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the job records is what would have been recorded at once."""
    admin = browser(store, "admin")
    form = fields_in(dropped(admin)) | {"name": "Hall 7", "fee": "300", "value_per_unit": "0,2", "step": "advice"}
    form = {**fields_in(admin.post("/sites/new/file", form, files=NO_FILE)), "step": "create"}
    assert "Hall 7 is set up, with its people" in admin.post("/sites/new/file", form, files=NO_FILE)
    monkeypatch.setattr(work, "BIG_LINES", 10)
    assert "The settings have changed" in admin.post("/sites/new/file", {**form, "name": "Hall 8", "team": "3"})
    page = admin.post("/sites/new/file", {**form, "name": "Hall 8"})
    assert "Hall 8 is set up. Its output is being recorded." in page
    assert snapshot(store, "Hall 8").site.workers == []
    assert "exists already" in admin.post("/sites/new/file", {**form, "name": "Hall 8"}, 422)
    assert JobRunner(store, {work.OUTPUT_IMPORT: work.run_import}).run_one()
    job = re.search(r'data-job="(\d+)"', page)
    assert job is not None
    assert "rows recorded" in admin.get(f"/sites/Hall 8/import/{job[1]}")
    at_once, by_job = (snapshot(store, name).site for name in ("Hall 7", "Hall 8"))
    assert by_job.to_json() == at_once.to_json()
    sound(store, "Hall 8")
