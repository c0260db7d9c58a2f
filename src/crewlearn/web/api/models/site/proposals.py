"""Proposals with their reasons, the advice, and answers."""

from typing import Literal

from pydantic import Field

from crewlearn.advisor.ledger.text import LONGEST_REASON
from crewlearn.web.api.models.base import Count, Day, Days, Flag, Model, Number, Page, Until, WorkerId
from crewlearn.web.api.models.site.learned import RampUpModel, TrendModel

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


class EstimateModel(Model):
    """The estimate of a worker, in the firm's own units: expected output with a 95% interval.

    If the policy learns ramp-up, it is the level `after_ramp_up`; the fields from there on are left out otherwise.
    """

    days: Count = Field(description="Days observed here.")
    prior: Count = Field(description="Days observed before.")
    mean: Number
    low: Number
    high: Number
    after_ramp_up: Flag = False
    ramp_up: RampUpModel | None = Field(default=None, description="How far they were; null once it is over.")
    trend: TrendModel | None = Field(default=None, description="Null unless one showed.")


class Why(Model):
    """The reasons for a proposal when it was made, in the firm's units and money; null if the policy has none."""

    out: EstimateModel | None = Field(description="Who leaves, or would leave; null for an empty station.")
    into: EstimateModel
    settled_on_arrival: Flag
    chance_better: Number | None = Field(description="Null for an empty station.")
    periods: Number = Field(description="Periods for which the exchange is expected to last, as people quit.")
    periods_left: Number | None = Field(
        default=None,
        description="Periods left after the wait, if the exchange is not expected to last for all of them.",
    )
    mean_delay: Number
    gain: Number = Field(description="The gain over `periods` before the fee, if the replacement is permanent.")
    fee: Number
    break_even: Number | None = Field(description="The fee above which it would not have been proposed.")
    optimistic_gain: Number | None
    needed_gain: Number | None
    trial_periods: Number | None
    trial_value: Number | None


class CandidateModel(Model):
    """Somebody who could come in instead of the worker proposed; money is over the same periods as for the proposal."""

    worker_id: str | None = Field(description="Whom to name to bring them in: of several alike, the first to join.")
    name: str | None
    unseen: Flag = Field(description="Whether nothing is known of them.")
    alike: Count = Field(description="How many people are alike, of whom nothing is known; 1 for somebody known.")
    value: Number = Field(
        description="What they alone are expected to bring, net of the fee, with the way back if the policy has one."
    )
    gain: Number = Field(description="The gain before the fee, if the replacement is permanent.")
    fee: Number
    chance_better: Number | None = Field(description="Null for an empty station.")
    estimate: EstimateModel


class FirstApprovalModel(Model):
    """The first of the two approvals that a site with a second approver asks for, and of which exchange."""

    by: str
    at: str = Field(description="When, in UTC.")
    out: str | None = Field(description="Who leaves; null if nobody is named so far, or if erased.")
    into: str | None = Field(alias="in", description="Who comes in; null if erased.")


class ProposalModel(Model):
    """A replacement of `out` by `in`; `place` says which place is taken."""

    id: Count
    status: ProposalStatus
    period: Count = Field(description="The period it was proposed for.")
    date: Day
    out: str | None = Field(description="Who leaves, or left; null if nobody does so far, or if erased.")
    place: Literal["worker", "empty station", "settled on arrival"] = Field(description="Which place is taken.")
    into: str | None = Field(alias="in", description="Who comes in; null if erased.")
    fee: Number
    reason: str | None = Field(description="Why it was rejected.")
    why: Why
    first_approval: FirstApprovalModel | None = Field(
        default=None,
        description="Present while it waits for a second approver, who must be a different user.",
    )
    candidates: list[CandidateModel] | None = Field(
        default=None,
        description="Who could come in instead, best first. Listed with the proposal itself and, in the advice, for "
        "the first ten; left out elsewhere and once it is answered.",
    )


class ProposalUnderWay(ProposalModel):
    """A proposal that is open."""

    overdue: Flag = Field(description="Whether the offer takes much longer than usual.")


class Explanation(ProposalModel):
    """A proposal with its explanation when it was made."""

    explanation: list[str] = Field(description="In plain words, line by line.")


class Proposals(Page[ProposalModel]):
    """Proposals by number."""


class WaitingModel(Model):
    """What the site waits for; the fields depend on the policy."""

    awaited: list[str | None] = Field(description="Workers whose first day is expected.")
    too_dear: list[str | None] = Field(default=[], description="Workers who would be proposed at a lower fee.")
    cycle: Count | None = None
    phase: str | None = None
    least_observed: str | None = Field(
        default=None,
        description="The worker who must still be observed, or the newcomer who takes longest to be judged.",
    )
    still_needed: Count | None = Field(default=None, description="On how many days.")
    look_again: Count | None = Field(default=None, description="The period in which waiting is reconsidered.")


class Advice(Model):
    """What to do in the coming period."""

    site: str
    period: Count
    date: Day
    sentence: str = Field(description="The advice in a sentence.", examples=["Wait (2026-11-16, period 1): …"])
    kind: Literal["propose", "wait"]
    proposals: list[ProposalModel]
    waiting: WaitingModel
    held_back: Count = Field(description="Proposals held back by a limit a week or month.")
    changed: str | None = Field(description="How it differs from earlier advice for the same period.")


class Approval(Model):
    """An approval, with an optional choice of who leaves and who comes in."""

    out: WorkerId | None = Field(default=None, description="Who leaves, if not the worker proposed.")
    into: WorkerId | None = Field(
        default=None, alias="in", description="Who comes in, if not the worker proposed, who then stays available."
    )


class Rejection(Model):
    """A rejection, with a reason for the record.

    `as` says what it is about, and the other one of the pair stays as available as before. Without it, the candidate
    is not proposed again for a while.
    """

    reason: str = Field(default="", max_length=LONGEST_REASON)
    keep_out: Flag = Field(default=False, description="Never propose the same person again; not with `as`.")
    how: Literal["keep", "not-candidate", "not-now"] | None = Field(
        default=None,
        alias="as",
        description="keep: keep who would leave. not-candidate: somebody else may be proposed. not-now: not the same "
        "exchange, for the site's ask_again_after periods.",
    )
    until: Until | None = None
    days: Days | None = None
    for_good: Flag = Field(default=False, description="With keep or not-candidate: without an end.")


class OfferModel(Model):
    """The outcome of an offer."""

    outcome: Outcome
    on: Day | None = Field(default=None, description="The day of the outcome; the coming working day if left out.")
    out: WorkerId | None = Field(default=None, description="On a start, who leaves, if not as agreed.")


class Answered(Model):
    """A proposal after an answer, and the current advice: a decline brings the next candidate."""

    proposal: ProposalModel
    warnings: list[str] = Field(description="Warnings; the answer is recorded all the same.")
    advice: Advice


class Undone(Model):
    """The answer that was undone, and the current advice."""

    taken_back: str | None = Field(description="The answer in words; null if it was undone before.")
    advice: Advice
