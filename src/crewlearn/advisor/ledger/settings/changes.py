"""Changing settings by flat keys, including those of units and calendar."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from crewlearn.advisor.ledger.settings.config import RECORDED_IF_SET, SiteConfig
from crewlearn.advisor.ledger.settings.units import parse_range
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


def parsed(assignments: Sequence[str]) -> dict[str, Any]:
    """Parse `setting=value` texts; `closed` and `open` may be repeated.

    >>> parsed(["fee=300", "most_a_week=none", "closed=2026-12-24", "closed=2026-12-25"])
    {'fee': 300, 'most_a_week': None, 'closed': ['2026-12-24', '2026-12-25']}
    """
    settings: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        key = name.strip()
        if not equals:
            raise InvalidInput("setting", text, "is written setting=value")
        if key in _LISTS:
            settings.setdefault(key, []).append(value.strip())
            continue
        if key in settings:
            raise InvalidInput("setting", key, "is given twice; give it once")
        plain = value.strip().lower()
        try:
            settings[key] = _WORDS[plain] if plain in _WORDS else json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value.strip()
    return settings


def changed(config: SiteConfig, changes: Mapping[str, Any]) -> SiteConfig:
    """Return the settings with changes by flat keys, or by whole parts in the form of `SiteConfig.to_json`.

    Days that were opened stay open.
    """
    document = config.to_json()
    for name, value in changes.items():
        key = _SYNONYMS.get(name, name)
        if key in document or key in RECORDED_IF_SET:
            document[key] = value
        elif key in _OF_UNITS:
            document["units"] = {**document["units"], _OF_UNITS[key]: value}
        elif key == "output_range":
            low, high = parse_range(str(value))
            document["units"] = {**document["units"], "low": low, "high": high}
        elif key in _OF_CALENDAR or key in _OTHERS:
            document["calendar"] = _changed_calendar(document["calendar"], key, value)
        else:
            plain = (name for name in document if name not in _HIDDEN)
            known = (*plain, *RECORDED_IF_SET, *_OF_UNITS, *_OF_CALENDAR, *_OTHERS)
            raise unknown_name("setting", key, known)
    try:
        after = SiteConfig.from_json(document)
        return replace(after, calendar=replace(after.calendar, opened=config.calendar.opened))
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
            raise InvalidInput("open", day, f"is not a closure; closed are {', '.join(closures) or 'no days'}")
    return {**calendar, "closures": [day for day in closures if day not in days]}


def read_weekdays(text: str) -> tuple[int, ...]:
    """Parse weekdays by the first three letters of their names, 0 for Monday.

    >>> read_weekdays("mon, Wednesday")
    (0, 2)
    """
    return tuple(sorted({DAYS.index(one_of("weekdays", day.strip().lower()[:3], DAYS)) for day in text.split(",")}))


def read_day(field: str, text: str) -> date:
    """Parse a day in ISO form."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError as error:
        raise InvalidInput(field, text, "must be a day such as 2026-11-16") from error


def differing(before: SiteConfig, after: SiteConfig) -> dict[str, Any]:
    """Return the settings that differ, as `SiteConfig.to_json` writes the new ones; None if no longer set."""
    old, new = before.to_json(), after.to_json()
    names = (*new, *(name for name in old if name not in new))
    return {name: new.get(name) for name in names if old.get(name) != new.get(name)}
