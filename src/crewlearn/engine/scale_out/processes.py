"""Playing blocks on processes of this machine, with results bit-identical to a local run.

Plain Python runs on one core at a time in a process. So this is for policies without a rule and for problems with a law
that cannot be compiled; compiled loops use all cores from threads.

Processes are spawned, not forked: a fork copies the locks of other threads as they stand, held or not, and progress
bars, notebooks and Numba all have threads or locks of their own. A spawned process imports what it needs, so classes of
a user's own must be in a file. They are checked before anything is played.

The pool is our own, since that of `concurrent.futures` cannot be ended at once: its processes share a queue, and one
that is killed while it writes leaves the queue's lock held for ever. Here each process has a pipe to itself.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from crewlearn.engine.blocks import Block, BlockResult, Runs, block_result, is_compiled, play_block, play_runs
from crewlearn.engine.caching.identity import classes_of
from crewlearn.engine.caching.sources import is_covered, source_coverage
from crewlearn.engine.scale_out.player import WAITING_SECONDS, Waiting
from crewlearn.policies.contract import Policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem

PARTS_A_PROCESS = 8
"""Parts that a block in plain Python is split into, for each process: enough that all end at about the same time."""

PARTS_AHEAD = 2 * PARTS_A_PROCESS
"""Parts, for each process, that may begin before the earliest block is complete, to bound memory; no block has more."""

LAST_SECONDS = 5.0
"""How long a process that has nothing left to do may take to end."""


_REMEDY = (
    "Put your classes into a .py file, import them from there, and start again; or use the engine local, which plays "
    "on one core what is not compiled"
)


@dataclass(frozen=True)
class Part:
    """Runs of a block; a whole block is finished where it is played."""

    block: int
    first: int
    count: int
    whole: bool


@dataclass(frozen=True)
class Failure:
    """An error in a process, and its traceback as text."""

    error: BaseException
    trace: str


@dataclass
class Worker:
    """A process, the pipe to it, and the place of the part that it plays, None if it is idle."""

    process: BaseProcess
    pipe: Connection
    playing: int | None = None


def play_on_processes(
    blocks: Sequence[Block], processes: int, waiting: Waiting | None = None
) -> Generator[tuple[BlockResult, float], None, None]:
    """Play blocks on processes and yield their results, in order, with the seconds that each took.

    A block in plain Python is split into parts, so that even few runs keep all processes busy. The parts are put
    together before anything is summed, so that the numbers are those of the whole block. `waiting` is called several
    times a second while nothing is done.
    """
    for problem, policy in {id(block.policy): (block.problem, block.policy) for block in blocks}.values():
        check_sendable(problem, policy)
    parts = [part for number, block in enumerate(blocks) for part in parts_of(number, block, processes)]
    results: dict[int, tuple[Any, float]] = {}
    begun = taken = 0
    with _pool(min(processes, len(parts)), blocks) as workers:
        while taken < len(parts):
            for worker in workers:
                if worker.playing is None and begun < min(len(parts), taken + PARTS_AHEAD * len(workers)):
                    worker.playing, begun = begun, begun + 1
                    with suppress(OSError):  # it ended; what it said last is received below
                        worker.pipe.send(parts[worker.playing])
            busy = {worker.pipe: worker for worker in workers if worker.playing is not None}
            ready = connection.wait(list(busy), None if waiting is None else WAITING_SECONDS)
            if not ready and waiting is not None:
                waiting()
            for worker in [worker for pipe, worker in busy.items() if pipe in ready]:
                assert worker.playing is not None
                results[worker.playing] = _received(worker)
                worker.playing = None
            while taken < len(parts) and (size := _complete(parts, results, taken)) > 0:
                played = [results.pop(place) for place in range(taken, taken + size)]
                block, numbers = blocks[parts[taken].block], [numbers for numbers, _ in played]
                taken += size
                yield (
                    numbers[0] if parts[taken - 1].whole else block_result(block, numbers),
                    sum(seconds for _, seconds in played),
                )


def parts_of(number: int, block: Block, processes: int) -> list[Part]:
    """Split a block into the parts that processes play: one, if it is compiled."""
    if is_compiled(block.policy, block.problem):
        return [Part(number, block.first, block.count, True)]
    size = max(1, block.count // (PARTS_A_PROCESS * processes))
    end = block.first + block.count
    return [Part(number, first, min(size, end - first), False) for first in range(block.first, end, size)]


def check_sendable(problem: Problem, policy: Policy[Any]) -> None:
    """Raise if another process could not import the classes of a policy or of a problem's laws as they are here."""
    own = {kind for kind in classes_of(problem, policy) if not is_covered(kind)}
    coverage = source_coverage(own)
    if coverage.only_here:
        raise _unsendable(policy, f"{coverage.gap}")
    try:
        pickle.dumps((problem, policy))
    except Exception as error:  # each class has its own ways of refusing
        raise _unsendable(policy, f"it cannot be pickled ({error})") from error


def _unsendable(policy: Policy[Any], why: str) -> InvalidInput:
    remedy = f"cannot play {policy.name}, since other processes could not import its code: {why}. {_REMEDY}"
    return InvalidInput("engine", "processes", remedy)


def _complete(parts: Sequence[Part], results: dict[int, Any], taken: int) -> int:
    """Return the number of parts of the next block, or 0 if some are still to come."""
    place = taken
    while place < len(parts) and parts[place].block == parts[taken].block:
        if place not in results:
            return 0
        place += 1
    return place - taken


@contextmanager
def _pool(processes: int, blocks: Sequence[Block]) -> Iterator[list[Worker]]:
    """Start processes and end them: at once if an error or an interruption gets here."""
    context, sent = multiprocessing.get_context("spawn"), pickle.dumps(list(blocks))
    workers: list[Worker] = []
    done = False
    try:
        with _interrupts_held_back():
            for _ in range(processes):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, sent), daemon=True)
                process.start()
                workers.append(Worker(process, ours))
                theirs.close()
        yield workers
        done = True
    finally:
        for worker in workers:
            worker.pipe.close()
            if not done:
                worker.process.kill()
        for worker in workers:
            worker.process.join(LAST_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start processes that Ctrl-C, which goes to all of them, does not reach: this one will end them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # as it would let interrupts through again when it is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _received(worker: Worker) -> tuple[Any, float]:
    try:
        answer = worker.pipe.recv()
    except (EOFError, OSError) as error:
        raise _lost(worker) from error
    if isinstance(answer, Failure):
        answer.error.add_note(f"In another process:\n{answer.trace}")
        raise answer.error
    result: tuple[Any, float] = answer
    return result


def _lost(worker: Worker) -> InvalidInput:
    """Return the error for a process that ended by itself."""
    worker.process.join(LAST_SECONDS)
    status = worker.process.exitcode
    if status == 1:  # as Python ends a program after an error, here while it is imported: errors of policies are sent
        why = "in a program of your own, call this under if __name__ == '__main__':"
    else:
        why = "if memory ran out, use fewer processes (threads)"
    return InvalidInput("engine", "processes", f"a process ended with status {status}; {why}")


def _serve(pipe: Connection, sent: bytes) -> None:
    """Play parts as they are asked for, until the pipe is closed; this is what a process of the pool runs."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the pipe was closed
        try:
            blocks: list[Block] = pickle.loads(sent)
        except Exception as error:
            remedy = f"other processes cannot import your code ({error}). {_REMEDY}"
            pipe.send(Failure(InvalidInput("engine", "processes", remedy), traceback.format_exc()))
            return
        while True:
            part = pipe.recv()
            try:
                answer: Any = _played(blocks[part.block], part)
            except Exception as error:
                answer = Failure(_sendable_error(error), traceback.format_exc())
            pipe.send(answer)


def _played(block: Block, part: Part) -> tuple[BlockResult | Runs, float]:
    started = time.perf_counter()
    if part.whole:
        return play_block(block), time.perf_counter() - started
    return play_runs(replace(block, first=part.first, count=part.count)), time.perf_counter() - started


def _sendable_error(error: Exception) -> Exception:
    """Return the error, or one that says the same if it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, whatever it is doing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
