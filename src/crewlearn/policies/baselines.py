"""The two ends of the scale: never replace anyone, and replace at once knowing everything."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crewlearn.policies.candidates import list_candidates
from crewlearn.policies.contract import Pair, Policy, Situation, hidden_from
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.problem.arrays import BoolArray, FloatArray, IntArray
from crewlearn.problem.transitions import RosterArrays


def decide_oracle(
    means: FloatArray,
    lasting: float,
    cost: float,
    roster: RosterArrays,
    may_enter: BoolArray,
    may_leave: BoolArray,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Match the worst active with the best outside while the gain over the `lasting` periods exceeds the fee."""
    nobody_going = np.zeros(len(means), dtype=np.bool_)
    candidates = list_candidates(roster, means, means, may_leave, may_enter, nobody_going, False)
    leavers = np.empty(len(candidates.out_worker), dtype=np.int64)
    entrants = np.empty(len(candidates.in_worker), dtype=np.int64)
    rank_leavers(candidates.out_ucb, leavers)
    rank_descending(candidates.in_ucb, entrants, len(entrants))
    n = 0
    while n < min(len(leavers), len(entrants)):
        gain = candidates.in_ucb[entrants[n]] - candidates.out_ucb[leavers[n]]
        if gain * lasting <= cost:
            break
        outs[n] = candidates.out_worker[leavers[n]]
        ins[n] = candidates.in_worker[entrants[n]]
        n += 1
    return n


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
        hidden, setting, team = hidden_from(self, situation), situation.setting, situation.roster.team
        if situation.period != 1:
            return [], state
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        n = decide_oracle(
            hidden.means,
            setting.horizon - setting.mean_delay,
            setting.cost,
            situation.roster.arrays,
            situation.may_enter,
            situation.may_leave,
            outs,
            ins,
        )
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state
