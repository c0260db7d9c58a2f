"""How people change: newcomers ramp up, levels drift, people are absent, quit and decline.

Without these tables everybody is what they are from the first period to the last. The engine plays them by the rule
functions of `floor`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from crewlearn.problem.errors import InvalidInput, one_of, real, whole
from crewlearn.problem.laws.own import Draw, own_draw

MOST_DEPTH = 0.99
"""The deepest ramp: somebody who begins at a hundredth of their level."""

VETERANS = ("team", "all", "none")

LONGEST_EXPERIENCE = 10**6

LATEST = 10**9
"""The last period that can be named."""


@dataclass(frozen=True)
class Ramp:
    """Newcomers start at 1 - depth of their level and gain by exp(-days worked / days).

    `depth` is one share for everybody, a range (low, high) from which each worker's own is drawn, or {"mean", "sd"} of
    a normal law cut to [0, 0.99]. `veterans` says who begins experienced: "team", "all", "none", or days of experience
    by worker.

    >>> Ramp(depth=0.3, days=4.0).range
    (0.3, 0.3)
    """

    depth: float | tuple[float, float] | Mapping[str, float]
    days: float
    veterans: str | tuple[int, ...] = "team"

    def __post_init__(self) -> None:
        real("[ramp] days", self.days, 0.0, LONGEST_EXPERIENCE, above=True)
        if isinstance(self.depth, Mapping):
            if set(self.depth) != {"mean", "sd"}:
                raise InvalidInput("[ramp] depth", dict(self.depth), "must have mean and sd, and nothing else")
            mean = real("[ramp] depth mean", self.depth["mean"], 0.0, MOST_DEPTH)
            sd = real("[ramp] depth sd", self.depth["sd"], 0.0, 1.0)
            object.__setattr__(self, "depth", _Frozen({"mean": mean, "sd": sd}))
        elif isinstance(self.depth, (list, tuple)):
            if len(self.depth) != 2:
                raise InvalidInput("[ramp] depth", list(self.depth), "must be a share, [low, high], or {mean, sd}")
            low = real("[ramp] depth low", self.depth[0], 0.0, MOST_DEPTH)
            object.__setattr__(self, "depth", (low, real("[ramp] depth high", self.depth[1], low, MOST_DEPTH)))
        else:
            real("[ramp] depth", self.depth, 0.0, MOST_DEPTH)
        if isinstance(self.veterans, str):
            one_of("[ramp] veterans", self.veterans, VETERANS)
        elif isinstance(self.veterans, Iterable):
            days = tuple(
                whole(f"[ramp] veterans[{worker}]", value, 0, LONGEST_EXPERIENCE)
                for worker, value in enumerate(self.veterans)
            )
            object.__setattr__(self, "veterans", days)
        else:
            raise InvalidInput("[ramp] veterans", self.veterans, f"must be one of {', '.join(VETERANS)}, or a list")

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest depth, or mean and standard deviation of a normal law."""
        if isinstance(self.depth, Mapping):
            return float(self.depth["mean"]), float(self.depth["sd"])
        if isinstance(self.depth, tuple):
            return self.depth
        return float(self.depth), float(self.depth)

    @property
    def normal(self) -> bool:
        """Whether depths follow a normal law."""
        return isinstance(self.depth, Mapping)

    @property
    def neutral(self) -> bool:
        """Whether everybody begins at their level."""
        return self.range == (0.0, 0.0)

    def check(self, workers: int) -> None:
        """Raise if a list of veterans does not fit the pool."""
        if isinstance(self.veterans, tuple) and len(self.veterans) != workers:
            remedy = f"must have {workers} entries, one for each worker"
            raise InvalidInput("[ramp] veterans", list(self.veterans), remedy)


def _listed(name: str, values: object) -> Iterable[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(name, values, "must be a list")
    return values


class _Frozen(dict[str, float]):
    """A mapping that can be hashed, as problems are; it is never changed."""

    def __hash__(self) -> int:  # type: ignore[override]  # dict has none
        return hash(tuple(sorted(self.items())))


@dataclass(frozen=True)
class LevelPath:
    """How levels move from period to period.

    A path of your own is a frozen dataclass derived from this, with a static method
    `step(numbers, level, first, period, worked, key)`. It returns the level of a worker in a period (from 2 on), given
    the level of the period before, that of the first period, the days worked before, and a key that is the worker's own
    in this period. `numbers` are the path's numeric fields as a named tuple. Levels are cut to [0, 1].

    `foreseeable` says that the path does not depend on the days worked, so that the oracle can look ahead. Where it is
    False, the oracle takes present levels to last.
    """

    foreseeable: ClassVar[bool] = True

    def own_step(self) -> Draw | None:
        """Return the function that moves levels, or None for the built-in drift."""
        return own_draw(self, (Drift,), "step")

    @property
    def neutral(self) -> bool:
        """Whether levels stay as they are."""
        return False

    def check(self, workers: int, horizon: int) -> None:
        """Raise if the path does not fit the pool or the horizon."""


@dataclass(frozen=True)
class Drift(LevelPath):
    """Levels wander by the relative standard deviation `sd` a calendar period, and some decline.

    `decliners` are (worker, from period, change a period, floor): from that period t0 on the level is multiplied by
    max(floor, 1 + change (t - t0)).
    """

    sd: float = 0.0
    decliners: tuple[tuple[int, int, float, float], ...] = ()

    def __post_init__(self) -> None:
        real("[drift] sd", self.sd, 0.0, 1.0)
        decliners = []
        for number, decliner in enumerate(_listed("[drift] decliners", self.decliners)):
            name = f"[drift] decliners[{number}]"
            if not isinstance(decliner, (list, tuple)) or len(decliner) != 4:
                raise InvalidInput(name, decliner, "must be [worker, from period, change a period, floor]")
            decliners.append(
                (
                    whole(f"{name} worker", decliner[0], 0),
                    whole(f"{name} from", decliner[1], 1, LATEST),
                    real(f"{name} change", decliner[2], -1.0, 1.0),
                    real(f"{name} floor", decliner[3], 0.0, 1.0),
                )
            )
        object.__setattr__(self, "decliners", tuple(decliners))

    @property
    def neutral(self) -> bool:
        """Whether levels stay as they are."""
        still = self.sd == 0.0 and all(change == 0.0 for _, _, change, _ in self.decliners)
        return still and self.own_step() is None

    def check(self, workers: int, horizon: int) -> None:
        """Raise if a decliner does not exist, or could not be told apart from a path that is not known ahead."""
        if self.decliners and not self.foreseeable:
            remedy = "must be left out where levels are not foreseeable; let the path's own step decline"
            raise InvalidInput("[drift] decliners", list(self.decliners), remedy)
        for number, (worker, since, *_) in enumerate(self.decliners):
            if since > horizon:
                remedy = f"must lie within the horizon: periods 1 to {horizon}"
                raise InvalidInput(f"[drift] decliners[{number}] from", since, remedy)
            if worker >= workers:
                remedy = f"there is no such worker; name one from 0 to {workers - 1}"
                raise InvalidInput(f"[drift] decliners[{number}] worker", worker, remedy)


@dataclass(frozen=True)
class Presence:
    """Who is there: chances of absence and of quitting, a period and person at a station, and of declining an offer.

    An absent worker gives no output and no observation, and gains no experience. Who quits leaves the station empty and
    cannot come back. In the periods `quit_at` the holder of a station drawn at random quits. A declined offer is known
    in the period the hire was due.
    """

    absence: float = 0.0
    quits: float = 0.0
    quit_at: tuple[int, ...] = ()
    declines: float = 0.0

    def __post_init__(self) -> None:
        for name in ("absence", "quits", "declines"):
            real(f"[presence] {name}", getattr(self, name), 0.0, 1.0)
        if self.absence + self.quits > 1.0:
            total = self.absence + self.quits
            raise InvalidInput("[presence] absence + quits", total, "must not exceed 1 together")
        periods = sorted(
            {whole("[presence] quit_at", period, 1) for period in _listed("[presence] quit_at", self.quit_at)}
        )
        object.__setattr__(self, "quit_at", tuple(periods))

    @property
    def neutral(self) -> bool:
        """Whether everybody is always there and takes every offer."""
        return not (self.absence or self.quits or self.quit_at or self.declines)

    def check(self, horizon: int) -> None:
        """Raise if somebody is to quit after the horizon."""
        if self.quit_at and self.quit_at[-1] > horizon:
            remedy = f"must lie within the horizon: periods 1 to {horizon}"
            raise InvalidInput("[presence] quit_at", self.quit_at[-1], remedy)
