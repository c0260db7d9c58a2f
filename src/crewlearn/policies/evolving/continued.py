"""The policy value-of-replacement-evolving, continued in a simulation from what it has learned before."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from crewlearn.beliefs.evolving.copying import copied
from crewlearn.beliefs.evolving.model import Evolving
from crewlearn.beliefs.evolving.packing import as_arrays, as_plain
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.evolving.policy import EvolvingState, ValueOfReplacementEvolving
from crewlearn.policies.evolving.rule import (
    EvolvingMemory,
    EvolvingParameters,
    decide_evolving,
    memory_around,
    observe_day,
)
from crewlearn.policies.rule import Happened, Rule, RuleFacts
from crewlearn.policies.value.rule import draw_queue
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting


class ContinuedParameters(NamedTuple):
    """The parameters of the policy, and what it has learned before the first period."""

    policy: EvolvingParameters
    learned: Evolving


def memory_before(parameters: ContinuedParameters, facts: RuleFacts, stream_key: int) -> EvolvingMemory:
    """Return the memory of a run that goes on from what was learned."""
    queue = draw_queue(len(facts.roster.role), stream_key)
    return memory_around(copied(parameters.learned), queue, len(facts.roster.stations))


def decide_on(
    parameters: ContinuedParameters,
    memory: EvolvingMemory,
    period: int,
    facts: RuleFacts,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Decide as the policy does."""
    return decide_evolving(parameters.policy, memory, period, facts, outs, ins)


def observe_on(parameters: ContinuedParameters, memory: EvolvingMemory, happened: Happened) -> None:
    """Learn as the policy does."""
    observe_day(parameters.policy, memory, happened)


CONTINUED_RULE = Rule(memory_before, decide_on, observe=observe_on)


@dataclass(frozen=True, eq=False)
class Continued(Policy[EvolvingState]):
    """A policy that goes on from what it has `learned` before period 1, with room for everybody to work.

    Only simulations play it; `learned` counts periods so that the first is 1 (`beliefs.evolving.copying.moved_back`).
    """

    policy: ValueOfReplacementEvolving
    learned: Evolving
    state_type: ClassVar[type[EvolvingState]] = EvolvingState
    rule: ClassVar[Rule] = CONTINUED_RULE

    @property
    def name(self) -> str:
        """The name of the policy that is continued."""
        return self.policy.name

    @property
    def learns_by_day(self) -> bool:
        """As the policy."""
        return self.policy.learns_by_day

    @property
    def weighs_fees(self) -> bool:
        """As the policy."""
        return self.policy.weighs_fees

    def parameters(self, setting: Setting) -> ContinuedParameters:
        """Return the rule's parameters."""
        known = len(self.learned.people.slot)
        if known != setting.workers:
            raise InvalidInput("learned", known, f"must be of the {setting.workers} workers of the problem")
        return ContinuedParameters(self.policy.parameters(setting), self.learned)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> EvolvingState:
        """Return the state that the run goes on from."""
        before = self.parameters(situation.setting).learned
        return EvolvingState(stream_key, as_arrays(as_plain(copied(before)), before))

    def decide(self, state: EvolvingState, situation: Situation) -> tuple[list[Pair], EvolvingState]:
        """As the policy."""
        return self.policy.decide(state, situation)

    def observe(self, state: EvolvingState, report: Report) -> EvolvingState:
        """As the policy."""
        return self.policy.observe(state, report)
