"""The store: readers get one consistent view; a writer takes the lock first and writes in one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import ClassVar, NamedTuple

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import engine as database
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import (
    begun_to_write,
    clear_errors,
    make_engine,
    shown,
    snapshot_begun,
    truncate_log,
)
from crewlearn.advisor.ledger.db.upgrade import make_tables, other_schema, schema_version
from crewlearn.advisor.ledger.errors import Conflict, Overloaded, Stale, StoreUnavailable
from crewlearn.advisor.ledger.events import FIRST_HASH, Cached, SiteCreated
from crewlearn.advisor.ledger.keyed_locks import KeyedLocks
from crewlearn.advisor.ledger.queries import read_events, retold, state_of
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.site.request_keys import RequestKey, check_unused
from crewlearn.advisor.ledger.site_cache import SiteCache
from crewlearn.advisor.ledger.text import checked_text
from crewlearn.advisor.ledger.transaction import Clock, DeriveAdvice, SiteTransaction
from crewlearn.advisor.ledger.writers import Lockable, Writers
from crewlearn.problem.errors import Unknown

DEFAULT_URL = "sqlite:///crewlearn.db"
LONGEST_ACTOR = 200
LEFTOVER = (
    "what was erased is still in {file}-wal, because another program is reading the store; end that program. A running "
    "server then removes it within the hour, any command does if none runs"
)
_MOST_RETOLD = 20


def _now() -> datetime:
    """Return the local time of this machine: a site's days are local, while the record has UTC."""
    return datetime.now().astimezone()


class Version(NamedTuple):
    """A site's version: its key, its number of events, and the hash of the last one."""

    key: int
    events: int
    head: str


@dataclass(frozen=True)
class SiteSnapshot:
    """A site's state at a version; it must not be changed."""

    version: Version
    site: Site


@dataclass
class Store:
    """An open store; a context manager that closes its connections.

    `derive` derives advice from a site's state; `advisor.advice.opening.open_store` supplies it.

    `request` is the key of the request that is being served; see `keyed`. `writers` bounds the threads that write or
    wait to; None for no bound.

    Every change of a site adds an event, so its number of events and last hash tell whether the cached state is
    current: one small query instead of reading the whole state.
    """

    engine: sa.Engine
    derive: DeriveAdvice
    clock: Clock = field(default=_now)
    request: RequestKey | None = None
    writers: Writers | None = None
    turns: ClassVar[KeyedLocks] = KeyedLocks()
    _cache: SiteCache[SiteSnapshot] = field(default_factory=SiteCache, init=False, repr=False)
    _leftovers: set[str] = field(default_factory=set, init=False, repr=False)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def keyed(self, request: RequestKey | None) -> "Store":
        """Return this store for one request, which it records once; writing for it again raises `RequestRepeated`."""
        same = copy(self)  # connections and cache are shared
        same.request = request
        return same

    def bounded(self, writers: Writers) -> "Store":
        """Return this store with a bound on the threads that write to it or wait to."""
        same = copy(self)
        same.writers = writers
        return same

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection with one consistent view, whatever others write meanwhile."""
        with clear_errors(self.engine), snapshot_begun(self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self, site: str, actor: str, expected: int | None = None) -> Iterator[SiteTransaction]:
        """Yield a transaction on a site under its lock; then derive advice if it is due, and commit.

        `expected` is the number of events the writer has seen; if the site has more, it is a conflict.
        """
        checked_text("actor", actor, LONGEST_ACTOR)
        with self.in_turn(site), self.changing() as connection:
            now = self.snapshot(connection, site, lock=True)
            key, events, head = now.version
            if self.request is not None:
                check_unused(now.site.used_keys, self.request)
            if expected is not None and expected != events:
                raise _stale(connection, now, expected)
            work = SiteTransaction(
                connection, key, now.site.copy(), events, head, actor, self.clock, self.derive, request=self.request
            )
            yield work
            work.finish()
        if work.added:
            self._cache.put(site, SiteSnapshot(Version(key, work.number, work.head), work.site))
        if Cached.QUOTATIONS in work.invalidated:
            self.scrub()

    @contextmanager
    def in_turn(self, site: str, patience: float | None = None) -> Iterator[None]:
        """Serialise this process's long work on a site before it reaches the database.

        In the database, each waiting writer would hold a connection that readers then lack, and on SQLite it would
        poll. After the timeout the work continues, and the database reports the conflict; where writers are bounded,
        it is refused. Readers need not wait; expensive ones wait for up to `patience` seconds, because parallel long
        work delays short answers.
        """
        lock = self.turns.of(self.engine, site)
        taken = self._taken(lock, site) if patience is None else self._taken_by_reader(lock, site, patience)
        try:
            yield
        finally:
            if taken:
                lock.release()

    def _taken(self, lock: Lockable, site: str) -> bool:
        if self.writers is None:
            return lock.acquire(timeout=database.LOCK_SECONDS)
        if not self.writers.acquire(lock, site, database.LOCK_SECONDS):
            raise Overloaded(database.LOCK_SECONDS)
        return True

    def _taken_by_reader(self, lock: Lockable, site: str, patience: float) -> bool:
        if self.writers is None:
            return lock.acquire(timeout=patience)
        try:
            return self.writers.acquire(lock, site, patience)
        except Overloaded:
            return False

    def create(self, name: str, config: SiteConfig, actor: str) -> None:
        """Create a site and record its first event."""
        checked_text("actor", actor, LONGEST_ACTOR)
        with self.changing() as connection:
            taken = connection.execute(sa.select(schema.sites.c.id).where(schema.sites.c.name == name)).first()
            if taken is not None:
                raise Conflict("site", name, "exists already; choose another name")
            try:
                made = connection.execute(
                    schema.sites.insert().values(name=name, events=0, head=FIRST_HASH, state="{}")
                ).inserted_primary_key
            except sa.exc.IntegrityError as error:  # another writer created it first
                raise Conflict("site", name, "exists already; choose another name") from error
            assert made is not None
            work = SiteTransaction(connection, made[0], None, 0, FIRST_HASH, actor, self.clock, self.derive)
            work.add(SiteCreated(name, config))
            work.finish()

    def site(self, connection: sa.Connection, name: str) -> tuple[int, Site, int]:
        """Return a site's key, its state (not to be changed) and its number of events."""
        now = self.snapshot(connection, name)
        return now.version.key, now.site, now.version.events

    def key(self, connection: sa.Connection, name: str) -> int:
        """Return the key of a site."""
        return self._known(connection, name).key

    def locked_key(self, connection: sa.Connection, name: str) -> int:
        """Return the key of a site, whose row stays locked until the transaction ends."""
        return self._known(connection, name, lock=True).key

    def snapshot(self, connection: sa.Connection, name: str, *, lock: bool = False) -> SiteSnapshot:
        """Return a site's current state, cached or read; with `lock`, locked until the transaction ends."""
        version, table = self._known(connection, name, lock=lock), schema.sites
        cached = self._cache.get(name)
        if cached is not None and cached.version == version:
            return cached
        row = connection.execute(sa.select(table.c.name, table.c.state).where(table.c.id == version.key)).one()
        return self._cache.put(name, SiteSnapshot(version, state_of(row)))

    def version(self, connection: sa.Connection, name: str, *, lock: bool = False) -> Version | None:
        """Return a site's version; None if there is no such site."""
        if "\0" in name:  # no site has such a name, and PostgreSQL would raise
            return None
        row = connection.execute(_LOCKED if lock else _VERSION, {"name": name}).one_or_none()
        return None if row is None else Version(*row)

    def names(self) -> list[str]:
        """Return the names of the sites."""
        with self.reading() as connection:
            return self._names(connection)

    def scrub(self) -> bool:
        """Truncate SQLite's write-ahead log, which still has erased text; PostgreSQL removes it when it vacuums.

        Return False while another program that reads the store prevents it: `leftover` then says so.
        """
        if self.engine.dialect.name != "sqlite" or truncate_log(self.engine):
            self._leftovers.clear()
            return True
        self._leftovers.add(LEFTOVER.format(file=self.engine.url.database))
        return False

    @property
    def leftover(self) -> str:
        """Where text that was erased still is, and what to do about it; empty if it is gone."""
        return "".join(self._leftovers)

    def _names(self, connection: sa.Connection) -> list[str]:
        return list(connection.execute(sa.select(schema.sites.c.name).order_by(schema.sites.c.name)).scalars())

    def _known(self, connection: sa.Connection, name: str, *, lock: bool = False) -> Version:
        version = self.version(connection, name, lock=lock)
        if version is None:
            raise Unknown("site", name, f"does not exist; there are: {', '.join(self._names(connection)) or 'none'}")
        return version

    @contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """Begin a write transaction; on SQLite it takes the lock at once, so that no read is upgraded to a write."""
        ticket = nullcontext() if self.writers is None else self.writers.ticket(database.LOCK_SECONDS)
        with ticket, clear_errors(self.engine), begun_to_write(self.engine) as connection:
            yield connection


_VERSION = sa.select(schema.sites.c.id, schema.sites.c.events, schema.sites.c.head).where(
    schema.sites.c.name == sa.bindparam("name")
)
_LOCKED = _VERSION.with_for_update(key_share=True)  # rows that refer to the site, such as jobs, can still be added


def _stale(connection: sa.Connection, now: SiteSnapshot, expected: int) -> Stale:
    """Return the error for a stale version, with what people recorded since."""
    key = now.version.key
    later = (event for event in read_events(connection, key, expected) if event.fact.by_people)
    since = retold(connection, key, now.site, islice(later, _MOST_RETOLD))
    remedy = f"is now at version {now.version.events}; look at what changed, then try again"
    return Stale("version", expected, remedy, since)


def open_ledger(url: str, derive: DeriveAdvice, clock: Clock | None = None, *, make: bool = True) -> Store:
    """Open a store with a function that derives advice; a missing store is created, or refused without `make`.

    An older store is refused with the command that upgrades it.
    """
    engine = make_engine(url)
    try:
        with clear_errors(engine):
            version = schema_version(engine) if make or _may_exist(engine) else None
            if version is None and not make:
                remedy = "there is no store here; check --db and CREWLEARN_DB, or create one: crewlearn site create"
                raise StoreUnavailable(shown(engine), remedy)
            if version is None:
                make_tables(engine)
        if version is not None and version != schema.SCHEMA:
            raise other_schema(engine, version)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine, derive) if clock is None else Store(engine, derive, clock)


def _may_exist(engine: sa.Engine) -> bool:
    """Return whether a store may exist, without creating a file; True for a database server."""
    path = engine.url.database or ""
    return engine.dialect.name != "sqlite" or path.startswith("file:") or Path(path).is_file()
