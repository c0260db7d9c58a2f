"""What a site's policy has learned about changing people and days, in the site's units and as dates.

Everything here is derived from the policy's `readings`, which are computed once and passed on.
"""

import math
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.learned.dated_readings import date_of_period, readings_of
from crewlearn.advisor.ledger.learned.stored_states import policy_state
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import Site
from crewlearn.beliefs.posterior import TWO_SIDED_95
from crewlearn.policies.contract import Policy
from crewlearn.policies.explanations import DayReading, Estimate, Level, PersonReading, Readings, Trend


@dataclass(frozen=True)
class PeopleLevel:
    """A worker's level after ramp-up in the site's units, with the ends of a 95% interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class PeopleTrend:
    """A change of a worker's level since a period and its day, with the chance that it is real.

    `change` is relative to the level then, as the site counts output: positive if the number went up, even where less
    is better. It is None where output may be negative; `difference` is the change in the site's units.
    """

    since: int
    date: date
    change: float | None
    difference: float
    chance: float

    def to_json(self) -> dict[str, Any]:
        """Describe the trend as plain data."""
        return {**asdict(self), "date": str(self.date)}


@dataclass(frozen=True)
class RampUp:
    """How far somebody is in ramp-up: days worked so far, and about how many it takes."""

    day: int
    days: int


@dataclass(frozen=True)
class PersonLearned:
    """What was learned about a worker.

    `output` is what they are expected to put out now. `ramp_up` is None once it is over, or if there is none.
    """

    level: PeopleLevel
    output: float
    ramp_up: RampUp | None
    trend: PeopleTrend | None


@dataclass(frozen=True)
class UnusualDay:
    """A day that stood out for everybody: how far output was above or below that of an ordinary day.

    `effect` is relative to an ordinary day, with the ends of a 95% interval; each is None where output may be negative.
    """

    period: int
    date: date
    effect: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SiteLearned:
    """What was learned at a site: `people` by worker number, unusual days oldest first, and what newcomers lack.

    `ramp` is how newcomers' output at first differs from their level, relative to it, with its standard deviation; None
    where output may be negative. `ramp_days` are the days worked after which hardly anything is lacking; None if there
    is no ramp-up, or nobody left to go through it.
    """

    people: tuple[PersonLearned, ...]
    unusual_days: tuple[UnusualDay, ...]
    ramp: Estimate | None
    ramp_days: int | None


def has_readings(policy: Policy[Any]) -> bool:
    """Return whether a policy offers readings."""
    return type(policy).readings is not Policy.readings


def state_for_readings(connection: sa.Connection, key: int, site: Site) -> Any:
    """Return the policy's state after the last advice; None if it has none, or neither readings nor learning by day."""
    policy = site.policy
    wanted = site.workers and (has_readings(policy) or policy.learns_by_day)
    return policy_state(connection, key, site) if wanted else None


def readings_at(site: Site, state: Any) -> Readings | None:
    """Return the readings of a site's policy, given its state; None if it offers none."""
    if state is None or not has_readings(site.policy):
        return None
    return readings_of(site, site.policy, state, site.situation())


def learned_at(site: Site, state: Any) -> SiteLearned | None:
    """Return what a site's policy has learned, given its state; None if it offers no readings."""
    readings = readings_at(site, state)
    return None if readings is None else in_units(site, readings)


def read_learned_at(connection: sa.Connection, key: int, site: Site) -> SiteLearned | None:
    """Return what a site's policy has learned, read from the store; None if it offers no readings."""
    return learned_at(site, state_for_readings(connection, key, site))


def in_units(site: Site, readings: Readings) -> SiteLearned:
    """Return readings in the site's units and with its dates."""
    ramps = [person.ramp_days for person in readings.people if person.ramp_days is not None]
    ordinary = min(1.0, max(0.0, readings.centre.mean))
    return SiteLearned(
        people=tuple(person_learned(site, person) for person in readings.people),
        unusual_days=tuple(_unusual(site, ordinary, day) for day in readings.days if day.unusual),
        ramp=_ramp(site.config.units, ordinary, readings.ramp_depth),
        ramp_days=max(ramps, default=None),
    )


def person_learned(site: Site, person: PersonReading) -> PersonLearned:
    """Return what was learned about a worker, in the site's units."""
    units, mean = site.config.units, person.level.mean or 0.0
    return PersonLearned(
        level=_level(units, person.level),
        output=units.people_output(min(1.0, max(0.0, person.share * mean))),
        ramp_up=None if person.ramp_days is None else RampUp(person.days, person.ramp_days),
        trend=None if person.trend is None else people_trend(units, site.config.calendar, mean, person.trend),
    )


def _level(units: Units, level: Level) -> PeopleLevel:
    ends = [units.people_output(end) for end in (level.low, level.high)]
    return PeopleLevel(units.people_output(level.mean or 0.0), min(ends), max(ends))


def people_trend(units: Units, calendar: WorkCalendar, now: float, trend: Trend) -> PeopleTrend:
    """Return a trend that led to the level `now`, in the policy's units, as the site counts output."""
    before = now / (1.0 + trend.change)
    difference = units.people_output(now) - units.people_output(before)
    return PeopleTrend(
        since=trend.since,
        date=date_of_period(calendar, trend.since),
        change=_relative(units, before, trend.change),
        difference=difference,
        chance=trend.chance,
    )


def _ramp(units: Units, ordinary: float, depth: Estimate) -> Estimate | None:
    lacking, one_more = (_relative(units, ordinary, -share) for share in (depth.mean, depth.mean + depth.sd))
    return None if lacking is None or one_more is None else Estimate(lacking, abs(one_more - lacking))


def _unusual(site: Site, ordinary: float, day: DayReading) -> UnusualDay:
    effect, reach = day.effect.mean, TWO_SIDED_95 * day.effect.sd
    units = site.config.units
    ends = [_relative(units, ordinary, end) for end in (effect - reach, effect + reach)]
    low, high = (None, None) if None in ends else sorted(end for end in ends if end is not None)
    when = date_of_period(site.config.calendar, day.period)
    return UnusualDay(day.period, when, _relative(units, ordinary, effect), low, high)


def _relative(units: Units, level: float, change: float) -> float | None:
    """Return a relative change of a level as a relative change of output as the site counts it.

    The two differ where output of 0 is not counted as nothing. None if shares make no sense for the site's output.
    """
    before = units.people_output(level)
    if min(units.low, units.high) < 0.0 or before <= 0.0 or not math.isfinite(before):
        return None
    return units.people_output(level * (1.0 + change)) / before - 1.0
