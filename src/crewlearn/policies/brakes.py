"""Brakes: how long somebody stays at least, and how many replacements a week may begin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crewlearn.policies.contract import Interview, Pair, Policy, Report, Situation
from crewlearn.policies.explanations import Level, PolicyWait, Reason
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.model import MOST, Setting

PERIODS_A_WEEK = 5
"""A simulated week; a live site has a calendar."""

NO_LIMIT = -1
"""Stands for any number of replacements a week."""


@dataclass(frozen=True)
class Braked(Policy[Any]):
    """A policy held back by brakes, with the meaning that they have at a site.

    Nobody is let go before `least_tenure` periods, and at most `most_a_week` replacements begin in a week; a declined
    offer does not count. Filling an empty station is exempt from both. Replacements held back are reported to the
    policy as failed. The brakes act in a simulation; a live site has its own.
    """

    policy: Policy[Any]
    least_tenure: int = 0
    most_a_week: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.policy, Braked) or not isinstance(self.policy, Policy):
            raise InvalidInput("policy", self.policy, "must be a policy without brakes")
        whole("least_tenure", self.least_tenure, 0, MOST)
        if self.most_a_week is not None:
            whole("most_a_week", self.most_a_week, 0, MOST)

    @property
    def name(self) -> str:
        """The name of the policy that is held back."""
        return self.policy.name

    @property
    def oracle(self) -> bool:
        """As the policy."""
        return self.policy.oracle

    @property
    def refilled(self) -> bool:
        """As the policy."""
        return self.policy.refilled

    @property
    def weighs_fees(self) -> bool:
        """As the policy."""
        return self.policy.weighs_fees

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Any:
        """As the policy."""
        return self.policy.start(situation, stream_key, interview)

    def decide(self, state: Any, situation: Situation) -> tuple[list[Pair], Any]:
        """As the policy: the world holds back what the brakes forbid."""
        return self.policy.decide(state, situation)

    def assign(self, state: Any, situation: Situation, incoming: int) -> int:
        """As the policy."""
        return self.policy.assign(state, situation, incoming)

    def observe(self, state: Any, report: Report) -> Any:
        """As the policy."""
        return self.policy.observe(state, report)

    def revise(self, state: Any, situation: Situation) -> Any:
        """As the policy."""
        return self.policy.revise(state, situation)

    def candidates(self, setting: Setting) -> Sequence[Policy[Any]]:
        """As the policy, each held back alike."""
        return tuple(Braked(policy, self.least_tenure, self.most_a_week) for policy in self.policy.candidates(setting))

    def interview(self, setting: Setting) -> Interview | None:
        """As the policy."""
        return self.policy.interview(setting)

    def reasons(
        self, state: Any, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> Sequence[Reason] | None:
        """As the policy."""
        return self.policy.reasons(state, situation, pairs, costs)

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """As the policy."""
        return self.policy.break_even(situation, reason)

    def waiting(self, state: Any, situation: Situation) -> PolicyWait | None:
        """As the policy."""
        return self.policy.waiting(state, situation)

    def levels(self, state: Any, situation: Situation) -> Sequence[Level] | None:
        """As the policy."""
        return self.policy.levels(state, situation)

    def state_to_json(self, state: Any) -> dict[str, Any]:
        """As the policy."""
        return self.policy.state_to_json(state)

    def state_from_json(self, data: Mapping[str, Any]) -> Any:
        """As the policy."""
        return self.policy.state_from_json(data)


@dataclass(frozen=True)
class Brakes:
    """The brakes of a policy: none, if it is not `Braked`."""

    least_tenure: int = 0
    most_a_week: int = NO_LIMIT

    @classmethod
    def of(cls, policy: Policy[Any]) -> "Brakes":
        """Return what holds a policy back."""
        if not isinstance(policy, Braked):
            return cls()
        return cls(policy.least_tenure, NO_LIMIT if policy.most_a_week is None else policy.most_a_week)


NO_BRAKES = Brakes()


def fills_empty_station(out: int, unclaimed: int) -> bool:
    """Return whether a replacement fills an empty station, which the limit a week does not hold back.

    `unclaimed` is the number of empty stations without a hire on the way. Simulations and live sites share this.

    >>> fills_empty_station(NOBODY, 1), fills_empty_station(NOBODY, 0), fills_empty_station(3, 1)
    (True, False, False)
    """
    return out == NOBODY and unclaimed > 0
