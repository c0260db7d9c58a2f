"""Three simple policies: epsilon-greedy, a threshold, and greedy on a fixed schedule."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from crewlearn.beliefs.estimates import mean
from crewlearn.policies.dr_ucb.candidates import can_go, goes_first
from crewlearn.policies.dr_ucb.pairing import keep_legal
from crewlearn.policies.rule import Rule, RuleFacts
from crewlearn.policies.teams.policy import TeamPolicy
from crewlearn.policies.teams.rules import (
    NEXT,
    SETTLED,
    TeamMemory,
    ask_for_team,
    bar_ineligible,
    choose_top,
    mean_scores,
    team_rule,
    within_horizon,
)
from crewlearn.problem.arrays import NOBODY, BoolArray, IntArray
from crewlearn.problem.chance import next_uniform
from crewlearn.problem.errors import one_of, real, whole
from crewlearn.problem.model import MOST, Setting
from crewlearn.problem.transitions import FREE, RosterArrays, unclaimed_stations

SQRT_DECAY, EXPONENTIAL_DECAY = range(2)

DECAYS = {"sqrt": SQRT_DECAY, "exponential": EXPONENTIAL_DECAY}
"""Names of epsilon-greedy's decays and their codes."""


class EpsilonParameters(NamedTuple):
    """The decay's code, epsilon in period 1, and the half-life of exponential decay in periods."""

    decay: int
    epsilon: float
    half_life: float


class ThresholdParameters(NamedTuple):
    """The least acceptable mean output, and the number of observations before a worker is judged by it."""

    level: float
    trial: int


class ScheduleParameters(NamedTuple):
    """The number of periods between decisions."""

    every: int


def decide_epsilon_greedy(
    parameters: EpsilonParameters, memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """With probability epsilon, try a random worker in place of the worst; else move to the m best observed means."""
    roster, may_enter, may_leave = facts.roster, facts.may_enter, facts.may_leave
    if parameters.decay == SQRT_DECAY:
        epsilon = parameters.epsilon / math.sqrt(period)
    elif parameters.decay == EXPONENTIAL_DECAY:
        epsilon = parameters.epsilon * math.exp(-math.log(2.0) * (period - 1) / parameters.half_life)
    else:
        raise ValueError("unknown code of a decay")
    mean_scores(facts.estimates, -math.inf, memory.scores)
    bar_ineligible(memory.scores, facts)
    if next_uniform(memory.stream) >= epsilon:
        choose_top(memory, memory.scores, len(roster.stations))
        for worker in range(len(memory.desired)):  # unobserved workers are neither hired nor let go
            if math.isinf(memory.scores[worker]):
                memory.desired[worker] = roster.station_of[worker] >= 0
        return ask_for_team(memory, 0, period, facts, outs, ins)
    free = 0
    for worker in range(len(memory.desired)):
        if _can_come(roster, may_enter, worker):
            free += 1
    pick = int(next_uniform(memory.stream) * free)
    worst = NOBODY
    for worker in roster.stations:
        if can_go(roster, may_leave, worker) and goes_first(memory.scores, worker, worst):
            worst = worker
    if free == 0 or (worst == NOBODY and unclaimed_stations(roster) <= 0):
        return 0
    outs[0] = NOBODY if unclaimed_stations(roster) > 0 else worst
    for worker in range(len(memory.desired)):
        if _can_come(roster, may_enter, worker):
            if pick == 0:
                ins[0] = worker
            pick -= 1
    return within_horizon(keep_legal(roster, outs, ins, 1), period, facts.horizon)


def decide_threshold(
    parameters: ThresholdParameters, memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Replace workers observed at least `trial` times with a mean below `level`, preferably by untried ones.

    Workers who were observed are brought back only if their mean is above that of the worker they would replace.
    """
    roster, estimates, may_enter, may_leave = facts.roster, facts.estimates, facts.may_enter, facts.may_leave
    team, n = len(roster.stations), 0
    for _ in range(unclaimed_stations(roster)):
        outs[n] = NOBODY
        n += 1
    for worker in roster.stations:
        tried = can_go(roster, may_leave, worker) and estimates.counts[worker] >= parameters.trial
        if n < team and tried and mean(estimates, worker) < parameters.level:
            outs[n] = worker
            n += 1
    if n == 0:
        return 0
    mean_scores(estimates, math.inf, memory.scores)
    for worker in range(len(memory.desired)):
        if not _can_come(roster, may_enter, worker):
            memory.scores[worker] = -math.inf
    choose_top(memory, memory.scores, n)
    hired = 0
    for worker in range(len(memory.desired)):
        if memory.desired[worker] and memory.scores[worker] > -math.inf and hired < n:
            leaver = outs[hired]
            if leaver == NOBODY or memory.scores[worker] > mean(estimates, leaver):
                ins[hired] = worker
            else:
                ins[hired] = NOBODY
            hired += 1
    return within_horizon(keep_legal(roster, outs, ins, hired), period, facts.horizon)


def decide_fixed_schedule(
    parameters: ScheduleParameters, memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Every `every` periods, move to the m best means, with the untried first."""
    roster, every = facts.roster, parameters.every
    due = period > 1 and (period - 1) % every == 0
    memory.numbers[SETTLED] = 1
    memory.numbers[NEXT] = period + every - (period - 1) % every
    if not due and unclaimed_stations(roster) <= 0:
        return 0
    mean_scores(facts.estimates, math.inf, memory.scores)
    if not due:  # between dates only empty stations are filled
        for worker in roster.stations:
            if worker != NOBODY:
                memory.scores[worker] = math.inf
    bar_ineligible(memory.scores, facts)
    choose_top(memory, memory.scores, len(roster.stations))
    return ask_for_team(memory, 0, period, facts, outs, ins)


def _can_come(roster: RosterArrays, may_enter: BoolArray, worker: int) -> bool:
    return bool(roster.station_of[worker] < 0 and roster.role[worker] == FREE and may_enter[worker])


@dataclass(frozen=True)
class EpsilonGreedy(TeamPolicy):
    """Tries a random worker with a probability that decays as 1/sqrt(t), or halves every `half_life` periods."""

    decay: str = "sqrt"
    epsilon: float = 1.0
    half_life: float = 30.0
    rule: ClassVar[Rule] = team_rule(decide_epsilon_greedy)

    def __post_init__(self) -> None:
        one_of("decay", self.decay, DECAYS)
        real("epsilon", self.epsilon, 0.0, 1.0)
        real("half_life", self.half_life, 1e-3, MOST)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "epsilon-greedy"

    def parameters(self, setting: Setting) -> EpsilonParameters:
        """Return the rule's parameters."""
        return EpsilonParameters(DECAYS[self.decay], float(self.epsilon), float(self.half_life))


@dataclass(frozen=True)
class Threshold(TeamPolicy):
    """Replaces workers observed at least `trial` times with a mean output below `level`."""

    level: float = 0.5
    trial: int = 20
    rule: ClassVar[Rule] = team_rule(decide_threshold)

    def __post_init__(self) -> None:
        real("level", self.level, 0.0, 1.0)
        whole("trial", self.trial, 1, MOST)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "threshold"

    def parameters(self, setting: Setting) -> ThresholdParameters:
        """Return the rule's parameters."""
        return ThresholdParameters(float(self.level), int(self.trial))


@dataclass(frozen=True)
class FixedScheduleGreedy(TeamPolicy):
    """Every `every` periods, moves to the m best means, with the untried first."""

    every: int = 30
    rule: ClassVar[Rule] = team_rule(decide_fixed_schedule)

    def __post_init__(self) -> None:
        whole("every", self.every, 1, MOST)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "fixed-schedule-greedy"

    def parameters(self, setting: Setting) -> ScheduleParameters:
        """Return the rule's parameters."""
        return ScheduleParameters(int(self.every))
