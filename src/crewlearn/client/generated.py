# ruff: noqa: E501, UP013
# Descriptions are as long as the API's own, and fields such as "in" can only be written as keys.
"""Written by `make client` from the API's own description: do not edit."""

from typing import Any, Literal, NotRequired, Required, TypedDict

from crewlearn.client.transport import Transport

Advice = TypedDict(
    "Advice",
    {
        "site": "Required[str]",
        "period": "Required[int]",
        "date": "Required[str]",
        "sentence": "Required[str]",
        "kind": "Required[Literal['propose', 'wait']]",
        "proposals": "Required[list[Proposal]]",
        "waiting": "Required[Waiting]",
        "held_back": "Required[int]",
        "changed": "Required[str | None]",
    },
)

Alive = TypedDict(
    "Alive",
    {
        "status": "NotRequired[Literal['ok']]",
    },
)

Answered = TypedDict(
    "Answered",
    {
        "proposal": "Required[Proposal]",
        "warnings": "Required[list[str]]",
        "advice": "Required[Advice]",
    },
)

AnsweredItem = TypedDict(
    "AnsweredItem",
    {
        "proposal": "Required[int]",
        "recorded": "Required[bool]",
        "refused": "Required[str | None]",
        "warnings": "Required[list[str]]",
        "waits_for_second": "NotRequired[bool]",
    },
)

AnsweredMany = TypedDict(
    "AnsweredMany",
    {
        "items": "Required[list[AnsweredItem]]",
        "advice": "Required[Advice]",
    },
)

Answers = TypedDict(
    "Answers",
    {
        "proposals": "Required[list[int]]",
        "answer": "Required[Literal['approve', 'reject'] | Literal['offered', 'accepted', 'started', 'declined', 'expired', 'no-show', 'cancelled']]",
        "as": "NotRequired[Literal['keep', 'not-candidate', 'not-now'] | None]",
        "reason": "NotRequired[str]",
        "until": "NotRequired[str | None]",
        "days": "NotRequired[int | None]",
        "for_good": "NotRequired[bool]",
        "on": "NotRequired[str | None]",
        "all_or_none": "NotRequired[bool]",
    },
)

Approval = TypedDict(
    "Approval",
    {
        "out": "NotRequired[str | None]",
        "in": "NotRequired[str | None]",
    },
)

Arrival = TypedDict(
    "Arrival",
    {
        "worker_id": "Required[str]",
        "station": "NotRequired[int | None]",
        "on": "NotRequired[str | None]",
    },
)

AskedSettings = TypedDict(
    "AskedSettings",
    {
        "fee": "Required[str]",
        "value_per_unit": "Required[str]",
    },
)

Backtest = TypedDict(
    "Backtest",
    {
        "version": "Required[int]",
        "headline": "Required[str]",
        "details": "Required[str]",
        "policy": "Required[str]",
        "first_day": "Required[str]",
        "first_period": "Required[int]",
        "periods": "Required[int]",
        "over_practice": "Required[Spread]",
        "over_keeping": "Required[Spread]",
        "chance_over_practice": "Required[float]",
        "chance_over_keeping": "Required[float]",
        "fees": "Required[float]",
        "replacements": "Required[float]",
        "real_fees": "Required[float]",
        "real_replacements": "Required[int]",
        "on_record": "Required[float]",
        "runs": "Required[int]",
        "seed": "Required[int]",
        "notes": "Required[list[str]]",
    },
)

BacktestRequest = TypedDict(
    "BacktestRequest",
    {
        "first": "NotRequired[int | str]",
        "runs": "NotRequired[int]",
        "seed": "NotRequired[int]",
    },
)

Calendar = TypedDict(
    "Calendar",
    {
        "start": "Required[str]",
        "weekdays": "NotRequired[list[int]]",
        "closures": "NotRequired[list[str]]",
        "shifts_per_day": "NotRequired[int]",
        "cutoff_hour": "NotRequired[int]",
    },
)

CalendarChange = TypedDict(
    "CalendarChange",
    {
        "start": "NotRequired[str]",
        "weekdays": "NotRequired[list[int]]",
        "closures": "NotRequired[list[str]]",
        "shifts_per_day": "NotRequired[int]",
        "cutoff_hour": "NotRequired[int]",
    },
)

Candidate = TypedDict(
    "Candidate",
    {
        "worker_id": "Required[str | None]",
        "name": "Required[str | None]",
        "unseen": "Required[bool]",
        "alike": "Required[int]",
        "value": "Required[float]",
        "gain": "Required[float]",
        "fee": "Required[float]",
        "chance_better": "Required[float | None]",
        "estimate": "Required[Estimate]",
    },
)

CellError = TypedDict(
    "CellError",
    {
        "line": "Required[int]",
        "column": "Required[str]",
        "value": "Required[str]",
        "expected": "Required[str]",
    },
)

Checked = TypedDict(
    "Checked",
    {
        "sound": "Required[bool]",
        "columns": "Required[dict[str, str]]",
        "ignored": "Required[list[str]]",
        "rows": "Required[int]",
        "recorded": "Required[int]",
        "known": "Required[int]",
        "corrected": "Required[int]",
        "skipped": "Required[int]",
        "enrolled": "NotRequired[int]",
        "reading": "NotRequired[list[str]]",
        "warnings": "Required[list[str]]",
        "unusual": "NotRequired[list[Unusual] | None]",
        "errors": "Required[list[CellError]]",
        "total_errors": "Required[int]",
        "causes": "NotRequired[list[ErrorCause]]",
    },
)

Deliveries = TypedDict(
    "Deliveries",
    {
        "items": "Required[list[Delivery]]",
        "next": "Required[str | None]",
    },
)

Delivery = TypedDict(
    "Delivery",
    {
        "id": "Required[str]",
        "number": "Required[int]",
        "kind": "Required[str]",
        "facts": "Required[dict[str, Any]]",
        "status": "Required[Literal['waiting', 'delivered', 'failed']]",
        "created": "Required[str]",
        "attempts": "Required[int]",
        "outcome": "Required[str]",
        "finished": "Required[str | None]",
    },
)

Departure = TypedDict(
    "Departure",
    {
        "worker_id": "Required[str]",
        "on": "NotRequired[str | None]",
    },
)

Digest = TypedDict(
    "Digest",
    {
        "email": "NotRequired[str]",
        "chat_url": "NotRequired[str]",
        "time": "NotRequired[str]",
        "sites": "NotRequired[list[str]]",
    },
)

DigestChoice = TypedDict(
    "DigestChoice",
    {
        "email": "NotRequired[str]",
        "chat_url": "NotRequired[str]",
        "time": "NotRequired[str]",
        "sites": "NotRequired[list[str]]",
        "state": "Required[Literal['none', 'unconfirmed', 'asked', 'confirmed']]",
        "fault": "Required[str]",
    },
)

ErrorCause = TypedDict(
    "ErrorCause",
    {
        "count": "Required[int]",
        "sentence": "Required[str]",
        "action": "Required[str]",
        "examples": "Required[list[CellError]]",
    },
)

Estimate = TypedDict(
    "Estimate",
    {
        "days": "Required[int]",
        "prior": "Required[int]",
        "mean": "Required[float]",
        "low": "Required[float]",
        "high": "Required[float]",
        "after_ramp_up": "NotRequired[bool]",
        "ramp_up": "NotRequired[RampUp | None]",
        "trend": "NotRequired[Trend | None]",
    },
)

Event = TypedDict(
    "Event",
    {
        "number": "Required[int]",
        "at": "Required[str]",
        "actor": "Required[str]",
        "rule_version": "Required[str]",
        "type": "Required[str]",
        "payload": "Required[dict[str, Any]]",
        "previous": "Required[str]",
        "hash": "Required[str]",
    },
)

Events = TypedDict(
    "Events",
    {
        "items": "Required[list[Event]]",
        "next": "Required[str | None]",
    },
)

Explanation = TypedDict(
    "Explanation",
    {
        "id": "Required[int]",
        "status": "Required[Literal['proposed', 'approved', 'rejected', 'withdrawn', 'offered', 'accepted', 'declined', 'expired', 'started', 'no-show', 'cancelled']]",
        "period": "Required[int]",
        "date": "Required[str]",
        "out": "Required[str | None]",
        "place": "Required[Literal['worker', 'empty station', 'settled on arrival']]",
        "in": "Required[str | None]",
        "fee": "Required[float]",
        "reason": "Required[str | None]",
        "why": "Required[Why]",
        "first_approval": "NotRequired[FirstApproval | None]",
        "candidates": "NotRequired[list[Candidate] | None]",
        "explanation": "Required[list[str]]",
    },
)

FieldError = TypedDict(
    "FieldError",
    {
        "field": "Required[str]",
        "value": "NotRequired[str | None]",
        "remedy": "Required[str]",
        "line": "NotRequired[int | None]",
        "column": "NotRequired[str | None]",
    },
)

FirstApproval = TypedDict(
    "FirstApproval",
    {
        "by": "Required[str]",
        "at": "Required[str]",
        "out": "Required[str | None]",
        "in": "Required[str | None]",
    },
)

Gain = TypedDict(
    "Gain",
    {
        "expected": "Required[float]",
        "low": "Required[float]",
        "high": "Required[float]",
    },
)

Health = TypedDict(
    "Health",
    {
        "status": "NotRequired[Literal['ok']]",
        "schema": "Required[str]",
    },
)

Import = TypedDict(
    "Import",
    {
        "number": "Required[int]",
        "at": "Required[str]",
        "actor": "Required[str]",
        "rows": "Required[int]",
        "corrected": "Required[int]",
        "replaced": "Required[int]",
        "from": "Required[str]",
        "to": "Required[str]",
        "undone": "Required[int | None]",
        "can_undo": "Required[bool]",
    },
)

ImportTakenBack = TypedDict(
    "ImportTakenBack",
    {
        "import": "Required[Import]",
        "advice": "Required[str]",
    },
)

Imports = TypedDict(
    "Imports",
    {
        "items": "Required[list[Import]]",
        "next": "Required[str | None]",
    },
)

Job = TypedDict(
    "Job",
    {
        "id": "Required[int]",
        "site": "Required[str]",
        "kind": "Required[Literal['plan', 'verify', 'output-import', 'backtest', 'pilot-plan']]",
        "actor": "Required[str]",
        "input": "Required[dict[str, Any]]",
        "status": "Required[Literal['queued', 'running', 'done', 'failed', 'cancelled']]",
        "progress": "Required[float]",
        "message": "Required[str]",
        "result": "Required[Plan | Backtest | PilotPlan | Verified | Recorded | Checked | Problem | None]",
        "created": "Required[str]",
        "started": "Required[str | None]",
        "finished": "Required[str | None]",
        "attempts": "Required[int]",
    },
)

Jobs = TypedDict(
    "Jobs",
    {
        "items": "Required[list[Job]]",
        "next": "Required[str | None]",
    },
)

Level = TypedDict(
    "Level",
    {
        "mean": "Required[float]",
        "low": "Required[float]",
        "high": "Required[float]",
    },
)

Limit = TypedDict(
    "Limit",
    {
        "setting": "Required[Literal['most_a_week', 'most_a_month', 'budget_a_week', 'budget_a_month']]",
        "span": "Required[Literal['week', 'month']]",
        "money": "Required[bool]",
        "most": "Required[float]",
        "used": "Required[float]",
        "left": "Required[float]",
    },
)

Me = TypedDict(
    "Me",
    {
        "name": "Required[str]",
        "role": "Required[Literal['viewer', 'manager', 'admin']]",
        "sites": "Required[list[str] | None]",
    },
)

NewNote = TypedDict(
    "NewNote",
    {
        "worker_id": "Required[str]",
        "text": "Required[str]",
        "until": "NotRequired[str | None]",
        "days": "NotRequired[int | None]",
    },
)

NewOutput = TypedDict(
    "NewOutput",
    {
        "date": "NotRequired[str | None]",
        "period": "NotRequired[int | None]",
        "shift": "NotRequired[int | None]",
        "worker_id": "Required[str]",
        "units": "NotRequired[float | None]",
        "hours": "NotRequired[float | None]",
        "attendance": "NotRequired[Literal['worked', 'partial', 'absent', 'no-show', 'sent-home'] | None]",
    },
)

NewOutputs = TypedDict(
    "NewOutputs",
    {
        "rows": "Required[list[NewOutput]]",
    },
)

NewPilot = TypedDict(
    "NewPilot",
    {
        "job": "Required[int]",
        "seed": "NotRequired[str | None]",
    },
)

NewSite = TypedDict(
    "NewSite",
    {
        "site": "Required[str]",
        "settings": "Required[SiteSettings]",
    },
)

NewStint = TypedDict(
    "NewStint",
    {
        "worker_id": "Required[str]",
        "station": "NotRequired[int | None]",
        "from": "Required[str]",
        "until": "NotRequired[str | None]",
    },
)

NewStints = TypedDict(
    "NewStints",
    {
        "stints": "Required[list[NewStint]]",
    },
)

NewTeam = TypedDict(
    "NewTeam",
    {
        "members": "Required[list[str]]",
        "on": "NotRequired[str | None]",
    },
)

NewToken = TypedDict(
    "NewToken",
    {
        "days": "NotRequired[float]",
        "label": "NotRequired[str]",
    },
)

NewUser = TypedDict(
    "NewUser",
    {
        "name": "Required[str]",
        "role": "Required[Literal['viewer', 'manager', 'admin']]",
        "sites": "NotRequired[list[str] | None]",
    },
)

NewWebhook = TypedDict(
    "NewWebhook",
    {
        "url": "Required[str]",
        "kinds": "NotRequired[list[Literal['advice.new', 'offer.overdue', 'import.failed', 'trend.found']]]",
    },
)

NewWorker = TypedDict(
    "NewWorker",
    {
        "worker_id": "Required[str]",
        "name": "NotRequired[str | None]",
        "active": "NotRequired[bool | None]",
        "fee": "NotRequired[float | None]",
        "prior_n": "NotRequired[int | None]",
        "prior_mean": "NotRequired[float | None]",
        "status": "NotRequired[Literal['pool', 'blocked', 'left'] | None]",
        "interview": "NotRequired[float | None]",
        "pinned": "NotRequired[bool | None]",
    },
)

NewWorkers = TypedDict(
    "NewWorkers",
    {
        "workers": "Required[list[NewWorker]]",
    },
)

Offer = TypedDict(
    "Offer",
    {
        "outcome": "Required[Literal['offered', 'accepted', 'started', 'declined', 'expired', 'no-show', 'cancelled']]",
        "on": "NotRequired[str | None]",
        "out": "NotRequired[str | None]",
    },
)

Output = TypedDict(
    "Output",
    {
        "date": "Required[str]",
        "period": "Required[int]",
        "worker_id": "Required[str | None]",
        "units": "Required[float | None]",
        "hours": "Required[float | None]",
        "attendance": "Required[Literal['worked', 'partial', 'absent', 'no-show', 'sent-home']]",
        "event": "Required[int]",
    },
)

Outputs = TypedDict(
    "Outputs",
    {
        "items": "Required[list[Output]]",
        "next": "Required[str | None]",
    },
)

PersonLearned = TypedDict(
    "PersonLearned",
    {
        "level": "Required[Level]",
        "output_now": "Required[float]",
        "ramp_up": "Required[RampUp | None]",
        "trend": "Required[Trend | None]",
        "notes": "Required[list[str]]",
    },
)

PilotDuration = TypedDict(
    "PilotDuration",
    {
        "days": "Required[int]",
        "last": "Required[str]",
        "detectable": "Required[float | None]",
        "power": "Required[float | None]",
    },
)

PilotEndRequest = TypedDict(
    "PilotEndRequest",
    {
        "give_up": "NotRequired[str | None]",
    },
)

PilotGroup = TypedDict(
    "PilotGroup",
    {
        "name": "Required[str]",
        "site": "Required[str]",
        "stations": "Required[list[int]]",
    },
)

PilotPlan = TypedDict(
    "PilotPlan",
    {
        "digest": "Required[str]",
        "plan": "Required[SealedPlan]",
        "days": "Required[int]",
        "detectable_gain": "Required[float]",
        "usual_output": "Required[float]",
        "gain": "Required[float | None]",
        "power": "Required[float | None]",
        "assignments": "Required[int]",
        "durations": "Required[list[PilotDuration]]",
        "headline": "Required[str]",
        "lines": "Required[list[str]]",
    },
)

PilotPlanRequest = TypedDict(
    "PilotPlanRequest",
    {
        "sites": "NotRequired[list[str]]",
        "groups": "NotRequired[int | None]",
        "days": "NotRequired[int]",
        "waves": "NotRequired[int]",
        "run_in": "NotRequired[int]",
        "baseline": "NotRequired[int]",
        "measure": "NotRequired[Literal['net', 'output']]",
        "outside_fee": "NotRequired[float | None]",
        "looks": "NotRequired[int]",
        "power": "NotRequired[float]",
        "gain": "NotRequired[float | None]",
    },
)

PilotResult = TypedDict(
    "PilotResult",
    {
        "gain": "Required[float]",
        "low": "Required[float | None]",
        "high": "Required[float | None]",
        "error": "Required[float]",
        "p": "Required[float]",
        "level": "Required[float]",
        "assignments": "Required[int]",
        "detected": "Required[bool]",
        "measure": "Required[Literal['net', 'output']]",
        "through": "Required[str]",
        "groups": "Required[int]",
        "stations": "Required[int]",
        "recorded_days": "Required[int]",
        "came_by_advice": "Required[int]",
        "departures": "Required[int]",
        "second": "Required[PilotSecond]",
    },
)

PilotSecond = TypedDict(
    "PilotSecond",
    {
        "measure": "Required[Literal['net', 'output']]",
        "gain": "Required[float]",
        "low": "Required[float | None]",
        "high": "Required[float | None]",
        "p": "Required[float]",
    },
)

PilotView = TypedDict(
    "PilotView",
    {
        "state": "Required[Literal['running', 'complete', 'ended', 'given-up']]",
        "digest": "Required[str]",
        "seed": "Required[str]",
        "plan": "Required[SealedPlan]",
        "waves": "Required[list[int]]",
        "started_at": "Required[str]",
        "started_by": "Required[str]",
        "recorded_days": "Required[int]",
        "recorded_through": "Required[str | None]",
        "came_by_advice": "Required[int]",
        "departures": "Required[int]",
        "looks_taken": "Required[int]",
        "look_due": "Required[bool]",
        "may_stop": "Required[bool]",
        "result": "Required[PilotResult | None]",
        "reason": "Required[str]",
    },
)

Plan = TypedDict(
    "Plan",
    {
        "version": "Required[int]",
        "best": "Required[str]",
        "headline": "Required[str]",
        "own": "Required[str]",
        "first_period": "Required[int]",
        "periods": "Required[int]",
        "team": "Required[int]",
        "fee": "Required[float]",
        "mean_delay": "Required[float]",
        "changes": "Required[dict[str, Any]]",
        "runs": "Required[int]",
        "seed": "Required[int]",
        "lead": "Required[Spread | None]",
        "notes": "Required[list[str]]",
        "policies": "Required[dict[str, Prospect]]",
    },
)

PlanRequest = TypedDict(
    "PlanRequest",
    {
        "policies": "NotRequired[list[str] | None]",
        "runs": "NotRequired[int]",
        "seed": "NotRequired[int]",
        "team": "NotRequired[int | None]",
        "fee": "NotRequired[float | None]",
        "horizon": "NotRequired[int | None]",
        "mean_delay": "NotRequired[float | None]",
        "policy": "NotRequired[str | None]",
        "least_tenure": "NotRequired[int | None]",
        "most_a_week": "NotRequired[int | None]",
    },
)

Problem = TypedDict(
    "Problem",
    {
        "type": "NotRequired[str]",
        "title": "Required[str]",
        "status": "Required[int]",
        "detail": "Required[str]",
        "errors": "NotRequired[list[FieldError]]",
        "changed": "NotRequired[list[str] | None]",
        "causes": "NotRequired[list[str] | None]",
        "reading": "NotRequired[list[str] | None]",
    },
)

Profile = TypedDict(
    "Profile",
    {
        "name": "Required[str]",
        "reading": "Required[list[str]]",
        "plan": "Required[dict[str, Any]]",
    },
)

Profiles = TypedDict(
    "Profiles",
    {
        "items": "Required[list[Profile]]",
    },
)

Proposal = TypedDict(
    "Proposal",
    {
        "id": "Required[int]",
        "status": "Required[Literal['proposed', 'approved', 'rejected', 'withdrawn', 'offered', 'accepted', 'declined', 'expired', 'started', 'no-show', 'cancelled']]",
        "period": "Required[int]",
        "date": "Required[str]",
        "out": "Required[str | None]",
        "place": "Required[Literal['worker', 'empty station', 'settled on arrival']]",
        "in": "Required[str | None]",
        "fee": "Required[float]",
        "reason": "Required[str | None]",
        "why": "Required[Why]",
        "first_approval": "NotRequired[FirstApproval | None]",
        "candidates": "NotRequired[list[Candidate] | None]",
    },
)

ProposalUnderWay = TypedDict(
    "ProposalUnderWay",
    {
        "id": "Required[int]",
        "status": "Required[Literal['proposed', 'approved', 'rejected', 'withdrawn', 'offered', 'accepted', 'declined', 'expired', 'started', 'no-show', 'cancelled']]",
        "period": "Required[int]",
        "date": "Required[str]",
        "out": "Required[str | None]",
        "place": "Required[Literal['worker', 'empty station', 'settled on arrival']]",
        "in": "Required[str | None]",
        "fee": "Required[float]",
        "reason": "Required[str | None]",
        "why": "Required[Why]",
        "first_approval": "NotRequired[FirstApproval | None]",
        "candidates": "NotRequired[list[Candidate] | None]",
        "overdue": "Required[bool]",
    },
)

Proposals = TypedDict(
    "Proposals",
    {
        "items": "Required[list[Proposal]]",
        "next": "Required[str | None]",
    },
)

ProposedSetting = TypedDict(
    "ProposedSetting",
    {
        "value": "Required[float | str | list[int] | list[str] | None]",
        "why": "Required[str]",
    },
)

ProposedSettings = TypedDict(
    "ProposedSettings",
    {
        "team": "Required[ProposedSetting]",
        "low": "Required[ProposedSetting]",
        "high": "Required[ProposedSetting]",
        "hours_per_period": "Required[ProposedSetting]",
        "start": "Required[ProposedSetting]",
        "weekdays": "Required[ProposedSetting]",
        "closures": "Required[ProposedSetting]",
        "shifts_per_day": "Required[ProposedSetting]",
        "cutoff_hour": "Required[ProposedSetting]",
    },
)

ProposedSite = TypedDict(
    "ProposedSite",
    {
        "rows": "Required[int]",
        "people": "Required[int]",
        "days": "Required[int]",
        "first_day": "Required[str]",
        "last_day": "Required[str]",
        "reading": "Required[list[str]]",
        "notes": "Required[list[str]]",
        "settings": "Required[ProposedSettings]",
        "asked": "Required[AskedSettings]",
        "first_advice": "Required[str | None]",
    },
)

Prospect = TypedDict(
    "Prospect",
    {
        "output": "Required[Spread]",
        "fees": "Required[float]",
        "net": "Required[Spread]",
        "gain": "Required[Spread]",
        "chance_better": "Required[float]",
        "chance_worse": "Required[float]",
        "replacements": "Required[float]",
    },
)

Ramp = TypedDict(
    "Ramp",
    {
        "mean": "Required[float]",
        "sd": "Required[float]",
    },
)

RampUp = TypedDict(
    "RampUp",
    {
        "day": "Required[int]",
        "days": "Required[int]",
    },
)

Recorded = TypedDict(
    "Recorded",
    {
        "recorded": "Required[int]",
        "known": "Required[int]",
        "corrected": "Required[int]",
        "skipped": "Required[int]",
        "enrolled": "NotRequired[int]",
        "reading": "NotRequired[list[str]]",
        "warnings": "Required[list[str]]",
        "unusual": "NotRequired[list[Unusual] | None]",
        "advice": "Required[str]",
    },
)

Rejection = TypedDict(
    "Rejection",
    {
        "reason": "NotRequired[str]",
        "keep_out": "NotRequired[bool]",
        "as": "NotRequired[Literal['keep', 'not-candidate', 'not-now'] | None]",
        "until": "NotRequired[str | None]",
        "days": "NotRequired[int | None]",
        "for_good": "NotRequired[bool]",
    },
)

Remark = TypedDict(
    "Remark",
    {
        "text": "Required[str]",
        "by": "Required[str]",
        "at": "Required[str]",
        "until": "Required[str | None]",
    },
)

ReplacementResult = TypedDict(
    "ReplacementResult",
    {
        "proposal": "Required[int]",
        "out": "Required[str | None]",
        "in": "Required[str | None]",
        "days": "Required[int]",
        "gain": "Required[Gain]",
        "chance_paid": "Required[float]",
        "predicted": "Required[Gain | None]",
        "verdict": "Required[Literal['better', 'as predicted', 'worse'] | None]",
        "breaks_even": "Required[str | None]",
    },
)

SealedPlan = TypedDict(
    "SealedPlan",
    {
        "groups": "Required[list[PilotGroup]]",
        "baseline": "Required[str]",
        "steps": "Required[list[str]]",
        "last": "Required[str]",
        "run_in": "Required[int]",
        "measure": "Required[Literal['net', 'output']]",
        "outside_fee": "Required[float]",
        "carried": "Required[float]",
        "alpha": "Required[float]",
        "looks": "Required[list[str]]",
        "promised_gain": "Required[float]",
        "promised_power": "Required[float]",
    },
)

SecretRotation = TypedDict(
    "SecretRotation",
    {
        "hours": "NotRequired[float]",
    },
)

ShownLink = TypedDict(
    "ShownLink",
    {
        "path": "Required[str]",
    },
)

ShownSecret = TypedDict(
    "ShownSecret",
    {
        "secret": "Required[str]",
    },
)

ShownToken = TypedDict(
    "ShownToken",
    {
        "id": "Required[int]",
        "label": "Required[str]",
        "created": "Required[str]",
        "expires": "Required[str]",
        "revoked": "Required[str | None]",
        "token": "Required[str]",
    },
)

ShownWebhook = TypedDict(
    "ShownWebhook",
    {
        "id": "Required[int]",
        "url": "Required[str]",
        "kinds": "Required[list[Literal['advice.new', 'offer.overdue', 'import.failed', 'trend.found']]]",
        "created": "Required[str]",
        "created_by": "Required[str]",
        "waiting": "Required[int]",
        "failed": "Required[int]",
        "failures": "Required[int]",
        "next_try": "Required[str | None]",
        "both_until": "Required[str | None]",
        "fault": "Required[str]",
        "secret": "Required[str]",
    },
)

SiteChanges = TypedDict(
    "SiteChanges",
    {
        "team": "NotRequired[int]",
        "fee": "NotRequired[float]",
        "units": "NotRequired[UnitsChange]",
        "calendar": "NotRequired[CalendarChange]",
        "horizon": "NotRequired[int]",
        "mean_delay": "NotRequired[float]",
        "rolling": "NotRequired[bool]",
        "learn_delay": "NotRequired[bool]",
        "fee_due": "NotRequired[Literal['initiation', 'completion']]",
        "policy": "NotRequired[str]",
        "conventions": "NotRequired[Literal['as-written', 'as-released']]",
        "least_tenure": "NotRequired[int]",
        "most_a_week": "NotRequired[int | None]",
        "most_a_month": "NotRequired[int | None]",
        "budget_a_week": "NotRequired[float | None]",
        "budget_a_month": "NotRequired[float | None]",
        "ask_again_after": "NotRequired[int]",
        "erase_after": "NotRequired[int | None]",
        "second_approver": "NotRequired[bool]",
        "currency": "NotRequired[str | None]",
        "time_zone": "NotRequired[str | None]",
        "stream_key": "NotRequired[int | None]",
    },
)

SiteFault = TypedDict(
    "SiteFault",
    {
        "site": "Required[str]",
        "fault": "Required[str]",
    },
)

SiteLearned = TypedDict(
    "SiteLearned",
    {
        "ramp": "Required[Ramp | None]",
        "ramp_days": "Required[int | None]",
        "unusual_days": "Required[list[UnusualDay]]",
    },
)

SiteLine = TypedDict(
    "SiteLine",
    {
        "site": "Required[str]",
        "version": "Required[int]",
        "advice": "Required[str]",
        "period": "Required[int]",
        "date": "Required[str]",
        "stations": "Required[int]",
        "filled": "Required[int]",
        "proposals": "Required[int]",
    },
)

SiteLines = TypedDict(
    "SiteLines",
    {
        "items": "Required[list[SiteLine | SiteFault]]",
        "next": "Required[str | None]",
    },
)

SiteSettings = TypedDict(
    "SiteSettings",
    {
        "team": "Required[int]",
        "fee": "Required[float]",
        "units": "Required[Units]",
        "calendar": "Required[Calendar]",
        "horizon": "Required[int]",
        "mean_delay": "Required[float]",
        "rolling": "NotRequired[bool]",
        "learn_delay": "NotRequired[bool]",
        "fee_due": "NotRequired[Literal['initiation', 'completion']]",
        "policy": "NotRequired[str]",
        "conventions": "NotRequired[Literal['as-written', 'as-released']]",
        "least_tenure": "NotRequired[int]",
        "most_a_week": "NotRequired[int | None]",
        "most_a_month": "NotRequired[int | None]",
        "budget_a_week": "NotRequired[float | None]",
        "budget_a_month": "NotRequired[float | None]",
        "ask_again_after": "NotRequired[int]",
        "erase_after": "NotRequired[int | None]",
        "second_approver": "NotRequired[bool]",
        "currency": "NotRequired[str | None]",
        "time_zone": "NotRequired[str | None]",
        "stream_key": "NotRequired[int | None]",
    },
)

SiteStatus = TypedDict(
    "SiteStatus",
    {
        "site": "Required[str]",
        "period": "Required[int]",
        "date": "Required[str]",
        "sentence": "Required[str]",
        "stations": "Required[int]",
        "filled": "Required[int]",
        "earned": "Required[float]",
        "fees": "Required[float]",
        "mean_delay": "Required[float]",
        "limits": "NotRequired[list[Limit] | None]",
        "gain": "Required[Gain]",
        "track_record": "Required[TrackRecord]",
        "cycle": "Required[Waiting]",
        "proposals": "Required[list[ProposalUnderWay]]",
        "workers": "Required[list[Worker]]",
        "learned": "NotRequired[SiteLearned | None]",
    },
)

SiteView = TypedDict(
    "SiteView",
    {
        "site": "Required[str]",
        "version": "Required[int]",
        "advice": "Required[str]",
        "period": "Required[int]",
        "date": "Required[str]",
        "stations": "Required[int]",
        "filled": "Required[int]",
        "proposals": "Required[int]",
        "settings": "Required[SiteSettings]",
        "newer_policy": "NotRequired[str | None]",
    },
)

Spread = TypedDict(
    "Spread",
    {
        "mean": "Required[float]",
        "low": "Required[float]",
        "high": "Required[float]",
        "worst": "Required[float]",
        "best": "Required[float]",
        "likely_low": "NotRequired[float | None]",
        "likely_high": "NotRequired[float | None]",
    },
)

TeamChanged = TypedDict(
    "TeamChanged",
    {
        "site": "Required[str]",
        "stations": "Required[list[TeamStation]]",
        "stints": "Required[list[TeamStint]]",
        "recorded": "Required[int]",
        "advice": "Required[str]",
    },
)

TeamStation = TypedDict(
    "TeamStation",
    {
        "station": "Required[int]",
        "worker_id": "Required[str | None]",
        "name": "Required[str | None]",
        "since": "Required[str | None]",
    },
)

TeamStint = TypedDict(
    "TeamStint",
    {
        "station": "Required[int]",
        "worker_id": "Required[str | None]",
        "name": "Required[str | None]",
        "from": "Required[str]",
        "until": "Required[str | None]",
    },
)

TeamView = TypedDict(
    "TeamView",
    {
        "site": "Required[str]",
        "stations": "Required[list[TeamStation]]",
        "stints": "Required[list[TeamStint]]",
    },
)

Token = TypedDict(
    "Token",
    {
        "id": "Required[int]",
        "label": "Required[str]",
        "created": "Required[str]",
        "expires": "Required[str]",
        "revoked": "Required[str | None]",
    },
)

TrackRecord = TypedDict(
    "TrackRecord",
    {
        "replacements": "Required[int]",
        "ahead": "Required[int]",
        "better": "Required[int]",
        "as_predicted": "Required[int]",
        "worse": "Required[int]",
        "chance_paid": "Required[float | None]",
        "results": "Required[list[ReplacementResult]]",
    },
)

Trend = TypedDict(
    "Trend",
    {
        "since": "Required[int]",
        "date": "Required[str]",
        "change": "Required[float | None]",
        "difference": "Required[float]",
        "chance": "Required[float]",
    },
)

Undone = TypedDict(
    "Undone",
    {
        "taken_back": "Required[str | None]",
        "advice": "Required[Advice]",
    },
)

Units = TypedDict(
    "Units",
    {
        "low": "Required[float]",
        "high": "Required[float]",
        "value_per_unit": "NotRequired[float]",
        "hours_per_period": "NotRequired[float | None]",
    },
)

UnitsChange = TypedDict(
    "UnitsChange",
    {
        "low": "NotRequired[float]",
        "high": "NotRequired[float]",
        "value_per_unit": "NotRequired[float]",
        "hours_per_period": "NotRequired[float | None]",
    },
)

Unusual = TypedDict(
    "Unusual",
    {
        "line": "Required[int]",
        "day": "Required[str]",
        "worker_id": "Required[str]",
        "value": "Required[str]",
        "why": "Required[str]",
    },
)

UnusualDay = TypedDict(
    "UnusualDay",
    {
        "period": "Required[int]",
        "date": "Required[str]",
        "effect": "Required[float | None]",
        "low": "Required[float | None]",
        "high": "Required[float | None]",
    },
)

User = TypedDict(
    "User",
    {
        "name": "Required[str]",
        "role": "Required[Literal['viewer', 'manager', 'admin']]",
        "sites": "Required[list[str] | None]",
        "disabled": "Required[bool]",
        "created": "Required[str]",
        "tokens": "Required[list[Token]]",
        "origin": "NotRequired[str | None]",
    },
)

UserChanges = TypedDict(
    "UserChanges",
    {
        "role": "NotRequired[Literal['viewer', 'manager', 'admin']]",
        "sites": "NotRequired[list[str] | None]",
        "disabled": "NotRequired[bool]",
    },
)

Users = TypedDict(
    "Users",
    {
        "items": "Required[list[User]]",
        "next": "Required[str | None]",
    },
)

Verified = TypedDict(
    "Verified",
    {
        "events": "Required[int]",
        "rows": "Required[int]",
        "advice": "Required[int]",
        "older": "Required[int]",
        "faults": "Required[list[str]]",
        "sound": "Required[bool]",
        "notes": "NotRequired[list[str]]",
        "unchecked": "NotRequired[str]",
    },
)

Waiting = TypedDict(
    "Waiting",
    {
        "awaited": "Required[list[str | None]]",
        "too_dear": "NotRequired[list[str | None]]",
        "cycle": "NotRequired[int | None]",
        "phase": "NotRequired[str | None]",
        "least_observed": "NotRequired[str | None]",
        "still_needed": "NotRequired[int | None]",
        "look_again": "NotRequired[int | None]",
    },
)

Webhook = TypedDict(
    "Webhook",
    {
        "id": "Required[int]",
        "url": "Required[str]",
        "kinds": "Required[list[Literal['advice.new', 'offer.overdue', 'import.failed', 'trend.found']]]",
        "created": "Required[str]",
        "created_by": "Required[str]",
        "waiting": "Required[int]",
        "failed": "Required[int]",
        "failures": "Required[int]",
        "next_try": "Required[str | None]",
        "both_until": "Required[str | None]",
        "fault": "Required[str]",
    },
)

Webhooks = TypedDict(
    "Webhooks",
    {
        "items": "Required[list[Webhook]]",
        "next": "Required[str | None]",
    },
)

Why = TypedDict(
    "Why",
    {
        "out": "Required[Estimate | None]",
        "into": "Required[Estimate]",
        "settled_on_arrival": "Required[bool]",
        "chance_better": "Required[float | None]",
        "periods": "Required[float]",
        "periods_left": "NotRequired[float | None]",
        "mean_delay": "Required[float]",
        "gain": "Required[float]",
        "fee": "Required[float]",
        "break_even": "Required[float | None]",
        "optimistic_gain": "Required[float | None]",
        "needed_gain": "Required[float | None]",
        "trial_periods": "Required[float | None]",
        "trial_value": "Required[float | None]",
    },
)

Worker = TypedDict(
    "Worker",
    {
        "worker_id": "Required[str | None]",
        "name": "Required[str | None]",
        "station": "Required[int | None]",
        "status": "Required[Literal['pool', 'blocked', 'left']]",
        "days": "Required[int]",
        "estimate": "Required[float]",
        "low": "Required[float]",
        "high": "Required[float]",
        "note": "Required[str]",
        "learned": "NotRequired[PersonLearned | None]",
    },
)

WorkerChanges = TypedDict(
    "WorkerChanges",
    {
        "status": "NotRequired[Literal['pool', 'blocked', 'left']]",
        "pinned": "NotRequired[bool]",
        "fee": "NotRequired[float | None]",
        "reason": "NotRequired[str]",
        "until": "NotRequired[str]",
        "days": "NotRequired[int]",
    },
)

WorkerView = TypedDict(
    "WorkerView",
    {
        "worker_id": "Required[str | None]",
        "name": "Required[str | None]",
        "station": "Required[int | None]",
        "status": "Required[Literal['pool', 'blocked', 'left']]",
        "days": "Required[int]",
        "estimate": "Required[float]",
        "low": "Required[float]",
        "high": "Required[float]",
        "note": "Required[str]",
        "learned": "NotRequired[PersonLearned | None]",
        "pinned": "Required[bool]",
        "protection": "Required[Remark | None]",
        "block": "Required[Remark | None]",
        "notes": "Required[list[Remark]]",
        "fee": "Required[float | None]",
        "prior_n": "Required[int]",
        "prior_mean": "Required[float | None]",
        "interview": "Required[float | None]",
        "since": "Required[str | None]",
        "not_before": "Required[str | None]",
        "recorded_to": "Required[str | None]",
    },
)

Workers = TypedDict(
    "Workers",
    {
        "items": "Required[list[Worker]]",
        "next": "Required[str | None]",
    },
)


class Client(Transport):
    """The operations of the API at an address."""

    def get_health(self) -> Health:
        """Check that the server is ready: it runs and reaches its store. No sign-in is needed."""
        answer: Health = self._send("GET", "/api/v1/health", {})
        return answer

    def get_liveness(self) -> Alive:
        """Check that the server process answers, whatever the state of its store; no sign-in is needed."""
        answer: Alive = self._send("GET", "/api/v1/health/live", {})
        return answer

    def get_me(self) -> Me:
        """Return the caller's name, role and sites."""
        answer: Me = self._send("GET", "/api/v1/me", {})
        return answer

    def get_digest(self) -> DigestChoice:
        """Return the caller's choice of a daily digest; by default there is none."""
        answer: DigestChoice = self._send("GET", "/api/v1/me/digest", {})
        return answer

    def choose_digest(self, body: Digest) -> DigestChoice:
        """Choose where the caller's digest goes. A new e-mail address must be confirmed by the link that is sent to it."""
        answer: DigestChoice = self._send("PUT", "/api/v1/me/digest", {}, body=body)
        return answer

    def list_sites(self, *, limit: int | None = None, cursor: str | None = None) -> SiteLines:
        """List the sites that the caller may see, by name, each with its advice in a sentence."""
        answer: SiteLines = self._send("GET", "/api/v1/sites", {}, query={"limit": limit, "cursor": cursor})
        return answer

    def create_site(self, body: NewSite) -> SiteView:
        """Create a site. Repeating the request changes nothing; other settings under the same name are a conflict."""
        answer: SiteView = self._send("POST", "/api/v1/sites", {}, body=body)
        return answer

    def get_site(self, site: str, *, if_none_match: str | None = None) -> SiteView:
        """Return a site's settings and version."""
        answer: SiteView = self._send(
            "GET", "/api/v1/sites/{site}", {"site": site}, headers={"If-None-Match": if_none_match}
        )
        return answer

    def change_site(self, site: str, body: SiteChanges, *, if_match: str | None = None) -> SiteView:
        """Change settings from now on, as a JSON merge patch. If-Match is required."""
        answer: SiteView = self._send(
            "PATCH", "/api/v1/sites/{site}", {"site": site}, body=body, headers={"If-Match": if_match}
        )
        return answer

    def get_status(self, site: str, *, if_none_match: str | None = None) -> SiteStatus:
        """Return the team, the pool, replacements under way, and money so far."""
        answer: SiteStatus = self._send(
            "GET", "/api/v1/sites/{site}/status", {"site": site}, headers={"If-None-Match": if_none_match}
        )
        return answer

    def get_advice(self, site: str, *, if_none_match: str | None = None) -> Advice:
        """Return what to do in the coming period, or what the site waits for; reading changes nothing."""
        answer: Advice = self._send(
            "GET", "/api/v1/sites/{site}/advice", {"site": site}, headers={"If-None-Match": if_none_match}
        )
        return answer

    def check_new_site(
        self,
        content: bytes | str,
        *,
        site: str | None = None,
        fee: float | None = None,
        value_per_unit: float | None = None,
        hours_per_period: float | None = None,
        map: list[str] | None = None,
        decimal: Literal[".", ","] | None = None,
        dates: Literal["day-first", "month-first"] | None = None,
        where: list[str] | None = None,
    ) -> ProposedSite:
        """Report what an export of output suggests for a new site; nothing is recorded."""
        answer: ProposedSite = self._send(
            "POST",
            "/api/v1/new-sites/csv",
            {},
            content=content,
            media_type="text/csv",
            query={
                "site": site,
                "fee": fee,
                "value_per_unit": value_per_unit,
                "hours_per_period": hours_per_period,
                "map": map,
                "decimal": decimal,
                "dates": dates,
                "where": where,
            },
        )
        return answer

    def list_proposals(
        self,
        site: str,
        *,
        status: list[
            Literal[
                "proposed",
                "approved",
                "rejected",
                "withdrawn",
                "offered",
                "accepted",
                "declined",
                "expired",
                "started",
                "no-show",
                "cancelled",
            ]
        ]
        | None = None,
        newest: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Proposals:
        """List every proposal ever made, with its current status, by number."""
        answer: Proposals = self._send(
            "GET",
            "/api/v1/sites/{site}/proposals",
            {"site": site},
            query={"status": status, "newest": newest, "limit": limit, "cursor": cursor},
        )
        return answer

    def get_proposal(self, proposal: int, site: str) -> Proposal:
        """Return a proposal with its current status and, while it waits for an answer, who could come in instead."""
        answer: Proposal = self._send(
            "GET", "/api/v1/sites/{site}/proposals/{proposal}", {"proposal": proposal, "site": site}
        )
        return answer

    def explain_proposal(self, proposal: int, site: str, *, if_none_match: str | None = None) -> Explanation:
        """Explain in plain words why a proposal was made."""
        answer: Explanation = self._send(
            "GET",
            "/api/v1/sites/{site}/proposals/{proposal}/explanation",
            {"proposal": proposal, "site": site},
            headers={"If-None-Match": if_none_match},
        )
        return answer

    def approve_proposal(
        self,
        proposal: int,
        site: str,
        body: Approval | None | None = None,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Answered:
        """Approve a proposal: the offer goes out. Repeating one's own approval changes nothing."""
        answer: Answered = self._send(
            "POST",
            "/api/v1/sites/{site}/proposals/{proposal}/approval",
            {"proposal": proposal, "site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def reject_proposal(
        self,
        proposal: int,
        site: str,
        body: Rejection,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Answered:
        """Reject a proposal, with a reason for the record: as keep, not this candidate or not now."""
        answer: Answered = self._send(
            "POST",
            "/api/v1/sites/{site}/proposals/{proposal}/rejection",
            {"proposal": proposal, "site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def record_offer(
        self, proposal: int, site: str, body: Offer, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> Answered:
        """Record how an offer went; a decline brings the next candidate."""
        answer: Answered = self._send(
            "POST",
            "/api/v1/sites/{site}/proposals/{proposal}/offer",
            {"proposal": proposal, "site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def undo(self, site: str, *, if_match: str | None = None, idempotency_key: str | None = None) -> Undone:
        """Undo the last answer, if nothing was recorded since; both stay on record."""
        answer: Undone = self._send(
            "POST",
            "/api/v1/sites/{site}/undo",
            {"site": site},
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def answer_proposals(
        self, site: str, body: Answers, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> AnsweredMany:
        """Answer many proposals or offers alike, in one transaction."""
        answer: AnsweredMany = self._send(
            "POST",
            "/api/v1/sites/{site}/answers",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def list_workers(
        self,
        site: str,
        *,
        sort: Literal["station", "estimate", "days", "worker_id", "name", "joined"] | None = None,
        descending: bool | None = None,
        status: Literal["pool", "blocked", "left"] | None = None,
        team: bool | None = None,
        search: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Workers:
        """List the workers. Each is listed exactly once, even if the order changes between two pages."""
        answer: Workers = self._send(
            "GET",
            "/api/v1/sites/{site}/workers",
            {"site": site},
            query={
                "sort": sort,
                "descending": descending,
                "status": status,
                "team": team,
                "search": search,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def import_workers(
        self, site: str, body: NewWorkers, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> Recorded:
        """Import workers, all or none: newcomers join, changes are recorded, and what is known already is skipped."""
        answer: Recorded = self._send(
            "POST",
            "/api/v1/sites/{site}/workers",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def import_workers_csv(
        self,
        site: str,
        content: bytes | str,
        *,
        map: list[str] | None = None,
        decimal: Literal[".", ","] | None = None,
        check_only: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Recorded | Checked:
        """Import a CSV file of workers, all or none; or, with check_only, report what that would do."""
        answer: Recorded | Checked = self._send(
            "POST",
            "/api/v1/sites/{site}/workers/csv",
            {"site": site},
            content=content,
            media_type="text/csv",
            query={"map": map, "decimal": decimal, "check_only": check_only},
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def add_note(
        self, site: str, body: NewNote, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> WorkerView:
        """Write a note on a worker, which may end on a day; advice does not depend on it."""
        answer: WorkerView = self._send(
            "POST",
            "/api/v1/sites/{site}/notes",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def get_worker(self, worker_id: str, site: str) -> WorkerView:
        """Return a worker with everything on record about them."""
        answer: WorkerView = self._send(
            "GET", "/api/v1/sites/{site}/workers/{worker_id}", {"worker_id": worker_id, "site": site}
        )
        return answer

    def change_worker(
        self, worker_id: str, site: str, body: WorkerChanges, *, if_match: str | None = None
    ) -> WorkerView:
        """Record that a worker left, returned, is blocked or pinned, or has a fee of their own."""
        answer: WorkerView = self._send(
            "PATCH",
            "/api/v1/sites/{site}/workers/{worker_id}",
            {"worker_id": worker_id, "site": site},
            body=body,
            headers={"If-Match": if_match},
        )
        return answer

    def erase_worker(self, worker_id: str, site: str, *, if_match: str | None = None) -> None:
        """Erase a person from the store for good; the record keeps only a number."""
        answer: None = self._send(
            "DELETE",
            "/api/v1/sites/{site}/workers/{worker_id}",
            {"worker_id": worker_id, "site": site},
            headers={"If-Match": if_match},
        )
        return answer

    def get_team(self, site: str) -> TeamView:
        """Return who holds which station now, and everybody who did."""
        answer: TeamView = self._send("GET", "/api/v1/sites/{site}/team", {"site": site})
        return answer

    def set_team(
        self, site: str, body: NewTeam, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> TeamChanged:
        """Record who the team is from a day on. Repeating the request changes nothing."""
        answer: TeamChanged = self._send(
            "POST",
            "/api/v1/sites/{site}/team",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def add_to_team(
        self, site: str, body: Arrival, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> TeamChanged:
        """Record that somebody took a station outside advice, on any day so far."""
        answer: TeamChanged = self._send(
            "POST",
            "/api/v1/sites/{site}/team/arrivals",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def remove_from_team(
        self, site: str, body: Departure, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> TeamChanged:
        """Record that somebody left their station outside advice, on any day so far; they stay in the pool."""
        answer: TeamChanged = self._send(
            "POST",
            "/api/v1/sites/{site}/team/departures",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def record_stints(
        self, site: str, body: NewStints, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> TeamChanged:
        """Record or correct who was at which station from when to when, all or none."""
        answer: TeamChanged = self._send(
            "POST",
            "/api/v1/sites/{site}/team/stints",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def import_team_csv(
        self,
        site: str,
        content: bytes | str,
        *,
        map: list[str] | None = None,
        dates: Literal["day-first", "month-first"] | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> TeamChanged:
        """Import a CSV file of stints, all or none: worker_id, from, and optionally until (the last day) and station."""
        answer: TeamChanged = self._send(
            "POST",
            "/api/v1/sites/{site}/team/csv",
            {"site": site},
            content=content,
            media_type="text/csv",
            query={"map": map, "dates": dates},
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def list_output(
        self,
        site: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        worker: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Outputs:
        """List the current output by worker, in the order they joined, and then by day."""
        answer: Outputs = self._send(
            "GET",
            "/api/v1/sites/{site}/output",
            {"site": site},
            query={"from": from_, "to": to, "worker": worker, "limit": limit, "cursor": cursor},
        )
        return answer

    def import_output(
        self,
        site: str,
        body: NewOutputs,
        *,
        correct: bool | None = None,
        skip_unknown: bool | None = None,
        team_from_output: bool | None = None,
        accept_unusual: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Recorded:
        """Record output, all rows or none. Rows already on record are skipped; different values are a conflict."""
        answer: Recorded = self._send(
            "POST",
            "/api/v1/sites/{site}/output",
            {"site": site},
            body=body,
            query={
                "correct": correct,
                "skip_unknown": skip_unknown,
                "team_from_output": team_from_output,
                "accept_unusual": accept_unusual,
            },
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def import_output_csv(
        self,
        site: str,
        content: bytes | str,
        *,
        map: list[str] | None = None,
        decimal: Literal[".", ","] | None = None,
        dates: Literal["day-first", "month-first"] | None = None,
        correct: bool | None = None,
        skip_unknown: bool | None = None,
        check_only: bool | None = None,
        yes: bool | None = None,
        where: list[str] | None = None,
        team_from_output: bool | None = None,
        accept_unusual: bool | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Recorded | Checked | Job:
        """Import a file of output, all rows or none; or, with check_only, report what that would do."""
        answer: Recorded | Checked | Job = self._send(
            "POST",
            "/api/v1/sites/{site}/output/csv",
            {"site": site},
            content=content,
            media_type="text/csv",
            query={
                "map": map,
                "decimal": decimal,
                "dates": dates,
                "correct": correct,
                "skip_unknown": skip_unknown,
                "check_only": check_only,
                "yes": yes,
                "where": where,
                "team_from_output": team_from_output,
                "accept_unusual": accept_unusual,
            },
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def list_profiles(self, site: str) -> Profiles:
        """List how the site's files of other layouts are read, the newest last."""
        answer: Profiles = self._send("GET", "/api/v1/sites/{site}/profiles", {"site": site})
        return answer

    def remove_profile(self, profile: str, site: str, *, if_match: str | None = None) -> None:
        """Remove a profile: such files need to be confirmed again."""
        answer: None = self._send(
            "DELETE",
            "/api/v1/sites/{site}/profiles/{profile}",
            {"profile": profile, "site": site},
            headers={"If-Match": if_match},
        )
        return answer

    def list_imports(
        self, site: str, *, newest: bool | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Imports:
        """List the imports of output by number, which is that of the event that recorded each."""
        answer: Imports = self._send(
            "GET",
            "/api/v1/sites/{site}/output/imports",
            {"site": site},
            query={"newest": newest, "limit": limit, "cursor": cursor},
        )
        return answer

    def undo_import(
        self, number: int, site: str, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> ImportTakenBack:
        """Take an import back; both stay on record. Repeating one's own request changes nothing."""
        answer: ImportTakenBack = self._send(
            "POST",
            "/api/v1/sites/{site}/output/imports/{number}/undo",
            {"number": number, "site": site},
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def list_events(
        self,
        site: str,
        *,
        after: int | None = None,
        newest: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Events:
        """List the events of the record by number; `after` returns only those after a known event."""
        answer: Events = self._send(
            "GET",
            "/api/v1/sites/{site}/ledger/events",
            {"site": site},
            query={"after": after, "newest": newest, "limit": limit, "cursor": cursor},
        )
        return answer

    def export_ledger(
        self,
        site: str,
        *,
        what: Literal["events", "decisions", "output", "workers"] | None = None,
        format: Literal["csv", "xlsx"] | None = None,
    ) -> str:
        """Return an export of the record, as `crewlearn ledger export` writes it."""
        answer: str = self._send(
            "GET", "/api/v1/sites/{site}/ledger/export", {"site": site}, query={"what": what, "format": format}
        )
        return answer

    def get_job(self, job: int) -> Job:
        """Return a job's progress, and its result once it is over."""
        answer: Job = self._send("GET", "/api/v1/jobs/{job}", {"job": job})
        return answer

    def cancel_job(self, job: int) -> Job:
        """Cancel a job that is queued, or a running plan or check. Requires the role manager at its site."""
        answer: Job = self._send("DELETE", "/api/v1/jobs/{job}", {"job": job})
        return answer

    def list_jobs(
        self,
        site: str,
        *,
        kind: Literal["plan", "verify", "output-import", "backtest", "pilot-plan"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Jobs:
        """List a site's jobs, the newest first."""
        answer: Jobs = self._send(
            "GET", "/api/v1/sites/{site}/jobs", {"site": site}, query={"kind": kind, "limit": limit, "cursor": cursor}
        )
        return answer

    def plan(self, site: str, body: PlanRequest) -> Job:
        """Simulate the site from what is known now: which policy is expected to earn most, and by how much."""
        answer: Job = self._send("POST", "/api/v1/sites/{site}/plan", {"site": site}, body=body)
        return answer

    def backtest(self, site: str, body: BacktestRequest) -> Job:
        """Replay the record as if the advice had been followed from a day on: what would it have brought?"""
        answer: Job = self._send("POST", "/api/v1/sites/{site}/backtest", {"site": site}, body=body)
        return answer

    def verify_ledger(self, site: str) -> Job:
        """Rebuild the site from its first event, check the hash chain, and derive every advice again."""
        answer: Job = self._send("POST", "/api/v1/sites/{site}/ledger/verification", {"site": site})
        return answer

    def plan_pilot(self, site: str, body: PilotPlanRequest) -> Job:
        """Compute what a pilot of some length could detect. Nothing is recorded."""
        answer: Job = self._send("POST", "/api/v1/sites/{site}/pilot/plan", {"site": site}, body=body)
        return answer

    def get_pilot(self, site: str, *, if_none_match: str | None = None) -> PilotView:
        """Return how far the newest pilot of the site is, without its effect, or its result once it has ended."""
        answer: PilotView = self._send(
            "GET", "/api/v1/sites/{site}/pilot", {"site": site}, headers={"If-None-Match": if_none_match}
        )
        return answer

    def start_pilot(
        self, site: str, body: NewPilot, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> PilotView:
        """Seal a plan that a job made, draw the groups at random, and begin."""
        answer: PilotView = self._send(
            "POST",
            "/api/v1/sites/{site}/pilot",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def look_at_pilot(self, site: str, *, if_match: str | None = None, idempotency_key: str | None = None) -> PilotView:
        """Take the planned early look that is due. The effect is told only if the pilot may stop, once it is ended."""
        answer: PilotView = self._send(
            "POST",
            "/api/v1/sites/{site}/pilot/look",
            {"site": site},
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def end_pilot(
        self,
        site: str,
        body: PilotEndRequest | None | None = None,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> PilotView:
        """Analyse a complete pilot once, as sealed, and record the result; or give it up, for a reason."""
        answer: PilotView = self._send(
            "POST",
            "/api/v1/sites/{site}/pilot/end",
            {"site": site},
            body=body,
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return answer

    def list_webhooks(self, site: str) -> Webhooks:
        """List the webhooks of a site, without their secrets."""
        answer: Webhooks = self._send("GET", "/api/v1/sites/{site}/webhooks", {"site": site})
        return answer

    def add_webhook(self, site: str, body: NewWebhook) -> ShownWebhook:
        """Add a webhook, which is told of what happens from now on. Its secret is in this response only."""
        answer: ShownWebhook = self._send("POST", "/api/v1/sites/{site}/webhooks", {"site": site}, body=body)
        return answer

    def remove_webhook(self, site: str, webhook: int) -> None:
        """Remove a webhook with everything that waits for it."""
        answer: None = self._send(
            "DELETE", "/api/v1/sites/{site}/webhooks/{webhook}", {"site": site, "webhook": webhook}
        )
        return answer

    def rotate_webhook_secret(self, site: str, webhook: int, body: SecretRotation) -> ShownSecret:
        """Replace the secret of a webhook. The old one stays valid for some hours, by default 24."""
        answer: ShownSecret = self._send(
            "POST", "/api/v1/sites/{site}/webhooks/{webhook}/secret", {"site": site, "webhook": webhook}, body=body
        )
        return answer

    def test_webhook(self, site: str, webhook: int) -> Delivery:
        """Put a test delivery in a webhook's outbox."""
        answer: Delivery = self._send(
            "POST", "/api/v1/sites/{site}/webhooks/{webhook}/test", {"site": site, "webhook": webhook}
        )
        return answer

    def list_deliveries(
        self, site: str, webhook: int, *, limit: int | None = None, cursor: str | None = None
    ) -> Deliveries:
        """List the deliveries of a webhook, the newest first. They are deleted after a week, failed ones after a month."""
        answer: Deliveries = self._send(
            "GET",
            "/api/v1/sites/{site}/webhooks/{webhook}/deliveries",
            {"site": site, "webhook": webhook},
            query={"limit": limit, "cursor": cursor},
        )
        return answer

    def retry_delivery(self, site: str, webhook: int, delivery: str) -> Delivery:
        """Send a delivery again, whether it failed or was delivered; one that waits is tried at once."""
        answer: Delivery = self._send(
            "POST",
            "/api/v1/sites/{site}/webhooks/{webhook}/deliveries/{delivery}/retry",
            {"site": site, "webhook": webhook, "delivery": delivery},
        )
        return answer

    def list_users(self, *, limit: int | None = None, cursor: str | None = None) -> Users:
        """List the users with their tokens (without the secrets), by name."""
        answer: Users = self._send("GET", "/api/v1/users", {}, query={"limit": limit, "cursor": cursor})
        return answer

    def add_user(self, body: NewUser) -> User:
        """Add a user. Repeating the request changes nothing; another role or sites for the same name are a conflict."""
        answer: User = self._send("POST", "/api/v1/users", {}, body=body)
        return answer

    def add_token(self, name: str, body: NewToken) -> ShownToken:
        """Create a token for a user. Its secret is in this response only; every request creates another token."""
        answer: ShownToken = self._send("POST", "/api/v1/users/{name}/tokens", {"name": name}, body=body)
        return answer

    def revoke_tokens(self, name: str) -> None:
        """Revoke all tokens of a user, and end their sessions and links."""
        answer: None = self._send("DELETE", "/api/v1/users/{name}/tokens", {"name": name})
        return answer

    def revoke_token(self, name: str, token: int) -> None:
        """Revoke a token; its sessions end. Revoking it again changes nothing."""
        answer: None = self._send("DELETE", "/api/v1/users/{name}/tokens/{token}", {"name": name, "token": token})
        return answer

    def change_user(self, name: str, body: UserChanges) -> User:
        """Change a user's role or sites, or disable or enable them; what is left out stays."""
        answer: User = self._send("PATCH", "/api/v1/users/{name}", {"name": name}, body=body)
        return answer

    def add_link(self, name: str) -> ShownLink:
        """Create a link that signs a user in, once and within a quarter of an hour. It is in this response only."""
        answer: ShownLink = self._send("POST", "/api/v1/users/{name}/links", {"name": name})
        return answer
