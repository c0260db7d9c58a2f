"""What an overview tells of a site; it stays true until the site changes, whatever the day."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

import sqlalchemy as sa

from crewlearn.advisor.advice.readings import state_for_readings
from crewlearn.advisor.evidence.gain import Gain
from crewlearn.advisor.evidence.site_record import read_past, read_rows
from crewlearn.advisor.evidence.track_record import track_record
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import STARTED, UNDER_WAY
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.explain import is_overdue


@dataclass(frozen=True)
class SiteSummary:
    """What an overview tells of a site at a version.

    `period` is the coming period. `gain` is that of the advised replacements, `replaced` how many there were.
    """

    workers: int
    team: int
    filled: int
    under_way: int
    overdue: int
    period: int
    config: SiteConfig
    earned: float
    fees: float
    gain: Gain
    replaced: int

    def missing_days(self, now: datetime) -> int:
        """Return how many days before the site's day have no output yet."""
        calendar = self.config.calendar
        periods = missing_periods(calendar, self.period, self.config.day_of(now))
        return 0 if periods is None else days_of(calendar, periods)


def missing_periods(calendar: WorkCalendar, period: int, today: date) -> range | None:
    """Return the periods before today that have no output yet, if `period` is the coming one; None if there are none.

    >>> calendar = WorkCalendar(date(2026, 11, 2))
    >>> missing_periods(calendar, 3, date(2026, 11, 6)), missing_periods(calendar, 3, date(2026, 11, 4))
    (range(3, 5), None)
    """
    behind = calendar.periods_between(calendar.date_of(period), today - timedelta(days=1))
    return range(period, behind[-1] + 1) if behind and behind[-1] >= period else None


def days_of(calendar: WorkCalendar, periods: range) -> int:
    """Return on how many days some periods are; a front page asks this of a thousand sites.

    >>> days_of(WorkCalendar(date(2026, 11, 2), shifts_per_day=2), range(2, 6))
    3
    """
    if any(number in periods for day in calendar.opened for number in day.numbers):
        return len({calendar.date_of(period) for period in periods})
    shifts = calendar.shifts_per_day
    return (periods[-1] - 1) // shifts - (periods[0] - 1) // shifts + 1


def summarise(store: Store, connection: sa.Connection, name: str) -> SiteSummary:
    """Return the summary of a site; what its policy has learned is read only where advice has changed something."""
    key, site, _ = store.site(connection, name)
    past = read_past(connection, key)
    started = any(proposal.status == STARTED for proposal in past.proposals)
    rows = read_rows(connection, key, past)
    state = state_for_readings(connection, key, site) if started else None
    record = track_record(site, past, rows, state)
    offers = site.open_proposals(*UNDER_WAY)
    return SiteSummary(
        workers=len(site.workers),
        team=site.config.team,
        filled=site.config.team - site.roster.empty,
        under_way=len(offers),
        overdue=sum(is_overdue(site, offer) for offer in offers),
        period=site.period,
        config=site.config,
        earned=site.earned,
        fees=site.fees,
        gain=record.gain,
        replaced=len(record.outcomes),
    )
