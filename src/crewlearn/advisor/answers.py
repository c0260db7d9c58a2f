"""What was answered before: an answer given twice by the same person is one, and others are told whose it was."""

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from crewlearn.advisor.conflict import Conflict, Stale
from crewlearn.advisor.events import APPROVED, OFFER, REJECTED, UNDONE, Event
from crewlearn.advisor.record import read_events
from crewlearn.advisor.store import Store

ANSWERS = (APPROVED, REJECTED, OFFER)


@dataclass(frozen=True)
class Answer:
    """An answer to a proposal: its event's type and those parts of it that its giver said; None where they did not."""

    type: str
    proposal: int
    reason: str | None = None
    keep_out: bool | None = None
    outcome: str | None = None
    period: int | None = None
    out: int | None = None
    leaver: int | None = None

    def is_in(self, event: Event) -> bool:
        """Say whether the event is this answer."""
        said = {name: value for name, value in vars(self).items() if name != "type" and value is not None}
        return event.type == self.type and all(event.payload.get(name) == value for name, value in said.items())


def give_once(store: Store, site: str, actor: str, answer: Answer, give: Callable[[], list[str] | None]) -> list[str]:
    """Give an answer unless the same person gave it already; give what to be warned of.

    Where it cannot be given because somebody answered otherwise, the error says who and when.
    """
    if _is_given(last_answer(store, site, answer.proposal), actor, answer):
        return []
    try:
        return give() or []
    except Conflict as error:
        before = last_answer(store, site, answer.proposal)
        if _is_given(before, actor, answer):  # twice at once, as by a double click
            return []
        if before is None or isinstance(error, Stale) or error.field == "db":
            raise
        raise Conflict(error.field, error.value, f"was answered before: {told(before)}") from error


def _is_given(event: Event | None, actor: str, answer: Answer) -> bool:
    return event is not None and event.actor == actor and answer.is_in(event)


def last_answer(store: Store, site: str, proposal: int) -> Event | None:
    """Give the last answer to a proposal that was not taken back."""
    with store.reading() as connection:
        key = store.key(connection, site)
        return _last_answer(connection, key, proposal)


def _last_answer(connection: sa.Connection, key: int, proposal: int) -> Event | None:
    taken_back = set()
    for event in read_events(connection, key, types=(*ANSWERS, UNDONE), newest_first=True):
        if event.type == UNDONE:
            taken_back.add(event.payload["number"])
        elif event.payload["proposal"] == proposal and event.number not in taken_back:
            return event
    return None


def told(event: Event) -> str:
    """Say who answered what, and when."""
    what = {APPROVED: "approved it", REJECTED: "rejected it"}.get(event.type)
    said = what or f"recorded it as {event.payload['outcome']}"
    return f"{event.actor} {said} at {event.at[:16].replace('T', ' ')} UTC"
