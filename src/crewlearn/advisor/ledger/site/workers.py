"""A worker in the record, and where they stand."""

from dataclasses import dataclass

POOL, BLOCKED, LEFT = "pool", "blocked", "left"
"""A worker's status: available, not to be hired, or gone."""

STATUSES = (POOL, BLOCKED, LEFT)


@dataclass(frozen=True)
class Worker:
    """A worker in the record, which holds no names.

    `since` is the period they took their station in, or 0 for none, as in other periods here. `barred_until` is the
    period before which they are not proposed again. `recorded_to` is their last period with a row, `earned` the money
    value of all their output. `prior_mean` is in the policy's units; `prior_given` is the mean as given, before
    clipping.
    """

    status: str = POOL
    pinned: bool = False
    fee: float | None = None
    prior_n: int = 0
    prior_mean: float = 0.0
    interview: float | None = None
    since: int = 0
    barred_until: int = 0
    recorded_to: int = 0
    earned: float = 0.0
    prior_given: float | None = None
