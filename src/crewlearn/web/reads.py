"""Sites as they stand, read once and kept until they change.

Every change of a site adds an event, so a site's event number and last hash tell whether what this process keeps is
still current: one small query instead of reading and folding up the whole state. Nobody changes a snapshot.
"""

import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
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
from crewlearn.advisor.reasons import estimates_of
from crewlearn.advisor.site import Site
from crewlearn.advisor.store import Store
from crewlearn.advisor.writing import Writing
from crewlearn.problem.errors import InvalidInput, Unknown

LOG = logging.getLogger("crewlearn.web")
T = TypeVar("T")
PATIENCE_SECONDS = 1.0
"""How long who reads much lets other long work on a site go first."""

MOST_KEPT = 64
"""Sites kept in memory, those asked for last."""


@dataclass(frozen=True)
class Snapshot:
    """A site after its event number `version`, with who is who; what is made of it is made once."""

    name: str
    key: int
    version: int
    head: str
    site: Site
    people: People
    store: "ReferenceType[Store]"

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


_kept: WeakKeyDictionary[sa.Engine, OrderedDict[str, Snapshot]] = WeakKeyDictionary()
_turns: WeakKeyDictionary[sa.Engine, dict[str, Lock]] = WeakKeyDictionary()
_lock = Lock()


def snapshot(store: Store, name: str) -> Snapshot:
    """Give a site as it stands now. After a change the first who asks reads it, and the others wait for that."""
    if "\0" in name:  # no site is called so, and PostgreSQL cannot even be asked
        raise Unknown("site", name, "does not exist")
    with store.reading() as connection:
        found = _current(store, connection, name)
    if found is None:
        with _turn(store, name), store.reading() as connection:
            found = _current(store, connection, name)
            if found is None:
                key, site, version = store.site(connection, name)
                head = connection.execute(sa.select(schema.sites.c.head).where(schema.sites.c.id == key)).scalar_one()
                people = _people(store, connection, name, key) or read_people(connection, key)
                found = Snapshot(name, key, version, head, site, people, ref(store))
                _keep(store, found)
                store.written = partial(_written, store)
    return found


def _people(store: Store, connection: sa.Connection, name: str, key: int) -> People | None:
    """Give who is who as it is kept, if nothing has happened since that changes it."""
    kept, table = _recall(store, name), schema.events
    if kept is None or kept.key != key:
        return None
    since = (table.c.site == key, table.c.number > kept.version, table.c.type.in_(_IDENTITIES))
    changed = connection.execute(sa.select(table.c.number).where(*since).limit(1)).first()
    return kept.people if changed is None else None


_IDENTITIES = (WORKERS, ERASED)
"""The events that change who is who."""


def _written(store: Store, name: str, before: int, work: Writing) -> None:
    """Keep a site as this process has just written it, so that nobody need read it: who is who is as it was."""
    kept = _recall(store, name)
    if kept is not None and (kept.key, kept.version) == (work.key, before) and work.added.isdisjoint(_IDENTITIES):
        _keep(store, Snapshot(name, work.key, work.number, work.head, work.site, kept.people, ref(store)))


def _current(store: Store, connection: sa.Connection, name: str) -> Snapshot | None:
    """Give what is kept of a site, if nothing has happened there since."""
    table = schema.sites
    row = connection.execute(sa.select(table.c.id, table.c.events, table.c.head).where(table.c.name == name)).first()
    if row is None:
        raise Unknown("site", name, "does not exist")
    kept = _recall(store, name)
    return kept if kept is not None and (kept.key, kept.version, kept.head) == tuple(row) else None


def _turn(store: Store, name: str) -> Lock:
    """Give the lock under which a site is read."""
    with _lock:
        return _turns.setdefault(store.engine, {}).setdefault(name, Lock())


def _recall(store: Store, name: str) -> Snapshot | None:
    with _lock:
        mine = _kept.setdefault(store.engine, OrderedDict())
        if name in mine:
            mine.move_to_end(name)
        return mine.get(name)


def _keep(store: Store, found: Snapshot) -> None:
    with _lock:
        mine = _kept.setdefault(store.engine, OrderedDict())
        before = mine.get(found.name)
        if before is None or before.key != found.key or before.version <= found.version:
            mine[found.name] = found
        while len(mine) > MOST_KEPT:
            mine.popitem(last=False)
