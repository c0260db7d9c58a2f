"""Events in words, with the names that people know.

Each kind of event describes itself; this module adds who did it and when.
"""

from crewlearn.advisor.ledger.errors import Retold, Stale
from crewlearn.advisor.ledger.events import KINDS, Event, Names
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.advisor.wording.names import RecordNames


def cause_told(cause: Cause, names: Names) -> str:
    """Describe a cause of changed advice in a few words; empty if there is nothing to say."""
    kind = KINDS.get(cause.type)
    return "" if kind is None else kind.retell(cause.details, names)


def event_told(event: Event, names: Names) -> str:
    """Return who did what."""
    return f"{event.actor} {event.fact.tell(names)}"


def last_told(retold: Retold) -> str:
    """Return who did what in the last of some events."""
    return event_told(retold.events[-1], RecordNames.of(retold))


def changes_since(stale: Stale) -> tuple[str, ...]:
    """Return who did what and when, since the version that a request was made for."""
    if stale.since is None:
        return ()
    names = RecordNames.of(stale.since)
    return tuple(f"{event_told(event, names)} ({event.at[:16].replace('T', ' ')} UTC)" for event in stale.since.events)
