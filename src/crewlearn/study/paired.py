"""Paired comparison of policies: differences world by world, since all policies face the same worlds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crewlearn.engine.results import PairedDifference, SimulationResult
from crewlearn.problem.arrays import FloatArray


@dataclass(frozen=True)
class Comparison:
    """A policy's regret minus a rival's, world by world: mean, 95% interval, and number of wins and losses.

    With a single world the interval is infinite.
    """

    policy: str
    rival: str
    setting: str
    at: int
    difference: float
    low: float
    high: float
    wins: int
    losses: int
    runs: int

    @property
    def better(self) -> bool:
        """Whether the policy loses significantly less: the whole interval is below 0."""
        return self.high < 0.0

    @property
    def worse(self) -> bool:
        """Whether the policy loses significantly more: the whole interval is above 0."""
        return self.low > 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain data; infinite ends of the interval are None."""
        return {name: None if value in (-math.inf, math.inf) else value for name, value in asdict(self).items()}


def compare(
    result: SimulationResult, policy: str, rivals: Sequence[str], at: int, setting: str = ""
) -> tuple[Comparison, ...]:
    """Compare a policy's regret after period `at` with that of each rival."""
    return tuple(_comparison(result.paired(policy, rival, at), setting) for rival in rivals)


def _comparison(paired: PairedDifference, setting: str) -> Comparison:
    return Comparison(
        policy=paired.policy,
        rival=paired.rival,
        setting=setting,
        at=paired.at,
        difference=paired.difference,
        low=paired.low,
        high=paired.high,
        wins=paired.wins,
        losses=paired.losses,
        runs=paired.runs,
    )


def winners(regret: Mapping[str, FloatArray]) -> dict[str, int]:
    """Return the number of worlds in which each policy alone has the least regret.

    >>> winners({"a": np.array([1.0, 2.0, 5.0]), "b": np.array([2.0, 2.0, 4.0])})
    {'a': 1, 'b': 1}
    """
    every = np.array(list(regret.values()))
    least = every == every.min(axis=0)
    alone = least & (least.sum(axis=0) == 1)
    return dict(zip(regret, (int(count) for count in alone.sum(axis=1)), strict=True))
