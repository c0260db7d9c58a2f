"""What the replacements made so far have brought against keeping the first team, as far as can be told."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import sqlalchemy as sa

from crewlearn.advisor.facts import SURE
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.site import FAILURES, STARTED, UNDER_WAY, Proposal, Site
from crewlearn.advisor.stints import Stint, read_stints
from crewlearn.advisor.store import read_proposals
from crewlearn.problem.arrays import NOBODY, FloatArray


@dataclass(frozen=True)
class Gain:
    """Money gained against keeping the first team, the fees paid, with the ends of a 95% interval."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class GainByPeriod:
    """Money gained up to each recorded period, from the first on: fees paid, the gain after them, its interval."""

    fees: FloatArray
    expected: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Past:
    """What the gain is made from: who held which station when, and the proposals that were acted on."""

    stints: tuple[Stint, ...]
    proposals: tuple[Proposal, ...]


def read_past(connection: sa.Connection, key: int) -> Past:
    """Read what the gain of a site is made from."""
    acted_on = read_proposals(connection, key, statuses=(STARTED, *UNDER_WAY, *FAILURES))
    return Past(tuple(read_stints(connection, key)), tuple(acted_on))


def gain_over_first_team(site: Site, stints: Sequence[Stint], proposals: Sequence[Proposal]) -> Gain:
    """Estimate what all replacements so far have brought."""
    series = gain_by_period(site, stints, proposals)
    if not len(series.expected):
        return Gain(0.0, 0.0, 0.0)
    return Gain(float(series.expected[-1]), float(series.low[-1]), float(series.high[-1]))


def gain_by_period(site: Site, stints: Sequence[Stint], proposals: Sequence[Proposal]) -> GainByPeriod:
    """Estimate period by period what the replacements have brought, by what is thought of everybody now.

    The first team is whoever held each station first, to this day or until they left by themselves; what it cost to
    bring them in is no cost of replacing. Everybody is taken to be present; the fee of an offer counts from the period
    it fell due in, and what interviews cost from the first.
    """
    periods = site.period - 1
    everybody, _ = estimates_of(site)
    units = site.config.units
    unit = np.array([site.value_in(period) for period in range(1, periods + 1)]) / units.value_per_unit
    kept = _kept(stints, proposals)
    held = _held(site, stints, periods) - _held(site, kept, periods)
    differing = np.flatnonzero(held.any(axis=1)) if periods else np.array([], dtype=np.int64)
    days = np.cumsum(held[differing] * unit, axis=1)
    worth = np.array([units.money_of_output(everybody[worker]["mean"]) for worker in differing])
    spread = np.array([units.money(everybody[worker]["sd"]) for worker in differing])
    fees = _fees(site, [one for one in proposals if not _filled_first(one, kept)], periods)
    expected = worth @ days - fees
    sure = SURE * np.sqrt((spread**2) @ (days**2))
    return GainByPeriod(fees, expected, expected - sure, expected + sure)


def _held(site: Site, stints: Sequence[Stint], periods: int) -> FloatArray:
    """Give 1 for each worker and period in which they held a station."""
    held = np.zeros((len(site.workers), periods))
    for one in stints:
        held[one.worker, one.since - 1 : periods if one.until is None else one.until - 1] = 1.0
    return held


def _kept(stints: Sequence[Stint], proposals: Sequence[Proposal]) -> list[Stint]:
    """Give the stints of a first team that was kept: they end only where somebody left by themselves.

    Who moves to another station, as theirs is done away with, stays in the team.
    """
    replaced = [(one.leaver, one.settled_in) for one in proposals if one.leaver != NOBODY]
    begun = {(one.worker, one.since): one for one in stints}
    moved = {(one.worker, one.until) for one in stints} & begun.keys()
    kept: list[Stint] = []
    for _, own in groupby(sorted(stints, key=lambda one: (one.station, one.since)), key=lambda one: one.station):
        first = next(own)
        if (first.worker, first.since) in moved:
            continue
        last = first
        while last.until is not None and (last.worker, last.until) in moved:
            last = begun[last.worker, last.until]
        stayed = last.until is None or any(
            leaver == last.worker and last.since <= when <= last.until for leaver, when in replaced
        )
        kept.append(Stint(first.station, first.worker, first.since, None if stayed else last.until))
    return kept


def _filled_first(proposal: Proposal, kept: Sequence[Stint]) -> bool:
    """Say whether a hire brought somebody to a station that nobody had held before."""
    return proposal.status == STARTED and any(
        one.worker == proposal.into and proposal.settled_in <= one.since for one in kept
    )


def _fees(site: Site, proposals: Sequence[Proposal], periods: int) -> FloatArray:
    """Give the fees paid up to each period."""
    fees = np.zeros(periods)
    if not periods:
        return fees
    for one in proposals:
        if one.paid:
            fees[min(one.paid_in, periods) - 1] += one.fee
    fees[0] += site.interviews
    return np.cumsum(fees)
