"""The API from setting a site up to its history, in process, on both databases."""

import json
import time
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from crewlearn.advisor import commands, imports, schema
from crewlearn.advisor.csv_in import WorkerRow
from crewlearn.advisor.store import Store
from crewlearn.cli.main import app as cli
from crewlearn.web import reads, users, work
from crewlearn.web.api import models
from crewlearn.web.api.examples import EXAMPLES
from stores import CALENDAR, ME, Database, config, contents, day, site_with_proposals, sound, types_of
from web_api import PROBLEM, Api, caller, served

SETTINGS: dict[str, Any] = {
    "team": 2,
    "fee": 5.0,
    "units": {"low": 0.0, "high": 100.0},
    "calendar": {"start": "2024-01-01"},
    "horizon": 300,
    "mean_delay": 2.0,
}
MEANS = {"a": 10.0, "b": 90.0, "c": 50.0, "d": 95.0, "e": 80.0, "f": 85.0}
CREW = [
    {"worker_id": one, "name": f"Person {one}", "active": one in "ac", "prior_n": 30, "prior_mean": mean}
    for one, mean in MEANS.items()
]


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    with served(store) as made:
        yield made


@pytest.fixture
def mia(client: TestClient) -> Api:
    """An admin of all sites."""
    return caller(client, "mia", "admin")


def rows(period: int, units: float = 50.0, who: Sequence[str] = "ac") -> dict[str, Any]:
    when = str(CALENDAR.date_of(period))
    return {"rows": [{"date": when, "worker_id": one, "units": units + at} for at, one in enumerate(who)]}


def with_crew(api: Api, name: str = "north") -> str:
    api.post("/sites", {"site": name, "settings": SETTINGS}, 201)
    api.post(f"/sites/{name}/workers", {"workers": CREW})
    return f"/sites/{name}"


def test_a_site_from_its_first_day_to_its_history(client: TestClient, mia: Api, store: Store) -> None:
    made = mia.send("POST", "/sites", json={"site": "north", "settings": SETTINGS})
    assert (made.status_code, made.headers["location"], made.headers["etag"]) == (201, "/api/v1/sites/north", '"1"')
    assert mia.get("/sites")["items"][0]["advice"] == "Wait (2024-01-01, period 1): import workers first."
    recorded = mia.post("/sites/north/workers", {"workers": CREW})
    assert (recorded["recorded"], recorded["known"]) == (6, 0)
    advice = mia.get("/sites/north/advice")
    assert advice["kind"] == "propose"
    assert recorded["advice"] == advice["sentence"]
    first = advice["proposals"][0]
    assert first["out"] in MEANS
    assert MEANS[first["in"]] > MEANS[first["out"]]

    explained = mia.get(f"/sites/north/proposals/{first['id']}/explanation")
    assert "".join(explained["explanation"]).count(f"Person {first['in']}")
    assert explained["why"] == first["why"]
    approved = mia.post(f"/sites/north/proposals/{first['id']}/approval", {})
    assert approved["proposal"]["status"] == "approved"
    declined = mia.post(f"/sites/north/proposals/{first['id']}/offer", {"outcome": "declined"})
    assert declined["proposal"]["status"] == "declined"
    candidate = declined["advice"]["proposals"][0]
    assert candidate["in"] != first["in"], "a decline brings the next candidate"

    mia.post(f"/sites/north/proposals/{candidate['id']}/approval", {})
    mia.post(f"/sites/north/proposals/{candidate['id']}/offer", {"outcome": "accepted"})
    started = mia.post(f"/sites/north/proposals/{candidate['id']}/offer", {"outcome": "started"})
    assert started["proposal"]["status"] == "started"
    team = {one["worker_id"] for one in mia.all("/sites/north/workers", team=True)}
    assert candidate["in"] in team
    assert candidate["out"] not in team
    taken_back = mia.post("/sites/north/undo")
    assert "started" in taken_back["taken_back"]
    assert candidate["out"] in {one["worker_id"] for one in mia.all("/sites/north/workers", team=True)}

    assert mia.post("/sites/north/output", rows(1))["recorded"] == 2
    status = mia.get("/sites/north/status")
    assert (status["period"], status["filled"], status["stations"]) == (2, 2, 2)
    assert status["earned"] == 50.0 + 51.0
    history = mia.all("/sites/north/ledger/events")
    assert [one["type"] for one in history] == types_of(store, "north")
    assert {one["actor"] for one in history} == {"mia"}
    assert all("memory" not in one["payload"] for one in history)
    sound(store, "north")


def test_the_same_request_again_records_nothing_and_says_what_is_known(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    proposal = mia.get(f"{here}/advice")["proposals"][0]["id"]
    calls: list[tuple[str, Any]] = [
        ("/sites", {"site": "north", "settings": SETTINGS}),
        (f"{here}/workers", {"workers": CREW}),
        (f"{here}/proposals/{proposal}/approval", {}),
        (f"{here}/proposals/{proposal}/offer", {"outcome": "offered"}),
        (f"{here}/proposals/{proposal}/offer", {"outcome": "declined"}),
        (f"{here}/output", rows(1)),
    ]
    for path, body in calls:
        if path.startswith(f"{here}/proposals") or path.endswith("output"):
            mia.post(path, body)
        before = contents(store)
        again = mia.post(path, body)
        assert contents(store) == before, path
        assert again.get("recorded", 0) == 0
    number = mia.get(f"{here}/advice")["proposals"][0]["id"]
    for _ in range(2):
        mia.post(f"{here}/proposals/{number}/rejection", {"reason": "no"})
    assert types_of(store, "north").count("proposal-rejected") == 1
    sound(store, "north")


def test_who_answers_second_is_told_who_was_first(client: TestClient, mia: Api) -> None:
    here = with_crew(mia)
    ben = caller(client, "ben", "manager")
    proposal = mia.get(f"{here}/advice")["proposals"][0]["id"]
    mia.post(f"{here}/proposals/{proposal}/approval", {})
    for path, body in (("approval", {}), ("rejection", {"reason": "not them"})):
        problem = ben.post(f"{here}/proposals/{proposal}/{path}", body, 409)
        assert "mia recorded approved at 2026-03-04 05:06 UTC" in problem["detail"]
    problem = mia.post(f"{here}/proposals/{proposal}/rejection", {"reason": "after all"}, 409)
    assert problem["errors"][0]["field"] == "proposal"


def test_undone_is_not_answered(mia: Api) -> None:
    here = with_crew(mia)
    proposal = mia.get(f"{here}/advice")["proposals"][0]["id"]
    mia.post(f"{here}/proposals/{proposal}/approval", {})
    mia.post(f"{here}/undo")
    assert mia.get(f"{here}/proposals/{proposal}")["status"] == "proposed"
    assert mia.post(f"{here}/proposals/{proposal}/approval", {})["proposal"]["status"] == "approved"
    mia.post(f"{here}/undo")
    problem = mia.post(f"{here}/undo", None, 409)
    assert "no answer to take back" in problem["detail"]


def test_a_second_writer_is_told_what_changed(client: TestClient, mia: Api, store: Store) -> None:
    here = with_crew(mia)
    ben = caller(client, "ben", "manager")
    seen = ben.send("GET", here)
    tag = {"If-Match": seen.headers["etag"]}
    assert mia.call("PATCH", here, json={"fee": 7.0}, headers=tag)["settings"]["fee"] == 7.0
    before = contents(store)
    problem = ben.call("PATCH", here, 412, json={"fee": 9.0}, headers=tag)
    assert any("mia changed fee" in line for line in problem["changed"])
    for path, body in (("workers", {"workers": [{"worker_id": "z"}]}), ("output", rows(1)), ("undo", None)):
        ben.post(f"{here}/{path}", body, 412, headers=tag)
    ben.csv(f"{here}/output/csv", "date,worker_id,units\n2024-01-01,a,5\n", 412, headers=tag)
    ben.call("PATCH", f"{here}/workers/a", 412, json={"pinned": True}, headers=tag)
    assert contents(store) == before
    assert ben.call("PATCH", here, 428, json={"fee": 9.0})["title"] == "Precondition Required"
    for wrong in ("7", '"seven"', '"7" ', "W/7", '"12345678901"', ""):
        (error,) = ben.call("PATCH", here, 422, json={"fee": 9.0}, headers={"If-Match": wrong})["errors"]
        assert error["field"] == "If-Match"
        assert error["remedy"].startswith("must be a version as an ETag gave it, a number in quotation marks such as")
    now = ben.send("GET", here).headers["etag"]
    assert ben.call("PATCH", here, json={"fee": 9.0}, headers={"If-Match": f"W/{now}"})["settings"]["fee"] == 9.0


def test_a_site_that_cannot_be_read_is_listed_with_its_fault(mia: Api, store: Store) -> None:
    for name in ("east", "north", "south"):
        with_crew(mia, name)
    whole = mia.all("/sites")
    spoilt = "UPDATE sites SET state = '{}', head = 'x' || substr(head, 2) WHERE name = 'north'"
    with store.changing() as connection:
        connection.execute(sa.text(spoilt))
    east, north, south = mia.all("/sites", limit=1)
    assert [east, south] == [whole[0], whole[2]]
    assert north.keys() == {"site", "fault"}
    assert north["site"] == "north"
    assert "kept state that cannot be read" in north["fault"]
    assert "crewlearn ledger verify" in north["fault"]


def test_errors_name_options_as_this_api_has_them(mia: Api) -> None:
    here = with_crew(mia)
    text = "date,worker_id,units\n2024-01-01,gone,5\n"
    for error in (
        mia.csv(f"{here}/output/csv", text, 422)["errors"][0],
        mia.csv(f"{here}/output/csv", text.replace("gone", ""), 422)["errors"][0],
        mia.post(f"{here}/output", rows(1, who=["gone"]), 422)["errors"][0],
    ):
        assert "`skip_unknown`" in error["remedy"]
        assert "--" not in error["remedy"]
    assert mia.csv(f"{here}/output/csv", text, params={"skip_unknown": True})["skipped"] == 1
    mia.post(f"{here}/output", rows(1))
    assert "`correct` replaces" in mia.post(f"{here}/output", rows(1, 60.0), 409)["detail"]
    assert "`map=units=HEADER`" in mia.csv(f"{here}/output/csv", "date,worker_id\n", 422)["errors"][0]["remedy"]
    assert mia.csv(f"{here}/output/csv", text, 422, params={"map": ["x=y"]})["errors"][0]["field"] == "map"


def test_undoing_again_for_the_same_version_finds_it_done(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    proposal = mia.get(f"{here}/advice")["proposals"][0]["id"]
    approved = mia.send("POST", f"{here}/proposals/{proposal}/approval", json={})
    tag = {"If-Match": approved.headers["etag"]}
    assert mia.post(f"{here}/undo", headers=tag)["taken_back"] is not None
    before = contents(store)
    assert mia.post(f"{here}/undo", headers=tag)["taken_back"] is None
    assert contents(store) == before


def test_settings_are_merged_and_kept(mia: Api) -> None:
    here = with_crew(mia)
    change = {"calendar": {"closures": ["2024-12-25"]}, "units": {"value_per_unit": 2.5}, "most_a_week": 3}
    made = mia.call("PATCH", here, json=change, headers={"If-Match": "*"})["settings"]
    assert made["calendar"]["closures"] == ["2024-12-25"]
    assert made["calendar"]["start"] == "2024-01-01"
    assert (made["units"]["high"], made["units"]["value_per_unit"]) == (100.0, 2.5)
    assert (
        mia.call("PATCH", here, json={"most_a_week": None}, headers={"If-Match": "*"})["settings"]["most_a_week"]
        is None
    )


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"team": 0}, "settings.team"),
    ({"team": "2"}, "settings.team"),
    ({"team": True}, "settings.team"),
    ({"fee": -1}, "settings.fee"),
    ({"fee": None}, "settings.fee"),
    ({"feee": 1}, "settings.feee"),
    ({"policy": "no-such"}, "settings.policy"),
    ({"policy": "os:system"}, "settings.policy"),
    ({"policy": "oracle"}, "policy"),
    ({"calendar": {"start": "16.11.2026"}}, "settings.calendar.start"),
    ({"calendar": {"start": 5}}, "settings.calendar.start"),
    ({"units": {"low": 1, "high": 1}}, "high"),
    ({"horizon": 1.5}, "settings.horizon"),
]


def test_wrong_settings_are_refused_by_name(mia: Api, store: Store) -> None:
    for changes, field in WRONG:
        problem = mia.post("/sites", {"site": "north", "settings": {**SETTINGS, **changes}}, 422)
        assert [one["field"] for one in problem["errors"]] == [field]
    assert store.names() == []


def test_strange_bodies_are_refused(mia: Api) -> None:
    for text in ("NaN", "Infinity", "-Infinity", "1e999", '"\\ud800"', "[" * 5000, "\x00", "{", "null", ""):
        body = json.dumps({"site": "north", "settings": {**SETTINGS, "fee": "HERE"}}).replace('"HERE"', text or "x")
        for content in (body, text):
            found = mia.send("POST", "/sites", content=content.encode(), headers={"Content-Type": "application/json"})
            assert found.status_code in (400, 422)
            assert found.headers["content-type"] == PROBLEM


def test_ids_with_slashes_dots_and_signs_are_found(client: TestClient, mia: Api) -> None:
    here = with_crew(mia)
    names = ["A/7", "a b", "ü?#&", "csv", "..x", "a/", "/", "100%", "O'Brien; DROP TABLE", "🙂", "a/../b"]
    mia.post(f"{here}/workers", {"workers": [{"worker_id": name} for name in names]})
    ann = caller(client, "ann", "admin")
    for name in names:
        path = f"{here}/workers/{quoted(name)}"
        assert mia.get(path)["worker_id"] == name
        assert mia.call("PATCH", path, json={"status": "blocked"})["status"] == "blocked"
        assert ann.call("DELETE", path, 204) == ""
        assert "not known" in mia.get(path, 404)["detail"]
    assert "Person" not in mia.get(f"{here}/workers/nobody", 404)["detail"]


def quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


def test_erased_people_are_gone_from_every_answer(
    client: TestClient, mia: Api, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "BIG_LINES", 1)
    here = with_crew(mia)
    mia.post(f"{here}/workers", {"workers": [{"worker_id": "Zacharias-77"}]})
    mia.post(f"{here}/output", rows(1))
    finished(mia, mia.csv(f"{here}/output/csv", "date,worker_id,units\n2024-01-06,Zacharias-77,5\n", 202), "failed")
    ann = caller(client, "ann", "admin")
    for worker in ("a", "Zacharias-77"):
        ann.call("DELETE", f"{here}/workers/{worker}", 204)
    assert "Zacharias" not in repr(everything(store))
    texts = [
        client.get(f"/api/v1{here}/{path}", headers=mia.headers).text
        for path in ("status", "advice", "workers", "output", "ledger/events", "ledger/export?what=output", "proposals")
    ]
    assert all("Person a" not in text and '"a"' not in text for text in texts)
    assert mia.get(f"{here}/output", 422, params={"worker": "a"})["errors"][0]["field"] == "worker"
    sound(store, "north")


def test_a_file_is_checked_without_writing_and_then_taken_in(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    before = contents(store)
    text = "Tag;Badge no;Pieces;Remark\n01.01.2024;a;51,5;x\n01.01.2024;zz;50;\n06.01.2024;c;-;\n"
    maps = {"map": ["date=Tag", "units=Pieces"], "check_only": True}
    found = mia.csv(f"{here}/output/csv", text, params=maps)
    assert found["columns"] == {"date": "Tag", "worker_id": "Badge no", "units": "Pieces"}
    assert (found["ignored"], found["rows"], found["sound"]) == (["Remark"], 3, False)
    assert [(one["line"], one["column"]) for one in found["errors"]] == [(4, "units")]
    found = mia.csv(f"{here}/output/csv", text.replace(";-;", ";4;"), params=maps)
    assert [(one["line"], one["column"], one["value"]) for one in found["errors"]] == [
        (3, "worker_id", "zz"),
        (4, "date", "2024-01-06"),
    ]
    right = "Tag;Badge no;Pieces;Remark\n01.01.2024;a;51,5;x\n01.01.2024;c;50;\n"
    found = mia.csv(f"{here}/output/csv", right, params=maps)
    assert (found["sound"], found["recorded"], found["errors"]) == (True, 2, [])
    assert contents(store) == before
    problem = mia.csv(f"{here}/output/csv", text, 422, params={"map": ["date=Tag", "units=Pieces"]})
    assert (problem["errors"][0]["line"], problem["errors"][0]["column"]) == (4, "units")
    done = mia.csv(f"{here}/output/csv", right, params={"map": ["date=Tag", "units=Pieces"]})
    assert (done["recorded"], done["known"]) == (2, 0)
    assert mia.csv(f"{here}/output/csv", right, params={"map": ["date=Tag", "units=Pieces"]})["known"] == 2
    workers = "id;name\na;Anna\ng;Gil\n"
    tried = mia.csv(f"{here}/workers/csv", workers, params={"check_only": True})
    assert (tried["recorded"], tried["columns"]) == (2, {"worker_id": "id", "name": "name"})
    assert mia.get(f"{here}/workers/a")["name"] == "Person a"
    assert mia.csv(f"{here}/workers/csv", workers)["recorded"] == 2
    assert mia.get(f"{here}/workers/a")["name"] == "Anna", "a name alone is a change that readers see"
    assert mia.call("POST", f"{here}/workers/csv", 415, content=b"id\na\n", headers={"Content-Type": "text/plain"})
    assert mia.csv(f"{here}/output/csv", "", 422)
    assert not mia.csv(f"{here}/output/csv", "", params={"check_only": True})["sound"]
    sound(store, "north")


def test_other_values_are_a_conflict_or_a_correction(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/output", rows(1))
    problem = mia.post(f"{here}/output", rows(1, units=60.0), 409)
    assert "differ from the record" in problem["detail"]
    tried = mia.csv(f"{here}/output/csv", "date,worker_id,units\n2024-01-01,a,60\n", params={"check_only": True})
    assert (tried["sound"], tried["total_errors"]) == (False, 1)
    done = mia.post(f"{here}/output?correct=true", rows(1, units=60.0))
    assert (done["recorded"], done["corrected"]) == (2, 2)
    assert [one["units"] for one in mia.all(f"{here}/output")] == [60.0, 61.0]
    sound(store, "north")


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"worker_id": "a"}, "units"),
        ({"worker_id": "a", "attendance": "worked"}, "units"),
        ({"worker_id": "a", "units": 5, "attendance": "absent"}, "units"),
        ({"worker_id": "a", "units": 5, "hours": 0}, "hours"),
        ({"worker_id": "zz", "units": 5}, "worker_id"),
    ],
)
def test_rows_hold_to_the_same_rules_as_files(mia: Api, row: dict[str, Any], column: str) -> None:
    here = with_crew(mia)
    given = {"rows": [{"date": "2024-01-01", "worker_id": "c", "units": 1}, {"date": "2024-01-01", **row}]}
    error = mia.post(f"{here}/output", given, 422)["errors"][0]
    assert (error["line"], error["column"]) == (2, column)
    text = "date,worker_id,units,hours,attendance\n2024-01-01,c,1,,\n"
    text += ",".join(str({"date": "2024-01-01", **row}.get(name, "")) for name in text.split("\n")[0].split(",")) + "\n"
    error = mia.csv(f"{here}/output/csv", text, 422)["errors"][0]
    assert (error["line"], error["column"]) == (3, column)


def test_a_big_file_is_taken_in_by_a_job(mia: Api, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "BIG_LINES", 10)
    here = with_crew(mia)
    lines = [f"{CALENDAR.date_of(period)},{one},{40 + period}" for period in range(1, 21) for one in "ac"]
    text = "date,worker_id,units\n" + "\n".join(lines) + "\n"
    tried = finished(mia, mia.csv(f"{here}/output/csv", text, 202, params={"check_only": True}))
    assert (tried["recorded"], tried["sound"]) == (40, True)
    assert mia.get(f"{here}/output")["items"] == []
    done = finished(mia, mia.csv(f"{here}/output/csv", text, 202))
    assert (done["recorded"], done["known"], done["advice"]) == (40, 0, mia.get(f"{here}/advice")["sentence"])
    assert finished(mia, mia.csv(f"{here}/output/csv", text, 202))["known"] == 40
    wrong = mia.csv(f"{here}/output/csv", text.replace(",a,", ",zz,"), 202)
    problem = finished(mia, wrong, "failed")
    assert (problem["status"], problem["errors"][0]["line"], problem["errors"][0]["column"]) == (422, 2, "worker_id")
    mia.csv(f"{here}/output/csv", text, 412, headers={"If-Match": '"1"'})
    with store.reading() as connection:
        assert connection.execute(sa.select(schema.jobs.c.file)).scalars().all() == [None] * 4
    sound(store, "north")


def finished(api: Api, job: dict[str, Any], status: str = "done") -> dict[str, Any]:
    """Wait for a job; give what came of it."""
    deadline = time.monotonic() + 120.0
    while job["status"] in ("queued", "running"):
        assert time.monotonic() < deadline, job
        time.sleep(0.05)
        job = api.get(f"/jobs/{job['id']}")
    assert job["status"] == status, job
    assert job["finished"] is not None
    result: dict[str, Any] = job["result"]
    return result


def test_plans_and_checks_are_jobs(client: TestClient, mia: Api) -> None:
    here = with_crew(mia)
    wanted = {"runs": 20, "policies": ["dr-ucb"], "team": 3}
    job = mia.post(f"{here}/plan", wanted, 202)
    planned = finished(mia, job)
    assert (planned["team"], planned["runs"], set(planned["policies"])) == (3, 20, {"dr-ucb", "keep-team"})
    assert mia.post(f"{here}/plan", wanted)["id"] == job["id"], "the same plan of the same facts is the same"
    checked = finished(mia, mia.post(f"{here}/ledger/verification", None, 202))
    assert checked["sound"] is True
    mia.post(f"{here}/output", rows(1))
    assert mia.post(f"{here}/plan", wanted, 202)["id"] != job["id"]
    assert [one["kind"] for one in mia.all(f"{here}/jobs", limit=1)] == ["plan", "verify", "plan"]
    mia.post("/sites", {"site": "south", "settings": SETTINGS}, 201)
    other = caller(client, "olga", "admin", ["south"])
    other.get(f"/jobs/{job['id']}", 404)
    problem = mia.post(f"{here}/plan", {"policies": ["os:getcwd"]}, 422)
    assert problem["errors"][0]["field"] == "policies[0]"


def test_damage_is_found_by_a_job(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    with store.engine.begin() as connection:
        connection.execute(schema.events.update().where(schema.events.c.number == 2).values(actor="nobody"))
    found = finished(mia, mia.post(f"{here}/ledger/verification", None, 202))
    assert found["sound"] is False
    assert found["faults"] == ["event 2 (workers-imported) was altered"]


def test_lists_are_whole_and_without_doubles_while_facts_are_added(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    for period in range(1, 8):
        mia.post(f"{here}/output", rows(period))
    counted: dict[str, tuple[str, str, dict[str, Any]]] = {
        "events": ("ledger/events", "number", {}),
        "newest": ("ledger/events", "number", {"newest": True}),
        "proposals": ("proposals", "id", {}),
        "workers": ("workers", "worker_id", {"sort": "estimate", "descending": True}),
        "joined": ("workers", "worker_id", {"sort": "joined"}),
    }
    period = 8
    for path, key, given in counted.values():
        before = {one[key] for one in mia.all(f"{here}/{path}", limit=1000, **given)}
        seen = []
        for piece in mia.pages(f"{here}/{path}", limit=2, **given):
            seen += [one[key] for one in piece]
            if period < 30:  # f overtakes everybody, so that the order by estimate changes
                mia.post(f"{here}/output", rows(period, units=0.0 if period % 2 else 99.0, who="acf"))
                period += 1
        assert len(seen) == len(set(seen)), path
        assert before <= set(seen), path
    seen = [(one["worker_id"], one["period"]) for piece in with_more(mia, here) for one in piece]
    assert len(seen) == len(set(seen))
    assert {(one, at) for one in "ac" for at in range(1, period)} <= set(seen)
    listed = mia.all(f"{here}/output", limit=3, **{"from": "2024-01-02", "to": "2024-01-03"}, worker="a")
    assert [(one["period"], one["worker_id"]) for one in listed] == [(2, "a"), (3, "a")]


def with_more(api: Api, here: str) -> Iterator[list[Any]]:
    """Give the pieces of the output, a newcomer's being added meanwhile."""
    api.post(f"{here}/workers", {"workers": [{"worker_id": "new"}]})
    for at, piece in enumerate(api.pages(f"{here}/output", limit=5)):
        yield piece
        if at < 3:
            api.post(f"{here}/output", {"rows": [{"period": at + 1, "worker_id": "new", "units": 5}]})


def test_a_cursor_of_another_list_is_refused(mia: Api) -> None:
    here = with_crew(mia)
    cursor = mia.get(f"{here}/workers", params={"limit": 1})["next"]
    for path in ("ledger/events", "proposals", "output", "jobs", "workers?sort=name", "workers?team=true"):
        for wrong in (cursor, "x", "", "eyJ", "AAAA" * 9000, cursor[:-2]):
            problem = mia.get(
                f"{here}/{path}",
                422,
                params={**dict([path.partition("?")[2].split("=")] if "?" in path else []), "cursor": wrong},
            )
            assert problem["errors"][0]["field"] == "cursor"


def test_nothing_new_is_said_shortly(mia: Api) -> None:
    here = with_crew(mia)
    proposal = mia.get(f"{here}/advice")["proposals"][0]["id"]
    for path in ("", "/advice", "/status", f"/proposals/{proposal}/explanation"):
        found = mia.send("GET", f"{here}{path}")
        tag = found.headers["etag"]
        for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
            again = mia.send("GET", f"{here}{path}", headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    mia.post(f"{here}/output", rows(1))
    assert mia.send("GET", f"{here}/advice", headers={"If-None-Match": tag}).status_code == 200


def test_exports_are_those_of_the_command_line(mia: Api, database: Database, store: Store) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/workers", {"workers": [{"worker_id": "=1+1", "name": "@SUM(A1)"}]})
    for period in range(1, 4):
        mia.post(f"{here}/output", rows(period))
    for what, kind in (
        ("events", "application/jsonl"),
        ("decisions", "text/csv"),
        ("output", "text/csv"),
        ("workers", "text/csv"),
    ):
        found = mia.send("GET", f"{here}/ledger/export", params={"what": what})
        said = CliRunner().invoke(cli, ["ledger", "export", "north", "--what", what, "--db", database.url])
        assert said.exit_code == 0, said.output
        assert found.text == said.stdout
        assert found.headers["content-type"].startswith(kind)
        assert "'=1+1" in found.text or what != "workers"
    for command, path in (("advise", "advice"), ("status", "status")):
        said = CliRunner().invoke(cli, [command, "north", "--json", "--db", database.url])
        assert json.loads(said.stdout) == mia.get(f"{here}/{path}")


def test_reading_never_writes(client: TestClient, mia: Api, store: Store, database: Database) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/output", rows(1))
    finished(mia, mia.post(f"{here}/ledger/verification", None, 202))
    ann = caller(client, "ann", "admin")
    paths = readable(ann, here)
    client.app.state.jobs.stop()  # type: ignore[attr-defined]  # TestClient types it as a bare ASGI callable
    before, file_before = everything(store), file_of(database)
    for path in paths:
        for _ in range(2):
            assert ann.send("GET", path).status_code == 200, path
    assert everything(store) == before
    assert file_of(database) == file_before


def readable(api: Api, here: str) -> list[str]:
    """Every path that can be read, of the document, with real names in it."""
    proposal = api.get(f"{here}/proposals")["items"][0]["id"]
    job = api.get(f"{here}/jobs")["items"][0]["id"]
    names = {"site": "north", "proposal": proposal, "worker_id": "a", "job": job, "name": "ann"}
    paths = [path.removeprefix("/api/v1") for path, item in api.contract.document["paths"].items() if "get" in item]
    assert len(paths) >= 15
    return [path.format(**names) for path in paths]


def everything(store: Store) -> dict[str, list[Any]]:
    with store.reading() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=repr)
            for table in schema.metadata.sorted_tables
        }


def file_of(database: Database) -> bytes:
    """The bytes of an SQLite file and its log, which PostgreSQL does not have."""
    if database.backend != "sqlite":
        return b""
    path = Path(database.url.removeprefix("sqlite:///"))
    log = path.with_name(f"{path.name}-wal")
    return path.read_bytes() + (log.read_bytes() if log.exists() else b"")


ROUTES = [
    ("GET", "/sites", "viewer"),
    ("POST", "/sites", "admin everywhere"),
    ("GET", "/sites/{site}", "viewer"),
    ("PATCH", "/sites/{site}", "manager"),
    ("GET", "/sites/{site}/status", "viewer"),
    ("GET", "/sites/{site}/advice", "viewer"),
    ("GET", "/sites/{site}/proposals", "viewer"),
    ("GET", "/sites/{site}/proposals/{proposal}", "viewer"),
    ("GET", "/sites/{site}/proposals/{proposal}/explanation", "viewer"),
    ("POST", "/sites/{site}/proposals/{proposal}/approval", "manager"),
    ("POST", "/sites/{site}/proposals/{proposal}/rejection", "manager"),
    ("POST", "/sites/{site}/proposals/{proposal}/offer", "manager"),
    ("POST", "/sites/{site}/undo", "manager"),
    ("GET", "/sites/{site}/workers", "viewer"),
    ("POST", "/sites/{site}/workers", "manager"),
    ("POST", "/sites/{site}/workers/csv", "manager"),
    ("GET", "/sites/{site}/workers/{worker_id}", "viewer"),
    ("PATCH", "/sites/{site}/workers/{worker_id}", "manager"),
    ("DELETE", "/sites/{site}/workers/{worker_id}", "admin"),
    ("GET", "/sites/{site}/output", "viewer"),
    ("POST", "/sites/{site}/output", "manager"),
    ("POST", "/sites/{site}/output/csv", "manager"),
    ("GET", "/sites/{site}/ledger/events", "viewer"),
    ("GET", "/sites/{site}/ledger/export", "viewer"),
    ("POST", "/sites/{site}/ledger/verification", "manager"),
    ("GET", "/sites/{site}/jobs", "viewer"),
    ("POST", "/sites/{site}/plan", "manager"),
    ("GET", "/jobs/{job}", "viewer"),
    ("DELETE", "/jobs/{job}", "manager"),
    ("GET", "/me", "viewer"),
    ("GET", "/health", "anybody"),
    ("GET", "/users", "admin everywhere"),
    ("POST", "/users", "admin everywhere"),
    ("POST", "/users/{name}/tokens", "admin everywhere"),
    ("DELETE", "/users/{name}/tokens/{token}", "admin everywhere"),
]
RANK = {"viewer": 0, "manager": 1, "admin": 2}
BODIES: dict[str, Any] = {
    "POST /sites": {"site": "another", "settings": SETTINGS},
    "PATCH /sites/{site}": {"fee": 6.0},
    "POST /sites/{site}/proposals/{proposal}/offer": {"outcome": "offered"},
    "POST /sites/{site}/workers": {"workers": [{"worker_id": "n"}]},
    "POST /sites/{site}/output": rows(1),
    "POST /sites/{site}/plan": {"runs": 2},
    "POST /users": {"name": "new", "role": "viewer"},
}


def test_every_route_takes_its_role_and_no_other_sites_are_seen(store: Store) -> None:
    with served(store) as client:
        client.app.state.jobs.stop()  # type: ignore[attr-defined]  # TestClient types it as a bare ASGI callable
        mia = caller(client, "mia", "admin")
        with_crew(mia, "north")
        with_crew(mia, "south")
        proposal = mia.get("/sites/north/advice")["proposals"][0]["id"]
        job = mia.post("/sites/north/ledger/verification", None, 202)["id"]
        documented = {
            (method.upper(), path.removeprefix("/api/v1"))
            for path, item in mia.contract.document["paths"].items()
            for method in item
        }
        assert {(method, path) for method, path, _ in ROUTES} == documented
        names = {"site": "north", "proposal": proposal, "worker_id": "a", "job": job, "name": "mia", "token": 10_000}
        callers = [
            (role, where, caller(client, f"{role}-{where}", role, None if where == "all" else [where]))
            for role in RANK
            for where in ("all", "north", "south")
        ]
        for method, path, needed in ROUTES:
            role, _, everywhere = needed.partition(" ")
            before = everything(store)
            body = {"json": BODIES.get(f"{method} {path}", {})} if method in ("POST", "PATCH") else {}
            if path.endswith("csv"):
                body = {"content": b"?", "headers": {"Content-Type": "text/csv"}}
            stranger = client.request(method, f"/api/v1{path.format(**names)}", **body)
            assert (stranger.status_code == 401) == (role != "anybody"), path
            for own, where, api in callers:
                may = role == "anybody" or (RANK[own] >= RANK[role] and (not everywhere or where == "all"))
                sees = where != "south" or not ("{site}" in path or "{job}" in path)
                if may and sees:
                    continue
                status = api.send(method, path.format(**names), **body).status_code
                assert status == (403 if sees else 404), (method, path, own, where, status)
            assert everything(store) == before, f"{method} {path} wrote for somebody who may not"
            for own, where, api in callers:  # and who may is let in, whatever they are then told of their wish
                if (
                    role != "anybody"
                    and RANK[own] >= RANK[role]
                    and where != "south"
                    and (not everywhere or where == "all")
                ):
                    if method == "DELETE":
                        continue
                    assert api.send(method, path.format(**names), **body).status_code not in (401, 403), (method, path)
        south = callers[2][2]
        assert [one["site"] for one in south.get("/sites")["items"]] == ["south"]
        assert "north" not in south.get("/sites/north", 404)["detail"].replace("site north:", "")


def test_users_and_tokens_for_admins(client: TestClient, mia: Api, store: Store) -> None:
    mia.post("/sites", {"site": "north", "settings": SETTINGS}, 201)
    ann = caller(client, "ann", "admin")
    new = {"name": "bo", "role": "viewer", "sites": ["north"]}
    assert ann.post("/users", new, 201)["sites"] == ["north"]
    assert ann.post("/users", new)["name"] == "bo"
    assert ann.post("/users", {**new, "role": "admin"}, 409)["errors"][0]["field"] == "user"
    assert ann.post("/users", {**new, "name": "cy", "sites": ["west"]}, 422)["errors"][0]["field"] == "site"
    shown = ann.post("/users/bo/tokens", {"days": 1, "label": "till"}, 201)
    bo = Api(client, {"Authorization": f"Bearer {shown['token']}"}, ann.contract)
    assert bo.get("/me") == {"name": "bo", "role": "viewer", "sites": ["north"]}
    listed = next(one for one in ann.all("/users", limit=1) if one["name"] == "bo")
    assert [one["label"] for one in listed["tokens"]] == ["till"]
    assert shown["token"] not in ann.send("GET", "/users").text
    assert ann.call("DELETE", f"/users/bo/tokens/{shown['id']}", 204) == ""
    bo.get("/me", 401)
    ann.post("/users/nobody/tokens", {}, 404)
    ann.call("DELETE", "/users/bo/tokens/999", 404)
    ann.post("/users/%00/tokens", {}, 404)
    assert users.get(store, "bo").tokens[0].revoked is not None


def test_names_that_no_database_keeps_are_not_found(mia: Api) -> None:
    here = with_crew(mia)
    for path in (
        "/sites/%00",
        "/sites/%00/advice",
        f"{here}/workers/%00",
        f"{here}/workers/%F0%9F",
        "/sites/%ED%A0%80",
    ):
        mia.get(path, 404)
    mia.get(f"{here}/output", 422, params={"worker": "\0"})
    assert mia.get(f"{here}/workers", params={"search": "\0"})["items"] == []
    mia.get(f"{here}/proposals/99999999999", 422)
    mia.get("/jobs/0", 422)
    mia.get("/jobs/5", 404)
    mia.get(f"{here}/output", params={"from": "0001-01-01", "to": "9999-12-31"})


def test_a_reader_sees_what_another_process_wrote(store: Store, database: Database) -> None:
    site_with_proposals(store)
    first = reads.snapshot(store, "site")
    assert reads.snapshot(store, "site") is first, "nothing changed, nothing is read again"
    with database.open() as other:
        imports.import_output(other, "site", day(1), b"1", ME)
        imports.import_workers(other, "site", [WorkerRow("a", name="Ada")], b"2", ME)
    second = reads.snapshot(store, "site")
    assert (second.site.period, second.people.names[0]) == (2, "Ada")
    assert first.site.period == 1, "what was read before stays as it was"


def test_old_snapshots_make_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "MOST_KEPT", 2)
    for name in ("x", "y", "z"):
        commands.create_site(store, name, config(), ME)
    kept = [reads.snapshot(store, name) for name in ("x", "y", "z")]
    assert reads.snapshot(store, "z") is kept[2]
    assert reads.snapshot(store, "x") is not kept[0]


def test_a_thousand_workers_are_read_in_milliseconds(client: TestClient, mia: Api, store: Store) -> None:
    mia.post("/sites", {"site": "north", "settings": {**SETTINGS, "team": 400}}, 201)
    crew = [
        {"worker_id": f"{one:04}", "prior_n": 5, "prior_mean": one % 100, "active": one < 400} for one in range(1000)
    ]
    mia.post("/sites/north/workers", {"workers": crew})
    address = "/api/v1/sites/north/advice"
    client.get(address, headers=mia.headers)
    taken = []
    for _ in range(30):
        begun = time.perf_counter()
        assert client.get(address, headers=mia.headers).status_code == 200
        taken.append(time.perf_counter() - begun)
    assert min(taken) < 0.05, "an advice that has not changed is not made again"
    assert len(mia.all("/sites/north/workers", limit=300, sort="estimate")) == 1000


def test_days_are_days(mia: Api) -> None:
    here = with_crew(mia)
    tomorrow = str(date(2026, 3, 4) + timedelta(days=1))
    problem = mia.post(f"{here}/output", {"rows": [{"date": tomorrow, "worker_id": "a", "units": 1}]}, 422)
    assert "future" in problem["errors"][0]["remedy"]
    for wrong in ("2024-1-1", "20240101", "2024-01-01T00:00:00", 1704067200, "2024-02-30", None):
        problem = mia.post(f"{here}/output", {"rows": [{"date": wrong, "worker_id": "a", "units": 1}]}, 422)
        assert problem["errors"][0]["field"].startswith("rows[0]")


def test_every_request_and_answer_has_an_example_that_fits(mia: Api) -> None:
    for name, given in EXAMPLES.items():
        for example in given:
            getattr(models, name).model_validate(example)
    document = mia.contract.document
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert operation["operationId"].isalnum()
            assert operation["summary"]
            assert operation["description"]
            assert operation["tags"]
            contents = [operation.get("requestBody", {}).get("content", {})]
            contents += [one.get("content", {}) for status, one in operation["responses"].items() if status < "300"]
            for content in contents:
                for kind, told in content.items():
                    if kind == "application/json" and path not in ("/api/v1/health", "/api/v1/me"):
                        assert all(has_example(document, one) for one in alternatives(told["schema"])), (method, path)
                    elif kind == "text/csv" and method == "post":
                        assert told["example"]


def alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]


def has_example(document: dict[str, Any], schema: dict[str, Any]) -> bool:
    name = schema["$ref"].rpartition("/")[2]
    return bool(document["components"]["schemas"][name].get("examples"))
