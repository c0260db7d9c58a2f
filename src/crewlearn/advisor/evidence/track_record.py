"""A site's gain so far and its track record: of all changes by advice, how many did as predicted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crewlearn.advisor.evidence.gain import NO_GAIN, FairGain, Gain, GainByDay, Result, fair_gain
from crewlearn.advisor.evidence.levels import Learned
from crewlearn.advisor.evidence.site_record import Past, SiteWork, learned_of, work_of
from crewlearn.advisor.ledger.events.rows import RecordedRow
from crewlearn.advisor.ledger.site import Proposal, Site
from crewlearn.beliefs.posterior import TWO_SIDED_95
from crewlearn.language import noted
from crewlearn.problem.arrays import NOBODY

BETTER, AS_PREDICTED, WORSE = noted("better"), noted("as predicted"), noted("worse")


@dataclass(frozen=True)
class Outcome:
    """A change by advice: what it has brought so far, and what had been predicted for as many days.

    `predicted` is None where a vacancy was filled, as nothing was predicted against somebody at random. `even_in` is
    the period in which it broke even or is expected to; None if that is not to be expected, or further ahead than can
    be told.
    """

    proposal: Proposal
    gain: Gain
    paid: float
    days: int
    predicted: Gain | None
    even_in: int | None

    @property
    def verdict(self) -> str | None:
        """Whether it did better, as predicted or worse; None if nothing was predicted."""
        if self.predicted is None:
            return None
        if self.gain.expected > self.predicted.high:
            return BETTER
        return WORSE if self.gain.expected < self.predicted.low else AS_PREDICTED


@dataclass(frozen=True)
class TrackRecord:
    """The gain of all changes by advice against the same site without them, by change and by period.

    `by_period` has an entry for each period of the site's calendar so far. `paid` is the probability that the whole has
    paid, None if there was no change.
    """

    gain: Gain
    paid: float | None
    by_period: GainByDay
    outcomes: tuple[Outcome, ...]

    def count(self, verdict: str) -> int:
        """Return how many changes have a verdict."""
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

    @property
    def ahead(self) -> int:
        """How many changes have brought more than they cost, as far as is known now."""
        return sum(outcome.gain.expected > 0.0 for outcome in self.outcomes)


def track_record(site: Site, past: Past, rows: Sequence[RecordedRow], state: Any) -> TrackRecord:
    """Return a site's track record; `state` is that of its policy, `rows` are as `read_rows` returns them."""
    periods = len(site.config.calendar.periods_before(site.period))
    work = work_of(site, past, rows)
    if work is None or not work.record.advised:
        return _nothing_changed(site, past, periods)
    learned = learned_of(state, work.record)
    told = fair_gain(work.record, learned)
    proposals = {proposal.id: proposal for proposal in past.proposals}
    outcomes = tuple(_outcome(site, work, learned, proposals[result.change.number], result) for result in told.results)
    return TrackRecord(told.whole, told.paid, _by_period(site, work, told, periods), outcomes)


def _nothing_changed(site: Site, past: Past, periods: int) -> TrackRecord:
    """Return the track record of a site that advice has not changed; what it cost all the same is a loss."""
    calendar, fees = site.config.calendar, np.zeros(periods)
    for proposal in past.proposals:
        if proposal.paid and proposal.status != "started" and periods:
            fees[min(calendar.order_of(proposal.paid_in) - calendar.first_order, periods - 1)] += proposal.fee
    if periods:
        fees[0] += site.interviews
    fees = np.cumsum(fees)
    lost = -float(fees[-1]) if periods and fees[-1] else 0.0
    return TrackRecord(Gain(lost, lost, lost) if lost else NO_GAIN, None, GainByDay(fees, -fees, -fees, -fees), ())


def _by_period(site: Site, work: SiteWork, told: FairGain, periods: int) -> GainByDay:
    """Return the gain by period of the calendar: that of the last working day up to it."""
    first = site.config.calendar.first_order
    day = np.searchsorted(work.places, np.arange(first, first + periods), side="right") - 1
    spread = [
        np.where(day >= 0, series[np.maximum(day, 0)], 0.0)
        for series in (told.by_day.fees, told.by_day.expected, told.by_day.low, told.by_day.high)
    ]
    return GainByDay(*spread)


def _outcome(site: Site, work: SiteWork, learned: Learned, proposal: Proposal, result: Result) -> Outcome:
    predicted = None if result.change.out == NOBODY else _predicted(site, work, learned, proposal, result)
    even_in = None
    if result.even_on is not None:
        ahead = result.even_on - (len(work.places) - 1)
        place = work.places[result.even_on] if ahead <= 0 else work.places[-1] + ahead
        even_in = site.config.calendar.period_at(place)
    days = work.record.days - result.change.day
    return Outcome(proposal, result.gain, result.paid, days, predicted, even_in)


def _predicted(site: Site, work: SiteWork, learned: Learned, proposal: Proposal, result: Result) -> Gain:
    """Return what the reasons at the time came to over the days so far, less the fee and what ramp-up costs."""
    why, days = proposal.why, work.record.days - result.change.day
    units = site.units_of(proposal.id)
    lost = 0.0
    if why.into.after_ramp_up:
        worked = (why.into.days + why.into.prior) + np.arange(days, dtype=np.float64)
        lost = math.fsum(ramp.weight * ramp.depth * float(ramp.lacking(worked).sum()) for ramp in learned.ramps)
    worth = units.money_of_one / units.value_per_unit * why.value_per_unit
    expected = worth * (days * (why.into.mean - why.out.mean) - lost * why.into.mean) - result.change.fee
    noise = learned.noise * 2.0 * days
    reach = TWO_SIDED_95 * worth * float(np.sqrt(days * days * (why.into.sd**2 + why.out.sd**2) + noise))
    return Gain(expected, expected - reach, expected + reach)
