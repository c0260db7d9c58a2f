"""Policies beside the limit: their regret, and how far it lies above what nobody can avoid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.engine.results import KEEP, ORACLE, SimulationResult, Summary
from crewlearn.study.limit.bound import Limit

PUBLISHED = ("value-of-replacement", "value-of-replacement-2", "value-of-replacement-evolving", "dr-ucb")
"""The policies that are published beside the limit."""


@dataclass(frozen=True)
class Standing:
    """A policy's regret beside the limit.

    `above` is the regret over the bound, less 1; None if the bound is not positive. `gap_left` is the share of the way
    from the limit (0) to keep-team (1) that is left; None if keep-team is at the limit.
    """

    policy: str
    regret: Summary
    above: float | None
    gap_left: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the standing as plain data."""
        regret = {"mean": self.regret.mean, "stderr": self.regret.stderr}
        return {"regret": regret, "above_limit": self.above, "gap_left": self.gap_left}


def to_play(policies: Sequence[str]) -> list[str]:
    """Return the policies with the ends of the scale, each once."""
    return list(dict.fromkeys((*policies, KEEP, ORACLE)))


def standings(found: Limit, result: SimulationResult) -> list[Standing]:
    """Return where each policy of a simulation stands; keep-team must be among them."""
    horizon, bound = found.problem.horizon, found.regret.mean
    span = result.regret(KEEP, horizon).mean - bound
    rows = []
    for policy in result.policies:
        regret = result.regret(policy, horizon)
        above = regret.mean / bound - 1.0 if bound > 0.0 else None
        rows.append(Standing(policy, regret, above, (regret.mean - bound) / span if span > 0.0 else None))
    return rows
