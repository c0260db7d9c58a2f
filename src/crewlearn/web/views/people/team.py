"""The team as its page shows it."""

from dataclasses import dataclass

from crewlearn.advisor.ledger.site import LEFT
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.problem.arrays import NOBODY
from crewlearn.web.views.reading import Reading

STINTS = 200
"""Past stints listed at most, the latest ones."""


@dataclass(frozen=True)
class Place:
    """A station now: its number, who holds it, their number and since when; empty if nobody does."""

    station: int
    holder: str
    number: int
    since: str


@dataclass(frozen=True)
class PastStint:
    """Who was at a station, from when until when."""

    station: int
    worker: str
    first: str
    last: str


@dataclass(frozen=True)
class TeamPage:
    """The stations now, past stints with the latest first, and who can be chosen: the firm's id and a label."""

    places: tuple[Place, ...]
    past: tuple[PastStint, ...]
    more: int
    people: tuple[tuple[str, str], ...]
    today: str


def team_view(reading: Reading) -> TeamPage:
    """Return the team of a site for its page."""
    site = reading.site
    places = tuple(
        Place(station, "", NOBODY, "")
        if worker == NOBODY
        else Place(station, reading.label(worker), worker, reading.day(since))
        for station, (worker, since) in enumerate(site.seats, start=1)
    )
    ended = [stint for stint in reading.snapshot.past.stints if stint.until is not None]
    ended.sort(key=lambda stint: reading.place(stint.until or 0), reverse=True)
    known = [(number, external) for number, external in sorted(reading.people.ids.items()) if external is not None]
    people = [(external, reading.label(number)) for number, external in known if site.workers[number].status != LEFT]
    return TeamPage(
        places,
        tuple(_past(reading, stint) for stint in ended[:STINTS]),
        max(0, len(ended) - STINTS),
        tuple(people),
        reading.today.isoformat(),
    )


def _past(reading: Reading, stint: Stint) -> PastStint:
    assert stint.until is not None
    last = max(reading.place(stint.since), reading.place(stint.until) - 1)
    days = reading.day(stint.since), reading.day(reading.period(last))
    return PastStint(stint.station + 1, reading.label(stint.worker), *days)
