"""Playing blocks on threads of this process; compiled loops use all cores so."""

import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np

from crewlearn.engine.blocks import Block, BlockResult, is_compiled, play_block
from crewlearn.engine.scale_out.player import WAITING_SECONDS, Waiting
from crewlearn.problem.arrays import IntArray


def timed(block: Block, stop: IntArray | None = None) -> tuple[BlockResult, float]:
    """Play a block and return its result with the seconds taken; setting `stop` ends it early with a partial result."""
    started = time.perf_counter()
    return play_block(block, stop), time.perf_counter() - started


def play_on_threads(
    blocks: Sequence[Block], threads: int, waiting: Waiting | None = None
) -> Generator[tuple[BlockResult, float], None, None]:
    """Play blocks on a thread pool, with a bounded number of blocks in flight to bound memory.

    Even a single thread is not the main one, so that the main thread can be interrupted by a signal or by an exception
    from `waiting`, which is called several times a second while a block is not done.
    """
    different = {(type(block.policy), id(block.problem)): block for block in blocks}.values()
    if not all(is_compiled(block.policy, block.problem) for block in different):
        threads = 1  # plain Python gains nothing from threads
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


def _result_of(block: Future[tuple[BlockResult, float]], waiting: Waiting | None) -> tuple[BlockResult, float]:
    """Return a block's result, calling `waiting` periodically if given."""
    if waiting is not None:
        while not wait([block], WAITING_SECONDS).done:
            waiting()
    return block.result()
