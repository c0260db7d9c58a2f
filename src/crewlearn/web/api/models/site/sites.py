"""Sites: their settings and status."""

from typing import Annotated, Literal

from pydantic import Field

from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import MOST_BUDGET, MOST_ERASE_AFTER, SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.problem.model import MOST
from crewlearn.web.api.models.base import (
    Amount,
    Count,
    Day,
    Fee,
    Flag,
    Model,
    Number,
    Page,
    Policy,
    Positive,
    all_optional,
    without_default,
)
from crewlearn.web.api.models.site.learned import SiteLearnedModel
from crewlearn.web.api.models.site.proposals import ProposalUnderWay, WaitingModel
from crewlearn.web.api.models.site.workers import WorkerModel

Budget = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=MOST_BUDGET)]


class UnitsModel(Model):
    """The output range: `low` counts as nothing, `high` as the best; with `high` below `low`, less is better."""

    low: Amount
    high: Amount
    value_per_unit: Positive = Field(
        default=Units.value_per_unit, description="Money that one more recorded unit brings."
    )
    hours_per_period: Positive | None = Field(
        default=Units.hours_per_period, description="Hours of a period, if output is a rate."
    )


class Calendar(Model):
    """The working days."""

    start: Day = Field(description="The first working day, or any day before it.")
    weekdays: list[Annotated[int, Field(strict=True, ge=0, le=6)]] = Field(
        default=list(WorkCalendar.weekdays), min_length=1, max_length=7, description="0 is Monday, 6 is Sunday."
    )
    closures: list[Day] = Field(default=list(WorkCalendar.closures), max_length=10_000)
    shifts_per_day: Annotated[int, Field(strict=True, ge=1, le=24)] = WorkCalendar.shifts_per_day
    cutoff_hour: Annotated[int, Field(strict=True, ge=0, le=23)] = Field(
        default=WorkCalendar.cutoff_hour, description="Times before this hour belong to the previous day."
    )


class SiteSettings(Model):
    """A site's settings."""

    team: Annotated[int, Field(strict=True, ge=1, le=10**5)] = Field(description="Stations to staff.")
    fee: Fee = Field(description="What a replacement costs, in money.")
    units: UnitsModel
    calendar: Calendar
    horizon: Annotated[int, Field(strict=True, ge=1, le=MOST)] = Field(
        description="Planned periods; if rolling, how many are always ahead."
    )
    mean_delay: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=10**6)] = Field(
        description="Mean periods from an offer to the first day."
    )
    rolling: Flag = Field(default=SiteConfig.rolling, description="No planned end: the horizon moves along.")
    learn_delay: Flag = Field(
        default=SiteConfig.learn_delay, description="Learn the mean delay from the site's own offers."
    )
    fee_due: Literal["initiation", "completion"] = "initiation"
    policy: Policy = SiteConfig.policy
    conventions: Literal["as-written", "as-released"] = "as-written"
    least_tenure: Annotated[int, Field(strict=True, ge=0, le=MOST)] = Field(
        default=SiteConfig.least_tenure, description="Periods before somebody may be replaced."
    )
    most_a_week: Annotated[int, Field(strict=True, ge=0, le=MOST)] | None = Field(
        default=None,
        description="Most replacements proposed in a week; null for no limit. At a new site by default a fifth of the "
        "stations, at least 2. Filling an empty station does not count.",
        json_schema_extra=without_default,
    )
    most_a_month: Annotated[int, Field(strict=True, ge=0, le=MOST)] | None = Field(
        default=None, description="Most replacements proposed in a calendar month; null for no limit."
    )
    budget_a_week: Budget | None = Field(
        default=None, description="Most money for the fees of replacements in a week; null for no limit."
    )
    budget_a_month: Budget | None = Field(
        default=None,
        description="Most money for their fees in a calendar month; null for no limit. Filling an empty station does "
        "not count towards any limit.",
    )
    ask_again_after: Annotated[int, Field(strict=True, ge=0, le=MOST)] = Field(
        default=SiteConfig.ask_again_after,
        description="Periods for which somebody who declined or was rejected is not proposed again.",
    )
    erase_after: Annotated[int, Field(strict=True, ge=0, le=MOST_ERASE_AFTER)] | None = Field(
        default=None,
        description="Days after which the identities of people who left are erased by themselves; null for never.",
    )
    second_approver: Flag = Field(
        default=SiteConfig.second_approver,
        description="Two different users approve the same exchange before the offer goes out.",
        json_schema_extra=without_default,
    )
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = Field(
        default=None, description="ISO 4217 code, shown with amounts of money; null for none."
    )
    time_zone: Annotated[str, Field(min_length=1, max_length=60)] | None = Field(
        default=None,
        description="IANA name, such as Europe/Amsterdam: decides what day it is at the site; null for the server's.",
    )
    stream_key: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] | None = Field(
        default=None, description="Seed of the policy's random stream; drawn if left out, and never shown."
    )


class NewSite(Model):
    """A site to create."""

    site: str = Field(
        min_length=1,
        max_length=100,
        description="Its name: letters, digits, spaces and . ( ) + - _, the first a letter or digit.",
    )
    settings: SiteSettings


@all_optional
class UnitsChange(UnitsModel):
    """Changes of the units; with another range or hours, everything is estimated anew from the recorded output."""


@all_optional
class CalendarChange(Calendar):
    """Changes of the calendar, for days to come."""


@all_optional
class SiteChanges(SiteSettings):
    """Settings to change from now on; those left out stay, in `units` and `calendar` too."""

    units: UnitsChange
    calendar: CalendarChange


class SiteLine(Model):
    """A site in a list."""

    site: str
    version: Count = Field(description="The number of its last event.")
    advice: str = Field(description="The advice in a sentence.")
    period: Count = Field(description="The coming period.")
    date: Day = Field(description="Its day.")
    stations: Count
    filled: Count
    proposals: Count = Field(description="Proposals that wait for an answer.")


class SiteFault(Model):
    """A site whose stored state cannot be read, as when its policy's module is gone; the others are listed as usual."""

    site: str
    fault: str = Field(description="Why, and what to do.")


class SiteLines(Page[SiteLine | SiteFault]):
    """Sites by name."""


class SiteView(SiteLine):
    """A site with its settings."""

    settings: SiteSettings
    newer_policy: str | None = Field(
        default=None, description="A newer policy that may suit the site better than its own; null if there is none."
    )


class GainModel(Model):
    """Money gained, net of fees, as estimated now, with a 95% interval."""

    expected: Number
    low: Number
    high: Number


class ReplacementResult(Model):
    """What a replacement has brought so far, and what had been predicted for as many days."""

    proposal: Count
    out: str | None = Field(description="Who made room; null for a vacancy.")
    into: str | None = Field(alias="in")
    days: Count
    gain: GainModel
    chance_paid: Number = Field(description="The probability that it has paid.")
    predicted: GainModel | None = Field(description="Null where a vacancy was filled.")
    verdict: Literal["better", "as predicted", "worse"] | None
    breaks_even: Day | None = Field(description="The day on which it broke even, or is expected to; null if unknown.")


class TrackRecordModel(Model):
    """How the advised replacements did: how many brought more than they cost, and how many came out as predicted."""

    replacements: Count
    ahead: Count
    better: Count
    as_predicted: Count
    worse: Count
    chance_paid: Number | None = Field(description="The probability that the whole has paid; null if there are none.")
    results: list[ReplacementResult]


class LimitModel(Model):
    """A limit on replacements or on their fees, by its setting, and how much of it approvals have used."""

    setting: Literal["most_a_week", "most_a_month", "budget_a_week", "budget_a_month"]
    span: Literal["week", "month"]
    money: Flag = Field(description="Whether it is a limit on money.")
    most: Number
    used: Number
    left: Number


class SiteStatus(Model):
    """The team, the pool, replacements under way, and money so far."""

    site: str
    period: Count
    date: Day
    sentence: str
    stations: Count
    filled: Count
    earned: Number = Field(description="Value of the recorded output, in money.")
    fees: Number
    mean_delay: Number = Field(description="Mean periods from an offer to the first day, as set or as learned.")
    limits: list[LimitModel] | None = Field(
        default=None,
        description="The limits that are set, and how much of each is used. Left out where there is neither a budget "
        "nor a limit a month.",
    )
    gain: GainModel = Field(description="The gain over the same site without the advised replacements.")
    track_record: TrackRecordModel
    cycle: WaitingModel
    proposals: list[ProposalUnderWay]
    workers: list[WorkerModel]
    learned: SiteLearnedModel | None = Field(
        default=None, description="Left out if the policy takes people and days as they are on average."
    )
