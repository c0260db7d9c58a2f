"""Blocks of runs: the unit of work for threads, processes and clusters.

A block's result depends only on the problem, the policy, the seed and the block's number, and results are combined in
the order of those numbers. So results are bit-identical however the work is spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from crewlearn.engine.compiled.forms import loop_body, loop_problem, needs_floor, own_laws, policy_form
from crewlearn.engine.compiled.kernel import FAULT, FAULT_IN, FAULT_OUT, FAULT_PERIOD, FAULT_RUN, Tally
from crewlearn.engine.interpreted import play
from crewlearn.engine.streams import seed_root, signed
from crewlearn.engine.world import World, best_output
from crewlearn.policies.compilable import rule_of
from crewlearn.policies.contract import Policy
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem
from crewlearn.problem.recipes import Recipe, draw_pools
from crewlearn.problem.roster import REMEDIES
from crewlearn.problem.transitions import LEGAL

if TYPE_CHECKING:
    from crewlearn.engine.compiled.loops import LoopKind

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

    `regret`, `normalized_loss` and `net` have the shape (runs, checkpoints). `initiated`, `completed`,
    `largest_frontier`, `heuristics` and `loss_bound` are per run. `*_mean` and `*_squares` are the block's mean and sum
    of squared deviations after every period. `compiled` says whether a compiled loop played the runs.
    """

    regret: FloatArray
    normalized_loss: FloatArray
    net: FloatArray
    initiated: IntArray
    completed: IntArray
    largest_frontier: IntArray
    heuristics: IntArray
    loss_bound: FloatArray
    regret_mean: FloatArray
    regret_squares: FloatArray
    loss_mean: FloatArray
    loss_squares: FloatArray
    compiled: bool


@dataclass(frozen=True)
class Runs:
    """What runs came to, one by one: the arrays of `Tally`, the mean output of each run's best team, and how played."""

    regret: FloatArray
    curve: FloatArray
    net: FloatArray
    ideal: FloatArray
    initiated: IntArray
    completed: IntArray
    largest_noted: IntArray
    heuristics: IntArray
    loss_bound: FloatArray
    best: FloatArray
    compiled: bool


_BY_RUN = ("regret", "curve", "net", "ideal", "initiated", "completed", "largest_noted", "heuristics", "loss_bound")
"""The arrays of a tally that have a row for each run."""


def block_size(problem: Problem) -> int:
    """Return the number of runs in a block, which depends on the problem alone."""
    return max(1, min(LARGEST_BLOCK, WORK_IN_A_BLOCK // (problem.team * problem.horizon)))


def blocks_of(problem: Problem, policy: Policy[Any], runs: int, seed: int, at: tuple[int, ...]) -> list[Block]:
    """Split a policy's runs into blocks."""
    size = block_size(problem)
    return [Block(problem, policy, seed, first, min(size, runs - first), at) for first in range(0, runs, size)]


def play_block(block: Block, stop: IntArray | None = None) -> BlockResult:
    """Play a block, compiled if it can be, else in plain Python; end early once `stop` is set."""
    return block_result(block, [play_runs(block, stop)])


def is_compiled(policy: Policy[Any], problem: Problem) -> bool:
    """Return whether a compiled loop plays a policy: it names a rule, and no law of the problem is in the way."""
    if rule_of(policy) is None or not own_laws(problem):
        return rule_of(policy) is not None
    from crewlearn.engine.compiled.law_checks import law_fault

    return law_fault(problem) is None


def play_runs(block: Block, stop: IntArray | None = None) -> Runs:
    """Play the runs of a block, or of a part of one; end early once `stop` is set."""
    means, best = worlds_of(block)
    tally, compiled = empty_tally(block, stop=stop), is_compiled(block.policy, block.problem)
    if compiled:
        play_compiled(block, means, best, tally)
    else:
        _play_interpreted(block, tally)
    numbers = {name: getattr(tally, name) for name in _BY_RUN}
    return Runs(**numbers, best=best, compiled=compiled)


def block_result(block: Block, parts: Sequence[Runs]) -> BlockResult:
    """Return the results of a block whose runs were played in these parts, in order."""
    tally = parts[0]
    if len(parts) > 1:
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in (*_BY_RUN, "best")}
        tally = Runs(**joined, compiled=parts[0].compiled)
    columns = np.array(block.at) - 1
    if block.problem.changes:
        ideal, net = tally.ideal, tally.net[:, columns]
    else:  # whichever loop played, so that policies with and without brakes can be compared
        ideal = tally.best[:, None] * np.arange(1, block.problem.horizon + 1)
        net = ideal[:, columns] - tally.curve[:, columns]
    loss = np.divide(100.0 * tally.curve, ideal, out=np.zeros_like(tally.curve), where=ideal > 0.0)
    regret_mean, regret_squares = _moments(tally.curve)
    loss_mean, loss_squares = _moments(loss)
    return BlockResult(
        regret=tally.regret,
        normalized_loss=loss[:, columns],
        net=net,
        initiated=tally.initiated,
        completed=tally.completed,
        largest_frontier=tally.largest_noted,
        heuristics=tally.heuristics,
        loss_bound=tally.loss_bound,
        regret_mean=regret_mean,
        regret_squares=regret_squares,
        loss_mean=loss_mean,
        loss_squares=loss_squares,
        compiled=tally.compiled,
    )


_loop_problem = lru_cache(maxsize=64)(loop_problem)


def empty_tally(block: Block, workers: int = 0, events: int = 0, stop: IntArray | None = None) -> Tally:
    """Return an empty tally for a block, with room for output sums of `workers` and a log of `events` rows."""
    changing = block.problem.horizon if needs_floor(block.policy, block.problem) else 0
    return Tally(
        regret=np.zeros((block.count, len(block.at))),
        curve=np.zeros((block.count, block.problem.horizon)),
        net=np.zeros((block.count, changing)),
        ideal=np.zeros((block.count, changing)),
        initiated=np.zeros(block.count, dtype=np.int64),
        completed=np.zeros(block.count, dtype=np.int64),
        largest_noted=np.zeros(block.count, dtype=np.int64),
        heuristics=np.zeros(block.count, dtype=np.int64),
        loss_bound=np.zeros(block.count),
        sums=np.zeros((block.count, workers)),
        log=np.zeros((events, 5), dtype=np.int64),
        logged=np.zeros(1, dtype=np.int64),
        fault=np.zeros(5, dtype=np.int64),
        stop=np.zeros(1, dtype=np.int64) if stop is None else stop,
    )


def play_compiled(block: Block, means: FloatArray, best: FloatArray, tally: Tally) -> None:
    """Play a block with the compiled loop of its policy's rule."""
    from crewlearn.engine.compiled.loops import run_loop

    policy = block.policy
    at, root = np.array(block.at, dtype=np.int64), seed_root(block.seed)
    forms = (_loop_problem(policy, block.problem), policy_form(policy, block.problem))
    kind = loop_kind(policy, block.problem)
    run_loop(kind, policy.name, *forms, means, best, root, block.first, at, tally)
    if tally.fault[FAULT] != LEGAL:
        run, period, out, into = (int(tally.fault[index]) for index in (FAULT_RUN, FAULT_PERIOD, FAULT_OUT, FAULT_IN))
        remedy = f"asked for ({out}, {into}) in period {period} of run {run}: {REMEDIES[int(tally.fault[FAULT])]}"
        raise InvalidInput("policy", policy.name, remedy)


def loop_kind(policy: Policy[Any], problem: Problem) -> "LoopKind":
    """Return what the loop is made of that plays a policy with a rule."""
    from crewlearn.engine.compiled.loops import LoopKind

    rule = rule_of(policy)
    assert rule is not None
    return LoopKind(rule, loop_body(policy, problem), tuple(own_laws(problem).values()))


def worlds_of(block: Block) -> tuple[FloatArray, FloatArray]:
    """Return each run's hidden means and the mean output of its best team."""
    problem, runs = block.problem, range(block.first, block.first + block.count)
    if not problem.drawn_per_run:
        means = problem.means()
        best = best_output(means, problem.team)
        return np.tile(means, (block.count, 1)), np.full(block.count, best)
    pool = problem.workers
    if isinstance(pool, Recipe) and pool.generator == "counter":
        from crewlearn.engine.compiled.loops import compiled_function

        means_by_run = np.empty((block.count, pool.count))
        compiled_function(draw_pools)(pool.form(), signed(pool.key(block.seed)), block.first, means_by_run)
    else:
        means_by_run = np.array([problem.means(block.seed, run) for run in runs])
    best_first = np.sort(means_by_run, axis=1)[:, ::-1][:, : problem.team]
    return means_by_run, best_first.sum(axis=1)  # the bits of best_output, run by run


def _play_interpreted(block: Block, tally: Tally) -> None:
    for index in range(block.count):
        regret = net = ideal = 0.0
        for step in play(World(block.problem, block.seed, block.first + index), block.policy):
            if tally.stop[0] != 0:
                return
            regret += step.regret
            tally.curve[index, step.period - 1] = regret
            if tally.net.shape[1] > 0:
                net += step.net
                ideal += step.best
                tally.net[index, step.period - 1] = net
                tally.ideal[index, step.period - 1] = ideal
            tally.initiated[index] += len(step.requested)
            tally.completed[index] += len(step.completed)
        for column, period in enumerate(block.at):
            tally.regret[index, column] = tally.curve[index, period - 1]


def _moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the sum of squared deviations over the runs, for every period."""
    mean = values.mean(axis=0)
    return mean, ((values - mean) ** 2).sum(axis=0)
