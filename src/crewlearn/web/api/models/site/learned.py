"""What a policy has learned about people who change and days that differ."""

from pydantic import Field

from crewlearn.web.api.models.base import Count, Day, Model, Number


class LevelModel(Model):
    """A worker's level after ramp-up with a 95% interval, in the firm's own units."""

    mean: Number
    low: Number
    high: Number


class RampUpModel(Model):
    """How far a worker is in ramp-up."""

    day: Count = Field(description="Days worked so far.")
    days: Count = Field(description="About how many days ramp-up takes.")


class TrendModel(Model):
    """A change of a worker's level."""

    since: Count = Field(description="The period that the level is compared with.")
    date: Day = Field(description="Its day.")
    change: Number | None = Field(
        description="The change relative to the level then; positive if output as recorded went up, even where less "
        "is better. Null where output may be negative."
    )
    difference: Number = Field(description="The change in the firm's own units.")
    chance: Number = Field(description="The probability that the level really moved in this direction.")


class PersonLearnedModel(Model):
    """What the policy has learned about a worker."""

    level: LevelModel
    output_now: Number = Field(description="Expected output now: less than the level during ramp-up.")
    ramp_up: RampUpModel | None = Field(description="Null once it is over, or if there is none.")
    trend: TrendModel | None = Field(description="Null unless one shows.")
    notes: list[str] = Field(description="Ramp-up and trend in words.")


class RampModel(Model):
    """How newcomers' output at first differs from their level, relative to it."""

    mean: Number
    sd: Number


class UnusualDayModel(Model):
    """A day that stood out for everybody, relative to an ordinary day, with a 95% interval.

    The effects are null where output may be negative.
    """

    period: Count
    date: Day
    effect: Number | None
    low: Number | None
    high: Number | None


class SiteLearnedModel(Model):
    """What the policy has learned about newcomers and days."""

    ramp: RampModel | None = Field(description="Null where output may be negative.")
    ramp_days: Count | None = Field(description="Days of ramp-up; null if there is none, or nobody to go through it.")
    unusual_days: list[UnusualDayModel] = Field(description="Of the latest days on record, the oldest first.")
