"""Idempotent answers: repeating one's own answer changes nothing; a different one is a conflict naming the first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from crewlearn.advisor.ledger.answers import last_answer
from crewlearn.advisor.ledger.errors import Conflict, SecondApproverNeeded, Stale, StoreUnavailable
from crewlearn.advisor.ledger.events import Event, ProposalAnswer, ProposalApproved, ProposalApprovedFirst
from crewlearn.advisor.ledger.store import Store

LastAnswer = tuple[Event, ProposalAnswer] | None
"""The last answer to a proposal with its event, or None."""


@dataclass(frozen=True)
class Answer:
    """An answer as somebody gave it: its kind, and the parts they named; None for parts they left out."""

    kind: type[ProposalAnswer]
    proposal: int
    reason: str | None = None
    keep_out: bool | None = None
    outcome: str | None = None
    period: int | None = None
    out: int | None = None
    into: int | None = None
    how: str | None = None
    until: date | None = None
    leaver: int | None = None

    def is_in(self, answer: ProposalAnswer) -> bool:
        """Return whether a recorded answer matches this one in every part that is named."""
        parts = {name: value for name, value in vars(self).items() if name != "kind" and value is not None}
        return isinstance(answer, self.kind) and all(
            getattr(answer, name, None) == value for name, value in parts.items()
        )

    def is_given(self, before: LastAnswer, actor: str) -> bool:
        """Return whether the last answer is this one, given by the same person.

        A first approval is none: approving again would be the second one, which somebody else gives.
        """
        return before is not None and before[0].actor == actor and self.is_in(before[1])

    def is_on_record(self, before: LastAnswer, actor: str) -> bool:
        """Return whether the last answer is what this one came to, given by the same person: a first approval, too."""
        first = before is not None and before[0].actor == actor and isinstance(before[1], ProposalApprovedFirst)
        return self.is_given(before, actor) or (first and self.kind is ProposalApproved)


def give_once(store: Store, site: str, actor: str, answer: Answer, give: Callable[[], list[str] | None]) -> list[str]:
    """Record an answer unless the same person gave it already; return warnings.

    If the proposal was answered differently before, the conflict says by whom and when.
    """
    if answer.is_given(_last(store, site, answer), actor):
        return []
    try:
        return give() or []
    except Conflict as error:
        before = _last(store, site, answer)
        if answer.is_given(before, actor):  # sent twice at once, as by a double click
            return []
        raise conflict_after(before, error) from error


def conflict_after(before: LastAnswer, error: Conflict) -> Conflict:
    """Return a conflict, which names the earlier answer if that is its cause."""
    if before is None or isinstance(error, (SecondApproverNeeded, Stale, StoreUnavailable)):
        return error
    return Conflict(error.field, error.value, f"was answered before: {_told(*before)}")


def _last(store: Store, site: str, answer: Answer) -> LastAnswer:
    with store.reading() as connection:
        return last_answer(connection, store.key(connection, site), answer.proposal)


def _told(event: Event, answer: ProposalAnswer) -> str:
    """Describe who answered what, and when."""
    return f"{event.actor} {answer.reply()} at {event.at[:16].replace('T', ' ')} UTC"
