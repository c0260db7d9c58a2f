"""Examples of workers and the team, by model."""

from typing import Any

from crewlearn.web.api.models.examples.advice import SENTENCE, TREND
from crewlearn.web.api.models.examples.pages import page_of

WORKER: dict[str, Any] = {
    "worker_id": "0113",
    "name": "Ann",
    "station": 3,
    "status": "pool",
    "days": 38,
    "estimate": 71.2,
    "low": 66.0,
    "high": 76.4,
    "note": "to be replaced by Bo (0207)",
    "learned": {
        "level": {"mean": 71.2, "low": 66.0, "high": 76.4},
        "output_now": 71.2,
        "ramp_up": None,
        "trend": TREND,
        "notes": ["down 11% since 2026-12-01 (97% likely real)"],
    },
}
_REMARK: dict[str, Any] = {
    "text": "in training until March",
    "by": "mia",
    "at": "2027-01-11T06:30:00.000+00:00",
    "until": "2027-03-01",
}
_TEAM = {
    "site": "north",
    "stations": [
        {"station": 1, "worker_id": "0207", "name": "Bo", "since": "2026-11-16"},
        {"station": 2, "worker_id": None, "name": None, "since": None},
    ],
    "stints": [
        {"station": 1, "worker_id": "0113", "name": "Ann", "from": "2026-03-02", "until": "2026-11-15"},
        {"station": 1, "worker_id": "0207", "name": "Bo", "from": "2026-11-16", "until": None},
    ],
}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "Workers": page_of(WORKER),
    "WorkerView": [
        {
            **WORKER,
            "pinned": True,
            "protection": _REMARK,
            "block": None,
            "notes": [{**_REMARK, "text": "speaks Polish", "until": None}],
            "fee": None,
            "prior_n": 0,
            "prior_mean": None,
            "interview": None,
            "since": "2026-11-16",
            "not_before": None,
            "recorded_to": "2027-01-08",
        }
    ],
    "NewWorkers": [
        {
            "workers": [
                {"worker_id": "0113", "name": "Ann", "active": True},
                {"worker_id": "0207", "name": "Bo", "prior_n": 20, "prior_mean": 81.5},
            ]
        }
    ],
    "TeamView": [_TEAM],
    "TeamChanged": [{**_TEAM, "recorded": 1, "advice": SENTENCE}],
    "NewTeam": [{"members": ["0113", "0207"], "on": "2026-11-16"}],
    "Arrival": [{"worker_id": "0207", "station": 1, "on": "2026-11-16"}, {"worker_id": "0207"}],
    "Departure": [{"worker_id": "0113", "on": "2026-11-16"}],
    "NewStints": [{"stints": [{"worker_id": "0113", "station": 1, "from": "2026-03-02", "until": "2026-11-13"}]}],
    "WorkerChanges": [
        {"status": "left"},
        {"pinned": True, "until": "2027-03-01", "reason": "in training until March"},
        {"fee": None},
    ],
    "NewNote": [
        {"worker_id": "0113", "text": "speaks Polish"},
        {"worker_id": "0113", "text": "on the evening course", "until": "2027-03-01"},
    ],
}
