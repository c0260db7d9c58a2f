"""A record as arrays: who held which station on which working day, what was put out, and which changes were advised.

Live sites and simulated worlds are put into this form, so that both are judged by the same functions. Days are numbered
from 0 over the days on which anybody worked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray


@dataclass(frozen=True)
class Advised:
    """A change that advice made: from `day` on, `into` held `station` in place of `out`.

    `out` is -1 if the station was vacant. The fee, in money, fell due on `fee_day`.
    """

    number: int
    station: int
    day: int
    out: int
    into: int
    fee: float
    fee_day: int


@dataclass(frozen=True)
class Spent:
    """Money that fell due on a day without a change so far: offers that failed or are under way, and interviews."""

    day: int
    fee: float


@dataclass(frozen=True)
class WorkRecord:
    """A site's record.

    - `holders[station, day]` is the worker, -1 for nobody.
    - `worker`, `day` and `output` are rows of output in [0, 1], by day.
    - `earned[station, day]` is the money value of the output at a station. A unit of output of a holder who is present
      is worth `worth[station, day]`, beyond `offset[station, day]` for being there.
    - `experience` are the days that each worker had worked before the record.
    - `outsiders` are the workers who could fill a vacancy without advice.
    - `advised` are the changes by advice, oldest first, `spent` is what else it cost.
    - `quits` is how many left unasked, `delays` are the days that hires took, `fee` is what filling a vacancy costs.
    - `offers` is how many offers came to an end, `declined` how many of these to nothing.
    - `fee_due_at_start` says whether an offer that is declined costs nothing.
    - `exposure` is in how many days worked people quit; 0 if the rows are all there are.
    """

    holders: IntArray
    worker: IntArray
    day: IntArray
    output: FloatArray
    earned: FloatArray
    worth: FloatArray
    offset: FloatArray
    experience: IntArray
    outsiders: IntArray
    advised: tuple[Advised, ...]
    spent: tuple[Spent, ...]
    quits: int
    delays: tuple[int, ...]
    fee: float
    offers: int = 0
    declined: int = 0
    fee_due_at_start: bool = False
    exposure: int = 0

    @property
    def days(self) -> int:
        """The number of working days."""
        return int(self.holders.shape[1])


def outsiders_of(advised: Sequence[Advised], idle: Iterable[int]) -> IntArray:
    """Return who could fill a vacancy without advice, given who is idle now.

    Whoever advice let go would be at a station. Whoever it brought in would not, even if they have left since: those
    who come by advice are better than most, and without those of them who quit the pool would look worse than it was.
    """
    came, let_go = set[int](), {NOBODY}
    for change in advised:
        if change.out not in came:
            let_go.add(change.out)
        if change.into not in let_go:
            came.add(change.into)
    return np.array(sorted(came | (set(idle) - let_go)), dtype=np.int64)
