"""The parsers of a plan's columns: day, worker, output, hours and attendance of a row."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any

from crewlearn.advisor.files.cells import CellRefused, attendance_in, key_of, text_in
from crewlearn.advisor.files.detection.layout import Layout, column_in
from crewlearn.advisor.files.detection.plan import ReadingPlan
from crewlearn.advisor.files.detection.site_view import SiteView
from crewlearn.advisor.files.detection.words.names import display_name, split_id
from crewlearn.advisor.files.detection.words.values import (
    duration_of,
    is_blank,
    measured_parser,
    moment_parser,
    number_parser,
    time_of_day,
)
from crewlearn.advisor.files.detection.words.vocabulary import SHIFT_WORDS, words_of
from crewlearn.advisor.files.detection.writing import Writing
from crewlearn.advisor.files.sources.source import JUDGED_COLUMNS
from crewlearn.advisor.ledger.text import LONGEST_ID, LONGEST_NAME

_CACHED = 1 << 16


class RowReader:
    """The parsers of a plan's columns, for rows of one file."""

    def __init__(self, layout: Layout, plan: ReadingPlan, writing: Writing, site: SiteView) -> None:
        self.plan, self.site, self.writing = plan, site, writing
        places = layout.places
        self.headers = layout.headers
        self.at = {role: places[key_of(header)] for role, header in plan.columns.items()}
        self.places = places
        self.names: dict[str, str] = {}
        self.number = number_parser(plan.decimal or writing.decimal)
        self.day_of = site.day_rule(plan.cutoff)
        self.merges = not (plan.measure.kind == "count" and not self._has_seconds(layout))
        self.of = places[key_of(plan.measure.of)] if plan.measure.of else -1

    def _has_seconds(self, layout: Layout) -> bool:
        """Return whether moments are told to the second, so that two equal rows are one."""
        at = self.at.get("time", self.at.get("date", -1))
        return at < 0 or any(cell.count(":") >= 2 for cell in column_in(layout.rows, at)[:50])

    # Parts of a row

    def worker(self) -> Callable[[Sequence[str]], tuple[str, str]]:
        """Return the function that gives the cells of a row's worker: id, and name."""
        at = self.at
        id_at, name_at = at.get("worker_id", -1), at.get("name", -1)
        if "first" in at and "last" in at and name_at < 0:
            first, last = at["first"], at["last"]
            if id_at < 0:
                return lambda cells: ("", f"{cells[first].strip()} {cells[last].strip()}".strip())
            return lambda cells: (cells[id_at], f"{cells[first].strip()} {cells[last].strip()}".strip())
        if id_at < 0:
            return lambda cells: ("", cells[name_at])
        if name_at < 0:
            return lambda cells: (cells[id_at], "")
        return lambda cells: (cells[id_at], cells[name_at])

    def who(self) -> Callable[[tuple[str, str]], str]:
        """Return the function that gives the id of a row's worker, empty if there is none, and notes the name."""
        form, people, names = self.plan.id_form, self.site.people, self.names

        @lru_cache(_CACHED)
        def who(given: tuple[str, str]) -> str:
            worker, name = given
            if form != "id" and worker:
                worker, within = split_id(worker, form)
                name = name or within
            worker, name = text_in(worker), " ".join(text_in(name).split())
            if is_blank(worker) and is_blank(name):
                return ""
            found = people.id_of("" if is_blank(worker) else worker, name)
            if len(found) > LONGEST_ID or not found.isprintable():
                raise CellRefused(
                    f"the worker's id: at most {LONGEST_ID} characters, none of them control or invisible"
                )
            shown = display_name(name)
            if shown and not is_blank(shown) and len(shown) <= LONGEST_NAME and shown.isprintable():
                names.setdefault(found, shown)
            return found

        return who

    def when(self) -> Callable[[Sequence[str]], tuple[Any, datetime | None]]:
        """Return the function that gives a row's day, or day and shift, or period, as the key of its sum."""
        at = self.at
        if "date" not in at:
            return self._by_period()
        day_at, clock_at = at["date"], at.get("time", -1)
        parse = moment_parser(self.plan.dates or self.writing.order)
        timed, day_of = self.writing.timed, self.day_of

        @lru_cache(_CACHED)
        def day(cell: str, clock: str) -> tuple[date | None, datetime | None]:
            moment = parse(cell)
            if moment is None:
                return None, None
            on, hour = moment
            if clock and hour is None:
                hour = time_of_day(clock)
                if hour is None:
                    raise CellRefused("a time of day, such as 22:15")
            if hour is None or not (timed or clock):
                return on, None
            whole = datetime.combine(on, hour)
            return day_of(whole), whole

        if "shift" in at and self.site.calendar.shifts_per_day > 1:
            shift_at, turn_of = at["shift"], self._shift()

            def with_shift(cells: Sequence[str]) -> tuple[Any, datetime | None]:
                on, moment = day(cells[day_at], cells[clock_at] if clock_at >= 0 else "")
                return (None if on is None else (on, turn_of(cells[shift_at]), None)), moment

            return with_shift
        if clock_at < 0:
            return lambda cells: day(cells[day_at], "")
        return lambda cells: day(cells[day_at], cells[clock_at])

    def _by_period(self) -> Callable[[Sequence[str]], tuple[Any, datetime | None]]:
        at, number = self.at["period"], self.number

        def period(cells: Sequence[str]) -> tuple[Any, datetime | None]:
            value = number(cells[at])
            if value is not None and (not value.is_integer() or not 1 <= value <= 10**9):
                raise CellRefused(f"a whole number from 1 to {10**9}")
            return None if value is None else (None, None, int(value)), None

        return period

    def _shift(self) -> Callable[[str], int]:
        named, most = self.plan.shifts, self.site.calendar.shifts_per_day
        expected = f"which of the day's {most} shifts it was, counted from 1"

        @lru_cache(_CACHED)
        def turn(cell: str) -> int:
            number = named.get(key_of(cell)) or shift_number(cell)
            if number is None or number > most:
                raise CellRefused(expected)
            return number

        return turn

    def hours(self) -> Callable[[Sequence[str], datetime | None], float | None]:
        """Return the function that gives a row's hours, None if it has none."""
        at, unit = self.at, self.plan.hours_unit / 3600.0
        parse = measured_parser(self.plan.decimal or self.writing.decimal, self.plan.hours_unit)
        if "hours" in at:
            hours_at = at["hours"]

            def given(cells: Sequence[str], _: datetime | None) -> float | None:
                value = parse(cells[hours_at])
                return None if value is None else value * unit

            return given
        if "start" in at and "end" in at:
            start_at, end_at, pause_at = at["start"], at["end"], at.get("break", -1)
            order = self.plan.dates or self.writing.order
            pause_of = lru_cache(_CACHED)(lambda cell: _pause(cell, self.number))

            def between(cells: Sequence[str], _: datetime | None) -> float | None:
                span = _span(cells[start_at], cells[end_at], order)
                if span is None:
                    return None
                return max(0.0, span - (pause_of(cells[pause_at]) if pause_at >= 0 else 0.0))

            return between
        return lambda cells, _: None

    def attendance(self) -> Callable[[Sequence[str]], str]:
        """Return the function that gives a row's attendance, empty if it has none."""
        at = self.at.get("attendance", -1)
        if at < 0:
            return lambda cells: ""
        read = lru_cache(_CACHED)(attendance_in)
        return lambda cells: read(cells[at])

    def measure(self) -> Callable[[Sequence[str]], tuple[float | None, float | None]]:
        """Return the function that gives what a row adds to the output: numerator and denominator, None if blank."""
        plan = self.plan
        measure = plan.measure
        if measure.kind == "count":
            return lambda cells: (1.0, None)
        of, per = self.of, self.places[key_of(measure.per)] if measure.per else -1
        parse = measured_parser(
            plan.decimal or self.writing.decimal, measure.clock, minutes_first=measure.clock < 3600.0
        )
        per_parse = measured_parser(plan.decimal or self.writing.decimal, 3600.0)
        if measure.kind == "sum":
            return lambda cells: (parse(cells[of]), None)
        if measure.kind == "mean" and per < 0:

            def plain_mean(cells: Sequence[str]) -> tuple[float | None, float | None]:
                return parse(cells[of]), 1.0

            return plain_mean

        def two(cells: Sequence[str]) -> tuple[float | None, float | None]:
            made = parse(cells[of])
            if made is None:
                return None, None
            other = per_parse(cells[per])
            if measure.kind == "ratio":
                return made, other or 0.0
            if measure.kind == "product":
                if other is None:
                    raise CellRefused(f"a number in {measure.per!r} too")
                return made * other, None
            weight = other or 0.0
            return made * weight, weight

        return two

    def filters(self) -> list[Callable[[Sequence[str]], bool]]:
        """Return the tests that a row must pass."""

        def test(header: str, values: Sequence[str]) -> Callable[[Sequence[str]], bool]:
            at, kept = self.places[key_of(header)], {_folded(value) for value in values}
            return lambda cells: _folded(cells[at]) in kept

        return [test(header, values) for header, values in self.plan.where]

    def total_marks(self) -> list[int]:
        """Return the positions of the cells that may name a total."""
        roles = ("worker_id", "name", "first", "last", "date", "shift")
        marked = [self.at[role] for role in roles if role in self.at]
        marked += [self.places[key_of(header)] for header in self.plan.categories if key_of(header) in self.places]
        return list(dict.fromkeys([0, *marked]))[:JUDGED_COLUMNS]

    def carried_places(self) -> list[int]:
        """Return the positions of the cells that may stand for several rows."""
        return [self.at[role] for role in ("worker_id", "name", "first", "last", "date") if role in self.at]

    def is_note(self, cells: Sequence[str], who: str, key: object, made: float | None) -> bool:
        """Return whether a row without a worker or day is no data: a note, or a repeated header."""
        if not who and key is None:
            return True
        if [" ".join(cell.split()) for cell in cells[: len(self.headers)]] == list(self.headers):
            return True
        filled = sum(bool(cell.strip()) for cell in cells)
        return made is None and (filled <= 2 or any(cells[at].strip() == self.headers[at] for at in self.at.values()))

    # Texts for errors

    def date_text(self, cells: Sequence[str]) -> str:
        """Return the text of a row's date or period."""
        return cells[self.at.get("date", self.at.get("period", 0))]

    def hours_text(self, cells: Sequence[str]) -> str:
        """Return the text of a row's hours."""
        return cells[self.at.get("hours", self.at.get("start", 0))]

    def has_figures(self, cells: Sequence[str]) -> bool:
        """Return whether the hours of a row are meant as a number."""
        return any(letter.isdigit() for letter in self.hours_text(cells))

    def measure_text(self, cells: Sequence[str]) -> str:
        """Return the text of a row's output."""
        return cells[self.of] if self.of >= 0 else ""


def shift_number(cell: str) -> int | None:
    """Return the shift that a number or a common name stands for.

    >>> shift_number("2"), shift_number("Shift 3"), shift_number("Nacht"), shift_number("xyz")
    (2, 3, 3, None)
    """
    words = words_of(cell).split()
    for word in reversed(words):
        if word.isdigit() and 1 <= int(word) <= 24:
            return int(word)
        if word in SHIFT_WORDS:
            return SHIFT_WORDS[word]
    return None


@lru_cache(_CACHED)
def _folded(cell: str) -> str:
    return " ".join(cell.casefold().split())


def _pause(cell: str, number: Callable[[str], float | None]) -> float:
    """Return the hours of a break: a number above 5 is in minutes."""
    seconds = duration_of(cell)
    if seconds is not None:
        return seconds / 3600.0
    value = number(cell) or 0.0
    return value / 60.0 if value > 5.0 else value


@lru_cache(_CACHED)
def _span(start: str, end: str, order: Any) -> float | None:
    """Return the hours between two times of day, or two moments; over midnight if the end is earlier."""
    if is_blank(start) or is_blank(end):
        return None
    clocks = time_of_day(start), time_of_day(end)
    if clocks[0] is not None and clocks[1] is not None:
        minutes = [_minutes(clock) for clock in clocks if clock is not None]
        return ((minutes[1] - minutes[0]) % 1440.0) / 60.0
    parse = moment_parser(order)
    first, last = (
        None if moment is None else datetime.combine(moment[0], moment[1] or time.min)
        for moment in (parse(start), parse(end))
    )
    if first is None or last is None:
        return None
    hours = (last - first).total_seconds() / 3600.0
    if hours < 0.0:
        raise CellRefused("an end that is not before the start")
    return hours


def _minutes(clock: time) -> float:
    return clock.hour * 60 + clock.minute + clock.second / 60
