"""One answer for many proposals or offers, and what became of each."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crewlearn.advisor.advice.answering import MOST
from crewlearn.advisor.ledger.text import LONGEST_REASON
from crewlearn.web.api.models.base import Count, Day, Days, Flag, Model, Until
from crewlearn.web.api.models.site.proposals import Advice, Outcome


class AnswersModel(Model):
    """One answer for many: an approval, a rejection with `as`, or an outcome of offers."""

    proposals: list[Annotated[int, Field(strict=True, ge=1, le=10**9)]] = Field(
        min_length=1, max_length=MOST, description="Their numbers; each is answered in this order."
    )
    answer: Literal["approve", "reject"] | Outcome
    how: Literal["keep", "not-candidate", "not-now"] | None = Field(
        default=None, alias="as", description="Needed for a rejection, and as there."
    )
    reason: str = Field(default="", max_length=LONGEST_REASON, description="Of a rejection, for the record.")
    until: Until | None = None
    days: Days | None = None
    for_good: Flag = Field(default=False, description="With keep or not-candidate: without an end.")
    on: Day | None = Field(default=None, description="The day of an outcome; the coming working day if left out.")
    all_or_none: Flag = Field(
        default=False, description="Record nothing, with 409 or 422, if one cannot be answered; else that one is told."
    )

    @model_validator(mode="after")
    def check_parts(self) -> "AnswersModel":
        """Check that the parts sent belong to the answer."""
        if (self.answer == "reject") != (self.how is not None):
            raise ValueError("`as` belongs to a rejection, which needs it: keep, not-candidate or not-now")
        if self.answer != "reject" and (self.reason or self.until or self.days or self.for_good):
            raise ValueError("reason, until, days and for_good belong to a rejection; leave them out")
        if self.on is not None and self.answer in ("approve", "reject"):
            raise ValueError("`on` belongs to an outcome of offers; leave it out")
        return self


class AnsweredItem(Model):
    """A proposal after an action for many."""

    proposal: Count
    recorded: Flag = Field(description="Whether this answer of yours is on record, now or from before.")
    refused: str | None = Field(description="Why it is not: for one answered before, by whom, how and when.")
    warnings: list[str] = Field(description="Warnings; the answer is recorded all the same.")
    waits_for_second: Flag = Field(default=False, description="Whether a different user must approve it too.")


class AnsweredMany(Model):
    """What became of each proposal, and the advice afterwards."""

    items: list[AnsweredItem]
    advice: Advice
