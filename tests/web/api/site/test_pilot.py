"""Pilots in the API: planned by a job, begun, followed and ended, once each, at one site or several."""

from typing import Any

from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from support.pilots import advised_stations, pilot_site, work_days
from support.web.api import Api, caller, finished

HERE = "/sites/hall/pilot"
WANTED: dict[str, Any] = {"days": 12, "run_in": 0, "baseline": 30}


def planned(mia: Api, **changes: Any) -> int:
    """Have a plan made by a job; return its number."""
    job = mia.post(f"{HERE}/plan", {**WANTED, **changes}, 202)
    finished(mia, job)
    return int(job["id"])


def test_a_pilot_from_plan_to_end(store: Store, mia: Api) -> None:
    pilot_site(store)
    mia.get(HERE, 404)
    mia.post(f"{HERE}/plan", {**WANTED, "days": 1}, 422)
    refused = mia.post(f"{HERE}/plan", {**WANTED, "days": 5, "waves": 9}, 422)
    assert refused["errors"][0]["field"] == "days"
    job = planned(mia, gain=5.0)
    result = mia.get(f"/jobs/{job}")["result"]
    assert result["detectable_gain"] == result["plan"]["promised_gain"] > 0.0
    key: dict[str, Any] = {"headers": {"Idempotency-Key": "begin"}}
    started = mia.post(HERE, {"job": job}, **key)
    assert started["digest"] == result["digest"]
    assert sorted(started["waves"]) == [0] * 7 + [1] * 7
    assert mia.post(HERE, {"job": job}, **key) == started, "begun once"
    mia.post(HERE, {"job": job}, 409)
    mia.post(f"{HERE}/look", None, 409)
    mia.post(f"{HERE}/end", {}, 409)
    answer = mia.send("GET", HERE)
    known = {"headers": {"If-None-Match": answer.headers["ETag"]}}
    assert mia.send("GET", HERE, **known).status_code == 304
    work_days(store, 12, dict.fromkeys(advised_stations(store), 10.0))
    mia.post(f"{HERE}/end", {}, 412, headers={"If-Match": answer.headers["ETag"]})
    assert mia.get(HERE)["state"] == "complete"
    key = {"headers": {"Idempotency-Key": "end"}}
    ended = mia.post(f"{HERE}/end", {}, **key)
    assert ended["result"]["low"] < 10.0 < ended["result"]["high"]
    assert mia.post(f"{HERE}/end", {}, **key) == ended, "analysed once"
    assert verify(store, "hall").sound


def test_a_planned_look_is_taken_once(store: Store, mia: Api) -> None:
    pilot_site(store)
    mia.post(HERE, {"job": planned(mia, looks=1)})
    work_days(store, 6, {})
    assert mia.get(HERE)["look_due"]
    key: dict[str, Any] = {"headers": {"Idempotency-Key": "look"}}
    looked = mia.post(f"{HERE}/look", None, **key)
    assert (looked["looks_taken"], looked["may_stop"], looked["result"]) == (1, False, None)
    assert mia.post(f"{HERE}/look", None, **key) == looked
    ended = mia.post(f"{HERE}/end", {"give_up": "the hall burnt down"})
    assert (ended["state"], ended["reason"]) == ("given-up", "the hall burnt down")


def test_a_pilot_over_sites_takes_a_manager_of_each(store: Store, mia: Api) -> None:
    names = ["hall", *(f"hall {number}" for number in range(2, 6))]
    for name in names:
        pilot_site(store, name)
    ann = caller(mia.client, "ann", "manager", ["hall"])
    several = {**WANTED, "days": 20, "waves": 5, "sites": names[1:]}
    ann.post(f"{HERE}/plan", several, 422)
    job = planned(mia, **several)
    ann.post(HERE, {"job": job}, 422)
    began = mia.post(HERE, {"job": job})
    assert mia.post(HERE, {"job": job}) == began, "what is begun everywhere is left alone"
    assert {mia.get(f"/sites/{name}/pilot")["digest"] for name in names} == {began["digest"]}
    ann.post(f"{HERE}/end", {"give_up": "no"}, 422)
    ended = mia.post("/sites/hall 3/pilot/end", {"give_up": "a strike"})
    assert ended["state"] == "given-up"
    assert all(mia.get(f"/sites/{name}/pilot")["state"] == "given-up" for name in names)
