"""Paired comparison: all policies face the same worlds, so their difference in each world is what counts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from crewlearn.engine.results import SimulationResult, Summary
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput

NORMAL_95 = 1.959964
"""The two-sided 95% point of the normal law."""


@dataclass(frozen=True)
class Comparison:
    """A policy's regret less a rival's, world by world: mean, 95% interval, and who lost less in how many worlds."""

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

    def to_json(self) -> dict[str, Any]:
        """Describe the comparison as plain data."""
        return asdict(self)


def paired_difference(ours: FloatArray, theirs: FloatArray) -> Summary:
    """Summarise the difference in each world.

    >>> paired_difference(np.array([1.0, 3.0]), np.array([2.0, 5.0])).mean
    -1.5
    """
    if ours.shape != theirs.shape:
        raise InvalidInput(
            "runs", ours.shape, f"a paired comparison needs the same worlds; the rival has {theirs.shape}"
        )
    return Summary.of(ours - theirs)


def compare(
    result: SimulationResult, policy: str, rivals: Sequence[str], at: int, setting: str = ""
) -> tuple[Comparison, ...]:
    """Compare a policy's regret after period `at` with that of each rival."""
    column = result.at.index(at)
    ours = result.policies[policy].regret[:, column]
    comparisons = []
    for rival in rivals:
        theirs = result.policies[rival].regret[:, column]
        difference = paired_difference(ours, theirs)
        reach = NORMAL_95 * difference.stderr
        comparisons.append(
            Comparison(
                policy=policy,
                rival=rival,
                setting=setting,
                at=at,
                difference=difference.mean,
                low=difference.mean - reach,
                high=difference.mean + reach,
                wins=int((ours < theirs).sum()),
                losses=int((ours > theirs).sum()),
                runs=result.runs,
            )
        )
    return tuple(comparisons)


def winners(regret: Mapping[str, FloatArray]) -> dict[str, int]:
    """Count in how many worlds each policy lost least; a shared first place counts for nobody.

    >>> winners({"a": np.array([1.0, 2.0, 5.0]), "b": np.array([2.0, 2.0, 4.0])})
    {'a': 1, 'b': 1}
    """
    every = np.array(list(regret.values()))
    least = every == every.min(axis=0)
    alone = least & (least.sum(axis=0) == 1)
    return dict(zip(regret, (int(count) for count in alone.sum(axis=1)), strict=True))
