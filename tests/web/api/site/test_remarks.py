"""Candidates, refusals, pins and blocks with an end, notes and budgets by the API."""

from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from support.stores import contents
from support.web.api import SETTINGS, Api, with_crew


def test_a_proposal_lists_the_next_best_and_one_of_them_comes_in(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/workers", {"workers": [{"worker_id": worker} for worker in "ghij"]})
    first, *others = mia.get(f"{here}/advice")["proposals"]
    free = sorted(set("ghij") - {proposal["in"] for proposal in (first, *others)})
    listed = first["candidates"]
    assert listed == mia.get(f"{here}/proposals/{first['id']}")["candidates"]
    assert [other["value"] for other in listed] == sorted((other["value"] for other in listed), reverse=True)
    (new,) = (other for other in listed if other["unseen"])
    assert (new["worker_id"], new["alike"]) == (free[0], len(free))
    known = next(other for other in listed if not other["unseen"])
    told = mia.get(f"{here}/proposals/{first['id']}/explanation")
    assert f"Next best: {known['name']} ({known['worker_id']}): expected net gain" in " ".join(told["explanation"])
    assert "candidates" not in mia.get(f"{here}/proposals")["items"][0], "lists have none"
    wanted = {"in": known["worker_id"]}
    done = mia.post(f"{here}/proposals/{first['id']}/approval", wanted)
    assert (done["proposal"]["in"], done["proposal"]["out"]) == (known["worker_id"], first["out"])
    before = contents(store)
    mia.post(f"{here}/proposals/{first['id']}/approval", wanted)
    assert contents(store) == before, "repeating one's own answer changes nothing"
    problem = mia.post(f"{here}/proposals/{first['id']}/approval", {"in": first["in"]}, 409)
    assert "approved it with another candidate" in problem["detail"]
    assert mia.post(f"{here}/undo")["advice"]["proposals"][0]["in"] == first["in"]
    assert verify(store, "north").sound


def test_a_rejection_says_what_it_is_about(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    first, *_ = mia.get(f"{here}/advice")["proposals"]
    path = f"{here}/proposals/{first['id']}/rejection"
    keep = {"as": "keep", "until": "2024-03-01", "reason": "trains the others"}
    assert mia.post(path, keep)["proposal"]["status"] == "rejected"
    before = contents(store)
    mia.post(path, keep)
    assert contents(store) == before
    assert "(keep the person)" in mia.post(path, {**keep, "until": "2024-04-01"}, 409)["detail"]
    kept, other = (mia.get(f"{here}/workers/{first[side]}") for side in ("out", "in"))
    assert kept["pinned"]
    assert kept["protection"] == {
        "text": "trains the others",
        "by": "mia",
        "at": "2026-03-04T05:06:07.089+00:00",
        "until": "2024-03-01",
    }
    assert (other["block"], other["not_before"]) == (None, None)
    mia.post(f"{here}/undo")
    mia.post(path, {"as": "not-candidate", "days": 10})
    kept, other = (mia.get(f"{here}/workers/{first[side]}") for side in ("out", "in"))
    assert (kept["pinned"], kept["protection"]) == (False, None)
    assert other["not_before"] == other["block"]["until"] == "2024-01-11"
    mia.post(f"{here}/undo")
    mia.post(path, {"as": "not-now"})
    following = mia.get(f"{here}/advice")["proposals"]
    assert (first["out"], first["in"]) not in [(proposal["out"], proposal["in"]) for proposal in following]
    path = f"{here}/proposals/{following[0]['id']}/rejection"
    for wrong, field in (
        ({"until": "2024-03-01"}, "until"),
        ({"as": "not-now", "days": 3}, "until"),
        ({"as": "keep", "until": "2023-03-01"}, "until"),
        ({"as": "keep", "until": "2025-03-01", "for_good": True}, "until"),
        ({"as": "keep", "keep_out": True}, "keep_out"),
        ({"as": "never"}, "as"),
        ({"as": "keep", "days": 0}, "days"),
    ):
        assert mia.post(path, wrong, 422)["errors"][0]["field"] == field, wrong
    assert verify(store, "north").sound


def test_pins_blocks_and_notes_have_an_end_a_reason_and_an_author(mia: Api) -> None:
    here = with_crew(mia)
    changes = {"pinned": True, "status": "blocked", "until": "2024-02-01", "reason": "why"}
    worker = mia.call("PATCH", f"{here}/workers/a", 200, json=changes)
    assert worker["pinned"]
    assert worker["status"] == "pool", "which has no end"
    assert [worker[name]["until"] for name in ("protection", "block")] == ["2024-02-01"] * 2
    worker = mia.post(f"{here}/notes", {"worker_id": "a", "text": "speaks Polish", "days": 5})
    assert [(note["text"], note["by"], note["until"]) for note in worker["notes"]] == [
        ("speaks Polish", "mia", "2024-01-06")
    ]
    worker = mia.call("PATCH", f"{here}/workers/a", 200, json={"pinned": False, "status": "pool"})
    assert (worker["pinned"], worker["protection"], worker["block"]) == (False, None, None)
    problem = mia.call("PATCH", f"{here}/workers/a", 422, json={"fee": 3.0, "reason": "why"})
    assert problem["errors"][0]["field"] == "reason"
    assert mia.post(f"{here}/notes", {"worker_id": "nobody", "text": "x"}, 422)
    assert mia.post(f"{here}/notes", {"worker_id": "a", "text": " "}, 422)["errors"][0]["field"] == "note"


def test_budgets_are_settings_and_their_use_is_told(mia: Api) -> None:
    mia.post("/sites", {"site": "north", "settings": {**SETTINGS, "budget_a_month": 7.5}}, 201)
    assert mia.get("/sites/north")["settings"]["budget_a_month"] == 7.5
    assert "most_a_month" not in mia.get("/sites/north")["settings"]
    (limit,) = mia.get("/sites/north/status")["limits"]
    assert (limit["setting"], limit["most"], limit["used"], limit["left"]) == ("budget_a_month", 7.5, 0.0, 7.5)
    changed = mia.call(
        "PATCH", "/sites/north", 200, json={"budget_a_month": None, "most_a_month": 2}, headers={"If-Match": "*"}
    )
    assert "budget_a_month" not in changed["settings"]
    assert changed["settings"]["most_a_month"] == 2
