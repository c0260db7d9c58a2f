"""Forms: each field is parsed separately, so that a page can show every error at its field, with the text typed."""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeVar

from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import BY_TEAM, EARLIEST, LATEST, SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.setup.proposals import HORIZON, MEAN_DELAY
from crewlearn.language import _, localized, noted
from crewlearn.policies.registry import registered
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.settings import MOST_NUMBER

T = TypeVar("T")
WEEKDAYS = (
    noted("Monday"),
    noted("Tuesday"),
    noted("Wednesday"),
    noted("Thursday"),
    noted("Friday"),
    noted("Saturday"),
    noted("Sunday"),
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_TWO_WAYS = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}")
_LONGEST = 40

SITE_LABELS = {
    "name": noted("Name"),
    "team": noted("Stations"),
    "fee": noted("Fee of a replacement"),
    "low": noted("Lowest plausible output"),
    "high": noted("Highest plausible output"),
    "value_per_unit": noted("Value per unit"),
    "hours_per_period": noted("Hours of a working day"),
    "horizon": noted("Planning horizon, days"),
    "mean_delay": noted("Days from an offer to the first day"),
    "start": noted("First day"),
    "weekdays": noted("Working days"),
    "closures": noted("Closed on"),
    "cutoff_hour": noted("A night shift belongs to the day before until"),
    "shifts_per_day": noted("Shifts a day"),
    "fee_due": noted("The fee falls due"),
    "least_tenure": noted("Least stay"),
    "most_a_week": noted("Most replacements a week"),
    "most_a_month": noted("Most replacements a month"),
    "budget_a_week": noted("Budget a week"),
    "budget_a_month": noted("Budget a month"),
    "ask_again_after": noted("Don't propose again for"),
    "erase_after": noted("Erase who left"),
    "second_approver": noted("Second approver"),
    "currency": noted("Currency"),
    "time_zone": noted("Time zone"),
    "policy": noted("Policy"),
}
"""Labels of a site's fields."""


@dataclass
class Form:
    """A form's values and errors by field; `many` holds fields with several ticked values."""

    values: Mapping[str, str]
    many: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """Return what was typed."""
        return self.values.get(name, "")

    def ticked(self, name: str) -> Sequence[str]:
        """Return what was ticked."""
        return self.many.get(name, ())

    def wrong(self, name: str) -> str:
        """Return a field's error; empty if there is none."""
        return self.errors.get(name, "")

    def take(self, error: InvalidInput) -> None:
        """Show an error at its field."""
        self.errors.setdefault(error.field, error.remedy)

    def read(self, name: str, parse: Callable[[str], T], otherwise: T) -> T:
        """Parse a field; on failure, note the error and return `otherwise`."""
        try:
            return parse(self.value(name).strip())
        except InvalidInput as error:
            self.errors[name] = error.remedy
            return otherwise

    def whole(self, name: str) -> int:
        """Parse a whole number."""
        return self.read(name, lambda text: whole_number(name, text), 1)

    def number(self, name: str) -> float:
        """Parse a number."""
        return self.read(name, lambda text: decimal(name, text), 1.0)

    def maybe_whole(self, name: str) -> int | None:
        """Parse a whole number that may be left out."""
        return self.read(name, lambda text: whole_number(name, text) if text else None, None)

    def limit(self, name: str, otherwise: int | None) -> int | None:
        """Parse a limit: a whole number or "none"; left empty, it is `otherwise`."""
        if self.value(name).strip().lower() == "none":
            return None
        return self.maybe_whole(name) if self.value(name).strip() else otherwise

    def maybe_number(self, name: str) -> float | None:
        """Parse a number that may be left out."""
        return self.read(name, lambda text: decimal(name, text) if text else None, None)


def decimal(name: str, text: str) -> float:
    """Parse a number with a decimal point or comma; one whose mark may set thousands apart is refused.

    The decimal mark of the reader's language never does: 1.234 is read in English, and 1,234 in German.

    >>> decimal("fee", "12,5"), decimal("fee", "300")
    (12.5, 300.0)
    """
    if not text:
        raise InvalidInput(name, text, _("is needed"))
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        raise InvalidInput(name, text[:_LONGEST], _("must be a number, such as 120 or 12.5"))
    two_ways, mark = _TWO_WAYS.fullmatch(text), localized("0.5")[1]
    if two_ways and two_ways[1] != mark:
        bare, point = text.replace(two_ways[1], ""), text.replace(two_ways[1], mark)
        raise InvalidInput(
            name, text, _("may mean {bare} or {point}: write it without a comma", bare=bare, point=point)
        )
    return float(text.replace(",", "."))


def written(value: float) -> str:
    """Return a number as `decimal` reads it, with the reader's decimal mark.

    >>> written(12.5), written(1200.0)
    ('12.5', '1200')
    """
    return localized(f"{value:.15g}")


def whole_number(name: str, text: str) -> int:
    """Parse a whole number."""
    if text and not (len(text) <= _LONGEST and _WHOLE.fullmatch(text)):
        raise InvalidInput(name, text[:_LONGEST], _("must be a whole number, such as 12"))
    number = int(decimal(name, text))
    if abs(number) > MOST_NUMBER:
        raise InvalidInput(
            name, text, _("must be between −{most_number} and {most_number}", most_number=localized(f"{MOST_NUMBER:,}"))
        )
    return number


def a_day(name: str, text: str) -> date:
    """Parse a day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidInput(name, text, _("must be a day, such as 2026-11-16")) from None


def range_of_days(since: str, until: str) -> tuple[date | None, date | None]:
    """Parse the first and the last day to show, either of which may be left out."""
    first, last = (a_day(name, day) if day else None for name, day in (("since", since), ("until", until)))
    for name, day in (("since", first), ("until", last)):
        if day is not None and not EARLIEST <= day.year <= LATEST:
            raise InvalidInput(
                name,
                str(day),
                _("must lie between the years {earliest} and {latest}", earliest=EARLIEST, latest=LATEST),
            )
    return first, last


def days_in(name: str, text: str) -> tuple[date, ...]:
    """Parse days, one a line or separated by commas."""
    return tuple(sorted(a_day(name, part) for part in re.split(r"[\s,;]+", text) if part))


def _policy(text: str, before: SiteConfig | None) -> str:
    """Return a registered policy, or the site's own, which may be a class on the server's machine."""
    return registered("policy", text, None if before is None else before.policy)


def new_site(today: date) -> Form:
    """Return the form of a new site: examples for the required fields, else the defaults of the settings.

    Two boxes are checked, each explained on the page: no planned end, and learning the delay of offers.
    """
    examples = SiteConfig(
        team=10,
        fee=300.0,
        units=Units(0.0, 100.0),
        calendar=WorkCalendar(today),
        horizon=HORIZON,
        mean_delay=MEAN_DELAY,
        rolling=True,
        learn_delay=True,
    )
    form = site_form(examples)
    # No example output, which might be submitted by mistake, and no limit, which depends on the number of stations.
    return replace(form, values={**form.values, "high": "", "most_a_week": ""})


def site_form(config: SiteConfig) -> Form:
    """Return the form of a site's settings."""
    units, calendar = config.units, config.calendar
    values = {
        "team": str(config.team),
        "fee": written(config.fee),
        "low": written(units.low),
        "high": written(units.high),
        "value_per_unit": written(units.value_per_unit),
        "hours_per_period": "" if units.hours_per_period is None else written(units.hours_per_period),
        "horizon": str(config.horizon),
        "rolling": "yes" if config.rolling else "",
        "mean_delay": written(config.mean_delay),
        "learn_delay": "yes" if config.learn_delay else "",
        "start": calendar.start.isoformat(),
        "closures": "\n".join(day.isoformat() for day in calendar.closures),
        "cutoff_hour": str(calendar.cutoff_hour),
        "shifts_per_day": str(calendar.shifts_per_day),
        "fee_due": config.fee_due,
        "least_tenure": str(config.least_tenure),
        "most_a_week": "" if config.most_a_week is None else str(config.most_a_week),
        "most_a_month": "" if config.most_a_month is None else str(config.most_a_month),
        "budget_a_week": "" if config.budget_a_week is None else written(config.budget_a_week),
        "budget_a_month": "" if config.budget_a_month is None else written(config.budget_a_month),
        "ask_again_after": str(config.ask_again_after),
        "erase_after": "" if config.erase_after is None else str(config.erase_after),
        "second_approver": "yes" if config.second_approver else "",
        "currency": config.currency or "",
        "time_zone": config.time_zone or "",
        "policy": config.policy,
    }
    return Form(values, {"weekdays": tuple(str(day) for day in calendar.weekdays)}, labels=SITE_LABELS)


def read_site(form: Form, before: SiteConfig | None = None) -> SiteConfig | None:
    """Parse a site's settings; None if a field has an error, which the form then shows."""
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
        "most_a_week": form.limit("most_a_week", BY_TEAM if before is None else None),
        "most_a_month": form.limit("most_a_month", None),
        "budget_a_week": form.maybe_number("budget_a_week"),
        "budget_a_month": form.maybe_number("budget_a_month"),
        "ask_again_after": form.whole("ask_again_after"),
        "erase_after": form.limit("erase_after", None),
        "second_approver": form.value("second_approver") == "yes",
        "currency": form.value("currency").strip().upper() or None,
        "time_zone": form.value("time_zone").strip() or None,
        "conventions": SiteConfig.conventions if before is None else before.conventions,
        "stream_key": secrets.randbelow(2**62) if before is None else before.stream_key,
    }
    shifts, cutoff = form.whole("shifts_per_day"), form.whole("cutoff_hour")
    if form.errors:
        return None
    try:
        opened = () if before is None else before.calendar.opened
        calendar = WorkCalendar(start, tuple(weekdays), closures, shifts, cutoff, opened)
        return SiteConfig(units=Units(low, high, value, hours), calendar=calendar, **rest)
    except InvalidInput as error:
        form.take(error)
        return None
