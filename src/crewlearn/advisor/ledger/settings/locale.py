"""Where a site is: its currency by ISO 4217, and its time zone by the IANA database."""

import re
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crewlearn.problem.errors import InvalidInput


def check_currency(code: Any) -> None:
    """Refuse anything but the code of a currency.

    >>> check_currency("EUR")
    >>> check_currency("euro")
    Traceback (most recent call last):
    crewlearn.problem.errors.InvalidInput: currency = 'euro': must be a code of three capital letters, such as EUR
    """
    if not isinstance(code, str) or code not in _currencies():
        raise InvalidInput("currency", code, "must be a code of three capital letters, such as EUR")


@cache
def _currencies() -> frozenset[str]:
    from babel.core import get_global

    return frozenset(get_global("all_currencies"))


_OF_THE_MACHINE = re.compile("(localtime|posixrules|Factory)$|(right|posix)/")
"""Names beside those of the database, which differ between machines or are no place."""


def zone_of(name: Any) -> ZoneInfo:
    """Return a time zone by its name.

    >>> zone_of("Europe/Amsterdam").key
    'Europe/Amsterdam'
    """
    try:
        if _OF_THE_MACHINE.match(name):
            raise ZoneInfoNotFoundError(name)
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError) as error:
        remedy = "is no time zone; give its name in the IANA database, such as Europe/Amsterdam"
        raise InvalidInput("time_zone", name, remedy) from error


def in_currency(text: str, code: str | None) -> str:
    """Return an amount with the code of its currency, if one is set.

    >>> in_currency("+310", "EUR"), in_currency("+310", None)
    ('+310 EUR', '+310')
    """
    return text if code is None else f"{text} {code}"
