"""Examples of sites, their settings and status, by model."""

from typing import Any

from crewlearn.advisor.ledger.settings.config import DEFAULT_LEAST_TENURE, DEFAULT_POLICY, default_most_a_week
from crewlearn.web.api.models.examples.advice import PROPOSAL, SENTENCE, WAITING
from crewlearn.web.api.models.examples.pages import page_of
from crewlearn.web.api.models.examples.people import WORKER

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
_LINE: dict[str, Any] = {
    "site": "north",
    "version": 97,
    "advice": SENTENCE,
    "period": 41,
    "date": "2027-01-11",
    "stations": 12,
    "filled": 12,
    "proposals": 1,
}
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
    "SiteLines": page_of(_LINE, {"site": "south", "fault": "has a stored state that cannot be read (…)"}),
    "SiteView": [{**_LINE, "settings": _ALL_SETTINGS, "newer_policy": None}],
    "SiteStatus": [
        {
            "site": "north",
            "period": 41,
            "date": "2027-01-11",
            "sentence": SENTENCE,
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
            "cycle": WAITING,
            "proposals": [{**PROPOSAL, "overdue": False}],
            "workers": [WORKER],
            "learned": {
                "ramp": {"mean": -0.3, "sd": 0.05},
                "ramp_days": 10,
                "unusual_days": [
                    {"period": 37, "date": "2027-01-05", "effect": -0.18, "low": -0.24, "high": -0.12},
                ],
            },
        }
    ],
}
