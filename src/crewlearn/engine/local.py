"""Many runs of several policies in the same worlds."""

import dataclasses
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from crewlearn.engine.blocks import Block, BlockResult, blocks_of, play_block
from crewlearn.engine.compiled.forms import rule_of
from crewlearn.engine.results import Collector, SimulationResult
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import make_policy
from crewlearn.problem.arrays import IntArray
from crewlearn.problem.errors import InvalidInput, whole
from crewlearn.problem.instances import check_conventions, followed_conventions
from crewlearn.problem.model import Problem

Player = Callable[[Sequence[Block]], Generator[tuple[BlockResult, float], None, None]]
"""Plays blocks and yields their results in order, each with the seconds it took.

A caller that stops early must close the generator, which stops the remaining work at once.
"""

WAITING_SECONDS = 0.2
"""Seconds between calls of `waiting` while a block is not done: short enough for a prompt response to cancelling."""


def simulate(
    problem: Problem,
    policies: Sequence[str | Policy[Any]],
    runs: int = 100,
    seed: int = 1,
    at: Sequence[int] | None = None,
    conventions: str | None = None,
    *,
    threads: int | None = None,
    engine: str = "local",
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Play each policy in the same `runs` worlds and report regret after the periods `at` (the horizon by default).

    Policies are given by name, with parameters as in `make_policy`, or as your own objects. Names follow the problem's
    conventions unless `conventions` says otherwise. `engine` is "local" (on `threads` threads, by default one per
    core), "dask" or the address of a Dask scheduler. The numbers do not depend on the engine or the threads.

    `progress` is called with the number of runs just finished. The local engine also calls it with 0 several times a
    second while it waits. An exception raised by `progress` stops the work at once.

    >>> from crewlearn.problem.instances import benchmark
    >>> result = simulate(benchmark(horizon=30), ["keep-team", "oracle"], runs=3)
    >>> result.regret("oracle", at=30).mean < result.regret("keep-team", at=30).mean
    True
    """
    periods, runs, seed = checked_periods(problem, runs, seed, at), int(runs), int(seed)
    conventions = followed_conventions(problem, conventions)
    chosen = checked_policies(policies, conventions)
    player = choose_player(engine, threads, chosen.values(), None if progress is None else partial(progress, 0))
    if engine == "local":
        compile_first(problem, chosen.values(), seed)
    results = {}
    for label, policy in chosen.items():
        collector = Collector(policy, runs, periods, problem.horizon)
        with closing(player(blocks_of(problem, policy, runs, seed, periods))) as played:
            for result, seconds in played:
                collector.add(result, seconds)
                if progress is not None:
                    progress(len(result.regret))
        results[label] = collector.result()
    return SimulationResult(problem, runs, seed, periods, conventions, results)


def checked_periods(problem: Problem, runs: int, seed: int, at: Sequence[int] | None) -> tuple[int, ...]:
    """Check the numbers of a simulation before anything runs; return its checkpoints in order."""
    whole("runs", runs, 1, 10**8)
    whole("seed", seed, 0, 2**64 - 1)
    if at is not None and not isinstance(at, Iterable):
        raise InvalidInput("at", at, "must be a list of periods")
    periods = sorted({whole("at", period, 1) for period in (() if at is None else at)}) or [problem.horizon]
    if periods[-1] > problem.horizon:
        raise InvalidInput("at", periods[-1], f"lies beyond the horizon; choose periods from 1 to {problem.horizon}")
    return tuple(periods)


def checked_policies(policies: Sequence[str | Policy[Any]], conventions: str) -> dict[str, Policy[Any]]:
    """Build the policies of a simulation, each under the name it was given by."""
    check_conventions(conventions)
    if isinstance(policies, str) or not all(isinstance(given, (str, Policy)) for given in policies):
        raise InvalidInput("policies", policies, "must be a list of names or policies")
    if not policies:
        raise InvalidInput("policies", [], "name at least one policy")
    chosen: dict[str, Policy[Any]] = {}
    for given in policies:
        label, policy = (given, make_policy(given, conventions)) if isinstance(given, str) else (given.name, given)
        if label in chosen:
            raise InvalidInput("policies", label, "is named twice; name it with parameters, such as dr-ucb:gamma=20")
        chosen[label] = policy
    return chosen


def choose_player(
    engine: str, threads: int | None, policies: Iterable[Policy[Any]], waiting: Callable[[], None] | None = None
) -> Player:
    """Return the player for an engine; the local one calls `waiting` periodically while it waits for a block."""
    if engine != "local":
        from crewlearn.engine.cluster import cluster_player

        return cluster_player(engine)
    workers = whole("threads", threads, 1) if threads is not None else os.cpu_count() or 1
    if any(rule_of(policy) is None for policy in policies):
        workers = 1  # plain Python holds the interpreter lock, so threads do not help
    return lambda blocks: play_on_threads(blocks, workers, waiting)


def compile_first(problem: Problem, policies: Iterable[Policy[Any]], seed: int) -> None:
    """Compile or load the loops of the policies, so that timings do not include it."""
    short = dataclasses.replace(problem, horizon=1)
    ruled = {rule: policy for policy in policies if (rule := rule_of(policy)) is not None}
    if ruled:
        from crewlearn.engine.compiled.loops import first_call

        for rule, policy in ruled.items():
            first_call(rule, policy.name, partial(play_block, Block(short, policy, seed, 0, 1, (1,))))


def timed(block: Block, stop: IntArray | None = None) -> tuple[BlockResult, float]:
    """Play a block and return its result with the seconds taken; setting `stop` ends it early with a partial result."""
    started = time.perf_counter()
    return play_block(block, stop), time.perf_counter() - started


def play_on_threads(
    blocks: Sequence[Block], threads: int, waiting: Callable[[], None] | None = None
) -> Generator[tuple[BlockResult, float], None, None]:
    """Play blocks on a thread pool, with a bounded number of blocks in flight to bound memory.

    Even a single thread is not the main one, so that the main thread can be interrupted by a signal or by an exception
    from `waiting`, which is called several times a second while a block is not done.
    """
    executor = ThreadPoolExecutor(threads)
    begun: deque[Future[tuple[BlockResult, float]]] = deque()
    stop = np.zeros(1, dtype=np.int64)
    try:
        for block in blocks:
            begun.append(executor.submit(timed, block, stop))
            if len(begun) > 4 * threads:
                yield _result_of(begun.popleft(), waiting)
        while begun:
            yield _result_of(begun.popleft(), waiting)
    finally:  # also when interrupted: running blocks end within a period, queued ones are cancelled
        stop[0] = 1
        executor.shutdown(wait=True, cancel_futures=True)


def _result_of(
    block: Future[tuple[BlockResult, float]], waiting: Callable[[], None] | None
) -> tuple[BlockResult, float]:
    """Return a block's result, calling `waiting` periodically, if given, until it is done."""
    if waiting is not None:
        while not wait([block], WAITING_SECONDS).done:
            waiting()
    return block.result()
