"""The arrays that hold what was learned, and how long they are."""

import numpy as np

from crewlearn.beliefs.evolving.filters import SUMMARY
from crewlearn.beliefs.evolving.model import (
    ANCHORS,
    CLASSES,
    COUNTS,
    DAYS_KEPT,
    FADED,
    NEVER,
    NUMBERS,
    POOLS,
    RAMPS,
    UNSEEN,
    Anchors,
    Crowd,
    Days,
    Evolving,
    Filters,
    History,
    People,
    Pool,
)

REPLAY_DAYS, LEAST_REPLAY_DAYS, REPLAY_ROWS = 64, 4, 3200
"""How many days' output is kept to be learned from again, each with as many rows as there are stations.

Large teams show the noise sooner, so fewer days are enough: those that fit into REPLAY_ROWS, but not fewer than
LEAST_REPLAY_DAYS.
"""

VIEW = 3
"""Numbers a person has in the view of a day: expected output, its weight, and the weighted difference to it."""


def rows_kept(team: int) -> int:
    """Return how many rows are kept to be learned from again.

    >>> rows_kept(14), rows_kept(100), rows_kept(5000)
    (896, 3200, 20000)
    """
    return max(LEAST_REPLAY_DAYS * team, min(REPLAY_DAYS * team, REPLAY_ROWS))


def empty_evolving(workers: int, rows: int, capacity: int) -> Evolving:
    """Allocate the arrays: for so many workers, rows to learn from again, and people who work here."""
    filters = capacity * RAMPS * CLASSES
    return Evolving(
        np.zeros(NUMBERS, dtype=np.float64),
        np.zeros(COUNTS, dtype=np.int64),
        People(
            np.full(workers, UNSEEN, dtype=np.int64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.int64),
            np.full(workers, NEVER, dtype=np.int64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.float64),
            np.zeros(workers, dtype=np.int64),
            np.zeros(workers, dtype=np.float64),
        ),
        Filters(
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
            np.zeros(filters, dtype=np.float64),
        ),
        Anchors(np.full(capacity * ANCHORS, NEVER, dtype=np.int64), np.zeros(capacity * ANCHORS, dtype=np.float64)),
        Pool(
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS * POOLS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.float64),
            np.zeros(RAMPS * FADED, dtype=np.float64),
            np.zeros(POOLS, dtype=np.float64),
            np.zeros(POOLS, dtype=np.float64),
            np.zeros(RAMPS, dtype=np.int64),
            np.zeros(FADED, dtype=np.float64),
            np.zeros(CLASSES, dtype=np.float64),
        ),
        Crowd(
            np.zeros(POOLS, dtype=np.float64),
            np.zeros(POOLS, dtype=np.float64),
            np.zeros(POOLS, dtype=np.float64),
            np.zeros(POOLS, dtype=np.float64),
        ),
        History(
            np.zeros(rows, dtype=np.int64),
            np.zeros(rows, dtype=np.float64),
            np.zeros(rows, dtype=np.int64),
        ),
        Days(
            np.zeros(DAYS_KEPT, dtype=np.int64),
            np.zeros(DAYS_KEPT, dtype=np.float64),
            np.zeros(DAYS_KEPT, dtype=np.float64),
            np.zeros(DAYS_KEPT, dtype=np.int64),
        ),
        np.zeros(scratch_size(capacity), dtype=np.float64),
    )


def scratch_size(capacity: int) -> int:
    """Return the length of the scratch: a summary for everybody seen, or a view of the day."""
    return max(SUMMARY, VIEW) * (capacity + 1)
