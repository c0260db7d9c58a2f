"""Cells of exports: numbers with signs and units, durations, dates in many forms, and names."""

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from crewlearn.advisor.files.cells import CellRefused, DateOrder, Decimal, moment_in, parsed_number

_CACHED = 1 << 16
_BLANKS = frozenset(
    ("", "-", "--", "---", "–", "—", ".", "n/a", "na", "#n/a", "null", "none", "nil", "nan", "k.a.", "nvt")
)
_MARKS = re.compile(r"^[€$£]|[€$£%]$")
_SUFFIX = re.compile(
    r"(?<=[0-9.,]) ?(?:%|pcs?|pieces?|ea|units?|stk|st|stuks?|stück|u|hrs?|h|std|uur|min|mins|sec|secs?|s|kg|€|\$)\.?$",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(-?)([0-9]{1,4}):([0-5]?[0-9])(?::([0-5]?[0-9])(?:[.,][0-9]+)?)?")
_SPOKEN = re.compile(r"([0-9]{1,4}) ?(?:h|hrs?|std|uur|u)\.? ?(?:([0-5]?[0-9]) ?(?:m|min|mins)?\.?)?", re.IGNORECASE)
_TIME_OF_DAY = re.compile(
    r"([0-9]{1,2})(?:[:.h]([0-5][0-9])(?:[:.]([0-5][0-9])(?:[.,][0-9]+)?)?)?"
    r"(?: ?([AaPp])\.?[Mm]?\.?)?(?: ?(?:uhr|h|uur))?",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(r"^[^\W\d_]{2,11}(?:[.,]* +(?=[0-9])|[.,]+ +(?=[^\W\d_]{3,10}\.? +[0-9]))")
_NAMED_MONTH = re.compile(
    r"([0-9]{1,4})\.?[ -]+([^\W\d_]{3,10})\.?,?[ -]+([0-9]{2,4})(.*)"
    r"|([^\W\d_]{3,10})\.? +([0-9]{1,2})(?:st|nd|rd|th)?,? +([0-9]{4})(.*)"
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("jan janv ene", "feb fev febr fevr", "mar mrt maa mae marz mars", "apr avr abr", "may mai mei mayo"),
            *("jun juin", "jul juil", "aug aou ago aout", "sep sept", "oct okt", "nov", "dec dez dic"),
        ),
        start=1,
    )
    for name in names.split()
}
_EXCEL_NUMBER = re.compile(r"([2-7][0-9]{4})(?:[.,]([0-9]+))?")
_UNIX_SECONDS = re.compile(r"(1[0-9]{9})(?:[0-9]{3})?")
_EXCEL_ZERO = date(1899, 12, 30)


def is_blank(cell: str) -> bool:
    """Return whether a cell says that there is nothing: it is blank, a dash, or such a word.

    >>> is_blank(" - "), is_blank("N/A"), is_blank("0")
    (True, True, False)
    """
    return cell.strip().casefold() in _BLANKS


# Numbers


def _split_sign(cell: str) -> tuple[str, float]:
    """Return a number's text without currency, percent sign and unit, and its sign where that stands apart."""
    text, sign = cell.strip(), 1.0
    if text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1].strip(), -1.0
    elif text.endswith("-") and text[:-1].strip():
        text, sign = text[:-1].strip(), -1.0
    text = _MARKS.sub("", text).strip()
    return _SUFFIX.sub("", text).strip(), sign


def number_parser(mark: Decimal) -> Callable[[str], float | None]:
    """Return a parser of numbers; blank cells are None.

    >>> [number_parser(",")(cell) for cell in ("97,5 %", "1.234,5", "12-", "(3)", "-", "€ 5", "120 Stk")]
    [97.5, 1234.5, -12.0, -3.0, None, 5.0, 120.0]
    """
    example = "1234.5" if mark == "." else "1234,5"

    @lru_cache(_CACHED)
    def parse(cell: str) -> float | None:
        value = parsed_number(cell, mark)
        if value is not None:
            return value
        if is_blank(cell):
            return None
        text, sign = _split_sign(cell)
        value = parsed_number(text, mark)
        if value is None:
            raise CellRefused(f"a number such as {example}")
        return sign * value

    return parse


def is_number(cell: str) -> bool:
    """Return whether a cell is a number with either decimal mark."""
    text, _ = _split_sign(cell)
    return parsed_number(text, ".") is not None or parsed_number(text, ",") is not None


def duration_of(cell: str) -> float | None:
    """Return the seconds of a duration written H:MM, H:MM:SS or `7h30`; None if it is none.

    >>> duration_of("7:30"), duration_of("0:05:12"), duration_of("7h30"), duration_of("8 h 15 min"), duration_of("7.5")
    (27000.0, 312.0, 27000.0, 29700.0, None)
    """
    text = cell.strip()
    if match := _CLOCK.fullmatch(text):
        seconds = int(match[2]) * 3600.0 + int(match[3]) * 60 + int(match[4] or 0)
        return -seconds if match[1] else seconds
    if match := _SPOKEN.fullmatch(text):
        return int(match[1]) * 3600.0 + int(match[2] or 0) * 60
    return None


def measured_parser(mark: Decimal, unit: float, minutes_first: bool = False) -> Callable[[str], float | None]:
    """Return a parser of numbers, or of durations in units of so many seconds.

    With `minutes_first`, `5:12` is five minutes.
    """
    number = number_parser(mark)

    @lru_cache(_CACHED)
    def parse(cell: str) -> float | None:
        if ":" in cell or "h" in cell:
            seconds = duration_of(cell)
            if seconds is not None:
                return (seconds / 60 if minutes_first and cell.count(":") == 1 else seconds) / unit
        return number(cell)

    return parse


# Dates


def moment_of(cell: str, order: str) -> tuple[date, time | None] | None:
    """Parse a date with an optional time of day: in figures, with the month's name, or as a number.

    Numbers are days as spreadsheets count them, or seconds or milliseconds since 1970.

    >>> moment_of("Mon 16.11.2026", "day-first"), moment_of("16-Nov-2026 22:15", "day-first")
    ((datetime.date(2026, 11, 16), None), (datetime.date(2026, 11, 16), datetime.time(22, 15)))
    >>> moment_of("46342.75", "day-first"), moment_of("Nov 16, 2026", "day-first"), moment_of("total", "day-first")
    ((datetime.date(2026, 11, 16), datetime.time(18, 0)), (datetime.date(2026, 11, 16), None), None)
    """
    text = cell.strip()
    if not text or len(text) > 60:
        return None
    moment = moment_in(text, order)
    if moment is None and (plain := _WEEKDAY.sub("", text)) != text:
        moment = moment_in(plain, order) or _named(plain)
    if moment is None:
        moment = _named(text)
    if moment is None and (match := _EXCEL_NUMBER.fullmatch(text)):
        seconds = round(float(f"0.{match[2] or 0}") * 86_400)
        whole = datetime.combine(_EXCEL_ZERO, time.min) + timedelta(days=int(match[1]), seconds=seconds)
        return whole.date(), whole.time() if match[2] else None
    if moment is None and (match := _UNIX_SECONDS.fullmatch(text)):
        since = datetime(1970, 1, 1) + timedelta(seconds=int(match[1]))
        return since.date(), since.time()
    return moment


def _named(text: str) -> tuple[date, time | None] | None:
    """Parse a date whose month is a word, by writing it in figures."""
    match = _NAMED_MONTH.fullmatch(text)
    if match is None:
        return None
    if match[1]:
        first, word, last, rest = match[1], match[2], match[3], match[4]
    else:
        word, first, last, rest = match[5], match[6], match[7], match[8]
    plain = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    month = _MONTHS.get(plain[:4]) or _MONTHS.get(plain[:3])
    if month is None:
        return None
    if len(first) == 4:
        return moment_in(f"{first}-{month:02}-{int(last):02}{rest}", "day-first")
    return moment_in(f"{int(first):02}/{month:02}/{last}{rest}", "day-first")


def order_in(cell: str) -> tuple[str, bool]:
    """Return the only order in which a date is valid (empty if none or both), and if it has a time not midnight."""
    readings = {order: moment_of(cell, order) for order in ("day-first", "month-first")}
    fitting = [order for order, moment in readings.items() if moment is not None]
    with_time = any(moment is not None and moment[1] not in (None, time.min) for moment in readings.values())
    return fitting[0] if len(fitting) == 1 else "", with_time


@lru_cache(_CACHED)
def time_of_day(cell: str) -> time | None:
    """Parse a time of day.

    >>> time_of_day("22:05"), time_of_day("6:30 PM"), time_of_day("06.30 Uhr"), time_of_day("7"), time_of_day("x")
    (datetime.time(22, 5), datetime.time(18, 30), datetime.time(6, 30), None, None)
    """
    text = cell.strip()
    match = _TIME_OF_DAY.fullmatch(text)
    if match is None or (match[2] is None and match[4] is None):
        return None
    hours = int(match[1])
    if match[4]:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if match[4] in "Pp" else 0)
    if hours == 24 and not int(match[2] or 0):
        hours = 0
    return time(hours, int(match[2] or 0), int(match[3] or 0)) if hours < 24 else None


def moment_parser(order: DateOrder) -> Callable[[str], tuple[date, time | None] | None]:
    """Return a caching parser of dates; blank cells are None."""

    @lru_cache(_CACHED)
    def parse(cell: str) -> tuple[date, time | None] | None:
        if is_blank(cell):
            return None
        moment = moment_of(cell, order)
        if moment is None:
            raise CellRefused(f"a date, such as 2026-11-16 or {'16.11.2026' if order == 'day-first' else '11/16/2026'}")
        return moment

    return parse


def stripped(cell: str) -> str:
    """Return a number's text without currency, percent sign and unit."""
    return _split_sign(cell)[0]
