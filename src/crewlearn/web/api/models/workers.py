"""Workers, as they are sent and received."""

from typing import Annotated, Literal

from pydantic import (
    Field,
)

from crewlearn.advisor.text import LONGEST_NAME
from crewlearn.web.api.models.base import Amount, Count, Day, Fee, Flag, Model, Number, Page, WorkerId, all_optional

MOST_WORKERS = 10_000
Status = Literal["pool", "blocked", "left"]


class Worker(Model):
    """A worker, where they stand, and what is thought of them: expected output with a 95% interval, in own units."""

    worker_id: str | None = Field(description="The firm's own id; null for somebody erased.")
    name: str | None
    station: Count | None = Field(description="Counted from 1; null if not in the team.")
    status: Status
    days: Count = Field(description="Days observed, prior data included.")
    estimate: Number
    low: Number
    high: Number
    note: str


class WorkerView(Worker):
    """A worker with everything that was said of them."""

    pinned: Flag
    fee: Number | None = Field(description="Their own fee; null for the site's.")
    prior_n: Count
    prior_mean: Number | None
    interview: Number | None
    since: Day | None = Field(description="When they took their station.")
    not_before: Day | None = Field(description="The day before which they are not proposed again.")
    recorded_to: Day | None = Field(description="The last day with output of theirs.")


class Workers(Page[Worker]):
    """Workers in the order asked for."""


class NewWorker(Model):
    """A worker who joins, or what is new of one who is known."""

    worker_id: WorkerId
    name: str | None = Field(default=None, max_length=LONGEST_NAME)
    active: Flag | None = Field(default=None, description="In the team at the start; proposals bring people in later.")
    fee: Fee | None = Field(default=None, description="Their own fee, in money.")
    prior_n: Annotated[int, Field(strict=True, ge=0, le=10**9)] | None = Field(
        default=None, description="Days seen before this site, with prior_mean."
    )
    prior_mean: Amount | None = None
    status: Status | None = None
    interview: Amount | None = None
    pinned: Flag | None = None


class NewWorkers(Model):
    """Workers to take in, all or none."""

    workers: list[NewWorker] = Field(min_length=1, max_length=MOST_WORKERS)


@all_optional
class WorkerChanges(Model):
    """What to record of a worker; what is left out stays as it is."""

    status: Status
    pinned: Flag = Field(description="Keep them whatever is advised.")
    fee: Fee | None = Field(description="Their own fee, in money; null for the site's.")
