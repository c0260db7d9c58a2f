"""Workers in requests and answers."""

from typing import TYPE_CHECKING

from pydantic import Field

from crewlearn.advisor.advice.remarks import LONGEST_NOTE
from crewlearn.advisor.files.columns import WORKERS
from crewlearn.advisor.ledger.text import LONGEST_REASON
from crewlearn.web.api.models import columns
from crewlearn.web.api.models.base import (
    Count,
    Day,
    Days,
    Fee,
    Flag,
    Model,
    Number,
    Page,
    Until,
    WorkerId,
    all_optional,
)
from crewlearn.web.api.models.columns import Status
from crewlearn.web.api.models.site.learned import PersonLearnedModel

MOST_WORKERS = 10_000


class WorkerModel(Model):
    """A worker with station, status and estimate: expected output with a 95% interval, in the firm's own units."""

    worker_id: str | None = Field(description="The firm's own id; null if erased.")
    name: str | None
    station: Count | None = Field(description="Counted from 1; null if not in the team.")
    status: Status
    days: Count = Field(description="Days observed, prior data included.")
    estimate: Number
    low: Number
    high: Number
    note: str
    learned: PersonLearnedModel | None = Field(
        default=None, description="Left out if the policy takes people as they are on average."
    )


class RemarkModel(Model):
    """A reason or note: by whom, when (UTC), and the day on which it ends."""

    text: str
    by: str
    at: str
    until: Day | None = Field(description="Null if it has no end.")


class WorkerView(WorkerModel):
    """A worker with everything on record about them."""

    pinned: Flag = Field(description="Whether they are kept whatever is advised, for good or until a day.")
    protection: RemarkModel | None = Field(description="Why they are kept, and until when; null if nobody said.")
    block: RemarkModel | None = Field(description="Why they are not brought in, and until when; null if nobody said.")
    notes: list[RemarkModel] = Field(description="Notes that have not ended, oldest first.")
    fee: Number | None = Field(description="Their own fee; null for the site's.")
    prior_n: Count
    prior_mean: Number | None
    interview: Number | None
    since: Day | None = Field(description="When they took their station.")
    not_before: Day | None = Field(description="The day before which they are not proposed again.")
    recorded_to: Day | None = Field(description="Their last day with output.")


class Workers(Page[WorkerModel]):
    """Workers in the order asked for."""


if TYPE_CHECKING:  # generated from the file's columns, which the type checker cannot follow
    SentWorker = Model
else:
    SentWorker = columns.sent(WORKERS)


class NewWorker(SentWorker):
    """A new worker, or changes to a known one."""


class NewWorkers(Model):
    """Workers to import, all or none."""

    workers: list[NewWorker] = Field(min_length=1, max_length=MOST_WORKERS)


@all_optional
class WorkerChanges(Model):
    """Changes to a worker; fields left out stay as they are."""

    status: Status
    pinned: Flag = Field(description="Keep them whatever is advised.")
    fee: Fee | None = Field(description="Their own fee, in money; null for the site's.")
    reason: str = Field(max_length=LONGEST_REASON, description="Why they are pinned or blocked.")
    until: Until = Field(description="The day on which the pin or block ends: it holds up to the day before.")
    days: Days = Field(description="For so many calendar days, instead of until.")


class NewNote(Model):
    """A note on a worker. The record keeps it, even after the person is erased."""

    worker_id: WorkerId
    text: str = Field(min_length=1, max_length=LONGEST_NOTE)
    until: Until | None = None
    days: Days | None = None
