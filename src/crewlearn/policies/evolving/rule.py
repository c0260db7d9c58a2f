"""The rule of value-of-replacement-evolving: replace where the expected gain exceeds the fees, for people who change.

The rule is that of `policies.value.rule`, with beliefs that are updated day by day (`beliefs.evolving`):

- Who may leave is judged by their level after ramp-up, less what they still lose to it.
- Who may enter is charged for their ramp-up, and a trial is worth what its days teach (`trials`).
- Somebody still ramping up is waited for, as long as learning more about them is worth more than acting now.
- Somebody of whom little is known is not let go for a person who may well be worse (`too_soon`).
- Where people quit, the periods left are discounted by the chance that either of a pair quits.
"""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.evolving.learning import fresh_evolving, learn_day
from crewlearn.beliefs.evolving.model import DAYS_WORKED, FADED, NOISE_USED, QUITS, Evolving, Told, variance_now
from crewlearn.beliefs.posterior import chance_above
from crewlearn.policies.evolving.trials import (
    PART_VARIANCE,
    Prospect,
    Stakes,
    Tables,
    best_length,
    chance_better,
    empty_tables,
    fill_tables,
    gain_later,
    gain_of,
    may_pay,
    taught_from,
    worth_of,
)
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.rule import Happened, Rule, RuleFacts
from crewlearn.policies.teams.rules import FOREVER
from crewlearn.policies.value.excess import possible
from crewlearn.policies.value.later import WAITS
from crewlearn.policies.value.rule import (
    ENTERS,
    LEAST_GAIN,
    OUTSIDE,
    best_other,
    draw_queue,
    next_outside,
    periods_left,
)
from crewlearn.policies.value.trials import sd_of_finding
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.transitions import FREE, PENDING, unclaimed_stations


class EvolvingParameters(NamedTuple):
    """The policy's `margin`, `stay_guess`, `patience` and `sure`, and what it was told about people."""

    margin: float
    stay_guess: float
    patience: float
    sure: float
    told: Told


MOST_ALIKE = 5.0 / 3.0
"""Where a day's noise has more than so many times the variance between people, these are so much alike that patience
protects nobody."""

PATIENCE_COST = 0.75
"""Patience may cost at most this many fees."""

SOON = 1.5
"""A finding that takes more than so many times the periods left comes too late to wait for."""


class EvolvingMemory(NamedTuple):
    """The rule's memory; `learned` and `queue` persist, the rest is scratch.

    `tables` are those of `trials`, and all others are as in `policies.value.rule.ValueMemory`.
    """

    numbers: IntArray
    learned: Evolving
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
    tables: Tables


def fresh_memory(parameters: EvolvingParameters, facts: RuleFacts, stream_key: int) -> EvolvingMemory:
    """Return the memory of a new run."""
    workers, team = len(facts.roster.role), len(facts.roster.stations)
    learned = fresh_evolving(parameters.told, facts.experience, facts.prior.counts, facts.prior.sums, team, workers)
    return memory_around(learned, draw_queue(workers, stream_key), team)


def memory_around(learned: Evolving, queue: IntArray, team: int) -> EvolvingMemory:
    """Allocate the memory around what was learned."""
    workers = len(queue)
    return EvolvingMemory(
        np.zeros(OUTSIDE + 1, dtype=np.int64),
        learned,
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
        empty_tables(),
    )


def observe_day(parameters: EvolvingParameters, memory: EvolvingMemory, happened: Happened) -> None:
    """Learn from the day's output, and from who left."""
    quits = len(happened.left)
    learn_day(memory.learned, parameters.told, happened.period, happened.workers, happened.output, quits)


def periods_together(parameters: EvolvingParameters, learned: Evolving, left: float) -> float:
    """Return the periods left, discounted by the chance that either of a pair quits.

    Nothing is discounted before the first quit: a guess would shorten long horizons for no reason.
    """
    quits = int(learned.counts[QUITS])
    if quits == 0:
        return left
    rate = 2.0 * quits / (parameters.stay_guess + int(learned.counts[DAYS_WORKED]))
    return (1.0 - math.exp(-rate * left)) / rate


def stakes_of(parameters: EvolvingParameters, memory: EvolvingMemory, period: int, facts: RuleFacts) -> Stakes:
    """Return what is at stake in a period; this fills in the tables."""
    learned = memory.learned
    left = periods_together(parameters, learned, periods_left(facts, period))
    fill_tables(learned, memory.tables)
    return Stakes(left, facts.cost, float(learned.numbers[NOISE_USED]), memory.tables)


def decide_evolving(
    parameters: EvolvingParameters, memory: EvolvingMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Fill in the pairs that pay under the current beliefs, and return their number."""
    if periods_left(facts, period) <= 1.0:
        return 0
    stakes = stakes_of(parameters, memory, period, facts)
    n, n_out = 0, _list_leavers(memory, facts, stakes)
    if n_out > 0:
        level = float(memory.levels[memory.order[0]])
        n_in = _list_entrants(memory, facts, stakes, level)
        if n_in > 0:
            _rank_entrants(memory, facts, stakes, n_in, level)
            n = _make_pairs(parameters, memory, facts, stakes, n_out, n_in, outs, ins)
    return n


def worth_now(memory: EvolvingMemory, stakes: Stakes, worker: int) -> float:
    """Return a worker's expected output a period over the periods left, or that of an empty station."""
    if worker == NOBODY:
        return 0.0
    people = memory.learned.people
    return worth_of(stakes.tables, float(people.means[worker]), int(people.days[worker]), stakes.left)


def prospect_of(memory: EvolvingMemory, worker: int) -> Prospect:
    """Return what a worker outside promises."""
    people = memory.learned.people
    variance, untried = variance_now(memory.learned, worker), people.slot[worker] < 0
    return Prospect(float(people.means[worker]), variance, int(people.days[worker]), bool(untried))


def _list_leavers(memory: EvolvingMemory, facts: RuleFacts, stakes: Stakes) -> int:
    """List who may make room, and rank them by their station's worth per period, 0 if empty; return their number."""
    station_of, role, may_leave = facts.roster.station_of, facts.roster.role, facts.may_leave
    leavers, levels, n = memory.leavers, memory.levels, 0
    for worker in range(len(station_of)):
        if station_of[worker] >= 0 and role[worker] == FREE and may_leave[worker]:
            leavers[n] = worker
            levels[n] = worth_now(memory, stakes, worker)
            n += 1
    for _ in range(unclaimed_stations(facts.roster)):
        leavers[n] = NOBODY
        levels[n] = 0.0
        n += 1
    rank_leavers(levels[:n], memory.order)
    return n


def _list_entrants(memory: EvolvingMemory, facts: RuleFacts, stakes: Stakes, level: float) -> int:
    """List who may enter and might pay at a station worth `level`, in queue order; return their number."""
    station_of, role, may_enter = facts.roster.station_of, facts.roster.role, facts.may_enter
    people, entrants, n = memory.learned.people, memory.entrants, 0
    known = newcomers_pay = False  # those never seen anywhere are all alike, so that is computed once
    for worker in memory.queue:
        if station_of[worker] < 0 and role[worker] == FREE and may_enter[worker]:
            newcomer = people.slot[worker] < 0 and people.days[worker] == 0
            if newcomer and known:
                pays = newcomers_pay
            else:
                pays = may_pay(stakes, prospect_of(memory, worker), level)
                if newcomer:
                    known, newcomers_pay = True, pays
            if pays:
                entrants[n] = worker
                n += 1
    return n


def _rank_entrants(memory: EvolvingMemory, facts: RuleFacts, stakes: Stakes, n: int, level: float) -> None:
    """Rank the `n` entrants by the gain of a trial at a station worth `level`, and all outside workers as fallbacks.

    All are ranked by a trial of the length that is best for the least-known entrant.
    """
    entrants, scores, people = memory.entrants, memory.scores, memory.learned.people
    rank_outside(memory, facts, stakes)
    least_known = entrants[0]
    for place in range(1, n):
        if people.variances[entrants[place]] > people.variances[least_known]:
            least_known = entrants[place]
    length = best_length(stakes, prospect_of(memory, least_known), level, best_other(memory, least_known, 0))
    for place in range(n):
        worker = entrants[place]
        other = best_other(memory, worker, 0)
        scores[place] = gain_of(stakes, prospect_of(memory, worker), level, other, length, stakes.left)
    rank_descending(scores, memory.ranks, n)


def rank_outside(memory: EvolvingMemory, facts: RuleFacts, stakes: Stakes) -> None:
    """Rank those who may enter by expected output over the periods left, as fallbacks for failed trials."""
    station_of, role, may_enter = facts.roster.station_of, facts.roster.role, facts.may_enter
    people, outside, others, standing = memory.learned.people, memory.outside, memory.others, memory.standing
    scores, ranks, n = memory.scores, memory.ranks, 0
    for worker in range(len(people.means)):
        standing[worker] = FOREVER
        if station_of[worker] < 0 and role[worker] == FREE and may_enter[worker]:
            outside[n] = worker
            capped = possible(float(people.means[worker]), math.sqrt(variance_now(memory.learned, worker)))
            scores[n] = worth_of(stakes.tables, capped, int(people.days[worker]), stakes.left)
            n += 1
    rank_descending(scores, ranks, n)
    for place in range(n):
        others[place] = scores[ranks[place]]
        standing[outside[ranks[place]]] = place
    for worker in range(len(people.means)):
        if standing[worker] < FOREVER:
            outside[standing[worker]] = worker
    memory.numbers[OUTSIDE] = n


def _make_pairs(
    parameters: EvolvingParameters,
    memory: EvolvingMemory,
    facts: RuleFacts,
    stakes: Stakes,
    n_out: int,
    n_in: int,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Pair the best entrants with the worst leavers while that pays, skipping leavers for whom waiting pays more."""
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
        prospect, other = prospect_of(memory, entrant), best_other(memory, entrant, n)
        length = best_length(stakes, prospect, level, other)
        gain = gain_of(stakes, prospect, level, other, length, stakes.left)
        if gain <= least:
            break
        if leaver == NOBODY or not (
            too_soon(parameters, memory, stakes, leaver, prospect, gain)
            or learning_pays(memory, stakes, leaver, prospect, other, length, gain)
            or _needed_elsewhere(memory, facts, stakes, prospect, n_in - n, level, other, length, gain)
        ):
            outs[n] = leaver
            ins[n] = entrant
            n += 1
    return _keep_paying(memory, stakes, n, least, outs, ins)


def _keep_paying(memory: EvolvingMemory, stakes: Stakes, n: int, least: float, outs: IntArray, ins: IntArray) -> int:
    """Drop the pairs that no longer pay once all entrants, who cannot be fallbacks, are known; return how many stay."""
    for pair in range(n):
        memory.standing[ins[pair]] = ENTERS
    kept = place = 0
    for pair in range(n):
        place = next_outside(memory, place)
        other = float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
        level, prospect = worth_now(memory, stakes, int(outs[pair])), prospect_of(memory, int(ins[pair]))
        length = best_length(stakes, prospect, level, other)
        if gain_of(stakes, prospect, level, other, length, stakes.left) > least:
            outs[kept] = outs[pair]
            ins[kept] = ins[pair]
            kept += 1
            place += 1
    return kept


def days_to_learn(tables: Tables, days: int, information: float) -> int:
    """Return after how many more days worked at least so much was learned, in days of somebody ramped up."""
    periods = math.ceil(information)
    while days + periods < FADED and taught_from(tables, days, float(periods)) < information:
        periods += 1
    return periods


def still_to_learn(
    parameters: EvolvingParameters, learned: Evolving, tables: Tables, noise: float, worker: int
) -> float:
    """Return how many more days of somebody ramped up tell `patience` times as much of a person as the pool does.

    It is 0 or less if that much is known, and where people are too much alike.
    """
    alike = noise / float(tables.parts[PART_VARIANCE])
    if alike > MOST_ALIKE:
        return 0.0
    people, began = learned.people, int(learned.people.first_days[worker])
    known = int(people.prior_counts[worker]) + taught_from(tables, began, float(people.days[worker] - began))
    return parameters.patience * alike - known


def days_of_patience(parameters: EvolvingParameters, learned: Evolving, tables: Tables, worker: int) -> int:
    """Return for how many more days somebody is let go only for a person who is probably better."""
    missing = still_to_learn(parameters, learned, tables, float(learned.numbers[NOISE_USED]), worker)
    return 0 if missing <= 0.0 else days_to_learn(tables, int(learned.people.days[worker]), missing)


def chance_in_place_of(memory: EvolvingMemory, stakes: Stakes, leaver: int, prospect: Prospect) -> float:
    """Return the probability that somebody outside does better than the leaver, or than an empty station.

    The leaver's level is as it was believed to be on their last day.
    """
    if leaver == NOBODY:
        return chance_better(stakes, prospect, 0.0, 0.0)
    people = memory.learned.people
    return chance_better(stakes, prospect, float(people.means[leaver]), float(people.variances[leaver]))


def too_soon(
    parameters: EvolvingParameters,
    memory: EvolvingMemory,
    stakes: Stakes,
    leaver: int,
    prospect: Prospect,
    gain: float,
) -> bool:
    """Return whether too little is known of a leaver to let them go for somebody who may well be worse.

    Waiting for the missing days postpones the gain, which must not cost more than a part of the fee.
    """
    missing = still_to_learn(parameters, memory.learned, stakes.tables, stakes.noise, leaver)
    cost = (gain + stakes.fee) * missing / stakes.left
    if missing <= 0.0 or cost > PATIENCE_COST * stakes.fee:
        return False
    return chance_in_place_of(memory, stakes, leaver, prospect) < parameters.sure


def learning_pays(
    memory: EvolvingMemory, stakes: Stakes, leaver: int, prospect: Prospect, other: float, length: float, gain: float
) -> bool:
    """Return whether to observe the leaver for longer before deciding."""
    people, tables = memory.learned.people, stakes.tables
    mean, variance, days = float(people.means[leaver]), float(people.variances[leaver]), int(people.days[leaver])
    for multiple in range(len(WAITS)):
        information = WAITS[multiple] * stakes.noise / variance
        if information > SOON * stakes.left:
            break
        periods = days_to_learn(tables, days, information)
        left = stakes.left - periods
        if left > length:
            sd = sd_of_finding(variance, stakes.noise, taught_from(tables, days, float(periods)))
            worth = worth_of(tables, mean, days + periods, left)
            if gain_later(stakes, prospect, worth, sd, math.inf, other, length, left) > gain:
                return True
    return False


def _needed_elsewhere(
    memory: EvolvingMemory,
    facts: RuleFacts,
    stakes: Stakes,
    prospect: Prospect,
    hopeful: int,
    level: float,
    other: float,
    length: float,
    gain: float,
) -> bool:
    """Return whether to reserve the entrant for a station whose pending entrant may turn out worse."""
    people, roster = memory.learned.people, facts.roster
    stations, worst = 0, NOBODY
    for slot in range(roster.counts[PENDING]):
        coming = int(roster.pending_in[slot])
        if people.means[coming] < level:
            stations += 1
            if worst == NOBODY or people.means[coming] < people.means[worst]:
                worst = coming
    if stations == 0:
        return False
    better = hopeful * chance_above(prospect.mean, math.sqrt(prospect.variance), level)
    if better > stations:
        return False
    sd, left = math.sqrt(variance_now(memory.learned, worst)), stakes.left - facts.mean_delay - 1.0
    return gain_later(stakes, prospect, float(people.means[worst]), sd, level, other, length, left) > gain


EVOLVING_RULE = Rule(
    fresh_memory,
    decide_evolving,
    observe=observe_day,
)
"""The rule of value-of-replacement-evolving."""
