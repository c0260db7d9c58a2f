"""The store: who reads has one consistent view; a writer takes the lock first, and all it does is one transaction."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import sqlalchemy as sa

from crewlearn.advisor import database, schema
from crewlearn.advisor.conflict import Conflict, Stale
from crewlearn.advisor.database import begun_to_write, clear_errors, make_engine, shown
from crewlearn.advisor.events import ADVISED, CREATED, FIRST_HASH
from crewlearn.advisor.identities import read_people
from crewlearn.advisor.kept import Kept
from crewlearn.advisor.narration import told
from crewlearn.advisor.record import proposals_in, read_events, state_of
from crewlearn.advisor.site import Site
from crewlearn.advisor.tables import make_tables, other_schema, schema_version
from crewlearn.advisor.text import checked_text
from crewlearn.advisor.turns import Turns
from crewlearn.advisor.writing import Clock, Writing
from crewlearn.problem.errors import InvalidInput, Unknown

DEFAULT_URL = "sqlite:///crewlearn.db"
LONGEST_ACTOR = 200
_MOST_TOLD = 20


def _now() -> datetime:
    """Give the time on this machine's clock: days are the site's own, while the record has UTC."""
    return datetime.now().astimezone()


class Version(NamedTuple):
    """Which site, and after which event: its key, how many events it has, and the last one's hash."""

    key: int
    events: int
    head: str


@dataclass(frozen=True)
class Standing:
    """A site as it stands at a version. Nobody changes its state."""

    version: Version
    site: Site


@dataclass
class Store:
    """An open store; closed when its context ends.

    Every change of a site adds an event, so a site's event number and last hash tell whether the state that is kept of
    it is still current: one small query instead of reading the whole state.
    """

    engine: sa.Engine
    clock: Clock = field(default=_now)
    _kept: Kept[Standing] = field(default_factory=Kept, init=False, repr=False)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Read in one consistent view, whatever others write meanwhile."""
        options: dict[str, Any] = {}
        if self.engine.dialect.name == "postgresql":
            options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with (
            clear_errors(self.engine),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def writing(self, site: str, actor: str, expected: int | None = None) -> Iterator["Writing"]:
        """Write to a site: take its lock, yield what to write with, derive advice if it is due, and commit it all.

        With `expected`, the number of events the writer has seen, a site that moved on meanwhile is a conflict.
        """
        checked_text("actor", actor, LONGEST_ACTOR)
        with self.in_turn(site), self.changing() as connection:
            now = self.standing(connection, site, lock=True)
            key, events, head = now.version
            if expected is not None and expected != events:
                raise _stale(connection, now, expected)
            work = Writing(connection, key, now.site.copy(), events, head, actor, self.clock)
            yield work
            work.finish()
        if work.added:
            self._kept.put(site, Standing(Version(key, work.number, work.head), work.site))

    @contextmanager
    def in_turn(self, site: str, patience: float | None = None) -> Iterator[None]:
        """Wait for this process's other long work on a site, writers above all, before asking the database.

        There, each writer would hold a connection while it waits, which readers then lack, and on SQLite it would poll.
        Who waits too long goes on; the database then says so. Who reads need not wait at all and does so for a moment
        only, with little `patience`: long work side by side keeps everybody from short answers.
        """
        turn = _turns.of(self.engine, site)
        taken = turn.acquire(timeout=database.LOCK_SECONDS if patience is None else patience)
        try:
            yield
        finally:
            if taken:
                turn.release()

    def create(self, name: str, payload: Mapping[str, Any], actor: str) -> None:
        """Begin the record of a site."""
        checked_text("actor", actor, LONGEST_ACTOR)
        with self.changing() as connection:
            taken = connection.execute(sa.select(schema.sites.c.id).where(schema.sites.c.name == name)).first()
            if taken is not None:
                raise Conflict("site", name, "exists already; choose another name")
            try:
                made = connection.execute(
                    schema.sites.insert().values(name=name, events=0, head=FIRST_HASH, state="{}")
                ).inserted_primary_key
            except sa.exc.IntegrityError as error:  # somebody else was quicker
                raise Conflict("site", name, "exists already; choose another name") from error
            assert made is not None
            work = Writing(connection, made[0], None, 0, FIRST_HASH, actor, self.clock)
            work.add(CREATED, {"site": name, **payload})
            work.finish()

    def site(self, connection: sa.Connection, name: str) -> tuple[int, Site, int]:
        """Give a site's key, its state, which nobody changes, and how many events it has."""
        now = self.standing(connection, name)
        return now.version.key, now.site, now.version.events

    def key(self, connection: sa.Connection, name: str) -> int:
        """Give the key of a site."""
        return self._known(connection, name).key

    def standing(self, connection: sa.Connection, name: str, *, lock: bool = False) -> Standing:
        """Give a site as it stands, under `lock` until the transaction ends; its state is read if it is not kept."""
        version, table = self._known(connection, name, lock=lock), schema.sites
        kept = self._kept.get(name)
        if kept is not None and kept.version == version:
            return kept
        row = connection.execute(sa.select(table.c.name, table.c.state).where(table.c.id == version.key)).one()
        return self._kept.put(name, Standing(version, state_of(row)))

    def version(self, connection: sa.Connection, name: str, *, lock: bool = False) -> Version | None:
        """Give a site's version; None if there is no such site."""
        if "\0" in name:  # no site is called so, and PostgreSQL cannot even be asked
            return None
        row = connection.execute(_LOCKED if lock else _VERSION, {"name": name}).one_or_none()
        return None if row is None else Version(*row)

    def names(self) -> list[str]:
        """Name the sites."""
        with self.reading() as connection:
            return self._names(connection)

    def scrub(self) -> None:
        """Drop what SQLite still has of erased text in its write-ahead log; PostgreSQL does so when it vacuums."""
        if self.engine.dialect.name == "sqlite":
            with suppress(sqlite3.OperationalError), self.engine.connect() as connection:  # a reader may be in the way
                raw = connection.connection.dbapi_connection
                assert raw is not None
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()

    def _names(self, connection: sa.Connection) -> list[str]:
        return list(connection.execute(sa.select(schema.sites.c.name).order_by(schema.sites.c.name)).scalars())

    def _known(self, connection: sa.Connection, name: str, *, lock: bool = False) -> Version:
        version = self.version(connection, name, lock=lock)
        if version is None:
            raise Unknown("site", name, f"does not exist; there are: {', '.join(self._names(connection)) or 'none'}")
        return version

    @contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """Begin a transaction that writes; on SQLite it takes the lock at once, so that no read turns into a write."""
        with clear_errors(self.engine), begun_to_write(self.engine) as connection:
            yield connection


_VERSION = sa.select(schema.sites.c.id, schema.sites.c.events, schema.sites.c.head).where(
    schema.sites.c.name == sa.bindparam("name")
)
_LOCKED = _VERSION.with_for_update(key_share=True)  # others may add what belongs to the site, such as a job
_turns = Turns()


def _stale(connection: sa.Connection, now: Standing, expected: int) -> Stale:
    """Give the error of somebody who looked at an earlier version: it tells what happened since."""
    key = now.version.key
    said = (event for event in read_events(connection, key, expected) if event.type != ADVISED)
    since = list(islice(said, _MOST_TOLD))
    people, proposals = read_people(connection, key), proposals_in(connection, key, since)
    calendar = now.site.config.calendar
    changed = [
        f"{event.actor} {told(event, people, proposals, calendar)} ({event.at[:16].replace('T', ' ')} UTC)"
        for event in since
    ]
    remedy = f"is at version {now.version.events} by now; look at what changed, then do it again"
    return Stale("version", expected, remedy, changed)


def open_store(url: str = DEFAULT_URL, clock: Clock | None = None, *, make: bool = True) -> Store:
    """Open a store; where there is none it is made or, without `make`, refused.

    An older one is refused with the command that upgrades it.
    """
    engine = make_engine(url)
    try:
        with clear_errors(engine):
            version = schema_version(engine) if make or _may_exist(engine) else None
            if version is None and not make:
                remedy = "there is no store here; mind --db and CREWLEARN_DB, or begin one: crewlearn site create"
                raise InvalidInput("db", shown(engine), remedy)
            if version is None:
                make_tables(engine)
        if version is not None and version != schema.SCHEMA:
            raise other_schema(engine, version)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine) if clock is None else Store(engine, clock)


def _may_exist(engine: sa.Engine) -> bool:
    """Say whether there can be a store, without making a file by looking; of a server, that is found by asking."""
    path = engine.url.database or ""
    return engine.dialect.name != "sqlite" or path.startswith("file:") or Path(path).is_file()
