"""A snapshot as a page reads it, with its numbers and days as text."""

from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from urllib.parse import quote

from crewlearn.advisor.ledger.identities import People
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.overview.summaries import missing_periods
from crewlearn.advisor.wording.figures import Figures
from crewlearn.language import _
from crewlearn.web import formats
from crewlearn.web.snapshots import Snapshot


def site_url(name: str, *parts: object) -> str:
    """Return the URL of a page of a site."""
    return "/".join(["/sites", quote(name, safe=""), *(quote(str(part), safe="") for part in parts)])


@dataclass(frozen=True)
class Reading:
    """A snapshot of a site, and today's date there."""

    snapshot: Snapshot
    today: date

    @property
    def name(self) -> str:
        """The site's name."""
        return self.snapshot.name

    @property
    def key(self) -> int:
        """The site's key in the store."""
        return self.snapshot.key

    @property
    def version(self) -> int:
        """The number of the site's last event."""
        return self.snapshot.version

    @property
    def site(self) -> Site:
        """The site's state."""
        return self.snapshot.site

    @property
    def people(self) -> People:
        """The identities of its workers."""
        return self.snapshot.people

    def url(self, *parts: object) -> str:
        """Return the URL of one of the site's pages."""
        return site_url(self.name, *parts)

    def place(self, period: int) -> int:
        """Return a period's place in time, 1 for the first."""
        calendar = self.site.config.calendar
        return calendar.order_of(period) - calendar.first_order + 1

    def period(self, place: int) -> int:
        """Return the period at a place in time, which may be 0: before the first."""
        calendar = self.site.config.calendar
        return calendar.period_at(place + calendar.first_order - 1)

    def day(self, period: int) -> str:
        """Format a period as its day."""
        return formats.period(self.site.config.calendar, period, self.today)

    def marked_day(self, period: int) -> str:
        """Format a period as its day, and say if it was unusual for everybody."""
        unusual = self.snapshot.unusual_periods
        return _("{period}, unusual for everybody", period=self.day(period)) if period in unusual else self.day(period)

    def written(self, when: date) -> str:
        """Format a date."""
        return formats.day(when, self.today)

    def output(self, value: float) -> str:
        """Format output in the site's unit."""
        return formats.number(value, formats.digits_of(self.site.config.units))

    @property
    def figures(self) -> Figures:
        """How sentences write numbers for people."""
        return Figures(self.money, partial(self.money, sign=True), self.output)

    @property
    def currency(self) -> str | None:
        """The code of the site's currency, if one is set."""
        return self.site.config.currency

    def money(self, value: float, sign: bool = False) -> str:
        """Format money in the site's currency."""
        return formats.money(value, sign, self.currency)

    def money_span(self, low: float, high: float) -> str:
        """Format an interval of money in the site's currency."""
        return formats.money_span(low, high, currency=self.currency)

    def moment(self, at: str | datetime) -> str:
        """Format a timestamp in the site's time zone."""
        return formats.moment(at, self.site.config.local)

    def label(self, number: int) -> str:
        """Return a worker's name and id."""
        return self.people.label(number)

    def name_of(self, number: int) -> str:
        """Return a worker's name alone where there is one, else the label."""
        return self.people.names.get(number) or self.label(number)

    @property
    def missing(self) -> tuple[int, int] | None:
        """The periods before today that have no output yet, first and last; None if the record is up to date."""
        periods = missing_periods(self.site.config.calendar, self.site.period, self.today)
        return None if periods is None else (periods[0], periods[-1])

    @property
    def rate(self) -> bool:
        """Whether output is a rate."""
        return self.site.config.units.hours_per_period is not None

    @property
    def unit(self) -> str:
        """The unit of output, in words."""
        return _("units an hour") if self.rate else _("units a period")
