"""The gain of the replacements made so far: recorded output against the same site without them.

At each station the changes that advice made are undone one by one, the latest first. What a change has brought is the
difference between the course with all changes up to it and the course with all before it. So the results of single
changes add up to the whole, in every draw.
"""

from dataclasses import dataclass

import numpy as np

from crewlearn.advisor.evidence.chances import Stream, key_of
from crewlearn.advisor.evidence.comparison import Comparison, absence_of, shared_draws
from crewlearn.advisor.evidence.levels import Learned, infer
from crewlearn.advisor.evidence.record import Advised, WorkRecord
from crewlearn.problem.arrays import NOBODY, FloatArray

DRAWS, LEAST_DRAWS = 1000, 200
"""The most and the fewest draws; large records take fewer."""

ROOM = 60_000_000
"""About how many numbers all draws together may take."""

LOW, HIGH = 0.025, 0.975
"""The ends of an interval, as shares of the draws."""


@dataclass(frozen=True)
class Gain:
    """Money gained, net of fees, with the ends of a 95% interval."""

    expected: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: FloatArray) -> "Gain":
        """Return mean and interval of draws, to six digits: those after them differ between machines."""
        low, high = np.quantile(draws, (LOW, HIGH))
        return cls(*(float(f"{number:.6g}") for number in (draws.mean(), low, high)))


NO_GAIN = Gain(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Result:
    """What a change by advice has brought so far, net of its fee.

    `paid` is the probability that it has paid. `even_on` is the first day from which on it is expected to have paid, on
    the record or, at the pace of its days so far, beyond it; None if it is not to be expected.
    """

    change: Advised
    gain: Gain
    paid: float
    days: int
    even_on: int | None


@dataclass(frozen=True)
class GainByDay:
    """Cumulative money by working day: fees paid, gain net of fees, and its 95% interval."""

    fees: FloatArray
    expected: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class FairGain:
    """The gain of all changes, by day and by change, and the probability that the whole has paid."""

    whole: Gain
    paid: float
    by_day: GainByDay
    results: tuple[Result, ...]


def fair_gain(record: WorkRecord, learned: Learned) -> FairGain:
    """Return what the changes by advice have brought."""
    draws = max(LEAST_DRAWS, min(DRAWS, ROOM // max(1, len(record.advised) * record.days)))
    key = key_of(record.holders, record.output, [change.day for change in record.advised])
    levels = infer(record, learned)
    shared = shared_draws(record, levels, draws, Stream(key))
    comparison = Comparison(record, levels, shared, absence_of(record), key)
    total = np.zeros((draws, record.days))
    results = []
    for chain in chains_of(record):
        for change, drawn in _chain_draws(record, comparison, chain):
            total[:, drawn.first :] += drawn.daily
            results.append(_result(change, drawn))
    fees = np.zeros(record.days)
    for change in record.advised:
        fees[change.fee_day] += change.fee
    for spent in record.spent:
        fees[spent.day] += spent.fee
        total[:, spent.day] -= spent.fee
    up_to = np.cumsum(total, axis=1)
    low, high = np.quantile(up_to, (LOW, HIGH), axis=0)
    by_day = GainByDay(np.cumsum(fees), up_to.mean(axis=0), low, high)
    results.sort(key=lambda result: result.change.number)
    return FairGain(Gain.of(up_to[:, -1]), chance_of(up_to[:, -1]), by_day, tuple(results))


@dataclass(frozen=True)
class Chain:
    """Changes by advice at a station, one after another, up to before day `end`, from which on all courses agree."""

    changes: tuple[Advised, ...]
    end: int


def chains_of(record: WorkRecord) -> list[Chain]:
    """Return the changes by advice that build on each other.

    Where a station changed hands outside advice, that change is made in the comparison too, and a new chain begins.
    Somebody who fills a place that was left empty is no such change: in the comparison the place may not be empty.
    """
    chains = []
    for station in range(record.holders.shape[0]):
        own = sorted((change for change in record.advised if change.station == station), key=lambda one: one.day)
        if not own:
            continue
        by_advice, row = {change.day for change in own}, record.holders[station]
        outside = [
            day
            for day in range(1, record.days)
            if row[day] != row[day - 1] and NOBODY not in (row[day], row[day - 1]) and day not in by_advice
        ]
        ends = [*(day for day in outside if day > own[0].day), record.days]
        first = 0
        for end in ends:
            changes = tuple(change for change in own if first <= change.day < end)
            if changes:
                chains.append(Chain(changes, end))
            first = end
    return chains


@dataclass(frozen=True)
class Drawn:
    """The daily money of a change by draw, from its first day or that of its fee to the last."""

    first: int
    daily: FloatArray


def _chain_draws(record: WorkRecord, comparison: Comparison, chain: Chain) -> list[tuple[Advised, Drawn]]:
    """Draw what each change of a chain has brought, day by day."""
    courses, begins = [], []
    for change in chain.changes:
        begun = begins_to_differ(record, change)
        begins.append(begun)
        if change.out == NOBODY:
            course = comparison.filled(change.station, begun, chain.end, change.number)
        else:
            course = comparison.kept(change.station, change.out, begun, chain.end, change.number)
        courses.append(course)
    drawn = []
    for place, change in enumerate(chain.changes):
        first = min(begins[place], change.fee_day)
        daily = np.zeros((comparison.shared.draws, record.days - first))
        begin, end = begins[place] - first, chain.end - first
        after = begins[place + 1] - first if place + 1 < len(chain.changes) else end
        daily[:, begin:after] += record.earned[change.station, begins[place] : first + after]
        if after < end:
            later = courses[place + 1]
            daily[:, after:end] += later.money - later.fees
        daily[:, begin:end] -= courses[place].money - courses[place].fees
        daily[:, change.fee_day - first] -= change.fee
        drawn.append((change, Drawn(first, daily)))
    return drawn


def begins_to_differ(record: WorkRecord, change: Advised) -> int:
    """Return the day from which on a change makes a difference: that from which on the place was vacant, if it was."""
    first, row = change.day, record.holders[change.station]
    while change.out == NOBODY and first > 0 and row[first - 1] == NOBODY:
        first -= 1
    return first


def chance_of(draws: FloatArray) -> float:
    """Return the probability that something is positive; never 0 or 1, as there are only so many draws."""
    return float(((draws > 0.0).sum() + 0.5) / (len(draws) + 1.0))


def _result(change: Advised, drawn: Drawn) -> Result:
    up_to = np.cumsum(drawn.daily, axis=1)
    last, expected = up_to[:, -1], up_to.mean(axis=0)
    return Result(change, Gain.of(last), chance_of(last), drawn.daily.shape[1], _even_on(drawn.first, expected, change))


LEAST_PACE_DAYS = 5
"""From fewer days than these, no day of breaking even is expected."""

MOST_AHEAD = 1000
"""A day of breaking even further ahead than this is not named."""


def _even_on(first: int, expected: FloatArray, change: Advised) -> int | None:
    """Return from which day on the expected result is positive, or is to be expected to be."""
    if expected[-1] > 0.0:
        negative = np.flatnonzero(expected <= 0.0)
        return first + (int(negative[-1]) + 1 if len(negative) else 0)
    begun = change.day - first
    worked = len(expected) - begun
    recent = max(LEAST_PACE_DAYS, worked // 2)
    if worked < 2 * LEAST_PACE_DAYS:
        return None
    pace = float(expected[-1] - expected[-1 - recent]) / recent
    if pace <= 0.0 or -expected[-1] > pace * MOST_AHEAD:
        return None
    return first + len(expected) - 1 + int(np.ceil(-expected[-1] / pace))
