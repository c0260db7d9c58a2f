"""Checkpoints of what a policy that learns by day has learned: which are kept, and their form in a site's state."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Checkpoint(NamedTuple):
    """What was learned up to a period: the digest of the state, and the number of the advice that recorded it.

    Every row of a later period was recorded by a later event.
    """

    period: int
    event: int
    digest: str


def thinned(checkpoints: Sequence[Checkpoint], order_of: Callable[[int], int] = int) -> list[Checkpoint]:
    """Return the checkpoints to keep, oldest first: many of late and few of long ago, so that their number stays small.

    `order_of` returns a period's place in time.
    After a change of an earlier day, at most about as many periods are learned again as have passed since.

    >>> kept = []
    >>> for period in range(1, 101):
    ...     kept = thinned([*kept, Checkpoint(period, period, "")])
    >>> [checkpoint.period for checkpoint in kept]
    [1, 33, 65, 81, 89, 93, 97, 99, 100]
    """
    if not checkpoints:
        return []
    places = [order_of(checkpoint.period) for checkpoint in checkpoints]
    last, kept, oldest = places[-1], [checkpoints[-1]], places[-1]
    for index in range(len(checkpoints) - 2, -1, -1):
        older_age = last - places[index - 1] if index else None
        if older_age is None or older_age + 1 > 2 * (last - oldest + 1):
            kept.append(checkpoints[index])
            oldest = places[index]
    return kept[::-1]
