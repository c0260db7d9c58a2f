"""Output laws and delay laws: their parameters, and how to draw from them.

Every output law preserves a worker's mean exactly and stays in [0, 1]: its spread (half-width, sd, day effect) is cut
symmetrically to the distance between the mean and the nearer end of [0, 1], called the mean's *room*. A day effect
shifts the mean of all workers alike; the law's own noise is then drawn around that day's mean.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, get_args

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import mix, normal, uniform, unit
from crewlearn.problem.errors import InvalidInput, real, whole

UNIFORM_OUTPUT, BERNOULLI_OUTPUT, TRUNCATED_NORMAL_OUTPUT, BETA_OUTPUT = range(4)
FIXED_DELAY, GEOMETRIC_DELAY, UNIFORM_DELAY = range(3)

LONGEST = 10**6
"""Upper limit on a law's delay or mean delay, in periods."""


class OutputForm(NamedTuple):
    """An output law as rule functions take it: code, own spread, spread of the day effect."""

    code: int
    spread: float
    day_effect_sd: float


class DelayForm(NamedTuple):
    """A delay law as rule functions take it: code, shortest and longest delay, each incoming worker's success rate."""

    code: int
    low: int
    high: int
    success: FloatArray


@dataclass(frozen=True)
class UniformOutput:
    """Uniform on mean ± half_width."""

    half_width: float = 0.1
    day_effect_sd: float = 0.0
    law: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        real("[output] half_width", self.half_width, 0.0, 0.5)
        real("[output] day_effect_sd", self.day_effect_sd, 0.0, 1.0)

    def form(self) -> OutputForm:
        """Return the law's code and numbers."""
        return OutputForm(UNIFORM_OUTPUT, float(self.half_width), float(self.day_effect_sd))


@dataclass(frozen=True)
class BernoulliOutput:
    """1 with probability mean, else 0."""

    day_effect_sd: float = 0.0
    law: ClassVar[str] = "bernoulli"

    def __post_init__(self) -> None:
        real("[output] day_effect_sd", self.day_effect_sd, 0.0, 1.0)

    def form(self) -> OutputForm:
        """Return the law's code and numbers."""
        return OutputForm(BERNOULLI_OUTPUT, 0.0, float(self.day_effect_sd))


@dataclass(frozen=True)
class TruncatedNormalOutput:
    """Normal around the mean with standard deviation `sd`, truncated symmetrically to keep the mean and [0, 1]."""

    sd: float
    day_effect_sd: float = 0.0
    law: ClassVar[str] = "truncated-normal"

    def __post_init__(self) -> None:
        real("[output] sd", self.sd, 0.0, 1e6)
        real("[output] day_effect_sd", self.day_effect_sd, 0.0, 1.0)

    def form(self) -> OutputForm:
        """Return the law's code and numbers."""
        return OutputForm(TRUNCATED_NORMAL_OUTPUT, float(self.sd), float(self.day_effect_sd))


@dataclass(frozen=True)
class BetaOutput:
    """Beta with the worker's mean; the higher the concentration (a + b), the smaller the spread."""

    concentration: float
    day_effect_sd: float = 0.0
    law: ClassVar[str] = "beta"

    def __post_init__(self) -> None:
        real("[output] concentration", self.concentration, 1e-6, 1e9)
        real("[output] day_effect_sd", self.day_effect_sd, 0.0, 1.0)

    def form(self) -> OutputForm:
        """Return the law's code and numbers."""
        return OutputForm(BETA_OUTPUT, float(self.concentration), float(self.day_effect_sd))


@dataclass(frozen=True)
class NoDelay:
    """A hire starts in the period it is initiated, before output."""

    law: ClassVar[str] = "none"

    @property
    def mean_delay(self) -> float:
        """Mean periods from initiation to start."""
        return 0.0

    def form(self, workers: int) -> DelayForm:
        """Return the law's code and numbers."""
        return DelayForm(FIXED_DELAY, 0, 0, np.ones(workers))


@dataclass(frozen=True)
class FixedDelay:
    """Always the same number of periods."""

    periods: int
    law: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        whole("[delay] periods", self.periods, 0, LONGEST)

    @property
    def mean_delay(self) -> float:
        """Mean periods from initiation to start."""
        return float(self.periods)

    def form(self, workers: int) -> DelayForm:
        """Return the law's code and numbers."""
        return DelayForm(FIXED_DELAY, self.periods, self.periods, np.ones(workers))


@dataclass(frozen=True)
class GeometricDelay:
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

    def form(self, workers: int) -> DelayForm:
        """Return the law's code and numbers."""
        success = 1.0 / (1.0 + self.mean - self.first)
        return DelayForm(GEOMETRIC_DELAY, self.first, self.first, np.full(workers, success))


@dataclass(frozen=True)
class AvailabilityDelay:
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

    def form(self, workers: int) -> DelayForm:
        """Return the law's code and numbers."""
        if isinstance(self.p, tuple) and len(self.p) != workers:
            raise InvalidInput(
                "[delay] p",
                list(self.p),
                f"must be one probability or a list of {workers}, one for each worker",
            )
        return DelayForm(GEOMETRIC_DELAY, 1, 1, np.broadcast_to(np.array(self.p, dtype=np.float64), (workers,)).copy())


@dataclass(frozen=True)
class UniformDelay:
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

    def form(self, workers: int) -> DelayForm:
        """Return the law's code and numbers."""
        return DelayForm(UNIFORM_DELAY, self.low, self.high, np.ones(workers))


OutputLaw = UniformOutput | BernoulliOutput | TruncatedNormalOutput | BetaOutput
DelayLaw = NoDelay | FixedDelay | GeometricDelay | AvailabilityDelay | UniformDelay

OUTPUT_LAWS: tuple[type[OutputLaw], ...] = get_args(OutputLaw)
DELAY_LAWS: tuple[type[DelayLaw], ...] = get_args(DelayLaw)


def draw_truncated_normal(spread: float, room: float, key: int) -> float:
    """Draw from a normal(0, spread) truncated to ±room, by rejection from the stream `key`.

    The proposal is normal if the interval is wide and uniform if it is narrow, so that few draws are rejected.
    """
    if spread <= 0.0 or room <= 0.0:
        return 0.0
    n = 0
    while True:
        n += 1
        if room >= spread:
            x = spread * normal(key, n)
            if abs(x) <= room:
                return x
        else:
            x = room * (2.0 * uniform(key, 2 * n) - 1.0)
            if uniform(key, 2 * n + 1) <= math.exp(-0.5 * (x / spread) * (x / spread)):
                return x


def draw_gamma(shape: float, key: int) -> float:
    """Draw from a gamma law with the given shape and scale 1 (Marsaglia and Tsang's squeeze)."""
    boost = 1.0
    if shape < 1.0:
        boost = math.exp(math.log(uniform(key, 0)) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    scale = 1.0 / math.sqrt(9.0 * d)
    n = 0
    while True:
        n += 1
        z = normal(mix(key, 1), n)
        root = 1.0 + scale * z
        cube = root * root * root
        if cube > 0.0 and math.log(uniform(mix(key, 2), n)) < 0.5 * z * z + d - d * cube + d * math.log(cube):
            return boost * d * cube


def draw_beta(a: float, b: float, key: int) -> float:
    """Draw from a beta law; if both gammas underflow, draw from the limit, a coin with mean a/(a+b)."""
    x = draw_gamma(a, mix(key, 1))
    y = draw_gamma(b, mix(key, 2))
    if x + y <= 0.0:
        return 1.0 if unit(mix(key, 3)) < a / (a + b) else 0.0
    return x / (x + y)


def draw_day_effect(day_effect_sd: float, key: int) -> float:
    """Draw a period's shock, common to all workers, from the period's key."""
    return day_effect_sd * normal(key, 0) if day_effect_sd > 0.0 else 0.0


def room_of(mean: float) -> float:
    """Return the distance from a mean to the nearer end of [0, 1]."""
    return min(mean, 1.0 - mean)


def day_mean(mean: float, day_effect: float) -> float:
    """Return a worker's mean on a day with this effect, which is cut symmetrically to the mean's room."""
    room = room_of(mean)
    return mean + min(max(day_effect, -room), room)


def draw_output(code: int, spread: float, centre: float, room: float, key: int) -> float:
    """Draw a worker's output in a period around the day's mean, from the key of that worker and period."""
    if code == UNIFORM_OUTPUT:
        return centre + min(spread, room) * (2.0 * unit(key) - 1.0)
    if room <= 0.0:
        return centre
    if code == BERNOULLI_OUTPUT:
        return 1.0 if unit(key) < centre else 0.0
    if code == TRUNCATED_NORMAL_OUTPUT:
        return centre + draw_truncated_normal(spread, room, key)
    if code == BETA_OUTPUT:
        return draw_beta(spread * centre, spread * (1.0 - centre), key)
    raise ValueError("unknown code of an output law")


def draw_delay(code: int, low: int, high: int, success: float, key: int) -> int:
    """Draw a delay from the key of its period and pair; `success` is the incoming worker's chance per period."""
    if code == FIXED_DELAY or (code == GEOMETRIC_DELAY and success >= 1.0):
        return low
    if code == GEOMETRIC_DELAY:
        return low + int(math.log(unit(key)) / math.log1p(-success))
    if code == UNIFORM_DELAY:
        return low + int(unit(key) * (high - low + 1))
    raise ValueError("unknown code of a delay law")


def pair_delay(form: DelayForm, key: int, period: int, out: int, into: int) -> int:
    """Return the delay of replacing `out` by `into` if initiated in `period`; `key` is the run's key for delays."""
    word = mix(mix(mix(key, period), out + 1), into)
    return draw_delay(form.code, form.low, form.high, float(form.success[into]), word)
