"""Events told in words: what somebody did, with the names that people know."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from crewlearn.advisor import events
from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.events import Event
from crewlearn.advisor.explain import place
from crewlearn.advisor.identities import People
from crewlearn.advisor.site import LEFT, POOL, Proposal
from crewlearn.advisor.text import counted

_NEWCOMER = {"status", "fee", "prior_n", "prior_mean", "interview"}


def told(
    event: Event,
    people: People,
    proposals: Mapping[int, Proposal],
    calendar: WorkCalendar,
    written: Callable[[date], str] = str,
) -> str:
    """Tell what an event was, without who and when, with days as `written` has them."""
    payload = event.payload
    if event.type == events.CREATED:
        return "set the site up"
    if event.type == events.CHANGED:
        return f"changed {', '.join(_setting(name, value) for name, value in payload['changes'].items())}"
    if event.type == events.WORKERS:
        joined = sum(given.keys() >= _NEWCOMER for given in payload["workers"])
        changed = {given["worker"] for given in payload["workers"]} | set(payload.get("renamed", ()))
        return f"imported workers: {joined:,} joined, {len(changed) - joined:,} changed"
    if event.type == events.WORKER:
        said = ", ".join(_of_worker(name, value) for name, value in payload["changes"].items())
        return f"recorded that {people.label(payload['worker'])} {said}"
    if event.type == events.ERASED:
        return f"erased worker {payload['worker']}"
    if event.type == events.OUTPUT:
        corrected = f", {payload['corrected']:,} of them corrections" if payload["corrected"] else ""
        return f"recorded {counted(payload['rows'], 'row of output', 'rows of output')}{corrected}"
    if event.type == events.ADVISED:
        count = len(payload["pairs"])
        said = counted(count, "replacement") if count else "to wait"
        return f"was advised for {written(calendar.date_of(payload['period']))}: {said}"
    if event.type == events.UNDONE:
        return f"took back {_slip(payload, people, proposals)}"
    return _answer(event, people, proposals)


def _slip(payload: Mapping[str, Any], people: People, proposals: Mapping[int, Proposal]) -> str:
    """Name the answer that was taken back."""
    kind, number = payload.get("type"), payload.get("proposal", 0)
    if kind == events.WORKER:
        return f"what was last said of {people.label(payload['worker'])}"
    one = proposals.get(number)
    pair = "" if one is None else f" ({people.label(one.into)} for {place(people, one)})"
    named = {events.APPROVED: "the approval of", events.REJECTED: "the rejection of"}
    if kind == events.OFFER:
        return f"that proposal {number}{pair} is {payload['outcome']}"
    return f"{named[kind]} proposal {number}{pair}" if kind in named else f"event {payload['number']}"


def _answer(event: Event, people: People, proposals: Mapping[int, Proposal]) -> str:
    number = event.payload["proposal"]
    one = proposals.get(number)
    pair = "" if one is None else f" ({people.label(one.into)} for {place(people, one)})"
    if event.type == events.APPROVED:
        return f"approved proposal {number}{pair}"
    if event.type == events.REJECTED:
        reason = f": {event.payload['reason']}" if event.payload["reason"] else ""
        kept = ", for good" if event.payload.get("keep_out") else ""
        return f"rejected proposal {number}{pair}{kept}{reason}"
    return f"recorded proposal {number}{pair} as {event.payload['outcome']}"


def _setting(name: str, value: Any) -> str:
    """Say what a setting was changed to, as people would write it.

    >>> _setting("fee", 1510.0), _setting("most_a_week", None), _setting("rolling", True), _setting("units", {})
    ('fee to 1,510', 'most a week to none', 'rolling to yes', 'units')
    """
    called = name.replace("_", " ")
    if isinstance(value, (dict, list)):
        return called
    if value is None or isinstance(value, bool):
        return f"{called} to {'none' if value is None else 'yes' if value else 'no'}"
    return f"{called} to {value if isinstance(value, str) else f'{value:,.10g}'}"


def _of_worker(name: str, value: Any) -> str:
    if name == "status":
        return {POOL: "is in the pool", LEFT: "left"}.get(value, f"is {value}")
    if name == "pinned":
        return "is pinned" if value else "is no longer pinned"
    if name == "fee":
        return "costs the site's fee" if value is None else f"costs a fee of {value:,.2f}"
    return f"has another {name.replace('_', ' ')}"
