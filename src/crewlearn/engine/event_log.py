"""Events of many compiled runs: requests, arrivals, lapses, and decisions."""

from typing import Any

import numpy as np

from crewlearn.engine.blocks import Block, blocks_of, empty_tally, is_compiled, play_compiled, worlds_of
from crewlearn.engine.compiled.kernel import ARRIVAL, DECISION, LAPSE, REQUEST
from crewlearn.engine.local import load_loops
from crewlearn.engine.tuning import settled
from crewlearn.policies.compilable import rule_of
from crewlearn.policies.contract import Policy
from crewlearn.problem.arrays import IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem

__all__ = ["ARRIVAL", "DECISION", "LAPSE", "REQUEST", "events_of_runs"]

FIRST_ROOM = 2_000
"""Initial capacity of the log, in events per run."""


def events_of_runs(problem: Problem, policy: Policy[Any], runs: int, seed: int) -> IntArray:
    """Return the events of the runs, one per row: run, period, kind, out, in.

    A DECISION is reported by the policy's rule. It has two numbers in place of out and in: for DR-UCB the number of
    states in its frontier and the largest frontier so far. Within a period decisions come first, then requests, then
    arrivals and lapses.

    >>> from crewlearn.policies.dr_ucb.policy import DRUCB
    >>> from crewlearn.problem.instances import benchmark
    >>> events_of_runs(benchmark(horizon=1), DRUCB(), runs=1, seed=1).tolist()
    [[0, 1, 3, 0, 0]]
    """
    if rule_of(policy) is None:
        raise InvalidInput("policy", policy.name, "must name a rule; `trace` writes the events of any policy")
    load_loops("local", problem, [policy], seed)
    if not is_compiled(policy, problem):
        remedy = "has a law that cannot be compiled; `trace` writes the events of any problem"
        raise InvalidInput("problem", problem, remedy)
    policy = settled(policy, problem, seed)
    blocks = blocks_of(problem, policy, runs, seed, (problem.horizon,))
    return np.concatenate([_events_of(block) for block in blocks])


def _events_of(block: Block) -> IntArray:
    """Play a block, growing the log until all its events fit."""
    room = FIRST_ROOM * block.count
    while True:
        tally = empty_tally(block, events=room)
        play_compiled(block, *worlds_of(block), tally)
        if tally.logged[0] < room:
            return tally.log[: tally.logged[0]]
        room *= 4
