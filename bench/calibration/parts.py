"""What a part of the calibration is: cases, one function that measures a case, and limits on a table of all rows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Case = dict[str, Any]
"""What is measured once, as plain data; a results file names each case once."""

Row = dict[str, Any]
"""What a case came to, as plain data."""


@dataclass(frozen=True)
class Limit:
    """The range that a figure of a table must lie in; infinite ends allow anything."""

    least: float = -math.inf
    most: float = math.inf

    def holds(self, value: float) -> bool:
        """Return whether a figure lies in the range."""
        return self.least <= value <= self.most


@dataclass(frozen=True)
class Line:
    """A line of a part's table: its title, figures by column, and the limits on some of them."""

    title: str
    figures: dict[str, float]
    limits: dict[str, Limit]

    def missed(self) -> list[str]:
        """Return what lies outside of its limits, in words."""
        return [
            f"{self.title}: {name} is {self.figures[name]:.4g}, must be {limit.least:g} to {limit.most:g}"
            for name, limit in self.limits.items()
            if not limit.holds(self.figures[name])
        ]


@dataclass(frozen=True)
class Part:
    """A part of the calibration.

    `cases` lists what to measure, fewer if it is asked to be quick. `measure` is called in processes of its own, in any
    order, so what it returns depends on the case alone. `table` makes lines of the rows measured so far, each row being
    the case with what it came to.
    """

    cases: Callable[[bool], Sequence[Case]]
    measure: Callable[[Case], Row]
    table: Callable[[Sequence[Row]], Sequence[Line]]
