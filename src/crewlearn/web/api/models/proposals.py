"""Proposals with what spoke for them, the advice they make up, and a person's answers."""

from typing import Literal

from pydantic import (
    Field,
)

from crewlearn.advisor.text import LONGEST_REASON
from crewlearn.web.api.models.base import Count, Day, Flag, Model, Number, Page, WorkerId

ProposalStatus = Literal[
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
Outcome = Literal["offered", "accepted", "started", "declined", "expired", "no-show", "cancelled"]


class Estimate(Model):
    """What was thought of a worker, in the firm's own units: expected output with the ends of a 95% interval."""

    days: Count = Field(description="Days observed here.")
    prior: Count = Field(description="Days observed before.")
    mean: Number
    low: Number
    high: Number


class Why(Model):
    """What spoke for a proposal, in the firm's units and money, as it was then; null where a policy does not say."""

    out: Estimate | None = Field(description="Who makes room, or would; null for an empty station.")
    into: Estimate
    settled_on_arrival: Flag
    chance_better: Number | None = Field(description="Null for an empty station.")
    periods: Number = Field(description="Periods left after the wait.")
    mean_delay: Number
    gain: Number = Field(description="What it would gain in those, if for good, before the fee.")
    fee: Number
    break_even: Number | None = Field(description="The fee above which it would not have been proposed.")
    optimistic_gain: Number | None
    needed_gain: Number | None
    trial_periods: Number | None
    trial_value: Number | None


class Proposal(Model):
    """A replacement: `out`, or as `place` says, by `in`."""

    id: Count
    status: ProposalStatus
    period: Count = Field(description="The period it was proposed for.")
    date: Day
    out: str | None = Field(description="Who makes room, or made it; null if nobody does so far, or somebody erased.")
    place: Literal["worker", "empty station", "settled on arrival"] = Field(description="Which place is taken.")
    into: str | None = Field(alias="in", description="Who comes in; null for somebody erased.")
    fee: Number
    reason: str | None = Field(description="Why it was rejected.")
    why: Why


class ProposalUnderWay(Proposal):
    """A proposal that is open."""

    overdue: Flag = Field(description="Whether the offer takes much longer than offers do.")


class Explanation(Proposal):
    """A proposal with why it was made, as it was then."""

    explanation: list[str] = Field(description="In plain words, line by line.")


class Proposals(Page[Proposal]):
    """Proposals by number."""


class Waiting(Model):
    """What is waited for; which fields there are depends on the policy."""

    awaited: list[str | None] = Field(description="Whose first day is awaited.")
    too_dear: list[str | None] = Field(default=[], description="Who would be proposed, but not at their fee.")
    cycle: Count | None = None
    phase: str | None = None
    least_observed: str | None = Field(default=None, description="Who must still be seen.")
    still_needed: Count | None = Field(default=None, description="On how many days.")
    look_again: Count | None = Field(default=None, description="The period in which waiting is thought over again.")


class Advice(Model):
    """What to do about the coming period."""

    site: str
    period: Count
    date: Day
    sentence: str = Field(description="All of it in a sentence.", examples=["Wait (2026-11-16, period 1): …"])
    kind: Literal["propose", "wait"]
    proposals: list[Proposal]
    waiting: Waiting
    held_back: Count = Field(description="Proposals held back by the weekly limit.")
    changed: str | None = Field(description="How it differs from what was said of the same period before.")


class Approval(Model):
    """An approval; somebody else may make room than was proposed."""

    out: WorkerId | None = Field(default=None, description="Somebody else to make room.")


class Rejection(Model):
    """A rejection, with a reason for the record."""

    reason: str = Field(default="", max_length=LONGEST_REASON)
    keep_out: Flag = Field(default=False, description="Block who was to come in, for good.")


class Offer(Model):
    """How an offer went."""

    outcome: Outcome
    on: Day | None = Field(default=None, description="The day it happened; the coming one if left out.")
    out: WorkerId | None = Field(default=None, description="Who makes room after all, when somebody started.")


class Answered(Model):
    """A proposal after an answer, and the advice that stands now: a decline brings the next candidate."""

    proposal: Proposal
    warnings: list[str] = Field(description="What speaks against it; it is done all the same.")
    advice: Advice


class Undone(Model):
    """What was taken back, and the advice that stands now."""

    taken_back: str | None = Field(description="Which answer it was; null if it was taken back before.")
    advice: Advice
