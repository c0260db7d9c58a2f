"""The oracle on a floor that changes: replacements planned with everybody's future level, ramp and delays known.

It looks at pairs: a worker who leaves and one who enters. The value of a pair is the expected difference of their
output from the entrant's start to the true end, less the expected fee. Chances to quit discount the future; chances to
decline discount the offer, and its fee if that is due at completion. Whom they strike, and who will be absent, is not
foreseen. The worst to keep is paired with the best outside, the next worst with the next best. Then pairs take another
entrant wherever that gains more, counting the delay that each pair would have, until nothing does. A pair is asked for
only if no later period within reach promises more.

Later replacements of the same place are not planned ahead, so this is no upper bound.
"""

import math
from typing import NamedTuple

import numpy as np

from crewlearn.policies.contract import Foresight
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.rule import RuleFacts
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.laws import pair_delay
from crewlearn.problem.transitions import FREE, PENDING, unclaimed_stations

REACH = 8
"""How many periods ahead a better moment for the same pair is looked for."""

ROUNDS = 20
"""How often all pairs are gone through, at most, for a better entrant."""


class ForesightMemory(NamedTuple):
    """What the oracle works with: `lasting[i, t-1]` and `fading[i, t-1]` are sums over the periods from t to the end.

    `lasting` sums worker i's output after ramp-up, and `fading` the same with the weight of a ramp that begins in
    period t. Both are discounted by the chance to stay. The rest is scratch.
    """

    lasting: FloatArray
    fading: FloatArray
    leavers: IntArray
    keeping: FloatArray
    leaver_order: IntArray
    entrants: IntArray
    entering: FloatArray
    entrant_order: IntArray
    taken: IntArray


def fresh_foresight(workers: int, team: int, periods: int) -> ForesightMemory:
    """Make room for a run of so many periods; none for a floor on which nothing changes."""
    return ForesightMemory(
        np.zeros((workers, periods + 1), dtype=np.float64),
        np.zeros((workers, periods + 1), dtype=np.float64),
        np.zeros(workers + team, dtype=np.int64),
        np.zeros(workers + team, dtype=np.float64),
        np.zeros(workers + team, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
    )


def look_ahead(memory: ForesightMemory, foresight: Foresight, period: int, means: FloatArray) -> None:
    """Fill in the sums from `period` on; where levels are not known ahead, the present ones are taken to last."""
    stay, fade = 1.0 - foresight.quits, _fade(foresight)
    for worker in range(len(memory.lasting)):
        lasting = fading = 0.0
        for ahead in range(memory.lasting.shape[1] - 1, period - 1, -1):
            level = foresight.levels[worker, ahead - 1] if foresight.known else means[worker]
            made = level * foresight.day_shares[ahead - 1]
            lasting = made + stay * lasting
            fading = made + stay * fade * fading
            memory.lasting[worker, ahead - 1] = lasting
            memory.fading[worker, ahead - 1] = fading


def _fade(foresight: Foresight) -> float:
    """Return what a period of work leaves of a ramp."""
    return float(foresight.fading[1]) if len(foresight.fading) > 1 else 0.0


def worth_from(memory: ForesightMemory, facts: RuleFacts, worker: int, begin: int, worked: int) -> float:
    """Return what a worker who has worked so many days by then puts out from period `begin` to the end, discounted."""
    if worker == NOBODY or begin >= memory.lasting.shape[1]:
        return 0.0
    foresight = facts.hidden.foresight
    ramp = foresight.depth[worker] * foresight.fading[min(worked, len(foresight.fading) - 1)]
    return float(memory.lasting[worker, begin - 1] - ramp * memory.fading[worker, begin - 1])


def gain_of_pair(memory: ForesightMemory, facts: RuleFacts, now: int, period: int, out: int, into: int) -> float:
    """Return the expected gain, less the fee, of asking for a pair in a period, as seen from now."""
    foresight = facts.hidden.foresight
    begin = period + pair_delay(facts.hidden.delay_form, facts.hidden.delay_key, period, out, into)
    stayed = 0 if out == NOBODY else int(facts.experience[out]) + begin - now
    there = worth_from(memory, facts, into, begin, int(facts.experience[into]))
    kept = worth_from(memory, facts, out, begin, stayed)
    discount = math.pow(1.0 - foresight.quits, begin - now)
    return (1.0 - foresight.declines) * discount * (there - kept) - expected_fee(facts)


def expected_fee(facts: RuleFacts) -> float:
    """Return the mean fee of an offer, which at completion is due only if it is accepted."""
    foresight = facts.hidden.foresight
    return facts.cost if foresight.fee_if_declined else (1.0 - foresight.declines) * facts.cost


def plan_replacements(memory: ForesightMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray) -> int:
    """Fill in the pairs that pay and had better not wait; return their number."""
    roster = facts.roster
    n_out, n_in = _list_leavers(memory, period, facts), _list_entrants(memory, period, facts)
    room = len(roster.stations) - int(roster.counts[PENDING])
    n = 0
    while n < min(n_out, n_in, room):
        leaver, entrant = memory.leaver_order[n], memory.entrant_order[n]
        gain = (1.0 - facts.hidden.foresight.declines) * (memory.entering[entrant] - memory.keeping[leaver])
        if gain <= expected_fee(facts):
            break
        outs[n] = memory.leavers[leaver]
        ins[n] = memory.entrants[entrant]
        n += 1
    _improve(memory, facts, period, n, n_in, outs, ins)
    kept = 0
    for pair in range(n):
        if _had_better_be_now(memory, facts, period, int(outs[pair]), int(ins[pair])):
            outs[kept] = outs[pair]
            ins[kept] = ins[pair]
            kept += 1
    return kept


def _list_leavers(memory: ForesightMemory, period: int, facts: RuleFacts) -> int:
    """List who may make room, the least worth keeping first: from the mean delay on, to the end."""
    roster, delay = facts.roster, math.ceil(facts.mean_delay)
    n = 0
    for worker in range(len(roster.station_of)):
        if roster.station_of[worker] >= 0 and roster.role[worker] == FREE and facts.may_leave[worker]:
            memory.leavers[n] = worker
            worked = int(facts.experience[worker]) + delay
            memory.keeping[n] = worth_from(memory, facts, worker, period + delay, worked)
            n += 1
    for _ in range(unclaimed_stations(roster)):
        memory.leavers[n] = NOBODY
        memory.keeping[n] = 0.0
        n += 1
    rank_leavers(memory.keeping[:n], memory.leaver_order)
    return n


def _list_entrants(memory: ForesightMemory, period: int, facts: RuleFacts) -> int:
    """List who may enter, the most worth having first."""
    roster, delay = facts.roster, math.ceil(facts.mean_delay)
    n = 0
    for worker in range(len(roster.station_of)):
        memory.taken[worker] = 0
        if roster.station_of[worker] < 0 and roster.role[worker] == FREE and facts.may_enter[worker]:
            memory.entrants[n] = worker
            worked = int(facts.experience[worker])
            memory.entering[n] = worth_from(memory, facts, worker, period + delay, worked)
            n += 1
    rank_descending(memory.entering, memory.entrant_order, n)
    return n


def _improve(
    memory: ForesightMemory, facts: RuleFacts, period: int, n: int, n_in: int, outs: IntArray, ins: IntArray
) -> None:
    """Give pairs other entrants, of other pairs or of nobody yet, until none gains more by it."""
    for pair in range(n):
        memory.taken[ins[pair]] = pair + 1
    better = n > 0
    rounds = 0
    while better and rounds < ROUNDS:
        better = False
        rounds += 1
        for pair in range(n):
            out = int(outs[pair])
            mine = gain_of_pair(memory, facts, period, period, out, int(ins[pair]))
            for place in range(n_in):
                entrant = int(memory.entrants[place])
                if entrant == ins[pair]:
                    continue
                gain = gain_of_pair(memory, facts, period, period, out, entrant) - mine
                other = int(memory.taken[entrant]) - 1
                if other >= 0:
                    theirs = int(outs[other])
                    gain += gain_of_pair(memory, facts, period, period, theirs, int(ins[pair]))
                    gain -= gain_of_pair(memory, facts, period, period, theirs, entrant)
                if gain > 1e-9:
                    if other >= 0:
                        ins[other] = ins[pair]
                    memory.taken[ins[pair]] = other + 1
                    memory.taken[entrant] = pair + 1
                    ins[pair] = entrant
                    mine = gain_of_pair(memory, facts, period, period, out, entrant)
                    better = True


def _had_better_be_now(memory: ForesightMemory, facts: RuleFacts, period: int, out: int, into: int) -> bool:
    """Return whether a pair pays, and asking for it later does not pay more."""
    gain = gain_of_pair(memory, facts, period, period, out, into)
    if gain <= 0.0:
        return False
    for later in range(period + 1, min(period + REACH, memory.lasting.shape[1] - 1) + 1):
        if gain_of_pair(memory, facts, period, later, out, into) > gain:
            return False
    return True
