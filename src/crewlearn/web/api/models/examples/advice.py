"""Examples of proposals, answers to them, and waiting, by model."""

from typing import Any

from crewlearn.web.api.models.examples.pages import page_of

_ANSWERED: list[dict[str, Any]] = [
    {"proposal": 7, "recorded": True, "refused": None, "warnings": []},
    {
        "proposal": 8,
        "recorded": False,
        "refused": "was answered before: ben approved it at 2027-01-11 06:04 UTC",
        "warnings": [],
    },
]
SENTENCE = "Proposed for 2027-01-11, period 41: replace Ann (0113) by Bo (0207)."
TREND = {"since": 12, "date": "2026-12-01", "change": -0.11, "difference": -8.8, "chance": 0.97}
_ESTIMATE: dict[str, Any] = {
    "days": 38,
    "prior": 0,
    "mean": 71.2,
    "low": 66.0,
    "high": 76.4,
    "after_ramp_up": True,
    "ramp_up": None,
    "trend": TREND,
}
PROPOSAL: dict[str, Any] = {
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
        "periods_left": 236.0,
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
WAITING: dict[str, Any] = {
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
    "sentence": SENTENCE,
    "kind": "propose",
    "proposals": [PROPOSAL],
    "waiting": WAITING,
    "held_back": 0,
    "changed": None,
}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "Proposal": [{**PROPOSAL, "candidates": [_CANDIDATE]}],
    "Proposals": page_of(PROPOSAL),
    "Explanation": [
        {
            **PROPOSAL,
            "explanation": [
                "Proposed: Bo (0207) in the place of Ann (0113) (7).",
                "Ann (0113), in the team now: 71.20 after ramp-up (95% between 66.00 and 76.40) after 38 days here; "
                "down 11% since 2026-12-01 (97% likely real).",
            ],
        }
    ],
    "Advice": [_ADVICE],
    "Approval": [{}, {"out": "0113"}, {"in": "0231"}],
    "FirstApproval": [{"by": "ben", "at": "2027-01-11T06:04:00.000+00:00", "out": "0113", "in": "0207"}],
    "Rejection": [
        {"reason": "late twice"},
        {"as": "keep", "until": "2027-03-01", "reason": "in training until March"},
        {"as": "not-candidate", "days": 30},
    ],
    "Offer": [{"outcome": "declined"}, {"outcome": "started", "on": "2027-01-14"}],
    "Answered": [{"proposal": {**PROPOSAL, "status": "approved"}, "warnings": [], "advice": _ADVICE}],
    "Answers": [
        {"proposals": [7, 8, 11], "answer": "approve"},
        {"proposals": [9, 10], "answer": "reject", "as": "not-now", "reason": "stocktaking"},
        {"proposals": [7, 8], "answer": "started", "on": "2027-01-15"},
    ],
    "AnsweredItem": [_ANSWERED[1]],
    "AnsweredMany": [{"items": _ANSWERED, "advice": _ADVICE}],
    "Undone": [{"taken_back": "mia approved proposal 7 (Bo (0207) for Ann (0113))", "advice": _ADVICE}],
}
