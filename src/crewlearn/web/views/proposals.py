"""Proposals and offers as the pages show them: who for whom, the reasons, and the outcome."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from markupsafe import Markup

from crewlearn.advisor.advice.candidates import Candidate
from crewlearn.advisor.advice.facts import PeopleEstimate, facts
from crewlearn.advisor.ledger.site import APPROVED, PROPOSED, REJECTED, STARTED, UNDER_WAY, Proposal, Site
from crewlearn.advisor.wording import explain
from crewlearn.advisor.wording.candidates import candidate_name
from crewlearn.advisor.wording.doubt import chance
from crewlearn.advisor.wording.explain import is_overdue
from crewlearn.advisor.wording.names import place
from crewlearn.language import _, noted, plural
from crewlearn.problem.arrays import NOBODY
from crewlearn.web.views.charts import Scale, interval_bar, scale_over
from crewlearn.web.views.reading import Reading

STATUS_WORDS = {
    PROPOSED: noted("to be answered"),
    APPROVED: noted("approved"),
    "offered": noted("offered"),
    "accepted": noted("accepted"),
    STARTED: noted("started"),
    "declined": noted("declined"),
    "expired": noted("expired"),
    "no-show": noted("did not show up"),
    "cancelled": noted("cancelled"),
    REJECTED: noted("rejected"),
    "withdrawn": noted("withdrawn"),
}
"""Labels of a proposal's statuses."""

HALF_APPROVED = noted("approved by one of two")
"""The label of a proposal that waits for the second approver."""

TONES = {PROPOSED: "wait", STARTED: "good", "declined": "bad", "expired": "bad", "no-show": "bad", REJECTED: "bad"}
"""Styles of the statuses that are highlighted."""


def arrival(site: Site, proposal: Proposal) -> int:
    """Return the period in which an offer's worker is expected, by the mean delay."""
    return (proposal.decided_in or site.period) + math.ceil(site.mean_delay)


def expected(reading: Reading, proposal: Proposal) -> str:
    """Return in words when an offer's worker is expected, or was."""
    when = arrival(reading.site, proposal)
    if when < reading.site.period:
        return _("was expected {day}", day=reading.day(when))
    return _("expected {day}", day=reading.day(when))


@dataclass(frozen=True)
class Side:
    """One of the two people of a replacement, with their estimate at the time of the proposal."""

    name: str
    label: str
    url: str
    estimate: str
    interval: str
    days: str
    bar: Markup


@dataclass(frozen=True)
class Exchange:
    """A proposal as the pages show it: who for whom, the reasons, and the status."""

    id: int
    title: str
    status: str
    tone: str
    url: str
    out: Side | None
    on_arrival: bool
    into: Side
    chance: str
    worth: str
    ahead: str
    trial: str
    fee: str
    lines: tuple[str, ...]


def exchange(reading: Reading, proposal: Proposal, candidates: Sequence[Candidate] = ()) -> Exchange:
    """Return a proposal with its reasons at the time, and who could come in instead."""
    reasons, half = facts(reading.site, proposal), reading.site.first_approval_of(proposal.id) is not None
    ends = [reasons.into.low, reasons.into.high, *([] if reasons.out is None else [reasons.out.low, reasons.out.high])]
    scale = scale_over(ends, 4)
    into = reading.name_of(proposal.into)
    out = None if reasons.out is None else _side(reading, reasons.leaver, reasons.out, scale, "pool")
    return Exchange(
        id=proposal.id,
        title=_("Bring in {into}", into=into)
        if reasons.out is None
        else _("{into} for {leaver}", into=into, leaver=reading.name_of(reasons.leaver)),
        status=_(HALF_APPROVED if half else STATUS_WORDS.get(proposal.status, proposal.status)),
        tone=TONES.get(proposal.status, ""),
        url=_where(reading, proposal),
        out=out,
        on_arrival=reasons.settled_on_arrival,
        into=_side(reading, proposal.into, reasons.into, scale, "team"),
        chance="" if reasons.chance_better is None else chance(reasons.chance_better),
        worth=reading.money(reasons.value, sign=True),
        ahead=plural("{n} day", "{n} days", round(reasons.periods)),
        trial=""
        if reasons.trial_periods is None
        else plural("Review after {n} day.", "Review after {n} days.", round(reasons.trial_periods)),
        fee=reading.money(reasons.fee),
        lines=tuple(explain.explain(reading.site, reading.people, proposal, candidates, reading.figures)[1:]),
    )


def _side(reading: Reading, number: int, estimate: PeopleEstimate, scale: Scale, kind: str) -> Side:
    return Side(
        name=reading.name_of(number),
        label=reading.label(number),
        url=reading.url("workers", number),
        estimate=reading.output(estimate.mean),
        interval=f"{reading.output(estimate.low)} – {reading.output(estimate.high)}",
        days=plural("{n} day", "{n} days", estimate.days) if estimate.days else _("no days yet"),
        bar=interval_bar(scale, estimate.low, estimate.mean, estimate.high, kind),
    )


def _where(reading: Reading, proposal: Proposal) -> str:
    """Return the URL where a proposal is answered or its offer recorded; empty if it is settled."""
    if proposal.status == PROPOSED:
        return f"{reading.url('proposals')}?at={proposal.id}#proposal-{proposal.id}"
    return f"{reading.url('offers')}?at={proposal.id}#offer-{proposal.id}" if proposal.status in UNDER_WAY else ""


@dataclass(frozen=True)
class Choice:
    """An option of a form's list."""

    value: str
    text: str
    chosen: bool = False


@dataclass(frozen=True)
class Asking:
    """Who looks at proposals, and who may approve them at the site, where two people approve."""

    caller: str
    approvers: tuple[str, ...]

    def has_approved(self, reading: Reading, proposal: Proposal) -> bool:
        """Return whether the caller gave the first approval of a proposal."""
        first = reading.site.first_approval_of(proposal.id)
        return first is not None and first.by == self.caller


NOBODY_ASKING = Asking("", ())


@dataclass(frozen=True)
class Answerable:
    """A proposal to answer: who may leave or come in instead, and the number of the next proposal.

    One that is answered, and not `open`, keeps its place on the page. `a_while` is how long a rejection without an end
    holds, `first_end` the earliest day on which one may end. `first_approval` says who approved it first, and who may
    be second; `first_out` and `first_in` are the ids of those in it who are not the ones proposed.
    """

    exchange: Exchange
    open: bool
    rooms: tuple[Choice, ...]
    entrants: tuple[Choice, ...]
    a_while: str
    first_end: str
    following: int
    first_approval: str = ""
    first_approval_at: str = ""
    approved_by_caller: bool = False
    first_out: str = ""
    first_in: str = ""


def first_approval(reading: Reading, proposal: Proposal, asking: Asking) -> str:
    """Return who approved a proposal first, of which exchange, and who may be second; empty if nobody did so far."""
    first = reading.site.first_approval_of(proposal.id)
    if first is None or proposal.status != PROPOSED:
        return ""
    others = [name for name in asking.approvers if name != first.by]
    other = (
        ""
        if (first.out, first.into) == (proposal.out, proposal.into)
        else _(": {into} comes in", into=reading.name_of(first.into))
    )
    if other and first.out != proposal.out:
        other += _(", {out} leaves", out=reading.name_of(first.out))
    named = [*others[:3], *([plural("{n} other", "{n} others", len(others) - 3)] if len(others) > 3 else [])]
    second = _("Second: {named}.", named=" or ".join(named)) if others else _("Nobody else may approve here yet.")
    who = _("You") if first.by == asking.caller else first.by
    return _("{who} approved first{other}. {second}", who=who, other=other, second=second)


def answerable(
    reading: Reading, listed: Sequence[Proposal], after: int = 0, asking: Asking = NOBODY_ASKING
) -> tuple[Answerable, ...]:
    """Return proposals with what an answer needs; `after` is the number that follows the last of them."""
    ids = [*(proposal.id for proposal in listed), after]
    candidates = reading.snapshot.candidates_of(listed)
    a_while = plural("{n} day", "{n} days", reading.site.config.ask_again_after)
    first_end = (reading.site.day + timedelta(days=1)).isoformat()
    return tuple(
        Answerable(
            exchange(reading, proposal, candidates.get(proposal.id, ())),
            proposal.status == PROPOSED,
            rooms(reading, proposal),
            entrants(reading, proposal, candidates.get(proposal.id, ())),
            a_while,
            first_end,
            ids[place + 1],
            first_approval(reading, proposal, asking),
            "" if (first := reading.site.first_approval_of(proposal.id)) is None else reading.moment(first.at),
            asking.has_approved(reading, proposal),
            *_approved_instead(reading, proposal),
        )
        for place, proposal in enumerate(listed)
    )


def _approved_instead(reading: Reading, proposal: Proposal) -> tuple[str, str]:
    """Return the ids of who leaves and comes in by the first approval; empty where that is the worker proposed."""
    first = reading.site.first_approval_of(proposal.id)
    if first is None:
        return "", ""
    ids = reading.people.ids
    return (
        "" if first.out == proposal.out else ids.get(first.out) or "",
        "" if first.into == proposal.into else ids.get(first.into) or "",
    )


def entrants(reading: Reading, proposal: Proposal, candidates: Sequence[Candidate]) -> tuple[Choice, ...]:
    """List who may come in: the worker proposed, then the next best with what they are expected to bring."""
    first = reading.site.first_approval_of(proposal.id)
    return (
        *_as_it_stands(reading, proposal.into, None if first is None else first.into),
        *(
            Choice(
                reading.people.ids.get(candidate.worker) or "",
                f"{candidate_name(candidate, reading.label)}: {reading.money(candidate.value, sign=True)}",
            )
            for candidate in candidates
        ),
    )


@dataclass(frozen=True)
class OfferCard:
    """An offer under way: its dates, who may leave, and the days on which it may have been settled."""

    id: int
    into: str
    into_url: str
    out: str
    status: str
    since: str
    expected: str
    overdue: bool
    fee: str
    rooms: tuple[Choice, ...]
    first_day: str
    last_day: str
    steps: tuple[str, ...]


def offers(reading: Reading, under_way: Sequence[Proposal]) -> list[OfferCard]:
    """Return offers under way as the pages show them."""
    site, calendar = reading.site, reading.site.config.calendar
    listed = []
    for offer in under_way:
        listed.append(
            OfferCard(
                id=offer.id,
                into=reading.label(offer.into),
                into_url=reading.url("workers", offer.into),
                out=place(reading.people, offer),
                status=_(STATUS_WORDS[offer.status]),
                since=reading.day(offer.decided_in),
                expected=expected(reading, offer),
                overdue=is_overdue(site, offer),
                fee=reading.money(offer.fee),
                rooms=rooms(reading, offer),
                first_day=calendar.date_of(offer.decided_in).isoformat(),
                last_day=calendar.date_of(site.period).isoformat(),
                steps=tuple(step for step in ("offered", "accepted") if _before(offer.status, step)),
            )
        )
    return listed


def _before(status: str, step: str) -> bool:
    order = (APPROVED, "offered", "accepted")
    return order.index(status) < order.index(step)


def rooms(reading: Reading, proposal: Proposal) -> tuple[Choice, ...]:
    """List who may leave for the incoming worker: the worker agreed on first, then those not leaving anyway."""
    site = reading.site
    leaving = {offer.out for offer in site.open_proposals(*UNDER_WAY) if offer.id != proposal.id}
    agreed = place(reading.people, proposal)
    others = sorted(
        (reading.label(number), reading.people.ids.get(number))
        for number in site.roster.active
        if number != proposal.out and number not in leaving and reading.people.ids.get(number) is not None
    )
    first = site.first_approval_of(proposal.id)
    if first is not None and first.out not in (proposal.out, NOBODY):
        return (
            Choice(
                _approved_instead(reading, proposal)[0],
                _("{out} (as approved first)", out=reading.label(first.out)),
                True,
            ),
            *_named(reading, proposal.out, agreed),
            *(Choice(identifier or "", label) for label, identifier in others if label != reading.label(first.out)),
        )
    return (
        Choice("", _("{agreed} (as proposed)", agreed=agreed), True),
        *(Choice(identifier or "", label) for label, identifier in others),
    )


def _as_it_stands(reading: Reading, proposed: int, approved: int | None) -> tuple[Choice, ...]:
    """List the worker who was approved first, if there is one other than the worker proposed, and the latter."""
    if approved is None or approved == proposed:
        return (Choice("", _("{proposed} (as proposed)", proposed=reading.label(proposed)), True),)
    first = Choice(
        reading.people.ids.get(approved) or "",
        _("{approved} (as approved first)", approved=reading.label(approved)),
        True,
    )
    return (first, *_named(reading, proposed, reading.label(proposed)))


def _named(reading: Reading, number: int, label: str) -> tuple[Choice, ...]:
    """Return the worker proposed as a choice by their id; nothing if they have none."""
    identifier = reading.people.ids.get(number)
    return () if identifier is None else (Choice(identifier, _("{label} (as proposed)", label=label)),)
