"""Stints: who held which station when, derived from events and stored beside them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
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


@dataclass(frozen=True)
class Held:
    """Somebody, or -1 for nobody, was at a station from period `since` to before `until`; None: from then on."""

    station: int
    worker: int
    since: int
    until: int | None = None


def painted(stints: Iterable[Stint], spans: Iterable[Held], calendar: WorkCalendar) -> list[Stint]:
    """Return stints after spans are laid over them, one by one, by station and time.

    A span ends whatever else was recorded of its station and of its worker for that time. Adjoining stints of one
    worker at one station are joined.
    """
    moment, now = calendar.moment_of, list(stints)
    for span in spans:
        pieces: list[Stint] = []
        for stint in now:
            if stint.station != span.station and (span.worker == NOBODY or stint.worker != span.worker):
                pieces.append(stint)
                continue
            begins, ends = moment(stint.since), None if stint.until is None else moment(stint.until)
            if begins < moment(span.since):
                cut = ends is None or ends > moment(span.since)
                pieces.append(replace(stint, until=span.since) if cut else stint)
            if span.until is not None and (ends is None or ends > moment(span.until)):
                pieces.append(replace(stint, since=max(stint.since, span.until, key=moment)))
        if span.worker != NOBODY:
            pieces.append(Stint(span.station, span.worker, span.since, span.until))
        now = pieces
    return joined(sorted(now, key=lambda stint: (stint.station, moment(stint.since))), calendar)


def joined(stints: Iterable[Stint], calendar: WorkCalendar) -> list[Stint]:
    """Return stints, by station and time, with adjoining ones of one worker at one station as one."""
    longer: list[Stint] = []
    for stint in stints:
        last = longer[-1] if longer else None
        adjoins = (
            last is not None
            and (last.station, last.worker) == (stint.station, stint.worker)
            and last.until is not None
            and calendar.moment_of(last.until) == calendar.moment_of(stint.since)
        )
        if adjoins and last is not None:
            longer[-1] = replace(last, until=stint.until)
        else:
            longer.append(stint)
    return longer


def seats_of(stints: Sequence[Stint], site: Site) -> list[Seat]:
    """Return the holder of each station and their first period, given all stints."""
    order_of = site.config.calendar.order_of
    seats: list[Seat] = [(NOBODY, 1)] * site.config.team
    for stint in stints:
        if stint.station >= len(seats):
            continue
        if stint.until is None:
            seats[stint.station] = (stint.worker, stint.since)
        elif seats[stint.station][0] == NOBODY:
            seats[stint.station] = (NOBODY, max(seats[stint.station][1], stint.until, key=order_of))
    return seats


def rewritten(before: Sequence[Stint], after: Sequence[Stint]) -> Iterator[Change]:
    """Yield how stints change from one list to another."""
    old, new = ({(stint.station, stint.since): stint for stint in stints} for stints in (before, after))
    for station, since in sorted(old.keys() - new.keys()):
        yield Ended(station, since, None)
    for place in sorted(new):
        if old.get(place) != new[place]:
            yield new[place]


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
