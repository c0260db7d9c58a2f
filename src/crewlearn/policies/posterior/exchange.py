"""Memory and candidate lists that the rules of this family share."""

from typing import Any, NamedTuple

import numpy as np

from crewlearn.beliefs.posterior import Beliefs, fresh_beliefs
from crewlearn.policies.ranking import rank_leavers
from crewlearn.policies.rule import RuleFacts
from crewlearn.policies.value.rule import draw_queue
from crewlearn.problem.arrays import NOBODY, FloatArray, IntArray
from crewlearn.problem.transitions import FREE, PENDING, unclaimed_stations


class ExchangeMemory(NamedTuple):
    """A rule's memory; everything but `stream`, `queue` and the prior data in `beliefs` is scratch.

    `stream` holds the key of the policy's random stream. `queue` is a random order, drawn once, that breaks ties.
    `levels` are the output a period of the `leavers`' stations; `order` ranks them, lowest first. `scores` belong to
    the `entrants`; `ranks` ranks them, highest first.
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
    """Return fresh memory with these beliefs."""
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
    """Return how many replacements may be requested: one per station, less those pending."""
    return int(len(facts.roster.stations) - facts.roster.counts[PENDING])


def list_leavers(memory: ExchangeMemory, facts: RuleFacts) -> int:
    """List the workers who may leave, then NOBODY for each empty station without a pending hire; return the count."""
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
    """List the workers who may enter, in queue order; return the count."""
    roster, n = facts.roster, 0
    for worker in memory.queue:
        if roster.station_of[worker] < 0 and roster.role[worker] == FREE and facts.may_enter[worker]:
            memory.entrants[n] = worker
            n += 1
    return n


def rank_stations(memory: ExchangeMemory, n: int) -> None:
    """Rank the first `n` leavers by level, lowest first."""
    rank_leavers(memory.levels[:n], memory.order)
