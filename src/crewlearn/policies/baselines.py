"""The two ends of the scale: never replace anyone, and replace at once knowing everything."""

from dataclasses import dataclass
from typing import ClassVar

from crewlearn.policies.contract import Pair, Policy, Situation, hidden_from
from crewlearn.problem.arrays import NOBODY, FloatArray


@dataclass(frozen=True)
class Nothing:
    """The state of a policy that remembers nothing."""


@dataclass(frozen=True)
class KeepTeam(Policy[Nothing]):
    """Never replaces anyone."""

    state_type: ClassVar[type[Nothing]] = Nothing

    @property
    def name(self) -> str:
        """The name people know the policy by."""
        return "keep-team"

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Nothing:
        """Begin with nothing to remember."""
        return Nothing()

    def decide(self, state: Nothing, situation: Situation) -> tuple[list[Pair], Nothing]:
        """Ask for nothing."""
        return [], state


@dataclass(frozen=True)
class Oracle(Policy[Nothing]):
    """Knows the means and makes, in period 1, those replacements that earn their fee over the periods they last."""

    state_type: ClassVar[type[Nothing]] = Nothing

    @property
    def name(self) -> str:
        """The name people know the policy by."""
        return "oracle"

    @property
    def oracle(self) -> bool:
        """It must be told the hidden means."""
        return True

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Nothing:
        """Begin with nothing to remember."""
        return Nothing()

    def decide(self, state: Nothing, situation: Situation) -> tuple[list[Pair], Nothing]:
        """Match the worst active with the best outside while the gain over the periods they share exceeds the fee."""
        means, setting, roster = hidden_from(self, situation).means, situation.setting, situation.roster
        if situation.period != 1:
            return [], state
        lasting = setting.horizon - setting.mean_delay
        leavers = sorted((0.0 if w == NOBODY else float(means[w]), w) for w in roster.stations if _may_go(situation, w))
        entrants = sorted((-float(means[w]), w) for w in roster.outside if situation.may_enter[w])
        return [
            (out, into)
            for (mean_out, out), (minus_mean_in, into) in zip(leavers, entrants, strict=False)
            if (-minus_mean_in - mean_out) * lasting > setting.cost
        ], state


def _may_go(situation: Situation, worker: int) -> bool:
    return worker == NOBODY or bool(situation.may_leave[worker])
