"""Commands that change a site: each is one transaction that checks its input, then records events.

A command either raises and writes nothing, or has recorded everything when it returns.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from crewlearn.advisor.advice.candidates import reasons_in_place
from crewlearn.advisor.advice.limits import limits_of
from crewlearn.advisor.ledger import identities
from crewlearn.advisor.ledger.errors import Conflict, NotTheLastAnswer, Retold, SecondApproverNeeded
from crewlearn.advisor.ledger.events import (
    KINDS,
    OUTCOMES,
    AnswerUndone,
    OfferRecorded,
    ProposalApproved,
    ProposalApprovedFirst,
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
from crewlearn.advisor.ledger.settings.changes import changed, differing
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import MOST_FEE, Units
from crewlearn.advisor.ledger.site import (
    BLOCKED,
    LEFT,
    POOL,
    PROPOSED,
    STARTED,
    STATUSES,
    UNDER_WAY,
    FirstApproval,
    Proposal,
    Site,
)
from crewlearn.advisor.ledger.site.advice_record import Reasons
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import LONGEST_REASON, checked_text, counted, some_of, spelled_alike
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.policies.contract import Pair
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, Unknown, one_of, real
from crewlearn.problem.transitions import (
    INCOMING_IS_ACTIVE,
    INCOMING_IS_PENDING,
    LEGAL,
    completion_fault,
    request_fault,
)

_NAME = re.compile(r"[\w][\w .()+-]{0,99}")


def create_site(store: Store, name: str, config: SiteConfig, actor: str) -> None:
    """Create a site."""
    check_new_name(name)
    store.create(name, config, actor)


def check_new_name(name: str) -> None:
    """Refuse a name that no site may have."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            "site", name, "must be letters, digits, spaces and . ( ) + - _, and begin with a letter or digit"
        )
    if name.casefold() == "new":
        raise InvalidInput("site", name, "is reserved: the pages use it to set up sites; choose another name")


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
        news = differing(before, after)
        if not news:
            return before, after
        if "calendar" in news:
            news["calendar"] = after.calendar.regular_json()
        if work.site.has_output:
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
    for opened in old.opened:
        if opened.worked and new.is_regular(opened.day):
            remedy = "has recorded output, under a number of its own; only future days can change"
            raise InvalidInput("calendar", str(opened.day), remedy)


def change_worker(
    store: Store, name: str, worker_id: str, actor: str, *, expected: int | None = None, **changes: Any
) -> dict[str, tuple[Any, Any]]:
    """Record that a worker left, returned, was blocked or pinned, or has a fee of their own (None: the site's).

    A pin or block without an end replaces one with an end. Returns each changed field with its old and new value.
    """
    checked = check_changes(changes)
    with store.writing(name, actor, expected) as work:
        return record_changes(work, numbered(work, worker_id), checked)


def check_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes to a worker, checked."""
    for key in changes:
        one_of("setting", key, ("status", "pinned", "fee"))
    checked = dict(changes)
    if "status" in changes:
        one_of("status", changes["status"], STATUSES)
    if changes.get("fee") is not None:
        checked["fee"] = real("fee", changes["fee"], 0.0, MOST_FEE)
    if "pinned" in changes:
        checked["pinned"] = bool(changes["pinned"])
    return checked


def record_changes(work: SiteTransaction, number: int, changes: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Record checked changes to a worker that are new; return each changed field with its old and new value."""
    site, worker = work.site, work.site.workers[number]
    before = {
        "status": worker.status if worker.status != POOL or site.block_on(number) is None else BLOCKED,
        "pinned": site.is_pinned(number),
        "fee": worker.fee,
    }
    news = {key: value for key, value in changes.items() if {before[key], getattr(worker, key)} != {value}}
    if news:
        work.add(WorkerChanged(number, worker_facts(news)))
    return {key: (before[key], value) for key, value in news.items()}


def erase_worker(store: Store, name: str, worker_id: str, actor: str, *, expected: int | None = None) -> None:
    """Erase a person's identity from the store; the record keeps only their number."""
    with store.writing(name, actor, expected) as work:
        erase_in(work, numbered(work, worker_id))


def erase_in(work: SiteTransaction, number: int) -> None:
    """Erase a person within a transaction, as `erase_worker` does."""
    identities.erase(work.connection, work.key, number)
    work.add(WorkerErased(number))


def approve(
    store: Store,
    name: str,
    number: int,
    actor: str,
    *,
    out: str | None = None,
    into: str | None = None,
    expected: int | None = None,
) -> list[str]:
    """Approve a proposal, so that the offer goes out. Return warnings.

    `out` names another outgoing worker, `into` another incoming one. Whoever was proposed stays available. At a site
    with a second approver, the first approval of an exchange starts nothing, and a different user gives the second.
    """
    with store.writing(name, actor, expected) as work:
        return approve_in(work, number, out, into, seen=expected is not None)


def approve_in(
    work: SiteTransaction, number: int, out: str | None = None, into: str | None = None, *, seen: bool = False
) -> list[str]:
    """Approve a proposal within a transaction, as `approve` does; `seen` says that the caller knows the first one."""
    site = work.site
    proposal = open_proposal(site, number, PROPOSED)
    first = site.first_approval_of(number)
    wanted = proposal if first is None else first
    if first is not None and first.by != work.actor and not seen:
        _check_named(work, proposal, first, out, into)
    leaver = wanted.out if out is None else numbered(work, out)
    entrant = wanted.into if into is None else numbered(work, into)
    if into is not None and request_fault(site.roster.arrays, NOBODY, entrant) in _CANNOT_COME:
        raise InvalidInput("in", into, "cannot come in: in the team already, or on the way")
    if into is not None and site.workers[entrant].status == LEFT:
        raise InvalidInput("in", into, "has left; record that they are back first, with status pool")
    if request_fault(site.roster.arrays, leaver, entrant) != LEGAL:
        if out is not None:
            raise InvalidInput("out", out, _NO_ROOM)
        raise Conflict("proposal", number, "cannot go ahead as it stands; name who makes room with `out`")
    warnings = [*_objections(work, leaver), *([] if entrant == proposal.into else _doubts(work, entrant))]
    joined = first if first is not None and (first.out, first.into) == (leaver, entrant) else None
    if joined is not None and spelled_alike(joined.by) == spelled_alike(work.actor):
        raise SecondApproverNeeded("proposal", number, "was approved by you first; a different user approves it second")
    if site.config.second_approver and joined is None:
        work.add(ProposalApprovedFirst(number, leaver, entrant))
        return warnings
    why = None if entrant == proposal.into else _chosen(work, proposal, (leaver, entrant))
    work.add(ProposalApproved(number, leaver, None if entrant == proposal.into else entrant, why))
    return warnings


def _check_named(
    work: SiteTransaction, proposal: Proposal, first: FirstApproval, out: str | None, into: str | None
) -> None:
    """Refuse a second approval that leaves open whom the first one chose: its giver may have seen the proposal only."""
    if (out is None and first.out != proposal.out) or (into is None and first.into != proposal.into):
        leaving = "" if first.out == NOBODY else f" in the place of {_called(work, first.out)}"
        raise SecondApproverNeeded(
            "proposal",
            proposal.id,
            f"was approved first with another exchange: {_called(work, first.into)}{leaving}; "
            "look at it, then approve it with `in` and `out`",
        )


def _chosen(work: SiteTransaction, proposal: Proposal, pair: Pair) -> Reasons:
    """Return the numbers behind an exchange that a person chose instead of the one proposed."""
    site = work.site
    state = policy_state(work.connection, work.key, site)
    return reasons_in_place(site, site.policy, state, site.situation(), proposal, pair)


def _doubts(work: SiteTransaction, entrant: int) -> list[str]:
    """Return warnings about bringing in a worker; the person's decision stands all the same."""
    site, who = work.site, _called(work, entrant)
    doubts = []
    if not site.may_enter(entrant):
        doubts.append(f"{who} is {_held_off(site, entrant)}, and comes in by your decision")
    for limit in limits_of(site):
        if limit.money and not limit.allows(site.fee_of(entrant)):
            doubts.append(f"the fee of {who}, {site.fee_of(entrant):,.2f}, exceeds what is left a {limit.span}")
    return doubts


def _held_off(site: Site, number: int) -> str:
    """Return why a worker is not proposed now."""
    block = site.block_on(number)
    if block is not None and block.until is not None:
        return f"blocked until {block.until}"
    if site.workers[number].status == BLOCKED:
        return "blocked"
    return f"not to be proposed before {site.config.calendar.date_of(site.workers[number].barred_until)}"


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
        open_proposal(work.site, number, PROPOSED)
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
        return record_offer_in(work, number, outcome, on, period, out)


def record_offer_in(
    work: SiteTransaction,
    number: int,
    outcome: str,
    on: date | None = None,
    period: int | None = None,
    out: str | None = None,
) -> list[str]:
    """Record the outcome of an offer within a transaction, as `record_offer` does."""
    site = work.site
    proposal = open_proposal(site, number, *UNDER_WAY)
    when = _when(site, proposal, on, period)
    leaver, warnings = None, list[str]()
    if outcome == STARTED:
        leaver = _leaver(work, proposal, None if out is None else numbered(work, out))
        if leaver is None and out is not None:
            raise InvalidInput("out", out, _NO_ROOM)
        if leaver is None:
            remedy = "nobody can make room for them; name who leaves with `out`, or record cancelled"
            raise InvalidInput("started", f"proposal {number}", remedy)
        warnings = _objections(work, leaver)
    if on is not None and not site.config.calendar.is_working(on):
        warnings.append(f"{on} is not a working day: it counts as {site.config.calendar.date_of(when)}.")
    work.add(OfferRecorded(number, outcome, when, leaver))
    return warnings


_CANNOT_COME = (INCOMING_IS_ACTIVE, INCOMING_IS_PENDING)
_NO_ROOM = "cannot make room: not in the team, or already being replaced"


def _when(site: Site, proposal: Proposal, on: date | None, period: int | None) -> int:
    """Return the period of an answer: the day's first shift that is not before the approval, or the coming period.

    A day off counts as the next working day: who starts on a Saturday works from Monday on.
    """
    calendar, when = site.config.calendar, period or site.period
    order_of = calendar.order_of
    if on is not None:
        when = calendar.period_of(on) if calendar.is_working(on) else calendar.period_at(calendar.order_on(on))
        if calendar.date_of(proposal.decided_in) == on:
            when = max(when, proposal.decided_in, key=order_of)
    if order_of(when) < order_of(proposal.decided_in):
        first = calendar.date_of(proposal.decided_in)
        raise InvalidInput("on", str(on or period), f"is before the approval, which is for {first}; give a later day")
    if order_of(when) > order_of(site.period):
        coming = calendar.date_of(site.period)
        remedy = f"is after {coming}, the coming working day: first record the output of the days up to then"
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
    site, who = work.site, _called(work, leaver)
    objections = []
    if site.is_pinned(leaver):
        protection = site.protection_of(leaver)
        until = "" if protection is None or protection.until is None else f" until {protection.until}"
        objections.append(f"{who} is pinned{until}, and leaves by your decision")
    if site.is_withheld(leaver):
        objections.append(f"{who} holds a station in usual practice of the pilot, and leaves by your decision")
    stayed, least = site.tenure(leaver), site.config.least_tenure
    if stayed < least:
        objections.append(f"{who} has been in the team for {counted(stayed, 'period')}; the least stay is {least}")
    return objections


def _called(work: SiteTransaction, worker: int) -> str:
    return next((external for external, number in work.identities().items() if number == worker), "somebody erased")


def undo(store: Store, name: str, actor: str, *, expected: int | None = None, number: int | None = None) -> Retold:
    """Take back the last answer, or the last change to a worker; return that event.

    Answers given together are taken back together, and all returned. `number` is the event the caller means; if it is
    no longer the last answer, nothing is undone.
    """
    with store.writing(name, actor, expected) as work:
        slip = work.site.undo
        if slip is None:
            raise Conflict("undo", name, _nothing_to_undo(work))
        events = list(read_events(work.connection, work.key, slip.numbers[0] - 1, limit=len(slip.numbers)))
        event, answer = events[-1], retold(work.connection, work.key, work.site, events)
        if number is not None and number != event.number:
            raise NotTheLastAnswer("undo", number, "that is no longer the last answer", answer)
        work.add(AnswerUndone(event.number, event.fact.type, event.fact.subject, slip.since))
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


def open_proposal(site: Site, number: int, *statuses: str) -> Proposal:
    """Return a proposal that has one of these statuses, or raise a conflict."""
    proposal = site.proposals.get(number)
    if proposal is None or proposal.status not in statuses:
        now = "does not exist or was settled long ago" if proposal is None else f"is {proposal.status}"
        there = [str(other.id) for other in site.open_proposals(*statuses)]
        others = f"{_STATES[statuses[0]]}: {some_of(there)}" if there else f"none is {_STATES[statuses[0]]}"
        raise Conflict("proposal", number, f"{now}; {others}")
    return proposal


def numbered(work: SiteTransaction, worker_id: str) -> int:
    """Return the number of a worker by the firm's own id."""
    known = work.identities([worker_id])
    if worker_id not in known:
        raise unknown_worker(worker_id, len(work.identities()))
    return known[worker_id]
