"""Baselines: keep-team never replaces anyone, and the oracle replaces at once, knowing all means."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.dr_ucb.candidates import list_candidates
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.rule import NoMemory, NoParameters, Rule, RuleFacts, ask, facts_of, no_memory
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.model import Setting


def decide_oracle(
    parameters: NoParameters, memory: NoMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """In period 1, pair the worst active with the best outside workers while the gain exceeds the fee."""
    if period != 1:
        return 0
    means, lasting = facts.hidden.means, facts.horizon - facts.mean_delay
    nobody_going = np.zeros(len(means), dtype=np.bool_)
    candidates = list_candidates(facts.roster, means, means, facts.may_leave, facts.may_enter, nobody_going, False)
    leavers = np.empty(len(candidates.out_worker), dtype=np.int64)
    entrants = np.empty(len(candidates.in_worker), dtype=np.int64)
    rank_leavers(candidates.out_ucb, leavers)
    rank_descending(candidates.in_ucb, entrants, len(entrants))
    n = 0
    while n < min(len(leavers), len(entrants)):
        gain = candidates.in_ucb[entrants[n]] - candidates.out_ucb[leavers[n]]
        if gain * lasting <= facts.cost:
            break
        outs[n] = candidates.out_worker[leavers[n]]
        ins[n] = candidates.in_worker[entrants[n]]
        n += 1
    return n


def decided_before(parameters: NoParameters, memory: NoMemory, period: int, facts: RuleFacts, behind: int) -> bool:
    """Return whether the only decision, in period 1, was made."""
    return period > 1


def ask_for_nothing(
    parameters: NoParameters, memory: NoMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Request no replacement."""
    return 0


def never_decide(parameters: NoParameters, memory: NoMemory, period: int, facts: RuleFacts, behind: int) -> bool:
    """Return True: there is nothing to decide in any period."""
    return True


@dataclass(frozen=True)
class Nothing:
    """The state of a policy that remembers nothing."""


@dataclass(frozen=True)
class KeepTeam(Policy[Nothing]):
    """Never replaces anyone."""

    state_type: ClassVar[type[Nothing]] = Nothing
    rule: ClassVar[Rule] = Rule(no_memory, ask_for_nothing, never_decide)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "keep-team"

    def parameters(self, setting: Setting) -> NoParameters:
        """Return no parameters."""
        return NoParameters()

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Nothing:
        """Return the empty state."""
        return Nothing()

    def decide(self, state: Nothing, situation: Situation) -> tuple[list[Pair], Nothing]:
        """Request no replacement."""
        return [], state


@dataclass(frozen=True)
class Oracle(Policy[Nothing]):
    """Knows the means and makes, in period 1, the replacements that earn their fee over the remaining periods."""

    state_type: ClassVar[type[Nothing]] = Nothing
    rule: ClassVar[Rule] = Rule(no_memory, decide_oracle, decided_before)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "oracle"

    @property
    def oracle(self) -> bool:
        """True: it needs the hidden means."""
        return True

    def parameters(self, setting: Setting) -> NoParameters:
        """Return no parameters."""
        return NoParameters()

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Nothing:
        """Return the empty state."""
        return Nothing()

    def decide(self, state: Nothing, situation: Situation) -> tuple[list[Pair], Nothing]:
        """In period 1, pair the worst active with the best outside workers while the gain exceeds the fee."""
        facts = facts_of(self, situation)
        return ask(self.rule, self.parameters(situation.setting), NoMemory(), situation.period, facts), state
