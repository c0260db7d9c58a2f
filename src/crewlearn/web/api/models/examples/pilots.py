"""Examples of pilots, by model."""

from typing import Any

_PLAN: dict[str, Any] = {
    "groups": [
        {"name": "station 1", "site": "north", "stations": [0]},
        {"name": "station 2", "site": "north", "stations": [1]},
    ],
    "baseline": "2027-01-11",
    "steps": ["2027-03-08"],
    "last": "2027-05-28",
    "run_in": 14,
    "measure": "net",
    "outside_fee": 300.0,
    "carried": 0.61,
    "alpha": 0.05,
    "looks": [],
    "promised_gain": 11.4,
    "promised_power": 0.8,
}
_PILOT: dict[str, Any] = {
    "state": "running",
    "digest": "7c41" * 16,
    "seed": "a91e" * 16,
    "plan": _PLAN,
    "waves": [1, 0],
    "started_at": "2027-03-05T06:30:00.000+00:00",
    "started_by": "mia",
    "recorded_days": 24,
    "recorded_through": "2027-04-08",
    "came_by_advice": 2,
    "departures": 0,
    "looks_taken": 0,
    "look_due": False,
    "may_stop": False,
    "result": None,
    "reason": "",
}
_RESULT: dict[str, Any] = {
    "gain": 9.8,
    "low": 4.1,
    "high": 15.6,
    "error": 2.9,
    "p": 0.004,
    "level": 0.05,
    "assignments": 924,
    "detected": True,
    "measure": "net",
    "through": "2027-05-28",
    "groups": 12,
    "stations": 12,
    "recorded_days": 60,
    "came_by_advice": 5,
    "departures": 0,
    "second": {"measure": "output", "gain": 17.2, "low": 11.0, "high": 23.1, "p": 0.002},
}
_ENDED: dict[str, Any] = {
    **_PILOT,
    "state": "ended",
    "recorded_days": 60,
    "recorded_through": "2027-05-28",
    "result": _RESULT,
}
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "PilotPlanRequest": [{}, {"days": 60, "gain": 12.0, "looks": 1}, {"sites": ["south", "west"], "waves": 3}],
    "NewPilot": [{"job": 3}],
    "PilotEndRequest": [{}, {"give_up": "the hall burnt down"}],
    "PilotView": [_PILOT, _ENDED],
}
