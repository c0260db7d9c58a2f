"""Days outside the regular calendar: their numbers stay, and everything in time follows their dates."""

import json
import random
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.output_imports import import_output
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.problem.errors import InvalidInput
from support.lives import Life, fresh_life

MONDAY = date(2026, 3, 2)
EVOLVING = "value-of-replacement-evolving"


@st.composite
def opened(draw: st.DrawFn) -> WorkCalendar:
    weekdays = draw(st.sets(st.integers(0, 6), min_size=1))
    closures = tuple(MONDAY + timedelta(days=day) for day in draw(st.sets(st.integers(0, 40), max_size=8)))
    calendar = WorkCalendar(MONDAY, tuple(weekdays), closures, draw(st.integers(1, 3)))
    for _ in range(draw(st.integers(1, 4))):  # opened in several steps, some dates only as marks
        days = {MONDAY + timedelta(days=day) for day in draw(st.sets(st.integers(-30, 60), max_size=15))}
        worked = draw(st.booleans())
        others = {day for day in days if not calendar.is_working(day)}
        calendar = calendar.with_opened(calendar.numbers_for(others), worked=worked)
    return calendar


@given(opened())
def test_order_is_that_of_dates_and_shifts(calendar: WorkCalendar) -> None:
    days = [MONDAY + timedelta(days=day) for day in range(-40, 80)]
    shifts = range(1, calendar.shifts_per_day + 1)
    periods = [calendar.period_of(day, shift) for day in days if calendar.is_working(day) for shift in shifts]
    assert len(set(periods)) == len(periods)
    places = [calendar.order_of(period) for period in periods]
    assert places == list(range(places[0], places[0] + len(places)))
    assert calendar.order_of(0) == places[0] - 1
    assert places[0] == calendar.first_order
    assert [calendar.period_at(place) for place in places] == periods
    assert [(calendar.date_of(period), calendar.shift_of(period)) for period in periods] == [
        (day, shift) for day in days if calendar.is_working(day) for shift in shifts
    ]
    regular = [period for period in periods if period > 0]
    plain = WorkCalendar(calendar.start, calendar.weekdays, calendar.closures, calendar.shifts_per_day)
    assert [plain.date_of(period) for period in regular] == [calendar.date_of(period) for period in regular]
    for at, period in enumerate(periods[:-60]):
        assert calendar.following(period) == next(later for later in periods[at + 1 :] if later > 0)
        assert calendar.periods_before(period) == periods[:at]


@given(opened())
def test_a_mark_stands_before_the_next_period(calendar: WorkCalendar) -> None:
    for marked in (day for day in calendar.opened if not day.worked):
        following = marked.day
        while not calendar.is_working(following):
            following += timedelta(days=1)
        assert calendar.order_of(marked.numbers[0]) == calendar.order_of(calendar.period_of(following))
        assert calendar.date_of(marked.numbers[0]) == marked.day


@given(opened(), st.integers(-40, 70), st.integers(-40, 70))
def test_ranges_hold_the_numbers_of_their_days(calendar: WorkCalendar, first: int, last: int) -> None:
    begin, end = MONDAY + timedelta(days=first), MONDAY + timedelta(days=last)
    listed = [number for some in calendar.ranges_between(begin, end) for number in some]
    days = [begin + timedelta(days=day) for day in range((end - begin).days + 1)]
    marks = {number for day in calendar.opened if day.day in days for number in day.numbers}
    shifts = range(1, calendar.shifts_per_day + 1)
    regular = {calendar.period_of(day, shift) for day in days if calendar.is_regular(day) for shift in shifts}
    assert sorted(listed) == sorted(marks | {period for period in regular if period > 0})


@given(opened())
def test_opened_days_survive_json_and_are_left_out_if_there_are_none(calendar: WorkCalendar) -> None:
    assert WorkCalendar.from_json(json.loads(json.dumps(calendar.to_json()))) == calendar
    assert set(WorkCalendar(MONDAY).to_json()) == {"start", "weekdays", "closures", "shifts_per_day", "cutoff_hour"}


def rows(days: dict[date, dict[str, float]]) -> list[OutputRow]:
    return [
        OutputRow(line, day, None, worker, units, None, "worked")
        for line, (day, worker, units) in enumerate(
            ((day, worker, units) for day, made in days.items() for worker, units in made.items()), start=2
        )
    ]


def history(seed: int, first: date, days: int) -> dict[date, dict[str, float]]:
    """Return output of six people on weekdays, and on some Saturdays."""
    rng, made = random.Random(seed), {}
    for offset in range(days):
        day = first + timedelta(days=offset)
        if day.weekday() < 5 or (day.weekday() == 5 and rng.random() < 0.3):
            team = rng.sample(range(6), 3)
            made[day] = {f"w{n}": round(min(1.0, max(0.0, rng.gauss(0.3 + 0.1 * n, 0.1))), 4) for n in team}
    return made


@pytest.mark.parametrize("policy", [EVOLVING, "value-of-replacement"])
def test_history_before_set_up_is_worth_the_same_as_recorded_day_by_day(
    life: Life, policy: str, tmp_path: Path
) -> None:
    """One site was set up before all output; the other after it, and its files come in any order."""
    made = history(1, date(2026, 1, 5), 90)
    life.create(active=0, calendar=WorkCalendar(date(2026, 4, 6)), policy=policy, rolling=True)
    days = list(made)
    for part in (days[40:60], days[20:40], days[60:], days[:20]):
        import_output(life.store, "s", rows({day: made[day] for day in part}), b"x", "ann")
    with fresh_life(tmp_path / "other.db") as other:
        weekdays = (0, 1, 2, 3, 4)
        other.create(active=0, calendar=WorkCalendar(date(2026, 1, 5), weekdays), policy=policy, rolling=True)
        import_output(other.store, "s", rows(made), b"x", "ann")
        ours, theirs = life.site, other.site
        calendar = ours.config.calendar
        assert ours.period == 1
        assert calendar.order_of(1) - calendar.first_order == theirs.config.calendar.order_of(theirs.period) - 1
        assert ours.estimates.counts.tolist() == theirs.estimates.counts.tolist()
        assert ours.estimates.sums.tolist() == theirs.estimates.sums.tolist()
        assert ours.first_team == theirs.first_team
        assert [worker.earned for worker in ours.workers] == [worker.earned for worker in theirs.workers]
        last = [
            (worker.recorded_to, other.recorded_to) for worker, other in zip(ours.workers, theirs.workers, strict=True)
        ]
        for a, b in last:
            assert calendar.date_of(a) == theirs.config.calendar.date_of(b)
        assert life.open() == other.open()


def test_overtime_is_recorded_under_a_number_of_its_own(life: Life) -> None:
    life.create()
    life.days(5, w0=0.4, w1=0.5)
    saturday = date(2026, 1, 10)
    done = import_output(life.store, "s", rows({saturday: {"w0": 0.4, "w1": 0.5}}), b"x", "ann")
    assert done.warnings == ("2 rows on 1 day that nobody planned to work: recorded as overtime",)
    calendar = life.site.config.calendar
    assert (life.site.period, calendar.period_of(saturday)) == (6, -1)
    assert life.site.estimates.counts[0] == 6
    assert calendar.order_of(6) == 7
    again = import_output(life.store, "s", rows({saturday: {"w0": 0.4, "w1": 0.5}}), b"x", "ann")
    assert (again.recorded, again.known) == (0, 2)
    with pytest.raises(InvalidInput, match="has recorded output"):
        commands.change_site(life.store, "s", {"weekdays": "mon,tue,wed,thu,fri,sat"}, "ann")
    commands.change_site(life.store, "s", {"closed": "2026-01-14"}, "ann")
    assert life.site.config.calendar.period_of(saturday) == -1


def test_output_beyond_a_missing_day_moves_on_to_the_next_regular_one(life: Life) -> None:
    life.create()
    life.days(4, w0=0.4, w1=0.5)
    import_output(life.store, "s", rows({date(2026, 1, 10): {"w0": 0.4}}), b"x", "ann")
    assert life.site.period == 6


def test_absences_on_idle_days_are_left_out(life: Life) -> None:
    life.create()
    absent = OutputRow(2, date(2026, 1, 10), None, "w0", None, None, "absent")
    done = import_output(life.store, "s", [absent], b"x", "ann")
    assert (done.recorded, life.site.config.calendar.opened) == (0, ())
    assert done.warnings == ("1 row without output on days on which nobody worked left out",)


def test_a_fixed_horizon_counts_from_set_up(life: Life) -> None:
    life.create(calendar=WorkCalendar(date(2026, 4, 6)), horizon=50)
    import_output(life.store, "s", rows(history(2, date(2026, 1, 5), 60)), b"x", "ann")
    assert (life.site.period, life.site.setting().horizon) == (1, 50)
