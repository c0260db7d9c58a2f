"""The reader's language: messages, plural forms, numbers and days as text.

The default is English. Pages set the language of their reader through `crewlearn.web.i18n`, which loads the catalogues.
Whatever is stored, hashed or read by programs is always English.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date
from gettext import NullTranslations

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _english_day(when: date, year: bool, weekday: bool) -> str:
    text = f"{when.day} {_MONTHS[when.month - 1]}"
    text = f"{_DAYS[when.weekday()]} {text}" if weekday else text
    return f"{text} {when.year}" if year else text


@dataclass(frozen=True)
class Language:
    """A language: its code, its messages, its marks in numbers, its percentages, and its days and months."""

    code: str = "en"
    messages: NullTranslations = field(default_factory=NullTranslations)
    marks: Callable[[str], str] = str
    percent: Callable[[str], str] = "{}%".format
    day: Callable[[date, bool, bool], str] = _english_day
    months: tuple[str, ...] = _MONTHS


ENGLISH = Language()
_current: ContextVar[Language] = ContextVar("language", default=ENGLISH)


def current() -> Language:
    """Return the reader's language."""
    return _current.get()


@contextmanager
def reading_in(language: Language) -> Iterator[None]:
    """Word everything in a language for a while."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def _(message: str, /, **values: object) -> str:
    """Return a message in the reader's language, with its values filled in.

    >>> _("Day {day}", day=3)
    'Day 3'
    """
    text = _current.get().messages.gettext(message) if message else message
    return text.format(**values) if values else text


def plural(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the form of a message for a number of things, with the number in place of {n}.

    >>> plural("{n} day", "{n} days", 1), plural("{n} day", "{n} days", 1200)
    ('1 day', '1,200 days')
    """
    return _current.get().messages.ngettext(one, many, n).format(n=localized(f"{n:,}"), **values)


def noted(message: str) -> str:
    """Mark a message for the catalogues, to be put into words by `_` where it is shown."""
    return message


def localized(number: str) -> str:
    """Return a number written in English with the reader's marks.

    >>> localized("1,234.5")
    '1,234.5'
    """
    return _current.get().marks(number)


def percent(share: float, digits: int = 0) -> str:
    """Return a share as a percentage.

    >>> percent(0.25), percent(0.125, 1)
    ('25%', '12.5%')
    """
    language = _current.get()
    return language.percent(language.marks(f"{share:.{digits}%}"[:-1]))


def day(when: date, *, year: bool = False, weekday: bool = True) -> str:
    """Return a day as text.

    >>> day(date(2026, 11, 17)), day(date(2026, 11, 17), year=True, weekday=False)
    ('Tue 17 Nov', '17 Nov 2026')
    """
    return _current.get().day(when, year, weekday)


def month(number: int) -> str:
    """Name a month briefly, 1 for January."""
    return _current.get().months[number - 1]
