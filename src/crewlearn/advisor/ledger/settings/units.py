"""Conversion between the site's units (pieces, errors, money) and the policy's (output in [0, 1])."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from crewlearn.problem.errors import InvalidInput, real

MOST = 1e12
"""The largest output, amount of money or number of hours: no sum or product of them overflows."""

MOST_FEE = 1e9
"""The largest fee, of the site or a worker: the limit of the policies' model where a unit is worth 1."""

_LONGEST = 40
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_RANGE_REMEDY = "must be LO:HI, what counts as 0 and as 1, such as 0:120, 0.5:12.5 or, if lower is better, 30:0"


class Measured(NamedTuple):
    """Output as the policy sees it, and whether it had to be clipped to [0, 1]."""

    value: float
    clipped: bool


@dataclass(frozen=True)
class Units:
    """The site's units of output and money; the policy knows only output in [0, 1] and fees in the same unit.

    `low` counts as 0 and `high` as 1, so `high < low` declares a metric of which less is better (errors, handle time).
    `value_per_unit` is the money that one more recorded unit brings, or one less saves where less is better. With
    `hours_per_period`, output is a rate: `low`, `high` and the policy's output are units per hour.

    >>> pieces = Units(low=0.0, high=80.0, value_per_unit=0.5)
    >>> pieces.policy_output(60.0), pieces.policy_output(100.0)
    (Measured(value=0.75, clipped=False), Measured(value=1.0, clipped=True))
    >>> pieces.policy_cost(100.0)
    2.5
    >>> Units(low=30.0, high=0.0).policy_output(6.0).value
    0.8
    """

    low: float
    high: float
    value_per_unit: float = 1.0
    hours_per_period: float | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, real(name, getattr(self, name), -MOST, MOST))
        object.__setattr__(self, "value_per_unit", real("value_per_unit", self.value_per_unit, 0.0, MOST, above=True))
        if self.hours_per_period is not None:
            hours = real("hours_per_period", self.hours_per_period, 0.0, MOST, above=True)
            object.__setattr__(self, "hours_per_period", hours)
        if self.low == self.high:
            raise InvalidInput("high", self.high, f"must differ from low, {self.low:g}: the two are what 0 and 1 mean")
        if self.money_of_one <= 0.0:  # the product underflowed
            raise InvalidInput("value_per_unit", self.value_per_unit, "is too small for this range; use more")

    @property
    def lower_is_better(self) -> bool:
        """Whether less output is better, as with errors."""
        return self.high < self.low

    @property
    def money_of_one(self) -> float:
        """The money value of one policy unit of output in a period: the best output against the worst that counts."""
        return self.value_per_unit * abs(self.high - self.low) * (self.hours_per_period or 1.0)

    def policy_output(self, units: float, hours: float | None = None) -> Measured:
        """Return recorded output in the policy's units; `hours` were worked (a whole period if None).

        The hours matter only if output is a rate. With the range 0 to 1, output is returned unchanged.
        """
        rate = real("units", units)
        if self.hours_per_period is not None:
            rate /= self.hours_per_period if hours is None else real("hours", hours, 0.0, above=True)
        value = (rate - self.low) / (self.high - self.low)
        clipped = min(max(value, 0.0), 1.0)
        return Measured(clipped, clipped != value)

    def worth(self, units: float, hours: float | None = None) -> float:
        """Return recorded output in units of value: where less is better, the saving against `low`.

        >>> Units(low=40.0, high=120.0).worth(60.0), Units(low=30.0, high=0.0).worth(6.0)
        (60.0, 24.0)
        """
        if not self.lower_is_better:
            return units
        if self.hours_per_period is None:
            return self.low - units
        return self.low * (self.hours_per_period if hours is None else hours) - units

    def money_of_output(self, value: float) -> float:
        """Return the money value of policy output in a period over no output at all; `money` is over `low`."""
        if self.lower_is_better:
            return self.money(value)
        return self.people_output(value) * self.value_per_unit * (self.hours_per_period or 1.0)

    def people_output(self, value: float) -> float:
        """Return policy output in the site's unit, per hour if it is a rate; exact at 0 and 1."""
        return self.low * (1.0 - value) + self.high * value

    def people_difference(self, value: float) -> float:
        """Return a difference or standard deviation of policy output in the site's unit: scaled, without offset.

        Positive means better: where less is better, +0.1 over a range of 30 errors means 3 errors fewer.
        """
        return value * abs(self.high - self.low)

    def policy_cost(self, fee: float) -> float:
        """Return a fee in the policy's units: output of one period."""
        cost = real("fee", fee, 0.0, MOST_FEE) / self.money_of_one
        if not math.isfinite(cost):
            raise InvalidInput("fee", fee, f"is too large where a period's best output is worth {self.money_of_one:g}")
        return cost

    def money(self, value: float) -> float:
        """Return an amount or cost in policy units as money."""
        return value * self.money_of_one

    def to_json(self) -> dict[str, float | None]:
        """Describe the units as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Units":
        """Rebuild the units that `to_json` described."""
        known = [field.name for field in fields(cls)]
        if not {"low", "high"} <= set(data) <= set(known):
            raise InvalidInput(
                "units", dict(data), f"must have low and high, and otherwise only {', '.join(known[2:])}"
            )
        return cls(**data)


def parse_range(text: str) -> tuple[float, float]:
    """Parse `LO:HI` from a command line, with decimal points or commas.

    >>> parse_range("0:12,5"), parse_range("30 : 0")
    ((0.0, 12.5), (30.0, 0.0))
    """
    parts = [part.strip() for part in text.split(":")]
    if len(parts) != 2 or not all(len(part) <= _LONGEST and _NUMBER.fullmatch(part) for part in parts):
        raise InvalidInput("output range", _shortened(text), _RANGE_REMEDY)
    for part in parts:
        if _THOUSANDS.fullmatch(part):
            plain, decimal = part.replace(",", ""), part.replace(",", ".")
            remedy = (
                f"{part} may mean {plain} or {decimal}: write it without thousands separators, with a decimal point"
            )
            raise InvalidInput("output range", text, remedy)
    low, high = (real("output range", float(part.replace(",", ".")), -MOST, MOST) for part in parts)
    if low == high:
        raise InvalidInput("output range", text, f"the two ends must differ; it {_RANGE_REMEDY}")
    return low, high


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * _LONGEST else text[: 2 * _LONGEST] + "…"
