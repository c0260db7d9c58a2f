"""A cache with one item per site."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")

CAPACITY = 64
"""The most sites in a cache."""


class SiteCache(Generic[T]):
    """A least-recently-used cache by site name, safe to use from several threads."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str) -> T | None:
        """Return a site's item, if there is one."""
        with self._lock:
            if name in self._items:
                self._items.move_to_end(name)
            return self._items.get(name)

    def put(self, name: str, item: T) -> T:
        """Store a site's item, replacing the earlier one, and return it."""
        with self._lock:
            self._items[name] = item
            self._items.move_to_end(name)
            while len(self._items) > CAPACITY:
                self._items.popitem(last=False)
        return item
