"""What reading a file needs to know of a site."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from crewlearn.advisor.files.detection.words.names import KnownPeople
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store


@dataclass(frozen=True)
class SiteView:
    """The site's calendar, units and people, its day today, and whether anybody is in the team.

    With `range_known` off, the units stand for any output: there is no site yet whose range could tell what fits.
    """

    calendar: WorkCalendar
    units: Units
    people: KnownPeople
    today: date
    has_team: bool = True
    range_known: bool = True

    def day_rule(self, cutoff: int | None) -> Callable[[datetime], date]:
        """Return the function that maps a moment to its day, with another cut-off hour than the calendar's if given."""
        if cutoff is None:
            return self.calendar.day_of
        return lambda moment: (moment - timedelta(hours=cutoff)).date()


def view_of(store: Store, site: str) -> SiteView:
    """Read what a site tells about its files."""
    with store.reading() as connection:
        key, state, _ = store.site(connection, site)
        people = read_people(connection, key)
    config = state.config
    names = {worker: people.names.get(number) for number, worker in people.ids.items() if worker is not None}
    return SiteView(
        config.calendar, config.units, KnownPeople(names), config.day_of(store.clock()), bool(state.roster.active)
    )
