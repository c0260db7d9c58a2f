"""How many threads of a server may write to a store at a time, and how many more may wait for that."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from crewlearn.advisor.ledger.errors import Overloaded

AT_ONCE = 8
"""The most writers that hold a connection of a PostgreSQL store at a time; SQLite has one writer anyway."""

MOST_WAITING = 120
"""The most threads that wait to write to a store."""

MOST_WAITING_AT_SITE = 60
"""The most of them that wait for one site."""


class Lockable(Protocol):
    """A lock or a semaphore."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it, at once or within so many seconds; return whether it was taken."""

    def release(self) -> None:
        """Give it back."""


class Writers:
    """Bounds the threads that write to a store or wait to; those beyond are refused with `Overloaded`.

    `outside` surrounds every wait, so that whoever owns the threads can let others run meanwhile.
    """

    def __init__(
        self,
        at_once: int,
        outside: Callable[[], AbstractContextManager[None]] = nullcontext,
        most_waiting: int = MOST_WAITING,
        most_at_site: int = MOST_WAITING_AT_SITE,
    ) -> None:
        self.outside, self.most_waiting, self.most_at_site = outside, most_waiting, most_at_site
        self._tickets: Lockable = threading.BoundedSemaphore(at_once)
        self._waiting: Counter[str] = Counter()
        self._lock = threading.Lock()

    def acquire(self, lock: Lockable, site: str, seconds: float) -> bool:
        """Take a lock, waiting for it as one of the bounded number; return whether it was taken in time."""
        if lock.acquire(blocking=False):
            return True
        with self._place(site), self.outside():
            return lock.acquire(timeout=seconds)

    @contextmanager
    def ticket(self, seconds: float) -> Iterator[None]:
        """Hold one of the tickets that allow to take a connection for writing."""
        if not self.acquire(self._tickets, "", seconds):
            raise Overloaded(seconds)
        try:
            yield
        finally:
            self._tickets.release()

    @contextmanager
    def _place(self, site: str) -> Iterator[None]:
        with self._lock:
            at_site = self._waiting[site] >= self.most_at_site if site else False
            if at_site or self._waiting.total() >= self.most_waiting:
                raise Overloaded(0.0)
            self._waiting[site] += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting[site] -= 1
                if not self._waiting[site]:
                    del self._waiting[site]
