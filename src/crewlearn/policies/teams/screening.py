"""InterviewScreen and WorkTrial: common hiring practice as policies, based on interview scores bought in advance."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from crewlearn.policies.contract import Interview
from crewlearn.policies.rule import NoParameters, Rule, RuleFacts
from crewlearn.policies.teams.policy import TeamPolicy
from crewlearn.policies.teams.rules import (
    FOREVER,
    NEXT,
    SETTLED,
    TeamMemory,
    ask_for_team,
    bar_ineligible,
    choose_top,
    mean_scores,
    team_is_active,
    team_rule,
)
from crewlearn.problem.arrays import IntArray
from crewlearn.problem.errors import one_of, real, whole
from crewlearn.problem.model import MOST, Setting
from crewlearn.problem.transitions import FREE

STAGE, STAGE_START = 2, 3
"""Indices into `TeamMemory.numbers`: the stage (0 before the first team is named), and the period it began in."""

INTERVIEW_COSTS = ("once", "per-candidate")


class TrialParameters(NamedTuple):
    """The length of a trial, in periods."""

    trial: int


def _ask_until_reached(memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """Request the missing workers of the desired team; settle once it is active."""
    if team_is_active(memory, facts.roster):
        memory.numbers[SETTLED] = 1
        return 0
    memory.numbers[SETTLED] = 0
    return ask_for_team(memory, 0, period, facts, outs, ins)


def decide_interview_screen(
    parameters: NoParameters, memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Name the m best interview scores once, and request them until they are all active."""
    if memory.numbers[STAGE] == 0 or not _attainable(memory, facts):
        memory.numbers[STAGE] = 1
        memory.numbers[NEXT] = FOREVER
        for worker in range(len(memory.scores)):
            memory.scores[worker] = memory.interview[worker]
        bar_ineligible(memory.scores, facts)
        choose_top(memory, memory.scores, len(facts.roster.stations))
    return _ask_until_reached(memory, period, facts, outs, ins)


def decide_work_trial(
    parameters: TrialParameters, memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Try each half of a shortlist of 2m for `parameters.trial` periods, then keep the best m."""
    numbers, team, trial = memory.numbers, len(facts.roster.stations), parameters.trial
    if numbers[STAGE] == 0 or (numbers[STAGE] < 3 and period >= numbers[STAGE_START] + trial):
        numbers[STAGE] += 1
        numbers[STAGE_START] = period
        numbers[NEXT] = period + trial if numbers[STAGE] < 3 else FOREVER
        _name_stage(memory, facts, int(numbers[STAGE]), team)
    elif not _attainable(memory, facts):
        _name_stage(memory, facts, int(numbers[STAGE]), team)
    return _ask_until_reached(memory, period, facts, outs, ins)


def _attainable(memory: TeamMemory, facts: RuleFacts) -> bool:
    """Return whether the complete desired team can still be reached.

    It cannot if one of its workers has left or is blocked, or if it is smaller than the number of stations while
    another worker may enter.
    """
    roster, may_enter = facts.roster, facts.may_enter
    missing = named = others = 0
    for worker in range(len(memory.desired)):
        here = roster.station_of[worker] >= 0 or roster.role[worker] != FREE
        if memory.desired[worker]:
            named += 1
            if not here and not may_enter[worker]:
                missing += 1
        elif not here and may_enter[worker]:
            others += 1
    return missing == 0 and (named >= len(roster.stations) or others == 0)


def _name_stage(memory: TeamMemory, facts: RuleFacts, stage: int, team: int) -> None:
    """Name the team of a stage; the shortlist is ranked by interview score, with ties by worker number."""
    workers, scores, rank = len(memory.desired), memory.scores, memory.outgoing
    shortlist = min(2 * team, workers)
    for worker in range(workers):
        scores[worker] = memory.interview[worker]
    bar_ineligible(scores, facts)
    for worker in range(workers):
        ahead = 0
        for other in range(workers):
            score, rival = scores[worker], scores[other]
            if rival > score or (rival == score and other < worker):
                ahead += 1
        rank[worker] = ahead
    if stage == 3:
        mean_scores(facts.estimates, 0.0, scores)
        for worker in range(workers):
            if rank[worker] >= shortlist:
                scores[worker] = -1.0
        bar_ineligible(scores, facts)
        choose_top(memory, scores, team)
        return
    fill = 2 * team - shortlist  # a short second half is filled up from the front
    for worker in range(workers):
        if stage == 1:
            memory.desired[worker] = rank[worker] < team
        else:
            memory.desired[worker] = team <= rank[worker] < shortlist or rank[worker] < fill


@dataclass(frozen=True)
class _Screening(TeamPolicy):
    """Buys interview scores with correlation `rho` to the true means, for a fee of c in total or per candidate."""

    rho: float = 0.3
    interview_cost: str = "once"

    def __post_init__(self) -> None:
        real("rho", self.rho, -1.0, 1.0)
        one_of("interview_cost", self.interview_cost, INTERVIEW_COSTS)

    def interview(self, setting: Setting) -> Interview:
        """Return the correlation of the scores and their total fee."""
        candidates = setting.workers if self.interview_cost == "per-candidate" else 1
        return Interview(self.rho, setting.cost * candidates)


@dataclass(frozen=True)
class InterviewScreen(_Screening):
    """Hires the m best interview scores and keeps them."""

    rule: ClassVar[Rule] = team_rule(decide_interview_screen)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "interview-screen"


@dataclass(frozen=True)
class WorkTrial(_Screening):
    """Tries the 2m best interview scores for `trial` periods, m at a time, and keeps the m best by output."""

    trial: int = 90
    rule: ClassVar[Rule] = team_rule(decide_work_trial)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("trial", self.trial, 1, MOST)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "work-trial"

    def parameters(self, setting: Setting) -> TrialParameters:
        """Return the rule's parameters."""
        return TrialParameters(int(self.trial))
