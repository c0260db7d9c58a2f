"""The team over the API: read it, change it on any day, and from a file."""

from support.web.api import Api, rows, with_crew


def test_the_team_is_changed_on_any_day(mia: Api) -> None:
    here = with_crew(mia)
    for period in (1, 2, 3):
        mia.post(f"{here}/output", rows(period))
    before = mia.get(f"{here}/team")
    assert [place["worker_id"] for place in before["stations"]] == ["a", "c"]
    done = mia.post(f"{here}/team/arrivals", {"worker_id": "b", "station": 1, "on": "2024-01-02"})
    assert done["recorded"] == 1
    assert [(stint["worker_id"], stint["from"], stint["until"]) for stint in done["stints"][:2]] == [
        ("a", "2024-01-01", "2024-01-01"),
        ("b", "2024-01-02", None),
    ]
    again = mia.post(f"{here}/team/arrivals", {"worker_id": "b", "station": 1, "on": "2024-01-02"})
    assert again["recorded"] == 0
    left = mia.post(f"{here}/team/departures", {"worker_id": "c"})
    assert left["stations"][1] == {"station": 2, "worker_id": None, "name": None, "since": None}
    stint = {"worker_id": "e", "station": 2, "from": "2023-12-23", "until": "2023-12-29"}
    mia.post(f"{here}/team/stints", {"stints": [stint]})
    mia.csv(f"{here}/team/csv", "worker_id,from,station\nf,2024-01-04,2\n")
    named = mia.post(f"{here}/team", {"members": ["b", "d"]})
    assert [place["worker_id"] for place in named["stations"]] == ["b", "d"]
    assert mia.get(f"{here}/team")["stints"][2]["from"] == "2023-12-23"
    mia.post(f"{here}/team/departures", {"worker_id": "a"}, 409)
    mia.post(f"{here}/team/arrivals", {"worker_id": "nobody"}, 422)


def test_history_and_overtime_come_with_their_dates(mia: Api) -> None:
    here = with_crew(mia)
    sent = [{"date": day, "worker_id": "a", "units": 40} for day in ("2023-11-18", "2023-11-20", "2024-01-06")]
    done = mia.post(f"{here}/output", {"rows": sent})
    assert (done["recorded"], len(done["warnings"])) == (3, 2)
    listed = mia.all(f"{here}/output", limit=1)
    assert sorted(item["date"] for item in listed) == ["2023-11-18", "2023-11-20", "2024-01-06"]
    early = mia.all(f"{here}/output", limit=2, **{"to": "2023-12-31"})
    assert [item["date"] for item in early] == ["2023-11-18", "2023-11-20"]
