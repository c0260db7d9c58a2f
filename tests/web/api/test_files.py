"""Files, rows and jobs over the API, in process, on both databases."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.api.files import WORKBOOK
from crewlearn.web.jobs import work
from support.exports import SHAPES, Shape, path_of
from support.stores import CALENDAR, contents, fixed_clock, sound
from support.web.api import SETTINGS, Api, caller, finished, rows, served, with_crew


def test_a_file_is_checked_without_writing_and_then_taken_in(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    before = contents(store)
    text = "Tag;Badge no;Pieces;Remark\n01.01.2024;a;51,5;x\n01.01.2024;zz;50;\n06.01.2024;c;-;\n"
    maps = {"map": ["date=Tag", "units=Pieces"], "check_only": True}
    checked = mia.csv(f"{here}/output/csv", text, params=maps)
    assert checked["columns"] == {"date": "Tag", "worker_id": "Badge no", "units": "Pieces"}
    assert (checked["ignored"], checked["rows"], checked["sound"]) == (["Remark"], 3, False)
    assert [(error["line"], error["column"]) for error in checked["errors"]] == [(3, "worker_id"), (4, "units")]
    assert [cause["count"] for cause in checked["causes"]] == [1, 1]
    checked = mia.csv(f"{here}/output/csv", text.replace(";-;", ";4;"), params=maps)
    assert [(error["line"], error["column"], error["value"]) for error in checked["errors"]] == [
        (3, "worker_id", "zz"),
        (4, "date", "2024-01-06"),
    ]
    right = "Tag;Badge no;Pieces;Remark\n01.01.2024;a;51,5;x\n01.01.2024;c;50;\n"
    checked = mia.csv(f"{here}/output/csv", right, params=maps)
    assert (checked["sound"], checked["recorded"], checked["errors"]) == (True, 2, [])
    assert contents(store) == before
    problem = mia.csv(f"{here}/output/csv", text, 422, params={"map": ["date=Tag", "units=Pieces"]})
    assert [(error["line"], error["column"]) for error in problem["errors"]] == [(3, "worker_id"), (4, "units")]
    done = mia.csv(f"{here}/output/csv", right, params={"map": ["date=Tag", "units=Pieces"]})
    assert (done["recorded"], done["known"]) == (2, 0)
    assert mia.csv(f"{here}/output/csv", right, params={"map": ["date=Tag", "units=Pieces"]})["known"] == 2
    workers = "id;name\na;Anna\ng;Gil\n"
    tried = mia.csv(f"{here}/workers/csv", workers, params={"check_only": True})
    assert (tried["recorded"], tried["columns"]) == (2, {"worker_id": "id", "name": "name"})
    assert mia.get(f"{here}/workers/a")["name"] == "Person a"
    assert mia.csv(f"{here}/workers/csv", workers)["recorded"] == 2
    assert mia.get(f"{here}/workers/a")["name"] == "Anna", "a changed name is visible to readers"
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
    assert [row["units"] for row in mia.all(f"{here}/output")] == [60.0, 61.0]
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
    body = {"rows": [{"date": "2024-01-01", "worker_id": "c", "units": 1}, {"date": "2024-01-01", **row}]}
    error = mia.post(f"{here}/output", body, 422)["errors"][0]
    assert (error["line"], error["column"]) == (2, column)
    text = "date,worker_id,units,hours,attendance\n2024-01-01,c,1,,\n"
    text += ",".join(str({"date": "2024-01-01", **row}.get(name, "")) for name in text.split("\n")[0].split(",")) + "\n"
    error = mia.csv(f"{here}/output/csv", text, 422)["errors"][0]
    assert (error["line"], error["column"]) == (3, column)


def test_a_big_file_is_taken_in_by_a_job(mia: Api, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "BIG_LINES", 10)
    here = with_crew(mia)
    lines = [f"{CALENDAR.date_of(period)},{worker},{40 + period}" for period in range(1, 21) for worker in "ac"]
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


def test_plans_and_checks_are_jobs(client: TestClient, mia: Api) -> None:
    here = with_crew(mia)
    wanted = {"runs": 20, "policies": ["dr-ucb"], "team": 3}
    job = mia.post(f"{here}/plan", wanted, 202)
    planned = finished(mia, job)
    assert (planned["team"], planned["runs"], set(planned["policies"])) == (3, 20, {"dr-ucb", "keep-team"})
    assert mia.post(f"{here}/plan", wanted)["id"] == job["id"], "the same plan of an unchanged site is the same job"
    checked = finished(mia, mia.post(f"{here}/ledger/verification", None, 202))
    assert checked["sound"] is True
    mia.post(f"{here}/output", rows(1))
    assert mia.post(f"{here}/plan", wanted, 202)["id"] != job["id"]
    assert [job["kind"] for job in mia.all(f"{here}/jobs", limit=1)] == ["plan", "verify", "plan"]
    mia.post("/sites", {"site": "south", "settings": SETTINGS}, 201)
    other = caller(client, "olga", "admin", ["south"])
    other.get(f"/jobs/{job['id']}", 404)
    problem = mia.post(f"{here}/plan", {"policies": ["os:getcwd"]}, 422)
    assert problem["errors"][0]["field"] == "policies"


def test_damage_is_found_by_a_job(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    with store.engine.begin() as connection:
        connection.execute(schema.events.update().where(schema.events.c.number == 2).values(actor="nobody"))
    result = finished(mia, mia.post(f"{here}/ledger/verification", None, 202))
    assert result["sound"] is False
    assert result["faults"] == ["event 2 (workers-imported) was altered"]


@pytest.mark.parametrize("kind", ["output", "workers"])
def test_a_check_for_an_earlier_version_is_told_what_changed(mia: Api, kind: str) -> None:
    here = with_crew(mia)
    text = {"output": "period,worker_id,units\n1,a,50\n", "workers": "worker_id\nz\n"}[kind]
    stale = {"headers": {"If-Match": '"1"'}, "params": {"check_only": "true"}}
    problem = mia.csv(f"{here}/{kind}/csv", text, 412, **stale)
    assert problem["changed"]


def test_nobody_is_told_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when another writer keeps it busy, nor when all of a server's connections are in use."""
    monkeypatch.setattr("crewlearn.advisor.ledger.db.engine.LOCK_SECONDS", 0.2)
    with open_store(f"sqlite:///{tmp_path}/hidden.db", fixed_clock) as store, served(store) as client:
        mia = caller(client, "mia", "admin")
        here = with_crew(mia)
        with closing(sqlite3.connect(tmp_path / "hidden.db", isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            busy = mia.post(f"{here}/output", rows(1), 409)
            writer.execute("ROLLBACK")
        monkeypatch.setattr(store.engine.pool, "_timeout", 0.1)
        held = [store.engine.connect() for _ in range(15)]
        none_free = client.get(f"/api/v1{here}/advice", headers=mia.headers)
        for connection in held:
            connection.close()
        assert none_free.status_code == 503
        assert "hidden" not in f"{busy}{none_free.text}"
        mia.post(f"{here}/output", rows(1))


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.suffix == "xlsx" or shape.name == "two_areas"])
def test_an_export_is_refused_with_its_reading_accepted_with_yes_and_then_known(mia: Api, shape: Shape) -> None:
    low, high = shape.output_range
    settings = {**SETTINGS, "policy": "keep-team"}
    settings["units"] = {**settings["units"], "low": low, "high": high, "hours_per_period": shape.hours_per_period}
    settings["calendar"] = {**settings["calendar"], "start": "2026-01-05"}
    mia.post("/sites", {"site": "north", "settings": settings}, 201)
    kind = {"Content-Type": WORKBOOK if shape.suffix == "xlsx" else "text/csv"}

    def send(week: int, status: int = 200, **params: Any) -> Any:
        content = path_of(shape, week).read_bytes()
        return mia.call("POST", "/sites/north/output/csv", status, content=content, headers=kind, params=params)

    problem = send(0, 422)
    assert any("A day's output is" in sentence for sentence in problem["reading"])
    checked = send(0, check_only=True, yes=True)
    assert checked["sound"]
    assert mia.get("/sites/north/profiles") == {"items": []}
    done = send(0, yes=True)
    assert (done["recorded"], done["enrolled"]) == (checked["recorded"], checked["enrolled"])
    assert done["enrolled"] > 0
    assert send(1)["reading"] == ["Read by the profile “output”."]
    (profile,) = mia.get("/sites/north/profiles")["items"]
    assert profile["name"] == "output"
    assert any("A day's output is" in sentence for sentence in profile["reading"])
    mia.call("DELETE", "/sites/north/profiles/output", 204)
    mia.call("DELETE", "/sites/north/profiles/output", 404)
    assert send(0, 422)["reading"]
