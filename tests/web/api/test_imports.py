"""Imports of output through the API: listed with their numbers, and taken back."""

from crewlearn.advisor.ledger.store import Store
from support.stores import CALENDAR, sound
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
