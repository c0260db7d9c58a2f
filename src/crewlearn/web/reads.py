"""Sites as they stand, with what is made of them, made once and kept until they change. Nobody changes a snapshot."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from crewlearn.advisor import documents, schema
from crewlearn.advisor.commands import unknown_worker
from crewlearn.advisor.events import ADVISED, ERASED, OUTPUT, WORKERS
from crewlearn.advisor.explain import Member, members, sentence
from crewlearn.advisor.gain import Gain, Past, gain_over_first_team, read_past
from crewlearn.advisor.identities import People, read_people
from crewlearn.advisor.kept import Kept
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.site import Site
from crewlearn.advisor.store import Standing, Store, Version
from crewlearn.advisor.turns import Turns
from crewlearn.problem.errors import InvalidInput

LOG = logging.getLogger("crewlearn.web")
T = TypeVar("T")
PATIENCE_SECONDS = 1.0
"""How long who makes much of a site lets other long work there go first."""


@dataclass(frozen=True)
class Snapshot:
    """A site as it stands, with who is who and what its gain is made from, all of one view; more is made once."""

    name: str
    standing: Standing
    people: People
    past: Past

    @property
    def site(self) -> Site:
        """Its state."""
        return self.standing.site

    @property
    def key(self) -> int:
        """The key of its rows."""
        return self.standing.version.key

    @property
    def version(self) -> int:
        """How many events it has."""
        return self.standing.version.events

    @cached_property
    def estimates(self) -> list[dict[str, float]]:
        """What is thought of everybody."""
        return estimates_of(self.site)[0]

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Everybody, the team by station first."""
        return tuple(members(self.site, self.people, self.estimates))

    @cached_property
    def gain(self) -> Gain:
        """What replacing has brought against keeping the first team."""
        return gain_over_first_team(self.site, self.past.stints, self.past.proposals, self.estimates)

    @cached_property
    def sentence(self) -> str:
        """The advice in a sentence."""
        return sentence(self.site, self.people)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of workers by the firm's own ids."""
        return {known: number for number, known in self.people.ids.items() if known is not None}

    @cached_property
    def advice(self) -> dict[str, Any]:
        """The advice as programs are told it."""
        return documents.advice(self.name, self.site, self.people)

    @cached_property
    def status(self) -> dict[str, Any]:
        """The status as programs are told it."""
        return documents.status(self.name, self.site, self.people, self.gain, self.members)

    @cached_property
    def advice_text(self) -> bytes:
        """The advice as it is sent."""
        return as_json(self.advice)

    @cached_property
    def status_text(self) -> bytes:
        """The status as it is sent."""
        return as_json(self.status)

    def number_of(self, worker_id: str) -> int:
        """Give the number of a worker by the firm's own id."""
        if worker_id not in self.numbers:
            raise unknown_worker(worker_id, len(self.numbers))
        return self.numbers[worker_id]


@dataclass(frozen=True)
class Unreadable:
    """A site that cannot be shown, and why."""

    name: str
    reason: str


def each(names: Sequence[str], make: Callable[[str], T]) -> list[T | Unreadable]:
    """Make something of each of some sites: one that cannot be read keeps nobody from the others."""
    return [_made(name, make) for name in names]


def _made(name: str, make: Callable[[str], T]) -> T | Unreadable:
    try:
        return make(name)
    except InvalidInput as error:
        if error.field == "db":  # then no site can be read
            raise
        return Unreadable(name, error.remedy if error.field == "site" else str(error))
    except Exception:  # such as by a policy's own code
        LOG.exception("site %s cannot be shown", quote(name))
        return Unreadable(name, "cannot be shown by a fault of the program; the server's log has more")


def as_json(document: Any) -> bytes:
    """Write a document as it is sent."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


_kept: WeakKeyDictionary[sa.Engine, Kept[Snapshot]] = WeakKeyDictionary()
_turns = Turns()
_lock = Lock()


def snapshot(store: Store, name: str) -> Snapshot:
    """Give a site as it stands now. After a change the first who asks reads it, and the others wait for that."""
    with store.reading() as connection:
        found = current(store, connection, name)
    if found is None:
        with _turns.of(store.engine, name), store.reading() as connection:
            found = snapshot_in(store, connection, name)
    return found


def snapshot_in(store: Store, connection: sa.Connection, name: str) -> Snapshot:
    """Give a site as it stands in a view of the store, to be told together with what else is read there."""
    return current(store, connection, name) or _kept_of(store).put(name, _read(store, connection, name))


@contextmanager
def making(store: Store, found: Snapshot, *what: str) -> Iterator[Snapshot]:
    """Make something long of a site, such as its `what`, in turn: gives it as it stands then.

    What is made of the one found already is there at once.
    """
    if what and vars(found).keys() >= set(what):
        yield found
        return
    with store.in_turn(found.name, PATIENCE_SECONDS):
        yield snapshot(store, found.name)


def current(store: Store, connection: sa.Connection, name: str) -> Snapshot | None:
    """Give what is kept of a site, if nothing has happened there since."""
    kept = _kept_of(store).get(name)
    return kept if kept is not None and kept.standing.version == store.version(connection, name) else None


def _read(store: Store, connection: sa.Connection, name: str) -> Snapshot:
    """Read a site; who is who and its past only if something has happened that changes them."""
    now, kept = store.standing(connection, name), _kept_of(store).get(name)
    key = now.version.key
    if kept is None or kept.key != key:
        return Snapshot(name, now, read_people(connection, key), read_past(connection, key))
    news = _types_since(connection, kept.standing.version)
    people = read_people(connection, key) if news is None or news & _WHO_IS_WHO else kept.people
    past = read_past(connection, key) if news is None or news - _NO_PAST else kept.past
    return Snapshot(name, now, people, past)


def _types_since(connection: sa.Connection, since: Version) -> set[str] | None:
    """Give the types of events after a version; None if it is not on record, as after a restore."""
    table = schema.events
    seal = sa.select(table.c.hash).where(table.c.site == since.key, table.c.number == since.events)
    if connection.execute(seal).scalar() != since.head:
        return None
    later = sa.select(table.c.type).where(table.c.site == since.key, table.c.number > since.events)
    return set(connection.execute(later.distinct()).scalars())


_WHO_IS_WHO = {WORKERS, ERASED}
"""The events that change who is who."""

_NO_PAST = {OUTPUT, ADVISED}
"""The events that change nothing about who held which station and which proposals were acted on."""


def _kept_of(store: Store) -> Kept[Snapshot]:
    """Give what is kept of a store's sites."""
    with _lock:
        return _kept.setdefault(store.engine, Kept())
