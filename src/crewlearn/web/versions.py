"""Changes that are meant for a version of a site: refused, with what changed, if it has moved on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from crewlearn.advisor.store import Stale, Store, Writing, read_events


@dataclass
class _AtVersion(Store):
    """A store that is written to only while a site is at the version expected."""

    expected: int = 0

    @contextmanager
    def writing(self, site: str, actor: str) -> Iterator[Writing]:
        with super().writing(site, actor) as work:
            if work.number != self.expected:
                since = read_events(work.connection, work.key, self.expected)
                said = tuple(f"{event.actor}: {event.type}" for event in since)
                raise Stale("version", self.expected, f"has moved on to {work.number}; look again", said)
            yield work


def at_version(store: Store, expected: int | None) -> Store:
    """Give the store as it is to be written to by who saw a site at a version; None: by anybody."""
    return store if expected is None else _AtVersion(store.engine, store.clock, expected)
