"""Proposals and offers as the pages show them: who for whom, what speaks for it, and what became of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from crewlearn.advisor import explain
from crewlearn.advisor.explain import is_overdue
from crewlearn.advisor.facts import Estimate, facts
from crewlearn.advisor.site import APPROVED, PROPOSED, REJECTED, STARTED, UNDER_WAY, Proposal, Site
from crewlearn.web import wording
from crewlearn.web.charts import Scale, interval_bar, scale_over
from crewlearn.web.views.reading import Reading

STATUS_WORDS = {
    PROPOSED: "to be answered",
    APPROVED: "approved",
    "offered": "offered",
    "accepted": "accepted",
    STARTED: "started",
    "declined": "declined",
    "expired": "expired",
    "no-show": "did not show up",
    "cancelled": "cancelled",
    REJECTED: "rejected",
    "withdrawn": "withdrawn",
}
"""What the states of a proposal are called on the pages."""

TONES = {PROPOSED: "wait", STARTED: "good", "declined": "bad", "expired": "bad", "no-show": "bad", REJECTED: "bad"}
"""Which states stand out, and how."""


def arrival(site: Site, proposal: Proposal) -> int:
    """Give the period in which an offer's worker is expected, as long as offers take on average."""
    return (proposal.decided_in or site.period) + math.ceil(site.mean_delay)


def expected(reading: Reading, proposal: Proposal) -> str:
    """Say when an offer's worker is expected, or was."""
    when = arrival(reading.site, proposal)
    return f"{'was expected' if when < reading.site.period else 'expected'} {reading.day(when)}"


@dataclass(frozen=True)
class Side:
    """One of the two in a replacement, as they were thought of when it was proposed."""

    name: str
    label: str
    url: str
    estimate: str
    interval: str
    days: str
    bar: Markup


@dataclass(frozen=True)
class Exchange:
    """A proposal as the pages show it: who for whom, what speaks for it, what became of it."""

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
    trial: str
    fee: str
    lines: tuple[str, ...]


def exchange(reading: Reading, proposal: Proposal) -> Exchange:
    """Show a proposal with its reasons as they were."""
    said = facts(reading.site, proposal)
    ends = [said.into.low, said.into.high, *([] if said.out is None else [said.out.low, said.out.high])]
    scale = scale_over(ends, 4)
    into = reading.name_of(proposal.into)
    out = None if said.out is None else _side(reading, said.leaver, said.out, scale, "pool")
    return Exchange(
        id=proposal.id,
        title=f"Bring in {into}" if said.out is None else f"{into} for {reading.name_of(said.leaver)}",
        status=STATUS_WORDS.get(proposal.status, proposal.status),
        tone=TONES.get(proposal.status, ""),
        url=_where(reading, proposal),
        out=out,
        on_arrival=said.settled_on_arrival,
        into=_side(reading, proposal.into, said.into, scale, "team"),
        chance="" if said.chance_better is None else wording.share(said.chance_better),
        worth=wording.money(said.value, sign=True),
        trial="" if said.trial_periods is None else wording.count(round(said.trial_periods), "day"),
        fee=wording.money(said.fee),
        lines=tuple(explain.explain(reading.site, reading.people, proposal)[1:]),
    )


def _side(reading: Reading, number: int, estimate: Estimate, scale: Scale, kind: str) -> Side:
    return Side(
        name=reading.name_of(number),
        label=reading.label(number),
        url=reading.url("workers", number),
        estimate=reading.output(estimate.mean),
        interval=f"{reading.output(estimate.low)} – {reading.output(estimate.high)}",
        days=wording.count(estimate.days, "day") if estimate.days else "never seen",
        bar=interval_bar(scale, estimate.low, estimate.mean, estimate.high, kind),
    )


def _where(reading: Reading, proposal: Proposal) -> str:
    """Give where a proposal is answered, or an offer recorded; empty if there is nothing left to say to it."""
    if proposal.status == PROPOSED:
        return f"{reading.url('proposals')}?at={proposal.id}#proposal-{proposal.id}"
    return f"{reading.url('offers')}?at={proposal.id}#offer-{proposal.id}" if proposal.status in UNDER_WAY else ""


@dataclass(frozen=True)
class Choice:
    """Something to choose in a form."""

    value: str
    text: str
    chosen: bool = False


@dataclass(frozen=True)
class Answerable:
    """A proposal that is to be answered: who may make room instead, and which follows it."""

    exchange: Exchange
    rooms: tuple[Choice, ...]
    following: int


def answerable(reading: Reading, listed: Sequence[Proposal], after: int = 0) -> tuple[Answerable, ...]:
    """Show proposals with what an answer needs; `after` is the one that follows the last of them."""
    ids = [*(one.id for one in listed), after]
    return tuple(
        Answerable(exchange(reading, one), rooms(reading, one), ids[place + 1]) for place, one in enumerate(listed)
    )


@dataclass(frozen=True)
class Offer:
    """An offer under way: since when, for when, who may make room, and on which days it may have been settled."""

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


def offers(reading: Reading, under_way: Sequence[Proposal]) -> list[Offer]:
    """Show offers under way."""
    site, calendar = reading.site, reading.site.config.calendar
    listed = []
    for one in under_way:
        listed.append(
            Offer(
                id=one.id,
                into=reading.label(one.into),
                into_url=reading.url("workers", one.into),
                out=explain.place(reading.people, one),
                status=STATUS_WORDS[one.status],
                since=reading.day(one.decided_in),
                expected=expected(reading, one),
                overdue=is_overdue(site, one),
                fee=wording.money(one.fee),
                rooms=rooms(reading, one),
                first_day=calendar.date_of(one.decided_in).isoformat(),
                last_day=calendar.date_of(site.period).isoformat(),
                steps=tuple(step for step in ("offered", "accepted") if _before(one.status, step)),
            )
        )
    return listed


def _before(status: str, step: str) -> bool:
    order = (APPROVED, "offered", "accepted")
    return order.index(status) < order.index(step)


def rooms(reading: Reading, proposal: Proposal) -> tuple[Choice, ...]:
    """List who may make room for the incoming worker: as agreed first, then whoever is not leaving anyway."""
    site = reading.site
    leaving = {one.out for one in site.open_proposals(*UNDER_WAY) if one.id != proposal.id}
    agreed = explain.place(reading.people, proposal)
    others = sorted(
        (reading.label(number), reading.people.ids.get(number))
        for number in site.roster.active
        if number != proposal.out and number not in leaving and reading.people.ids.get(number) is not None
    )
    return (
        Choice("", f"{agreed} (as proposed)", True),
        *(Choice(identifier or "", label) for label, identifier in others),
    )
