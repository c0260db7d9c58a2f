"""Commands for saying no well, and for what people say of workers: pins and blocks with an end, and notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from crewlearn.advisor.advice.commands import check_changes, numbered, open_proposal, record_changes
from crewlearn.advisor.ledger.events import (
    KEEP,
    NOT_NOW,
    REFUSALS,
    NoteAdded,
    ProposalTurnedDown,
    WorkerBlocked,
    WorkerProtected,
)
from crewlearn.advisor.ledger.events.advice.refusals import leaving
from crewlearn.advisor.ledger.site import BLOCKED, LEFT, PROPOSED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import LONGEST_REASON, checked_text
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, one_of, whole

LONGEST_NOTE = 2_000
MOST_DAYS = 36_500


@dataclass(frozen=True)
class Term:
    """How long something holds: until a day, for so many days, or for good; nothing named is for a while.

    A day named with `until` is the first on which it no longer holds. `days` are calendar days from the day of the
    coming period on. For a while means the site's `ask_again_after` periods.
    """

    until: date | None = None
    days: int | None = None
    for_good: bool = False

    def __post_init__(self) -> None:
        if self.days is not None:
            whole("days", self.days, 1, MOST_DAYS)
        if sum((self.until is not None, self.days is not None, self.for_good)) > 1:
            raise InvalidInput("until", str(self.until or self.days), "choose one: until a day, for days, or for good")

    @property
    def is_named(self) -> bool:
        """Whether an end, or that there is none, was named."""
        return self != A_WHILE

    def end(self, site: Site) -> date | None:
        """Return the first day on which it no longer holds; None for good."""
        if self.for_good:
            return None
        if self.until is not None:
            if self.until <= site.day:
                remedy = f"must be after {site.day}, the day of the coming period"
                raise InvalidInput("until", str(self.until), remedy)
            return self.until
        if self.days is None:
            return site.config.calendar.date_of(site.period + max(1, site.config.ask_again_after))
        try:
            return site.day + timedelta(days=self.days)
        except OverflowError:
            raise InvalidInput("days", self.days, "goes beyond the calendar; give fewer days, or for good") from None


A_WHILE = Term()
FOR_GOOD = Term(for_good=True)


def turn_down(
    store: Store,
    name: str,
    number: int,
    actor: str,
    how: str,
    reason: str = "",
    *,
    term: Term = A_WHILE,
    expected: int | None = None,
) -> date | None:
    """Reject a proposal as: keep who would leave, not this candidate, or not now. Return the day on which that ends.

    Whoever is not named by the answer stays as available as before. `not-now` bars only the same exchange, for the
    site's `ask_again_after` periods.
    """
    check_refusal(how, reason, term)
    with store.writing(name, actor, expected) as work:
        return turn_down_in(work, number, how, reason, term)


def check_refusal(how: str, reason: str, term: Term) -> None:
    """Check what a rejection says, whatever the proposal."""
    one_of("as", how, REFUSALS)
    checked_text("reason", reason, LONGEST_REASON)
    if how == NOT_NOW and term.is_named:
        remedy = "`not-now` lasts as long as the site's ask_again_after says; leave out the end"
        raise InvalidInput("until", str(term.until or term.days or "for good"), remedy)


def turn_down_in(work: SiteTransaction, number: int, how: str, reason: str, term: Term) -> date | None:
    """Reject a proposal within a transaction, as `turn_down` does; what it says is checked already."""
    site, proposal = work.site, open_proposal(work.site, number, PROPOSED)
    if how == KEEP and leaving(proposal.out, proposal.why.leaver) == NOBODY:
        remedy = "nobody would leave, as the station is empty; reject it as not-candidate or not-now"
        raise InvalidInput("as", how, remedy)
    until = term.end(site)
    work.add(ProposalTurnedDown(number, how, None if how == NOT_NOW else until, reason))
    return site.config.calendar.date_of(site.period + site.config.ask_again_after) if how == NOT_NOW else until


class Said(NamedTuple):
    """What was recorded of a worker: which holds (`pinned`, `blocked`) until when, and each field that changed."""

    holds: tuple[str, ...]
    until: date | None
    changes: Mapping[str, tuple[Any, Any]]


def set_worker(
    store: Store,
    name: str,
    worker_id: str,
    actor: str,
    changes: Mapping[str, Any],
    reason: str = "",
    *,
    term: Term | None = None,
    expected: int | None = None,
) -> Said:
    """Record changes to a worker, as `change_worker` does; a pin or block may have an end and a reason.

    Without a `term`, one with a reason has no end.
    """
    checked_text("reason", reason, LONGEST_REASON)
    checked = check_changes(changes)
    holds = [hold for hold, (field, value, _) in _HOLDS.items() if checked.get(field) == value]
    if term is None and not reason:
        holds = []
    elif not holds:
        remedy = "belongs to a pin or a block; pin or block them, or leave it out"
        raise InvalidInput("reason", reason, remedy) if reason else InvalidInput("until", "", remedy)
    with store.writing(name, actor, expected) as work:
        number, until = numbered(work, worker_id), (term or FOR_GOOD).end(work.site) if holds else None
        if holds and work.site.workers[number].status == LEFT:
            raise InvalidInput("worker", worker_id, "has left; record that they are back first, with status pool")
        done = record_changes(work, number, {key: checked[key] for key in checked if key not in _fields(holds)})
        for hold in holds:
            work.add(_HOLDS[hold][2](number, until, reason))
        return Said(tuple(holds), until, done)


_HOLDS: dict[str, tuple[str, Any, type[WorkerProtected | WorkerBlocked]]] = {
    "pinned": ("pinned", True, WorkerProtected),
    "blocked": ("status", BLOCKED, WorkerBlocked),
}
"""Each hold with the field and value that ask for it, and the event that records it."""


def _fields(holds: Sequence[str]) -> set[str]:
    return {_HOLDS[hold][0] for hold in holds}


def add_note(
    store: Store,
    name: str,
    worker_id: str,
    actor: str,
    text: str,
    *,
    term: Term = FOR_GOOD,
    expected: int | None = None,
) -> date | None:
    """Write a note on a worker, which is no longer shown from the end of its term on; return that day."""
    checked_text("note", text.strip(), LONGEST_NOTE, 1)
    with store.writing(name, actor, expected) as work:
        number, until = numbered(work, worker_id), term.end(work.site)
        work.add(NoteAdded(number, text.strip(), until))
        return until
