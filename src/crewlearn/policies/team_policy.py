"""What policies that name a desired team have in common: their state, and how their rule is called."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.teams import (
    NUMBERS,
    SETTLED,
    Facts,
    TeamMemory,
    fresh_team_memory,
    nothing_to_ask,
    within_horizon,
)
from crewlearn.problem.arrays import FloatArray

NOT_INTERVIEWED = -1e300
"""The score of newcomers and of whoever else was not interviewed: they come last of those who may come."""


@dataclass(frozen=True)
class TeamState:
    """What such a policy remembers: its counters, the team last named, interview scores, its own stream."""

    numbers: tuple[int, ...]
    desired: tuple[int, ...]
    interview: tuple[float, ...]
    stream: tuple[int, int]


@dataclass(frozen=True)
class TeamPolicy(Policy[TeamState]):
    """A policy whose decisions are a rule function over a `TeamMemory`, with its parameters as numbers."""

    state_type: ClassVar[type[TeamState]] = TeamState
    rule: ClassVar[Callable[..., int]]

    def parameters(self) -> FloatArray:
        """Give the policy's parameters in the order its rule takes them."""
        return np.zeros(0)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> TeamState:
        """Begin with no team named."""
        scores = () if interview is None else tuple(interview.tolist())
        return TeamState((0,) * NUMBERS, (), scores, (stream_key, 0))

    def decide(self, state: TeamState, situation: Situation) -> tuple[list[Pair], TeamState]:
        """Name the team to aim at, if it is time to, and ask for what is missing."""
        if nothing_to_ask(state.numbers, situation.period):
            return [], state
        workers, team = situation.setting.workers, situation.roster.team
        memory = _memory(state, workers, team)
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        n = type(self).rule(
            self.parameters(),
            memory,
            situation.period,
            Facts(situation.roster.arrays, situation.estimates, situation.may_enter, situation.may_leave),
            outs,
            ins,
        )
        n = within_horizon(n, situation.period, situation.setting.horizon)
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), _state(memory, state.interview)

    def observe(self, state: TeamState, report: Report) -> TeamState:
        """Look again after anything failed."""
        return _unsettled(state) if report.failed else state

    def revise(self, state: TeamState, situation: Situation) -> TeamState:
        """Look again after any change."""
        return _unsettled(state)


def _unsettled(state: TeamState) -> TeamState:
    numbers = list(state.numbers)
    numbers[SETTLED] = 0
    return replace(state, numbers=tuple(numbers))


def _memory(state: TeamState, workers: int, team: int) -> TeamMemory:
    key, draws = state.stream
    interview = np.full(workers, NOT_INTERVIEWED)
    interview[: len(state.interview)] = state.interview
    memory = fresh_team_memory(workers, team, key, interview)
    memory.numbers[:] = state.numbers
    memory.desired[list(state.desired)] = True
    memory.stream[1] = draws
    return memory


def _state(memory: TeamMemory, interview: tuple[float, ...]) -> TeamState:
    key, draws = memory.stream.tolist()
    desired = tuple(np.flatnonzero(memory.desired).tolist())
    return TeamState(tuple(memory.numbers.tolist()), desired, interview, (key, draws))
