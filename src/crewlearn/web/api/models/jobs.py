"""Long work, and what a plan is to simulate."""

from typing import Annotated, Any, Literal

from pydantic import (
    Field,
)

from crewlearn.problem.model import MOST
from crewlearn.web.api.models.base import Count, Fee, Model, Page, Policy
from crewlearn.web.work import MOST_RUNS

JobKind = Literal["plan", "verify", "output-import"]


class PlanRequest(Model):
    """What to simulate: the site as it is, or what if some settings were other."""

    policies: list[Policy] | None = Field(
        default=None, max_length=20, description="Played beside keeping the team; a usual choice if left out."
    )
    runs: Annotated[int, Field(strict=True, ge=2, le=MOST_RUNS)] = Field(default=500, description="Simulated futures.")
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = 1
    team: Annotated[int, Field(strict=True, ge=1, le=10**5)] | None = None
    fee: Fee | None = None
    horizon: Annotated[int, Field(strict=True, ge=1, le=MOST)] | None = None
    mean_delay: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=10**6)] | None = None
    policy: Policy | None = None


class Job(Model):
    """Long work, how far it is, and what came of it."""

    id: Count
    site: str
    kind: JobKind
    actor: str
    input: dict[str, Any] = Field(description="What was asked for.")
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    progress: Annotated[float, Field(ge=0, le=1)]
    message: str = Field(description="What it is at, why it failed, or who cancelled it.")
    result: dict[str, Any] | None = Field(
        description="What came of it: a plan, with the version of the site that was simulated; what a check found; or "
        "what an import did. Of a failed one, a problem."
    )
    created: str
    started: str | None
    finished: str | None
    attempts: Count


class Jobs(Page[Job]):
    """Jobs, the newest first."""
