"""Cells: numbers, dates and words parsed by the file's conventions, and text made safe for spreadsheets.

Decimal marks: unambiguous cells (`12.5`, `1,234.5`, `1.234.567`) decide for the whole file. If they disagree, the more
frequent mark wins and the other cells are errors. If no cell decides, the delimiter does, as spreadsheets write it: a
semicolon means decimal commas, a comma decimal points. With a tab or a bar, `1.234` is refused until the caller names
the mark.

Dates: the year first (`2026-11-15`, `20261115`), or the day first (`15.11.2026`, `15/11/26`). The month comes first
only if the caller says so, or if some date of the file is valid only that way and none only with the day first.
Two-digit years are in this century.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Literal

from crewlearn.advisor.ledger.events import ATTENDANCE
from crewlearn.advisor.ledger.settings.units import MOST
from crewlearn.advisor.ledger.text import LONGEST_ID, LONGEST_NAME, is_worker_id
from crewlearn.problem.errors import one_of

Decimal = Literal[",", "."]
DateOrder = Literal["day-first", "month-first"]

_LONGEST_NUMBER = 40
_YEARS = (1900, 2199)
_AT_WORK = ("aanwezig", "gewerkt", "gearbeitet", "présent", "présente", "regular", "worked day", "presente")
_ATTENDANCE_WORDS = {
    "worked": ("worked", "present", "attended", "at work", "anwesend", "yes", "true", "1", "x", "ja", "oui", *_AT_WORK),
    "partial": ("partial", "partly", "part day", "partial day", "half day", "left early", "halber Tag", "halve dag"),
    "absent": (
        *("absent", "absence", "sick", "sick leave", "ill", "leave", "on leave", "holiday", "on holiday", "vacation"),
        *("off", "day off", "not worked", "krank", "Urlaub", "abwesend", "frei", "ziek", "verlof", "afwezig", "vrij"),
        *("malade", "congé", "absente", "maladie", "congés", "arrêt maladie", "PTO", "sick day", "vakantie", "enfermo"),
        *("no", "false", "0", "nein", "non"),
    ),
    "no-show": ("no-show", "did not show", "not shown"),
    "sent-home": ("sent-home", "sent away"),
}
_TRUE = ("yes", "true", "1", "x", "ja", "oui", "si", "sí", "wahr", "vrai")
_FALSE = ("no", "false", "0", "nein", "non", "falsch", "faux")


class CellRefused(Exception):
    """A cell cannot be parsed; the message says what is expected."""


@dataclass(frozen=True)
class Conventions:
    """How a file writes numbers and dates; the reasons quote the cell that decided.

    `timed` is whether some date has a time of day other than midnight; `day_of` then maps a moment to its day.
    """

    decimal: Decimal
    decimal_reason: str
    order: DateOrder
    order_reason: str
    timed: bool
    day_of: Callable[[datetime], date]


def decimal_mark(text: str | None) -> Decimal | None:
    """Parse a decimal mark; None means that the file decides."""
    if text is None:
        return None
    return "," if one_of("decimal", text, (".", ",")) == "," else "."


def date_order(text: str | None) -> DateOrder | None:
    """Parse a date order; None means that the file decides."""
    if text is None:
        return None
    month_first = one_of("dates", text, ("day-first", "month-first")) == "month-first"
    return "month-first" if month_first else "day-first"


def key_of(text: str) -> str:
    """Reduce a header or word to its letters and digits, so that `Badge No.` equals `badge_no`."""
    if text.isascii():
        return "".join(filter(str.isalnum, text.lower()))
    return "".join(letter for letter in unicodedata.normalize("NFC", text).casefold() if letter.isalnum())


def shortened(text: str, most: int) -> str:
    """Return text of at most `most` characters, with an ellipsis where it was cut."""
    return text if len(text) <= most else text[:most] + "…"


# Numbers


def _number_pattern(mark: str, other: str) -> re.Pattern[str]:
    """Match numbers whose decimal mark is `mark`, with thousands set off by `other`, spaces or apostrophes."""
    grouped = "|".join(rf"(?:{between}[0-9]{{3}})+" for between in (re.escape(other), " ", "'"))
    fraction = rf"(?:{re.escape(mark)}[0-9]*)?"
    plain = rf"(?:[0-9]+{fraction}|{re.escape(mark)}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?"
    return re.compile(rf"[+-]?(?:{plain}|[1-9][0-9]{{0,2}}(?:{grouped}){fraction})")


_NUMBERS = {".": _number_pattern(".", ","), ",": _number_pattern(",", ".")}
_CLEAR = re.compile(r"[0-9]{1,15}([.,])(?:[0-9]{1,2}|[0-9]{4,15})")
"""A fast path for common unambiguous numbers: a thousands separator is followed by exactly three digits."""
_TYPED = str.maketrans({"\xa0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "’": "'", "−": "-"})


def decimal_mark_in(cell: str) -> str:
    """Return the decimal mark of a number with a comma or point: `?` if ambiguous, empty if it is not a number."""
    if match := _CLEAR.fullmatch(cell):
        return match[1]
    text = cell.strip().translate(_TYPED)
    if len(text) > _LONGEST_NUMBER:
        return ""
    fitting = [mark for mark, pattern in _NUMBERS.items() if pattern.fullmatch(text)]
    return "?" if len(fitting) > 1 else "".join(fitting)


def parsed_number(cell: str, mark: Decimal) -> float | None:
    """Parse a number with this decimal mark; return None if it is not one.

    >>> parsed_number("1.234,5", ","), parsed_number("1 234", "."), parsed_number("12%", ".")
    (1234.5, 1234.0, None)
    """
    text = cell.strip()
    if not text.isascii():
        text = text.translate(_TYPED)
    if len(text) > _LONGEST_NUMBER or not _NUMBERS[mark].fullmatch(text):
        return None
    return float(text.replace("," if mark == "." else ".", "").replace(" ", "").replace("'", "").replace(mark, "."))


def _number(conventions: Conventions) -> Callable[[str], float]:
    """Return the parser of the file's numbers."""
    mark = conventions.decimal
    example = "1234.5 with a decimal point" if mark == "." else "1234,5 with a decimal comma"
    expected = f"a number such as {example}{conventions.decimal_reason}, without currency or percent sign"

    def number(cell: str) -> float:
        value = parsed_number(cell, mark)
        if value is None:
            raise CellRefused(expected)
        if not abs(value) <= MOST:
            raise CellRefused(f"a number of at most {MOST:g}")
        return value

    return number


def _number_from_zero(conventions: Conventions) -> Callable[[str], float]:
    number = _number(conventions)

    def parse(cell: str) -> float:
        value = number(cell)
        if value < 0.0:
            raise CellRefused("a number >= 0")
        return value

    return parse


def _hours(conventions: Conventions) -> Callable[[str], float]:
    number = _number(conventions)

    def parse(cell: str) -> float:
        value = number(cell)
        if not 0.0 <= value <= 24.0:
            raise CellRefused("hours from 0 to 24")
        return value

    return parse


def _whole_from(low: int) -> Callable[[Conventions], Callable[[str], int]]:
    def parser(conventions: Conventions) -> Callable[[str], int]:
        number = _number(conventions)

        def parse(cell: str) -> int:
            value = number(cell)
            if not value.is_integer() or not low <= value <= 10**9:
                raise CellRefused(f"a whole number from {low} to {10**9}")
            return int(value)

        return parse

    return parser


# Dates

_TIME = (
    r"(?:(?:T|,? +)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?"
    r"(?: ?([AaPp])\.?[Mm]\.?)?(?: ?(?:Z|[+-][0-9]{2}:?[0-9]{2}))?)?"
)
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.]?)([0-9]{1,2})\2([0-9]{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})" + _TIME)


def date_order_in(cell: str) -> tuple[str, bool]:
    """Return the only order in which a date is valid (empty if none or both), and if it has a time not midnight."""
    readings = {order: moment_in(cell, order) for order in ("day-first", "month-first")}
    fitting = [order for order, moment in readings.items() if moment is not None]
    with_time = any(moment is not None and moment[1] not in (None, time.min) for moment in readings.values())
    return fitting[0] if len(fitting) == 1 else "", with_time


def moment_in(cell: str, order: str) -> tuple[date, time | None] | None:
    """Parse a date with an optional time of day; return None if it is not a valid date."""
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
    """Parse a 24-hour time, or a 12-hour time with am or pm; raise ValueError if it is invalid."""
    if hour is None:
        return None
    hours = int(hour)
    if half is not None:
        if not 1 <= hours <= 12:
            raise ValueError(hour)
        hours = hours % 12 + (12 if half in "Pp" else 0)
    return time(hours, int(minute), int(second or 0))


def _day(conventions: Conventions) -> Callable[[str], date]:
    """Return the parser of the file's dates."""
    example = "15.11.2026 (day first" if conventions.order == "day-first" else "11/15/2026 (month first"
    expected = f"a date that exists, such as 2026-11-15 or {example}{conventions.order_reason})"

    def day(cell: str) -> date:
        moment = moment_in(cell, conventions.order)
        if moment is None:
            raise CellRefused(expected)
        on, at = moment
        return on if at is None or not conventions.timed else conventions.day_of(datetime.combine(on, at))

    return day


# Text

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPACES = str.maketrans(dict.fromkeys("\xa0\u2007\u2009\u202f", " "))
_JOINERS = str.maketrans(dict.fromkeys("\u200c\u200d", None))
"""Invisible joiners that are part of the spelling of some names."""


def neutralised(text: str) -> str:
    """Prefix an apostrophe to text that a spreadsheet would run as a formula; plain numbers are unchanged.

    Text that already begins with apostrophes gets one more, so that `original` restores it exactly.

    >>> neutralised("=1+1"), neutralised("-3.5"), neutralised("Ann"), neutralised("'t Hoen"), neutralised("'=1")
    ("'=1+1", '-3.5', 'Ann', "'t Hoen", "''=1")
    """
    return f"'{text}" if _FORMULA.match(text) and not _PLAIN_NUMBER.fullmatch(text) else text


def original(text: str) -> str:
    """Undo `neutralised`.

    >>> original("'=1+1"), original("'t Hoen")
    ('=1+1', "'t Hoen")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def text_in(cell: str) -> str:
    """Parse text, removing the apostrophe that exports put before formulas and the `="…"` around leading zeros.

    Accents are normalised to NFC, special spaces to plain ones.
    """
    text = cell.strip()
    if (meant := original(text)) != text:
        text = meant
    elif text.startswith('="') and text.endswith('"'):
        text = text[2:-1].strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_SPACES)


def _worker_id(cell: str) -> str:
    text = text_in(cell)
    if not is_worker_id(text):
        erased = "" if text else "; people who were erased have none in an export, and `skip_unknown` leaves them out"
        raise CellRefused(
            f"the worker's id: at most {LONGEST_ID} characters, none of them control or invisible{erased}"
        )
    return text


def _worker_id_or_blank(cell: str) -> str:
    return _worker_id(cell) if cell and not cell.isspace() else ""


def _short_text(cell: str) -> str:
    text = text_in(" ".join(cell.split()))
    if len(text) > LONGEST_NAME or not text.translate(_JOINERS).isprintable():
        raise CellRefused(f"text of at most {LONGEST_NAME} characters, none of them a control character")
    return text


def _yes_or_no(cell: str) -> bool:
    word = unicodedata.normalize("NFC", cell).strip().casefold()
    if word and word not in _TRUE and word not in _FALSE:
        raise CellRefused("yes or no (also true, false, 1, 0, x, or blank for no)")
    return word in _TRUE


def attendance_in(cell: str) -> str:
    """Return the attendance that a word stands for; empty if it stands for none.

    >>> attendance_in("Krank"), attendance_in("ziek"), attendance_in("Pick")
    ('absent', 'absent', '')
    """
    return _ATTENDANCES.get(key_of(cell), "")


def _attendance(cell: str) -> str:
    attendance = _ATTENDANCES.get(key_of(cell))
    if attendance is None:
        raise CellRefused(f"one of {', '.join(ATTENDANCE)}")
    return attendance


_ATTENDANCES = {key_of(word): attendance for attendance, words in _ATTENDANCE_WORDS.items() for word in words}


# Types


def unchanged(value: Any) -> Any:
    """Return the value itself."""
    return value


@dataclass(frozen=True)
class CellType:
    """The type of a column's cells: how they are parsed, given the file's conventions, and how they are written.

    `shows` names the convention that such cells can reveal about the whole file.
    """

    name: str
    parser: Callable[[Conventions], Callable[[str], Any]]
    shows: Literal["decimal mark", "date order", ""] = ""
    write: Callable[[Any], object] = unchanged


def _plain(parse: Callable[[str], Any]) -> Callable[[Conventions], Callable[[str], Any]]:
    """Return a parser that does not depend on the file's conventions."""
    return lambda conventions: parse


WORKER_ID = CellType("worker id", _plain(_worker_id))
WORKER_ID_OR_BLANK = CellType("worker id or blank", _plain(_worker_id_or_blank))
TEXT = CellType("short text", _plain(_short_text))
STATUS = CellType("status", _plain(_short_text))
YES_NO = CellType("yes or no", _plain(_yes_or_no), write=lambda value: "yes" if value else "no")
ATTENDANCE_WORD = CellType("attendance", _plain(_attendance))
DATE = CellType("date", _day, shows="date order", write=str)
NUMBER = CellType("number", _number, shows="decimal mark")
QUANTITY = CellType("number >= 0", _number_from_zero, shows="decimal mark")
FEE = CellType("fee", _number_from_zero, shows="decimal mark")
HOURS = CellType("hours of a day", _hours, shows="decimal mark")
COUNT = CellType("whole number >= 0", _whole_from(0), shows="decimal mark")
PERIOD = CellType("period", _whole_from(1), shows="decimal mark")
SHIFT = CellType("shift of a day", _whole_from(1), shows="decimal mark")
