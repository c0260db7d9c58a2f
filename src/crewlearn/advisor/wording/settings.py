"""A site's settings in words and units."""

from dataclasses import replace
from typing import NamedTuple

from crewlearn.advisor.ledger.settings.changes import DAYS
from crewlearn.advisor.ledger.settings.config import BUDGETS, SiteConfig
from crewlearn.advisor.ledger.settings.locale import in_currency
from crewlearn.advisor.ledger.site import Site
from crewlearn.language import _, localized, noted, plural

NO_LIMIT = noted("no limit")
_NOT_SET = {
    "currency": noted("none"),
    "time_zone": noted("this machine's"),
    "erase_after": noted("never"),
    "second_approver": noted("no"),
}
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
    per = _("an hour") if units.hours_per_period is not None else _("a period")
    better = _(", less is better") if units.lower_is_better else ""
    ahead = _("always ahead") if config.rolling else _("planned")
    return {
        "team": plural("{n} station", "{n} stations", config.team),
        "fee": _("{fee} a replacement", fee=in_currency(localized(f"{config.fee:,.10g}"), config.currency)),
        "fee_due": _("at initiation") if config.fee_due == "initiation" else _("at completion"),
        "output_range": _(
            "{low} to {high} units {per}{better}",
            low=localized(f"{units.low:,.10g}"),
            high=localized(f"{units.high:,.10g}"),
            per=per,
            better=better,
        ),
        "value_per_unit": _(
            "{value} a unit", value=in_currency(localized(f"{units.value_per_unit:,.10g}"), config.currency)
        ),
        "hours": _("none: output is no rate") if units.hours_per_period is None else _hours(units.hours_per_period),
        "horizon": f"{plural('{n} period', '{n} periods', config.horizon)} {ahead}",
        "rolling": _yes(config.rolling),
        "mean_delay": _("{periods} from an offer to the first day", periods=_periods(config.mean_delay)),
        "learn_delay": _yes(config.learn_delay),
        "policy": config.policy,
        "conventions": config.conventions,
        "least_tenure": plural("{n} period", "{n} periods", config.least_tenure),
        "most_a_week": _(NO_LIMIT)
        if config.most_a_week is None
        else plural("{n} replacement", "{n} replacements", config.most_a_week),
        **{name: _budget(name, config) for name in BUDGETS if getattr(config, name) is not None},
        "ask_again_after": plural("{n} period", "{n} periods", config.ask_again_after),
        **_retention(config),
        **({"second_approver": _yes(config.second_approver)} if config.second_approver else {}),
        **({"currency": config.currency} if config.currency else {}),
        **({"time_zone": config.time_zone} if config.time_zone else {}),
        "start": str(calendar.start),
        "weekdays": ", ".join(DAYS[day] for day in calendar.weekdays),
        "closed": ", ".join(map(str, calendar.closures)) or _("no days"),
        "shifts": _("{shifts_per_day} a day", shifts_per_day=calendar.shifts_per_day),
        "cutoff_hour": f"{calendar.cutoff_hour}:00",
    }


def learned_delay(site: Site) -> str:
    """Return the mean delay that a site has learned from its offers, in words; empty if it does not learn.

    The value that was set counts as one offer.
    """
    count = site.delays[0]
    if not site.config.learn_delay:
        return ""
    return _(
        "{periods} as learned from {count}",
        periods=_periods(round(site.mean_delay, 2)),
        count=plural("{n} offer", "{n} offers", count),
    )


def _retention(config: SiteConfig) -> dict[str, str]:
    return (
        {}
        if config.erase_after is None
        else {
            "erase_after": _(
                "{erase_after} after leaving", erase_after=plural("{n} day", "{n} days", config.erase_after)
            )
        }
    )


def _budget(name: str, config: SiteConfig) -> str:
    most = getattr(config, name)
    return (
        plural("{n} replacement", "{n} replacements", most)
        if name == "most_a_month"
        else _("{most} in fees", most=in_currency(localized(f"{most:,.10g}"), config.currency))
    )


def _periods(mean: float) -> str:
    return _("{n} period", n=1) if mean == 1 else _("{n} periods", n=localized(f"{mean:.10g}"))


def _hours(hours: float) -> str:
    return _("1 hour a period") if hours == 1 else _("{hours} hours a period", hours=localized(f"{hours:g}"))


def _yes(value: bool) -> str:
    return _("yes") if value else _("no")


def differences(before: SiteConfig, after: SiteConfig) -> list[Difference]:
    """Return the settings that differ, in words; amounts do not differ by their currency, which is told alone."""
    old = {**in_words(replace(before, currency=after.currency)), "currency": before.currency or _(_NOT_SET["currency"])}
    new = {"currency": _(_NOT_SET["currency"]), **in_words(after)}
    keys = dict.fromkeys((*old, *new))
    absent = {key: _(_NOT_SET.get(key, NO_LIMIT)) for key in keys}
    return [
        Difference(key, *(words.get(key, absent[key]) for words in (old, new)))
        for key in keys
        if old.get(key) != new.get(key)
    ]
