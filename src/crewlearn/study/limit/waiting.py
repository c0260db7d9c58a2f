"""How long an entry or a departure takes: expected values ahead, and flows of people who wait."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.laws.delay import FIXED_DELAY, GEOMETRIC_DELAY, OWN_DELAY
from crewlearn.problem.model import Problem


@dataclass(frozen=True)
class Waiting:
    """A delay law: geometric from `low` on with chance `success` a period, or uniform from `low` to `high`.

    `success` is None for the uniform law, else an array with one entry for each column.
    """

    low: int
    high: int
    success: FloatArray | None = None

    @property
    def is_common(self) -> bool:
        """Whether everybody has the same law."""
        return self.success is None or bool(np.ptp(self.success) == 0.0)

    def expect(self, values: FloatArray, later: FloatArray, period: int) -> FloatArray:
        """Return E[values[period + D]], given `later`, the same of the next period.

        The last entry of `values` stands for all periods from the end on.
        """
        last = len(values) - 1
        soonest = values[min(period + self.low, last)]
        if self.success is not None:
            geometric: FloatArray = self.success * soonest + (1.0 - self.success) * later
            return geometric
        dropped = values[min(period + self.high + 1, last)]
        uniform: FloatArray = later + (soonest - dropped) / (self.high + 1 - self.low)
        return uniform


class Flow:
    """People who wait, as masses: each period takes those who begin and returns those whose wait is over."""

    def __init__(self, waiting: Waiting, shape: tuple[int, ...]) -> None:
        self.waiting = waiting
        nobody = np.zeros(shape)
        self._under_way = nobody
        self._held = deque([nobody] * waiting.low)
        self._window = deque([nobody] * (waiting.high + 1 - waiting.low)) if waiting.success is None else deque()

    def step(self, begin: FloatArray) -> FloatArray:
        """Return the mass of those who are through in this period."""
        self._held.append(begin)
        ready = self._held.popleft()
        if self.waiting.success is None:
            self._window.append(ready)
            self._under_way = self._under_way + ready - self._window.popleft()
            return self._under_way / len(self._window)
        self._under_way = self._under_way + ready
        through = self.waiting.success * self._under_way
        self._under_way = self._under_way - through
        return through


def waiting_of(problem: Problem) -> Waiting:
    """Return a problem's delays; a law of a user's own counts as no delay, which no policy could do worse under."""
    form = problem.delay.form(problem.workers.count)
    if form.code == OWN_DELAY:
        return Waiting(0, 0)
    if form.code == GEOMETRIC_DELAY:
        return Waiting(form.low, form.low, form.success)
    return Waiting(form.low, form.low if form.code == FIXED_DELAY else form.high)
