"""What people type into forms: read field by field, so that a page can show every mistake at its place, with what was
typed still there.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.units import Units
from crewlearn.policies.registry import registered
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.numbers import MOST_NUMBER

T = TypeVar("T")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_TWO_WAYS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_LONGEST = 40

SITE_LABELS = {
    "name": "Name",
    "team": "Stations",
    "fee": "Fee of a replacement",
    "low": "Output that counts as nothing",
    "high": "Output of an excellent day",
    "value_per_unit": "Worth of one unit",
    "hours_per_period": "Hours of a working day",
    "horizon": "Days ahead",
    "mean_delay": "Days from an offer to the first day",
    "start": "First day",
    "weekdays": "Working days",
    "closures": "Closed on",
    "cutoff_hour": "A night's work belongs to the day before until",
    "shifts_per_day": "Shifts a day",
    "fee_due": "The fee falls due",
    "least_tenure": "Least stay",
    "most_a_week": "Most replacements a week",
    "ask_again_after": "Ask again after",
    "policy": "Policy",
}
"""What the fields of a site are called."""


@dataclass
class Form:
    """What was typed, by field, and what is wrong with it; `many` holds fields that may be ticked several times."""

    values: Mapping[str, str]
    many: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """Give what was typed."""
        return self.values.get(name, "")

    def ticked(self, name: str) -> Sequence[str]:
        """Give what was ticked."""
        return self.many.get(name, ())

    def wrong(self, name: str) -> str:
        """Say what is wrong with a field; empty if nothing is."""
        return self.errors.get(name, "")

    def take(self, error: InvalidInput) -> None:
        """Put an error at its field."""
        self.errors.setdefault(error.field, error.remedy)

    def read(self, name: str, how: Callable[[str], T], otherwise: T) -> T:
        """Read a field; if that cannot be done, note what is wrong with it and give something else."""
        try:
            return how(self.value(name).strip())
        except InvalidInput as error:
            self.errors[name] = error.remedy
            return otherwise

    def whole(self, name: str) -> int:
        """Read a whole number."""
        return self.read(name, lambda text: whole_number(name, text), 1)

    def number(self, name: str) -> float:
        """Read a number."""
        return self.read(name, lambda text: decimal(name, text), 1.0)

    def maybe_whole(self, name: str) -> int | None:
        """Read a whole number that may be left out."""
        return self.read(name, lambda text: whole_number(name, text) if text else None, None)

    def maybe_number(self, name: str) -> float | None:
        """Read a number that may be left out."""
        return self.read(name, lambda text: decimal(name, text) if text else None, None)


def decimal(name: str, text: str) -> float:
    """Read a number as people type it, with a decimal point or comma; what may be read two ways is refused.

    >>> decimal("fee", "12,5"), decimal("fee", "300")
    (12.5, 300.0)
    """
    if not text:
        raise InvalidInput(name, text, "is needed")
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        raise InvalidInput(name, text[:_LONGEST], "must be a number, such as 120 or 12.5")
    if _TWO_WAYS.fullmatch(text):
        bare, point = text.replace(",", ""), text.replace(",", ".")
        raise InvalidInput(name, text, f"may mean {bare} or {point}: write it without a comma")
    return float(text.replace(",", "."))


def whole_number(name: str, text: str) -> int:
    """Read a whole number."""
    if text and not (len(text) <= _LONGEST and _WHOLE.fullmatch(text)):
        raise InvalidInput(name, text[:_LONGEST], "must be a whole number, such as 12")
    number = int(decimal(name, text))
    if abs(number) > MOST_NUMBER:
        raise InvalidInput(name, text, f"must be between −{MOST_NUMBER:,} and {MOST_NUMBER:,}")
    return number


def a_day(name: str, text: str) -> date:
    """Read a day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidInput(name, text, "must be a day, such as 2026-11-16") from None


def days_in(name: str, text: str) -> tuple[date, ...]:
    """Read days, one a line or with commas between."""
    return tuple(sorted(a_day(name, part) for part in re.split(r"[\s,;]+", text) if part))


def _policy(text: str, before: SiteConfig | None) -> str:
    """Let through a policy of ours, or the one that the site follows: that may be a class on the server's machine."""
    return registered("policy", text, None if before is None else before.policy)


def new_site(today: date) -> Form:
    """Give the form of a new site, filled in with what suits most."""
    values = {
        "team": "10",
        "fee": "300",
        "low": "0",
        "high": "",
        "value_per_unit": "1",
        "horizon": "250",
        "rolling": "yes",
        "mean_delay": "5",
        "learn_delay": "yes",
        "start": today.isoformat(),
        "cutoff_hour": "0",
        "shifts_per_day": "1",
        "fee_due": "initiation",
        "least_tenure": "5",
        "most_a_week": "",
        "ask_again_after": "10",
        "policy": "value-of-replacement",
    }
    return Form(values, {"weekdays": ("0", "1", "2", "3", "4")}, labels=SITE_LABELS)


def site_form(config: SiteConfig) -> Form:
    """Give the form of a site as it is set."""
    units, calendar = config.units, config.calendar
    values = {
        "team": str(config.team),
        "fee": f"{config.fee:.15g}",
        "low": f"{units.low:.15g}",
        "high": f"{units.high:.15g}",
        "value_per_unit": f"{units.value_per_unit:.15g}",
        "hours_per_period": "" if units.hours_per_period is None else f"{units.hours_per_period:.15g}",
        "horizon": str(config.horizon),
        "rolling": "yes" if config.rolling else "",
        "mean_delay": f"{config.mean_delay:.15g}",
        "learn_delay": "yes" if config.learn_delay else "",
        "start": calendar.start.isoformat(),
        "closures": "\n".join(day.isoformat() for day in calendar.closures),
        "cutoff_hour": str(calendar.cutoff_hour),
        "shifts_per_day": str(calendar.shifts_per_day),
        "fee_due": config.fee_due,
        "least_tenure": str(config.least_tenure),
        "most_a_week": "" if config.most_a_week is None else str(config.most_a_week),
        "ask_again_after": str(config.ask_again_after),
        "policy": config.policy,
    }
    return Form(values, {"weekdays": tuple(str(day) for day in calendar.weekdays)}, labels=SITE_LABELS)


def read_site(form: Form, before: SiteConfig | None = None) -> SiteConfig | None:
    """Read a site's settings; None if something is wrong, which the form then says at its place."""
    form.labels = SITE_LABELS
    low, high = form.number("low"), form.number("high")
    value, hours = form.number("value_per_unit"), form.maybe_number("hours_per_period")
    start = form.read("start", lambda text: a_day("start", text), date(2000, 1, 3))
    closed: tuple[date, ...] = ()
    closures = form.read("closures", lambda text: days_in("closures", text), closed)
    weekdays = [int(day) for day in form.ticked("weekdays") if day in tuple("0123456")]
    rest: dict[str, Any] = {
        "team": form.whole("team"),
        "fee": form.number("fee"),
        "horizon": form.whole("horizon"),
        "mean_delay": form.number("mean_delay"),
        "rolling": form.value("rolling") == "yes",
        "learn_delay": form.value("learn_delay") == "yes",
        "fee_due": form.value("fee_due"),
        "policy": form.read("policy", lambda text: _policy(text, before), ""),
        "least_tenure": form.whole("least_tenure"),
        "most_a_week": form.maybe_whole("most_a_week"),
        "ask_again_after": form.whole("ask_again_after"),
        "conventions": "as-written" if before is None else before.conventions,
        "stream_key": secrets.randbelow(2**62) if before is None else before.stream_key,
    }
    shifts, cutoff = form.whole("shifts_per_day"), form.whole("cutoff_hour")
    if form.errors:
        return None
    try:
        calendar = WorkCalendar(start, tuple(weekdays), closures, shifts, cutoff)
        return SiteConfig(units=Units(low, high, value, hours), calendar=calendar, **rest)
    except InvalidInput as error:
        form.take(error)
        return None
