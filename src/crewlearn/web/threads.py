"""The threads that answer requests: those that wait to write do not count, so that readers still get one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from anyio import CapacityLimiter, from_thread, to_thread

from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.writers import AT_ONCE, Writers


def bounded(store: Store) -> Store:
    """Return a store for requests: bounded numbers of them write and wait, and the others are refused."""
    return store.bounded(Writers(1 if store.engine.dialect.name == "sqlite" else AT_ONCE, waiting))


@contextmanager
def waiting() -> Iterator[None]:
    """Let another request run while this thread waits."""
    try:
        limiter, loop = from_thread.run_sync(_one_more)
    except RuntimeError:  # a thread that serves no request
        yield
        return
    try:
        yield
    finally:
        with suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(_one_less, limiter)


def _one_more() -> tuple[CapacityLimiter, asyncio.AbstractEventLoop]:
    limiter = to_thread.current_default_thread_limiter()
    limiter.total_tokens += 1
    return limiter, asyncio.get_running_loop()


def _one_less(limiter: CapacityLimiter) -> None:
    limiter.total_tokens -= 1
