"""The guard before the advice: output far from what the record leads one to expect is held for confirmation.

What is expected comes from the last `WINDOW` periods on record, by medians, so that a few wrong rows do not move it:

- A person's level is the median of their own output; of people seen on fewer than `SEEN` days it is that of the pool.
- A day's effect is the median distance of people from their levels. A row is compared with level and day together.
- Rows usually stay within a reach, the distance that 99 of 100 recent rows keep to. A row is held beyond `FAR` times
  that, as a difference or, where output is always positive, as a ratio; and only if it is off by half of the level.
- A day is held if its effect is twice as large as on any recent day, and a seventh of the level. So a bad day for
  everybody is held once; if it is accepted, others like it are not held.
- A day with less than half as many people as imports usually bring is held, unless two recent ones had as few, or
  nobody planned to work that day.

A site with fewer than `DAYS` days or `ROWS` rows to go by has no expectation, and nothing is held. Nor can the record
tell what to expect on days before its first one, or more than `WINDOW` periods after its last: history is not held.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any

from crewlearn.advisor.files.errors.file_errors import ErrorCollector
from crewlearn.advisor.files.measuring import MeasuredRow
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import RecordedRow, observation
from crewlearn.advisor.ledger.queries import standing_rows
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.text import counted, some_of
from crewlearn.advisor.ledger.transaction import SiteTransaction

WINDOW = 15
"""Recorded periods that the expectation is taken from."""

DAYS, ROWS, SEEN = 5, 20, 5
"""Days and rows on record before anything is held, and days before a person's own level is known."""

FAR = 1.75
"""A row is far if it is so many times as far from what is expected as 99 of 100 recent rows."""

OWN, STRANGER, DAY = 0.5, 0.7, 0.15
"""The least distance that is held, as a share of the level: of a person, of somebody new, and of a whole day."""

_LESS_IS_BETTER = 0.1
"""The least distance as a share of the range, where levels may be near zero, as with errors."""

Standing = tuple[int, RecordedRow]
"""A row on record, with the event that recorded it."""


@dataclass(frozen=True)
class Oddity:
    """Something unusual in a file: its line (0 for a whole day), the day, who (empty for all), the value, and why."""

    line: int
    day: str
    worker_id: str
    value: str
    why: str

    def __str__(self) -> str:
        where = f"line {self.line}, worker {self.worker_id}, {self.day}" if self.line else self.day
        return f"{where}: {self.value}, {self.why}"


class HeldOutput(Conflict):
    """Output that was not recorded, because a person must confirm it; `oddities` says what, row by row."""

    def __init__(self, value: str, remedy: str, oddities: Sequence[Oddity]) -> None:
        super().__init__("output", value, remedy)
        self.oddities = tuple(oddities)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from all parts."""
        return HeldOutput, (self.value, self.remedy, self.oddities)


class UnusualOutput(HeldOutput):
    """Output that is far from what is expected."""

    def __init__(self, oddities: Sequence[Oddity]) -> None:
        shown = some_of([str(oddity) for oddity in oddities], 3)
        remedy = f"nothing was recorded, because this is unusual: {shown}. If it is right, `accept_unusual` records it"
        super().__init__(counted(len(oddities), "finding"), remedy, oddities)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the findings."""
        return UnusualOutput, (self.oddities,)


def find_oddities(work: SiteTransaction, fresh: Sequence[MeasuredRow]) -> tuple[Oddity, ...]:
    """Return what is unusual about rows to be recorded, given the site's record."""
    site, calendar = work.site, work.site.config.calendar
    coming = calendar.order_of(site.period)
    recent = range(max(calendar.first_order, coming - WINDOW), coming)
    seen = {number: calendar.order_of(worker.recorded_to) for number, worker in enumerate(site.workers)}
    lately = [number for number, place in seen.items() if place in recent]
    if not lately or len(recent) < DAYS:
        return ()
    begin, end = (calendar.date_of(calendar.period_at(place)) for place in (recent.start, recent.stop - 1))
    standing = standing_rows(work.connection, work.key, lately, calendar.ranges_between(begin, end))
    past = [(event, row) for event, row in standing if calendar.order_of(row.period) in recent]
    expected = Expectation.of(site.config.units, past)
    first = calendar.first_order if site.began == 0 else calendar.order_of(site.began)
    comparable = range(first, coming + WINDOW)
    near = [entry for entry in fresh if calendar.order_of(entry.row.period) in comparable]
    return tuple(expected.oddities(calendar, near, recent))


def collect(errors: ErrorCollector, oddities: Iterable[Oddity]) -> None:
    """Add what is unusual to the errors of a file; the value of a whole day is shown with the day."""
    for odd in oddities:
        errors.add(odd.line, "units", odd.value if odd.line else f"{odd.day}: {odd.value}", odd.why)


@dataclass(frozen=True)
class Expectation:
    """What the record leads one to expect; output is in the site's units, per hour where it is a rate.

    `levels` are by worker, `effects` are those of recent days. 99 of 100 rows are within `reach` of what was expected,
    and within `ratio_reach` as the logarithm of a ratio. `people` counts the people on record by import and day.
    """

    units: Units
    levels: Mapping[int, float] = field(default_factory=dict)
    reach: float = math.inf
    ratio_reach: float = math.inf
    effects: Mapping[int, float] = field(default_factory=dict)
    people: Mapping[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, units: Units, past: Sequence[Standing]) -> "Expectation":
        """Return what is expected after recorded rows; of too few rows, nothing."""
        made: dict[int, list[tuple[int, float]]] = {}
        people: dict[tuple[int, int], int] = {}
        for event, row in past:
            people[event, row.period] = people.get((event, row.period), 0) + 1
            if observation(units, row) is not None:
                made.setdefault(row.worker, []).append((row.period, _output(units, row)))
        levels = {worker: median(value for _, value in own) for worker, own in made.items() if len(own) >= SEEN}
        apart: dict[int, list[float]] = {}
        for worker, level in levels.items():
            for period, value in made[worker]:
                apart.setdefault(period, []).append(value - level)
        if len(apart) < DAYS or sum(map(len, apart.values())) < ROWS:
            return cls(units)
        effects = {period: median(several) for period, several in apart.items()}
        pairs = [(value, level + effects[period]) for worker, level in levels.items() for period, value in made[worker]]
        reach, ratio_reach = _within([abs(value - expected) for value, expected in pairs]), math.inf
        if all(min(pair) > 0.0 for pair in pairs):
            ratio_reach = _within([abs(math.log(value / expected)) for value, expected in pairs])
        return cls(units, levels, reach, ratio_reach, effects, people)

    def oddities(self, calendar: WorkCalendar, fresh: Sequence[MeasuredRow], recent: range) -> Iterable[Oddity]:
        """Yield what is unusual about rows to be recorded, by day; `recent` are the places of the expectation."""
        if not self.levels:
            return
        days: dict[int, list[MeasuredRow]] = {}
        for entry in fresh:
            days.setdefault(entry.row.period, []).append(entry)
        known = {period for _, period in self.people}
        for period in sorted(days, key=calendar.order_of):
            rows, date = days[period], calendar.date_of(period)
            day, planned = str(date), calendar.is_regular(date)
            seen = [entry for entry in rows if entry.observed is not None]
            effect = self._effect(seen)
            if planned and calendar.order_of(period) >= recent.start and period not in known:
                yield from self._few_people(day, len(rows))
            if abs(effect) > self._day_limit:
                yield Oddity(0, day, "", f"{counted(len(seen), 'row')}", self._of_usual("of everybody", effect))
            for entry in seen:
                yield from self._row(day, entry, effect)

    def _effect(self, rows: Sequence[MeasuredRow]) -> float:
        """Return the median distance of people from their levels; 0 if too few of them are known."""
        levels = self.levels
        apart = [_output(self.units, row) - levels[row.worker] for row, *_ in rows if row.worker in levels]
        return median(apart) if len(apart) >= 3 else 0.0

    @cached_property
    def _centre(self) -> float:
        """The level of the pool."""
        return median(self.levels.values())

    @cached_property
    def _spread(self) -> tuple[float, float]:
        """How far levels are from that of the pool at most, as a difference and as the logarithm of a ratio."""
        centre, levels = self._centre, self.levels.values()
        ratio = math.inf
        if math.isfinite(self.ratio_reach) and min(levels) > 0.0:
            ratio = max(abs(math.log(level / centre)) for level in levels)
        return max(abs(level - centre) for level in levels), ratio

    @cached_property
    def _day_limit(self) -> float:
        """The largest effect of a day that is not unusual."""
        return max(2.0 * max(map(abs, self.effects.values())), DAY * abs(self._centre), self._least)

    @property
    def _least(self) -> float:
        return _LESS_IS_BETTER * abs(self.units.high - self.units.low) if self.units.lower_is_better else 0.0

    def _few_people(self, day: str, people: int) -> Iterable[Oddity]:
        """Yield the day if it has much fewer people than imports usually bring."""
        usual = median(self.people.values())
        as_few = sum(count <= 1.25 * people for count in self.people.values())
        if 2 * people < usual and usual - people >= 2 and as_few < 2:
            yield Oddity(0, day, "", counted(people, "person", "people"), f"usually about {usual:g}")

    def _row(self, day: str, entry: MeasuredRow, effect: float) -> Iterable[Oddity]:
        """Yield a row that is far from what is expected of the person on this day."""
        row, source = entry.row, entry.source
        output, level = _output(self.units, row), self.levels.get(row.worker)
        expected = self._centre if level is None else level
        if self._is_far(output, expected, effect, known=level is not None):
            whose = "of others" if level is None else "of this person"
            per_hour = " an hour" if self.units.hours_per_period is not None else ""
            why = f"usual {whose} is about {expected:.3g}{per_hour}"
            yield Oddity(source.line, day, source.worker_id, f"{output:.6g}{per_hour}", why)

    def _is_far(self, output: float, level: float, effect: float, *, known: bool) -> bool:
        """Return whether output is far from a level on a day; of people not known yet, levels vary too."""
        apart = abs(output - effect - level)
        if apart <= max((OWN if known else STRANGER) * abs(level), self._least):
            return False
        spread, ratio_spread = (0.0, 0.0) if known else self._spread
        if apart > FAR * self.reach + 2.0 * spread:
            return True
        limit = FAR * self.ratio_reach + 2.0 * ratio_spread
        if not math.isfinite(limit) or level + effect <= 0.0:
            return False
        return output <= 0.0 or abs(math.log(output / (level + effect))) > limit

    def _of_usual(self, whose: str, effect: float) -> str:
        centre = self._centre
        if self.units.lower_is_better or centre <= 0.0:
            return f"the output {whose} is {abs(effect):.3g} {'more' if effect > 0 else 'less'} than usual"
        return f"the output {whose} is {abs(effect) / centre:.0%} {'above' if effect > 0 else 'below'} the usual"


def _within(distances: list[float]) -> float:
    """Return the distance that 99 of 100 keep to."""
    return sorted(distances)[math.ceil(0.99 * len(distances)) - 1]


def _output(units: Units, row: RecordedRow) -> float:
    """Return a row's output as the guard compares it: per hour where output is a rate."""
    assert row.units is not None
    if units.hours_per_period is None:
        return row.units
    return row.units / (units.hours_per_period if row.hours is None else row.hours)
