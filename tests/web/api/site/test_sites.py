"""The API from creating a site to its history, in process, on both databases."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from httpx2 import Response
from typer.testing import CliRunner

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.store import Store
from crewlearn.cli.main import app as cli
from crewlearn.web import snapshots
from crewlearn.web.api.models.base import Model
from crewlearn.web.api.models.examples import EXAMPLES
from crewlearn.web.jobs import work
from crewlearn.web.pages import forms
from support.stores import contents, fixed_clock, sound, types_of
from support.web.api import CREW, MEANS, PROBLEM, SETTINGS, Api, caller, everything, finished, rows, served, with_crew


def test_a_site_from_its_first_day_to_its_history(client: TestClient, mia: Api, store: Store) -> None:
    made = mia.send("POST", "/sites", json={"site": "north", "settings": SETTINGS})
    assert (made.status_code, made.headers["location"]) == (201, "/api/v1/sites/north")
    (first_event,) = mia.all("/sites/north/ledger/events")
    assert made.headers["etag"] == f'"1-{first_event["hash"][:12]}"'
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
    team = {worker["worker_id"] for worker in mia.all("/sites/north/workers", team=True)}
    assert candidate["in"] in team
    assert candidate["out"] not in team
    taken_back = mia.post("/sites/north/undo")
    assert "started" in taken_back["taken_back"]
    assert candidate["out"] in {worker["worker_id"] for worker in mia.all("/sites/north/workers", team=True)}

    assert mia.post("/sites/north/output", rows(1))["recorded"] == 2
    status = mia.get("/sites/north/status")
    assert (status["period"], status["filled"], status["stations"]) == (2, 2, 2)
    assert status["earned"] == 50.0 + 51.0
    history = mia.all("/sites/north/ledger/events")
    assert [event["type"] for event in history] == types_of(store, "north")
    assert {event["actor"] for event in history} == {"mia"}
    assert all("memory" not in event["payload"] for event in history)
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
        assert "was answered before: mia approved it at 2026-03-04 05:06 UTC" in problem["detail"]
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
    for wrong in ("7", '"seven"', '"7" ', "W/7", '"12345678901"', "", '"7-"', '"7-5f0c"', '"7-5F0C1A2B3C4D"'):
        (error,) = ben.call("PATCH", here, 422, json={"fee": 9.0}, headers={"If-Match": wrong})["errors"]
        assert error["field"] == "If-Match"
        assert error["remedy"].startswith("must be a version as an ETag gave it, in quotation marks")
    now = ben.send("GET", here).headers["etag"]
    assert ben.call("PATCH", here, json={"fee": 9.0}, headers={"If-Match": f"W/{now}"})["settings"]["fee"] == 9.0
    number = ben.get(here)["version"]
    ben.call("PATCH", here, 412, json={"fee": 8.0}, headers={"If-Match": f'"{number + 1}"'})
    assert ben.call("PATCH", here, json={"fee": 8.0}, headers={"If-Match": f'"{number}"'})["settings"]["fee"] == 8.0


def test_a_version_seen_before_a_backup_was_restored_is_not_taken_for_another(tmp_path: Path) -> None:
    """Numbers repeat after a restore; the same number may belong to another history."""
    url, copy = f"sqlite:///{tmp_path}/site.db", tmp_path / "copy.db"

    def go_on(fee: float) -> Response:
        with open_store(url, fixed_clock) as store, served(store) as client:
            mia = caller(client, "mia", "admin")
            if not store.names():
                with_crew(mia)
                assert CliRunner().invoke(cli, ["store", "backup", str(copy), "--db", url]).exit_code == 0
            return mia.send("PATCH", "/sites/north", json={"fee": fee}, headers={"If-Match": "*"})

    seen = go_on(7.0)
    assert CliRunner().invoke(cli, ["store", "restore", str(copy), "--db", url]).exit_code == 0
    now = go_on(8.0)
    assert (seen.json()["version"], seen.headers["etag"]) != (now.json()["version"], now.headers["etag"])
    assert seen.json()["version"] == now.json()["version"]
    with open_store(url, fixed_clock) as store, served(store) as client:
        mia = caller(client, "mia", "admin")
        tag = seen.headers["etag"]
        assert mia.send("GET", "/sites/north", headers={"If-None-Match": tag}).json()["settings"]["fee"] == 8.0
        before = contents(store)
        problem = mia.call("PATCH", "/sites/north", 412, json={"fee": 9.0}, headers={"If-Match": tag})
        assert "as before a backup was restored" in problem["detail"]
        mia.call("PATCH", "/sites/north", 422, json={"fee": -1}, headers={"If-Match": tag})
        assert contents(store) == before
        settings = snapshots.snapshot(store, "north").site.config
        typed = {**forms.site_form(settings).values, "weekdays": "0", "fee": "9", "version": tag.strip('"')}
        page = client.post("/sites/north/settings", data=typed, headers={**mia.headers, "Accept": "text/html"})
        assert page.status_code == 412
        assert contents(store) == before
        mia.call("PATCH", "/sites/north", json={"fee": 9.0}, headers={"If-Match": now.headers["etag"]})


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
    assert "stored state that cannot be read" in north["fault"]
    assert "crewlearn ledger verify" in north["fault"]


def test_errors_name_options_as_this_api_has_them(mia: Api) -> None:
    here = with_crew(mia)
    text = "date,worker_id,units\n2024-01-01,gone,5\n"
    for error in (
        mia.csv(f"{here}/output/csv", text, 422)["errors"][0],
        mia.csv(f"{here}/output/csv", text.replace("gone", ""), 422)["errors"][0],
        mia.post(f"{here}/output", rows(1, workers=["gone"]), 422)["errors"][0],
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
    ({"policy": "no-such"}, "policy"),
    ({"policy": "os:system"}, "policy"),
    ({"policy": "oracle"}, "policy"),
    ({"calendar": {"start": "16.11.2026"}}, "settings.calendar.start"),
    ({"calendar": {"start": 5}}, "settings.calendar.start"),
    ({"units": {"low": 1, "high": 1}}, "high"),
    ({"horizon": 1.5}, "settings.horizon"),
]


def test_wrong_settings_are_refused_by_name(mia: Api, store: Store) -> None:
    for changes, field in WRONG:
        problem = mia.post("/sites", {"site": "north", "settings": {**SETTINGS, **changes}}, 422)
        assert [error["field"] for error in problem["errors"]] == [field]
    assert store.names() == []


def test_a_policy_that_the_operator_allows_is_accepted(mia: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {**SETTINGS, "policy": "support.own_code:Plain"}
    mia.post("/sites", {"site": "north", "settings": own}, 422)
    monkeypatch.setenv("CREWLEARN_POLICIES", "support.own_code:Plain")
    made = mia.post("/sites", {"site": "north", "settings": own}, 201)
    assert made["settings"]["policy"] == own["policy"]


SAID: list[tuple[str, str, Any, str, str]] = [
    ("POST", "/sites", {"settings": SETTINGS}, "site", "is missing; it must be text of 1 to 100 characters"),
    ("POST", "/sites", [], "body", "must be a JSON object with site, settings (Content-Type: application/json)"),
    ("POST", "/users", {"name": "x", "role": "boss"}, "role", "unknown; Known: viewer, manager, admin"),
    ("POST", "/users", {"name": "x", "role": 7}, "role", "must be one of viewer, manager, admin"),
    ("POST", "/users", {"name": "", "role": "admin"}, "name", "must be text of 1 to 100 characters"),
    ("POST", "/users", {"name": "x", "role": "admin", "sites": []}, "sites", "must be a list of 1 to 1,000"),
    ("POST", "/users/mia/tokens", {"days": 0}, "days", "must be a finite number > 0 and <= 3650"),
    ("POST", "/sites/north/plan", {"runs": 1}, "runs", "must be a whole number from 2 to 100000"),
    ("POST", "/sites/north/plan", {"runs": 5.5}, "runs", "must be a whole number from 2 to 100000"),
    ("POST", "/sites/north/plan", {"seed": -1}, "seed", "must be a whole number from 0 to 9223372036854775807"),
    ("POST", "/sites/north/plan", {"fee": "5"}, "fee", "must be a finite number >= 0 and <= 1e+09"),
    (
        "POST",
        "/sites/north/plan",
        {"teem": 3},
        "teem",
        "unknown; did you mean 'team'? Known: policies, runs, seed, team, fee, horizon, mean_delay, policy",
    ),
    ("POST", "/sites/north/output", {"rows": [{"worker_id": "a"}]}, "rows[0]", "needs a date or a period"),
    (
        "POST",
        "/sites/north/output",
        {"rows": [{"worker_id": "a", "date": "2024-02-30", "units": 1}]},
        "rows[0].date",
        "must be a day such as 2026-11-16",
    ),
    (
        "POST",
        "/sites/north/output",
        {"rows": [{"worker_id": "a", "period": 1, "attendance": "abcent"}]},
        "rows[0].attendance",
        "unknown; did you mean 'absent'? Known: worked, partial, absent, no-show, sent-home",
    ),
    ("PATCH", "/sites/north/workers/a", {"pinned": "yes"}, "pinned", "must be true or false"),
    ("GET", "/sites/north/workers?limit=0", None, "limit", "must be a whole number from 1 to 1000"),
    ("GET", "/sites/north/workers?limit=ten", None, "limit", "must be a whole number from 1 to 1000"),
    ("GET", "/sites/north/workers?team=maybe", None, "team", "must be true or false"),
    ("GET", "/sites/north/workers?sort=nmae", None, "sort", "unknown; did you mean 'name'? Known: station, estimate,"),
    ("GET", "/sites/north/proposals?status=open", None, "status[0]", "unknown; Known: proposed, approved, rejected,"),
    ("GET", "/sites/north/output?from=1.2.2024", None, "from", "must be a day such as 2026-11-16"),
    ("GET", "/jobs/first", None, "job", "must be a whole number from 1 to 2147483647"),
]


def test_what_is_refused_is_told_with_its_field_and_what_would_be_right(mia: Api) -> None:
    with_crew(mia)
    for method, path, body, field, remedy in SAID:
        problem = mia.call(method, path, 422, **({} if body is None else {"json": body}))
        (error,) = problem["errors"]
        assert error["field"] == field, path
        assert error["remedy"].startswith(remedy), (path, body)
        assert problem["detail"].startswith(f"{field}: {remedy}")
    as_json = {"Content-Type": "application/json"}
    (error,) = mia.call("POST", "/sites", 422, content=b'{"site": north}', headers=as_json)["errors"]
    assert (error["field"], error["remedy"]) == (
        "body",
        "must be JSON; this is none from character 9 on: Expecting value",
    )
    for body in (b"1" * 5000, b"[" * 100_000):
        problem = mia.call("POST", "/sites", 400, content=body, headers=as_json)
        assert [error["field"] for error in problem["errors"]] == ["body"]
        assert problem["detail"].startswith("body: must be JSON that can be read")
    (error,) = mia.call("POST", "/sites/north/plan", 422, json={"runs": True})["errors"]
    assert error["value"] == "true", "as it was sent"
    refused = mia.client.get("/sites/north/proposals?page=0", headers=mia.headers).json()
    assert refused["errors"] == [{"field": "page", "value": "0", "remedy": "must be a whole number >= 1"}]


def test_a_row_with_date_and_period_is_read_as_a_file_has_it(mia: Api) -> None:
    here = with_crew(mia)
    agreeing = {"date": "2024-01-02", "period": 2, "worker_id": "a", "units": 5}
    assert mia.post(f"{here}/output", {"rows": [agreeing]})["recorded"] == 1
    text = "date,period,worker_id,units\n2024-01-02,{},a,5\n"
    assert mia.csv(f"{here}/output/csv", text.format(2))["known"] == 1
    (by_rows,) = mia.post(f"{here}/output", {"rows": [{**agreeing, "period": 3}]}, 422)["errors"]
    (by_file,) = mia.csv(f"{here}/output/csv", text.format(3), 422)["errors"]
    assert by_rows == {**by_file, "line": 1}
    assert by_rows["remedy"] == "the period of the date; 2024-01-02 is period 2"


def test_strange_bodies_are_refused(mia: Api) -> None:
    for text in ("NaN", "Infinity", "-Infinity", "1e999", '"\\ud800"', "[" * 5000, "\x00", "{", "null", ""):
        body = json.dumps({"site": "north", "settings": {**SETTINGS, "fee": "HERE"}}).replace('"HERE"', text or "x")
        for content in (body, text):
            response = mia.send(
                "POST", "/sites", content=content.encode(), headers={"Content-Type": "application/json"}
            )
            assert response.status_code in (400, 422)
            assert response.headers["content-type"] == PROBLEM


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


def test_days_are_days(mia: Api) -> None:
    here = with_crew(mia)
    tomorrow = str(date(2026, 3, 4) + timedelta(days=1))
    problem = mia.post(f"{here}/output", {"rows": [{"date": tomorrow, "worker_id": "a", "units": 1}]}, 422)
    assert "future" in problem["errors"][0]["remedy"]
    for wrong in ("2024-1-1", "20240101", "2024-01-01T00:00:00", 1704067200, "2024-02-30", None):
        problem = mia.post(f"{here}/output", {"rows": [{"date": wrong, "worker_id": "a", "units": 1}]}, 422)
        assert problem["errors"][0]["field"].startswith("rows[0]")


WITHOUT_EXAMPLE = ("/api/v1/health", "/api/v1/health/live", "/api/v1/me")
"""Answers that are all constants or the caller's own."""


def test_every_request_and_answer_has_an_example_that_fits(mia: Api) -> None:
    known = {model.public_name(): model for model in descendants(Model)}
    for name, examples in EXAMPLES.items():
        for example in examples:
            known[name].model_validate(example)
    document = mia.contract.document
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert operation["operationId"].isalnum()
            assert operation["summary"]
            assert operation["description"]
            assert operation["tags"]
            contents = [operation.get("requestBody", {}).get("content", {})]
            contents += [
                response.get("content", {}) for status, response in operation["responses"].items() if status < "300"
            ]
            for content in contents:
                for kind, media in content.items():
                    if kind == "application/json" and path not in WITHOUT_EXAMPLE:
                        assert all(has_example(document, schema) for schema in alternatives(media["schema"])), (
                            method,
                            path,
                        )
                    elif kind == "text/csv" and method == "post":
                        assert media["example"]


def descendants(model: type[Model]) -> Iterator[type[Model]]:
    for child in model.__subclasses__():
        yield child
        yield from descendants(child)


def alternatives(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]


def has_example(document: dict[str, Any], schema: dict[str, Any]) -> bool:
    name = schema["$ref"].rpartition("/")[2]
    return bool(document["components"]["schemas"][name].get("examples"))
