"""A-OMM, optimistic matroid maximisation, adapted to delays and fees as in the paper's numerical study.

It names the m highest optimistic scores every period.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from crewlearn.policies.rule import NoParameters, Rule, RuleFacts
from crewlearn.policies.teams.policy import TeamPolicy
from crewlearn.policies.teams.rules import (
    TeamMemory,
    ask_for_team,
    bar_ineligible,
    choose_top,
    optimistic_scores,
    team_rule,
)
from crewlearn.problem.arrays import IntArray

DECISIONS = 2
"""Index into `TeamMemory.numbers`: the number of decisions so far."""


def decide_omm(
    parameters: NoParameters, memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Name the m highest scores mean + sqrt(2 log r / n), where r >= 2 is the number of decisions including this."""
    memory.numbers[DECISIONS] += 1
    optimistic_scores(facts.estimates, math.log(max(memory.numbers[DECISIONS], 2)), memory.scores)
    bar_ineligible(memory.scores, facts)
    choose_top(memory, memory.scores, len(facts.roster.stations))
    return ask_for_team(memory, 0, period, facts, outs, ins)


@dataclass(frozen=True)
class AOMM(TeamPolicy):
    """Names the m highest optimistic scores every period."""

    rule: ClassVar[Rule] = team_rule(decide_omm)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "a-omm"
