"""Blocks of runs: the unit of work for threads, processes and clusters.

A block's result depends only on the problem, the policy, the seed and the block's number, and results are combined in
the order of those numbers. So results are bit-identical however the work is spread.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from crewlearn.engine.compiled.forms import policy_form, problem_form, rule_of
from crewlearn.engine.compiled.kernel import FAULT, FAULT_IN, FAULT_OUT, FAULT_PERIOD, FAULT_RUN, Tally
from crewlearn.engine.interpreted import play
from crewlearn.engine.streams import seed_root
from crewlearn.engine.world import World, best_output
from crewlearn.policies.contract import Policy
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem
from crewlearn.problem.roster import REMEDIES
from crewlearn.problem.transitions import LEGAL

LARGEST_BLOCK = 64
WORK_IN_A_BLOCK = 2_000_000
"""Upper limit on the outputs drawn in a block, which keeps every block short."""


@dataclass(frozen=True)
class Block:
    """Runs `first` to `first + count - 1` of one policy; `at` are the checkpoints in periods."""

    problem: Problem
    policy: Policy[Any]
    seed: int
    first: int
    count: int
    at: tuple[int, ...]


@dataclass(frozen=True)
class BlockResult:
    """The results of a block's runs.

    `regret` and `normalized_loss` have the shape (runs, checkpoints). `initiated`, `completed` and `largest_frontier`
    are per run. `*_mean` and `*_squares` are the block's mean and sum of squared deviations after every period.
    """

    regret: FloatArray
    normalized_loss: FloatArray
    initiated: IntArray
    completed: IntArray
    largest_frontier: IntArray
    regret_mean: FloatArray
    regret_squares: FloatArray
    loss_mean: FloatArray
    loss_squares: FloatArray


def block_size(problem: Problem) -> int:
    """Return the number of runs in a block, which depends on the problem alone."""
    return max(1, min(LARGEST_BLOCK, WORK_IN_A_BLOCK // (problem.team * problem.horizon)))


def blocks_of(problem: Problem, policy: Policy[Any], runs: int, seed: int, at: tuple[int, ...]) -> list[Block]:
    """Split a policy's runs into blocks."""
    size = block_size(problem)
    return [Block(problem, policy, seed, first, min(size, runs - first), at) for first in range(0, runs, size)]


def play_block(block: Block, stop: IntArray | None = None) -> BlockResult:
    """Play a block, compiled if the policy names a rule, else in plain Python; end early once `stop` is set."""
    horizon = block.problem.horizon
    means, best = worlds_of(block)
    tally = empty_tally(block, stop=stop)
    if rule_of(block.policy) is None:
        _play_interpreted(block, tally)
    else:
        play_compiled(block, means, best, tally)
    ideal = best[:, None] * np.arange(1, horizon + 1)
    loss = np.divide(100.0 * tally.curve, ideal, out=np.zeros_like(tally.curve), where=ideal > 0.0)
    regret_mean, regret_squares = _moments(tally.curve)
    loss_mean, loss_squares = _moments(loss)
    columns = np.array(block.at) - 1
    return BlockResult(
        regret=tally.regret,
        normalized_loss=loss[:, columns],
        initiated=tally.initiated,
        completed=tally.completed,
        largest_frontier=tally.largest_noted,
        regret_mean=regret_mean,
        regret_squares=regret_squares,
        loss_mean=loss_mean,
        loss_squares=loss_squares,
    )


_problem_form = lru_cache(maxsize=64)(problem_form)


def empty_tally(block: Block, workers: int = 0, events: int = 0, stop: IntArray | None = None) -> Tally:
    """Return an empty tally for a block, with room for output sums of `workers` and a log of `events` rows."""
    return Tally(
        regret=np.zeros((block.count, len(block.at))),
        curve=np.zeros((block.count, block.problem.horizon)),
        initiated=np.zeros(block.count, dtype=np.int64),
        completed=np.zeros(block.count, dtype=np.int64),
        largest_noted=np.zeros(block.count, dtype=np.int64),
        sums=np.zeros((block.count, workers)),
        log=np.zeros((events, 5), dtype=np.int64),
        logged=np.zeros(1, dtype=np.int64),
        fault=np.zeros(5, dtype=np.int64),
        stop=np.zeros(1, dtype=np.int64) if stop is None else stop,
    )


def play_compiled(block: Block, means: FloatArray, best: FloatArray, tally: Tally) -> None:
    """Play a block with the compiled loop of its policy's rule."""
    from crewlearn.engine.compiled.loops import run_loop

    policy, rule = block.policy, rule_of(block.policy)
    assert rule is not None
    at, root = np.array(block.at, dtype=np.int64), seed_root(block.seed)
    form = policy_form(policy, block.problem)
    run_loop(rule, policy.name, _problem_form(block.problem), form, means, best, root, block.first, at, tally)
    if tally.fault[FAULT] != LEGAL:
        run, period, out, into = (int(tally.fault[index]) for index in (FAULT_RUN, FAULT_PERIOD, FAULT_OUT, FAULT_IN))
        remedy = f"asked for ({out}, {into}) in period {period} of run {run}: {REMEDIES[int(tally.fault[FAULT])]}"
        raise InvalidInput("policy", policy.name, remedy)


def worlds_of(block: Block) -> tuple[FloatArray, FloatArray]:
    """Return each run's hidden means and the mean output of its best team."""
    problem, runs = block.problem, range(block.first, block.first + block.count)
    if not problem.drawn_per_run:
        means = problem.means()
        best = best_output(means, problem.team)
        return np.tile(means, (block.count, 1)), np.full(block.count, best)
    means_by_run = np.array([problem.means(block.seed, run) for run in runs])
    return means_by_run, np.array([best_output(means, problem.team) for means in means_by_run])


def _play_interpreted(block: Block, tally: Tally) -> None:
    for index in range(block.count):
        regret = 0.0
        for step in play(World(block.problem, block.seed, block.first + index), block.policy):
            if tally.stop[0] != 0:
                return
            regret += step.regret
            tally.curve[index, step.period - 1] = regret
            tally.initiated[index] += len(step.requested)
            tally.completed[index] += len(step.completed)
        for column, period in enumerate(block.at):
            tally.regret[index, column] = tally.curve[index, period - 1]


def _moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the sum of squared deviations over the runs, for every period."""
    mean = values.mean(axis=0)
    return mean, ((values - mean) ** 2).sum(axis=0)
