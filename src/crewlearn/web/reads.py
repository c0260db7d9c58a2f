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
from weakref import ReferenceType, WeakKeyDictionary, ref

import sqlalchemy as sa

from crewlearn.advisor import documents, schema
from crewlearn.advisor.commands import unknown_worker
from crewlearn.advisor.events import ERASED, WORKERS
from crewlearn.advisor.explain import Member, members, sentence
from crewlearn.advisor.gain import Gain, Past, gain_over_first_team, read_past
from crewlearn.advisor.identities import People, read_people
from crewlearn.advisor.kept import Kept
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.site import Site
from crewlearn.advisor.store import Standing, Store, Version
from crewlearn.advisor.turns import Turns
from crewlearn.problem.errors import InvalidInput, Unknown

LOG = logging.getLogger("crewlearn.web")
T = TypeVar("T")
PATIENCE_SECONDS = 1.0
"""How long who makes much of a site lets other long work there go first."""


@dataclass(frozen=True)
class Snapshot:
    """A site as it stands, with who is who; what is made of it is made once."""

    name: str
    standing: Standing
    people: People
    store: "ReferenceType[Store]"

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
    def past(self) -> Past:
        """What the gain is made from."""
        store = self.store()
        assert store is not None
        with store.reading() as connection:
            return read_past(connection, self.key)

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
            found = current(store, connection, name) or _read(store, connection, name)
            _kept_of(store).put(name, found)
    return found


@contextmanager
def making(store: Store, found: Snapshot, *what: str) -> Iterator[None]:
    """Make something long of a snapshot, such as its `what`, in turn; what is made already is there at once."""
    if what and vars(found).keys() >= set(what):
        yield
        return
    with store.in_turn(found.name, PATIENCE_SECONDS):
        yield


def current(store: Store, connection: sa.Connection, name: str) -> Snapshot | None:
    """Give what is kept of a site, if nothing has happened there since."""
    version = store.version(connection, name)
    if version is None:
        raise Unknown("site", name, "does not exist")
    kept = _kept_of(store).get(name)
    return kept if kept is not None and kept.standing.version == version else None


def _read(store: Store, connection: sa.Connection, name: str) -> Snapshot:
    """Read a site; who is who only if something has happened that changes it."""
    now, kept = store.standing(connection, name), _kept_of(store).get(name)
    key = now.version.key
    if kept is not None and kept.key == key and _same_people(connection, kept.standing.version):
        return Snapshot(name, now, kept.people, ref(store))
    return Snapshot(name, now, read_people(connection, key), ref(store))


def _same_people(connection: sa.Connection, since: Version) -> bool:
    """Say whether who is who is as it was at a version: it is still on record, and no event after it changes that."""
    table = schema.events
    later = sa.and_(table.c.number > since.events, table.c.type.in_(_IDENTITIES))
    query = sa.select(table.c.hash).where(table.c.site == since.key, sa.or_(table.c.number == since.events, later))
    return connection.execute(query.order_by(table.c.number).limit(2)).scalars().all() == [since.head]


_IDENTITIES = (WORKERS, ERASED)
"""The events that change who is who."""


def _kept_of(store: Store) -> Kept[Snapshot]:
    """Give what is kept of a store's sites."""
    with _lock:
        return _kept.setdefault(store.engine, Kept())
