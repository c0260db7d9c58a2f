"""A-AHT (Agrawal, Hegde and Teneketzis, 1990), adapted to delays and fees as in the paper's numerical study.

It works in frames of growing blocks. In each block one candidate challenges the leaders.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from crewlearn.policies.rule import Rule, RuleFacts
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
    team_rule,
)
from crewlearn.problem.arrays import IntArray
from crewlearn.problem.errors import one_of
from crewlearn.problem.model import Setting

FRAME, BLOCK, BLOCKS, BLOCK_START, CANDIDATE = 2, 3, 4, 5, 6
"""Indices into `TeamMemory.numbers`: the frame, the next block within it, the number of its blocks, the period in
which the next block starts, and the candidate of that block."""

CLEAN_START, RELEASED_START = range(2)

STARTS = {"clean": CLEAN_START, "as-released": RELEASED_START}
"""Names of the starting phases and their codes."""


class AHTParameters(NamedTuple):
    """The code of the starting phase."""

    start: int


def blocks_in_frame(frame: int, workers: int) -> int:
    """Return the number of blocks in a frame; frames after the sixth outlast any horizon."""
    if frame == 0:
        return workers
    if frame > 6:
        return FOREVER
    growth = (1 << (frame * frame)) - (1 << ((frame - 1) * (frame - 1)))
    return workers * ((growth + frame - 1) // frame)


def decide_aht(
    parameters: AHTParameters, memory: TeamMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Play the starting phase, then the blocks; a team is requested only at the start of a block.

    The clean start requests groups of m consecutive workers, each once, and keeps each for m periods. The as-released
    start requests every m periods the numbers bm to bm+m-1, read as 1-based worker numbers, with blocks in between; an
    interrupted block continues afterwards.
    """
    numbers, workers, team = memory.numbers, len(memory.desired), len(facts.roster.stations)
    completed = period - 1
    n = 0
    if parameters.start not in (CLEAN_START, RELEASED_START):
        raise ValueError("unknown code of a start")
    if parameters.start == CLEAN_START:
        groups = (workers + team - 1) // team
        if completed < groups * team:
            if completed % team == 0:
                _name_group(memory, facts, completed // team * team, team)
                n = ask_for_team(memory, 0, period, facts, outs, ins)
            numbers[SETTLED] = 1
            numbers[NEXT] = period + team - completed % team
            numbers[BLOCK_START] = 1 + groups * team
            return n
    elif completed < workers * team and completed % team == 0:
        first = completed - 1  # the 1-based number bm is worker bm - 1
        for worker in range(workers):
            memory.desired[worker] = first <= worker < first + team
        ghosts = team - (min(first + team, workers) - max(first, 0)) if first < workers else team
        n = ask_for_team(memory, ghosts, period, facts, outs, ins)
        numbers[BLOCK_START] = max(numbers[BLOCK_START], period) + 1
        numbers[SETTLED] = 1
        numbers[NEXT] = _next_aht(numbers, parameters.start, period, team, workers)
        return n
    if period >= numbers[BLOCK_START]:
        if numbers[BLOCK] == 0:
            numbers[BLOCKS] = blocks_in_frame(int(numbers[FRAME]), workers)
            numbers[CANDIDATE] = 0
        candidate = min(int(numbers[CANDIDATE]), workers - 1)
        _name_challenged(memory, facts, completed, candidate, team)
        n = ask_for_team(memory, 0, period, facts, outs, ins)
        numbers[BLOCK_START] = period + max(1, numbers[FRAME])
        numbers[CANDIDATE] = numbers[CANDIDATE] + 1 if numbers[CANDIDATE] + 1 < workers else 0
        numbers[BLOCK] += 1
        if numbers[BLOCK] >= numbers[BLOCKS]:
            numbers[FRAME] += 1
            numbers[BLOCK] = 0
    numbers[SETTLED] = 1
    numbers[NEXT] = _next_aht(numbers, parameters.start, period, team, workers)
    return n


def _next_aht(numbers: IntArray, start: int, period: int, team: int, workers: int) -> int:
    """Return the next period in which a block starts or, with the as-released start, a group is requested."""
    following = int(numbers[BLOCK_START])
    if start == RELEASED_START and period <= (workers - 1) * team:
        following = min(following, (period + team - 1) // team * team + 1)
    return following


def _name_group(memory: TeamMemory, facts: RuleFacts, first: int, team: int) -> None:
    """Name the group of `team` workers from `first` on, filled up with random others."""
    for worker in range(len(memory.desired)):
        memory.scores[worker] = 1.0 if first <= worker < first + team else 0.0
    bar_ineligible(memory.scores, facts)
    choose_top(memory, memory.scores, team)


def _name_challenged(memory: TeamMemory, facts: RuleFacts, completed: int, candidate: int, team: int) -> None:
    """Name the leaders, with the candidate in place of the last one if the candidate's UCB is not below its mean.

    The leaders have the best means among workers observed in at least 1/(2k) of the periods.
    """
    desired, scores, order = memory.desired, memory.scores, memory.order
    counts, sums = facts.estimates.counts, facts.estimates.sums
    workers = len(desired)
    qualified = 0
    for worker in range(workers):
        n = counts[worker]
        enough = n * 2 * workers >= completed
        qualified += enough
        scores[worker] = (sums[worker] / n if n > 0 else 0.0) if enough else -1.0
    if qualified < team:
        mean_scores(facts.estimates, 0.0, scores)
    bar_ineligible(scores, facts)
    choose_top(memory, scores, team)
    if desired[candidate] or math.isinf(scores[candidate]) or team > workers:
        return
    lowest = scores[order[team - 1]]
    seen = counts[candidate]
    if seen > 0 and sums[candidate] / seen + math.sqrt(2.0 * math.log(max(completed, 2)) / seen) < lowest:
        return
    for worker in range(workers):
        if not desired[worker]:
            scores[worker] = -2.0
    choose_top(memory, scores, team - 1)
    desired[candidate] = True


@dataclass(frozen=True)
class AAHT(TeamPolicy):
    """Lets one candidate at a time challenge the leaders, in growing blocks.

    `begin` is "clean", or "as-released" for the starting phase behind the printed tables.
    """

    begin: str = "clean"
    rule: ClassVar[Rule] = team_rule(decide_aht)

    def __post_init__(self) -> None:
        one_of("begin", self.begin, STARTS)

    @property
    def name(self) -> str:
        """The policy's name."""
        return "a-aht"

    def parameters(self, setting: Setting) -> AHTParameters:
        """Return the rule's parameters."""
        return AHTParameters(STARTS[self.begin])
