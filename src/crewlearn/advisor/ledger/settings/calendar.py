"""The site's calendar: periods are its working days, or the shifts of those days."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from crewlearn.problem.errors import InvalidInput, whole

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LAST = date.max.toordinal()


@dataclass(frozen=True)
class WorkCalendar:
    """The working days: the given weekdays from `start` on, except closures, each with `shifts_per_day` periods.

    Period 1 is the first shift of the first working day on or after `start`. Weekdays are 0 for Monday to 6 for Sunday.
    A moment before `cutoff_hour` belongs to the previous day, which keeps a night shift on one day. A closure shifts
    every later period, so adding one in the past renumbers the days after it.

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

    def is_working(self, day: date) -> bool:
        """Return whether a day is a working day: not before the start, on a working weekday, no closure."""
        ordinal = _a_day("day", day).toordinal()
        return self._days_through(ordinal) > self._days_through(ordinal - 1)

    def period_of(self, day: date, shift: int = 1) -> int:
        """Return the period of a working day's shift, both counted from 1."""
        if not self.is_working(day):
            raise InvalidInput("day", day.isoformat(), self._why_not(day))
        shift = whole("shift", shift, 1, self.shifts_per_day)
        return (self._days_through(day.toordinal()) - 1) * self.shifts_per_day + shift

    def date_of(self, period: int) -> date:
        """Return the day of a period."""
        ordinal = self._ordinal_of((whole("period", period, 1) - 1) // self.shifts_per_day + 1)
        if ordinal > _LAST:
            last = self._days_through(_LAST) * self.shifts_per_day
            raise InvalidInput(
                "period", period, f"must be at most {last}: the calendar ends with the year {date.max.year}"
            )
        return date.fromordinal(ordinal)

    def shift_of(self, period: int) -> int:
        """Return the shift of a period within its day, counted from 1."""
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
        """Return the periods of the working days from `first` through `last`; empty if there are none.

        >>> WorkCalendar(date(2026, 1, 5)).periods_between(date(2026, 1, 10), date(2026, 1, 13))
        range(6, 8)
        """
        before = self._days_through(_a_day("first", first).toordinal() - 1) * self.shifts_per_day
        through = self._days_through(_a_day("last", last).toordinal()) * self.shifts_per_day
        return range(before + 1, max(before, through) + 1)

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

    def to_json(self) -> dict[str, Any]:
        """Describe the calendar as plain data."""
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
        known = {field.name for field in fields(cls)}
        if set(data) != known:
            raise InvalidInput("calendar", sorted(data), f"must have exactly {', '.join(sorted(known))}")
        days = [_from_iso("closures", day) for day in data["closures"]]
        dates = {"start": _from_iso("start", data["start"]), "closures": tuple(days)}
        return cls(**{**data, **dates})

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
