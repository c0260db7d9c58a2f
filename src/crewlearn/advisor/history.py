"""What the record tells of who did what and when: since when settings hold, and how each proposal was answered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from crewlearn.advisor import events
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.events import Event
from crewlearn.advisor.record import read_events
from crewlearn.advisor.settings import differences, in_words
from crewlearn.advisor.site import ACCEPTED, LEFT, OFFERED, Proposal
from crewlearn.advisor.store import Store


class Since(NamedTuple):
    """Since which day a setting holds, and who set it."""

    day: str
    actor: str


def settings_since(store: Store, name: str) -> dict[str, Since]:
    """Give since when each setting is as it is: the day of the first period it held for, by its plain key."""
    since: dict[str, Since] = {}
    config: SiteConfig | None = None
    with store.reading() as connection:
        key = store.key(connection, name)
        for event in read_events(connection, key, types=(events.CREATED, events.CHANGED)):
            if config is None:
                config = SiteConfig.from_json(event.payload["config"])
                since = dict.fromkeys(in_words(config), Since(_day(event), event.actor))
                continue
            before, config = config, SiteConfig.from_json({**config.to_json(), **event.payload["changes"]})
            period = event.payload.get("period")
            day = _day(event) if period is None else str(config.calendar.date_of(period))
            since |= {one.setting: Since(day, event.actor) for one in differences(before, config)}
    return since


def _day(event: Event) -> str:
    """Give the day an event was recorded, on this machine's clock."""
    return str(datetime.fromisoformat(event.at).astimezone().date())


@dataclass(frozen=True)
class Answers:
    """Who answered a proposal and when (UTC), when it was offered and accepted, and how and when it was settled."""

    answered_by: str | None = None
    answered_at: str | None = None
    offered_at: str | None = None
    accepted_at: str | None = None
    outcome: str | None = None
    settled_by: str | None = None
    settled_at: str | None = None
    settled_in: int | None = None


def answers(connection: sa.Connection, key: int, proposals: Sequence[Proposal]) -> dict[int, Answers]:
    """Give how each proposal was answered, by its number; what was taken back does not count."""
    found: dict[int, Answers] = {}
    undone: dict[int, dict[int, Answers]] = {}
    into = {one.id: one.into for one in proposals}
    for event in read_events(connection, key, types=_TOLD):
        if event.type == events.UNDONE:
            found |= undone[event.payload["number"]]
            continue
        if event.type in _ANSWERS:
            touched = [event.payload["proposal"]]
            news = {number: _answered(found.get(number, Answers()), event) for number in touched}
        else:
            left = set(_leavers(event))
            touched = [number for number, one in found.items() if into.get(number) in left and one.outcome is None]
            news = {number: _settled(found[number], event, "cancelled") for number in touched}
        undone[event.number] = {number: found.get(number, Answers()) for number in touched}
        found |= news
    return found


_ANSWERS = (events.APPROVED, events.REJECTED, events.OFFER)
_TOLD = (*_ANSWERS, events.UNDONE, events.WORKER, events.WORKERS, events.ERASED)


def _answered(one: Answers, event: Event) -> Answers:
    if event.type == events.APPROVED:
        return replace(one, answered_by=event.actor, answered_at=event.at)
    if event.type == events.REJECTED:
        return _settled(replace(one, answered_by=event.actor, answered_at=event.at), event, "rejected")
    outcome = event.payload["outcome"]
    if outcome == OFFERED:
        return replace(one, offered_at=event.at)
    if outcome == ACCEPTED:
        return replace(one, accepted_at=event.at)
    return _settled(one, event, outcome, event.payload["period"])


def _settled(one: Answers, event: Event, outcome: str, period: int | None = None) -> Answers:
    return replace(one, outcome=outcome, settled_by=event.actor, settled_at=event.at, settled_in=period)


def _leavers(event: Event) -> Iterator[int]:
    """Give who left by an event, which cancels what would have brought them."""
    given: list[dict[str, Any]] = []
    if event.type == events.ERASED:
        yield event.payload["worker"]
    elif event.type == events.WORKER:
        given = [{"worker": event.payload["worker"], **event.payload["changes"]}]
    elif event.type == events.WORKERS:
        given = event.payload["workers"]
    yield from (one["worker"] for one in given if one.get("status") == LEFT)
