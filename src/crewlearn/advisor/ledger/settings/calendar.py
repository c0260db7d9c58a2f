"""The site's calendar: periods are its working days, or the shifts of those days.

A period's number says which day it is, and never changes. Its place in time is another matter: `order_of` gives it, and
everything that compares periods, or counts those between two, goes through it. Without opened days both are the same.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from crewlearn.advisor.ledger.settings import opened_days
from crewlearn.advisor.ledger.settings.opened_days import DayNumbers, OpenedDay
from crewlearn.problem.errors import InvalidInput, whole

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LAST = date.max.toordinal()
_OPENED = {"opened": True, "marked": False}
"""Keys of the opened days in the plain form: days that were worked, and days that only date changes of the team."""


@dataclass(frozen=True)
class WorkCalendar:
    """The working days: the given weekdays from `start` on, except closures, each with `shifts_per_day` periods.

    Period 1 is the first shift of the first working day on or after `start`. Weekdays are 0 for Monday to 6 for Sunday.
    A moment before `cutoff_hour` belongs to the previous day, which keeps a night shift on one day. A closure shifts
    every later period, so adding one in the past renumbers the days after it.

    `opened` are other days with numbers of their own, all negative: history before the start, overtime on other
    weekdays, closures that were worked, and dates on which the team changed.

    >>> calendar = WorkCalendar(start=date(2026, 12, 21), closures=(date(2026, 12, 25),))
    >>> calendar.period_of(date(2026, 12, 24)), calendar.period_of(date(2026, 12, 28))
    (4, 5)
    >>> calendar.date_of(5)
    datetime.date(2026, 12, 28)
    """

    start: date
    weekdays: tuple[int, ...] = (0, 1, 2, 3, 4)
    closures: tuple[date, ...] = ()
    shifts_per_day: int = 1
    cutoff_hour: int = 0
    opened: tuple[OpenedDay, ...] = ()

    def __post_init__(self) -> None:
        _a_day("start", self.start)
        weekdays = sorted({whole("weekdays", day, 0, 6) for day in self.weekdays})
        if not weekdays:
            raise InvalidInput("weekdays", (), "must name at least one, from 0 for Monday to 6 for Sunday")
        closures = sorted({_a_day("closures", day) for day in self.closures})
        object.__setattr__(self, "weekdays", tuple(weekdays))
        object.__setattr__(self, "closures", tuple(closures))
        object.__setattr__(self, "shifts_per_day", whole("shifts_per_day", self.shifts_per_day, 1, 24))
        object.__setattr__(self, "cutoff_hour", whole("cutoff_hour", self.cutoff_hour, 0, 23))
        if self.opened:
            object.__setattr__(self, "opened", opened_days.checked(self.opened))

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        """Days from `start` to each of the working weekdays in the seven days that begin with it."""
        return tuple(sorted((weekday - self.start.weekday()) % 7 for weekday in self.weekdays))

    @cached_property
    def _closed(self) -> tuple[int, ...]:
        """The closures that fall on working weekdays, as ordinals."""
        return tuple(day.toordinal() for day in self.closures if day >= self.start and day.weekday() in self.weekdays)

    @cached_property
    def _open_before_closed(self) -> tuple[int, ...]:
        """The number of working days before each of these closures: sorted, so that it can be bisected."""
        return tuple(self._weekdays_through(ordinal) - 1 - index for index, ordinal in enumerate(self._closed))

    def _weekdays_through(self, ordinal: int) -> int:
        """Count the working weekdays from `start` through a day, closures included."""
        weeks, rest = divmod(ordinal - self.start.toordinal(), 7)
        return max(0, weeks * len(self._offsets) + bisect_right(self._offsets, rest))

    def _days_through(self, ordinal: int) -> int:
        """Count the working days from `start` through a day."""
        return self._weekdays_through(ordinal) - bisect_right(self._closed, ordinal)

    def _ordinal_of(self, count: int) -> int:
        """Return the ordinal of the `count`-th working day, possibly beyond `date.max`."""
        among_weekdays = count + bisect_left(self._open_before_closed, count)
        weeks, index = divmod(among_weekdays - 1, len(self._offsets))
        return self.start.toordinal() + 7 * weeks + self._offsets[index]

    @cached_property
    def _opened_on(self) -> dict[date, OpenedDay]:
        return {opened.day: opened for opened in self.opened}

    @cached_property
    def _opened_as(self) -> dict[int, tuple[date, int]]:
        """The day and shift of each opened period."""
        return {
            number: (opened.day, shift)
            for opened in self.opened
            for shift, number in enumerate(opened.numbers, start=1)
        }

    @cached_property
    def _early(self) -> tuple[int, ...]:
        """The worked periods before the start, in order of time."""
        return tuple(number for day in self.opened if day.worked and day.day < self.start for number in day.numbers)

    @cached_property
    def _late(self) -> tuple[tuple[int, int, int], ...]:
        """The other opened periods that were worked: number, regular periods before it, and place in time."""
        late = [
            (number, self._days_through(day.day.toordinal()) * self.shifts_per_day)
            for day in self.opened
            if day.worked and day.day >= self.start
            for number in day.numbers
        ]
        return tuple((number, before, before + among + 1) for among, (number, before) in enumerate(late))

    @cached_property
    def _before_late(self) -> tuple[int, ...]:
        return tuple(before for _, before, _ in self._late)

    @cached_property
    def _late_places(self) -> tuple[int, ...]:
        return tuple(place for _, _, place in self._late)

    @cached_property
    def _places(self) -> dict[int, int]:
        """The place in time of every opened period; a day that was not worked has that of the next period."""
        places = {number: place for number, _, place in self._late}
        places |= {number: 1 + among - len(self._early) for among, number in enumerate(self._early)}
        for opened in self.opened:
            if not opened.worked:
                place = self.order_on(opened.day)
                places |= dict.fromkeys(opened.numbers, place)
        return places

    @property
    def opened_periods(self) -> list[int]:
        """The periods of days beside the planned ones, in order of time, worked or not."""
        return [number for opened in self.opened for number in opened.numbers]

    @property
    def first_order(self) -> int:
        """The place in time of the first period: 1, or less with worked days before the start."""
        return 1 - len(self._early)

    def order_of(self, period: int) -> int:
        """Return a period's place in time: consecutive integers in order of dates, 1 for the first from `start` on.

        Period 0, which stands for no period, comes before all others.

        >>> saturday = OpenedDay(date(2026, 1, 3), (-1,))
        >>> calendar = WorkCalendar(date(2026, 1, 1), opened=(saturday, OpenedDay(date(2025, 12, 31), (-2,))))
        >>> [calendar.order_of(period) for period in (-2, 1, 2, -1, 3)]
        [0, 1, 2, 3, 4]
        """
        if period > 0:
            return period + bisect_left(self._before_late, period) if self.opened else period
        if period == 0:
            return self.first_order - 1
        place = self._places.get(period)
        if place is None:
            raise InvalidInput("period", period, "is not a period of this calendar")
        return place

    def moment_of(self, period: int) -> tuple[date, int]:
        """Return a period's day and shift: an order in which days that were not worked have places of their own."""
        return self.date_of(period), self.shift_of(period)

    def order_on(self, day: date) -> int:
        """Return the place in time of the first period on or after a day."""
        ordinal = _a_day("day", day).toordinal()
        if day < self.start:
            return 1 - sum(
                len(other.numbers) for other in self.opened if other.worked and day <= other.day < self.start
            )
        before = self._days_through(ordinal - 1) * self.shifts_per_day
        late = (other for other in self.opened if other.worked and self.start <= other.day < day)
        return before + sum(len(other.numbers) for other in late) + 1

    def period_at(self, order: int) -> int:
        """Return the period at a place in time; the first one for places before it."""
        if order < 1 and self._early:
            return self._early[max(0, order - self.first_order)]
        order = max(1, order)
        among = bisect_left(self._late_places, order)
        if among < len(self._late) and self._late_places[among] == order:
            return self._late[among][0]
        return order - among

    def periods_before(self, period: int, after: int = 0) -> list[int]:
        """Return the periods before one and after another, in order of time."""
        return [self.period_at(order) for order in range(self.order_of(after) + 1, self.order_of(period))]

    def between(self, first: int, last: int) -> int:
        """Return how many periods `last` comes after `first`."""
        return self.order_of(last) - self.order_of(first)

    def following(self, period: int) -> int:
        """Return the next regular period after one; it is the coming period once that one is recorded."""
        if period > 0:
            return period + 1
        return self._days_through(self.date_of(period).toordinal()) * self.shifts_per_day + 1

    def is_regular(self, day: date) -> bool:
        """Return whether a day is planned: not before the start, on a working weekday, no closure."""
        ordinal = _a_day("day", day).toordinal()
        return self._days_through(ordinal) > self._days_through(ordinal - 1)

    def is_working(self, day: date) -> bool:
        """Return whether a day is a working day: a regular one, or one that was worked all the same."""
        return self.is_regular(day) or self._was_opened(day)

    def _was_opened(self, day: date) -> bool:
        return day in self._opened_on and self._opened_on[day].worked

    def period_of(self, day: date, shift: int = 1) -> int:
        """Return the period of a working day's shift, both counted from 1."""
        if not self.is_working(day):
            raise InvalidInput("day", day.isoformat(), self._why_not(day))
        if self._was_opened(day):
            numbers = self._opened_on[day].numbers
            return numbers[whole("shift", shift, 1, len(numbers)) - 1]
        shift = whole("shift", shift, 1, self.shifts_per_day)
        return (self._days_through(day.toordinal()) - 1) * self.shifts_per_day + shift

    def mark_of(self, day: date) -> int | None:
        """Return the number of the first shift of a day, worked or not; None if it has none."""
        if self.is_working(day):
            return self.period_of(day)
        return self._opened_on[day].numbers[0] if day in self._opened_on else None

    def date_of(self, period: int) -> date:
        """Return the day of a period."""
        if period in self._opened_as:
            return self._opened_as[period][0]
        ordinal = self._ordinal_of((whole("period", period, 1) - 1) // self.shifts_per_day + 1)
        if ordinal > _LAST:
            last = self._days_through(_LAST) * self.shifts_per_day
            raise InvalidInput(
                "period", period, f"must be at most {last}: the calendar ends with the year {date.max.year}"
            )
        return date.fromordinal(ordinal)

    def shift_of(self, period: int) -> int:
        """Return the shift of a period within its day, counted from 1."""
        if period in self._opened_as:
            return self._opened_as[period][1]
        return (whole("period", period, 1) - 1) % self.shifts_per_day + 1

    def day_of(self, moment: datetime) -> date:
        """Return the day that a local moment belongs to: before the cut-off hour, the previous day."""
        if not isinstance(moment, datetime):
            raise InvalidInput("moment", moment, "must be a date with a time of day")
        if moment.hour >= self.cutoff_hour:
            return moment.date()
        if moment.date() == date.min:
            raise InvalidInput("moment", moment.isoformat(), "belongs to the day before the first possible date")
        return moment.date() - timedelta(days=1)

    def periods_between(self, first: date, last: date) -> range:
        """Return the periods of the regular days from `first` through `last`; empty if there are none.

        >>> WorkCalendar(date(2026, 1, 5)).periods_between(date(2026, 1, 10), date(2026, 1, 13))
        range(6, 8)
        """
        before = self._days_through(_a_day("first", first).toordinal() - 1) * self.shifts_per_day
        through = self._days_through(_a_day("last", last).toordinal()) * self.shifts_per_day
        return range(before + 1, max(before, through) + 1)

    def ranges_between(self, first: date, last: date) -> list[range]:
        """Return all periods from `first` through `last`, those of opened days included, as ranges of numbers."""
        regular = self.periods_between(max(first, self.start), last) if last >= self.start else range(1, 1)
        opened = sorted(number for day in self.opened if first <= day.day <= last for number in day.numbers)
        ranges = [regular]
        for number in opened:
            if ranges[-1].stop == number and number < 0:
                ranges[-1] = range(ranges[-1].start, number + 1)
            else:
                ranges.append(range(number, number + 1))
        return ranges

    def week_of(self, period: int) -> tuple[int, int]:
        """Return the ISO year and week of a period."""
        year, week, _ = self.date_of(period).isocalendar()
        return year, week

    def month_of(self, period: int) -> tuple[int, int]:
        """Return the year and month of a period."""
        day = self.date_of(period)
        return day.year, day.month

    def with_closures(self, days: Iterable[date]) -> "WorkCalendar":
        """Return a calendar in which these days are closed too."""
        return replace(self, closures=(*self.closures, *days))

    def numbers_for(self, days: Iterable[date]) -> dict[date, tuple[int, ...]]:
        """Return the numbers that days get, or have, if they are opened now."""
        return opened_days.free_numbers(self.opened, days, self.shifts_per_day)

    def with_opened(self, days: DayNumbers, *, worked: bool) -> "WorkCalendar":
        """Return a calendar in which these days have numbers."""
        return replace(self, opened=opened_days.merged(self.opened, days, worked=worked))

    def to_json(self) -> dict[str, Any]:
        """Describe the calendar as plain data, without opened days if there are none."""
        plain = self.regular_json()
        for key, worked in _OPENED.items():
            days = opened_days.to_json(self.opened, worked=worked)
            if days:
                plain[key] = days
        return plain

    def regular_json(self) -> dict[str, Any]:
        """Describe the regular calendar as plain data."""
        return {
            "start": self.start.isoformat(),
            "weekdays": list(self.weekdays),
            "closures": [day.isoformat() for day in self.closures],
            "shifts_per_day": self.shifts_per_day,
            "cutoff_hour": self.cutoff_hour,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "WorkCalendar":
        """Rebuild the calendar that `to_json` described."""
        known = {field.name for field in fields(cls)} - {"opened"}
        if set(data) - set(_OPENED) != known:
            raise InvalidInput("calendar", sorted(data), f"must have exactly {', '.join(sorted(known))}")
        days = [_from_iso("closures", day) for day in data["closures"]]
        dates = {"start": _from_iso("start", data["start"]), "closures": tuple(days)}
        opened = tuple(
            OpenedDay(day, numbers, worked)
            for key, worked in _OPENED.items()
            for day, numbers in opened_days.numbers_from_json(data.get(key, {})).items()
        )
        return cls(**{**{name: data[name] for name in known}, **dates}, opened=opened)

    def _why_not(self, day: date) -> str:
        """Return why a day is not a working day, and the next one."""
        following = self._ordinal_of(self._days_through(day.toordinal()) + 1)
        nearest = f"; the next working day is {date.fromordinal(following)}" if following <= _LAST else ""
        if day < self.start:
            return f"lies before the calendar's start, {self.start}{nearest}"
        if day.weekday() not in self.weekdays:
            return f"is a {_WEEKDAYS[day.weekday()]}, on which nobody works here{nearest}"
        return f"is a closure{nearest}"


def _a_day(field: str, value: object) -> date:
    """Check that `value` is a date without a time of day."""
    if not isinstance(value, date) or isinstance(value, datetime):
        raise InvalidInput(field, value, "must be a date without a time of day")
    return value


def _from_iso(field: str, value: object) -> date:
    """Parse a date in ISO form."""
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise InvalidInput(field, value, "must be a date such as 2026-11-15") from None
