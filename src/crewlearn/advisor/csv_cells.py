"""What stands in cells: numbers, dates and words, read as the whole file means them.

Decimal marks: cells that allow one reading only (`12.5`, `1,234.5`, `1.234.567`) decide for the file, the more frequent
mark if they disagree; the others are then errors. Where no cell decides, a semicolon between cells means decimal commas
and a comma between cells decimal points, as spreadsheets write them; a tab or a bar says nothing, so that `1.234`
there is refused until the caller names the mark.

Dates: the year first (`2026-11-15`, `20261115`), or the day first (`15.11.2026`, `15/11/26`). The month comes first
only if the caller says so, or if the file has a date that cannot be read otherwise and none that needs the day first.
Two-digit years are those of this century.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from typing import Literal, TypeVar

from crewlearn.advisor.csv_table import Found, Table, key_of, shortened
from crewlearn.advisor.events import ATTENDANCE
from crewlearn.advisor.export_text import original
from crewlearn.advisor.text import LONGEST_ID, LONGEST_NAME
from crewlearn.advisor.units import MOST
from crewlearn.problem.errors import one_of

Decimal = Literal[",", "."]
DateOrder = Literal["day-first", "month-first"]
T = TypeVar("T")

_LONGEST_NUMBER = 40
_YEARS = (1900, 2199)
_TELLING = (",", ";")
"""Delimiters that tell the decimal mark: a spreadsheet uses the semicolon where the comma is the decimal one."""
_CACHED = 1 << 16
_ATTENDANCE_WORDS = {
    "worked": ("worked", "present", "attended", "at work", "anwesend", "yes", "true", "1", "x", "ja", "oui"),
    "partial": ("partial", "partly", "part day", "partial day", "half day", "left early"),
    "absent": (
        *("absent", "absence", "sick", "sick leave", "ill", "leave", "on leave", "holiday", "on holiday", "vacation"),
        *("off", "day off", "not worked", "krank", "Urlaub", "abwesend"),
        *("no", "false", "0", "nein", "non"),
    ),
    "no-show": ("no-show", "did not show", "not shown"),
    "sent-home": ("sent-home", "sent away"),
}
_TRUE = ("yes", "true", "1", "x", "ja", "oui", "si", "sí", "wahr", "vrai")
_FALSE = ("no", "false", "0", "nein", "non", "falsch", "faux")


class _Refused(Exception):
    """A cell that cannot be used; the message is what is expected instead."""


# What only the whole file can tell


@dataclass(frozen=True)
class Conventions:
    """How the file writes numbers and dates, with the words that say why."""

    decimal: str
    decimal_reason: str
    order: str
    order_reason: str
    timed: bool


def conventions_of(table: Table, found: Found, decimal: Decimal | None, dates: DateOrder | None) -> Conventions:
    """Go through the file for the cells that allow one reading only."""
    if decimal is not None:
        one_of("decimal", decimal, _NUMBERS)
    if dates is not None:
        one_of("dates", dates, ("day-first", "month-first"))
    numeric = [(name, at) for name, at in table.positions.items() if name in _NUMERIC and decimal is None]
    date_at = table.positions.get("date")
    order_of = lru_cache(_CACHED)(_order)
    counts = {",": 0, ".": 0, "?": 0, "day-first": 0, "month-first": 0, "": 0}
    first: dict[str, tuple[int, str, str]] = {}
    timed = False
    for line, cells in table.rows():
        for name, at in numeric:
            cell = cells[at]
            if "," in cell or "." in cell:
                mark = _mark(cell)
                if not counts[mark]:
                    first[mark] = (line, name, cell)
                counts[mark] += 1
        if date_at is not None:
            cell = cells[date_at]
            order, with_time = order_of(cell)
            timed = timed or with_time
            if not counts[order]:
                first[order] = (line, "date", cell)
            counts[order] += 1
    chosen: str
    if decimal is not None:
        chosen = decimal
    elif counts[","] or counts["."]:
        chosen = "," if counts[","] > counts["."] else "."
    else:
        chosen = "," if table.delimiter == ";" else "."
        if counts["?"] and table.delimiter not in _TELLING:
            found.add(*first["?"], "a number that can be read one way only; say whether decimal is , or .")
    month_first = counts["month-first"] and not counts["day-first"]
    order = dates or ("month-first" if month_first else "day-first")
    return Conventions(chosen, _as_in(first.get(chosen)), order, _as_in(first.get(order)), timed)


def _as_in(example: tuple[int, str, str] | None) -> str:
    return f", as {shortened(example[2].strip(), 40)!r} in line {example[0]}" if example else ""


# Numbers


def _number_pattern(mark: str, other: str) -> re.Pattern[str]:
    """Match numbers whose decimal mark is `mark`, with thousands set off by `other`, spaces or apostrophes."""
    grouped = "|".join(rf"(?:{between}[0-9]{{3}})+" for between in (re.escape(other), " ", "'"))
    fraction = rf"(?:{re.escape(mark)}[0-9]*)?"
    plain = rf"(?:[0-9]+{fraction}|{re.escape(mark)}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?"
    return re.compile(rf"[+-]?(?:{plain}|[1-9][0-9]{{0,2}}(?:{grouped}){fraction})")


_NUMBERS = {".": _number_pattern(".", ","), ",": _number_pattern(",", ".")}
_CLEAR = re.compile(r"[0-9]{1,15}([.,])(?:[0-9]{1,2}|[0-9]{4,15})")
"""The usual numbers that show their decimal mark, for speed: after a thousands separator stand three digits."""
_NUMERIC = ("fee", "prior_n", "prior_mean", "interview", "period", "shift", "units", "hours")
_TYPED = str.maketrans({"\xa0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "’": "'", "−": "-"})


def _mark(cell: str) -> str:
    """Give the decimal mark a number with a comma or a point must have; `?` if it may be either, else nothing."""
    if match := _CLEAR.fullmatch(cell):
        return match[1]
    text = cell.strip().translate(_TYPED)
    if len(text) > _LONGEST_NUMBER:
        return ""
    fitting = [mark for mark, pattern in _NUMBERS.items() if pattern.fullmatch(text)]
    return "?" if len(fitting) > 1 else "".join(fitting)


def numbers_of(conventions: Conventions) -> Callable[[str], float]:
    """Make the reader of a file's numbers."""
    mark = conventions.decimal
    pattern = _NUMBERS[mark]
    other = "," if mark == "." else "."
    example = "1234.5 with a decimal point" if mark == "." else "1234,5 with a decimal comma"
    expected = f"a number such as {example}{conventions.decimal_reason}, without currency or percent sign"

    def number(cell: str) -> float:
        text = cell.strip()
        if not text.isascii():
            text = text.translate(_TYPED)
        if len(text) > _LONGEST_NUMBER or not pattern.fullmatch(text):
            raise _Refused(expected)
        value = float(text.replace(other, "").replace(" ", "").replace("'", "").replace(mark, "."))
        if not abs(value) <= MOST:
            raise _Refused(f"a number of at most {MOST:g}")
        return value

    return number


def at_least_zero(number: Callable[[str], float]) -> Callable[[str], float]:
    """Read numbers of which none is below zero."""

    def parse(cell: str) -> float:
        value = number(cell)
        if value < 0.0:
            raise _Refused("a number >= 0")
        return value

    return parse


def within_a_day(number: Callable[[str], float]) -> Callable[[str], float]:
    """Read hours of one day."""

    def parse(cell: str) -> float:
        value = number(cell)
        if not 0.0 <= value <= 24.0:
            raise _Refused("hours from 0 to 24")
        return value

    return parse


def whole_from(number: Callable[[str], float], low: int) -> Callable[[str], int]:
    """Read whole numbers from `low` on."""

    def parse(cell: str) -> int:
        value = number(cell)
        if not value.is_integer() or not low <= value <= 10**9:
            raise _Refused(f"a whole number from {low} to {10**9}")
        return int(value)

    return parse


# Dates

_TIME = (
    r"(?:(?:T|,? +)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?"
    r"(?: ?([AaPp])\.?[Mm]\.?)?(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.]?)([0-9]{1,2})\2([0-9]{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})" + _TIME)


def _order(cell: str) -> tuple[str, bool]:
    """Give the order that a date needs, if it exists in one order only, and whether it has a time but midnight."""
    readings = {order: _moment(cell, order) for order in ("day-first", "month-first")}
    fitting = [order for order, moment in readings.items() if moment is not None]
    with_time = any(moment is not None and moment[1] not in (None, time.min) for moment in readings.values())
    return fitting[0] if len(fitting) == 1 else "", with_time


def _moment(cell: str, order: str) -> tuple[date, time | None] | None:
    """Read a date and the time of day after it, if there is one; None if there is no such date."""
    text = cell.strip().translate(_TYPED)
    if len(text) > _LONGEST_NUMBER:
        return None
    if match := _YEAR_FIRST.fullmatch(text):
        year, between, month, day, *clock = match.groups()
        if not between and len(month + day) != 4:
            return None
    elif match := _YEAR_LAST.fullmatch(text):
        first, _, second, year, *clock = match.groups()
        day, month = (first, second) if order == "day-first" else (second, first)
    else:
        return None
    number = int(year) + (2000 if len(year) == 2 else 0)
    try:
        return (date(number, int(month), int(day)), _clock(*clock)) if _YEARS[0] <= number <= _YEARS[1] else None
    except ValueError:
        return None


def _clock(hour: str | None, minute: str, second: str | None, half: str | None) -> time | None:
    """Read a time of day, of 24 hours or of 12 with am or pm; raise ValueError if there is none such."""
    if hour is None:
        return None
    hours = int(hour)
    if half is not None:
        if not 1 <= hours <= 12:
            raise ValueError(hour)
        hours = hours % 12 + (12 if half in "Pp" else 0)
    return time(hours, int(minute), int(second or 0))


def days_of(conventions: Conventions, day_of: Callable[[datetime], date]) -> Callable[[str], date]:
    """Make the reader of a file's dates."""
    example = "15.11.2026 (day first" if conventions.order == "day-first" else "11/15/2026 (month first"
    expected = f"a date that exists, such as 2026-11-15 or {example}{conventions.order_reason})"

    def day(cell: str) -> date:
        moment = _moment(cell, conventions.order)
        if moment is None:
            raise _Refused(expected)
        on, at = moment
        return on if at is None or not conventions.timed else day_of(datetime.combine(on, at))

    return day


# Words


_SPACES = str.maketrans(dict.fromkeys("\xa0\u2007\u2009\u202f", " "))
_JOINERS = str.maketrans(dict.fromkeys("\u200c\u200d", None))
"""Invisible, but part of how some names are spelt."""


def _text(cell: str) -> str:
    """Read text as it was meant: without what exports put before formulas, nor the `="…"` that keeps leading zeros.

    Accents are brought to one form, spaces to plain ones.
    """
    text = cell.strip()
    if (meant := original(text)) != text:
        text = meant
    elif text.startswith('="') and text.endswith('"'):
        text = text[2:-1].strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_SPACES)


def as_id(cell: str) -> str:
    """Read the firm's own id of a worker."""
    text = _text(cell)
    if not text or len(text) > LONGEST_ID or not text.isprintable():
        erased = "" if text else "; people who were erased have none in an export, and `skip_unknown` leaves them out"
        raise _Refused(f"the worker's id: at most {LONGEST_ID} characters, none of them control or invisible{erased}")
    return text


def as_id_or_blank(cell: str) -> str:
    """Read the firm's own id of a worker, or nothing."""
    return as_id(cell) if cell and not cell.isspace() else ""


def as_name(cell: str) -> str:
    """Read a name, or other short text."""
    text = _text(" ".join(cell.split()))
    if len(text) > LONGEST_NAME or not text.translate(_JOINERS).isprintable():
        raise _Refused(f"text of at most {LONGEST_NAME} characters, none of them a control character")
    return text


def as_yes_or_no(cell: str) -> bool:
    """Read a yes or a no; blank is no."""
    word = unicodedata.normalize("NFC", cell).strip().casefold()
    if word and word not in _TRUE and word not in _FALSE:
        raise _Refused("yes or no (also true, false, 1, 0, x, or blank for no)")
    return word in _TRUE


def as_attendance(cell: str) -> str:
    """Read attendance by any of its words."""
    attendance = _ATTENDANCES.get(key_of(cell))
    if attendance is None:
        raise _Refused(f"one of {', '.join(ATTENDANCE)}")
    return attendance


_ATTENDANCES = {key_of(word): attendance for attendance, words in _ATTENDANCE_WORDS.items() for word in words}


def optional(parse: Callable[[str], T]) -> Callable[[str], T | None]:
    """Read a blank cell as None."""
    return lambda cell: parse(cell) if cell and not cell.isspace() else None


def column_reader(
    table: Table, found: Found, column: str, parse: Callable[[str], T | None]
) -> Callable[[int, list[str]], T | None]:
    """Make the reader of a column's cells, which notes what cannot be read; the same text is parsed once."""
    at = table.positions.get(column)
    if at is None:
        return lambda line, cells: None
    place = at
    cached = lru_cache(_CACHED)(parse)

    def read(line: int, cells: list[str]) -> T | None:
        try:
            return cached(cells[place])
        except _Refused as refused:
            found.add(line, column, cells[place], str(refused))
            return None

    return read
