"""Imports of output through the API: listed with their numbers, and taken back."""

from typing import Any

from crewlearn.advisor.ledger.store import Store
from support.stores import CALENDAR, contents, sound
from support.web.api import Api, caller, rows, served, with_crew


def test_imports_are_listed_and_taken_back(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/output", rows(1))
    mia.post(f"{here}/output", rows(2))
    listed = mia.all(f"{here}/output/imports", limit=1)
    assert [imported["from"] for imported in listed] == [str(CALENDAR.date_of(period)) for period in (1, 2)]
    assert mia.all(f"{here}/output/imports", limit=1, newest=True) == listed[::-1]
    first, second = (imported["number"] for imported in listed)
    done = mia.post(f"{here}/output/imports/{second}/undo")
    assert done["import"]["undone"] > second
    assert done["advice"].startswith("Proposed for 2024-01-02")
    assert [imported["can_undo"] for imported in mia.all(f"{here}/output/imports")] == [True, False]
    assert mia.post(f"{here}/output/imports/{second}/undo") == done, "repeating it changes nothing"
    assert len(mia.get(f"{here}/output")["items"]) == 2
    number = mia.get(f"{here}/advice")["proposals"][0]["id"]
    mia.post(f"{here}/proposals/{number}/approval")
    refused = mia.post(f"{here}/output/imports/{first}/undo", None, 409)
    assert "a proposal was answered since" in refused["detail"]
    mia.post(f"{here}/output/imports/{first + 1}/undo", None, 404)
    sound(store, "north")


def test_an_undo_for_a_stale_version_is_refused(store: Store) -> None:
    with served(store) as client:
        mia = caller(client, "mia", "admin")
        here = with_crew(mia)
        tag = mia.send("GET", here).headers["ETag"]
        mia.post(f"{here}/output", rows(1))
        number = mia.all(f"{here}/output/imports")[0]["number"]
        mia.post(f"{here}/output/imports/{number}/undo", None, 412, headers={"If-Match": tag})
        current = mia.send("GET", here).headers["ETag"]
        mia.post(f"{here}/output/imports/{number}/undo", None, headers={"If-Match": current})


def crew_day(period: int, **units: float) -> dict[str, Any]:
    """A day of six people, who make about 60."""
    made = {worker: 60.0 + place + (period * (place + 3)) % 5 for place, worker in enumerate("abcdef")} | units
    when = str(CALENDAR.date_of(period))
    return {"rows": [{"date": when, "worker_id": worker, "units": value} for worker, value in made.items()]}


def test_unusual_output_is_a_conflict_that_lists_it_until_it_is_accepted(store: Store, mia: Api) -> None:
    here = with_crew(mia)
    for period in range(1, 11):
        mia.post(f"{here}/output", crew_day(period))
    before, body = contents(store), crew_day(11, b=6.0)
    problem = mia.post(f"{here}/output", body, 409)
    assert "accept_unusual" in problem["errors"][0]["remedy"]
    assert [(error["line"], error["column"], error["value"]) for error in problem["errors"][1:]] == [
        (2, "units", "2024-01-15, b: 6")
    ]
    text = "\n".join(f"{row['date']},{row['worker_id']},{row['units']}" for row in body["rows"])
    text = f"date,worker_id,units\n{text}\n"
    assert mia.csv(f"{here}/output/csv", text, 409)["errors"][1]["line"] == 3
    checked = mia.csv(f"{here}/output/csv?check_only=true", text)
    assert (checked["sound"], checked["errors"][0]["line"]) == (False, 3)
    checked = mia.csv(f"{here}/output/csv?check_only=true&accept_unusual=true", text)
    assert (checked["sound"], checked["unusual"][0]["worker_id"]) == (True, "b")
    assert contents(store) == before
    done = mia.csv(f"{here}/output/csv?accept_unusual=true", text)
    assert (done["recorded"], done["unusual"][0]["value"]) == (6, "6")
    assert "unusual" not in mia.post(f"{here}/output", crew_day(12))
    sound(store, "north")
