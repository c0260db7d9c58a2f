"""Rows of a file to days of people: totals and notes are dropped, repeated rows merged, and the rest added up."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from crewlearn.advisor.files.cells import CellRefused, attendance_in
from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.detection.layout import Layout
from crewlearn.advisor.files.detection.plan import ReadingPlan
from crewlearn.advisor.files.detection.row_reader import RowReader
from crewlearn.advisor.files.detection.site_view import SiteView
from crewlearn.advisor.files.detection.words.vocabulary import begins_as_total, has_total, is_total
from crewlearn.advisor.files.detection.writing import Writing
from crewlearn.advisor.files.errors.file_errors import ErrorCollector
from crewlearn.advisor.files.sources.source import JUDGED_COLUMNS
from crewlearn.advisor.ledger.events import AWAY
from crewlearn.advisor.ledger.text import counted

_LONGEST_DAY = 24.0


@dataclass(slots=True)
class DaySum:
    """What the rows of one person and day add up to.

    `total` and `weight` are numerator and denominator of the output; `hashes` are those of the rows added, to
    recognise repeated ones.
    """

    line: int
    total: float = 0.0
    weight: float = 0.0
    hours: float = 0.0
    timed: int = 0
    observed: int = 0
    away: str = ""
    how: str = ""
    first: int = 0
    hashes: set[int] | None = None


@dataclass
class Summed:
    """What a file's rows came to: days by person, names by id, the errors, and what was left out or merged."""

    rows: list[OutputRow] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    used: int = 0
    totals: int = 0
    notes: int = 0
    filtered: int = 0
    repeated: int = 0
    absences: int = 0

    def notices(self) -> list[str]:
        """Return what happened to rows other than being read as they are, without anything personal."""
        told = []
        if self.totals:
            told.append(f"{counted(self.totals, 'total line')} left out")
        if self.notes:
            told.append(f"{counted(self.notes, 'line')} without output, such as notes and repeated headers, left out")
        if self.filtered:
            told.append(f"{counted(self.filtered, 'row')} left out by the filter")
        if self.repeated:
            told.append(f"{counted(self.repeated, 'row')} identical to another, counted once")
        if self.absences:
            absences = "an absence" if self.absences == 1 else "absences"
            told.append(f"{counted(self.absences, 'day')} without units taken as {absences}")
        if self.used > len(self.rows):
            told.append(f"{counted(self.used, 'row')} added up to {counted(len(self.rows), 'day')} of people")
        return told


def sum_rows(
    layout: Layout,
    records: Iterable[tuple[int, list[str]]],
    plan: ReadingPlan,
    writing: Writing,
    site: SiteView,
    errors: ErrorCollector,
) -> Summed:
    """Read the rows below a header by a plan; errors are collected, and the sound rows returned all the same."""
    reader = RowReader(layout, plan, writing, site)
    summed = Summed()
    days: dict[tuple[str, Any], DaySum] = {}
    measure, filters = reader.measure(), reader.filters()
    width = len(layout.headers)
    total_marks, carry = reader.total_marks(), plan.carried
    worker_at, hours_of, when_of = reader.worker(), reader.hours(), reader.when()
    who_of, attendance_of = reader.who(), reader.attendance()
    above: dict[int, str] = {}
    carried_places = reader.carried_places()
    running, running_rows = 0.0, 0
    for line, cells in records:
        if total_marks and any(is_total(cells[at]) for at in total_marks):
            summed.totals += 1
            above.clear()
            continue
        if carry:
            if not "".join(cells).strip():
                continue
            for at in carried_places:
                if cells[at].strip():
                    above[at] = cells[at]
                elif at in above:
                    cells[at] = above[at]
        problems: list[tuple[str, str, str]] = []
        word = ""
        if len(cells) > width and (more := [cell for cell in cells[width:] if cell.strip()]):
            problems.append((f"cell {width + 1}", more[0], f"{width} cells as in the header"))
        try:
            key, when = when_of(cells)
        except CellRefused as refused:
            key = when = None
            problems.append(("date", reader.date_text(cells), str(refused)))
        try:
            who = who_of(worker_at(cells))
        except CellRefused as refused:
            who = ""
            problems.append(("worker_id", worker_at(cells)[0], str(refused)))
        try:
            made, weight = measure(cells)
        except CellRefused as refused:
            made = weight = None
            word = attendance_in(reader.measure_text(cells))
            if word not in AWAY:
                problems.append(("units", reader.measure_text(cells), str(refused)))
        if who and key is not None and not problems:
            if filters and not all(keep(cells) for keep in filters):
                summed.filtered += 1
                continue
        elif not who or key is None:
            if not "".join(cells).strip():
                continue
            adds_up = made is not None and running_rows > 1 and abs(made - running) <= 1e-6 * max(1.0, abs(running))
            named = (
                key is None and not problems and (has_total(cells) or any(map(begins_as_total, cells[:JUDGED_COLUMNS])))
            )
            if adds_up or named or reader.is_note(cells, who, key, made):
                if made is None:
                    summed.notes += 1
                else:
                    summed.totals += 1
                    running, running_rows = 0.0, 0
                continue
            if not problems:
                if key is None:
                    problems.append(("date", reader.date_text(cells), "the day or period of the output"))
                else:
                    problems.append(("worker_id", "", "the worker's id"))
        if problems:
            for column, value, expected in problems:
                errors.add(line, column, value, expected, who if column == "date" else "")
            continue
        running, running_rows = (running + made, running_rows + 1) if made is not None else (running, running_rows)
        place = (who, key)
        day = days.get(place)
        digest = hash(tuple(cells))
        if day is None:
            days[place] = day = DaySum(line, first=digest)
        else:
            if day.hashes is None:
                day.hashes = {day.first}
            if reader.merges and digest in day.hashes:
                summed.repeated += 1
                continue
            day.hashes.add(digest)
        summed.used += 1
        hours, how = None, word
        try:
            how = attendance_of(cells) or word
            hours = hours_of(cells, when)
        except CellRefused as refused:
            if made is not None or reader.has_figures(cells):  # else the text says why nobody worked
                errors.add(line, "hours", reader.hours_text(cells), str(refused))
                continue
        if made is None or how in AWAY or (made == 0.0 and hours == 0.0):
            if made and how in AWAY:
                errors.add(line, "units", f"{made:g}", f"nothing or 0, as attendance is {how}")
            day.away = how if how in AWAY else day.away or "absent"
            continue
        day.observed += 1
        day.total += made
        day.weight += weight or 0.0
        if hours is not None:
            day.hours += hours
            day.timed += 1
        if how and how != "worked":
            day.how = how
    summed.names = reader.names
    _finish(summed, days, plan, site, errors)
    return summed


def _finish(
    summed: Summed, days: dict[tuple[str, Any], DaySum], plan: ReadingPlan, site: SiteView, errors: ErrorCollector
) -> None:
    """Turn the sums into rows, in the order of the file."""
    level, scale, a_rate = plan.measure.is_level, plan.measure.scale, site.units.hours_per_period is not None
    may_be_negative = min(site.units.low, site.units.high) < 0.0
    rows = summed.rows
    while days:
        (who, key), day = days.popitem()
        when, turn, period = (key, None, None) if isinstance(key, date) else key
        if not day.observed:
            summed.absences += 1
            rows.append(OutputRow(day.line, when, period, who, None, None, day.away or "absent", turn))
            continue
        hours = round(day.hours, 9) if day.timed else None
        if hours is not None and hours > _LONGEST_DAY:
            errors.add(day.line, "hours", f"{hours:g}", "at most 24 hours of a person in a day, all rows together")
            continue
        if hours is not None and hours <= 0.0:
            if a_rate:
                errors.add(day.line, "hours", f"{hours:g}", "more than 0, as there are units")
                continue
            hours = None
        units = round(day.total * scale, 9)
        if level:
            if day.weight <= 0.0:
                errors.add(
                    day.line, "units", f"{day.total:g}", f"more than 0 in {plan.measure.per!r}, by which it is divided"
                )
                continue
            units = round(scale * day.total / day.weight, 9)
            if a_rate:  # the record has units, which are divided by the hours
                units *= hours if hours is not None else site.units.hours_per_period or 1.0
        if units < 0.0 and not may_be_negative:
            errors.add(day.line, "units", f"{units:g}", "a number >= 0, all rows of the day together")
            continue
        rows.append(OutputRow(day.line, when, period, who, units + 0.0, hours, day.how or "worked", turn))
    rows.sort(key=lambda row: row.line)
