"""Output laws: what a worker of a known level puts out in a period.

Every law keeps a worker's mean exactly and stays in [0, 1]: whatever spreads the output (half-width, spread, day
effect) is cut symmetrically to the room the mean has. A day effect moves the day's mean for all workers alike; the
law's own noise is then drawn around that day's mean. Weekdays and shocks move it by stated shares.
"""

from abc import ABC
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.chance import normal, unit
from crewlearn.problem.errors import InvalidInput, one_of, real, whole
from crewlearn.problem.laws.draws import draw_beta, draw_truncated_normal
from crewlearn.problem.laws.own import NO_NUMBERS, Draw, numbers_of, own_draw

UNIFORM_OUTPUT, BERNOULLI_OUTPUT, TRUNCATED_NORMAL_OUTPUT, BETA_OUTPUT, OWN_OUTPUT = range(5)

RELATIVE = ("day", "noise")
"""The spreads of an output law that may be shares of the level instead of absolute."""


class OutputForm(NamedTuple):
    """An output law as rule functions take it: code, own spread, spread of the day effect.

    The last two say whether these spreads are shares of the level. `own` are the numbers of a law of a user's own.
    """

    code: int
    spread: float
    day_effect_sd: float
    day_is_relative: bool
    noise_is_relative: bool
    own: Any


@dataclass(frozen=True)
class OutputLaw(ABC):
    """What a worker puts out in a period, given the period's mean.

    - `relative` names the spreads that are shares of the level: "day", "noise" or both.
    - `weekdays` are relative effects on everybody; the weekday of a period is (period - 1) mod their number.
    - `shocks` are (first period, last period, relative effect on everybody).

    A law of your own is a frozen dataclass derived from this, with a `law` (its name) and a static method
    `draw(numbers, centre, room, key)`. It returns an output with mean `centre`, at most `room` away from it. `numbers`
    are the law's numeric fields as a named tuple, and all chance comes from `key` (see `problem.chance`).
    """

    law: ClassVar[str]
    day_effect_sd = 0.0  # without annotation, so that laws may have a field of this name in their own place
    relative: tuple[str, ...] = field(default=(), kw_only=True)
    weekdays: tuple[float, ...] = field(default=(), kw_only=True)
    shocks: tuple[tuple[int, int, float], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        real("[output] day_effect_sd", self.day_effect_sd, 0.0, 1.0)
        self._check_days()

    def _check_days(self) -> None:
        relative = _listed("[output] relative", self.relative)
        for value in relative:
            one_of("[output] relative", value, RELATIVE)
        weekdays = _listed("[output] weekdays", self.weekdays)
        checked = [real(f"[output] weekdays[{day}]", value, -1.0, 10.0) for day, value in enumerate(weekdays)]
        shocks = []
        for number, shock in enumerate(_listed("[output] shocks", self.shocks)):
            name = f"[output] shocks[{number}]"
            if not isinstance(shock, (list, tuple)) or len(shock) != 3:
                raise InvalidInput(name, shock, "must be [first period, last period, relative effect]")
            first = whole(f"{name} first period", shock[0], 1)
            last = whole(f"{name} last period", shock[1], first)
            shocks.append((first, last, real(f"{name} effect", shock[2], -1.0, 10.0)))
        for name, values in (("relative", relative), ("weekdays", checked), ("shocks", shocks)):
            object.__setattr__(self, name, tuple(values))

    def check(self, horizon: int) -> None:
        """Raise if a shock lies outside the horizon."""
        for number, (first, last, _) in enumerate(self.shocks):
            if last > horizon:
                remedy = f"must lie within the horizon: periods 1 to {horizon}"
                raise InvalidInput(f"[output] shocks[{number}]", [first, last], remedy)

    def form(self) -> OutputForm:
        """Return the law's code and numbers."""
        draw = self.own_draw()
        code, spread = self._code() if draw is None else (OWN_OUTPUT, 0.0)
        if "noise" in self.relative and code not in (UNIFORM_OUTPUT, TRUNCATED_NORMAL_OUTPUT):
            raise InvalidInput("[output] relative", "noise", f"a {self.law} law has no spread that could be a share")
        return OutputForm(
            code,
            spread,
            float(self.day_effect_sd),
            "day" in self.relative,
            "noise" in self.relative,
            NO_NUMBERS if draw is None else numbers_of(self, draw),
        )

    def _code(self) -> tuple[int, float]:
        """Return the code of a built-in law, and its own spread."""
        raise NotImplementedError

    def own_draw(self) -> Draw | None:
        """Return the function by which a law of a user's own draws, or None for a built-in law."""
        return own_draw(self, OUTPUT_LAWS, "draw")

    def day_shares(self, horizon: int) -> FloatArray:
        """Return what weekday and shock make of everybody's mean in each period: 1 on an ordinary day."""
        shares = np.ones(horizon)
        if self.weekdays:
            shares *= 1.0 + np.array([self.weekdays[period % len(self.weekdays)] for period in range(horizon)])
        for first, last, effect in self.shocks:
            shares[first - 1 : last] *= 1.0 + effect
        return shares

    @property
    def days_differ(self) -> bool:
        """Whether weekdays, shocks or relative spreads have an effect."""
        relative = "noise" in self.relative or ("day" in self.relative and self.day_effect_sd > 0.0)
        return relative or any(self.weekdays) or any(effect for _, _, effect in self.shocks)


def _listed(name: str, values: Any) -> Sequence[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(name, values, "must be a list")
    return list(values)


@dataclass(frozen=True)
class UniformOutput(OutputLaw):
    """Uniform on mean ± half_width."""

    half_width: float = 0.1
    day_effect_sd: float = 0.0
    law: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        real("[output] half_width", self.half_width, 0.0, 0.5)
        super().__post_init__()

    def _code(self) -> tuple[int, float]:
        return UNIFORM_OUTPUT, float(self.half_width)


@dataclass(frozen=True)
class BernoulliOutput(OutputLaw):
    """1 with probability mean, else 0."""

    day_effect_sd: float = 0.0
    law: ClassVar[str] = "bernoulli"

    def _code(self) -> tuple[int, float]:
        return BERNOULLI_OUTPUT, 0.0


@dataclass(frozen=True)
class TruncatedNormalOutput(OutputLaw):
    """Normal around the mean with standard deviation `sd`, truncated symmetrically to keep the mean and [0, 1]."""

    sd: float
    day_effect_sd: float = 0.0
    law: ClassVar[str] = "truncated-normal"

    def __post_init__(self) -> None:
        real("[output] sd", self.sd, 0.0, 1e6)
        super().__post_init__()

    def _code(self) -> tuple[int, float]:
        return TRUNCATED_NORMAL_OUTPUT, float(self.sd)


@dataclass(frozen=True)
class BetaOutput(OutputLaw):
    """Beta with the worker's mean; the higher the concentration (a + b), the smaller the spread."""

    concentration: float
    day_effect_sd: float = 0.0
    law: ClassVar[str] = "beta"

    def __post_init__(self) -> None:
        real("[output] concentration", self.concentration, 1e-6, 1e9)
        super().__post_init__()

    def _code(self) -> tuple[int, float]:
        return BETA_OUTPUT, float(self.concentration)


OUTPUT_LAWS: tuple[type[OutputLaw], ...] = (UniformOutput, BernoulliOutput, TruncatedNormalOutput, BetaOutput)


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


def own_output(numbers: Any, centre: float, room: float, key: int) -> float:
    """Draw an output from a law of a user's own, whose numbers carry how to."""
    return float(numbers.draw(numbers, centre, room, key))


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
