"""Answers given once: the same answer twice by one person counts once, and others learn whose it was."""

from collections.abc import Callable
from dataclasses import dataclass

from crewlearn.advisor.ledger.answers import last_answer
from crewlearn.advisor.ledger.errors import Conflict, Stale, StoreUnavailable
from crewlearn.advisor.ledger.events import Event, ProposalAnswer
from crewlearn.advisor.ledger.store import Store


@dataclass(frozen=True)
class Answer:
    """An answer that somebody gives: its kind, and those parts of it that they said; None where they did not."""

    kind: type[ProposalAnswer]
    proposal: int
    reason: str | None = None
    keep_out: bool | None = None
    outcome: str | None = None
    period: int | None = None
    out: int | None = None
    leaver: int | None = None

    def is_in(self, answer: ProposalAnswer) -> bool:
        """Return whether an answer on record is this one."""
        parts = {name: value for name, value in vars(self).items() if name != "kind" and value is not None}
        return isinstance(answer, self.kind) and all(
            getattr(answer, name, None) == value for name, value in parts.items()
        )


def give_once(store: Store, site: str, actor: str, answer: Answer, give: Callable[[], list[str] | None]) -> list[str]:
    """Record an answer unless the same person gave it already; return warnings.

    Where it cannot be given because somebody answered otherwise, the error says who and when.
    """
    if _is_given(_last(store, site, answer), actor, answer):
        return []
    try:
        return give() or []
    except Conflict as error:
        before = _last(store, site, answer)
        if _is_given(before, actor, answer):  # twice at once, as by a double click
            return []
        if before is None or isinstance(error, (Stale, StoreUnavailable)):
            raise
        raise Conflict(error.field, error.value, f"was answered before: {_told(*before)}") from error


def _last(store: Store, site: str, answer: Answer) -> tuple[Event, ProposalAnswer] | None:
    with store.reading() as connection:
        return last_answer(connection, store.key(connection, site), answer.proposal)


def _is_given(before: tuple[Event, ProposalAnswer] | None, actor: str, answer: Answer) -> bool:
    return before is not None and before[0].actor == actor and answer.is_in(before[1])


def _told(event: Event, answer: ProposalAnswer) -> str:
    """Return who answered what, and when."""
    return f"{event.actor} {answer.reply()} at {event.at[:16].replace('T', ' ')} UTC"
