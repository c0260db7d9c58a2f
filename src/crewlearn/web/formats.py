"""Numbers, money, days and errors as text, in the site's units, the reader's forms and with only meaningful digits."""

import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache

from babel import Locale
from babel.numbers import get_currency_symbol

from crewlearn import language
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.text import options_said
from crewlearn.language import _, localized, month, noted, percent
from crewlearn.problem.errors import InvalidInput

__all__ = [
    "LEAVE_OUT",
    "age",
    "day",
    "digits_of",
    "fault",
    "moment",
    "money",
    "money_span",
    "month",
    "number",
    "period",
    "remedy",
    "share",
    "short_day",
]

LEAVE_OUT = noted("Leave out people not known here")
"""The label of the check box for `skip_unknown`."""

_OPTIONS = {
    "accept_unusual": noted("a tick at the next try"),
    "correct": noted("a tick at the next try"),
    "map": noted("the choice of columns"),
    "out": noted("the list beside the button"),
    "skip_unknown": noted("“Leave out people not known here”"),
    "team_from_output": noted("a tick at the next try"),
    "where": noted("a filter"),
    "yes": noted("“Read it like this”"),
}


def remedy(text: str) -> str:
    """Return an error's remedy for a page, naming controls of the page instead of options.

    >>> remedy("say with `map=units=HEADER` which header it has")
    'say with the choice of columns which header it has'
    """
    return options_said(text, lambda name, _value: _(_OPTIONS[name]))


_NAMES = {
    "undo": "",
    "on": noted("the day"),
    "out": noted("who makes room,"),
    "reason": noted("the reason"),
    "in": noted("who comes in,"),
    "until": noted("the day"),
    "note": noted("the note"),
}
"""Labels of fields on pages, by their names in errors; empty where the remedy says it all."""


def fault(error: InvalidInput) -> str:
    """Return an error as the end of a sentence.

    >>> fault(InvalidInput("undo", "north", "there is no answer to take back yet"))
    'there is no answer to take back yet'
    >>> fault(InvalidInput("proposal", 17, "was answered before: ben approved it at 2026-11-16 03:54 UTC"))
    'proposal 17 was answered before: ben approved it at 2026-11-16 03:54 UTC'
    """
    name = _(_NAMES.get(error.field, error.field))
    return f"{name} {error.value} {remedy(error.remedy)}" if name else remedy(error.remedy)


def number(value: float, digits: int = 0) -> str:
    """Format a number with thousands separators and a true minus sign.

    >>> number(1234.56, 1), number(-0.04, 1), number(-3)
    ('1,234.6', '0.0', '−3')
    """
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0.0:
        text = text.lstrip("-")
    return localized(text).replace("-", "−")


def digits_of(units: Units) -> int:
    """Return the decimals that output needs: a two-hundredth of the range still shows.

    >>> digits_of(Units(0, 140)), digits_of(Units(0, 1)), digits_of(Units(0, 5000))
    (1, 3, 0)
    """
    return max(0, math.ceil(-math.log10(abs(units.high - units.low) / 200.0)))


def money(value: float, sign: bool = False, currency: str | None = None) -> str:
    """Format money, without cents from a hundred on.

    >>> money(1234.56), money(12.5), money(310.2, sign=True), money(-4)
    ('1,235', '12.50', '+310', '−4')
    >>> money(310.2, sign=True, currency="EUR"), money(-4, currency="CHF")
    ('+€310', '−CHF\xa04')
    """
    whole = abs(value) >= 100.0 or value == int(value)
    return _amount(value, 0 if whole else 2, currency, sign)


def money_span(low: float, high: float, *, currency: str | None = None) -> str:
    """Format an interval of money, both ends with the same number of digits.

    >>> money_span(69.03, 2983.2), money_span(-1.5, 20.25), money_span(0.0, 0.0)
    ('+69 to +2,983', '−1.50 to +20.25', '0 to 0')
    >>> money_span(-1.5, 20.25, currency="EUR")
    '−€1.50 to +€20.25'
    """
    whole = max(abs(low), abs(high)) >= 100.0 or (low == int(low) and high == int(high))
    digits = 0 if whole else 2
    ends = [_amount(value, digits, currency, sign=True) for value in (low, high)]
    return _("{low} to {high}", low=ends[0], high=ends[1])


def _amount(value: float, digits: int, currency: str | None, sign: bool) -> str:
    """Return an amount with its sign first, and its currency where the language puts it."""
    text = number(value, digits)
    minus, text = ("−", text[1:]) if text.startswith("−") else ("", text)
    before, after = _around(currency, language.current().code)
    return f"{'+' if sign and value > 0 else minus}{before}{text}{after}"


@cache
def _around(currency: str | None, code: str) -> tuple[str, str]:
    """Return what stands before and after an amount of a currency; a symbol of letters stands apart from digits."""
    if currency is None:
        return "", ""
    pattern, symbol = Locale.parse(code).currency_formats["standard"], get_currency_symbol(currency, code)
    before, after = (part.replace("¤", symbol) for part in (pattern.prefix[0], pattern.suffix[0]))
    return (f"{before}\xa0" if before[-1:].isalpha() else before), (f"\xa0{after}" if after[:1].isalpha() else after)


def day(when: date, now: date | None = None) -> str:
    """Format a day for people, with its year where that is not the year of `now`.

    >>> day(date(2026, 11, 17)), day(date(2025, 11, 17), date(2026, 1, 5))
    ('Tue 17 Nov', 'Mon 17 Nov 2025')
    """
    return language.day(when, year=now is not None and when.year != now.year)


def short_day(when: date) -> str:
    """Format a day briefly."""
    return language.day(when, weekday=False)


def period(calendar: WorkCalendar, which: int, now: date | None = None) -> str:
    """Format a period as its day, with the shift where a day has several."""
    text = day(calendar.date_of(which), now)
    several = calendar.shifts_per_day > 1
    return _("{day}, shift {shift}", day=text, shift=calendar.shift_of(which)) if several else text


def moment(at: str | datetime, local_at: Callable[[datetime], datetime] = lambda when: when) -> str:
    """Format a timestamp of the record (UTC, ISO) in this machine's time zone, or in a site's by `SiteConfig.local`."""
    try:
        when = datetime.fromisoformat(at) if isinstance(at, str) else at
    except ValueError:
        return str(at)
    local = local_at((when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone())
    return f"{language.day(local.date(), year=True)}, {local:%H:%M %Z}"


def age(when: datetime) -> int:
    """Return the seconds since a moment; 0 if the clock that recorded it is ahead."""
    return max(0, round((datetime.now(UTC) - when).total_seconds()))


def share(value: float) -> str:
    """Format a probability as a percentage, never as 0% or 100% if it is not.

    >>> share(0.5), share(0.9999), share(0.0001), share(1.0)
    ('50%', 'over 99%', 'under 1%', '100%')
    """
    if 0.0 < value < 0.01:
        return _("under 1%")
    if 0.99 < value < 1.0:
        return _("over 99%")
    return percent(value)
