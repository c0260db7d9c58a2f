"""The team in plain data: who holds which station, and who did."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from crewlearn.advisor.ledger.identities import People, read_people
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.stints import Stint, read_stints
from crewlearn.problem.arrays import NOBODY


def holders(site: Site) -> Iterator[tuple[int, int | None, date | None]]:
    """Yield each station, counted from 1, with its holder and their first day; None for an empty one."""
    date_of = site.config.calendar.date_of
    for number, (worker, since) in enumerate(site.seats, start=1):
        yield (number, None, None) if worker == NOBODY else (number, worker, date_of(since))


def stint_document(site: Site, people: People, stint: Stint) -> dict[str, Any]:
    """Describe a stint: its station, counted from 1, and its first and last day; the last is None if it goes on."""
    date_of = site.config.calendar.date_of
    last = None if stint.until is None else date_of(stint.until) - timedelta(days=1)
    return {
        "station": stint.station + 1,
        "worker_id": people.ids.get(stint.worker),
        "name": people.names.get(stint.worker),
        "from": str(date_of(stint.since)),
        "until": None if last is None else str(max(last, date_of(stint.since))),
    }


def team_document(store: Store, name: str) -> dict[str, Any]:
    """Describe a site's team: the stations now, and every stint, by station and time."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        people, stints = read_people(connection, key), read_stints(connection, key)
    moment = site.config.calendar.moment_of
    stints.sort(key=lambda stint: (stint.station, moment(stint.since)))
    return {
        "site": name,
        "stations": [
            {
                "station": number,
                "worker_id": None if worker is None else people.ids.get(worker),
                "name": None if worker is None else people.names.get(worker),
                "since": None if since is None else str(since),
            }
            for number, worker, since in holders(site)
        ],
        "stints": [stint_document(site, people, stint) for stint in stints],
    }
