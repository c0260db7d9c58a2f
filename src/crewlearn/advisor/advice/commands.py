"""Commands that change a site: each is one transaction that checks its input, then records events.

A command either raises and writes nothing, or has recorded everything when it returns.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict, NotTheLastAnswer, Retold
from crewlearn.advisor.ledger.events import (
    KINDS,
    OUTCOMES,
    AnswerUndone,
    OfferRecorded,
    ProposalApproved,
    ProposalRejected,
    RangeChanged,
    SiteChanged,
    WorkerChanged,
    WorkerErased,
    worker_facts,
)
from crewlearn.advisor.ledger.learned.stored_states import policy_state
from crewlearn.advisor.ledger.queries import read_events, retold
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.changes import changed
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import MOST_FEE, Units
from crewlearn.advisor.ledger.site import PROPOSED, STARTED, STATUSES, UNDER_WAY, Proposal, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import LONGEST_REASON, checked_text, counted, some_of
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, Unknown, one_of, real
from crewlearn.problem.transitions import LEGAL, completion_fault, request_fault

_NAME = re.compile(r"[\w][\w .()+-]{0,99}")


def create_site(store: Store, name: str, config: SiteConfig, actor: str) -> None:
    """Create a site."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "site", name, "must be letters, digits, spaces and . ( ) + - _, and begin with a letter or digit"
        )
    if name.casefold() == "new":
        raise InvalidInput("site", name, "is reserved: the pages use it to set up sites; choose another name")
    store.create(name, config, actor)


def change_site(
    store: Store, name: str, changes: Mapping[str, Any], actor: str, *, expected: int | None = None
) -> tuple[SiteConfig, SiteConfig]:
    """Change settings from now on; return the settings before and after.

    With a new output range, everything is learned anew from the units on record. The dates of recorded periods cannot
    change.
    """
    with store.writing(name, actor, expected) as work:
        before = work.site.config
        after = changed(before, changes)
        old, new = before.to_json(), after.to_json()
        news = {key: value for key, value in new.items() if old[key] != value}
        if not news:
            return before, after
        if any(worker.recorded_to for worker in work.site.workers):
            _check_calendar(before.calendar, after.calendar, work.site.period)
        kind = RangeChanged if work.site.workers and _is_another_range(before.units, after.units) else SiteChanged
        work.add(kind(news, work.site.period))
        work.check_interviews()
        return before, after


def _is_another_range(before: Units, after: Units) -> bool:
    """Return whether output is measured otherwise than before."""
    return replace(before, value_per_unit=after.value_per_unit) != after


def _check_calendar(old: WorkCalendar, new: WorkCalendar, coming: int) -> None:
    """Refuse a calendar that would move recorded periods to other dates."""
    if old == new:
        return
    for period in range(1, coming):
        if (old.date_of(period), old.shift_of(period)) != (new.date_of(period), new.shift_of(period)):
            raise InvalidInput("calendar", str(old.date_of(period)), "has recorded output; only future days can change")


def change_worker(
    store: Store, name: str, worker_id: str, actor: str, *, expected: int | None = None, **changes: Any
) -> dict[str, tuple[Any, Any]]:
    """Record that a worker left, returned, was blocked or pinned, or has a fee of their own (None: the site's).

    Returns each changed field with its old and new value.
    """
    for key in changes:
        one_of("setting", key, ("status", "pinned", "fee"))
    if "status" in changes:
        one_of("status", changes["status"], STATUSES)
    if changes.get("fee") is not None:
        changes["fee"] = real("fee", changes["fee"], 0.0, MOST_FEE)
    if "pinned" in changes:
        changes["pinned"] = bool(changes["pinned"])
    with store.writing(name, actor, expected) as work:
        number = _number(work, worker_id)
        worker = work.site.workers[number]
        news = {key: value for key, value in changes.items() if getattr(worker, key) != value}
        if news:
            work.add(WorkerChanged(number, worker_facts(news)))
        return {key: (getattr(worker, key), value) for key, value in news.items()}


def erase_worker(store: Store, name: str, worker_id: str, actor: str, *, expected: int | None = None) -> None:
    """Erase a person's identity from the store; the record keeps only their number."""
    with store.writing(name, actor, expected) as work:
        number = _number(work, worker_id)
        table = schema.identities
        work.connection.execute(
            table.update().where(table.c.site == work.key, table.c.worker == number).values(external_id=None, name=None)
        )
        work.add(WorkerErased(number))


def approve(
    store: Store, name: str, number: int, actor: str, *, out: str | None = None, expected: int | None = None
) -> list[str]:
    """Approve a proposal, so that the offer goes out; `out` names another outgoing worker. Return warnings."""
    with store.writing(name, actor, expected) as work:
        proposal = _proposal(work.site, number, PROPOSED)
        leaver = proposal.out if out is None else _number(work, out)
        if request_fault(work.site.roster.arrays, leaver, proposal.into) != LEGAL:
            if out is not None:
                raise InvalidInput("out", out, _NO_ROOM)
            raise Conflict("proposal", number, "cannot go ahead as it stands; name who makes room with `out`")
        work.add(ProposalApproved(number, leaver))
        return _objections(work, leaver)


def reject(
    store: Store,
    name: str,
    number: int,
    actor: str,
    reason: str = "",
    *,
    keep_out: bool = False,
    expected: int | None = None,
) -> None:
    """Reject a proposal, with a reason for the record; `keep_out` blocks its incoming worker permanently."""
    checked_text("reason", reason, LONGEST_REASON)
    with store.writing(name, actor, expected) as work:
        _proposal(work.site, number, PROPOSED)
        work.add(ProposalRejected(number, reason, keep_out))


def record_offer(
    store: Store,
    name: str,
    number: int,
    outcome: str,
    actor: str,
    *,
    on: date | None = None,
    period: int | None = None,
    out: str | None = None,
    expected: int | None = None,
) -> list[str]:
    """Record the outcome of an offer; on a start, `out` names another outgoing worker. Return warnings."""
    one_of("outcome", outcome, OUTCOMES)
    with store.writing(name, actor, expected) as work:
        site = work.site
        proposal = _proposal(site, number, *UNDER_WAY)
        when = _when(site, proposal, on, period)
        leaver, warnings = None, list[str]()
        if outcome == STARTED:
            leaver = _leaver(work, proposal, None if out is None else _number(work, out))
            if leaver is None and out is not None:
                raise InvalidInput("out", out, _NO_ROOM)
            if leaver is None:
                remedy = "nobody can make room for them; name who leaves with `out`, or record cancelled"
                raise InvalidInput("started", f"proposal {number}", remedy)
            warnings = _objections(work, leaver)
        work.add(OfferRecorded(number, outcome, when, leaver))
        return warnings


_NO_ROOM = "cannot make room: not in the team, or already being replaced"


def _when(site: Site, proposal: Proposal, on: date | None, period: int | None) -> int:
    """Return the period of an answer: the day's first shift that is not before the approval, or the coming period."""
    calendar, when = site.config.calendar, period or site.period
    if on is not None:
        when = calendar.period_of(on)
        if calendar.date_of(proposal.decided_in) == on:
            when = max(when, proposal.decided_in)
    if not proposal.decided_in <= when <= site.period:
        first, last = calendar.date_of(proposal.decided_in), calendar.date_of(site.period)
        remedy = f"must be from the approval, {first}, to the coming period, {last}"
        raise InvalidInput("on", str(on or period), remedy)
    return when


def _leaver(work: SiteTransaction, proposal: Proposal, chosen: int | None) -> int | None:
    """Return who makes room: the worker chosen, agreed on, or named by the policy now; None if nobody can."""
    site = work.site
    pending = next(place for place, hire in enumerate(site.roster.pending) if hire.into == proposal.into)
    out = chosen if chosen is not None else site.roster.pending[pending].out
    if out == NOBODY:
        state = policy_state(work.connection, work.key, site)
        out = site.policy.assign(state, site.situation(), proposal.into)
    return out if completion_fault(site.roster.arrays, pending, out) == LEGAL else None


def _objections(work: SiteTransaction, leaver: int) -> list[str]:
    """Return warnings about letting a worker go; the person's decision stands all the same."""
    if leaver == NOBODY:
        return []
    site, worker = work.site, work.site.workers[leaver]
    who = next((external for external, number in work.identities().items() if number == leaver), "somebody erased")
    objections = []
    if worker.pinned:
        objections.append(f"{who} is pinned, and leaves by your decision")
    stayed, least = site.period - worker.since, site.config.least_tenure
    if stayed < least:
        objections.append(f"{who} has been in the team for {counted(stayed, 'period')}; the least stay is {least}")
    return objections


def undo(store: Store, name: str, actor: str, *, expected: int | None = None, number: int | None = None) -> Retold:
    """Take back the last answer, or the last change to a worker; return that event.

    `number` is the event the caller means; if it is no longer the last answer, nothing is undone.
    """
    with store.writing(name, actor, expected) as work:
        slip = work.site.undo
        if slip is None:
            raise Conflict("undo", name, _nothing_to_undo(work))
        event = next(read_events(work.connection, work.key, after=slip.number - 1))
        answer = retold(work.connection, work.key, work.site, [event])
        if number is not None and number != event.number:
            raise NotTheLastAnswer("undo", number, "that is no longer the last answer", answer)
        work.add(AnswerUndone(event.number, event.fact.type, event.fact.subject))
        return answer


def _nothing_to_undo(work: SiteTransaction) -> str:
    """Return why there is no answer to take back."""
    kinds = [kind for kind in KINDS.values() if kind.undoable or kind is AnswerUndone]
    last = next(read_events(work.connection, work.key, kinds=kinds, newest_first=True, limit=1), None)
    if last is None:
        return "there is no answer to take back yet"
    if isinstance(last.fact, AnswerUndone):
        return "there is no answer to take back: the last one was taken back already, and only one can be"
    return "there is no answer to take back: other facts were recorded since"


def unknown_worker(worker_id: str, known: int) -> Unknown:
    """Return the error for a worker id that is unknown at a site."""
    there = f"there {'is' if known == 1 else 'are'} {counted(known, 'worker')}"
    return Unknown("worker", worker_id, f"is not known at this site; {there}")


_STATES = {PROPOSED: "waiting for an answer", **dict.fromkeys(UNDER_WAY, "under way")}


def _proposal(site: Site, number: int, *statuses: str) -> Proposal:
    """Return a proposal that has one of these statuses, or raise a conflict."""
    proposal = site.proposals.get(number)
    if proposal is None or proposal.status not in statuses:
        now = "does not exist or was settled long ago" if proposal is None else f"is {proposal.status}"
        there = [str(other.id) for other in site.open_proposals(*statuses)]
        others = f"{_STATES[statuses[0]]}: {some_of(there)}" if there else f"none is {_STATES[statuses[0]]}"
        raise Conflict("proposal", number, f"{now}; {others}")
    return proposal


def _number(work: SiteTransaction, worker_id: str) -> int:
    """Return the number of a worker by the firm's own id."""
    known = work.identities([worker_id])
    if worker_id not in known:
        raise unknown_worker(worker_id, len(work.identities()))
    return known[worker_id]
