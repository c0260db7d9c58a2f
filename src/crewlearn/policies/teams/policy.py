"""The base class of policies that name a desired team: their state, and how it is passed to their rule."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.rule import NoParameters, Rule, RuleFacts, ask, facts_of
from crewlearn.policies.teams.rules import NUMBERS, SETTLED, TeamMemory, fresh_team, nothing_to_ask
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.model import Setting


@dataclass(frozen=True)
class TeamState:
    """The state of a team policy: its counters, the last desired team, interview scores and random stream."""

    numbers: tuple[int, ...]
    desired: tuple[int, ...]
    interview: tuple[float, ...]
    stream: tuple[int, int]


@dataclass(frozen=True)
class TeamPolicy(Policy[TeamState]):
    """A policy whose rule works on a `TeamMemory`."""

    state_type: ClassVar[type[TeamState]] = TeamState
    rule: ClassVar[Rule]

    def parameters(self, setting: Setting) -> Any:
        """Return the rule's parameters; by default none."""
        return NoParameters()

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> TeamState:
        """Return the initial state, with no desired team."""
        scores = () if interview is None else tuple(interview.tolist())
        return TeamState((0,) * NUMBERS, (), scores, (stream_key, 0))

    def decide(self, state: TeamState, situation: Situation) -> tuple[list[Pair], TeamState]:
        """Name the desired team, if a decision is due, and request the replacements that lead to it."""
        if nothing_to_ask(state.numbers, situation.period):  # a fast path that allocates no arrays
            return [], state
        parameters, facts = self.parameters(situation.setting), facts_of(self, situation, state.interview)
        memory = _memory(state, parameters, facts)
        pairs = ask(self.rule, parameters, memory, situation.period, facts)
        return pairs, _state(memory, state.interview)

    def observe(self, state: TeamState, report: Report) -> TeamState:
        """Decide again after a replacement failed."""
        return _unsettled(state) if report.failed else state

    def revise(self, state: TeamState, situation: Situation) -> TeamState:
        """Decide again after any change."""
        return _unsettled(state)


def _unsettled(state: TeamState) -> TeamState:
    numbers = list(state.numbers)
    numbers[SETTLED] = 0
    return replace(state, numbers=tuple(numbers))


def _memory(state: TeamState, parameters: Any, facts: RuleFacts) -> TeamMemory:
    key, draws = state.stream
    memory = fresh_team(parameters, facts, key)
    memory.numbers[:] = state.numbers
    memory.desired[list(state.desired)] = True
    memory.stream[1] = draws
    return memory


def _state(memory: TeamMemory, interview: tuple[float, ...]) -> TeamState:
    key, draws = memory.stream.tolist()
    desired = tuple(np.flatnonzero(memory.desired).tolist())
    return TeamState(tuple(memory.numbers.tolist()), desired, interview, (key, draws))
