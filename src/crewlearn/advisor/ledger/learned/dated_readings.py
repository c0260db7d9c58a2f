"""What a policy has learned, with the numbers of periods in place of their places in time."""

from dataclasses import replace
from datetime import date
from typing import Any

from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import Site
from crewlearn.policies.contract import Policy, Situation
from crewlearn.policies.explanations import Readings


def readings_of(site: Site, policy: Policy[Any], state: Any, situation: Situation) -> Readings | None:
    """Return a policy's readings; a policy is told periods by their places in time, people by their numbers."""
    readings, calendar = policy.readings(state, situation), site.config.calendar
    if readings is None or not calendar.opened:
        return readings
    return replace(
        readings,
        days=tuple(replace(day, period=calendar.period_at(day.period)) for day in readings.days),
        people=tuple(
            person
            if person.trend is None
            else replace(person, trend=replace(person.trend, since=calendar.period_at(person.trend.since)))
            for person in readings.people
        ),
    )


def date_of_period(calendar: WorkCalendar, period: int) -> date:
    """Return the day of a period in readings; before the first one, a policy may name a period that never was."""
    return calendar.date_of(period if period < 0 and calendar.opened else max(1, period))
