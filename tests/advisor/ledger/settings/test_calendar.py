"""The site's calendar against a day-by-day count."""

import json
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.problem.errors import InvalidInput

MONDAY = date(2026, 1, 5)
DAYS = 200


@st.composite
def calendars(draw: st.DrawFn) -> WorkCalendar:
    start = date(2020, 1, 1) + timedelta(days=draw(st.integers(0, 3000)))
    weekdays = draw(st.sets(st.integers(0, 6), min_size=1))
    closed = draw(st.sets(st.integers(-10, DAYS), max_size=60))
    if draw(st.booleans()):  # a long shutdown
        first = draw(st.integers(0, 100))
        closed |= set(range(first, first + draw(st.integers(0, 60))))
    closures = tuple(start + timedelta(days=day) for day in closed)
    return WorkCalendar(start, tuple(weekdays), closures, draw(st.integers(1, 3)), draw(st.integers(0, 23)))


def counted(calendar: WorkCalendar) -> list[date]:
    """Return the working days, found by testing every day."""
    days = [calendar.start + timedelta(days=day) for day in range(DAYS)]
    return [day for day in days if day.weekday() in calendar.weekdays and day not in calendar.closures]


@given(calendars())
def test_periods_are_what_counting_day_by_day_gives(calendar: WorkCalendar) -> None:
    shifts = [(day, shift) for day in counted(calendar) for shift in range(1, calendar.shifts_per_day + 1)]
    for period, (day, shift) in enumerate(shifts, start=1):
        assert calendar.period_of(day, shift) == period
        assert (calendar.date_of(period), calendar.shift_of(period)) == (day, shift)
        assert calendar.week_of(period) == day.isocalendar()[:2]


@given(calendars())
def test_days_that_do_not_count_are_refused(calendar: WorkCalendar) -> None:
    working = set(counted(calendar))
    for offset in range(-10, DAYS):
        day = calendar.start + timedelta(days=offset)
        assert calendar.is_working(day) == (day in working)
        if day not in working:
            with pytest.raises(InvalidInput, match=day.isoformat()):
                calendar.period_of(day)


@given(calendars(), st.integers(-20, DAYS - 1), st.integers(-20, DAYS - 1))
def test_periods_between_two_days(calendar: WorkCalendar, first: int, last: int) -> None:
    begin, end = (calendar.start + timedelta(days=offset) for offset in (first, last))
    periods = calendar.periods_between(begin, end)
    days = [day for day in counted(calendar) if begin <= day <= end]
    assert len(periods) == len(days) * calendar.shifts_per_day
    assert sorted({calendar.date_of(period) for period in periods}) == days


@given(calendars(), st.lists(st.integers(1, 1_000_000), min_size=2, max_size=30, unique=True).map(sorted))
def test_far_periods_go_there_and_back_in_order(calendar: WorkCalendar, periods: list[int]) -> None:
    reach = len(calendar.periods_between(calendar.start, date.max))
    inside = [period for period in periods if period <= reach]
    moments = [(calendar.date_of(period), calendar.shift_of(period)) for period in inside]
    assert [calendar.period_of(*moment) for moment in moments] == inside
    assert all(earlier < later for earlier, later in pairwise(moments))


@given(calendars(), st.sets(st.integers(0, DAYS - 1), max_size=20))
def test_more_closures_give_a_new_calendar(calendar: WorkCalendar, offsets: set[int]) -> None:
    closed = {calendar.start + timedelta(days=offset) for offset in offsets}
    before = calendar.to_json()
    assert counted(calendar.with_closures(closed)) == [day for day in counted(calendar) if day not in closed]
    assert calendar.to_json() == before


@given(calendars())
def test_a_calendar_survives_json(calendar: WorkCalendar) -> None:
    assert WorkCalendar.from_json(json.loads(json.dumps(calendar.to_json()))) == calendar


def test_order_and_repetition_do_not_make_another_calendar() -> None:
    christmas, new_year = date(2026, 12, 25), date(2027, 1, 1)
    unsorted = WorkCalendar(MONDAY, (4, 0, 1, 2, 3, 3), (new_year, christmas, christmas))
    plain = WorkCalendar(MONDAY, closures=(christmas, new_year))
    assert unsorted == plain
    assert hash(unsorted) == hash(plain)


def test_a_start_on_a_closed_day_counts_from_the_next_working_day() -> None:
    saturday = date(2026, 1, 3)
    assert WorkCalendar(saturday).date_of(1) == MONDAY
    assert WorkCalendar(saturday, closures=(MONDAY,)).date_of(1) == date(2026, 1, 6)


def test_a_million_periods_ahead_is_instant() -> None:
    calendar = WorkCalendar(MONDAY, closures=tuple(MONDAY + timedelta(days=14 * week) for week in range(5000)))
    calendar.date_of(1)  # sorts the closures once
    began = perf_counter()
    for period in range(1_000_000, 1_001_000):
        assert calendar.period_of(calendar.date_of(period)) == period
    assert perf_counter() - began < 1.0


def test_periods_beyond_the_last_date_are_refused() -> None:
    calendar = WorkCalendar(date(9999, 12, 27))  # a Monday
    assert calendar.date_of(5) == date.max
    for period in (6, 10**30):
        with pytest.raises(InvalidInput, match="must be at most 5: the calendar ends with the year 9999"):
            calendar.date_of(period)
    with pytest.raises(InvalidInput, match=r"is a closure$"):
        calendar.with_closures([date.max]).period_of(date.max)


@pytest.mark.parametrize(
    ("cutoff", "moment", "day"),
    [
        (0, datetime(2026, 1, 6, 0, 0), date(2026, 1, 6)),
        (6, datetime(2026, 1, 6, 5, 59, 59), date(2026, 1, 5)),
        (6, datetime(2026, 1, 6, 6, 0), date(2026, 1, 6)),
        (6, datetime(2026, 1, 1, 2, 0), date(2025, 12, 31)),
        (6, datetime(2026, 1, 6, 2, 0, tzinfo=UTC), date(2026, 1, 5)),
    ],
)
def test_a_night_shift_belongs_to_the_day_before(cutoff: int, moment: datetime, day: date) -> None:
    assert WorkCalendar(MONDAY, cutoff_hour=cutoff).day_of(moment) == day


@pytest.mark.parametrize(
    ("day", "remedy"),
    [
        (date(2026, 1, 4), "lies before the calendar's start, 2026-01-05; the next working day is 2026-01-05"),
        (date(2026, 1, 10), "is a Saturday, on which nobody works here; the next working day is 2026-01-13"),
        (date(2026, 1, 12), "is a closure; the next working day is 2026-01-13"),
    ],
)
def test_the_error_says_why_and_what_is_next(day: date, remedy: str) -> None:
    calendar = WorkCalendar(MONDAY, closures=(date(2026, 1, 12),))
    with pytest.raises(InvalidInput) as caught:
        calendar.period_of(day)
    assert (caught.value.value, caught.value.remedy) == (day.isoformat(), remedy)


GOOD: dict[str, Any] = {
    "start": "2026-01-05",
    "weekdays": [0, 1],
    "closures": [],
    "shifts_per_day": 1,
    "cutoff_hour": 0,
}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"start": "05.01.2026"}, "start"),
        ({"start": None}, "start"),
        ({"weekdays": []}, "weekdays"),
        ({"weekdays": [7]}, "weekdays"),
        ({"weekdays": ["Monday"]}, "weekdays"),
        ({"closures": ["2026-02-30"]}, "closures"),
        ({"shifts_per_day": 0}, "shifts_per_day"),
        ({"shifts_per_day": 1.5}, "shifts_per_day"),
        ({"cutoff_hour": 24}, "cutoff_hour"),
        ({"cutoff_hour": -1}, "cutoff_hour"),
        ({"cutof_hour": 3}, "calendar"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], field: str) -> None:
    assert WorkCalendar.from_json(GOOD).start == MONDAY
    with pytest.raises(InvalidInput) as caught:
        WorkCalendar.from_json({**GOOD, **change})
    assert caught.value.field == field


def test_days_shifts_and_moments_are_not_confused() -> None:
    calendar = WorkCalendar(MONDAY, shifts_per_day=2)
    noon = datetime(2026, 1, 6, 12)
    with pytest.raises(InvalidInput, match="without a time of day"):
        calendar.period_of(noon)
    with pytest.raises(InvalidInput, match="with a time of day"):
        calendar.day_of(MONDAY)  # type: ignore[arg-type]  # the wrong type is the point
    for shift in (0, 3):
        with pytest.raises(InvalidInput, match="shift"):
            calendar.period_of(MONDAY, shift)
    for period in (0, -1, 1.0):
        with pytest.raises(InvalidInput, match="period"):
            calendar.date_of(period)  # type: ignore[arg-type]  # the wrong type is the point
    with pytest.raises(InvalidInput, match="before the first possible date"):
        WorkCalendar(MONDAY, cutoff_hour=6).day_of(datetime.min)
