"""Jobs, and the settings of a plan."""

from typing import Annotated, Any

from pydantic import Field

from crewlearn.planning.limits import FEWEST_RUNS, MOST_REPLAYS, MOST_RUNS
from crewlearn.problem.model import MOST
from crewlearn.web.api.models.base import Count, Fee, Flag, Model, Number, Page, Policy
from crewlearn.web.api.models.site.output import CheckedModel, Recorded
from crewlearn.web.api.models.site.pilot import PilotPlanModel
from crewlearn.web.errors.problems import ProblemDocument
from crewlearn.web.jobs.queue import Status
from crewlearn.web.jobs.work import Kind

DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


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
    least_tenure: Annotated[int, Field(strict=True, ge=0, le=MOST)] | None = None
    most_a_week: Annotated[int, Field(strict=True, ge=0, le=MOST)] | None = None


class Spread(Model):
    """An expected value with its 95% interval, which is the doubt of the simulation, and ranges of outcomes.

    95% of the simulated futures lie from worst to best, and 9 of 10 from likely_low to likely_high.
    """

    mean: Number
    low: Number
    high: Number
    worst: Number
    best: Number
    likely_low: Number | None = Field(default=None, description="Left out by earlier versions.")
    likely_high: Number | None = Field(default=None, description="Left out by earlier versions.")


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


class BacktestRequest(Model):
    """From which day on the record is replayed as if the advice had been followed."""

    first: Annotated[int, Field(strict=True, ge=1, le=MOST)] | Annotated[str, Field(pattern=DAY)] = Field(
        default=31, description="The first day of advice: its number on record, from 1, or a date."
    )
    runs: Annotated[int, Field(strict=True, ge=FEWEST_RUNS, le=MOST_REPLAYS)] = Field(
        default=200, description="Draws of what is unknown."
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = 1


class BacktestModel(Model):
    """The result of a backtest, in money."""

    version: Count = Field(description="The version of the site that was replayed.")
    headline: str
    details: str
    policy: str
    first_day: str
    first_period: Count = Field(description="The number of the first day of advice on record.")
    periods: Count = Field(description="Working days that were replayed.")
    over_practice: Spread = Field(description="Against what was really done.")
    over_keeping: Spread = Field(description="Against keeping the team of the day before.")
    chance_over_practice: Number
    chance_over_keeping: Number
    fees: Number
    replacements: Number
    real_fees: Number
    real_replacements: Count
    on_record: Number = Field(description="The share of the days at stations that people really held then.")
    runs: Count
    seed: Count
    notes: list[str]


class VerifiedModel(Model):
    """The result of a check of the record."""

    events: Count
    rows: Count
    advice: Count = Field(description="How often advice was derived again.")
    older: Count = Field(description="Advice under older rules, which is not derived again.")
    faults: list[str]
    sound: Flag
    notes: list[str] = Field(default=[], description="Oddities that are no damage; left out if there are none.")
    unchecked: str = Field(
        default="",
        description="Why only hashes and rows were checked, as the site's policy cannot be used here, and what to do; "
        "left out if all was checked.",
    )


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
    result: (
        PlanModel | BacktestModel | PilotPlanModel | VerifiedModel | Recorded | CheckedModel | ProblemDocument | None
    ) = Field(description="Its result; for a failed job a problem, if there is one.")
    created: str
    started: str | None
    finished: str | None
    attempts: Count


class Jobs(Page[JobModel]):
    """Jobs, the newest first."""
