"""Changes that are meant for a version of a site: refused, with what changed, if it has moved on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from crewlearn.advisor.store import Store, Writing


@dataclass
class _AtVersion(Store):
    """A store that is written to only while a site is at the version its writer saw, whatever the command."""

    seen: int | None = None

    @contextmanager
    def writing(self, site: str, actor: str, expected: int | None = None) -> Iterator[Writing]:
        with super().writing(site, actor, self.seen if expected is None else expected) as work:
            yield work


def at_version(store: Store, seen: int | None) -> Store:
    """Give the store as it is to be written to by who saw a site at a version; None: by anybody."""
    return store if seen is None else _AtVersion(store.engine, store.clock, seen)
