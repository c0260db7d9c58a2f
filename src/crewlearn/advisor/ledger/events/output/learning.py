"""Learning from rows of output: each worker's sums, and the money value of their output."""

from collections.abc import Iterable, Sequence

from crewlearn.advisor.ledger.events.rows import RecordedRow
from crewlearn.advisor.ledger.site import Site
from crewlearn.beliefs.estimates import record

ObservedRow = tuple[RecordedRow, float | None]
"""A row with its observation, or None if it has none."""


def in_order(site: Site, rows: Sequence[RecordedRow]) -> Sequence[RecordedRow]:
    """Return rows, which are sorted by the numbers of their periods, in order of time."""
    calendar = site.config.calendar
    return sorted(rows, key=lambda row: calendar.order_of(row.period)) if calendar.opened else rows


def sum_again(site: Site, number: int, rows: Iterable[ObservedRow]) -> None:
    """Recompute a worker's sums from their earlier observations and their rows, in order of time."""
    worker = site.workers[number]
    site.estimates.counts[number] = worker.prior_n
    site.estimates.sums[number] = site.estimates.squares[number] = worker.prior_n * worker.prior_mean
    site.set_worker(number, earned=0.0)
    add_rows(site, number, rows)


def add_rows(site: Site, number: int, rows: Iterable[ObservedRow]) -> None:
    """Add a worker's rows, each with its observation, to their sums."""
    earned = site.workers[number].earned
    for row, value in rows:
        earned += _learn(site, row, value)
    site.set_worker(number, earned=earned)


def _learn(site: Site, row: RecordedRow, value: float | None) -> float:
    """Learn from a row's observation; return the row's money value, by the units and their value in its period.

    Where less is better, only observations count: fewer errors on half a day are no saving.
    """
    units = site.units_in(row.period)
    if value is not None:
        record(site.estimates, row.worker, value)
    if row.units is None or (value is None and units.lower_is_better):
        return 0.0
    return units.worth(row.units, row.hours) * site.value_in(row.period)
