"""Examples of jobs, plans and backtests, by model."""

from typing import Any

from crewlearn.advisor.ledger.settings.config import DEFAULT_POLICY
from crewlearn.web.api.models.examples.pages import page_of


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

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "PlanRequest": [{}, {"runs": 200, "team": 14, "fee": 250.0}],
    "BacktestRequest": [{}, {"first": "2026-03-02", "runs": 200}],
    "Job": [
        _JOB,
        {**_JOB, "kind": "plan", "status": "done", "progress": 1.0, "message": "done", "result": _PLAN},
        {**_JOB, "status": "cancelled", "message": "cancelled by ben", "finished": "2027-01-11T06:31:00.000+00:00"},
    ],
    "Jobs": page_of(_JOB),
}
