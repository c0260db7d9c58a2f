"""Delay laws: how many periods pass from asking for a replacement to its start."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import mix, unit
from crewlearn.problem.errors import InvalidInput, real, whole
from crewlearn.problem.laws.own import NO_NUMBERS, Draw, numbers_of, own_draw

FIXED_DELAY, GEOMETRIC_DELAY, UNIFORM_DELAY, OWN_DELAY = range(4)

LONGEST = 10**6
"""Upper limit on a law's delay or mean delay, in periods."""


class DelayForm(NamedTuple):
    """A delay law as rule functions take it: code, least and greatest delay, success chance of each incoming worker.

    `own` are the numbers of a law of a user's own.
    """

    code: int
    low: int
    high: int
    success: FloatArray
    own: Any = NO_NUMBERS


@dataclass(frozen=True)
class DelayLaw(ABC):
    """How long a replacement takes from request to start.

    A law of your own is a frozen dataclass derived from this, with a `law` (its name), `mean_delay`, and a static
    method `draw(numbers, out, into, key)` that returns whole periods from 0 on. `numbers` are the law's numeric fields
    as a named tuple, `out` and `into` the pair of workers, and all chance comes from `key` (see `problem.chance`).
    """

    law: ClassVar[str]

    @property
    @abstractmethod
    def mean_delay(self) -> float:
        """Mean periods from request to start."""

    def form(self, workers: int) -> DelayForm:
        """Return the law's code and numbers."""
        draw = self.own_draw()
        if draw is None:
            return self._form(workers)
        return DelayForm(OWN_DELAY, 0, 0, np.ones(workers), numbers_of(self, draw))

    def _form(self, workers: int) -> DelayForm:
        """Return the code and numbers of a built-in law."""
        raise NotImplementedError

    def own_draw(self) -> Draw | None:
        """Return the function by which a law of a user's own draws, or None for a built-in law."""
        return own_draw(self, DELAY_LAWS, "draw")


@dataclass(frozen=True)
class NoDelay(DelayLaw):
    """A hire starts in the period it is initiated, before output."""

    law: ClassVar[str] = "none"

    @property
    def mean_delay(self) -> float:
        """Mean periods from initiation to start."""
        return 0.0

    def _form(self, workers: int) -> DelayForm:
        return DelayForm(FIXED_DELAY, 0, 0, np.ones(workers))


@dataclass(frozen=True)
class FixedDelay(DelayLaw):
    """Always the same number of periods."""

    periods: int
    law: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        whole("[delay] periods", self.periods, 0, LONGEST)

    @property
    def mean_delay(self) -> float:
        """Mean periods from initiation to start."""
        return float(self.periods)

    def _form(self, workers: int) -> DelayForm:
        return DelayForm(FIXED_DELAY, self.periods, self.periods, np.ones(workers))


@dataclass(frozen=True)
class GeometricDelay(DelayLaw):
    """Geometric with the given mean, counted from `first` (0: failures before a success; 1: trials up to it)."""

    mean: float
    first: int = 0
    law: ClassVar[str] = "geometric"

    def __post_init__(self) -> None:
        whole("[delay] first", self.first, 0, 1)
        real("[delay] mean", self.mean, 0.0, LONGEST)
        if self.mean < self.first:
            raise InvalidInput(
                "[delay] mean",
                self.mean,
                "a geometric delay that counts from first = 1 has a mean >= 1; raise it or set first = 0",
            )

    @property
    def mean_delay(self) -> float:
        """Mean periods from initiation to start."""
        return float(self.mean)

    def _form(self, workers: int) -> DelayForm:
        success = 1.0 / (1.0 + self.mean - self.first)
        return DelayForm(GEOMETRIC_DELAY, self.first, self.first, np.full(workers, success))


@dataclass(frozen=True)
class AvailabilityDelay(DelayLaw):
    """In each later period the incoming worker is free with probability p, common to all or one per worker."""

    p: float | tuple[float, ...]
    law: ClassVar[str] = "availability"

    def __post_init__(self) -> None:
        if isinstance(self.p, Iterable):  # a list, as TOML gives it
            object.__setattr__(self, "p", tuple(self.p))
        for index, chance in enumerate(self._chances()):
            name = f"[delay] p[{index}]" if isinstance(self.p, tuple) else "[delay] p"
            real(name, chance, 1.0 / LONGEST, 1.0)
        if not self._chances():
            raise InvalidInput("[delay] p", self.p, "must be one probability or one for each worker")

    def _chances(self) -> tuple[float, ...]:
        return self.p if isinstance(self.p, tuple) else (self.p,)

    @property
    def mean_delay(self) -> float:
        """Mean delay of the least available worker: the bound that the paper calls omega-bar."""
        return max(1.0 / chance for chance in self._chances())

    def _form(self, workers: int) -> DelayForm:
        if isinstance(self.p, tuple) and len(self.p) != workers:
            raise InvalidInput(
                "[delay] p",
                list(self.p),
                f"must be one probability or a list of {workers}, one for each worker",
            )
        return DelayForm(GEOMETRIC_DELAY, 1, 1, np.broadcast_to(np.array(self.p, dtype=np.float64), (workers,)).copy())


@dataclass(frozen=True)
class UniformDelay(DelayLaw):
    """Any whole number of periods from low to high, all equally likely."""

    low: int
    high: int
    law: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        whole("[delay] low", self.low, 0)
        whole("[delay] high", self.high, self.low, LONGEST)

    @property
    def mean_delay(self) -> float:
        """Mean periods from initiation to start."""
        return (self.low + self.high) / 2.0

    def _form(self, workers: int) -> DelayForm:
        return DelayForm(UNIFORM_DELAY, self.low, self.high, np.ones(workers))


DELAY_LAWS: tuple[type[DelayLaw], ...] = (
    NoDelay,
    FixedDelay,
    GeometricDelay,
    AvailabilityDelay,
    UniformDelay,
)


def draw_delay(code: int, low: int, high: int, success: float, key: int) -> int:
    """Draw a delay from the key of its period and pair; `success` is the incoming worker's chance per period."""
    if code == FIXED_DELAY or (code == GEOMETRIC_DELAY and success >= 1.0):
        return low
    if code == GEOMETRIC_DELAY:
        return low + int(math.log(unit(key)) / math.log1p(-success))
    if code == UNIFORM_DELAY:
        return low + int(unit(key) * (high - low + 1))
    raise ValueError("unknown code of a delay law")


def own_delay(numbers: Any, out: int, into: int, key: int) -> int:
    """Draw a delay from a law of a user's own, whose numbers carry how to."""
    return int(numbers.draw(numbers, out, into, key))


def pair_delay(form: DelayForm, key: int, period: int, out: int, into: int) -> int:
    """Return the delay of replacing `out` by `into` if initiated in `period`; `key` is the run's key for delays."""
    word = mix(mix(mix(key, period), out + 1), into)
    if form.code == OWN_DELAY:
        return max(0, own_delay(form.own, out, into, word))
    return draw_delay(form.code, form.low, form.high, float(form.success[into]), word)
