"""From a desired team to replacements: what all policies share that name a team rather than pairs.

The difference between the active and the desired team becomes pairs at random: outgoing in worker order (empty stations
first), incoming shuffled. Pairs with a worker in a pending replacement are dropped, not queued.
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
"""The first two places in `TeamMemory.numbers`: whether there is nothing to ask for before the period `NEXT`."""

NUMBERS = 7
FOREVER = 2**62


class TeamMemory(NamedTuple):
    """What a policy that names teams remembers, as arrays that its rule changes.

    `numbers` are counters that each policy lays out after SETTLED and NEXT; `desired` flags the team last named;
    `interview` holds the scores bought before period 1; `stream` is the key and number of draws of its own stream.
    `order`, `scores`, `outgoing` and `incoming` are scratch: no rule depends on what they held.
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
    """Begin with no team named."""
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
    """Begin a run with no team named."""
    return fresh_team_memory(len(facts.roster.role), len(facts.roster.stations), stream_key, facts.interview)


def nothing_to_name(parameters: Any, memory: TeamMemory, period: int, facts: RuleFacts, behind: int) -> bool:
    """Return whether a policy that names teams has nothing to ask for this period."""
    return nothing_to_ask(memory.numbers, period)


def look_again_after_failures(parameters: Any, memory: TeamMemory, happened: Happened) -> None:
    """Look again after anything failed."""
    if len(happened.failed_in) > 0:
        memory.numbers[SETTLED] = 0


def team_rule(decide: Callable[..., int]) -> Rule:
    """Return the rule of a policy that names teams, from how it decides."""
    return Rule(fresh_team, decide, nothing_to_name, after_moves=look_again_after_failures)


def nothing_to_ask(numbers: IntArray | Sequence[int], period: int) -> bool:
    """Return, from two numbers, whether there is nothing to ask for this period."""
    return bool(numbers[SETTLED] != 0 and period < numbers[NEXT])


def within_horizon(n: int, period: int, horizon: int) -> int:
    """Return how many of `n` replacements are asked for: all, and none in the last period, when none can pay."""
    return n if period < horizon else 0


def ask_for_team(memory: TeamMemory, ghosts: int, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """Do as `request_team` does, except in the last period, when no replacement can pay."""
    return within_horizon(request_team(memory, ghosts, facts, outs, ins), period, facts.horizon)


def request_team(memory: TeamMemory, ghosts: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """Fill in the pairs that lead from the active to the desired team, as far as they are allowed; return their number.

    `ghosts` incoming workers who do not exist take part in the shuffle and are dropped with their pair.
    """
    roster, may_enter, may_leave = facts.roster, facts.may_enter, facts.may_leave
    desired, station_of = memory.desired, roster.station_of
    outgoing, incoming = memory.outgoing, memory.incoming
    n_out, n_in = max(unclaimed_stations(roster), 0), 0
    for index in range(n_out):
        outgoing[index] = NOBODY
    for worker in range(len(desired)):  # written always and counted if it holds: quicker than branching
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
    """Return whether the desired team is the active one, with no empty station left to fill from it."""
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
    """Score everybody by their mean, those never observed by `untried`."""
    counts, sums = estimates.counts, estimates.sums
    for worker in range(len(scores)):
        n = counts[worker]
        scores[worker] = sums[worker] / n if n > 0 else untried


def bar_ineligible(scores: FloatArray, facts: RuleFacts) -> None:
    """Score those outside who may not enter below everybody else, so that no place is kept for them."""
    station_of, may_enter = facts.roster.station_of, facts.may_enter
    for worker in range(len(scores)):
        if station_of[worker] < 0 and not may_enter[worker]:
            scores[worker] = -math.inf


def choose_top(memory: TeamMemory, scores: FloatArray, size: int) -> None:
    """Desire the `size` highest scores, ties at the edge broken at random.

    `memory.order` is any permutation of the workers and is left sorted by score; one kept from period to period is
    nearly sorted already. What is chosen does not depend on it.
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
