"""Stints: who held which station when, derived from events and stored beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.site import Site
from crewlearn.problem.arrays import NOBODY


@dataclass(frozen=True)
class Stint:
    """A worker at a station from period `since` to before `until`, which is None for a current stint."""

    station: int
    worker: int
    since: int
    until: int | None = None


Seat = tuple[int, int]
"""The holder of a station, -1 for nobody, and their first period."""


@dataclass(frozen=True)
class Ended:
    """The stint at a station since period `since` ends before `until`; None removes it."""

    station: int
    since: int
    until: int | None


Change = Ended | Stint


def seats_now(before: Sequence[Seat], site: Site) -> list[Seat]:
    """Return the holder of each station and their first period, given the seats before the site changed.

    A newcomer holds a station from the period they started in, but not before it was free, so that no station has two
    holders. People move between stations only when stations are abolished, and then from now on.
    """
    held = {worker for worker, _ in before}
    seats = []
    for station, worker in enumerate(site.roster.stations):
        was, since = before[station] if station < len(before) else (NOBODY, site.period)
        if worker == was:
            seats.append((worker, since))
        elif worker == NOBODY or worker in held:
            seats.append((worker, site.period))
        else:
            seats.append((worker, max(since, site.workers[worker].since, key=site.config.calendar.order_of)))
    return seats


def changes(before: Sequence[Seat], site: Site, *, undone: bool) -> Iterator[Change]:
    """Yield how stints change from the seats before to those of the site.

    After an undo, stints that the answer began are removed, and those that it ended continue.
    """
    for station in range(max(len(before), len(site.seats))):
        was, since = before[station] if station < len(before) else (NOBODY, site.period)
        now, begun = site.seats[station] if station < len(site.seats) else (NOBODY, site.period)
        if (was, since) == (now, begun):
            continue
        if was != NOBODY:
            ended = site.config.calendar.between(since, begun) > 0 and not undone
            yield Ended(station, since, begun if ended else None)
        if now != NOBODY:
            yield Stint(station, now, begun)


def taken_in(stints: dict[tuple[int, int], Stint], change: Change) -> None:
    """Apply a change to stints by station and first period."""
    if isinstance(change, Stint):
        stints[change.station, change.since] = change
    elif change.until is None:
        del stints[change.station, change.since]
    else:
        ended = stints[change.station, change.since]
        stints[change.station, change.since] = replace(ended, until=change.until)


def write(connection: sa.Connection, key: int, change: Change) -> None:
    """Apply a change to the table, as `taken_in` does."""
    table = schema.stints
    this = (table.c.site == key, table.c.station == change.station, table.c.since == change.since)
    if isinstance(change, Ended) and change.until is not None:
        connection.execute(table.update().where(*this).values(until=change.until))
        return
    connection.execute(table.delete().where(*this))
    if isinstance(change, Stint):
        connection.execute(table.insert().values(site=key, **vars(change)))


def read_stints(connection: sa.Connection, key: int) -> list[Stint]:
    """Return all stints at a site, by station and time."""
    table = schema.stints
    rows = connection.execute(
        sa.select(table.c.station, table.c.worker, table.c.since, table.c.until)
        .where(table.c.site == key)
        .order_by(table.c.station, table.c.since)
    )
    return [Stint(*row) for row in rows]
