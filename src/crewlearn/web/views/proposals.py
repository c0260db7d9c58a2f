"""Proposals and offers as the pages show them: who for whom, what speaks for it, and what became of it."""

import math
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
    """Give the period in which an offer's worker is expected, the coming one at the earliest."""
    begun = proposal.decided_in or site.period
    return max(site.period, begun + math.ceil(site.mean_delay))


@dataclass(frozen=True)
class Side:
    """One of the two in a replacement, as they were thought of when it was proposed."""

    name: str
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
        name=reading.label(number),
        url=reading.url("workers", number),
        estimate=reading.output(estimate.mean),
        interval=f"{reading.output(estimate.low)} – {reading.output(estimate.high)}",
        days=wording.count(estimate.days, "day") if estimate.days else "never seen",
        bar=interval_bar(scale, estimate.low, estimate.mean, estimate.high, kind),
    )


def to_answer(reading: Reading) -> list[Exchange]:
    """List every proposal that is to be answered."""
    return [exchange(reading, one) for one in reading.site.open_proposals(PROPOSED)]


@dataclass(frozen=True)
class Choice:
    """Something to choose in a form."""

    value: str
    text: str
    chosen: bool = False


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


def offers(reading: Reading) -> list[Offer]:
    """List the offers under way, oldest first."""
    site, calendar = reading.site, reading.site.config.calendar
    listed = []
    for one in site.open_proposals(*UNDER_WAY):
        listed.append(
            Offer(
                id=one.id,
                into=reading.label(one.into),
                into_url=reading.url("workers", one.into),
                out=explain.place(reading.people, one),
                status=STATUS_WORDS[one.status],
                since=reading.day(one.decided_in),
                expected=reading.day(arrival(site, one)),
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
