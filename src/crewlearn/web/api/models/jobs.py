"""Long work, and what a plan is to simulate."""

from typing import Annotated, Any

from pydantic import (
    Field,
)

from crewlearn.planning.limits import FEWEST_RUNS, MOST_RUNS
from crewlearn.problem.model import MOST
from crewlearn.web.api.models.base import Count, Fee, Flag, Model, Number, Page, Policy
from crewlearn.web.api.models.output import Checked, Recorded
from crewlearn.web.jobs import Status
from crewlearn.web.problems import Problem
from crewlearn.web.work import Kind


class PlanRequest(Model):
    """What to simulate: the site as it is, or what if some settings were other."""

    policies: list[Policy] | None = Field(
        default=None, max_length=20, description="Played beside keeping the team; a usual choice if left out."
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


class Prospect(Model):
    """What a policy is expected to bring, in money."""

    output: Spread
    fees: Number
    net: Spread
    gain: Spread = Field(description="Against keeping the team.")
    chance_better: Number
    chance_worse: Number
    replacements: Number


class Plan(Model):
    """What came of a plan."""

    version: Count = Field(description="The version of the site that was simulated.")
    best: str = Field(description="The policy that is expected to earn most.")
    headline: str
    own: str = Field(description="The site's policy.")
    first_period: Count
    periods: Count
    team: Count
    fee: Number
    mean_delay: Number
    changes: dict[str, Any] = Field(description="Settings that were other than the site's.")
    runs: Count
    seed: Count
    lead: Spread | None = Field(description="What the best earns more than the next.")
    notes: list[str]
    policies: dict[str, Prospect] = Field(description="By name, what earns most first.")


class Verified(Model):
    """What a check of the record found."""

    events: Count
    rows: Count
    advice: Count = Field(description="How often advice was derived again.")
    older: Count = Field(description="Advice under older rules, which is not derived again.")
    faults: list[str]
    sound: Flag


class Job(Model):
    """Long work, how far it is, and what came of it."""

    id: Count
    site: str
    kind: Kind
    actor: str
    input: dict[str, Any] = Field(description="What was asked for.")
    status: Status
    progress: Annotated[float, Field(ge=0, le=1)]
    message: str = Field(description="What it is at, why it failed, or who cancelled it.")
    result: Plan | Verified | Recorded | Checked | Problem | None = Field(
        description="What came of it; of a failed one, a problem, if there is one."
    )
    created: str
    started: str | None
    finished: str | None
    attempts: Count


class Jobs(Page[Job]):
    """Jobs, the newest first."""
