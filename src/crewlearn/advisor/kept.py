"""What is kept in memory of sites: the latest of each, of no more sites than fit, whichever were asked for last."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_KEPT = 64
"""Sites kept in memory."""


class Kept(Generic[T]):
    """Something of each of some sites, by name; any thread may ask and put."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str) -> T | None:
        """Give what is kept of a site."""
        with self._lock:
            if name in self._items:
                self._items.move_to_end(name)
            return self._items.get(name)

    def put(self, name: str, item: T) -> T:
        """Keep something of a site in the place of what was kept; give it back."""
        with self._lock:
            self._items[name] = item
            self._items.move_to_end(name)
            while len(self._items) > MOST_KEPT:
                self._items.popitem(last=False)
        return item
