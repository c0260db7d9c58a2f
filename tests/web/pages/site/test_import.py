"""The Import page: errors are shown in their rows, and nothing is recorded without confirmation."""

import html
import json
import re
from dataclasses import asdict
from datetime import date
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.imports import ImportOptions
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.jobs import queue, work
from crewlearn.web.jobs.runner import JobRunner
from crewlearn.web.snapshots import snapshot
from support.exports import FOLDER, SHAPES, Shape, path_of
from support.stores import config
from support.web.pages import (
    Browser,
    browser,
    packed_in,
    pages_store,
    recorded,
    set_up,
    with_crew,
)

store = pages_store
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def upload(user: Browser, name: str, text: str, **fields: str) -> str:
    return user.post("/sites/hall/import", fields, files={"file": (name, text.encode(), "text/csv")})


def test_a_file_is_checked_shown_and_then_recorded(store: Store) -> None:
    set_up(store)
    manager = browser(store)
    page = upload(manager, "people.csv", "Badge no;Name;In team\n1;Ann;x\n2;Ben;x\n3;Cleo;\n")
    assert "3 workers will be recorded" in page
    assert "read as workers" in page
    assert not snapshot(store, "hall").site.workers
    manager.post("/sites/hall/import", {**packed_in(page), "kind": "workers", "step": "confirm"}, files={"x": b""})
    assert len(snapshot(store, "hall").site.workers) == 3

    wrong = upload(manager, "out.csv", "date,worker_id,units\n2026-11-02,1,40\n2026-11-02,2,x\n2026-11-07,9,5\n")
    assert "2 rows need attention" in wrong, "an unreadable number and an unknown person, in one round"
    assert "1 row is of somebody not known here: enrol them: “Read it like this”" in wrong
    assert "Nothing was recorded" in wrong
    assert re.search(r'<th scope="row" class="line">3</th>', wrong)
    assert 'class="cell-wrong">x' in wrong
    assert "Record it" not in wrong

    text = "Tag,Wer,Stück\n02.11.2026,1,40\n02.11.2026,2,50\n"
    asked = upload(manager, "out.csv", text, kind="output")
    assert "“Wer” is the worker" in asked
    assert "Read it like this" in asked
    mapping = {"column-date": "Tag", "column-worker_id": "Wer", "column-units": "Stück", "mapped_as": "output"}
    form = {**packed_in(asked), **mapping, "kind": "output"}
    checked = manager.post("/sites/hall/import", {**form, "step": "check"}, files={"x": b""})
    assert "2 rows will be recorded" in checked
    assert recorded(store) == 3  # set up, workers, advice: nothing else yet
    assert "2 rows recorded" in manager.post("/sites/hall/import", {**form, "step": "confirm"}, files={"x": b""})
    assert snapshot(store, "hall").site.period == 2

    again = upload(manager, "out.csv", "date,worker_id,units\n2026-11-02,1,41\n2026-11-02,2,50\n")
    assert "1 of these rows differs" in again
    assert "Replace the row on record with that of this file" in again
    assert "<td>41.0</td><td>on record is 40.0</td>" in again
    form = {**packed_in(again), "kind": "output", "step": "confirm"}
    assert "Check the box to replace the rows" in manager.post("/sites/hall/import", form, files={"x": b""})
    done = manager.post("/sites/hall/import", {**form, "correct": "yes"}, files={"x": b""})
    assert "1 corrected" in done
    assert "Choose a file" in manager.post("/sites/hall/import", {"text": " "}, 422)
    lost = manager.post("/sites/hall/import", {"packed": "!!", "step": "confirm"}, 422)
    assert "got lost" in lost


def test_a_column_that_is_not_found_can_be_chosen_by_looking_at_the_rows(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    marked = re.compile(r'<select id="column-(\w+)"[^>]*aria-invalid="true"')
    rows = "".join(f"first day,a{number},40\n" for number in range(10))
    page = upload(manager, "out.csv", f"Tag,Wer,units\n{rows}", kind="output")
    assert sorted(marked.findall(page)) == ["date", "period", "worker_id"]
    assert "Worker&#39;s id: choose below which column it is. The file has Tag, Wer, units." in page
    assert "Date or Period: choose below" in page
    assert "The first rows" in page
    assert "<caption>8 of 10 rows" in page
    assert "<td>a7</td>" in page
    page = upload(manager, "out.csv", f"date,worker,units\n{rows}".replace("worker,", "worker_id,badge,", 1))
    assert marked.findall(page) == ["worker_id"], "two headers match it"
    assert '<option value="badge">' in page
    chosen = {**packed_in(page), "kind": "output", "column-worker_id": "nobody", "step": "check"}
    page = manager.post("/sites/hall/import", chosen, files={"x": b""})
    assert marked.findall(page) == ["worker_id"]
    assert "a header that the file has once" in page


def test_too_many_in_the_team_are_told_at_their_column(store: Store) -> None:
    set_up(store)
    page = upload(browser(store), "people.csv", "worker_id,name,active\n1,Ann,yes\n2,Ben,yes\n3,Cleo,yes\n")
    assert "In the team at the start 3: the site has 2 stations; mark no more than that" in page
    assert '<th scope="col" class="cell-wrong">active' in page
    assert "The first rows" in page
    assert "<caption>3 rows" in page


def test_rows_of_people_not_known_here_are_left_out_by_a_tick(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    text = "date,worker_id,units\n2026-11-02,a,40\n2026-11-02,gone,50\n2026-11-03,,60\n"
    wrong = upload(manager, "out.csv", text)
    proposed = upload(manager, "out.csv", text.replace(",,60", ",other,60"))
    assert "3 rows will be recorded, 2 newcomers enrolled." in proposed
    assert "Read it like this" in proposed
    assert "and “Leave out people not known here” leaves them out" in wrong
    assert "--" not in wrong.partition("<main")[2]
    assert "skip_unknown" not in re.sub(r'name="\w+"', "", wrong)
    tick = '<input type="checkbox" name="skip_unknown" value="yes"><span>Leave out people not known here, such as'
    assert tick in wrong
    form = {**packed_in(wrong), "kind": "output", "skip_unknown": "yes"}
    checked = manager.post("/sites/hall/import", {**form, "step": "check"}, files={"x": b""})
    assert "1 row will be recorded" in checked
    assert "1 row of 1 worker not known here left out" in checked
    assert 'name="skip_unknown" value="yes" checked' in checked
    done = manager.post("/sites/hall/import", {**form, "step": "confirm"}, files={"x": b""})
    assert "1 row recorded" in done
    assert snapshot(store, "hall").site.period == 2
    people = upload(manager, "people.csv", "worker_id,name\ne,Eve\n")
    assert "skip_unknown" not in people


def submitted(store: Store, rows: list[str], **options: Any) -> int:
    """Import a file by a job; return the job's number."""
    file = "\n".join(["date,worker_id,units", *rows, ""]).encode()
    job = queue.submit(store, "hall", work.OUTPUT_IMPORT, "ann", asdict(ImportOptions({}, **options)), file)
    assert JobRunner(store, {work.OUTPUT_IMPORT: work.run_import}).run_one()
    return job.id


def test_an_import_in_the_background_shows_what_was_wrong_as_any_other(store: Store) -> None:
    with_crew(store)
    manager = browser(store)
    rows = ["2026-11-02,a,40", "2026-11-02,b,x", "2026-11-07,9,5", "2026-11-02,gone,5"]
    page = manager.get(f"/sites/hall/import/{submitted(store, rows)}")
    small = upload(manager, "output.csv", "\n".join(["date,worker_id,units", *rows, ""]))
    fault = re.compile(r'<tr class="fault"><td class="line">\d*</td><td colspan="\d">(.*?)</td></tr>')
    faults = fault.findall(page)
    assert faults[0].startswith("Output: x – expected a number such as")
    assert [text.startswith("Worker&#39;s id: ") for text in faults] == [False, True, True]
    assert fault.findall(small) == faults
    assert "Nothing was recorded" in page
    assert "output.csv has 3 errors; the file was not used" in page
    assert '<tr class="fault"><td class="line">3</td>' in page

    page = manager.get(f"/sites/hall/import/{submitted(store, [rows[0], rows[2], rows[3]])}")
    assert "has 2 errors" in page
    assert "Date: 2026-11-07 – expected a working day" in page or "Worker&#39;s id: 9 – expected a worker" in page
    assert "(“Leave out people not known here”)" in page

    many = [f"2026-11-02,x{number},1" for number in range(150)]
    page = manager.get(f"/sites/hall/import/{submitted(store, many)}")
    assert "has 150 errors, of which the first 100 are listed" in page
    assert len(fault.findall(page)) == 100

    for check_only, words in ((True, "1 row would be recorded"), (False, "1 row recorded")):
        page = manager.get(f"/sites/hall/import/{submitted(store, rows[:1], check_only=check_only)}")
        assert words in page
        assert ("Nothing was recorded" in page) == check_only
    page = manager.get(f"/sites/hall/import/{submitted(store, ['2026-11-02,a,41'])}")
    assert "output 1 row: differs from the record" in page
    assert "a tick at the next try replaces" in page
    page = manager.get(f"/sites/hall/import/{submitted(store, rows[1:2], check_only=True)}")
    assert "cannot be recorded as it is" in page
    assert len(fault.findall(page)) == 1


def export(shape: Shape, week: int) -> dict[str, Any]:
    path = path_of(shape, week)
    return {"file": (path.name, path.read_bytes(), "application/octet-stream")}


def fields_in(page: str) -> dict[str, str]:
    """Return the fields that the page sends when its button is pressed: hidden ones, and the columns chosen."""
    main = page.partition("<main")[2]
    fields = {
        name: html.unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', main)
    }
    for name, body in re.findall(r'<select id="[\w-]+" name="([\w-]+)"[^>]*>(.*?)</select>', main, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', body)
        fields[name] = html.unescape(chosen[1]) if chosen else ""
    return fields


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_an_export_needs_one_confirmation_and_the_next_none_but_to_record_it(store: Store, shape: Shape) -> None:
    low, high = shape.output_range
    units = Units(low, high, hours_per_period=shape.hours_per_period)
    settings = {"units": units, "calendar": WorkCalendar(date(2026, 1, 5)), "policy": "keep-team"}
    commands.create_site(store, "hall", config(**settings), "ann")
    manager = browser(store)
    for week in (0, 1):
        page = manager.post("/sites/hall/import", {}, files=export(shape, week))
        assert ("Read it like this" in page) == (week == 0)
        assert not snapshot(store, "hall").site.workers or week
        done = manager.post("/sites/hall/import", {**fields_in(page), "step": "confirm"}, files={"x": b""})
        days = {(worker, day) for worker, day, *_ in EXPECTED[path_of(shape, week).name]}
        assert f"{len(days)} rows recorded" in done
    assert snapshot(store, "hall").site.profiles.keys() == {shape.name.replace("_", " ")}
    known = manager.get("/sites/hall/import")
    assert "Files that are known" in known
    gone = manager.post("/sites/hall/import/profiles", {"profile": shape.name.replace("_", " ")}, files={"x": b""})
    assert "is removed" in gone
    assert not snapshot(store, "hall").site.profiles


def test_another_column_can_be_chosen_for_what_was_found(store: Store) -> None:
    commands.create_site(
        store, "hall", config(calendar=WorkCalendar(date(2026, 1, 5)), units=Units(0.0, 1200.0)), "ann"
    )
    manager = browser(store)
    shape = next(shape for shape in SHAPES if shape.name == "wms_labour")
    page = manager.post("/sites/hall/import", {}, files=export(shape, 0))
    assert "the sum of “Units”" in page
    fields = {**fields_in(page), "column-units": "Lines"}
    page = manager.post("/sites/hall/import", {**fields, "step": "check"}, files={"x": b""})
    assert "the sum of “Lines”" in page
    page = manager.post(
        "/sites/hall/import", {**fields_in(page), "where": "Job Function=Each Pick", "step": "check"}, files={"x": b""}
    )
    assert "Only rows where “Job Function” is Each Pick are used" in page


def test_what_is_unusual_is_shown_and_needs_a_tick(store: Store) -> None:
    with_crew(store)
    manager, people = browser(store), "abcd"
    for day in range(2, 14):
        if date(2026, 11, day).weekday() < 5:
            rows = [OutputRow(2, date(2026, 11, day), None, who, 50.0 + day, None, "worked") for who in people]
            output_imports.import_output(store, "hall", rows, b"", "test")
    before = recorded(store)
    text = "date,worker_id,units\n" + "".join(f"2026-11-16,{who},{64 if who != 'b' else 6}\n" for who in people)
    page = upload(manager, "out.csv", text)
    assert "This is unusual for this site." in page
    assert re.search(r"<td>3</td><th[^>]*>2026-11-16</th><td>b</td><td>6</td><td>usual of this person is about", page)
    form = {**packed_in(page), "kind": "output", "step": "confirm"}
    assert "Check the box to record what is unusual." in manager.post("/sites/hall/import", form, files={"x": b""})
    assert recorded(store) == before
    done = manager.post("/sites/hall/import", {**form, "accept_unusual": "yes"}, files={"x": b""})
    assert "4 rows recorded" in done
    assert "unusual for this site: 1 finding" in done
    assert recorded(store) > before
    ordinary = upload(manager, "out.csv", text.replace(",6\n", ",64\n"))
    assert "This is unusual" not in ordinary


def test_a_page_is_small_however_many_and_long_the_headers_are(store: Store) -> None:
    with_crew(store)
    headers = ",".join(f"{'long ' * 80}{number}" for number in range(1_999))
    page = upload(browser(store), "wide.csv", f"{headers}\n{'1,' * 1_998}1\n")
    kept = len(packed_in(page)["packed"])
    assert len(page) - kept < 400_000
    assert "The file needs attention" in page
    assert "Which column is it?" in page
