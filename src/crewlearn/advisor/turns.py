"""Taking turns: a lock for each of any number of things, there as long as somebody holds it or waits for it."""

from collections.abc import Hashable
from threading import Lock, RLock
from weakref import WeakValueDictionary


class Turns:
    """Locks by what they are for."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Hashable, ...], RLock] = WeakValueDictionary()
        self._lock = Lock()

    def of(self, *what: Hashable) -> RLock:
        """Give the lock for something, the same to all who ask while anybody has it."""
        with self._lock:
            return self._locks.setdefault(what, RLock())
