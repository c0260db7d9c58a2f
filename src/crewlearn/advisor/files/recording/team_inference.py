"""Inferring who held which station from who had output.

The rule, day by day over the days on record:

- A *spell* of a person is a run of days with output. Up to `GAP` days in a row without any do not end it, nor do days
  on which they are listed as absent; more do, and then it ended with the last day seen. At the end of the record a
  spell is open until more days are missing, so a leaver is noticed after `GAP` + 1 days, and as of the right day.
- Changes of the team that people recorded stand where output does not contradict them: a spell reaches to a recorded
  first or last day if no more than `GAP` days lie between.
- A site has so many stations. Who is there keeps theirs until their spell ends. Whoever comes in takes an empty one,
  people on record first, then those who stay longest or were seen most. So somebody who sits in for an absent holder
  gets no station, and a newcomer who is trained beside a leaver gets it on the day the leaver is gone.
"""

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from crewlearn.advisor.ledger.events import AWAY, RecordedRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.team.stints import Held, Stint, joined
from crewlearn.problem.arrays import NOBODY

GAP = 2
"""Days in a row without output that do not end a spell."""

CONTEXT = 10
"""Days before the first one of a file that are looked at again: a change of the team may show only later."""


@dataclass(frozen=True)
class _Spell:
    """A worker's run of days by index, from `first` to before `end`, with periods and station as recorded, if any."""

    worker: int
    first: float
    end: float
    since: int | None = None
    until: int | None = None
    station: int | None = None
    seen: int = 0


@dataclass(frozen=True)
class _Recorded:
    """A stint on record and the days it spans, by index; infinite where it reaches beyond those looked at."""

    stint: Stint
    first: float
    end: float


def inferred_spans(
    calendar: WorkCalendar,
    stations: int,
    stints: Sequence[Stint],
    rows: Iterable[RecordedRow],
    known_starts: Collection[tuple[int, int]] = (),
) -> list[Held]:
    """Return the spans that make the recorded stints agree with output, given all rows from some day on.

    `known_starts` are the workers and first periods that people recorded. Stints that began otherwise within these days
    were inferred from fewer of them, and are inferred again.
    """
    seen: dict[int, set[int]] = {}
    listed: dict[int, set[int]] = {}
    for row in rows:
        (listed if row.attendance in AWAY else seen).setdefault(row.worker, set()).add(calendar.order_of(row.period))
    days = sorted({place for places in seen.values() for place in places})
    if not days:
        return []
    index = {place: at for at, place in enumerate(days)}
    first_day = calendar.date_of(calendar.period_at(days[0]))
    told = [
        stint
        for stint in stints
        if calendar.date_of(stint.since) < first_day or (stint.worker, stint.since) in known_starts
    ]
    held = _held(told, calendar, days)
    spells: list[_Spell] = []
    for worker in sorted(seen.keys() | held.keys()):
        there = {index[place] for place in seen.get(worker, ())}
        absent = {index[place] for place in listed.get(worker, ()) if place in index}
        known = held.get(worker, [])
        for first, last in _runs(there | absent if known else there, there | absent):
            seen_days = sum(first <= day <= last for day in there)
            spells += [replace(spell, seen=seen_days) for spell in _joined(worker, first, last, known, len(days))]
        spells += _unseen(worker, there, known, len(days))
    periods = [calendar.period_at(place) for place in days]
    seats = _seated(spells, stations, len(days))
    spans: list[Held] = []
    for station in range(stations):
        own = [stint for stint in stints if stint.station == station]
        spans += _differences(own, _wanted(station, seats[station], own, periods, calendar), calendar)
    return spans


def _held(stints: Sequence[Stint], calendar: WorkCalendar, days: Sequence[int]) -> dict[int, list[_Recorded]]:
    """Return the stints on record within the days, by worker and in order of time."""
    held: dict[int, list[_Recorded]] = {}
    for stint in sorted(stints, key=lambda stint: calendar.moment_of(stint.since)):
        begin = calendar.order_of(stint.since)
        end = math.inf if stint.until is None else calendar.order_of(stint.until)
        if end <= days[0] or begin > days[-1]:
            continue
        first = -math.inf if begin < days[0] else bisect_left(days, begin)
        last = math.inf if end > days[-1] else bisect_left(days, end)
        held.setdefault(stint.worker, []).append(_Recorded(stint, first, last))
    return held


def _runs(begins: set[int], known: set[int]) -> list[tuple[int, int]]:
    """Return the first and last days of runs in which no more than `GAP` days in a row are unaccounted for."""
    runs: list[tuple[int, int]] = []
    for day in sorted(known):
        if runs and day - runs[-1][1] <= GAP + 1:
            runs[-1] = (runs[-1][0], day)
        elif day in begins:
            runs.append((day, day))
    return runs


def _joined(worker: int, first: int, last: int, known: Sequence[_Recorded], many: int) -> list[_Spell]:
    """Return the spells of a run of days: one, or one for each of the stints on record that it spans."""
    end: float = math.inf if many - 1 - last <= GAP else last + 1
    spells = [_Spell(worker, first, end)]
    for recorded in known:
        begin = max(recorded.first, 0.0)
        if begin > last + 1 + GAP or recorded.end < first:
            continue
        spell, stint = spells[-1], recorded.stint
        if spell.since is not None or begin - spell.first > GAP:  # the record has another stint from then on
            if begin > last:
                continue
            spells[-1] = replace(spell, end=begin, until=stint.since)
            spell = _Spell(worker, begin, end)
            spells.append(spell)
        if recorded.end <= spell.first:
            continue
        if spell.first - begin <= GAP:
            spell = replace(spell, first=min(spell.first, recorded.first), since=stint.since)
        if recorded.end == math.inf:
            until = stint.until if spell.end == math.inf else None
            spell = replace(spell, station=stint.station, until=until)
        elif last < recorded.end <= last + 1 + GAP:
            spell = replace(spell, station=stint.station, end=recorded.end, until=stint.until)
        else:
            spell = replace(spell, station=stint.station)
        spells[-1] = spell
    return spells


def _unseen(worker: int, there: set[int], known: Sequence[_Recorded], many: int) -> list[_Spell]:
    """Return the stints on record that are too short within these days to be contradicted by the lack of output."""
    spells = []
    for recorded in known:
        first, end, stint = max(0.0, recorded.first), min(recorded.end, many), recorded.stint
        nearby = any(first - GAP - 1 <= day < end + GAP + 1 for day in there)
        if end - first <= GAP and not nearby:
            spells.append(_Spell(worker, recorded.first, recorded.end, stint.since, stint.until, stint.station))
    return spells


def _seated(spells: Sequence[_Spell], stations: int, many: int) -> list[list[_Spell]]:
    """Return the spells of each station, day by day: who is there stays, and others come in as a station is free."""
    holder: list[_Spell | None] = [None] * stations
    seats: list[list[_Spell]] = [[] for _ in range(stations)]
    coming = sorted(spells, key=lambda spell: spell.first)
    waiting: list[_Spell] = []
    for day in range(many):
        holder = [None if spell is not None and spell.end <= day else spell for spell in holder]
        while coming and coming[0].first <= day:
            waiting.append(coming.pop(0))
        waiting = [spell for spell in waiting if spell.end > day]
        waiting.sort(key=lambda spell: (spell.station is None, -spell.end, -spell.seen, spell.first, spell.worker))
        for spell in list(waiting):
            free = [station for station in range(stations) if holder[station] is None]
            if not free:
                break
            station = spell.station if spell.station in free else _last_left(seats, free)
            assert station is not None
            admitted = (
                spell if spell.first >= day or (spell.first < 0 and day == 0) else replace(spell, first=day, since=None)
            )
            holder[station] = admitted
            seats[station].append(admitted)
            waiting.remove(spell)
    return seats


def _last_left(seats: Sequence[Sequence[_Spell]], free: Sequence[int]) -> int:
    """Return the free station that was left last: a newcomer most likely takes the place of the last leaver."""
    return max(free, key=lambda station: (seats[station][-1].end if seats[station] else -1.0, -station))


def _wanted(
    station: int, seats: Sequence[_Spell], own: Sequence[Stint], periods: Sequence[int], calendar: WorkCalendar
) -> list[Stint]:
    """Return the stints of a station: as recorded before and after these days, and as inferred within them."""
    moment, begin, end = calendar.moment_of, periods[0], periods[-1]
    before = [
        stint if stint.until is not None and moment(stint.until) <= moment(begin) else replace(stint, until=begin)
        for stint in own
        if moment(stint.since) < moment(begin)
    ]
    later = [stint for stint in own if moment(stint.since) > moment(end)]
    within = []
    for spell in seats:
        since = spell.since if spell.since is not None else periods[int(max(0.0, spell.first))]
        until = spell.until
        if until is None and spell.end < len(periods):
            until = periods[int(spell.end)]
        within.append(Stint(station, spell.worker, since, until))
    if later and within and (within[-1].until is None or moment(within[-1].until) > moment(later[0].since)):
        within[-1] = replace(within[-1], until=later[0].since)
    if within and before and moment(within[0].since) < moment(before[-1].until or begin):
        before[-1] = replace(before[-1], until=within[0].since)
        before = [stint for stint in before if stint.until is None or moment(stint.since) < moment(stint.until)]
    return [*before, *within, *later]


def _differences(own: Sequence[Stint], wanted: Sequence[Stint], calendar: WorkCalendar) -> list[Held]:
    """Return the spans that turn a station's stints on record into those wanted, from the first difference on."""
    moment = calendar.moment_of
    now, goal = (joined(sorted(some, key=lambda stint: moment(stint.since)), calendar) for some in (own, wanted))
    same = 0
    while same < min(len(now), len(goal)) and now[same] == goal[same]:
        same += 1
    if same == len(now) == len(goal):
        return []
    rest = goal[same:]
    begin = min((stint.since for stint in (*now[same : same + 1], *rest[:1])), key=moment)
    if now[same:] and rest and (now[same].worker, now[same].since) == (rest[0].worker, rest[0].since):
        ends = [until for until in (now[same].until, rest[0].until) if until is not None]
        begin = min(ends, key=moment)
        continues = rest[0].until is None or moment(rest[0].until) > moment(begin)
        rest = [replace(rest[0], since=begin), *rest[1:]] if continues else rest[1:]
    station = (now or goal)[0].station
    return [
        Held(station, NOBODY, begin),
        *(Held(stint.station, stint.worker, stint.since, stint.until) for stint in rest),
    ]
