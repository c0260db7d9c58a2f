"""Tenure by group: how long people are kept, and whether newcomers are let go sooner than others."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crewlearn.advisor.evidence.intervals import Ratio, ratio_of_rates, wilson
from crewlearn.advisor.ledger.site import STARTED, Proposal, Site
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.problem.arrays import NOBODY

NEW = 30
"""So many periods people are new in a team, unless they were in it when the record began."""

LENGTHS = (20, 60, 120)
"""Periods after which it is asked how many are still in the team."""

AT_RISK = 10
"""The share of a group that is still in the team is told while at least so many have been in it for that long."""


@dataclass(frozen=True)
class Stay:
    """A worker was in the team for so many periods, of which the first `new` as a newcomer.

    `let_go` says that the advice ended it. Other stays last, or ended otherwise: from then on nothing is known of them.
    """

    worker: int
    periods: int
    new: int
    let_go: bool


@dataclass(frozen=True)
class Kept:
    """The share of a group that advice has not let go after so many periods, with its interval."""

    periods: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class GroupTenure:
    """How long a group's people are kept.

    `days` is how many periods they spent in the team, `let_go` how often advice ended a stay. `ratio` compares the rate
    of being let go, per period in the team, with that of all others.
    """

    group: str
    people: int
    days: int
    let_go: int
    ratio: Ratio
    kept: tuple[Kept, ...]
    small: bool


@dataclass(frozen=True)
class Newcomers:
    """How often people are let go in their first periods, and later; `ratio` compares the rates."""

    days: int
    let_go: int
    later_days: int
    later_let_go: int
    ratio: Ratio


def stays_of(site: Site, stints: Sequence[Stint], proposals: Sequence[Proposal]) -> list[Stay]:
    """Return how long people were in the team at a stretch, at whatever station, until now."""
    calendar = site.config.calendar
    let_go = {
        (proposal.leaver, calendar.moment_of(proposal.settled_in))
        for proposal in proposals
        if proposal.status == STARTED and proposal.leaver != NOBODY
    }
    by_worker: dict[int, list[tuple[int, int]]] = {}
    for stint in sorted(stints, key=lambda stint: calendar.moment_of(stint.since)):
        until = site.period if stint.until is None else stint.until
        spans = by_worker.setdefault(stint.worker, [])
        if spans and calendar.moment_of(spans[-1][1]) == calendar.moment_of(stint.since):
            spans[-1] = (spans[-1][0], until)
        else:
            spans.append((stint.since, until))
    stays = []
    for worker, spans in by_worker.items():
        for place, (since, until) in enumerate(spans):
            periods = calendar.between(since, until)
            from_start = place == 0 and worker in site.first_team
            gone = (worker, calendar.moment_of(until)) in let_go
            stays.append(Stay(worker, periods, 0 if from_start else min(NEW, periods), gone))
    return stays


def tenures(groups: Mapping[int, str], stays: Sequence[Stay], few: int) -> list[GroupTenure]:
    """Return how long the people of each group are kept; groups of fewer than `few` people are marked as small."""
    known = [stay for stay in stays if stay.worker in groups]
    days, events = sum(stay.periods for stay in known), sum(stay.let_go for stay in known)
    listed = []
    for group in sorted({groups[stay.worker] for stay in known}):
        own = [stay for stay in known if groups[stay.worker] == group]
        own_days, own_events = sum(stay.periods for stay in own), sum(stay.let_go for stay in own)
        people = len({stay.worker for stay in own})
        ratio = ratio_of_rates(own_events, own_days, events - own_events, days - own_days)
        kept = tuple(share for length in LENGTHS if (share := kept_for(own, length)) is not None)
        listed.append(GroupTenure(group, people, own_days, own_events, ratio, kept, people < few))
    return listed


def kept_for(stays: Sequence[Stay], length: int) -> Kept | None:
    """Return the share that is not let go within a length of time; None if too few have been in the team so long.

    It is Kaplan and Meier's estimate: a stay that lasts, or ended otherwise, counts for as long as it is known. The
    interval is Wilson's for as many people as would give Greenwood's variance.
    """
    at_risk = sum(stay.periods >= length for stay in stays)
    if at_risk < AT_RISK:
        return None
    share, variance = 1.0, 0.0
    for end in sorted({stay.periods for stay in stays if stay.let_go and stay.periods <= length}):
        there = sum(stay.periods >= end for stay in stays)
        gone = sum(stay.let_go and stay.periods == end for stay in stays)
        share *= 1.0 - gone / there
        variance += gone / (there * (there - gone)) if there > gone else math.inf
    size = (1.0 - share) / (share * variance) if 0.0 < share < 1.0 else float(at_risk)
    return Kept(length, share, *wilson(share, size))


def newcomers(stays: Sequence[Stay]) -> Newcomers:
    """Return how the rate of being let go as a newcomer compares with the rate later."""
    days = sum(stay.new for stay in stays)
    later_days = sum(stay.periods for stay in stays) - days
    let_go = sum(stay.let_go and 0 < stay.new == stay.periods for stay in stays)
    later = sum(stay.let_go for stay in stays) - let_go
    return Newcomers(days, let_go, later_days, later, ratio_of_rates(let_go, days, later, later_days))
