"""A site as it was read for a page, with its numbers and days in people's words."""

from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import quote

from crewlearn.advisor.identities import People
from crewlearn.advisor.site import Site
from crewlearn.web import wording
from crewlearn.web.reads import Snapshot


def site_url(name: str, *parts: object) -> str:
    """Give the address of a page of a site."""
    return "/".join(["/sites", quote(name, safe=""), *(quote(str(part), safe="") for part in parts)])


@dataclass(frozen=True)
class Reading:
    """A site as it was read for a page, and which day it is there."""

    snapshot: Snapshot
    today: date

    @property
    def name(self) -> str:
        """What the site is called."""
        return self.snapshot.name

    @property
    def key(self) -> int:
        """The site's key in the store."""
        return self.snapshot.key

    @property
    def version(self) -> int:
        """The number of its last event."""
        return self.snapshot.version

    @property
    def site(self) -> Site:
        """How it stands."""
        return self.snapshot.site

    @property
    def people(self) -> People:
        """Who is who there."""
        return self.snapshot.people

    def url(self, *parts: object) -> str:
        """Give the address of one of the site's pages."""
        return site_url(self.name, *parts)

    def day(self, period: int) -> str:
        """Write a period as its day."""
        return wording.period(self.site.config.calendar, period, self.today)

    def output(self, value: float) -> str:
        """Write output in the site's unit."""
        return wording.number(value, wording.digits_of(self.site.config.units))

    def label(self, number: int) -> str:
        """Write whom a number stands for."""
        return self.people.label(number)

    def name_of(self, number: int) -> str:
        """Give the name alone where there is one; the id stands beside it."""
        return self.people.names.get(number) or self.label(number)

    @property
    def missing(self) -> tuple[int, int] | None:
        """The periods before today that have no output yet, first and last; None if the record is up to date."""
        calendar = self.site.config.calendar
        first = calendar.date_of(self.site.period)
        behind = calendar.periods_between(first, self.today - timedelta(days=1))
        return (self.site.period, behind[-1]) if behind and behind[-1] >= self.site.period else None

    @property
    def rate(self) -> bool:
        """Whether output is a rate."""
        return self.site.config.units.hours_per_period is not None

    @property
    def unit(self) -> str:
        """What the numbers of output are."""
        return "units an hour" if self.rate else "units a period"
