"""Events in words, with the names that people know.

Each kind of event describes itself; this module adds who did it and when.
"""

from collections.abc import Sequence

from crewlearn.advisor.ledger.errors import Retold, Stale
from crewlearn.advisor.ledger.events import KINDS, Event, Names
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.advisor.wording.names import RecordNames
from crewlearn.language import _


def cause_told(cause: Cause, names: Names) -> str:
    """Describe a cause of changed advice in a few words; empty if there is nothing to say."""
    kind = KINDS.get(cause.type)
    return "" if kind is None else kind.retell(cause.details, names)


def event_told(event: Event, names: Names) -> str:
    """Return who did what."""
    return event.fact.told(event.actor, names)


def answers_told(events: Sequence[Event], names: Names) -> str:
    """Return who gave an answer, or several answers together."""
    if len(events) == 1:
        return event_told(events[-1], names)
    return _(
        "{actor} gave {events} answers together, the last: {tell}",
        actor=events[-1].actor,
        events=len(events),
        tell=events[-1].fact.tell(names),
    )


def answer_told(retold: Retold) -> str:
    """Return who gave the answer, or the answers given together, that some events are."""
    return answers_told(retold.events, RecordNames.of(retold))


def changes_since(stale: Stale) -> tuple[str, ...]:
    """Return who did what and when, since the version that a request was made for."""
    if stale.since is None:
        return ()
    names = RecordNames.of(stale.since)
    return tuple(
        _("{told} ({at} UTC)", told=event_told(event, names), at=event.at[:16].replace("T", " "))
        for event in stale.since.events
    )
