"""A site's settings in words and units, and plain keys for changing them, those within units and calendar too."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.site import Site
from crewlearn.advisor.text import counted
from crewlearn.advisor.units import parse_range
from crewlearn.problem.errors import InvalidInput, one_of, unknown_name

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_OF_UNITS = {"value_per_unit": "value_per_unit", "hours": "hours_per_period"}
_OF_CALENDAR = {"start": "start", "cutoff_hour": "cutoff_hour", "shifts": "shifts_per_day"}
_OTHERS = ("output_range", "weekdays", "closed", "open")
_SYNONYMS = {"cost": "fee"}
_HIDDEN = ("units", "calendar", "stream_key")
_LISTS = ("closed", "open")
_WORDS = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("none", "null"), None),
}


class Difference(NamedTuple):
    """A setting that changed, in words."""

    setting: str
    before: str
    after: str


def in_words(config: SiteConfig) -> dict[str, str]:
    """Give every setting in words, by the key that changes it.

    >>> from crewlearn.advisor.calendar import WorkCalendar
    >>> from crewlearn.advisor.units import Units
    >>> said = in_words(SiteConfig(2, 250.0, Units(0.0, 80.0), WorkCalendar(date(2026, 11, 16)), 200, 3.0))
    >>> said["fee"], said["output_range"], said["weekdays"]
    ('250 a replacement', '0 to 80 units a period', 'mon, tue, wed, thu, fri')
    """
    units, calendar = config.units, config.calendar
    per = "an hour" if units.hours_per_period is not None else "a period"
    better = ", less is better" if units.lower_is_better else ""
    ahead = "always ahead" if config.rolling else "planned"
    return {
        "team": counted(config.team, "station"),
        "fee": f"{config.fee:,.10g} a replacement",
        "fee_due": f"at {config.fee_due}",
        "output_range": f"{units.low:,.10g} to {units.high:,.10g} units {per}{better}",
        "value_per_unit": f"{units.value_per_unit:,.10g} a unit",
        "hours": "none: output is no rate" if units.hours_per_period is None else _hours(units.hours_per_period),
        "horizon": f"{counted(config.horizon, 'period')} {ahead}",
        "rolling": _yes(config.rolling),
        "mean_delay": f"{_periods(config.mean_delay)} from an offer to the first day",
        "learn_delay": _yes(config.learn_delay),
        "policy": config.policy,
        "conventions": config.conventions,
        "least_tenure": counted(config.least_tenure, "period"),
        "most_a_week": "no limit" if config.most_a_week is None else counted(config.most_a_week, "replacement"),
        "ask_again_after": counted(config.ask_again_after, "period"),
        "start": str(calendar.start),
        "weekdays": ", ".join(DAYS[day] for day in calendar.weekdays),
        "closed": ", ".join(map(str, calendar.closures)) or "no days",
        "shifts": f"{calendar.shifts_per_day} a day",
        "cutoff_hour": f"{calendar.cutoff_hour}:00",
    }


def learned_delay(site: Site) -> str:
    """Say what mean delay a site has learned from its own offers; nothing if it does not learn.

    What was set counts as one offer.
    """
    count, _ = site.delays
    if not site.config.learn_delay:
        return ""
    return f"{_periods(round(site.mean_delay, 2))} as learned from {counted(count, 'offer')}"


def _periods(mean: float) -> str:
    return f"{mean:.10g} {'period' if mean == 1 else 'periods'}"


def _hours(hours: float) -> str:
    return f"{hours:g} {'hour' if hours == 1 else 'hours'} a period"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def differences(before: SiteConfig, after: SiteConfig) -> list[Difference]:
    """Give the settings that differ, in words; days that were closed or opened by themselves."""
    old, new = in_words(before), in_words(after)
    return [Difference(key, old[key], new[key]) for key in old if old[key] != new[key]]


def parsed(assignments: Sequence[str]) -> dict[str, Any]:
    """Read `setting=value` texts; days may be closed or opened several times.

    >>> parsed(["fee=300", "most_a_week=none", "closed=2026-12-24", "closed=2026-12-25"])
    {'fee': 300, 'most_a_week': None, 'closed': ['2026-12-24', '2026-12-25']}
    """
    given: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        key = name.strip()
        if not equals:
            raise InvalidInput("setting", text, "is written setting=value")
        if key in _LISTS:
            given.setdefault(key, []).append(value.strip())
            continue
        if key in given:
            raise InvalidInput("setting", key, "is given twice; give it once")
        plain = value.strip().lower()
        try:
            given[key] = _WORDS[plain] if plain in _WORDS else json.loads(value)
        except json.JSONDecodeError:
            given[key] = value.strip()
    return given


def changed(config: SiteConfig, changes: Mapping[str, Any]) -> SiteConfig:
    """Give the settings with changes by plain keys, or by whole parts as `SiteConfig.to_json` has them."""
    document = config.to_json()
    for name, value in changes.items():
        key = _SYNONYMS.get(name, name)
        if key in document:
            document[key] = value
        elif key in _OF_UNITS:
            document["units"] = {**document["units"], _OF_UNITS[key]: value}
        elif key == "output_range":
            low, high = parse_range(str(value))
            document["units"] = {**document["units"], "low": low, "high": high}
        elif key in _OF_CALENDAR or key in _OTHERS:
            document["calendar"] = _changed_calendar(document["calendar"], key, value)
        else:
            known = (*(name for name in document if name not in _HIDDEN), *_OF_UNITS, *_OF_CALENDAR, *_OTHERS)
            raise unknown_name("setting", key, known)
    try:
        return SiteConfig.from_json(document)
    except (TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(
            "setting", dict(changes), "cannot be read; give each setting as `site create` takes it"
        ) from error


def _changed_calendar(calendar: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    if key in _OF_CALENDAR:
        return {**calendar, _OF_CALENDAR[key]: value}
    if key == "weekdays":
        return {**calendar, "weekdays": list(read_weekdays(str(value)))}
    days = [str(read_day(key, str(day))) for day in (value if isinstance(value, (list, tuple)) else [value])]
    closures = calendar["closures"]
    if key == "closed":
        return {**calendar, "closures": sorted({*closures, *days})}
    for day in days:
        if day not in closures:
            raise InvalidInput("open", day, f"is no closure; closed are {', '.join(closures) or 'no days'}")
    return {**calendar, "closures": [day for day in closures if day not in days]}


def read_weekdays(text: str) -> tuple[int, ...]:
    """Read weekdays by the first three letters of their names, 0 for Monday.

    >>> read_weekdays("mon, Wednesday")
    (0, 2)
    """
    return tuple(sorted({DAYS.index(one_of("weekdays", day.strip().lower()[:3], DAYS)) for day in text.split(",")}))


def read_day(field: str, text: str) -> date:
    """Read a day in ISO form."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError as error:
        raise InvalidInput(field, text, "must be a day such as 2026-11-16") from error
