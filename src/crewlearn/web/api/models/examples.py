"""Examples of the OpenAPI document, by model: requests and answers about one small site."""

from typing import Any

from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.advisor.ledger.settings.config import DEFAULT_LEAST_TENURE, DEFAULT_POLICY, default_most_a_week
from crewlearn.web.api.models.examples_pilot import PILOT_EXAMPLES

_SETTINGS: dict[str, Any] = {
    "team": 12,
    "fee": 300.0,
    "units": {"low": 0.0, "high": 120.0, "value_per_unit": 0.8},
    "calendar": {"start": "2026-11-16"},
    "horizon": 250,
    "mean_delay": 4.0,
}
_ALL_SETTINGS: dict[str, Any] = {
    **_SETTINGS,
    "units": {**_SETTINGS["units"], "hours_per_period": None},
    "calendar": {
        "start": "2026-11-16",
        "weekdays": [0, 1, 2, 3, 4],
        "closures": [],
        "shifts_per_day": 1,
        "cutoff_hour": 0,
    },
    "rolling": False,
    "learn_delay": False,
    "fee_due": "initiation",
    "policy": DEFAULT_POLICY,
    "conventions": "as-written",
    "least_tenure": DEFAULT_LEAST_TENURE,
    "most_a_week": default_most_a_week(_SETTINGS["team"]),
    "ask_again_after": 10,
}
_ANSWERED: list[dict[str, Any]] = [
    {"proposal": 7, "recorded": True, "refused": None, "warnings": []},
    {
        "proposal": 8,
        "recorded": False,
        "refused": "was answered before: ben approved it at 2027-01-11 06:04 UTC",
        "warnings": [],
    },
]
_SENTENCE = "Proposed for 2027-01-11, period 41: replace Ann (0113) by Bo (0207)."
_LINE: dict[str, Any] = {
    "site": "north",
    "version": 97,
    "advice": _SENTENCE,
    "period": 41,
    "date": "2027-01-11",
    "stations": 12,
    "filled": 12,
    "proposals": 1,
}
_TREND = {"since": 12, "date": "2026-12-01", "change": -0.11, "difference": -8.8, "chance": 0.97}
_ESTIMATE: dict[str, Any] = {
    "days": 38,
    "prior": 0,
    "mean": 71.2,
    "low": 66.0,
    "high": 76.4,
    "after_ramp_up": True,
    "ramp_up": None,
    "trend": _TREND,
}
_IMPORT: dict[str, Any] = {
    "number": 12,
    "at": "2026-11-16T17:30:00.000+00:00",
    "actor": "mia",
    "rows": 24,
    "corrected": 0,
    "replaced": 0,
    "from": "2026-11-16",
    "to": "2026-11-16",
    "undone": None,
    "can_undo": True,
}
_PROPOSAL: dict[str, Any] = {
    "id": 7,
    "status": "proposed",
    "period": 41,
    "date": "2027-01-11",
    "out": "0113",
    "place": "worker",
    "in": "0207",
    "fee": 300.0,
    "reason": None,
    "why": {
        "out": _ESTIMATE,
        "into": {
            "days": 5,
            "prior": 0,
            "mean": 81.5,
            "low": 77.1,
            "high": 85.9,
            "after_ramp_up": True,
            "ramp_up": {"day": 5, "days": 10},
            "trend": None,
        },
        "settled_on_arrival": False,
        "chance_better": 0.99,
        "periods": 206.0,
        "mean_delay": 4.0,
        "gain": 1697.4,
        "fee": 300.0,
        "break_even": 1402.5,
        "optimistic_gain": None,
        "needed_gain": None,
        "trial_periods": 12.0,
        "trial_value": 1650.0,
    },
}
_CANDIDATE: dict[str, Any] = {
    "worker_id": "0231",
    "name": None,
    "unseen": True,
    "alike": 30,
    "value": 1104.2,
    "gain": 1204.0,
    "fee": 300.0,
    "chance_better": 0.81,
    "estimate": {"days": 0, "prior": 0, "mean": 77.0, "low": 55.0, "high": 99.0},
}
_WAITING: dict[str, Any] = {
    "awaited": [],
    "too_dear": [],
    "least_observed": "0214",
    "still_needed": 5,
    "look_again": 42,
}
_ADVICE: dict[str, Any] = {
    "site": "north",
    "period": 41,
    "date": "2027-01-11",
    "sentence": _SENTENCE,
    "kind": "propose",
    "proposals": [_PROPOSAL],
    "waiting": _WAITING,
    "held_back": 0,
    "changed": None,
}
_WORKER: dict[str, Any] = {
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
        "trend": _TREND,
        "notes": ["down 11% since 2026-12-01 (97% likely real)"],
    },
}
_REMARK: dict[str, Any] = {
    "text": "in training until March",
    "by": "mia",
    "at": "2027-01-11T06:30:00.000+00:00",
    "until": "2027-03-01",
}
_OUTPUT: dict[str, Any] = {
    **{column.name: None for column in OUTPUT.columns if column.listed},
    "date": "2026-11-16",
    "period": 1,
    "worker_id": "0113",
    "units": 84.0,
    "attendance": "worked",
    "event": 3,
}
_DONE: dict[str, Any] = {
    "recorded": 24,
    "known": 0,
    "corrected": 0,
    "skipped": 0,
    "enrolled": 0,
    "reading": [],
    "warnings": [],
}
_EVENT: dict[str, Any] = {
    "number": 98,
    "at": "2027-01-11T06:30:00.000+00:00",
    "actor": "mia",
    "rule_version": "3",
    "type": "proposal-approved",
    "payload": {"proposal": 7, "out": 2},
    "previous": "5f0c" * 16,
    "hash": "a91e" * 16,
}


def _spread(mean: float, low: float, high: float, worst: float, best: float) -> dict[str, float]:
    return {"mean": mean, "low": low, "high": high, "worst": worst, "best": best}


_JOB: dict[str, Any] = {
    "id": 3,
    "site": "north",
    "kind": "verify",
    "actor": "mia",
    "input": {},
    "status": "running",
    "progress": 0.25,
    "message": "320 of 1,280 events replayed",
    "result": None,
    "created": "2027-01-11T06:30:00.000+00:00",
    "started": "2027-01-11T06:30:00.500+00:00",
    "finished": None,
    "attempts": 1,
}
_PROSPECT: dict[str, Any] = {
    "output": _spread(343138.4, 342219.2, 344057.7, 339115.9, 346241.9),
    "fees": 0.0,
    "net": _spread(343138.4, 342219.2, 344057.7, 339115.9, 346241.9),
    "gain": _spread(0.0, 0.0, 0.0, 0.0, 0.0),
    "chance_better": 0.0,
    "chance_worse": 0.0,
    "replacements": 0.0,
}
_PLAN: dict[str, Any] = {
    "version": 41,
    "best": "keep-team",
    "headline": "Keeping the team is expected to earn most.",
    "own": DEFAULT_POLICY,
    "first_period": 41,
    "periods": 210,
    "team": 14,
    "fee": 250.0,
    "mean_delay": 4.0,
    "changes": {"team": 14, "fee": 250.0},
    "runs": 200,
    "seed": 1,
    "lead": None,
    "notes": ["2 replacements under way count as started."],
    "policies": {"keep-team": _PROSPECT},
}
_TOKEN: dict[str, Any] = {
    "id": 2,
    "label": "warehouse system",
    "created": "2027-01-11T06:30:00.000+00:00",
    "expires": "2027-04-11T06:30:00.000+00:00",
    "revoked": None,
}
_USER: dict[str, Any] = {
    "name": "mia",
    "role": "manager",
    "sites": ["north"],
    "disabled": False,
    "created": "2026-11-16T06:00:00.000+00:00",
    "tokens": [_TOKEN],
}


def _page(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"items": list(items), "next": None}]


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
_WEBHOOK: dict[str, Any] = {
    "id": 1,
    "url": "https://example.org/crewlearn",
    "kinds": ["advice.new", "import.failed"],
    "created": "2026-11-16T17:30:00.000+00:00",
    "created_by": "mia",
    "waiting": 2,
    "failed": 0,
    "failures": 3,
    "next_try": "2027-01-11T06:31:08.000+00:00",
    "both_until": None,
    "fault": "answered 503",
}
_DELIVERY: dict[str, Any] = {
    "id": "0b5f6e1c9a0f4a4e8d2b7c3e5f6a7b8c",
    "number": 118,
    "kind": "import.failed",
    "facts": {"source": "job", "job": 31, "reason": "errors", "errors": 12},
    "status": "waiting",
    "created": "2027-01-11T06:31:00.000+00:00",
    "attempts": 1,
    "outcome": "answered 503",
    "finished": None,
}
_DIGEST: dict[str, Any] = {"email": "ben@example.org", "chat_url": "", "time": "06:30", "sites": ["north"]}
_PROPOSED_SITE: dict[str, Any] = {
    "rows": 600,
    "people": 14,
    "days": 60,
    "first_day": "2026-08-24",
    "last_day": "2026-11-13",
    "reading": ["The header is in line 1.", "“Badge” is the worker's id.", "A day's output is the sum of “Units”."],
    "notes": [],
    "settings": {
        "team": {"value": 10, "why": "10 people on a usual day; 4 other people came and went."},
        "low": {"value": 0.0, "why": "Output is never below 0."},
        "high": {
            "value": 115.0,
            "why": "99 of 100 outputs are at most 103 (the sum of “Units”); a tenth is added for better days.",
        },
        "hours_per_period": {
            "value": None,
            "why": "Everybody works about 7.5 hours a day, so output counts by the day.",
        },
        "start": {"value": "2026-08-24", "why": "The first day with output."},
        "weekdays": {"value": [0, 1, 2, 3, 4], "why": "Output on most days from Mon to Fri."},
        "closures": {"value": [], "why": "There is output on every working day."},
        "shifts_per_day": {"value": 1, "why": "The file has 1 shift a day."},
        "cutoff_hour": {"value": 0, "why": "Days change at midnight."},
    },
    "asked": {
        "fee": "No file can tell this: the full cost of one replacement, with agency, induction and paperwork.",
        "value_per_unit": "No file can tell this: what one more unit brings, in the same currency as the cost.",
    },
    "first_advice": "Wait (2026-11-16, period 61): no replacement is worth its fee now.",
}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "NewSite": [{"site": "north", "settings": _SETTINGS}],
    "ProposedSite": [_PROPOSED_SITE],
    "SiteChanges": [{"fee": 250.0}, {"team": 14, "calendar": {"closures": ["2026-12-25"]}}],
    "SiteLines": _page(_LINE, {"site": "south", "fault": "has a stored state that cannot be read (…)"}),
    "SiteView": [{**_LINE, "settings": _ALL_SETTINGS, "newer_policy": None}],
    "Proposal": [{**_PROPOSAL, "candidates": [_CANDIDATE]}],
    "Proposals": _page(_PROPOSAL),
    "Explanation": [
        {
            **_PROPOSAL,
            "explanation": [
                "Proposed: Bo (0207) in the place of Ann (0113) (7).",
                "Ann (0113), in the team now: 71.20 after ramp-up (95% between 66.00 and 76.40) after 38 days here; "
                "down 11% since 2026-12-01 (97% likely real).",
            ],
        }
    ],
    "Advice": [_ADVICE],
    "SiteStatus": [
        {
            "site": "north",
            "period": 41,
            "date": "2027-01-11",
            "sentence": _SENTENCE,
            "stations": 12,
            "filled": 12,
            "earned": 29184.0,
            "fees": 600.0,
            "mean_delay": 4.0,
            "limits": [
                {"setting": "most_a_week", "span": "week", "money": False, "most": 2.0, "used": 1.0, "left": 1.0}
            ],
            "gain": {"expected": 2120.0, "low": 1310.0, "high": 2930.0},
            "track_record": {
                "replacements": 1,
                "ahead": 1,
                "better": 0,
                "as_predicted": 1,
                "worse": 0,
                "chance_paid": 0.99,
                "results": [
                    {
                        "proposal": 3,
                        "out": "0113",
                        "in": "0207",
                        "days": 21,
                        "gain": {"expected": 2120.0, "low": 1310.0, "high": 2930.0},
                        "chance_paid": 0.99,
                        "predicted": {"expected": 1900.0, "low": 400.0, "high": 3400.0},
                        "verdict": "as predicted",
                        "breaks_even": "2026-12-21",
                    }
                ],
            },
            "cycle": _WAITING,
            "proposals": [{**_PROPOSAL, "overdue": False}],
            "workers": [_WORKER],
            "learned": {
                "ramp": {"mean": -0.3, "sd": 0.05},
                "ramp_days": 10,
                "unusual_days": [
                    {"period": 37, "date": "2027-01-05", "effect": -0.18, "low": -0.24, "high": -0.12},
                ],
            },
        }
    ],
    "Approval": [{}, {"out": "0113"}, {"in": "0231"}],
    "Rejection": [
        {"reason": "late twice"},
        {"as": "keep", "until": "2027-03-01", "reason": "in training until March"},
        {"as": "not-candidate", "days": 30},
    ],
    "Offer": [{"outcome": "declined"}, {"outcome": "started", "on": "2027-01-14"}],
    "Answered": [{"proposal": {**_PROPOSAL, "status": "approved"}, "warnings": [], "advice": _ADVICE}],
    "Answers": [
        {"proposals": [7, 8, 11], "answer": "approve"},
        {"proposals": [9, 10], "answer": "reject", "as": "not-now", "reason": "stocktaking"},
        {"proposals": [7, 8], "answer": "started", "on": "2027-01-15"},
    ],
    "AnsweredItem": [_ANSWERED[1]],
    "AnsweredMany": [{"items": _ANSWERED, "advice": _ADVICE}],
    "Undone": [{"taken_back": "mia approved proposal 7 (Bo (0207) for Ann (0113))", "advice": _ADVICE}],
    "Workers": _page(_WORKER),
    "WorkerView": [
        {
            **_WORKER,
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
    "TeamChanged": [{**_TEAM, "recorded": 1, "advice": _SENTENCE}],
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
    "NewOutputs": [
        {
            "rows": [
                {"date": "2026-11-16", "worker_id": "0113", "units": 84},
                {"date": "2026-11-16", "worker_id": "0207", "attendance": "absent"},
            ]
        }
    ],
    "Outputs": _page(_OUTPUT),
    "Recorded": [{**_DONE, "advice": _SENTENCE}],
    "Checked": [
        {
            **_DONE,
            "recorded": 0,
            "sound": False,
            "columns": {"date": "Tag", "worker_id": "Badge no", "units": "Pieces"},
            "ignored": ["Remark"],
            "rows": 24,
            "errors": [{"line": 7, "column": "units", "value": "8o", "expected": "a number"}],
            "total_errors": 1,
            "causes": [
                {
                    "count": 1,
                    "sentence": "1 row has no readable number there",
                    "action": "correct the cells, or let the file be read as it is written: `yes`",
                    "examples": [{"line": 7, "column": "units", "value": "8o", "expected": "a number"}],
                }
            ],
        }
    ],
    "Profiles": [
        {
            "items": [
                {
                    "name": "labor report",
                    "reading": [
                        "“Emp ID” is the worker's id.",
                        "“Date” is the day.",
                        "A day's output is the sum of “Units”.",
                    ],
                    "plan": {
                        "columns": {"worker_id": "Emp ID", "date": "Date"},
                        "measure": {"kind": "sum", "of": "Units", "per": "", "scale": 1.0, "clock": 1.0},
                    },
                }
            ]
        }
    ],
    "Imports": _page(_IMPORT),
    "ImportTakenBack": [{"import": {**_IMPORT, "undone": 13, "can_undo": False}, "advice": _SENTENCE}],
    "Events": _page(_EVENT),
    "PlanRequest": [{}, {"runs": 200, "team": 14, "fee": 250.0}],
    **PILOT_EXAMPLES,
    "BacktestRequest": [{}, {"first": "2026-03-02", "runs": 200}],
    "Job": [
        _JOB,
        {**_JOB, "kind": "plan", "status": "done", "progress": 1.0, "message": "done", "result": _PLAN},
        {**_JOB, "status": "cancelled", "message": "cancelled by ben", "finished": "2027-01-11T06:31:00.000+00:00"},
    ],
    "Jobs": _page(_JOB),
    "User": [_USER],
    "Users": _page(_USER),
    "NewUser": [{"name": "mia", "role": "manager", "sites": ["north"]}],
    "NewToken": [{"days": 90, "label": "warehouse system"}],
    "ShownToken": [{**_TOKEN, "token": "crew_…"}],
    "UserChanges": [{"role": "manager"}, {"sites": None}, {"disabled": True}],
    "ShownLink": [{"path": "/sign-in/once?code=…"}],
    "Webhook": [_WEBHOOK],
    "Webhooks": _page(_WEBHOOK),
    "NewWebhook": [{"url": "https://example.org/crewlearn", "kinds": ["advice.new", "import.failed"]}],
    "ShownWebhook": [{**_WEBHOOK, "secret": "crewhook_…"}],
    "SecretRotation": [{}, {"hours": 0.0}],
    "ShownSecret": [{"secret": "crewhook_…"}],
    "Delivery": [_DELIVERY],
    "Deliveries": _page(_DELIVERY),
    "Digest": [_DIGEST, {}],
    "DigestChoice": [{**_DIGEST, "state": "confirmed", "fault": ""}],
}
