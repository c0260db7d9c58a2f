"""Estimated gain of the replacements made so far over keeping the first team, net of fees."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import sqlalchemy as sa

from crewlearn.advisor.advice.facts import SURE
from crewlearn.advisor.advice.reasons import estimates_of
from crewlearn.advisor.ledger.queries import read_proposals
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.site import FAILURES, STARTED, UNDER_WAY, Proposal, Site
from crewlearn.advisor.ledger.team.stints import Stint, read_stints
from crewlearn.problem.arrays import FloatArray

Estimated = Sequence[Mapping[str, float]]
"""Everybody's estimates, as `estimates_of` returns them."""


@dataclass(frozen=True)
class Gain:
    """Money gained over keeping the first team, net of fees, with the ends of a 95% interval."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class GainByPeriod:
    """Cumulative money by recorded period: fees paid, gain net of fees, and its 95% interval."""

    fees: FloatArray
    expected: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Past:
    """The data behind the gain: who held which station when, and the proposals that were acted on."""

    stints: tuple[Stint, ...]
    proposals: tuple[Proposal, ...]


def read_past(connection: sa.Connection, key: int) -> Past:
    """Read the data behind a site's gain."""
    acted_on = read_proposals(connection, key, statuses=(STARTED, *UNDER_WAY, *FAILURES))
    return Past(tuple(read_stints(connection, key)), tuple(acted_on))


def gain_over_first_team(
    site: Site, stints: Sequence[Stint], proposals: Sequence[Proposal], everybody: Estimated | None = None
) -> Gain:
    """Estimate the gain of all replacements so far; `everybody` are the estimates, if the caller has them."""
    series = gain_by_period(site, stints, proposals, everybody)
    if not len(series.expected):
        return Gain(0.0, 0.0, 0.0)
    return Gain(float(series.expected[-1]), float(series.low[-1]), float(series.high[-1]))


def gain_by_period(
    site: Site, stints: Sequence[Stint], proposals: Sequence[Proposal], everybody: Estimated | None = None
) -> GainByPeriod:
    """Estimate the gain of the replacements period by period, from everybody's current estimates.

    The first team is the first holder of each station, up to now or until they quit, and whoever took a station outside
    advice; hiring them is not a cost of replacing. Everybody is assumed present. A fee counts from the period it fell
    due in, interview costs from the first period.
    """
    calendar = site.config.calendar
    numbers = calendar.periods_before(site.period)
    periods = len(numbers)
    if everybody is None:
        everybody, _ = estimates_of(site)
    units = site.config.units
    unit = np.array([site.value_in(period) for period in numbers]) / units.value_per_unit
    kept = _kept(stints, proposals, calendar.order_of)
    differing, held = _held_otherwise(stints, kept, calendar, periods)
    days = np.cumsum(held * unit, axis=1)
    worth = np.array([units.money_of_output(everybody[worker]["mean"]) for worker in differing])
    spread = np.array([units.money(everybody[worker]["sd"]) for worker in differing])
    fees = _fees(
        site, [proposal for proposal in proposals if not _filled_first(proposal, kept, calendar.order_of)], periods
    )
    expected = _weighted(worth, days) - fees
    sure = SURE * np.sqrt(_weighted(spread**2, days**2))
    return GainByPeriod(fees, expected, expected - sure, expected + sure)


def _weighted(weights: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the weighted sum of the rows, added in order: a matrix product's last digits differ between machines."""
    total = np.zeros(rows.shape[1])
    for weight, row in zip(weights, rows, strict=True):
        total += weight * row
    return total


def _held_otherwise(
    stints: Sequence[Stint], kept: Sequence[Stint], calendar: WorkCalendar, periods: int
) -> tuple[list[int], FloatArray]:
    """Return the workers whose days differ between the two histories, and each day's difference (1 or -1)."""
    ours, theirs = ({(stint.worker, stint.since, stint.until) for stint in several} for several in (stints, kept))
    workers = sorted({worker for worker, _, _ in ours ^ theirs})
    rows = {worker: row for row, worker in enumerate(workers)}
    held = np.zeros((len(workers), periods))
    first = calendar.first_order
    for several, sign in ((ours - theirs, 1.0), (theirs - ours, -1.0)):
        for worker, since, until in several:
            end = periods if until is None else calendar.order_of(until) - first
            held[rows[worker], calendar.order_of(since) - first : end] += sign
    return workers, held


def _kept(stints: Sequence[Stint], proposals: Sequence[Proposal], order_of: Callable[[int], int]) -> list[Stint]:
    """Return the stints as if no proposal had been followed: whom one replaced stays until the team changes otherwise.

    A worker who moved because their station was abolished stays in the team.
    """
    started = [proposal for proposal in proposals if proposal.status == STARTED]
    begun = {(stint.worker, stint.since): stint for stint in stints}
    moved = {(stint.worker, stint.until) for stint in stints} & begun.keys()
    advised = _advised(stints, started, order_of)
    kept: list[Stint] = []
    for _, own in groupby(
        sorted(stints, key=lambda stint: (stint.station, order_of(stint.since))), key=lambda stint: stint.station
    ):
        for among, stint in enumerate(own):
            if (stint.worker, stint.since) in moved or (among and (stint.worker, stint.since) in advised):
                continue
            if among and kept and kept[-1].station == stint.station and _is_open(kept[-1], stint, order_of):
                kept[-1] = replace(kept[-1], until=stint.since)
            last = stint
            while last.until is not None and (last.worker, last.until) in moved:
                last = begun[last.worker, last.until]
            stayed = last.until is None or any(
                proposal.leaver == last.worker
                and order_of(last.since) <= order_of(proposal.settled_in) <= order_of(last.until)
                for proposal in started
            )
            kept.append(Stint(stint.station, stint.worker, stint.since, None if stayed else last.until))
    return kept


def _is_open(stint: Stint, later: Stint, order_of: Callable[[int], int]) -> bool:
    return stint.until is None or order_of(stint.until) > order_of(later.since)


def _advised(
    stints: Sequence[Stint], started: Sequence[Proposal], order_of: Callable[[int], int]
) -> set[tuple[int, int]]:
    """Return the workers and first periods of the stints that began with a proposal."""
    begun: dict[int, list[int]] = {}
    for stint in sorted(stints, key=lambda stint: order_of(stint.since)):
        begun.setdefault(stint.worker, []).append(stint.since)
    return {
        (proposal.into, since)
        for proposal in started
        for since in [
            since for since in begun.get(proposal.into, ()) if order_of(since) >= order_of(proposal.settled_in)
        ][:1]
    }


def _filled_first(proposal: Proposal, kept: Sequence[Stint], order_of: Callable[[int], int]) -> bool:
    """Return whether a hire filled a station that had never been held."""
    return proposal.status == STARTED and any(
        stint.worker == proposal.into and order_of(proposal.settled_in) <= order_of(stint.since) for stint in kept
    )


def _fees(site: Site, proposals: Sequence[Proposal], periods: int) -> FloatArray:
    """Return the fees paid up to each period."""
    fees = np.zeros(periods)
    if not periods:
        return fees
    calendar = site.config.calendar
    for proposal in proposals:
        if proposal.paid:
            place = calendar.order_of(proposal.paid_in) - calendar.first_order
            fees[min(place, periods - 1)] += proposal.fee
    fees[0] += site.interviews
    return np.cumsum(fees)
