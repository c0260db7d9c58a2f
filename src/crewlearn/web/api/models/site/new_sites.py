"""What an export suggests for a new site."""

from pydantic import Field

from crewlearn.web.api.models.base import Amount, Count, Day, Model


class ProposedSetting(Model):
    """A setting as it is proposed, and why."""

    value: Amount | Day | list[int] | list[Day] | None
    why: str


class ProposedSettings(Model):
    """The settings that a file suggests; those of units and calendar are listed with the others."""

    team: ProposedSetting
    low: ProposedSetting
    high: ProposedSetting
    hours_per_period: ProposedSetting
    start: ProposedSetting
    weekdays: ProposedSetting
    closures: ProposedSetting
    shifts_per_day: ProposedSetting
    cutoff_hour: ProposedSetting


class AskedSettings(Model):
    """What no file can tell, with the reason for asking."""

    fee: str
    value_per_unit: str


class ProposedSite(Model):
    """What an export suggests for a new site; nothing was recorded."""

    rows: Count = Field(description="Days of people in the file.")
    people: Count
    days: Count = Field(description="Days with output.")
    first_day: Day
    last_day: Day
    reading: list[str] = Field(description="How the file is read, in sentences.")
    notes: list[str] = Field(description="What happened to rows other than being read as they are.")
    settings: ProposedSettings
    asked: AskedSettings
    first_advice: str | None = Field(description="The first advice in a sentence; null unless the asked is given.")
