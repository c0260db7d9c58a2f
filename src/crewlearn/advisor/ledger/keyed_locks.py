"""Keyed locks, freed when unused."""

from collections.abc import Hashable
from threading import Lock, RLock
from weakref import WeakValueDictionary


class KeyedLocks:
    """A reentrant lock per key, which exists only while it is held or waited for."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Hashable, ...], RLock] = WeakValueDictionary()
        self._lock = Lock()

    def of(self, *key: Hashable) -> RLock:
        """Return the lock of a key: the same object as long as it is referenced."""
        with self._lock:
            return self._locks.setdefault(key, RLock())
