"""Pilots: what is planned, started, looked at and ended."""

from typing import Annotated, Literal

from pydantic import Field

from crewlearn.advisor.advice.pilots import LONGEST_SEED
from crewlearn.advisor.ledger.pilots.sealed import MOST_GROUPS, MOST_LOOKS, MOST_WAVES
from crewlearn.advisor.ledger.text import LONGEST_REASON
from crewlearn.planning.pilot.planning import LEAST_BASELINE, MOST_DAYS, MOST_RUN_IN
from crewlearn.web.api.models.base import Count, Fee, Flag, Model, Number, Positive
from crewlearn.web.settings import MOST_NUMBER

Measure = Literal["net", "output"]
_Groups = Annotated[int, Field(strict=True, ge=2, le=MOST_GROUPS)]


class PilotPlanRequest(Model):
    """What a pilot is to be like; days and baseline are working days, the run-in calendar days."""

    sites: list[str] = Field(
        default=[],
        max_length=MOST_GROUPS,
        description="Other sites that take part: then each site is a group. Requires the role manager at each.",
    )
    groups: _Groups | None = Field(
        default=None, description="Groups of stations, of a single site; left out, each station, up to 20."
    )
    days: Annotated[int, Field(strict=True, ge=2, le=MOST_DAYS)] = 60
    waves: Annotated[int, Field(strict=True, ge=2, le=MOST_WAVES)] = Field(
        default=2, description="2: two arms at once. More: stepped, one wave after another."
    )
    run_in: Annotated[int, Field(strict=True, ge=0, le=MOST_RUN_IN)] = Field(
        default=14, description="Calendar days after turning to advice that do not count."
    )
    baseline: Annotated[int, Field(strict=True, ge=LEAST_BASELINE, le=MOST_DAYS)] = 40
    measure: Measure = "net"
    outside_fee: Fee | None = Field(
        default=None, description="Cost of a change outside advice; left out, the site's fee."
    )
    looks: Annotated[int, Field(strict=True, ge=0, le=MOST_LOOKS)] = Field(
        default=0, description="Planned early looks, evenly spaced."
    )
    power: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.5, le=0.99)] = 0.8
    gain: Positive | None = Field(default=None, description="The gain a station and day hoped for, in money.")


class PilotGroupModel(Model):
    """Stations, counted from 0, that are assigned together."""

    name: str
    site: str
    stations: list[Count]


class SealedPlanModel(Model):
    """What is compared, how and when."""

    groups: list[PilotGroupModel]
    baseline: str = Field(description="The first day of the baseline.")
    steps: list[str] = Field(description="The days on which a wave turns to advice; the first is that of the pilot.")
    last: str
    run_in: Count
    measure: Measure
    outside_fee: Number
    carried: Number = Field(description="The share of a group's baseline that is taken off its output.")
    alpha: Number
    looks: list[str] = Field(description="The days from which an early look may be taken.")
    promised_gain: Number = Field(description="The gain a station and day that is shown with promised_power.")
    promised_power: Number


class PilotDuration(Model):
    """A pilot of so many working days: the gain that it shows, and its power for the gain hoped for."""

    days: Count
    last: str
    detectable: Number | None
    power: Number | None


class PilotPlanModel(Model):
    """A plan that can be sealed, with what it promises."""

    digest: str
    plan: SealedPlanModel
    days: Count
    detectable_gain: Number
    usual_output: Number = Field(description="Output in money of a station and day, in the baseline.")
    gain: Number | None
    power: Number | None
    assignments: Count = Field(description="How many assignments the draw chooses from.")
    durations: list[PilotDuration]
    headline: str
    lines: list[str] = Field(description="The rest in words.")


class NewPilot(Model):
    """Which plan to seal and begin."""

    job: Annotated[int, Field(strict=True, ge=1, le=MOST_NUMBER)] = Field(
        description="The job that made the plan; it must be about this site."
    )
    seed: Annotated[str, Field(min_length=1, max_length=LONGEST_SEED)] | None = Field(
        default=None, description="Seed of the draw; left out, the hash of the record, which nobody chose."
    )


class PilotSecond(Model):
    """The measure that was not the question of the plan."""

    measure: Measure
    gain: Number
    low: Number | None
    high: Number | None
    p: Number


class PilotResult(Model):
    """The one analysis: the gain a station and day in money, with its interval of confidence 1 - level."""

    gain: Number
    low: Number | None = Field(description="Null where the groups are too few to bound it.")
    high: Number | None
    error: Number
    p: Number
    level: Number
    assignments: Count
    detected: Flag
    measure: Measure
    through: str
    groups: Count
    stations: Count
    recorded_days: Count
    came_by_advice: Count
    departures: Count
    second: PilotSecond


class PilotView(Model):
    """How far the newest pilot of a site is; its effect is told at the end."""

    state: Literal["running", "complete", "ended", "given-up"]
    digest: str = Field(description="SHA-256 of the plan.")
    seed: str
    plan: SealedPlanModel
    waves: list[Count] = Field(description="The wave of each group, from 0; the last stays in usual practice.")
    started_at: str
    started_by: str
    recorded_days: Count
    recorded_through: str | None
    came_by_advice: Count
    departures: Count = Field(description="People who came by advice to usual practice, against the plan.")
    looks_taken: Count
    look_due: Flag
    may_stop: Flag = Field(description="Whether a planned look allows to end it early.")
    result: PilotResult | None
    reason: str = Field(description="Why it was given up.")


class PilotEndRequest(Model):
    """How a pilot ends: with its analysis or, at any time, without a result for a reason."""

    give_up: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)] | None = None
