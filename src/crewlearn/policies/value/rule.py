"""Value of replacement: replace where the expected gain over the periods left exceeds the fees, and nowhere else.

Each period, from the worst active worker i up, the outside worker j whose trial gains most (`trials`) is a candidate to
take i's place. The pair is made if its gain is positive and waiting would not gain more. Waiting has two reasons:

- i is still being learned, which costs nothing. Once i is known better the fee may turn out not to be worth paying, or
  worth more; so i stays as long as the expected gain of deciding later exceeds that of acting now.
- Stations whose entrant is still on the way may need j more than i's station does. If those outside who would beat i
  are no more than such stations, j is kept for the one that will gain most from it, unless acting now gains more.

Several pairs of one period share one pool: the r-th takes the r-th best entrant, and counts on the r-th best of those
outside to go back to. Among workers equally good as far as is known, a random order drawn at the start decides, so that
nobody is tried first for a low number.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.posterior import (
    BETWEEN,
    CENTRE,
    CENTRE_DOUBT,
    NOISE,
    Assumed,
    Beliefs,
    chance_above,
    fresh_beliefs,
    learn,
)
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.rule import Happened, Rule, RuleFacts
from crewlearn.policies.teams.rules import FOREVER, NEXT, SETTLED, nothing_to_ask
from crewlearn.policies.value.trials import (
    Trial,
    best_trial,
    gain_later,
    gain_of,
    possible,
    sd_of_finding,
    upside,
)
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.chance import shuffle
from crewlearn.problem.transitions import FREE, PENDING, RosterArrays, unclaimed_stations


class ValueParameters(NamedTuple):
    """How soon to look again, by how many fees a gain must exceed the fees, and what is assumed of the pool."""

    recheck: int
    margin: float
    assumed: Assumed


OUTSIDE = 2
"""The place in `ValueMemory.numbers`, after SETTLED and NEXT, of how many outside may enter."""

ENTERS = -1
"""Stands, in `ValueMemory.standing`, for a worker who enters in this period."""

LEAST_GAIN = 0.01
"""What a replacement must gain in all, in units of output, so that equals are not exchanged where there is no fee."""

WAITS = (0.5, 1.5)
"""How long waiting for a worker to become known may take, in multiples of all that is known so far."""


class ValueMemory(NamedTuple):
    """What the rule works with. All but SETTLED and NEXT in `numbers`, `queue` and what `beliefs` spares is scratch.

    `queue` is the order, drawn once, in which workers come who are equally good as far as is known. `outside` are those
    who may enter, from whom most is expected down, `others` what is expected of each, `standing` where a worker stands
    among them. `scores` are the gains of the `entrants`, whose `ranks` say who comes first; `levels` are what the
    stations of the `leavers` are worth, whose `order` says who goes first.
    """

    numbers: IntArray
    beliefs: Beliefs
    queue: IntArray
    outside: IntArray
    others: FloatArray
    standing: IntArray
    scores: FloatArray
    entrants: IntArray
    ranks: IntArray
    levels: FloatArray
    leavers: IntArray
    order: IntArray


def draw_queue(workers: int, stream_key: int) -> IntArray:
    """Draw the order of those who are equally good as far as is known."""
    queue = np.arange(workers)
    stream = np.zeros(2, dtype=np.int64)
    stream[0] = stream_key
    shuffle(queue, workers, stream)
    return queue


@lru_cache(maxsize=64)
def queue_of(workers: int, stream_key: int) -> tuple[int, ...]:
    """Return the queue, drawn once for each pool: in plain Python, that takes as long as much of the rule."""
    return tuple(draw_queue(workers, stream_key).tolist())


def fresh_value(parameters: ValueParameters, facts: RuleFacts, stream_key: int) -> ValueMemory:
    """Begin a run."""
    queue = draw_queue(len(facts.roster.role), stream_key)
    return fresh_value_memory(len(facts.roster.stations), facts.prior.counts, facts.prior.sums, queue)


def nothing_to_value(
    parameters: ValueParameters, memory: ValueMemory, period: int, facts: RuleFacts, behind: int
) -> bool:
    """Return whether nothing can have become worth its fee since the last look."""
    return nothing_to_ask(memory.numbers, period)


def look_again(parameters: ValueParameters, memory: ValueMemory, happened: Happened) -> None:
    """Look again after anything came about or failed."""
    memory.numbers[SETTLED] = 0


def fresh_value_memory(team: int, spared_counts: IntArray, spared_sums: FloatArray, queue: IntArray) -> ValueMemory:
    """Begin: make room."""
    workers = len(spared_counts)
    return ValueMemory(
        np.zeros(3, dtype=np.int64),
        fresh_beliefs(spared_counts, spared_sums),
        queue,
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers + team, dtype=np.float64),
        np.zeros(workers + team, dtype=np.int64),
        np.zeros(workers + team, dtype=np.int64),
    )


def decide_value(
    parameters: ValueParameters, memory: ValueMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Learn from all that was seen, and fill in the pairs that pay; return their number."""
    learn(memory.beliefs, facts.estimates, parameters.assumed)
    return decide_learned(parameters, memory, period, facts, outs, ins)


def decide_learned(
    parameters: ValueParameters, memory: ValueMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Fill in the pairs that pay by what is believed already; return their number."""
    numbers, roster = memory.numbers, facts.roster
    numbers[SETTLED] = 1
    numbers[NEXT] = FOREVER
    left = periods_left(facts, period)
    if left <= 1.0:
        return 0
    n = 0
    n_out = _list_leavers(memory, facts)
    if n_out > 0:
        n_in = _list_entrants(memory, facts, float(memory.levels[memory.order[0]]), left)
        n = _make_pairs(parameters, memory, facts, n_out, n_in, left, outs, ins)
    numbers[NEXT] = period + 1
    if n == 0 and roster.counts[PENDING] == 0:  # as long as little is learned, there is nothing new to decide
        numbers[NEXT] += _least_seen(facts) // parameters.recheck
    return n


VALUE_RULE = Rule(fresh_value, decide_value, nothing_to_value, after_moves=look_again)
"""Value of replacement as the engine plays it."""


def periods_left(facts: RuleFacts, period: int) -> float:
    """Return the periods that a worker asked for now can be expected to work."""
    return float(facts.horizon - period + 1.0 - facts.mean_delay)


def _least_seen(facts: RuleFacts) -> int:
    """Count the observations of the active worker least seen."""
    least = FOREVER
    for worker in facts.roster.stations:
        if worker != NOBODY:
            least = min(least, int(facts.estimates.counts[worker]))
    return least if least < FOREVER else 0


def _list_leavers(memory: ValueMemory, facts: RuleFacts) -> int:
    """List who may make room, and rank them by what their station is worth a period: nothing, if it is empty."""
    roster, leavers, levels = facts.roster, memory.leavers, memory.levels
    n = 0
    for worker in range(len(roster.station_of)):
        if roster.station_of[worker] >= 0 and roster.role[worker] == FREE and facts.may_leave[worker]:
            leavers[n] = worker
            levels[n] = memory.beliefs.means[worker]
            n += 1
    for _ in range(unclaimed_stations(roster)):
        leavers[n] = NOBODY
        levels[n] = 0.0
        n += 1
    rank_leavers(levels[:n], memory.order)
    return n


def _list_entrants(memory: ValueMemory, facts: RuleFacts, level: float, left: float) -> int:
    """List who may enter and might pay at a station worth `level`, and rank them by what their trial gains there.

    Those who would not pay even if all about them came to be known at once are left out. All are ranked for a trial as
    long as suits the one least known; of the others there is less to find out.
    """
    roster, beliefs, counts = facts.roster, memory.beliefs, facts.estimates.counts
    scores, entrants, fee, noise = memory.scores, memory.entrants, facts.cost, float(beliefs.pool[NOISE])
    rank_outside(memory, facts)
    # the untried are all alike: reckon once
    doubt = math.sqrt(beliefs.pool[BETWEEN] + beliefs.pool[CENTRE_DOUBT])
    promise_untried = left * upside(float(beliefs.pool[CENTRE]), doubt, level)
    n, least_known = 0, NOBODY
    for worker in memory.queue:
        if roster.station_of[worker] >= 0 or roster.role[worker] != FREE or not facts.may_enter[worker]:
            continue
        promise = promise_untried
        if counts[worker] > 0:
            promise = left * upside(float(beliefs.means[worker]), math.sqrt(beliefs.variances[worker]), level)
        if promise > fee:
            entrants[n] = worker
            n += 1
            if least_known == NOBODY or counts[worker] < counts[least_known]:
                least_known = worker
    if n == 0:
        return 0
    trial = trial_of(memory, facts.cost, least_known, level, left, best_other(memory, least_known, 0))
    gain_untried = gain_of(trial, level, left)
    for place in range(n):
        worker = entrants[place]
        scores[place] = gain_untried
        if counts[worker] > 0:
            sd = sd_of_finding(float(beliefs.variances[worker]), noise, trial.length)
            other = best_other(memory, worker, 0)
            scores[place] = gain_of(Trial(float(beliefs.means[worker]), sd, trial.length, other, fee), level, left)
    rank_descending(scores, memory.ranks, n)
    return n


def rank_outside(memory: ValueMemory, facts: RuleFacts) -> None:
    """Rank those who may enter by what is to be expected of them: whom trials that fail can go back to."""
    roster, means, variances = facts.roster, memory.beliefs.means, memory.beliefs.variances
    n = 0
    for worker in range(len(means)):
        memory.standing[worker] = FOREVER
        if roster.station_of[worker] < 0 and roster.role[worker] == FREE and facts.may_enter[worker]:
            memory.entrants[n] = worker
            memory.scores[n] = possible(float(means[worker]), math.sqrt(variances[worker]))
            n += 1
    rank_descending(memory.scores, memory.ranks, n)
    for place in range(n):
        worker = memory.entrants[memory.ranks[place]]
        memory.outside[place] = worker
        memory.others[place] = memory.scores[memory.ranks[place]]
        memory.standing[worker] = place
    memory.numbers[OUTSIDE] = n


def best_other(memory: ValueMemory, worker: int, claimed: int) -> float:
    """Return the most to be expected of anybody outside, this worker apart and so many that others may go back to."""
    place = claimed + 1 if memory.standing[worker] <= claimed else claimed
    return float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0


def trial_of(memory: ValueMemory, fee: float, worker: int, level: float, left: float, other: float) -> Trial:
    """Return the best trial of a worker outside at a station worth `level`, if `other` is expected of a way back."""
    beliefs = memory.beliefs
    mean, variance = float(beliefs.means[worker]), float(beliefs.variances[worker])
    return best_trial(mean, variance, float(beliefs.pool[NOISE]), other, fee, level, left)


def _make_pairs(
    parameters: ValueParameters,
    memory: ValueMemory,
    facts: RuleFacts,
    n_out: int,
    n_in: int,
    left: float,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Pair the best entrants with the worst leavers while that pays; leavers who had better wait are passed over."""
    roster = facts.roster
    room = len(roster.stations) - roster.counts[PENDING]
    least = LEAST_GAIN + float(parameters.margin * facts.cost)
    n = 0
    for place in range(n_out):
        if n >= min(room, n_in):
            break
        station = memory.order[place]
        leaver, level = memory.leavers[station], float(memory.levels[station])
        entrant = memory.entrants[memory.ranks[n]]
        trial = trial_of(memory, facts.cost, entrant, level, left, best_other(memory, entrant, n))
        gain = gain_of(trial, level, left)
        if gain <= least:
            break
        if leaver == NOBODY or not (
            _learning_pays(memory, leaver, trial, gain, left)
            or _needed_elsewhere(memory, roster, entrant, n_in - n, level, trial, gain, left - facts.mean_delay)
        ):
            outs[n] = leaver
            ins[n] = entrant
            n += 1
    return _keep_paying(memory, facts.cost, n, least, left, outs, ins)


def _keep_paying(
    memory: ValueMemory, fee: float, n: int, least: float, left: float, outs: IntArray, ins: IntArray
) -> int:
    """Reckon each pair again, now that all who enter are known: trials go back only to those who stay outside."""
    means = memory.beliefs.means
    for pair in range(n):
        memory.standing[ins[pair]] = ENTERS
    kept = place = 0
    for pair in range(n):
        place = next_outside(memory, place)
        other = float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
        level = 0.0 if outs[pair] == NOBODY else float(means[outs[pair]])
        if gain_of(trial_of(memory, fee, ins[pair], level, left, other), level, left) > least:
            outs[kept] = outs[pair]
            ins[kept] = ins[pair]
            kept += 1
            place += 1
    return kept


def next_outside(memory: ValueMemory, place: int) -> int:
    """Return the place, from this one on, of the next worker outside who does not enter."""
    while place < memory.numbers[OUTSIDE] and memory.standing[memory.outside[place]] == ENTERS:
        place += 1
    return place


def _learning_pays(memory: ValueMemory, leaver: int, trial: Trial, gain: float, left: float) -> bool:
    """Return whether to see more of the leaver before deciding."""
    beliefs = memory.beliefs
    mean, variance, noise = float(beliefs.means[leaver]), float(beliefs.variances[leaver]), float(beliefs.pool[NOISE])
    for multiple in range(len(WAITS)):
        periods = math.ceil(WAITS[multiple] * noise / variance)
        if gain_later(trial, mean, sd_of_finding(variance, noise, periods), math.inf, left - periods) > gain:
            return True
    return False


def _needed_elsewhere(
    memory: ValueMemory,
    roster: RosterArrays,
    entrant: int,
    hopeful: int,
    level: float,
    trial: Trial,
    gain: float,
    left_then: float,
) -> bool:
    """Return whether to keep the entrant for a station whose own entrant, still on the way, may well turn out worse."""
    beliefs = memory.beliefs
    stations, worst = 0, NOBODY
    for slot in range(roster.counts[PENDING]):
        coming = roster.pending_in[slot]
        if beliefs.means[coming] < level:
            stations += 1
            if worst == NOBODY or beliefs.means[coming] < beliefs.means[worst]:
                worst = coming
    if stations == 0:
        return False
    better = hopeful * chance_above(trial.mean, math.sqrt(beliefs.variances[entrant]), level)
    if better > stations:
        return False
    sd = math.sqrt(beliefs.variances[worst])
    return gain_later(trial, float(beliefs.means[worst]), sd, level, left_then - 1.0) > gain
