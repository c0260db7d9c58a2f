"""The rule of value-of-replacement: replace exactly where the expected gain exceeds the fees.

In each period, from the worst active worker i up, the outside worker j whose trial gains most (see `trials`) is the
candidate to replace i. The pair is requested if its gain over the remaining periods, net of fees, is large enough and
waiting would not gain more. There are two reasons to wait:

- Observing i for longer costs nothing. With i better known, the fee may turn out not to be worth paying, or to be worth
  more. So i stays as long as the expected gain of deciding later exceeds that of acting now.
- A station whose entrant has not arrived may need j more than i's station does. If the expected number of outside
  workers better than i is at most the number of such stations, j is reserved for the one that would gain most, unless
  acting now gains more.

The pairs of a period share one pool: the r-th pair takes the r-th best entrant, and its fallback is the r-th best of
those who stay outside. Ties between workers are broken by a random order drawn at the start of the run, so that low
worker numbers are not tried first.

With `search`, a station goes on searching after a failed trial rather than going back, and is then worth the price of
`value.price`. Nobody above the price is displaced, except where nothing else is under way: then the worst may be, since
otherwise a search could stop while a trial still pays. The price has taken the pending entrants into account, so no
entrant is reserved for another station.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from crewlearn.beliefs.posterior import (
    BETWEEN,
    CENTRE,
    CENTRE_DOUBT,
    NOISE,
    Assumed,
    Beliefs,
    fresh_beliefs,
    learn,
)
from crewlearn.policies.ranking import rank_descending, rank_leavers
from crewlearn.policies.rule import Happened, Rule, RuleFacts
from crewlearn.policies.teams.rules import FOREVER, NEXT, SETTLED, nothing_to_ask
from crewlearn.policies.value.excess import possible
from crewlearn.policies.value.later import learning_pays, needed_elsewhere
from crewlearn.policies.value.price import station_price
from crewlearn.policies.value.trials import NO_PRICE, Trial, best_trial, gain_of, may_pay, sd_of_finding
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.chance import shuffle
from crewlearn.problem.transitions import FREE, PENDING, unclaimed_stations


class ValueParameters(NamedTuple):
    """The policy's `recheck` and `margin`, its assumptions about the pool, and whether failed trials search on."""

    recheck: int
    margin: float
    assumed: Assumed
    search: bool


OUTSIDE = 2
"""Index into `ValueMemory.numbers`, after SETTLED and NEXT: the number of outside workers who may enter."""

ENTERS = -1
"""Marks, in `ValueMemory.standing`, a worker who enters in this period."""

LEAST_GAIN = 0.01
"""Least total gain of a replacement, in units of output, so that equals are not exchanged if there is no fee."""

PRICE, WAIT = range(2)
"""Indices into `ValueMemory.market`."""


class ValueMemory(NamedTuple):
    """The rule's memory. Only SETTLED and NEXT in `numbers`, `queue` and the prior data in `beliefs` persist.

    - `queue`: the random order in which ties are broken.
    - `outside`, `others`: the workers who may enter, best first, and their expected means; `standing` is each worker's
      position in this list.
    - `entrants`, `scores`, `ranks`: the candidates to enter, the gains of their trials, and their order, best first.
    - `leavers`, `levels`, `order`: the candidates to leave, the worth of their stations, and their order, worst first.
    - `market`: the price of a station that searches on, and the delay of what follows a trial.
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
    market: FloatArray


class Ranked(Protocol):
    """A memory in which those who may enter are ranked, as `ValueMemory` has them."""

    @property
    def numbers(self) -> IntArray:
        """Counters, with the number of those who may enter at OUTSIDE."""

    @property
    def outside(self) -> IntArray:
        """Those who may enter, best first."""

    @property
    def others(self) -> FloatArray:
        """Their expected means."""

    @property
    def standing(self) -> IntArray:
        """Each worker's position among them."""


def draw_queue(workers: int, stream_key: int) -> IntArray:
    """Draw the random order in which ties between workers are broken."""
    queue = np.arange(workers)
    stream = np.zeros(2, dtype=np.int64)
    stream[0] = stream_key
    shuffle(queue, workers, stream)
    return queue


@lru_cache(maxsize=64)
def queue_of(workers: int, stream_key: int) -> tuple[int, ...]:
    """Draw the queue, cached because drawing it in plain Python is slow compared with the rule."""
    return tuple(draw_queue(workers, stream_key).tolist())


def fresh_value(parameters: ValueParameters, facts: RuleFacts, stream_key: int) -> ValueMemory:
    """Return the memory of a new run."""
    queue = draw_queue(len(facts.roster.role), stream_key)
    return fresh_value_memory(len(facts.roster.stations), facts.prior.counts, facts.prior.sums, queue)


def nothing_to_value(parameters: Any, memory: Ranked, period: int, facts: RuleFacts, behind: int) -> bool:
    """Return whether the next decision is not due yet."""
    return nothing_to_ask(memory.numbers, period)


def look_again(parameters: ValueParameters, memory: ValueMemory, happened: Happened) -> None:
    """Decide again after a replacement completed or failed."""
    memory.numbers[SETTLED] = 0


def look_again_revised(parameters: Any, memory: Ranked) -> None:
    """Look again after any change of the pool."""
    memory.numbers[SETTLED] = 0


def fresh_value_memory(team: int, spared_counts: IntArray, spared_sums: FloatArray, queue: IntArray) -> ValueMemory:
    """Allocate the memory."""
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
        np.array([NO_PRICE, 0.0]),
    )


def decide_value(
    parameters: ValueParameters, memory: ValueMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Update the beliefs, fill in the pairs that pay, and return their number."""
    learn(memory.beliefs, facts.estimates, parameters.assumed)
    return decide_learned(parameters, memory, period, facts, outs, ins)


def decide_learned(
    parameters: ValueParameters, memory: ValueMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Fill in the pairs that pay under the current beliefs, and return their number."""
    numbers, roster = memory.numbers, facts.roster
    numbers[SETTLED] = 1
    numbers[NEXT] = FOREVER
    left = periods_left(facts, period)
    if left <= 1.0:
        return 0
    n = n_in = 0
    level = _lowest_level(memory, facts)
    if level < math.inf:
        n_in = _list_entrants(memory, facts, level, left)
    if n_in > 0:  # seldom: most decisions end before anybody is ranked
        set_market(parameters, memory, facts, left)
        _rank_entrants(memory, facts, n_in, level, left)
        n = _make_pairs(parameters, memory, facts, _list_leavers(memory, facts), n_in, left, outs, ins)
    numbers[NEXT] = period + 1
    if n == 0 and roster.counts[PENDING] == 0:  # nothing changes until enough is learned
        numbers[NEXT] += _least_seen(facts) // parameters.recheck
    return n


VALUE_RULE = Rule(fresh_value, decide_value, nothing_to_value, after_moves=look_again, revise=look_again_revised)
"""The rule of value-of-replacement."""


def set_market(parameters: ValueParameters, memory: ValueMemory, facts: RuleFacts, left: float) -> None:
    """Set the price of a station and the delay of what follows a trial, if failed trials search on."""
    if parameters.search:
        memory.market[PRICE] = station_price(memory.beliefs, facts, left)
        memory.market[WAIT] = facts.mean_delay


def periods_left(facts: RuleFacts, period: int) -> float:
    """Return the expected number of periods that a worker requested now would work."""
    return float(facts.horizon - period + 1.0 - facts.mean_delay)


def _least_seen(facts: RuleFacts) -> int:
    """Return the number of observations of the least-observed active worker."""
    least = FOREVER
    for worker in facts.roster.stations:
        if worker != NOBODY:
            least = min(least, int(facts.estimates.counts[worker]))
    return least if least < FOREVER else 0


def _lowest_level(memory: ValueMemory, facts: RuleFacts) -> float:
    """Return the lowest worth per period of a station that may change hands; infinity if there is none."""
    roster, means = facts.roster, memory.beliefs.means
    lowest = math.inf
    for worker in roster.stations:
        if worker != NOBODY and roster.role[worker] == FREE and facts.may_leave[worker]:
            lowest = min(lowest, float(means[worker]))
    return min(lowest, 0.0) if unclaimed_stations(roster) > 0 else lowest


def _list_leavers(memory: ValueMemory, facts: RuleFacts) -> int:
    """List who may make room, and rank them by their station's worth per period, 0 if empty; return their number."""
    station_of, role, may_leave = facts.roster.station_of, facts.roster.role, facts.may_leave
    leavers, levels, means = memory.leavers, memory.levels, memory.beliefs.means
    n = 0
    for worker in range(len(station_of)):
        if station_of[worker] >= 0 and role[worker] == FREE and may_leave[worker]:
            leavers[n] = worker
            levels[n] = means[worker]
            n += 1
    for _ in range(unclaimed_stations(facts.roster)):
        leavers[n] = NOBODY
        levels[n] = 0.0
        n += 1
    rank_leavers(levels[:n], memory.order)
    return n


def _list_entrants(memory: ValueMemory, facts: RuleFacts, level: float, left: float) -> int:
    """List who may enter and might pay at a station worth `level`, in queue order; return their number.

    Workers who would not pay even with perfect information about them are left out.
    """
    pool, means, variances = memory.beliefs.pool, memory.beliefs.means, memory.beliefs.variances
    station_of, role, may_enter = facts.roster.station_of, facts.roster.role, facts.may_enter
    counts, entrants, fee = facts.estimates.counts, memory.entrants, facts.cost
    # The untried all have the same posterior, so this is computed once.
    untried_pay = may_pay(float(pool[CENTRE]), math.sqrt(pool[BETWEEN] + pool[CENTRE_DOUBT]), fee, level, left)
    n = 0
    for worker in memory.queue:
        if station_of[worker] < 0 and role[worker] == FREE and may_enter[worker]:
            pays = untried_pay
            if counts[worker] > 0:
                pays = may_pay(float(means[worker]), math.sqrt(variances[worker]), fee, level, left)
            if pays:
                entrants[n] = worker
                n += 1
    return n


def _rank_entrants(memory: ValueMemory, facts: RuleFacts, n: int, level: float, left: float) -> None:
    """Rank the `n` entrants by the gain of a trial at a station worth `level`, and all outside workers as fallbacks.

    All are ranked by a trial of the length that is best for the least-known entrant, since there is less to learn about
    the others.
    """
    beliefs, counts, entrants, scores = memory.beliefs, facts.estimates.counts, memory.entrants, memory.scores
    rank_outside(memory, facts)
    least_known = entrants[0]
    for place in range(1, n):
        if counts[entrants[place]] < counts[least_known]:
            least_known = entrants[place]
    trial = trial_of(memory, facts.cost, least_known, level, left, best_other(memory, least_known, 0))
    gain_untried, noise = gain_of(trial, level, left), float(beliefs.pool[NOISE])
    for place in range(n):
        worker = entrants[place]
        scores[place] = gain_untried
        if counts[worker] > 0:
            sd = sd_of_finding(float(beliefs.variances[worker]), noise, trial.length)
            other = best_other(memory, worker, 0)
            mean = float(beliefs.means[worker])
            known = Trial(mean, sd, trial.length, other, facts.cost, trial.wait, trial.price)
            scores[place] = gain_of(known, level, left)
    rank_descending(scores, memory.ranks, n)


def rank_outside(memory: ValueMemory, facts: RuleFacts) -> None:
    """Rank those who may enter by expected output, as fallbacks for failed trials."""
    means, variances = memory.beliefs.means, memory.beliefs.variances
    station_of, role, may_enter = facts.roster.station_of, facts.roster.role, facts.may_enter
    outside, others, standing = memory.outside, memory.others, memory.standing
    scores, ranks = memory.scores, memory.ranks
    n = 0
    for worker in range(len(means)):
        standing[worker] = FOREVER
        if station_of[worker] < 0 and role[worker] == FREE and may_enter[worker]:
            outside[n] = worker
            scores[n] = possible(float(means[worker]), math.sqrt(variances[worker]))
            n += 1
    rank_descending(scores, ranks, n)
    for place in range(n):
        others[place] = scores[ranks[place]]
        standing[outside[ranks[place]]] = place
    for worker in range(len(means)):
        if standing[worker] < FOREVER:
            outside[standing[worker]] = worker
    memory.numbers[OUTSIDE] = n


def best_other(memory: Ranked, worker: int, claimed: int) -> float:
    """Return the expected output of the best fallback other than `worker`, when `claimed` better ones are taken."""
    numbers, standing, others = memory.numbers, memory.standing, memory.others
    place = claimed + 1 if standing[worker] <= claimed else claimed
    return float(others[place]) if place < numbers[OUTSIDE] else 0.0


def trial_of(memory: ValueMemory, fee: float, worker: int, level: float, left: float, other: float) -> Trial:
    """Return the best trial of an outside worker at a station worth `level`, with a fallback worth `other`."""
    beliefs, market = memory.beliefs, memory.market
    mean, variance, noise = float(beliefs.means[worker]), float(beliefs.variances[worker]), float(beliefs.pool[NOISE])
    return best_trial(mean, variance, noise, other, fee, level, left, float(market[WAIT]), float(market[PRICE]))


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
    """Pair the best entrants with the worst leavers while that pays, skipping leavers for whom waiting pays more."""
    roster, beliefs = facts.roster, memory.beliefs
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
        if gain <= least or (parameters.search and level >= trial.price and n + roster.counts[PENDING] > 0):
            break
        if leaver == NOBODY or not (
            learning_pays(beliefs, leaver, trial, gain, left)
            or (
                not parameters.search
                and needed_elsewhere(beliefs, roster, entrant, n_in - n, level, trial, gain, left - facts.mean_delay)
            )
        ):
            outs[n] = leaver
            ins[n] = entrant
            n += 1
    return _keep_paying(memory, facts.cost, n, least, left, outs, ins)


def _keep_paying(
    memory: ValueMemory, fee: float, n: int, least: float, left: float, outs: IntArray, ins: IntArray
) -> int:
    """Drop the pairs that no longer pay once all entrants, who cannot be fallbacks, are known; return how many stay."""
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


def next_outside(memory: Ranked, place: int) -> int:
    """Return the first position from `place` on, in `memory.outside`, of a worker who does not enter."""
    while place < memory.numbers[OUTSIDE] and memory.standing[memory.outside[place]] == ENTERS:
        place += 1
    return place
