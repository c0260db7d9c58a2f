"""A site's settings in words and units."""

from dataclasses import replace
from typing import NamedTuple

from crewlearn.advisor.ledger.settings.changes import DAYS
from crewlearn.advisor.ledger.settings.config import BUDGETS, SiteConfig
from crewlearn.advisor.ledger.settings.locale import in_currency
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.text import counted

NO_LIMIT = "no limit"
_NOT_SET = {"currency": "none", "time_zone": "this machine's", "erase_after": "never", "second_approver": "no"}
"""What a setting means that is not listed by `in_words`; others have no limit."""


class Difference(NamedTuple):
    """A setting that changed, in words."""

    setting: str
    before: str
    after: str


def in_words(config: SiteConfig) -> dict[str, str]:
    """Return every setting in words, by the key that changes it; budgets only where they are set.

    >>> from datetime import date
    >>> from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
    >>> from crewlearn.advisor.ledger.settings.units import Units
    >>> words = in_words(SiteConfig(2, 250.0, Units(0.0, 80.0), WorkCalendar(date(2026, 11, 16)), 200, 3.0))
    >>> words["fee"], words["output_range"], words["weekdays"]
    ('250 a replacement', '0 to 80 units a period', 'mon, tue, wed, thu, fri')
    """
    units, calendar = config.units, config.calendar
    per = "an hour" if units.hours_per_period is not None else "a period"
    better = ", less is better" if units.lower_is_better else ""
    ahead = "always ahead" if config.rolling else "planned"
    return {
        "team": counted(config.team, "station"),
        "fee": f"{in_currency(f'{config.fee:,.10g}', config.currency)} a replacement",
        "fee_due": f"at {config.fee_due}",
        "output_range": f"{units.low:,.10g} to {units.high:,.10g} units {per}{better}",
        "value_per_unit": f"{in_currency(f'{units.value_per_unit:,.10g}', config.currency)} a unit",
        "hours": "none: output is no rate" if units.hours_per_period is None else _hours(units.hours_per_period),
        "horizon": f"{counted(config.horizon, 'period')} {ahead}",
        "rolling": _yes(config.rolling),
        "mean_delay": f"{_periods(config.mean_delay)} from an offer to the first day",
        "learn_delay": _yes(config.learn_delay),
        "policy": config.policy,
        "conventions": config.conventions,
        "least_tenure": counted(config.least_tenure, "period"),
        "most_a_week": NO_LIMIT if config.most_a_week is None else counted(config.most_a_week, "replacement"),
        **{name: _budget(name, config) for name in BUDGETS if getattr(config, name) is not None},
        "ask_again_after": counted(config.ask_again_after, "period"),
        **_retention(config),
        **({"second_approver": _yes(config.second_approver)} if config.second_approver else {}),
        **({"currency": config.currency} if config.currency else {}),
        **({"time_zone": config.time_zone} if config.time_zone else {}),
        "start": str(calendar.start),
        "weekdays": ", ".join(DAYS[day] for day in calendar.weekdays),
        "closed": ", ".join(map(str, calendar.closures)) or "no days",
        "shifts": f"{calendar.shifts_per_day} a day",
        "cutoff_hour": f"{calendar.cutoff_hour}:00",
    }


def learned_delay(site: Site) -> str:
    """Return the mean delay that a site has learned from its offers, in words; empty if it does not learn.

    The value that was set counts as one offer.
    """
    count, _ = site.delays
    if not site.config.learn_delay:
        return ""
    return f"{_periods(round(site.mean_delay, 2))} as learned from {counted(count, 'offer')}"


def _retention(config: SiteConfig) -> dict[str, str]:
    return {} if config.erase_after is None else {"erase_after": f"{counted(config.erase_after, 'day')} after leaving"}


def _budget(name: str, config: SiteConfig) -> str:
    most = getattr(config, name)
    return (
        counted(most, "replacement")
        if name == "most_a_month"
        else f"{in_currency(f'{most:,.10g}', config.currency)} in fees"
    )


def _periods(mean: float) -> str:
    return f"{mean:.10g} {'period' if mean == 1 else 'periods'}"


def _hours(hours: float) -> str:
    return f"{hours:g} {'hour' if hours == 1 else 'hours'} a period"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def differences(before: SiteConfig, after: SiteConfig) -> list[Difference]:
    """Return the settings that differ, in words; amounts do not differ by their currency, which is told alone."""
    old = {**in_words(replace(before, currency=after.currency)), "currency": before.currency or _NOT_SET["currency"]}
    new = {"currency": _NOT_SET["currency"], **in_words(after)}
    keys = dict.fromkeys((*old, *new))
    absent = {key: _NOT_SET.get(key, NO_LIMIT) for key in keys}
    return [
        Difference(key, *(words.get(key, absent[key]) for words in (old, new)))
        for key in keys
        if old.get(key) != new.get(key)
    ]
