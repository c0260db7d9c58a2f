"""What the API and the pages say of people who ramp up and tire, and of unusual days."""

import re
from typing import Any

import pytest

from crewlearn.advisor.ledger.store import Store
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.web.snapshots import snapshot
from support.floor_site import BAD_DAY, DAYS, DECLINER, TIRES, TIRES_FROM, floor_site
from support.web.api import caller, served
from support.web.pages import browser, pages_store

store = pages_store


@pytest.fixture
def hall(store: Store) -> Store:
    floor_site(store)
    return store


def newest(store: Store) -> int:
    site = snapshot(store, "hall").site
    return max(site.roster.active, key=lambda worker: site.workers[worker].since)


def test_the_api_tells_what_was_learned(hall: Store) -> None:
    with served(hall, jobs=False) as client:
        api = caller(client, "ann", "viewer")
        status = api.get("/sites/hall/status")
        assert [day["period"] for day in status["learned"]["unusual_days"]] == [BAD_DAY]
        assert status["learned"]["unusual_days"][0]["effect"] < -0.25
        assert status["learned"]["ramp"]["mean"] < -0.2
        assert api.get("/sites/hall")["newer_policy"] is None
        workers = {worker["worker_id"]: worker for worker in api.all("/sites/hall/workers")}
        assert workers == {worker["worker_id"]: worker for worker in status["workers"]}
        trend = workers[f"W{DECLINER}"]["learned"]["trend"]
        assert trend["change"] < -0.2
        assert trend["chance"] > 0.99
        person = api.get(f"/sites/hall/workers/W{newest(hall)}")["learned"]
        assert person["ramp_up"]["day"] == 4
        assert person["notes"] == [f"day 4 of about {person['ramp_up']['days']} of ramp-up"]
        assert person["output_now"] < person["level"]["mean"]
        assert api.get("/sites/hall/advice")["waiting"]["least_observed"] == f"W{newest(hall)}"
        proposals = [proposal for proposal in status["proposals"] if proposal["out"] == f"W{DECLINER}"]
        assert proposals[0]["why"]["out"]["trend"]["since"] == trend["since"]


def expected_on(page: str) -> list[float]:
    """Return the output expected on each day of a worker's chart, by its table, the oldest first."""
    table = page.partition('id="learning-table"')[2].partition("</table>")[0]
    return [
        float(cells[-1])
        for cells in (re.findall(r'class="number">([\d.]+)', row) for row in table.split("<tr"))
        if cells
    ][::-1]


def test_a_workers_chart_shows_ramp_trend_and_unusual_days(hall: Store) -> None:
    user, site = browser(hall), snapshot(hall, "hall").site
    page = user.get(f"/sites/hall/workers/{DECLINER}")
    expected = expected_on(page)
    assert len(expected) == DAYS
    share = 1.0 - TIRES * (DAYS - TIRES_FROM)  # what is left of their level, by the floor that made the output
    assert abs(expected[-1] / expected[0] - share) < 0.08
    assert expected[TIRES_FROM // 2] > expected[-1]
    assert "Down " in page
    assert re.search(r'class="marked"[^>]*><title>[^<]*unusual for everybody', page)
    page = user.get(f"/sites/hall/workers/{newest(hall)}")
    early = expected_on(page)
    assert early == sorted(early), "a newcomer gets better by the day"
    level = snapshot(hall, "hall").members
    now = next(member.learned for member in level if member.number == newest(hall))
    assert now is not None
    assert abs(early[-1] - now.output) < 0.1
    assert "Day 4 of about" in page
    steady = next(number for number in site.roster.active if number not in (DECLINER, newest(hall)))
    assert "expected with ramp-up and trend" not in user.get(f"/sites/hall/workers/{steady}")


def test_the_pages_tell_what_was_learned(hall: Store) -> None:
    user, number = browser(hall), newest(hall)
    today = user.get("/sites/hall")
    assert "Level after ramp-up (units a period" in today
    assert "Level, 95%" in today
    assert re.search(r'<span class="chip">day 4 of about \d+ of ramp-up</span>', today)
    assert re.search(r'<span class="chip">down \d\d% since \w{3} \d+ \w{3} \(over 99% likely real\)</span>', today)
    assert re.search(rf"W{number} is on day 4; judged after about day \d+\.", today)
    assert re.search(r"was unusual for everybody: \d\d% below an ordinary day\.", today)
    assert re.search(r"Newcomers start about \d\d% below their level and reach it in about \d+ days\.", today)
    worker = user.get(f"/sites/hall/workers/{number}")
    assert '<h2 id="estimate">Level after ramp-up</h2>' in worker
    assert "Expected now, in ramp-up" in worker
    assert re.search(r'<li class="chip">day 4 of about \d+ of ramp-up</li>', worker)
    decliner = user.get(f"/sites/hall/workers/{DECLINER}")
    assert "likely real" in decliner
    assert "Expected now" not in decliner
    assert "unusual for everybody" in decliner
    history = user.get("/sites/hall/history")
    assert re.search(
        r"Unusual for everybody</p>\n<ul[^>]*><li>\w{3} \d+ \w{3}: \d\d% below an ordinary day</li>", history
    )
    assert history.count(", unusual for everybody</th>") == 1
    assert "newer-policy" not in user.get("/sites/hall/settings")


def test_other_sites_show_what_they_showed(store: Store) -> None:
    floor_site(store, policy="value-of-replacement", least_tenure=0, most_a_week=None)
    user = browser(store)
    for page in ("", "/workers/6", "/history"):
        text = user.get(f"/sites/hall{page}")
        assert "ramp-up" not in text
        assert "unusual for everybody" not in text.lower()
    assert 'id="newer-policy">A newer policy, value-of-replacement-evolving, learns' in user.get("/sites/hall/settings")
    with served(store, jobs=False) as client:
        api = caller(client, "ann", "viewer")
        status, site = api.get("/sites/hall/status"), api.get("/sites/hall")
    assert site["newer_policy"] == "value-of-replacement-evolving"
    assert "learned" not in status
    assert not any("learned" in worker for worker in status["workers"])


def test_readings_are_made_once_a_version_and_nothing_is_learned_again(
    hall: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"readings": 0, "observe": 0}
    readings, observe = ValueOfReplacementEvolving.readings, ValueOfReplacementEvolving.observe

    def counted_readings(self: Any, *arguments: Any) -> Any:
        calls["readings"] += 1
        return readings(self, *arguments)

    def counted_observe(self: Any, *arguments: Any) -> Any:
        calls["observe"] += 1
        return observe(self, *arguments)

    monkeypatch.setattr(ValueOfReplacementEvolving, "readings", counted_readings)
    monkeypatch.setattr(ValueOfReplacementEvolving, "observe", counted_observe)
    user = browser(hall)
    for page in ("", "/workers/7", "/history", "/settings", "/record"):
        user.get(f"/sites/hall{page}")
    with served(hall, jobs=False) as client:
        api = caller(client, "ann", "viewer")
        for path in ("/status", "/workers", "/workers/W7", "/advice"):
            api.get(f"/sites/hall{path}")
    assert calls == {"readings": 1, "observe": 0}
