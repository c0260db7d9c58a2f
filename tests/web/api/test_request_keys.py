"""Idempotency keys: a request sent twice is recorded once, and a key stands for one request of one caller."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.site.request_keys import MOST_KEYS, RequestKey, RequestRepeated
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.jobs.work import BIG_LINES
from support.stores import CALENDAR, ME, contents, day, site_with_proposals, sound, state_of
from support.web.api import Api, caller, finished, rows, with_crew


def key(text: str) -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": text}}


def test_output_sent_twice_is_recorded_once_with_the_same_answer(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    body = rows(1)
    body["rows"].append({"date": str(CALENDAR.date_of(1)), "worker_id": "nobody", "units": 5})
    first = mia.post(f"{here}/output?skip_unknown=true", body, **key("one"))
    assert (first["recorded"], first["skipped"]) == (2, 1)
    before = contents(store)
    assert mia.post(f"{here}/output?skip_unknown=true", body, **key("one")) == first
    assert contents(store) == before
    mia.post(f"{here}/output", rows(2), **key("two"))
    again = mia.post(f"{here}/output?skip_unknown=true", body, **key("one"))
    assert {**again, "advice": ""} == {**first, "advice": ""}, "also after others were recorded"
    without = mia.post(f"{here}/output?skip_unknown=true", body)
    assert (without["recorded"], without["known"]) == (0, 2)
    sound(store, "north")


def test_a_key_stands_for_one_request_of_one_caller(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/output", rows(1), **key("one"))
    before = contents(store)
    refused = mia.post(f"{here}/output", rows(2), 422, **key("one"))
    assert refused["errors"][0]["field"] == "Idempotency-Key"
    assert "was used for another request" in refused["detail"]
    mia.post(f"{here}/output?correct=true", rows(1), 422, **key("one"))
    mia.post(f"{here}/undo", None, 422, **key("one"))
    assert contents(store) == before
    ben = caller(mia.client, "ben", "manager")
    assert ben.post(f"{here}/output", rows(2), **key("one"))["recorded"] == 2
    mia.post(f"{here}/output", rows(3), 422, **key("x" * 256))


def test_a_repeated_request_needs_no_current_version(mia: Api) -> None:
    here = with_crew(mia)
    headers = {"If-Match": mia.send("GET", here).headers["ETag"], "Idempotency-Key": "one"}
    first = mia.post(f"{here}/output", rows(1), headers=headers)
    assert mia.post(f"{here}/output", rows(1), headers=headers) == first
    mia.post(f"{here}/output", rows(2), 412, headers={**headers, "Idempotency-Key": "two"})


def test_files_workers_answers_and_undos_have_keys_too(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    text = f"date,worker_id,units\n{CALENDAR.date_of(1)},a,50\n{CALENDAR.date_of(1)},c,51\n"

    def twice(send: Any, *given: Any) -> Any:
        first = send(*given, **key(str(given)))
        before = contents(store)
        assert send(*given, **key(str(given))) == first
        assert contents(store) == before
        return first

    assert twice(mia.csv, f"{here}/output/csv", text)["recorded"] == 2
    assert twice(mia.post, f"{here}/workers", {"workers": [{"worker_id": "new", "name": "New"}]})["recorded"] == 1
    assert twice(mia.csv, f"{here}/workers/csv", "worker_id,name\nnewer,Newer\n")["recorded"] == 1
    one, two = (proposal["id"] for proposal in mia.get(f"{here}/advice")["proposals"])
    number = mia.all(f"{here}/output/imports")[0]["number"]
    assert twice(mia.post, f"{here}/output/imports/{number}/undo")["import"]["undone"]
    one, two = (proposal["id"] for proposal in mia.get(f"{here}/advice")["proposals"])
    approved = twice(mia.post, f"{here}/proposals/{one}/approval", {})
    assert approved["proposal"]["status"] == "approved"
    twice(mia.post, f"{here}/proposals/{two}/rejection", {"reason": "no"})
    undone = mia.post(f"{here}/undo", None, **key("undo"))
    assert undone["taken_back"]
    assert mia.post(f"{here}/undo", None, **key("undo"))["taken_back"] is None
    assert mia.get(f"{here}/proposals/{one}")["status"] == "approved", "only one answer was taken back"
    mia.post(f"{here}/proposals/{two}/rejection", {"reason": "no"}, **key(str((f"{here}/proposals/{two}/rejection",))))
    twice(mia.post, f"{here}/proposals/{one}/offer", {"outcome": "offered"})
    sound(store, "north")


def test_a_large_file_keeps_its_key(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    text = f"date,worker_id,units\n{CALENDAR.date_of(1)},a,50" + "\n" * (BIG_LINES + 2)
    first = finished(mia, mia.csv(f"{here}/output/csv", text, 202, **key("big")))
    assert first["recorded"] == 1
    again = finished(mia, mia.csv(f"{here}/output/csv", text, 202, **key("big")))
    assert again == first
    other = text.replace(",50", ",51")
    failed = finished(mia, mia.csv(f"{here}/output/csv", other, 202, **key("big")), "failed")
    assert "was used for another request" in failed["detail"]


def test_keys_and_contents_are_not_in_the_store_and_not_shown(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/output", rows(1), **key("Zacharias-77"))
    with store.reading() as connection:
        payloads = list(connection.execute(sa.select(schema.events.c.payload)).scalars())
    assert sum("request" in json.loads(payload) for payload in payloads) == 1
    assert not any("Zacharias" in payload for payload in payloads)
    assert not any("request" in event["payload"] for event in mia.all(f"{here}/ledger/events"))


def test_the_newest_keys_are_remembered(store: Store) -> None:
    site_with_proposals(store)
    for number in range(MOST_KEYS + 2):
        request = RequestKey.of(ME, f"key {number}", b"")
        output_imports.import_output(store.keyed(request), "site", day(number + 1), b"", ME)
    assert len(state_of(store).used_keys) == MOST_KEYS
    newest = RequestKey.of(ME, f"key {MOST_KEYS + 1}", b"")
    with pytest.raises(RequestRepeated):
        output_imports.import_output(store.keyed(newest), "site", day(MOST_KEYS + 5), b"", ME)
    with pytest.raises(InvalidInput, match="another request"):
        output_imports.import_output(store.keyed(RequestKey(newest.key, "else")), "site", day(MOST_KEYS + 5), b"", ME)
    forgotten = RequestKey.of(ME, "key 0", b"")
    output_imports.import_output(store.keyed(forgotten), "site", day(MOST_KEYS + 5), b"", ME, accept_unusual=True)
    sound(store)


def test_eight_at_once_record_once(store: Store) -> None:
    site_with_proposals(store)
    request = RequestKey.of(ME, "one", b"")

    def send(place: int) -> str:
        try:
            output_imports.import_output(store.keyed(request), "site", day(1 + place), b"", ME)
        except RequestRepeated:
            return "repeated"
        return "recorded"

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(send, range(8)))
    assert outcomes == ["recorded"] + ["repeated"] * 7
    sound(store)


def test_newcomers_and_opened_days_do_not_lose_the_answer(store: Store, mia: Api) -> None:
    """The key is kept with the event of the import, though others of the same request come before it."""
    here = with_crew(mia)
    before_start = CALENDAR.start - timedelta(days=3)
    text = f"Report\n\nDay;Employee;Units\n{before_start};a;50\n{before_start};new;51\n"
    sent = {"data": text, "path": f"{here}/output/csv?yes=true"}
    first = mia.csv(sent["path"], sent["data"], **key("one"))
    assert (first["recorded"], first["enrolled"]) == (2, 1)
    before = contents(store)
    again = mia.csv(sent["path"], sent["data"], **key("one"))
    assert contents(store) == before
    assert (again["recorded"], again["known"], again["enrolled"]) == (2, 0, 1)
    mia.csv(sent["path"], sent["data"].replace("51", "52"), 422, **key("one"))
    sound(store, "north")


def test_the_team_and_notes_have_keys_too(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    for path, body in (
        ("/team", {"members": ["b", "d"], "on": str(CALENDAR.date_of(1))}),
        ("/notes", {"worker_id": "a", "text": "left early"}),
    ):
        first = mia.post(f"{here}{path}", body, **key(path))
        before = contents(store)
        assert mia.post(f"{here}{path}", body, **key(path)) == first
        assert contents(store) == before
    sound(store, "north")
