"""Baselines: keep-team never replaces anyone, and the oracle knows all means."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.dr_ucb.candidates import list_candidates, room_for_candidates
from crewlearn.policies.foresight import ForesightMemory, fresh_foresight, look_ahead, plan_replacements
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.rule import NoParameters, Rule, RuleFacts, ask, facts_of, no_memory
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.model import Setting


def fresh_oracle(parameters: NoParameters, facts: RuleFacts, stream_key: int) -> ForesightMemory:
    """Make room for looking ahead, where anything changes."""
    workers, periods = facts.hidden.foresight.levels.shape
    return fresh_foresight(workers, len(facts.roster.stations), periods)


def decide_oracle(
    parameters: NoParameters, memory: ForesightMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Plan with foresight where anything changes; else, in period 1, make the replacements that pay for good."""
    foresight = facts.hidden.foresight
    if len(foresight.levels) > 0:
        if period == 1 or not foresight.known:
            look_ahead(memory, foresight, period, facts.hidden.means)
        return plan_replacements(memory, period, facts, outs, ins)
    return replace_once(period, facts, outs, ins)


def replace_once(period: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """In period 1, pair the worst active with the best outside workers while the gain exceeds the fee."""
    if period != 1:
        return 0
    means, lasting = facts.hidden.means, facts.horizon - facts.mean_delay
    nobody_going = np.zeros(len(means), dtype=np.bool_)
    listed = room_for_candidates(len(means), len(facts.roster.stations))
    sizes = list_candidates(facts.roster, means, means, facts.may_leave, facts.may_enter, nobody_going, False, listed)
    leavers = np.empty(sizes.leavers, dtype=np.int64)
    entrants = np.empty(sizes.entrants, dtype=np.int64)
    rank_leavers(listed.out_ucb[: sizes.leavers], leavers)
    rank_descending(listed.in_ucb, entrants, sizes.entrants)
    n = 0
    while n < min(len(leavers), len(entrants)):
        gain = listed.in_ucb[entrants[n]] - listed.out_ucb[leavers[n]]
        if gain * lasting <= facts.cost:
            break
        outs[n] = listed.out_worker[leavers[n]]
        ins[n] = listed.in_worker[entrants[n]]
        n += 1
    return n


def decided_before(
    parameters: NoParameters, memory: ForesightMemory, period: int, facts: RuleFacts, behind: int
) -> bool:
    """Return whether nothing changes and the only decision, in period 1, was made."""
    return period > 1 and len(facts.hidden.foresight.levels) == 0


def ask_for_nothing(
    parameters: NoParameters, memory: Any, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Request no replacement."""
    return 0


def never_decide(parameters: NoParameters, memory: Any, period: int, facts: RuleFacts, behind: int) -> bool:
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

    @property
    def refilled(self) -> bool:
        """A team is kept at its size: somebody takes the place of whoever quits."""
        return True

    def decide(self, state: Nothing, situation: Situation) -> tuple[list[Pair], Nothing]:
        """Request no replacement."""
        return [], state


@dataclass(frozen=True)
class Oracle(Policy[Nothing]):
    """Knows the means and makes, in period 1, the replacements that earn their fee over the remaining periods.

    Where people or days change it plans in every period with what `foresight` describes.
    """

    state_type: ClassVar[type[Nothing]] = Nothing
    rule: ClassVar[Rule] = Rule(fresh_oracle, decide_oracle, decided_before)

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
        """Plan with foresight where anything changes; else, in period 1, make the replacements that pay for good."""
        facts, parameters = facts_of(self, situation), NoParameters()
        memory = fresh_oracle(parameters, facts, 0)
        if len(memory.lasting) > 0 and situation.period > 1:
            look_ahead(memory, facts.hidden.foresight, situation.period, facts.hidden.means)
        return ask(self.rule, parameters, memory, situation.period, facts), state
