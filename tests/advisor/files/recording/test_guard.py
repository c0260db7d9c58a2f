"""The guard: wrong files are held, ordinary ones hardly ever, and nothing is recorded meanwhile.

The rates are measured on simulated floors, where output is mapped to pieces. On the base floor 4 of 2,568 ordinary
files were held. The test allows 1 of 100, which chance alone exceeds less than once in ten thousand.
"""

import pickle
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from typing import Any

import pytest

from crewlearn.advisor.files import output_imports
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.dry_run import check
from crewlearn.advisor.files.imports import ImportFile, ImportOptions, take_in
from crewlearn.advisor.files.measuring import MeasuredRow
from crewlearn.advisor.files.recording.guard import DAYS, WINDOW, Expectation, Oddity, UnusualOutput
from crewlearn.advisor.files.tables import CsvErrors
from crewlearn.advisor.ledger.events import RecordedRow
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.engine.trace import events_of
from crewlearn.policies.registry import make_policy
from crewlearn.study.families import FAMILIES
from support.stores import CALENDAR, ME, contents, site_with_proposals, sound, state_of

PIECES = Units(0.0, 900.0)
TEAM = "abcdef"
Day = Mapping[int, float]


@cache
def floor(name: str, runs: int) -> tuple[dict[int, Day], ...]:
    """Return the pieces of everybody at work, by run, period and worker."""
    worlds: dict[int, dict[int, dict[int, float]]] = {}
    for row in events_of(FAMILIES[name].problem(), make_policy("value-of-replacement"), runs, 7):
        if row["output"] is not None:
            worlds.setdefault(row["run"], {}).setdefault(row["period"], {})[row["worker"]] = round(900 * row["output"])
    return tuple(dict(days) for days in worlds.values())


def held(units: Units, days: Mapping[int, Day], period: int, file: Day) -> list[Oddity]:
    """Return what is unusual about a file of a period, after the days before it."""
    past = [
        (before, RecordedRow(before, worker, made, None, "worked"))
        for before in range(period - WINDOW, period)
        for worker, made in days.get(before, {}).items()
    ]
    rows = [
        MeasuredRow(
            RecordedRow(period, worker, made, None, "worked"),
            0.5,
            False,
            OutputRow(line, None, period, f"w{worker}", made, None, "worked"),
        )
        for line, (worker, made) in enumerate(file.items(), start=2)
    ]
    return list(Expectation.of(units, past).oddities(CALENDAR, rows, range(period - WINDOW, period)))


def in_shock(name: str, period: int) -> bool:
    output: Any = FAMILIES[name].problem().output
    return any(first <= period <= last for first, last, _ in output.shocks)


def samples(name: str) -> Iterator[tuple[dict[int, Day], int, int]]:
    """Return ordinary days, each with somebody who was at work."""
    draw = random.Random(3)
    for days in floor(name, 3):
        for period in range(20, max(days), 7):
            if not in_shock(name, period):
                yield days, period, draw.choice(sorted(days[period]))


@pytest.mark.parametrize("name", ["floor", "floor-noise-15", "floor-day-10", "floor-small"])
def test_ordinary_files_are_hardly_ever_held(name: str) -> None:
    files = [
        (days, period)
        for days in floor(name, 3)
        for period in sorted(days)
        if period > DAYS + 1 and not in_shock(name, period)
    ]
    assert len(files) > 600
    assert sum(bool(held(PIECES, days, period, days[period])) for days, period in files) <= len(files) // 100


@pytest.mark.parametrize("factor", [10.0, 5.0, 0.2, 0.1])
@pytest.mark.parametrize("name", ["floor", "floor-noise-15"])
def test_a_typing_error_by_a_factor_is_held(name: str, factor: float) -> None:
    caught = []
    for days, period, worker in samples(name):
        odd = held(PIECES, days, period, {**days[period], worker: round(factor * days[period][worker])})
        caught.append(f"w{worker}" in [oddity.worker_id for oddity in odd])
    assert sum(caught) >= 0.97 * len(caught)


@pytest.mark.parametrize("name", ["floor", "floor-small"])
def test_a_third_of_the_team_and_a_swapped_column_are_held(name: str) -> None:
    thirds, swapped = [], []
    draw = random.Random(4)
    for days, period, _ in samples(name):
        present = sorted(days[period].items())
        few = held(PIECES, days, period, dict(draw.sample(present, max(1, len(present) // 3))))
        thirds.append(any(oddity.line == 0 for oddity in few))
        swapped.append(bool(held(PIECES, days, period, {worker: 8.0 for worker, _ in present})))
    assert sum(thirds) >= 0.97 * len(thirds)
    assert all(swapped)


def test_a_bad_day_for_everybody_is_held_once() -> None:
    days: dict[int, Day] = {
        period: {worker: 500.0 + 20 * worker + 3 * ((period * worker) % 7) for worker in range(8)}
        for period in range(1, 30)
    }
    bad = {worker: 0.6 * made for worker, made in days[20].items()}
    found = held(PIECES, days, 20, bad)
    assert [(oddity.line, oddity.worker_id) for oddity in found] == [(0, "")]
    assert "40% below the usual" in found[0].why
    days[20] = bad
    assert not held(PIECES, days, 21, bad), "the next bad day is not held"
    assert not held(PIECES, days, 21, days[21]), "nor is an ordinary one"
    slip = {**days[21], 3: days[21][3] / 5}
    assert [oddity.worker_id for oddity in held(PIECES, days, 21, slip)] == ["w3"]


def test_rare_errors_are_not_held_and_many_are() -> None:
    """Where less is better, most counts are near zero, and a ratio says nothing."""
    draw, errors = random.Random(5), Units(30.0, 0.0)
    days: dict[int, Day] = {
        period: {worker: float(sum(draw.random() < 0.05 for _ in range(20))) for worker in range(12)}
        for period in range(1, 120)
    }
    ordinary = [held(errors, days, period, days[period]) for period in range(7, 120)]
    assert sum(map(bool, ordinary)) <= 1
    assert held(errors, days, 60, {**days[60], 4: 21.0})


def test_without_a_record_nothing_is_held() -> None:
    days: dict[int, Day] = {period: dict.fromkeys(range(9), 500.0) for period in range(1, DAYS + 1)}
    for period in range(1, DAYS + 1):
        assert not held(PIECES, days, period, {0: 5.0})
    assert held(PIECES, days, DAYS + 1, {**days[1], 0: 5.0})


def test_a_day_in_several_files_is_not_a_fraction_of_the_team() -> None:
    past = [
        (10 * period + worker // 4, RecordedRow(period, worker, 500.0 + worker, None, "worked"))
        for period in range(1, 12)
        for worker in range(12)
    ]
    source = OutputRow(2, None, 12, "w", 500.0, None, "worked")
    rows = [MeasuredRow(RecordedRow(12, worker, 500.0, None, "worked"), 0.5, False, source) for worker in range(4)]
    expected = Expectation.of(PIECES, past)
    assert not list(expected.oddities(CALENDAR, rows, range(1, 12)))
    assert list(expected.oddities(CALENDAR, rows[:1], range(1, 12)))


# --- at a site


def day(period: int, **units: float) -> list[OutputRow]:
    made = {worker: 60.0 + place + (period * (place + 3)) % 5 for place, worker in enumerate(TEAM)} | units
    return [
        OutputRow(line, CALENDAR.date_of(period), None, worker, value, None, "worked")
        for line, (worker, value) in enumerate(made.items(), start=2)
    ]


def with_days(store: Store, days: int = 12) -> None:
    site_with_proposals(store)
    for period in range(1, days + 1):
        output_imports.import_output(store, "site", day(period), b"", ME)


def test_what_is_unusual_is_refused_with_its_rows_and_recorded_once_confirmed(store: Store) -> None:
    with_days(store)
    before, rows = contents(store), day(13, b=6.0, e=640.0)
    with pytest.raises(UnusualOutput) as caught:
        output_imports.import_output(store, "site", rows, b"", ME)
    assert contents(store) == before
    assert [(odd.line, odd.worker_id, odd.value) for odd in caught.value.oddities] == [(3, "b", "6"), (6, "e", "640")]
    assert "line 3, worker b, 2024-01-17: 6, usual of this person is about 63" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.oddities, str(again)) == (UnusualOutput, caught.value.oddities, str(caught.value))
    done = output_imports.import_output(store, "site", rows, b"", ME, accept_unusual=True)
    assert (done.recorded, done.unusual) == (6, caught.value.oddities)
    assert "unusual for this site: 2 findings" in done.warnings
    sound(store)


def test_a_correction_is_looked_at_too_and_late_rows_are_not_a_fraction(store: Store) -> None:
    with_days(store)
    wrong = [OutputRow(2, CALENDAR.date_of(5), None, "a", 6.0, None, "worked")]
    with pytest.raises(UnusualOutput):
        output_imports.import_output(store, "site", wrong, b"", ME, correct=True)
    right = [OutputRow(2, CALENDAR.date_of(5), None, "a", 66.0, None, "worked")]
    assert output_imports.import_output(store, "site", right, b"", ME, correct=True).corrected == 1
    few = day(13)[:2]
    with pytest.raises(UnusualOutput, match="2 people, usually about 6"):
        output_imports.import_output(store, "site", few, b"", ME)
    output_imports.import_output(store, "site", day(13), b"", ME)
    assert state_of(store).period == 14


def test_a_dry_run_lists_what_is_unusual(store: Store) -> None:
    with_days(store)
    rows = "\n".join(f"{row.day},{row.worker_id},{row.units}" for row in day(13, b=6.0))
    data = f"date,worker_id,units\n{rows}\n".encode()
    checked = check(store, "site", ImportFile("output", data), ME)
    assert not checked.sound
    assert [(error.line, error.column, error.value) for error in checked.errors] == [(3, "units", "6")]
    accepted = check(store, "site", ImportFile("output", data, ImportOptions(accept_unusual=True)), ME)
    assert accepted.sound
    assert [odd.worker_id for odd in accepted.result.unusual] == ["b"]


def test_output_per_hour_is_compared_per_hour(store: Store) -> None:
    site_with_proposals(store, units=Units(0.0, 20.0, hours_per_period=8.0))
    for period in range(1, 13):
        rows = [replace(row, hours=8.0) for row in day(period)]
        output_imports.import_output(store, "site", rows, b"", ME)
    short = [replace(row, hours=2.0, units=(row.units or 0.0) / 4, attendance="partial") for row in day(13)]
    output_imports.import_output(store, "site", short, b"", ME)
    swapped = [replace(row, hours=row.units, units=8.0) for row in day(14)]
    with pytest.raises(UnusualOutput, match=r"the output of everybody is 9\d% below the usual"):
        output_imports.import_output(store, "site", swapped, b"", ME)


START = CALENDAR.start


def dated(first: date, days: int, who: str = TEAM, units: float = 500.0) -> list[OutputRow]:
    """Output on consecutive working weekdays."""
    dates = [day for place in range(2 * days + 2) if (day := first + timedelta(days=place)).weekday() < 5][:days]
    return [
        OutputRow(2 + line, day, None, worker, units + 10.0 * (line % 3) + at, None, "worked")
        for line, day in enumerate(dates)
        for at, worker in enumerate(who)
    ]


def test_history_is_not_held(store: Store) -> None:
    """Years before the record, and a year after it, differ from the last days; what is near them is held."""
    site_with_proposals(store, units=PIECES)
    output_imports.import_output(store, "site", dated(START - timedelta(days=900), 500, units=200.0), b"", ME)
    output_imports.import_output(store, "site", dated(START, 20), b"", ME, accept_unusual=True)
    earlier = dated(START - timedelta(days=1400), 300, units=20.0)
    assert output_imports.import_output(store, "site", earlier, b"", ME).unusual == ()
    far = dated(START + timedelta(days=90), 5, units=60.0)
    assert output_imports.import_output(store, "site", far, b"", ME).unusual == ()
    sound(store)


def test_the_days_before_are_found_by_dates(store: Store) -> None:
    """At a site set up today, all days on record have numbers below 0."""
    site_with_proposals(store, units=PIECES)
    history = START - timedelta(days=28)
    output_imports.import_output(store, "site", dated(history, 20), b"", ME)
    assert state_of(store).period == 1
    wrong = [row for row in dated(START, 1) if row.worker_id != "b"]
    wrong.append(OutputRow(9, START, None, "b", 60.0, None, "worked"))
    before = contents(store)
    with pytest.raises(UnusualOutput) as error:
        output_imports.import_output(store, "site", wrong, b"", ME)
    assert [(odd.line, odd.worker_id, odd.day) for odd in error.value.oddities] == [(9, "b", str(START))]
    assert contents(store) == before
    assert output_imports.import_output(store, "site", dated(START, 1), b"", ME).recorded == len(TEAM)


def test_overtime_is_not_held_for_its_few_people(store: Store) -> None:
    site_with_proposals(store, units=PIECES)
    output_imports.import_output(store, "site", dated(START, 10), b"", ME)
    saturday = START + timedelta(days=12)
    few = [OutputRow(2, saturday, None, "a", 505.0, None, "worked")]
    assert output_imports.import_output(store, "site", few, b"", ME).recorded == 1
    monday = [replace(few[0], day=saturday + timedelta(days=2))]
    with pytest.raises(UnusualOutput, match="1 person, usually about 6"):
        output_imports.import_output(store, "site", monday, b"", ME)


def test_what_is_accepted_in_a_file_does_not_accept_what_is_unusual(store: Store) -> None:
    """Newcomers, overtime and the profile of a held file are not recorded either; a check tells its causes."""
    site_with_proposals(store, units=PIECES)
    output_imports.import_output(store, "site", dated(START, 10), b"", ME)
    monday = START + timedelta(days=14)
    lines = [f"{monday};{worker};{8 if worker == 'b' else 505}" for worker in (*TEAM, "new")]
    data = "\n".join(["Labour report", "", "Day;Employee;Units", *lines]).encode()
    file = ImportFile("output", data, ImportOptions(yes=True, overtime=True), "labour.csv")
    before = contents(store)
    with pytest.raises(UnusualOutput, match="`accept_unusual` records it"):
        take_in(store, "site", file, ME)
    assert contents(store) == before
    checked = check(store, "site", file, ME)
    assert [(group.count, group.sentence) for group in checked.groups] == [
        (1, "1 row is far from what is usual of the person")
    ]
    assert "`accept_unusual`" in checked.groups[0].action
    accepted = replace(file, options=replace(file.options, accept_unusual=True))
    done = take_in(store, "site", accepted, ME)
    assert (done.recorded, done.enrolled, len(done.unusual)) == (7, 1, 1)
    sound(store)


def test_errors_of_reading_and_what_is_unusual_are_told_together(store: Store) -> None:
    """The day has few people only because other rows of it cannot be read, so that is not told."""
    site_with_proposals(store, units=PIECES)
    output_imports.import_output(store, "site", dated(START, 10), b"", ME)
    monday = START + timedelta(days=14)
    made = {"a": "505", "b": "8", **dict.fromkeys("cdef", "many")}
    data = "\n".join(["date,worker_id,units", *(f"{monday},{who},{units}" for who, units in made.items())]).encode()
    with pytest.raises(CsvErrors) as error:
        take_in(store, "site", ImportFile("output", data), ME)
    assert [(group.count, group.sentence) for group in error.value.groups] == [
        (4, "4 rows have no readable number there"),
        (1, "1 row is far from what is usual of the person"),
    ]
