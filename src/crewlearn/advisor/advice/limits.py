"""Limits on replacements and their fees in a week or month: how much of each is used, and what they hold back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from crewlearn.advisor.ledger.site import FAILURES, PROPOSED, REJECTED, WITHDRAWN, Site
from crewlearn.policies.brakes import fills_empty_station
from crewlearn.policies.contract import Pair
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.transitions import unclaimed_stations

WEEK, MONTH = "week", "month"

_SETTINGS = {
    "most_a_week": (WEEK, False),
    "most_a_month": (MONTH, False),
    "budget_a_week": (WEEK, True),
    "budget_a_month": (MONTH, True),
}
"""Each limit by its setting: the span it is for, and whether it is of money."""

_ROUNDING = 1e-9
"""The part of a budget that sums of fees may exceed it by, because they are rounded."""


@dataclass(frozen=True)
class Limit:
    """A limit that is set: the most in a span, and how much of it approvals have used; money or a number."""

    setting: str
    span: str
    money: bool
    most: float
    used: float

    @property
    def left(self) -> float:
        """What is left of it."""
        return max(0.0, self.most - self.used)

    def takes(self, fee: float) -> float:
        """Return what a replacement at a fee uses of the limit."""
        return fee if self.money else 1.0

    def allows(self, fee: float, beside: float = 0.0) -> bool:
        """Return whether a replacement at a fee is within the limit, `beside` others that use so much."""
        return self.used + beside + self.takes(fee) <= self.most * (1.0 + _ROUNDING)


def limits_of(site: Site, *, exempts: bool = True) -> list[Limit]:
    """Return the limits that are set at a site, with what the approvals of this week and month have used.

    Filling an empty station does not count, if `exempts`. An offer that failed does not count either: a decline brings
    the next candidate. A fee counts when it is agreed, whenever it falls due.
    """
    calendar = site.config.calendar
    of_span = {WEEK: calendar.week_of, MONTH: calendar.month_of}
    counted = [
        proposal
        for proposal in site.proposals.values()
        if proposal.decided_in > 0
        and proposal.status not in (PROPOSED, REJECTED, WITHDRAWN, *FAILURES)
        and not (exempts and proposal.filled_empty_station)
    ]
    limits = []
    for setting, (span, money) in _SETTINGS.items():
        most = getattr(site.config, setting)
        if most is None:
            continue
        place = of_span[span]
        now = place(site.period)
        fees = [proposal.fee for proposal in counted if place(proposal.decided_in) == now]
        limits.append(Limit(setting, span, money, most, math.fsum(fees) if money else float(len(fees))))
    return limits


def within_limits(site: Site, wanted: Sequence[Pair], *, exempts: bool = True) -> tuple[list[Pair], list[Pair]]:
    """Split replacements into those that every limit allows and those that one of them holds back.

    `exempts` says whether filling an empty station is free of the limits.
    """
    limits = limits_of(site, exempts=exempts)
    begun = [0.0] * len(limits)
    unclaimed = unclaimed_stations(site.roster.arrays) if exempts else 0
    allowed: list[Pair] = []
    held_back: list[Pair] = []
    for out, into in wanted:
        fee = site.fee_of(into)
        if fills_empty_station(out, unclaimed):
            unclaimed -= 1
        elif all(limit.allows(fee, beside) for limit, beside in zip(limits, begun, strict=True)):
            begun = [beside + limit.takes(fee) for limit, beside in zip(limits, begun, strict=True)]
        else:
            held_back.append((out, into))
            continue
        allowed.append((out, into))
    return allowed, held_back


def outside_pilot(site: Site, wanted: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Split replacements into those that a pilot leaves to advice, and hires beyond the empty stations it does so for.

    Nobody at a station in usual practice may leave by advice, so only hires for empty stations are to be told apart.
    """
    withheld = site.withheld_stations()
    empty = [station for station, worker in enumerate(site.roster.stations) if worker == NOBODY]
    left_to_usual = sum(station in withheld for station in empty)
    if not left_to_usual:
        return list(wanted), []
    unclaimed = unclaimed_stations(site.roster.arrays)
    room = max(0, unclaimed - left_to_usual)
    allowed: list[Pair] = []
    others: list[Pair] = []
    for out, into in wanted:
        if fills_empty_station(out, unclaimed):
            unclaimed -= 1
            room -= 1
            (allowed if room >= 0 else others).append((out, into))
        else:
            allowed.append((out, into))
    return allowed, others


def holding_back(site: Site) -> list[Limit]:
    """Return the limits that hold back what is held back now, beside the proposals that wait for an answer."""
    waiting = [site.fee_of(proposal.into) for proposal in site.open_proposals(PROPOSED) if _counts(site, proposal.id)]
    held = [site.fee_of(into) for _, into in site.held_back]
    limits = limits_of(site)
    reached = [
        limit for limit in limits if any(not limit.allows(fee, math.fsum(map(limit.takes, waiting))) for fee in held)
    ]
    return reached or (limits if held else [])


def _counts(site: Site, proposal: int) -> bool:
    return not site.proposals[proposal].filled_empty_station
