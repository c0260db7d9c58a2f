"""Days outside the regular calendar that have a number all the same: before its start, overtime, worked closures.

Their numbers are negative and never change. They say nothing about order, which follows dates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from crewlearn.problem.errors import InvalidInput

DayNumbers = Mapping[date, tuple[int, ...]]
"""The numbers of each day's shifts, in order."""


@dataclass(frozen=True)
class OpenedDay:
    """A day with the numbers of its shifts; one that was not `worked` only dates changes of the team."""

    day: date
    numbers: tuple[int, ...]
    worked: bool = True


def merged(known: Sequence[OpenedDay], opened: DayNumbers, *, worked: bool) -> tuple[OpenedDay, ...]:
    """Return the known days and those opened now, by date; a known day may become a worked one."""
    days = {day.day: day for day in known}
    for day, numbers in opened.items():
        before = days.get(day)
        days[day] = OpenedDay(day, tuple(numbers), worked or (before is not None and before.worked))
    return tuple(days[day] for day in sorted(days))


def free_numbers(known: Sequence[OpenedDay], days: Iterable[date], shifts: int) -> dict[date, tuple[int, ...]]:
    """Return the numbers of days to open: those they have already, or the next free ones below, going back in time.

    >>> free_numbers((), [date(2026, 1, 2), date(2026, 1, 3)], 1)
    {datetime.date(2026, 1, 3): (-1,), datetime.date(2026, 1, 2): (-2,)}
    """
    numbers = {day.day: day.numbers for day in known}
    free = min((number for of_day in numbers.values() for number in of_day), default=0) - 1
    opened = {}
    for day in sorted(set(days), reverse=True):
        if day in numbers:
            opened[day] = numbers[day]
            continue
        opened[day] = tuple(range(free - shifts + 1, free + 1))
        free -= shifts
    return opened


def checked(days: Sequence[OpenedDay]) -> tuple[OpenedDay, ...]:
    """Return the days by date; refuse a date or number that occurs twice, and numbers of the regular calendar."""
    numbers = [number for day in days for number in day.numbers]
    if len({day.day for day in days}) != len(days) or len(set(numbers)) != len(numbers):
        raise InvalidInput("opened", len(days), "must name each day and each number once")
    if any(number >= 0 for number in numbers):
        raise InvalidInput("opened", max(numbers), "must be negative: others belong to the regular calendar")
    return tuple(sorted(days, key=lambda day: day.day))


def to_json(days: Iterable[OpenedDay], *, worked: bool) -> dict[str, list[int]]:
    """Return the days that were worked, or those that were not, as plain data."""
    return {day.day.isoformat(): list(day.numbers) for day in days if day.worked is worked}


def numbers_to_json(days: DayNumbers) -> dict[str, list[int]]:
    """Return days with their numbers as plain data, by date."""
    return {day.isoformat(): list(days[day]) for day in sorted(days)}


def numbers_from_json(data: Mapping[str, Any]) -> dict[date, tuple[int, ...]]:
    """Rebuild what `numbers_to_json` described."""
    return {date.fromisoformat(day): tuple(int(number) for number in numbers) for day, numbers in data.items()}
