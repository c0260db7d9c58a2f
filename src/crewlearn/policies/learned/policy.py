"""The policy that plays a trained agent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.learned.view import Observation, checked_choices, empty_view, list_requests, show
from crewlearn.policies.rule import facts_of
from crewlearn.problem.arrays import FloatArray

Agent = Callable[[Observation], Any]
"""A function from an observation to an action: for each station 0 to keep its worker, or j+1 to request worker j."""


@dataclass(frozen=True)
class Memoryless:
    """The state of an agent that remembers nothing."""


@dataclass(frozen=True)
class AgentPolicy(Policy[Memoryless]):
    """Plays an agent that was trained in `ReplacementEnv`, wherever a policy can play: `simulate`, `leaderboard`, live.

    `agent` is called with the observation of each period, the same as in the environment, and answers with an action.
    Choices that the observation's `action_mask` forbids are dropped, as they are there. The agent must answer alike
    when asked twice, must not remember, and must be hashable. `label` is the policy's name.

    >>> from crewlearn import benchmark, simulate
    >>> def first_of_the_pool(observation):
    ...     return observation["action_mask"].argmax(axis=1)
    >>> result = simulate(benchmark(horizon=20), [AgentPolicy(first_of_the_pool)], runs=2)
    >>> result.policies["agent"].replacements.tolist()
    [0, 0]
    """

    agent: Agent
    label: str = "agent"
    state_type: ClassVar[type[Memoryless]] = Memoryless

    @property
    def name(self) -> str:
        """The policy's name."""
        return self.label

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> Memoryless:
        """Return an empty state."""
        return Memoryless()

    def decide(self, state: Memoryless, situation: Situation) -> tuple[list[Pair], Memoryless]:
        """Return the replacements that the agent's action asks for."""
        facts = facts_of(self, situation)
        roster, workers, team = facts.roster, len(facts.roster.station_of), len(facts.roster.stations)
        view = empty_view(team, workers)
        whom = (roster, facts.estimates, facts.experience, facts.may_enter, facts.may_leave)
        show(view, *whom, situation.period, facts.horizon, facts.cost, facts.mean_delay)
        mask = view.action_mask.copy()
        choices = checked_choices(self.agent(view._asdict()), (team,), workers)
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        n = list_requests(mask, roster, choices, outs, ins)
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state
