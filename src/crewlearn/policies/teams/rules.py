"""Rule functions shared by the policies that name a desired team rather than pairs.

The difference between the active and the desired team is paired at random: outgoing workers in worker order (empty
stations first), incoming workers shuffled. Pairs with a worker in a pending replacement are dropped, not queued.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from crewlearn.beliefs.estimates import Estimates
from crewlearn.policies.dr_ucb.pairing import keep_legal
from crewlearn.policies.rule import Happened, Rule, RuleFacts
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.chance import shuffle
from crewlearn.problem.transitions import RosterArrays, unclaimed_stations

SETTLED, NEXT = range(2)
"""Indices into `TeamMemory.numbers`: if SETTLED is not 0, there is nothing to request before the period at NEXT."""

NUMBERS = 7
FOREVER = 2**62


class TeamMemory(NamedTuple):
    """The memory of a policy that names teams.

    `numbers` are counters, with each policy's own after SETTLED and NEXT. `desired` flags the last desired team.
    `interview` holds the scores bought before period 1. `stream` is the key and the number of draws of the policy's
    random stream. `order`, `scores`, `outgoing` and `incoming` are scratch, whose old contents do not matter.
    """

    numbers: IntArray
    desired: BoolArray
    interview: FloatArray
    stream: IntArray
    order: IntArray
    scores: FloatArray
    outgoing: IntArray
    incoming: IntArray


def fresh_team_memory(workers: int, team: int, stream_key: int, interview: FloatArray) -> TeamMemory:
    """Allocate the memory, with no desired team."""
    memory = TeamMemory(
        np.zeros(NUMBERS, dtype=np.int64),
        np.zeros(workers, dtype=np.bool_),
        interview,
        np.zeros(2, dtype=np.int64),
        np.arange(workers),
        np.zeros(workers, dtype=np.float64),
        np.empty(workers + team + 1, dtype=np.int64),
        np.empty(workers + team + 1, dtype=np.int64),
    )
    memory.stream[0] = stream_key
    return memory


def fresh_team(parameters: Any, facts: RuleFacts, stream_key: int) -> TeamMemory:
    """Return the memory of a new run, with no desired team."""
    return fresh_team_memory(len(facts.roster.role), len(facts.roster.stations), stream_key, facts.interview)


def nothing_to_name(parameters: Any, memory: TeamMemory, period: int, facts: RuleFacts, behind: int) -> bool:
    """Return whether the next decision is not due yet."""
    return nothing_to_ask(memory.numbers, period)


def look_again_after_failures(parameters: Any, memory: TeamMemory, happened: Happened) -> None:
    """Decide again after a replacement failed."""
    if len(happened.failed_in) > 0:
        memory.numbers[SETTLED] = 0


def team_rule(decide: Callable[..., int]) -> Rule:
    """Return the rule of a policy that names teams, given its `decide` function."""
    return Rule(fresh_team, decide, nothing_to_name, after_moves=look_again_after_failures)


def nothing_to_ask(numbers: IntArray | Sequence[int], period: int) -> bool:
    """Return whether the counters show that there is nothing to request this period."""
    return bool(numbers[SETTLED] != 0 and period < numbers[NEXT])


def within_horizon(n: int, period: int, horizon: int) -> int:
    """Return `n`, or 0 in the last period, when no replacement can pay."""
    return n if period < horizon else 0


def ask_for_team(memory: TeamMemory, ghosts: int, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """Call `request_team`, but request nothing in the last period, when no replacement can pay."""
    return within_horizon(request_team(memory, ghosts, facts, outs, ins), period, facts.horizon)


def request_team(memory: TeamMemory, ghosts: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """Fill in the legal pairs that lead from the active to the desired team; return their number.

    `ghosts` nonexistent incoming workers take part in the shuffle, and their pairs are dropped.
    """
    roster, may_enter, may_leave = facts.roster, facts.may_enter, facts.may_leave
    desired, station_of = memory.desired, roster.station_of
    outgoing, incoming = memory.outgoing, memory.incoming
    n_out, n_in = max(unclaimed_stations(roster), 0), 0
    for index in range(n_out):
        outgoing[index] = NOBODY
    for worker in range(len(desired)):  # branch-free: always write, advance the count only if it applies
        active = station_of[worker] >= 0
        outgoing[n_out] = worker
        n_out += active and not desired[worker] and may_leave[worker]
        incoming[n_in] = worker
        n_in += not active and desired[worker] and may_enter[worker]
    if n_in == 0 and ghosts == 0:
        return 0
    for _ in range(ghosts):
        incoming[n_in] = NOBODY
        n_in += 1
    shuffle(incoming, n_in, memory.stream)
    n = min(n_out, n_in, len(roster.stations))
    for index in range(n):
        outs[index] = outgoing[index]
        ins[index] = incoming[index]
    return keep_legal(roster, outs, ins, n)


def team_is_active(memory: TeamMemory, roster: RosterArrays) -> bool:
    """Return whether the active team is exactly the desired one."""
    desired, station_of = memory.desired, roster.station_of
    missing = 0
    for worker in range(len(desired)):
        if desired[worker] != (station_of[worker] >= 0):
            missing += 1
    return missing == 0


def optimistic_scores(estimates: Estimates, log_value: float, scores: FloatArray) -> None:
    """Score everybody by mean + sqrt(2 log / n); +inf before the first observation."""
    counts, sums = estimates.counts, estimates.sums
    for worker in range(len(scores)):
        n = counts[worker]
        scores[worker] = sums[worker] / n + math.sqrt(2.0 * log_value / n) if n > 0 else math.inf


def mean_scores(estimates: Estimates, untried: float, scores: FloatArray) -> None:
    """Score everybody by their mean; those never observed get `untried`."""
    counts, sums = estimates.counts, estimates.sums
    for worker in range(len(scores)):
        n = counts[worker]
        scores[worker] = sums[worker] / n if n > 0 else untried


def bar_ineligible(scores: FloatArray, facts: RuleFacts) -> None:
    """Give outside workers who may not enter the lowest score, so that they are not chosen."""
    station_of, may_enter = facts.roster.station_of, facts.may_enter
    for worker in range(len(scores)):
        if station_of[worker] < 0 and not may_enter[worker]:
            scores[worker] = -math.inf


def choose_top(memory: TeamMemory, scores: FloatArray, size: int) -> None:
    """Set `memory.desired` to the `size` highest scores, with ties at the cutoff broken at random.

    `memory.order` is a permutation of the workers, which is sorted by score. From period to period it stays nearly
    sorted, so insertion sort is fast. The choice does not depend on it.
    """
    order, chosen, tied = memory.order, memory.desired, memory.incoming
    n = len(scores)
    for place in range(1, n):
        worker = order[place]
        score = scores[worker]
        hole = place
        while hole > 0 and scores[order[hole - 1]] < score:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = worker
    for worker in range(n):
        chosen[worker] = False
    size = min(size, n)
    for place in range(size):
        chosen[order[place]] = True
    if size in (0, n) or scores[order[size - 1]] > scores[order[size]]:
        return
    edge = scores[order[size]]
    n_tied = open_places = 0
    for worker in range(n):
        if scores[worker] == edge:
            tied[n_tied] = worker
            n_tied += 1
            if chosen[worker]:
                open_places += 1
                chosen[worker] = False
    shuffle(tied, n_tied, memory.stream)
    for index in range(open_places):
        chosen[tied[index]] = True
