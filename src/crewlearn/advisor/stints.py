"""Who held which station when: kept beside the record, and made from it event by event."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from crewlearn.advisor import schema
from crewlearn.advisor.site import Site
from crewlearn.problem.arrays import NOBODY


@dataclass(frozen=True)
class Stint:
    """A worker at a station from period `since` to before `until`; None while it goes on."""

    station: int
    worker: int
    since: int
    until: int | None = None


@dataclass(frozen=True)
class Closed:
    """The stint that goes on at a station ends before `until`; one that would not have begun by then never was."""

    station: int
    until: int


Change = Closed | Stint


def changes(before: Sequence[int], site: Site) -> Iterator[Change]:
    """Give how stints change when the stations, held as given, come to be held as the site says.

    Who takes a station comes from outside, and holds it from the period they started in; only where stations are done
    away with do people move, and then from now on. Taking back a slip gives a station back to who held it.
    """
    after = (*site.roster.stations, *[NOBODY] * (len(before) - site.roster.team))
    seated = set(before)
    for station, now in enumerate(after):
        was = before[station] if station < len(before) else NOBODY
        if was == now:
            continue
        since = site.period if now == NOBODY or now in seated else site.workers[now].since
        if was != NOBODY:
            yield Closed(station, site.period if was in after else since)
        if now != NOBODY:
            yield Stint(station, now, since)


def taken_in(stints: dict[tuple[int, int], Stint], change: Change) -> None:
    """Take a change into stints by station and first period."""
    if isinstance(change, Stint):
        stints[change.station, change.since] = change
        return
    for key, one in list(stints.items()):
        if one.station == change.station and one.until is None:
            if one.since < change.until:
                stints[key] = Stint(one.station, one.worker, one.since, change.until)
            else:
                del stints[key]


def write(connection: sa.Connection, key: int, change: Change) -> None:
    """Take a change into the table, as `taken_in` does."""
    table = schema.stints
    here = (table.c.site == key, table.c.station == change.station)
    if isinstance(change, Stint):
        connection.execute(table.delete().where(*here, table.c.since == change.since))
        connection.execute(table.insert().values(site=key, **vars(change)))
        return
    going_on = (*here, table.c.until.is_(None))
    connection.execute(table.delete().where(*going_on, table.c.since >= change.until))
    connection.execute(table.update().where(*going_on).values(until=change.until))


def read_stints(connection: sa.Connection, key: int) -> list[Stint]:
    """Give all stints at a site, by station and time."""
    table = schema.stints
    rows = connection.execute(
        sa.select(table.c.station, table.c.worker, table.c.since, table.c.until)
        .where(table.c.site == key)
        .order_by(table.c.station, table.c.since)
    )
    return [Stint(*row) for row in rows]
