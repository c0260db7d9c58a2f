"""The policy `value-of-replacement-evolving`."""

from dataclasses import dataclass
from typing import ClassVar

from crewlearn.beliefs.evolving.model import Told
from crewlearn.beliefs.posterior import LEARN
from crewlearn.policies.evolving.rule import EVOLVING_RULE, EvolvingParameters
from crewlearn.policies.rule import Rule, RulePolicy
from crewlearn.problem.model import Setting


@dataclass(frozen=True)
class EvolvingValue(RulePolicy):
    """Value of replacement for people who change."""

    margin: float = 1.0
    noise_guess: float = 0.25
    guess_weight: float = 2.0
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    ramp_depth: float | None = None
    ramp_days: float | None = None
    recheck: int = 16
    stay_guess: float = 500.0
    rule: ClassVar[Rule] = EVOLVING_RULE

    @property
    def name(self) -> str:
        """The policy's name."""
        return "value-of-replacement-evolving"

    @property
    def learns_by_day(self) -> bool:
        """True: beliefs are updated by each day's output."""
        return True

    def parameters(self, setting: Setting) -> EvolvingParameters:
        """Return the rule's parameters."""
        known = (self.centre, self.between_sd, self.noise_sd, self.ramp_depth, self.ramp_days)
        told = (LEARN if number is None else float(number) for number in known)
        assumed = Told(float(self.noise_guess), float(self.guess_weight), *told)
        return EvolvingParameters(int(self.recheck), float(self.margin), float(self.stay_guess), assumed)
