"""DR-UCB with its pace chosen by simulating the setting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from crewlearn.policies.contract import Policy
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.problem.model import Setting
from crewlearn.theory.gamma import gamma_star

STEPS = range(-6, 3)
"""Powers of 2 by which gamma* is multiplied; gamma* is meant for the worst case, so most are smaller."""

SMALLEST = 1e-3
"""Stands in where gamma* is 0: with neither fee nor delay."""


@dataclass(frozen=True)
class TunedDRUCB(DRUCB):
    """DR-UCB with the gamma that earned most in simulations of the problem, on seeds of their own.

    The simulations know the problem's laws, which no firm does, so a live site refuses it. Until it is tuned, it plays
    with gamma*.
    """

    @property
    def name(self) -> str:
        """The policy's name."""
        return "dr-ucb-tuned"

    def candidates(self, setting: Setting) -> Sequence[Policy[Any]]:
        """Return this policy with each gamma to try; none once it has one."""
        if self.gamma is not None:
            return ()
        centre = max(gamma_star(setting), SMALLEST)
        return tuple(replace(self, gamma=centre * 2.0**step) for step in STEPS)
