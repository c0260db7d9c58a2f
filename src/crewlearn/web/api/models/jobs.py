"""Jobs, and the settings of a plan."""

from typing import Annotated, Any

from pydantic import Field

from crewlearn.planning.limits import FEWEST_RUNS, MOST_RUNS
from crewlearn.problem.model import MOST
from crewlearn.web.api.models.base import Count, Fee, Flag, Model, Number, Page, Policy
from crewlearn.web.api.models.output import CheckedModel, Recorded
from crewlearn.web.errors.problems import ProblemDocument
from crewlearn.web.jobs.queue import Status
from crewlearn.web.jobs.work import Kind


class PlanRequest(Model):
    """What to simulate: the site as it is, or with some settings changed."""

    policies: list[Policy] | None = Field(
        default=None, max_length=20, description="Compared with keeping the team; a default choice if left out."
    )
    runs: Annotated[int, Field(strict=True, ge=FEWEST_RUNS, le=MOST_RUNS)] = Field(
        default=500, description="Simulated futures."
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = 1
    team: Annotated[int, Field(strict=True, ge=1, le=10**5)] | None = None
    fee: Fee | None = None
    horizon: Annotated[int, Field(strict=True, ge=1, le=MOST)] | None = None
    mean_delay: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=10**6)] | None = None
    policy: Policy | None = None


class Spread(Model):
    """An expected value with its 95% interval, and where 95% of the simulated futures lie, from worst to best."""

    mean: Number
    low: Number
    high: Number
    worst: Number
    best: Number


class ProspectModel(Model):
    """The simulated result of a policy, in money."""

    output: Spread
    fees: Number
    net: Spread
    gain: Spread = Field(description="Against keeping the team.")
    chance_better: Number
    chance_worse: Number
    replacements: Number


class PlanModel(Model):
    """The result of a plan."""

    version: Count = Field(description="The version of the site that was simulated.")
    best: str = Field(description="The policy that is expected to earn most.")
    headline: str
    own: str = Field(description="The site's policy.")
    first_period: Count
    periods: Count
    team: Count
    fee: Number
    mean_delay: Number
    changes: dict[str, Any] = Field(description="Settings that differ from the site's.")
    runs: Count
    seed: Count
    lead: Spread | None = Field(description="How much more the best earns than the next.")
    notes: list[str]
    policies: dict[str, ProspectModel] = Field(description="By name, the most profitable first.")


class VerifiedModel(Model):
    """The result of a check of the record."""

    events: Count
    rows: Count
    advice: Count = Field(description="How often advice was derived again.")
    older: Count = Field(description="Advice under older rules, which is not derived again.")
    faults: list[str]
    sound: Flag


class JobModel(Model):
    """A job with its progress and result."""

    id: Count
    site: str
    kind: Kind
    actor: str
    input: dict[str, Any] = Field(description="The input of the job.")
    status: Status
    progress: Annotated[float, Field(ge=0, le=1)]
    message: str = Field(description="Current step, reason of failure, or who cancelled it.")
    result: PlanModel | VerifiedModel | Recorded | CheckedModel | ProblemDocument | None = Field(
        description="Its result; for a failed job a problem, if there is one."
    )
    created: str
    started: str | None
    finished: str | None
    attempts: Count


class Jobs(Page[JobModel]):
    """Jobs, the newest first."""
