"""Scripts: parts of a floor that are given instead of drawn, such as those on record."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput

ABSENT, HERE, UNKNOWN = 0, 1, -1
"""What a script says of a person at a station on a day: they were absent, they were there, or nothing."""


def _no_numbers() -> FloatArray:
    return np.zeros((0, 0), dtype=np.float64)


def _no_marks() -> IntArray:
    return np.zeros((0, 0), dtype=np.int64)


def _nobody() -> IntArray:
    return np.zeros(0, dtype=np.int64)


class ScriptForm(NamedTuple):
    """A script as rule functions take it; arrays without entries give nothing."""

    levels: FloatArray
    noise: FloatArray
    presence: IntArray
    leaves: IntArray
    joins: IntArray
    refill: bool


@dataclass(frozen=True, eq=False)
class Script:
    """What is given of a floor; whatever is left out is drawn as usual. Scripts are compared by identity.

    - `levels[i, t-1]` is worker i's level in period t.
    - `noise[i, t-1]` is what worker i's output differs from its mean in period t, NaN if that is to be drawn. Where it
      is given, it counts in the net result too.
    - `presence[i, t-1]` says whether worker i, at a station, is there in period t: `HERE`, `ABSENT` or `UNKNOWN`. Where
      it is given, the worker does not quit by chance.
    - `leaves[i]` is the period in which worker i leaves for good, and `joins[i]` the first in which they may be hired;
      0 stands for never and for the start.
    - `refill` lets a simulation refill stations that are empty at the start for policies whose quits it refills.
    """

    levels: FloatArray = field(default_factory=_no_numbers)
    noise: FloatArray = field(default_factory=_no_numbers)
    presence: IntArray = field(default_factory=_no_marks)
    leaves: IntArray = field(default_factory=_nobody)
    joins: IntArray = field(default_factory=_nobody)
    refill: bool = False

    def check(self, workers: int, horizon: int) -> None:
        """Raise if an array fits neither the pool nor the horizon."""
        for name in ("levels", "noise", "presence"):
            shape = getattr(self, name).shape
            if shape not in ((0, 0), (workers, horizon)):
                remedy = f"must have {workers} rows and {horizon} columns, one for each worker and period"
                raise InvalidInput(f"script {name}", list(shape), remedy)
        for name in ("leaves", "joins"):
            length = len(getattr(self, name))
            if length not in (0, workers):
                raise InvalidInput(f"script {name}", length, f"must have {workers} entries, one for each worker")

    def form(self) -> ScriptForm:
        """Return the script as rule functions take it."""
        return ScriptForm(
            np.ascontiguousarray(self.levels, dtype=np.float64),
            np.ascontiguousarray(self.noise, dtype=np.float64),
            np.ascontiguousarray(self.presence, dtype=np.int64),
            np.ascontiguousarray(self.leaves, dtype=np.int64),
            np.ascontiguousarray(self.joins, dtype=np.int64),
            bool(self.refill),
        )


NO_SCRIPT = Script()


def presence_given(script: ScriptForm, worker: int, period: int) -> int:
    """Return what a script says of a worker's presence in a period."""
    return int(script.presence[worker, period - 1]) if len(script.presence) > 0 else UNKNOWN


def noise_given(script: ScriptForm, worker: int, period: int) -> float:
    """Return what a script says of a worker's own noise in a period; NaN if nothing."""
    return float(script.noise[worker, period - 1]) if len(script.noise) > 0 else math.nan
