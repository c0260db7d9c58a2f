"""Converting file rows to recorded rows: workers by number, days as periods, output in the policy's units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from crewlearn.advisor.files.columns import OutputRow
from crewlearn.advisor.files.reading import attended
from crewlearn.advisor.files.tables import ErrorCollector
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import ADDED_COLUMNS, ATTENDANCE, AWAY, RecordedRow, observe
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import EARLIEST
from crewlearn.advisor.ledger.settings.opened_days import DayNumbers
from crewlearn.advisor.ledger.settings.units import MOST
from crewlearn.advisor.ledger.site import Site
from crewlearn.problem.errors import InvalidInput, one_of, real, whole

_UNKNOWN = "a worker known here and not erased; import the worker first, or leave such rows out (`skip_unknown`)"


class MeasuredRow(NamedTuple):
    """A recorded row, the policy's observation (None if it gives none), and the file row it comes from."""

    row: RecordedRow
    observed: float | None
    clipped: bool
    source: OutputRow


@dataclass(frozen=True)
class MeasuredFile:
    """The rows to record, and the days to open for them with their numbers.

    `overtime` are the rows on days after the calendar's start that nobody planned to work. `idle` counts rows left out:
    absences on days on which nobody worked.
    """

    rows: list[MeasuredRow]
    opened: DayNumbers
    overtime: int
    idle: int


def measure(
    site: Site,
    known: Mapping[str, int],
    today: date,
    what: str,
    rows: Sequence[OutputRow],
    *,
    normalised: bool,
    overtime: bool = True,
) -> MeasuredFile:
    """Return the recorded rows for a file's rows, or raise `CsvErrors` with every error.

    A repeated row counts once; two values for one worker and period are an error. Rows that are not `normalised` are
    checked here. A day with output is a working day: days before the calendar's start are opened, and so are others
    that nobody planned to work, unless `overtime` is off.
    """
    units, planned = site.config.units, site.config.calendar
    opened, idle = _days_to_open(planned, today, rows, overtime=overtime)
    calendar = planned.with_opened(opened, worked=True) if opened else planned
    periods = _Periods(calendar, today)
    left_out = 0
    errors = ErrorCollector(what)
    measured: dict[tuple[int, int], MeasuredRow] = {}
    for source in rows:
        if source.day in idle:
            left_out += 1
            continue
        try:
            worker = known.get(source.worker_id)
            if worker is None:
                raise InvalidInput("worker_id", source.worker_id, _UNKNOWN)
            period = periods.of(source)
            made, hours, attendance = source.units, source.hours, source.attendance
            if not normalised:
                made, hours = _normalised(source)
            row = RecordedRow(period, worker, made, hours, attendance, *_added(source))
            observed, clipped = observe(units, made, hours, attendance)
        except InvalidInput as error:
            if error.field == "day":
                expected = f"a working day; this {error.remedy}"
                errors.add(source.line, "date", str(error.value), expected, source.worker_id)
            else:
                errors.add_error(source.line, error)
            continue
        entry = MeasuredRow(row, observed, clipped, source)
        first = measured.setdefault((worker, period), entry)
        if first is not entry and first.row != row:
            expected = f"the same values as line {first.source.line}, which has this worker and period too; keep one"
            errors.add(source.line, "worker_id", source.worker_id, expected)
    errors.raise_any()
    entries = list(measured.values())
    late = {day for day in opened if day >= planned.start}
    return MeasuredFile(entries, opened, sum(entry.source.day in late for entry in entries), left_out)


def _days_to_open(
    calendar: WorkCalendar, today: date, rows: Sequence[OutputRow], *, overtime: bool
) -> tuple[DayNumbers, set[date]]:
    """Return the days of a file that have output and are no working days yet, with numbers, and its idle days."""
    days = {row.day for row in rows if row.day is not None}
    strange = {
        day
        for day in days
        if day.year >= EARLIEST and day <= today and not calendar.is_working(day) and (overtime or day < calendar.start)
    }
    if not strange:
        return {}, set()
    worked = {row.day for row in rows if row.day in strange and row.attendance not in AWAY and row.units is not None}
    opened = calendar.numbers_for(day for day in strange if day in worked)
    return opened, strange - worked


def _normalised(row: OutputRow) -> tuple[float | None, float | None]:
    """Return the units and hours of a row that no reader has normalised."""
    one_of("attendance", row.attendance, ATTENDANCE)
    made, _ = attended(row.units, row.hours, row.attendance)
    units = None if made is None else real("units", made) + 0.0
    return units, None if row.hours is None else real("hours", row.hours, 0.0, MOST) + 0.0


_STORED_TYPES = {name: schema.output_rows.c[name].type.python_type for name in ADDED_COLUMNS}


def _added(row: OutputRow) -> list[Any]:
    """Return the values of the added columns."""
    return [as_stored(name, getattr(row, name), kind) for name, kind in _STORED_TYPES.items()]


def as_stored(field: str, value: Any, kind: type[Any]) -> Any:
    """Return a value as the database gives it back, so that it is hashed alike then: of one type, and no negative zero.

    >>> as_stored("scrap", 3, float), as_stored("scrap", -0.0, float), as_stored("scrap", None, float)
    (3.0, 0.0, None)
    """
    if value is None:
        return None
    stored = kind(value)
    if stored != value:
        raise InvalidInput(field, value, f"must be of type {kind.__name__}")
    return stored + 0.0 if kind is float else stored


class _Periods:
    """The periods of a file's rows, cached by day and shift."""

    def __init__(self, calendar: WorkCalendar, today: date) -> None:
        self.calendar, self.today = calendar, today
        self.last = calendar.periods_between(calendar.start, today).stop - 1
        self.opened = {number for day in calendar.opened if day.worked for number in day.numbers}
        self.cache: dict[tuple[date, int | None, int | None], int] = {}

    def of(self, row: OutputRow) -> int:
        """Return a row's period; a future one is an error."""
        period = self._by_day(row, row.day) if row.day is not None else self._known(row.period)
        if period > self.last:
            when = row.period if row.day is None else row.day
            raise InvalidInput("date" if row.day else "period", when, f"not in the future; today is {self.today}")
        return period

    def _known(self, period: int | None) -> int:
        """Check a period that is given without its day."""
        return period if period in self.opened and period is not None else whole("period", period, 1)

    def _by_day(self, row: OutputRow, day: date) -> int:
        """Return the period of a day and shift."""
        key = (day, row.shift, row.period)
        if key not in self.cache:
            shift = self._shift(row)
            period = self.calendar.period_of(day, shift)
            if row.period is not None and row.period != period:
                which = f"{day}, shift {shift}," if row.shift is not None else f"{day}"
                raise InvalidInput("period", row.period, f"the period of the date; {which} is period {period}")
            self.cache[key] = period
        return self.cache[key]

    def _shift(self, row: OutputRow) -> int:
        """Return the shift of a dated row: as given, or as its period implies."""
        if row.shift is not None:
            return row.shift
        if self.calendar.shifts_per_day == 1:
            return 1
        if row.period is not None:
            return self.calendar.shift_of(row.period)
        number = self.calendar.shifts_per_day
        raise InvalidInput("shift", "", f"which of the day's {number} shifts it was, counted from 1")
