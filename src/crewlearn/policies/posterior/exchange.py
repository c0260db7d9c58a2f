"""What the rules of this family share: room to work in, and the lists of who may leave and who may enter."""

from typing import Any, NamedTuple

import numpy as np

from crewlearn.beliefs.posterior import Beliefs, fresh_beliefs
from crewlearn.policies.ranking import rank_leavers
from crewlearn.policies.rule import RuleFacts
from crewlearn.policies.value.rule import draw_queue
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.transitions import FREE, PENDING, unclaimed_stations


class ExchangeMemory(NamedTuple):
    """What a rule works with; all but `stream`, `queue` and what `beliefs` spares is scratch.

    `stream` holds the key of the policy's own random stream, `queue` the order in which equals come, drawn once.
    `levels` are what the stations of the `leavers` are worth a period, and `order` says who goes first. `scores` belong
    to the `entrants`, and `ranks` say who comes first.
    """

    stream: IntArray
    beliefs: Beliefs
    queue: IntArray
    scores: FloatArray
    entrants: IntArray
    ranks: IntArray
    levels: FloatArray
    leavers: IntArray
    order: IntArray


def fresh_exchange(parameters: Any, facts: RuleFacts, stream_key: int) -> ExchangeMemory:
    """Begin a run."""
    queue = draw_queue(len(facts.roster.role), stream_key)
    beliefs = fresh_beliefs(facts.prior.counts, facts.prior.sums)
    return fresh_exchange_memory(len(facts.roster.stations), beliefs, queue, stream_key)


def fresh_exchange_memory(team: int, beliefs: Beliefs, queue: IntArray, stream_key: int) -> ExchangeMemory:
    """Make room for a decision."""
    workers = len(queue)
    stream = np.zeros(1, dtype=np.int64)
    stream[0] = stream_key
    return ExchangeMemory(
        stream,
        beliefs,
        queue,
        np.zeros(workers, dtype=np.float64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers, dtype=np.int64),
        np.zeros(workers + team, dtype=np.float64),
        np.zeros(workers + team, dtype=np.int64),
        np.zeros(workers + team, dtype=np.int64),
    )


def open_requests(facts: RuleFacts) -> int:
    """Count the replacements that may still be asked for: one a station, less those pending."""
    return int(len(facts.roster.stations) - facts.roster.counts[PENDING])


def list_leavers(memory: ExchangeMemory, facts: RuleFacts) -> int:
    """List who may make room, and after them an entry for each empty station that nobody is on the way to."""
    roster, n = facts.roster, 0
    for worker in range(len(roster.station_of)):
        if roster.station_of[worker] >= 0 and roster.role[worker] == FREE and facts.may_leave[worker]:
            memory.leavers[n] = worker
            n += 1
    for _ in range(unclaimed_stations(roster)):
        memory.leavers[n] = NOBODY
        n += 1
    return n


def list_entrants(memory: ExchangeMemory, facts: RuleFacts) -> int:
    """List who may enter, in the order of the queue."""
    roster, n = facts.roster, 0
    for worker in memory.queue:
        if roster.station_of[worker] < 0 and roster.role[worker] == FREE and facts.may_enter[worker]:
            memory.entrants[n] = worker
            n += 1
    return n


def rank_stations(memory: ExchangeMemory, n: int) -> None:
    """Rank the first `n` leavers by the levels of their stations, the lowest first."""
    rank_leavers(memory.levels[:n], memory.order)
