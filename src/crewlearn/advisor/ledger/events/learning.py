"""What a site learns from rows of output: each worker's sums, and what their output was worth."""

from collections.abc import Iterable

from crewlearn.advisor.ledger.events.rows import RecordedRow
from crewlearn.advisor.ledger.site import Site
from crewlearn.beliefs.estimates import record

ObservedRow = tuple[RecordedRow, float | None]
"""A row with its observation, None if it gives none."""


def sum_again(site: Site, number: int, rows: Iterable[ObservedRow]) -> None:
    """Make a worker's sums from what they brought along and their rows, in order of period."""
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
    """Learn from a row's observation; return what the row was worth in money, at the value of a unit in its period.

    Where less is better, only observations are worth something: fewer errors on half a day are none.
    """
    units = site.config.units
    if value is not None:
        record(site.estimates, row.worker, value)
    if row.units is None or (value is None and units.lower_is_better):
        return 0.0
    return units.worth(row.units, row.hours) * site.value_in(row.period)
