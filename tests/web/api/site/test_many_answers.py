"""One answer for many proposals, by the API."""

from typing import Any

from crewlearn.advisor.ledger.store import Store
from support.stores import contents, sound
from support.web.api import Api, caller, with_crew


def two_of(mia: Api) -> tuple[str, int, int]:
    here = with_crew(mia)
    first, second = (proposal["id"] for proposal in mia.get(f"{here}/advice")["proposals"])
    return here, first, second


def test_the_second_is_told_and_nothing_is_recorded_twice(store: Store, mia: Api) -> None:
    here, first, second = two_of(mia)
    ben = caller(mia.client, "ben", "manager")
    ben.post(f"{here}/proposals/{first}/approval", {})
    body = {"proposals": [first, second, 99], "answer": "reject", "as": "not-now", "reason": "stocktaking"}
    headers = {"Idempotency-Key": "one"}
    done = mia.post(f"{here}/answers", body, headers=headers)
    told = {item["proposal"]: item["refused"] for item in done["items"]}
    assert told[second] is None
    assert told[first].startswith("was answered before: ben approved it at")
    assert "does not exist" in told[99]
    assert [item["recorded"] for item in done["items"]] == [False, True, False]
    before = contents(store)
    again = mia.post(f"{here}/answers", body, headers=headers)
    assert [item["recorded"] for item in again["items"]] == [False, True, False]
    mia.post(f"{here}/answers", {**body, "reason": "else"}, 422, headers=headers)
    assert contents(store) == before
    sound(store, "north")


def test_if_match_and_all_or_none_record_all_or_nothing(store: Store, mia: Api) -> None:
    here, first, second = two_of(mia)
    tag = mia.send("GET", here).headers["ETag"]
    ben = caller(mia.client, "ben", "manager")
    ben.post(f"{here}/proposals/{second}/approval", {})
    before = contents(store)
    approve: dict[str, Any] = {"proposals": [first, second], "answer": "approve"}
    assert "look at what changed" in mia.post(f"{here}/answers", approve, 412, headers={"If-Match": tag})["detail"]
    refused = mia.post(f"{here}/answers", {**approve, "all_or_none": True}, 409)
    assert "ben approved it" in refused["detail"]
    assert contents(store) == before
    mia.post(f"{here}/answers", approve)
    offered = mia.post(f"{here}/answers", {"proposals": [first, second], "answer": "started"})
    assert all(item["recorded"] for item in offered["items"])
    assert "gave 2 answers together" in mia.post(f"{here}/undo")["taken_back"]
    assert mia.get(f"{here}/proposals/{first}")["status"] == "approved"
    assert mia.all(f"{here}/ledger/events")[-1]["payload"]["since"] > 0
    sound(store, "north")


def test_parts_that_do_not_belong_together_are_refused(mia: Api) -> None:
    here, first, _ = two_of(mia)
    for body in (
        {"answer": "reject", "reason": "no"},
        {"answer": "approve", "as": "keep"},
        {"answer": "approve", "reason": "yes"},
        {"answer": "reject", "as": "keep", "on": "2024-01-01"},
        {"answer": "reject", "as": "not-now", "days": 3},
        {"answer": "answered"},
    ):
        mia.post(f"{here}/answers", {"proposals": [first], **body}, 422)
    mia.post(f"{here}/answers", {"proposals": [], "answer": "approve"}, 422)
    assert mia.get(f"{here}/proposals/{first}")["status"] == "proposed"


def test_two_users_approve_where_the_site_asks_for_it(store: Store, mia: Api) -> None:
    here, first, second = two_of(mia)
    mia.call("PATCH", here, 200, json={"second_approver": True}, headers={"If-Match": "*"})
    assert mia.get(here)["settings"]["second_approver"] is True
    answered = mia.post(f"{here}/proposals/{first}/approval", {})["proposal"]
    assert (answered["status"], answered["first_approval"]["by"]) == ("proposed", "mia")
    refused = mia.post(f"{here}/proposals/{first}/approval", {}, 409)
    assert "a different user approves it second" in refused["detail"]
    ben, body = caller(mia.client, "ben", "manager"), {"proposals": [first, second], "answer": "approve"}
    headers = {"Idempotency-Key": "one"}
    done = ben.post(f"{here}/answers", body, headers=headers)
    assert [item.get("waits_for_second", False) for item in done["items"]] == [False, True]
    before = contents(store)
    again = ben.post(f"{here}/answers", body, headers=headers)
    assert [item["recorded"] for item in again["items"]] == [True, True]
    assert contents(store) == before
    approved = mia.get(f"{here}/proposals/{first}")
    assert approved["status"] == "approved"
    assert "first_approval" not in approved
    mia.call("PATCH", here, 200, json={"second_approver": False}, headers={"If-Match": "*"})
    assert "second_approver" not in mia.get(here)["settings"]
    sound(store, "north")
