"""Advice in plain words, in people's own units: what to do or wait for, why, and what would change it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from crewlearn.advisor.cycle import is_overdue
from crewlearn.advisor.identities import People
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.site import APPROVED, BLOCKED, LEFT, PROPOSED, UNDER_WAY, Proposal, Site
from crewlearn.policies.value import ValueOfReplacement
from crewlearn.problem.arrays import NOBODY

SURE = NormalDist().inv_cdf(0.975)
"""Standard deviations to either side that hold 95%."""


@dataclass(frozen=True)
class Estimate:
    """What is thought of a worker, in people's units: expected output with the ends of a 95% interval."""

    days: int
    mean: float
    low: float
    high: float


def people_estimate(site: Site, said: Mapping[str, Any]) -> Estimate:
    """Put an estimate into people's units; where less is better, low is still the smaller number."""
    units = site.config.units
    ends = [units.people_output(min(1.0, max(0.0, said["mean"] + side * SURE * said["sd"]))) for side in (-1.0, 1.0)]
    return Estimate(int(said["days"]), units.people_output(said["mean"]), min(ends), max(ends))


def sentence(site: Site, people: People) -> str:
    """Say the advice in one sentence."""
    open_now = site.open_proposals(PROPOSED)
    if open_now:
        pairs = "; ".join(
            f"replace {people.label(one.out)} by {people.label(one.into)}"
            if one.out != NOBODY
            else f"bring in {people.label(one.into)}"
            for one in open_now
        )
        return f"Proposed for {day(site)}: {pairs}."
    waits = _waits(site, people)
    return f"Wait ({day(site)}): {waits}" if waits else f"Wait ({day(site)}): no replacement is worth its fee now."


def what_changed(site: Site, people: People) -> str:
    """Say how the advice for the coming period differs from what was said of it before; empty if it does not."""
    before = site.advice.get("before", {})
    if before.get("period") != site.period:
        return ""
    told, now = set(before["proposals"]), {one.id for one in site.open_proposals(PROPOSED)}
    gone = [site.proposals[number] for number in sorted(told - now) if number in site.proposals]
    parts = [
        *(f"{people.label(one.into)} for {people.label(one.out)} is {one.status}" for one in gone),
        *(f"{people.label(site.proposals[number].into)} is new" for number in sorted(now - told)),
    ]
    return f"Changed since it was first said: {'; '.join(parts)}." if parts else ""


def day(site: Site) -> str:
    """Name the coming period."""
    return f"{site.config.calendar.date_of(site.period)}, period {site.period}"


def _waits(site: Site, people: People) -> str:
    """Say what the policy waits for."""
    said = site.advice.get("waiting", {})
    awaited = [people.label(one.into) for one in site.open_proposals(*UNDER_WAY)]
    if awaited:
        return f"{', '.join(awaited)} {'is' if len(awaited) == 1 else 'are'} on the way."
    if said.get("still_needed"):
        who, times = people.label(said["least_observed"]), said["still_needed"]
        return f"{who} must be seen on {times} more {'day' if times == 1 else 'days'} before the next decision."
    if not site.workers:
        return "import workers first."
    return ""


def explain(site: Site, people: People, proposal: Proposal) -> list[str]:
    """Explain a proposal as it was when it was made, line by line."""
    why, units = proposal.why, site.config.units
    into, lines = people_estimate(site, why["into"]), []
    lines.append(_headline(people, proposal))
    if proposal.out != NOBODY:
        lines.append(
            _about(people.label(proposal.out), people_estimate(site, why["out"]), why["out"], "in the team now")
        )
    else:
        lines.append("The station is empty, so every unit put out there is a gain.")
    lines.append(_about(people.label(proposal.into), into, why["into"], "coming in"))
    lines.append(f"Chance that {people.label(proposal.into)} does better: {why['chance_better']:.0%}.")
    left = max(0.0, why["periods_left"] - why["mean_delay"])
    gain = units.money(left * (why["into"]["mean"] - why["out"]["mean"]))
    fee = units.money(why["cost"])
    lines.append(
        f"Over the {left:.0f} periods left after a wait of about {why['mean_delay']:.1f}, staying for good would gain "
        f"{gain:,.2f} as expected now; the fee is {fee:,.2f}."
    )
    lines += _policy_lines(site, why)
    return lines


def _headline(people: People, proposal: Proposal) -> str:
    done = {PROPOSED: "Proposed", APPROVED: "Approved"}.get(proposal.status, proposal.status.capitalize())
    if proposal.out == NOBODY:
        return f"{done}: bring in {people.label(proposal.into)} (proposal {proposal.id})."
    return (
        f"{done}: {people.label(proposal.into)} in the place of {people.label(proposal.out)} (proposal {proposal.id})."
    )


def _about(who: str, estimate: Estimate, said: Mapping[str, Any], where: str) -> str:
    if said["days"] == 0:
        return (
            f"{who}, {where}: never seen here; judged by the pool, {estimate.mean:,.2f} "
            f"(95% between {estimate.low:,.2f} and {estimate.high:,.2f})."
        )
    return (
        f"{who}, {where}: {estimate.mean:,.2f} (95% between {estimate.low:,.2f} and {estimate.high:,.2f}) "
        f"after {said['days']} days."
    )


def _policy_lines(site: Site, why: Mapping[str, Any]) -> list[str]:
    """Say what the policy itself went by, and what would change its mind."""
    own, units = why["policy"], site.config.units
    if own is None:
        return [f"Policy {site.config.policy} gives no further reasons."]
    if "trial" in own:
        value = units.money(own["gain"])
        policy = site.policy
        most = units.money(own["gain"] / (1.0 + (policy.margin if isinstance(policy, ValueOfReplacement) else 0.0)))
        return [
            f"With the option to go back after about {own['trial']:.0f} periods if it does not work out, replacing "
            f"is worth {value:,.2f} in expectation before fees.",
            f"The advice would change if the fee were above about {most:,.2f}, or if more days brought them closer.",
        ]
    threshold = units.people_difference(own["threshold"]) if own["threshold"] is not None else math.inf
    hopeful = (
        "without limit, as one of them was never seen"
        if own["optimistic_gain"] is None
        else (f"{units.people_difference(own['optimistic_gain']):,.2f} a period")
    )
    return [
        f"At best, as far as is known, the exchange gains {hopeful}; to pay its fee it must gain {threshold:,.2f}.",
        "The advice would change if that best case fell below what the fee needs.",
    ]


@dataclass(frozen=True)
class Member:
    """A worker as the status shows them."""

    number: int
    label: str
    station: int | None
    estimate: Estimate
    note: str


def members(site: Site, people: People) -> list[Member]:
    """List everybody: the team by station, then the others from the best estimate down."""
    everybody, _ = estimates_of(site)
    listed = []
    for number, said in enumerate(everybody):
        station = int(site.roster.arrays.station_of[number])
        worker = site.workers[number]
        notes = [
            "pinned" if worker.pinned else "",
            worker.status if worker.status in (BLOCKED, LEFT) else "",
            f"not before period {worker.barred_until}" if worker.barred_until > site.period else "",
            *(_under_way(site, people, one, number) for one in site.open_proposals()),
        ]
        note = ", ".join(note for note in notes if note)
        seat = None if station < 0 else station
        listed.append(Member(number, people.label(number), seat, people_estimate(site, said), note))
    better = -1.0 if site.config.units.high > site.config.units.low else 1.0
    return sorted(
        listed,
        key=lambda one: (
            one.station is None,
            one.station or 0,
            better * one.estimate.mean if one.station is None else 0.0,
        ),
    )


def _under_way(site: Site, people: People, proposal: Proposal, number: int) -> str:
    if number == proposal.into:
        return f"{proposal.status} for {people.label(proposal.out)}{', overdue' if is_overdue(site, proposal) else ''}"
    if number == proposal.out:
        return f"to be replaced by {people.label(proposal.into)}"
    return ""
