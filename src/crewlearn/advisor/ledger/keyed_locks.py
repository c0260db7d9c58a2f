"""Keyed locks, freed when unused."""

from collections.abc import Hashable
from threading import Lock, RLock
from weakref import WeakValueDictionary


class KeyedLocks:
    """A reentrant lock for each key, which exists as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Hashable, ...], RLock] = WeakValueDictionary()
        self._lock = Lock()

    def of(self, *key: Hashable) -> RLock:
        """Return the lock of a key, the same to all who ask while anybody has it."""
        with self._lock:
            return self._locks.setdefault(key, RLock())
