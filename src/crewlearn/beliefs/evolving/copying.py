"""Copies of what was learned, to go on from it in another run."""

from crewlearn.beliefs.evolving.model import (
    LAST_DAY,
    NEVER,
    Anchors,
    Crowd,
    Days,
    Evolving,
    Filters,
    History,
    People,
    Pool,
)
from crewlearn.beliefs.evolving.packing import with_room
from crewlearn.problem.arrays import IntArray


def moved_back(learned: Evolving, periods: int, workers: int) -> Evolving:
    """Return a copy with the first period after `periods` as period 1, and with room for all of `workers` to work.

    What is learned from later days is the same, whatever the number of the first period.
    """
    moved = with_room(learned, workers, workers)
    for numbers in (moved.people.last_seen, moved.anchors.periods, moved.history.period, moved.days.periods):
        _move(numbers, periods)
    moved.counts[LAST_DAY] -= periods
    return moved


def _move(numbers: IntArray, periods: int) -> None:
    numbers[numbers != NEVER] -= periods


def copied(learned: Evolving) -> Evolving:
    """Return a copy, array by array, as compiled code can make it."""
    people = learned.people
    filters = learned.filters
    anchors = learned.anchors
    pool = learned.pool
    crowd = learned.crowd
    history = learned.history
    days = learned.days
    return Evolving(
        learned.numbers.copy(),
        learned.counts.copy(),
        People(
            people.slot.copy(),
            people.days.copy(),
            people.first_days.copy(),
            people.last_seen.copy(),
            people.last_output.copy(),
            people.last_doubt.copy(),
            people.alike.copy(),
            people.means.copy(),
            people.variances.copy(),
            people.drift.copy(),
            people.prior_counts.copy(),
            people.prior_sums.copy(),
        ),
        Filters(
            filters.stiffness.copy(),
            filters.pull.copy(),
            filters.fit.copy(),
            filters.slope.copy(),
            filters.base.copy(),
            filters.spread.copy(),
            filters.own_slope.copy(),
            filters.own_base.copy(),
            filters.own_spread.copy(),
            filters.shared.copy(),
        ),
        Anchors(
            anchors.periods.copy(),
            anchors.means.copy(),
        ),
        Pool(
            pool.weights.copy(),
            pool.centre.copy(),
            pool.doubt.copy(),
            pool.between.copy(),
            pool.tail.copy(),
            pool.centres.copy(),
            pool.depths.copy(),
            pool.ramp_days.copy(),
            pool.priors.copy(),
            pool.fading.copy(),
            pool.scales.copy(),
            pool.tails.copy(),
            pool.live.copy(),
            pool.share.copy(),
            pool.log_shares.copy(),
        ),
        Crowd(
            crowd.centres.copy(),
            crowd.precision.copy(),
            crowd.weighted.copy(),
            crowd.evidence.copy(),
        ),
        History(
            history.worker.copy(),
            history.output.copy(),
            history.period.copy(),
        ),
        Days(
            days.periods.copy(),
            days.effects.copy(),
            days.doubts.copy(),
            days.unusual.copy(),
        ),
        learned.scratch.copy(),
    )
