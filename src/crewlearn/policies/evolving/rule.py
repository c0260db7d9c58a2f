"""The rule of value-of-replacement-evolving."""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.beliefs.evolving.learning import fresh_evolving, learn_day
from crewlearn.beliefs.evolving.model import FADED, NOISE_USED, Evolving, Told, variance_now
from crewlearn.beliefs.posterior import chance_above
from crewlearn.policies.evolving.trials import (
    Prospect,
    Stakes,
    best_length,
    gain_later,
    gain_of,
    lost_from,
    make_tables,
    may_pay,
    taught_from,
)
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.rule import Happened, Rule, RuleFacts
from crewlearn.policies.teams.rules import FOREVER, NEXT, SETTLED, nothing_to_ask
from crewlearn.policies.value.excess import possible
from crewlearn.policies.value.rule import ENTERS, LEAST_GAIN, OUTSIDE, WAITS, draw_queue, periods_left
from crewlearn.policies.value.trials import sd_of_finding
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.transitions import FREE, PENDING, RosterArrays, unclaimed_stations


class EvolvingParameters(NamedTuple):
    """The policy's numbers."""

    recheck: int
    margin: float
    stay_guess: float
    told: Told


QUITS, DAYS_WORKED, WATCHED = 3, 4, 5


class EvolvingMemory(NamedTuple):
    """The rule's memory."""

    numbers: IntArray
    learned: Evolving
    queue: IntArray
    held: IntArray
    outside: IntArray
    others: FloatArray
    standing: IntArray
    scores: FloatArray
    entrants: IntArray
    ranks: IntArray
    levels: FloatArray
    leavers: IntArray
    order: IntArray
    lost: FloatArray
    taught: FloatArray
    parts: FloatArray


def fresh_evolving_memory(parameters: EvolvingParameters, facts: RuleFacts, stream_key: int) -> EvolvingMemory:
    """Return the memory of a new run."""
    workers, team = len(facts.roster.role), len(facts.roster.stations)
    return EvolvingMemory(
        np.zeros(6, dtype=np.int64),
        fresh_evolving(parameters.told, facts.experience, facts.prior.counts, facts.prior.sums, team, workers),
        draw_queue(workers, stream_key),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers + team, dtype=np.float64),
        np.zeros(workers + team, dtype=np.int64),
        np.zeros(workers + team, dtype=np.int64),
        np.zeros(FADED + 1, dtype=np.float64),
        np.zeros(FADED + 1, dtype=np.float64),
        np.zeros(9, dtype=np.float64),
    )


def nothing_to_value(
    parameters: EvolvingParameters, memory: EvolvingMemory, period: int, facts: RuleFacts, behind: int
) -> bool:
    """Return whether the next decision is not due yet."""
    return nothing_to_ask(memory.numbers, period)


def look_again(parameters: EvolvingParameters, memory: EvolvingMemory, happened: Happened) -> None:
    """Decide again after a replacement completed or failed."""
    memory.numbers[SETTLED] = 0
    for place in range(len(happened.completed_in)):
        if happened.completed_out[place] != NOBODY:
            memory.held[happened.completed_out[place]] = 0
        memory.held[happened.completed_in[place]] = 1


def look_again_revised(parameters: EvolvingParameters, memory: EvolvingMemory) -> None:
    """Look again after any change of the pool."""
    memory.numbers[SETTLED] = 0


def observe(parameters: EvolvingParameters, memory: EvolvingMemory, happened: Happened) -> None:
    """Learn from the day's output."""
    learn_day(memory.learned, parameters.told, happened.period, happened.workers, happened.output)
    if memory.numbers[WATCHED] == 1:
        memory.numbers[DAYS_WORKED] += len(happened.workers)


def _watch_quits(memory: EvolvingMemory, roster: RosterArrays) -> None:
    for worker in range(len(memory.held)):
        if memory.held[worker] == 1 and roster.station_of[worker] < 0 and memory.numbers[WATCHED] == 1:
            memory.numbers[QUITS] += 1
        memory.held[worker] = 1 if roster.station_of[worker] >= 0 else 0
    memory.numbers[WATCHED] = 1


def periods_together(parameters: EvolvingParameters, memory: EvolvingMemory, left: float) -> float:
    """Return the periods left, discounted by the chance that either of a pair quits."""
    if memory.numbers[QUITS] == 0:
        return left
    rate = 2.0 * memory.numbers[QUITS] / (parameters.stay_guess + memory.numbers[DAYS_WORKED])
    return (1.0 - math.exp(-rate * left)) / rate


def decide_evolving(
    parameters: EvolvingParameters, memory: EvolvingMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Fill in the pairs that pay, and return their number."""
    numbers, roster, learned = memory.numbers, facts.roster, memory.learned
    numbers[SETTLED] = 1
    numbers[NEXT] = FOREVER
    _watch_quits(memory, roster)
    left = periods_together(parameters, memory, periods_left(facts, period))
    if left <= 1.0:
        return 0
    noise = float(learned.numbers[NOISE_USED])
    make_tables(learned, memory.lost, memory.taught, memory.parts, noise)
    stakes = Stakes(left, facts.cost, noise, memory.lost, memory.taught, memory.parts)
    n = n_in = 0
    n_out = _list_leavers(memory, facts, stakes)
    if n_out > 0:
        level = float(memory.levels[memory.order[0]])
        n_in = _list_entrants(memory, facts, stakes, level)
        if n_in > 0:
            _rank_entrants(memory, facts, stakes, n_in, level)
            n = _make_pairs(parameters, memory, facts, stakes, n_out, n_in, outs, ins)
    numbers[NEXT] = period + 1
    if n == 0 and roster.counts[PENDING] == 0:
        numbers[NEXT] += min(_least_seen(memory, facts) // parameters.recheck, 4)
    return n


def _least_seen(memory: EvolvingMemory, facts: RuleFacts) -> int:
    least = FOREVER
    people = memory.learned.people
    for worker in facts.roster.stations:
        if worker != NOBODY:
            least = min(least, int(people.days[worker] - people.first_days[worker]))
    return least if least < FOREVER else 0


def _worth(memory: EvolvingMemory, stakes: Stakes, worker: int) -> float:
    """Return a worker's expected output a period over the periods left."""
    people = memory.learned.people
    mean = float(people.means[worker])
    return mean * (1.0 - lost_from(stakes, int(people.days[worker]), stakes.left) / stakes.left)


def prospect_of(memory: EvolvingMemory, worker: int) -> Prospect:
    """Return a worker as a prospect."""
    people = memory.learned.people
    mean, variance = float(people.means[worker]), variance_now(memory.learned, worker)
    return Prospect(mean, variance, int(people.days[worker]), bool(people.slot[worker] < 0))


def _list_leavers(memory: EvolvingMemory, facts: RuleFacts, stakes: Stakes) -> int:
    station_of, role, may_leave = facts.roster.station_of, facts.roster.role, facts.may_leave
    n = 0
    for worker in range(len(station_of)):
        if station_of[worker] >= 0 and role[worker] == FREE and may_leave[worker]:
            memory.leavers[n] = worker
            memory.levels[n] = _worth(memory, stakes, worker)
            n += 1
    for _ in range(unclaimed_stations(facts.roster)):
        memory.leavers[n] = NOBODY
        memory.levels[n] = 0.0
        n += 1
    rank_leavers(memory.levels[:n], memory.order)
    return n


def _list_entrants(memory: EvolvingMemory, facts: RuleFacts, stakes: Stakes, level: float) -> int:
    station_of, role, may_enter = facts.roster.station_of, facts.roster.role, facts.may_enter
    people, entrants = memory.learned.people, memory.entrants
    known = untried_pay = False
    n = 0
    for worker in memory.queue:
        if station_of[worker] < 0 and role[worker] == FREE and may_enter[worker]:
            if people.slot[worker] < 0 and people.days[worker] == 0:
                if not known:
                    untried_pay = may_pay(stakes, prospect_of(memory, worker), level)
                    known = True
                pays = untried_pay
            else:
                pays = may_pay(stakes, prospect_of(memory, worker), level)
            if pays:
                entrants[n] = worker
                n += 1
    return n


def _rank_entrants(memory: EvolvingMemory, facts: RuleFacts, stakes: Stakes, n: int, level: float) -> None:
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
    people = memory.learned.people
    outside, others, standing = memory.outside, memory.others, memory.standing
    scores, ranks = memory.scores, memory.ranks
    n = 0
    for worker in range(len(people.means)):
        standing[worker] = FOREVER
        if station_of[worker] < 0 and role[worker] == FREE and may_enter[worker]:
            outside[n] = worker
            capped = possible(float(people.means[worker]), math.sqrt(people.variances[worker]))
            share = 1.0 - lost_from(stakes, int(people.days[worker]), stakes.left) / stakes.left
            scores[n] = capped * share
            n += 1
    rank_descending(scores, ranks, n)
    for place in range(n):
        others[place] = scores[ranks[place]]
        standing[outside[ranks[place]]] = place
    for worker in range(len(people.means)):
        if standing[worker] < FOREVER:
            outside[standing[worker]] = worker
    memory.numbers[OUTSIDE] = n


def best_other(memory: EvolvingMemory, worker: int, claimed: int) -> float:
    """Return the expected output of the best fallback other than `worker`, when `claimed` better ones are taken."""
    place = claimed + 1 if memory.standing[worker] <= claimed else claimed
    return float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0


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
            _learning_pays(memory, stakes, leaver, prospect, other, length, gain)
            or _needed_elsewhere(memory, facts, stakes, prospect, n_in - n, level, other, length, gain)
        ):
            outs[n] = leaver
            ins[n] = entrant
            n += 1
    return _keep_paying(memory, stakes, n, least, outs, ins)


def _keep_paying(memory: EvolvingMemory, stakes: Stakes, n: int, least: float, outs: IntArray, ins: IntArray) -> int:
    for pair in range(n):
        memory.standing[ins[pair]] = ENTERS
    kept = place = 0
    for pair in range(n):
        while place < memory.numbers[OUTSIDE] and memory.standing[memory.outside[place]] == ENTERS:
            place += 1
        other = float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
        level = 0.0 if outs[pair] == NOBODY else _worth(memory, stakes, outs[pair])
        prospect = prospect_of(memory, ins[pair])
        length = best_length(stakes, prospect, level, other)
        if gain_of(stakes, prospect, level, other, length, stakes.left) > least:
            outs[kept] = outs[pair]
            ins[kept] = ins[pair]
            kept += 1
            place += 1
    return kept


def _learning_pays(
    memory: EvolvingMemory,
    stakes: Stakes,
    leaver: int,
    prospect: Prospect,
    other: float,
    length: float,
    gain: float,
) -> bool:
    """Return whether to observe the leaver for longer before deciding."""
    people = memory.learned.people
    mean, variance, days = float(people.means[leaver]), float(people.variances[leaver]), int(people.days[leaver])
    for multiple in range(len(WAITS)):
        target = WAITS[multiple] * stakes.noise / variance
        periods = math.ceil(target)
        while days + periods < FADED and taught_from(stakes, days, periods) < target:
            periods += 1
        left = stakes.left - periods
        if left <= length:
            continue
        sd = sd_of_finding(variance, stakes.noise, max(taught_from(stakes, days, periods), 1e-9))
        worth = mean * (1.0 - lost_from(stakes, days + periods, left) / left)
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
        coming = roster.pending_in[slot]
        if people.means[coming] < level:
            stations += 1
            if worst == NOBODY or people.means[coming] < people.means[worst]:
                worst = coming
    if stations == 0:
        return False
    better = hopeful * chance_above(prospect.mean, math.sqrt(prospect.variance), level)
    if better > stations:
        return False
    sd = math.sqrt(people.variances[worst])
    left = stakes.left - facts.mean_delay - 1.0
    return gain_later(stakes, prospect, float(people.means[worst]), sd, level, other, length, left) > gain


EVOLVING_RULE = Rule(
    fresh_evolving_memory,
    decide_evolving,
    nothing_to_value,
    after_moves=look_again,
    revise=look_again_revised,
    observe=observe,
)
"""The rule of value-of-replacement-evolving."""
