"""A policy's explanations of its decisions: reasons for pairs, what it waits for, and its beliefs about workers.

Everything is in the policy's units: output from 0 to 1 per period, fees in units of output. A field that the policy
does not use is None, and is left out of the record.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

from crewlearn.beliefs.posterior import TWO_SIDED_95, Beliefs, chance_above
from crewlearn.problem.arrays import NOBODY


@dataclass(frozen=True)
class Bounds:
    """A worker's confidence bounds; an empty station has both at 0."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Belief:
    """Expected mean output of a worker and its standard deviation; an empty station has both at 0."""

    mean: float
    sd: float

    @classmethod
    def of(cls, beliefs: Beliefs, worker: int) -> "Belief":
        """Return the posterior of a worker, or that of an empty station."""
        if worker == NOBODY:
            return cls(0.0, 0.0)
        return cls(float(beliefs.means[worker]), math.sqrt(beliefs.variances[worker]))

    def chance_above(self, other: "Belief") -> float:
        """Return the probability that this worker's mean output is above the other's.

        >>> round(Belief(0.6, 0.06).chance_above(Belief(0.5, 0.08)), 4)
        0.8413
        """
        return chance_above(self.mean, math.hypot(other.sd, self.sd), other.mean)


@dataclass(frozen=True)
class Level:
    """A policy's belief about a worker's mean output: estimate, interval, and standard deviation if available.

    `mean` is None for a worker of whom the policy has no estimate yet.
    """

    mean: float | None
    low: float
    high: float
    sd: float | None = None

    @classmethod
    def of_normal(cls, mean: float, sd: float) -> "Level":
        """Return the level of a normal belief, with a 95% interval clipped to [0, 1]."""
        return cls(mean, max(0.0, mean - TWO_SIDED_95 * sd), min(1.0, mean + TWO_SIDED_95 * sd), sd)


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a policy requested the pair (`out`, `into`), in numbers.

    - `leaver` makes room: `out` or, for an open hire, who would leave if it arrived first; -1 is an empty station.
    - `optimistic_gain` per period is compared with `threshold`, the gain per period that pays for the fee.
    - `out_bounds` and `in_bounds`, or `out_belief` and `in_belief`, are the knowledge of the two workers.
    - `chance_better` is the probability that the incoming worker's mean is above the outgoing one's.
    - `gain` is the expected gain in output over `periods`, before the `fee`. It allows for reversing a failed trial
      after `trial` periods, at a cost, in favour of a worker with mean output `fallback`.

    A subclass may require some of these fields or add its own, which are recorded as well.
    """

    out: int
    into: int
    leaver: int | None = None
    optimistic_gain: float | None = None
    threshold: float | None = None
    out_bounds: Bounds | None = None
    in_bounds: Bounds | None = None
    out_belief: Belief | None = None
    in_belief: Belief | None = None
    chance_better: float | None = None
    periods: float | None = None
    trial: float | None = None
    fallback: float | None = None
    gain: float | None = None
    fee: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are set, as plain data.

        >>> Reason(out=1, into=4, gain=2.5).to_json()
        {'out': 1, 'into': 4, 'gain': 2.5}
        """
        return _set_fields(self)


@dataclass(frozen=True)
class PolicyWait:
    """What a policy waits for before it decides again.

    `cycle` and `phase` give the position of a policy that works in cycles. `least_observed` is the worker (-1: nobody)
    who must be observed `still_needed` more times. `look_again` is the period of the next decision if nothing changes.
    """

    cycle: int | None = None
    phase: str | None = None
    least_observed: int | None = None
    still_needed: int | None = None
    look_again: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are set, as plain data.

        >>> PolicyWait(look_again=12).to_json()
        {'look_again': 12}
        """
        return _set_fields(self)


@dataclass(frozen=True)
class Trend:
    """A change of a worker's level: relative to the level in period `since`, with the chance that it is real."""

    change: float
    since: int
    chance: float


@dataclass(frozen=True)
class Estimate:
    """A number that was learned, with its standard deviation."""

    mean: float
    sd: float


@dataclass(frozen=True)
class PersonReading:
    """What was learned about a worker: their level after ramp-up, and how it develops.

    `days` counts the days worked here. `ramp_days` is about how many days ramp-up takes, None once it is over or if
    there is none. `share` is the share of their level that the worker puts out now. `trend` is None unless one shows.
    `drift` is the standard deviation of the level's change a day, None for those who have not worked here.
    """

    level: Level
    days: int
    share: float
    ramp_days: int | None = None
    trend: Trend | None = None
    drift: Estimate | None = None


@dataclass(frozen=True)
class DayReading:
    """How a day differed for everybody, relative to an ordinary one; `unusual` days stand out from the others."""

    period: int
    effect: Estimate
    unusual: bool


@dataclass(frozen=True)
class Readings:
    """Everything that a policy has learned about changing people and days.

    `people` are the k workers, `days` the latest days with output, oldest first. `ramp_depth` is the share of their
    level that newcomers lack at first, `ramp_days` the days over which it fades by a factor e. `noise_sd` is the
    standard deviation of output around a worker's level on a given day, `day_sd` that of days, `centre` and
    `between_sd` describe the levels of the pool. `stay` is the expected number of periods until somebody quits.
    """

    people: tuple[PersonReading, ...]
    days: tuple[DayReading, ...]
    ramp_depth: Estimate
    ramp_days: Estimate
    noise_sd: Estimate
    day_sd: Estimate
    centre: Estimate
    between_sd: Estimate
    stay: float


def _set_fields(explanation: Reason | PolicyWait) -> dict[str, Any]:
    return {name: value for name, value in asdict(explanation).items() if value is not None}
