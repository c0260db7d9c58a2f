"""The store: SQLite or PostgreSQL, one code path; a writer takes the lock first, and all it does is one transaction.

An engine must not cross a fork: open the store in the process that uses it.
"""

import json
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import advice, schema, stints
from crewlearn.advisor.events import ADVISED, CREATED, FIRST_HASH, OUTPUT, UNDONE, Event, Row, canonical, next_event
from crewlearn.advisor.fold import apply
from crewlearn.advisor.identities import read_people
from crewlearn.advisor.site import Proposal, Site
from crewlearn.advisor.text import checked_text
from crewlearn.problem.errors import InvalidInput, Unknown

DEFAULT_URL = "sqlite:///crewlearn.db"
LOCK_SECONDS = 30.0
"""How long a writer waits for another before it gives up with a clear error; read when a store is opened."""

ROWS_AT_ONCE = 20_000
WORKERS_AT_ONCE = 500
LONGEST_ACTOR = 200

_CREATING = 7_302_519_180
"""The lock under which PostgreSQL stores are made: any number, the same for all of us."""

Clock = Callable[[], datetime]


class Conflict(InvalidInput):
    """What is asked for contradicts what is on record."""

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, object, str]]:
        """Stay a conflict across process borders."""
        return Conflict, (self.field, self.value, self.remedy)


class Stale(Conflict):
    """The site has moved on since it was looked at; `changed` tells what happened, by whom and when."""

    def __init__(self, field: str, value: object, remedy: str, changed: Sequence[str] = ()) -> None:
        super().__init__(field, value, remedy)
        self.changed = tuple(changed)

    def __reduce__(self) -> tuple[Any, ...]:
        """Stay what it is across process borders."""
        return Stale, (self.field, self.value, self.remedy, self.changed)


def _now() -> datetime:
    """Give the time on this machine's clock: days are the site's own, while the record has UTC."""
    return datetime.now().astimezone()


@dataclass
class Store:
    """An open store; closed when its context ends.

    `written` is told what was committed: the site, how many events it had before, and what was written to it.
    """

    engine: sa.Engine
    clock: Clock = field(default=_now)
    written: "Callable[[str, int, Writing], None] | None" = None

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
            row = connection.execute(
                sa.select(schema.sites).where(schema.sites.c.name == site).with_for_update()
            ).one_or_none()
            if row is None:
                raise self._unknown(connection, site)
            if expected is not None and expected != row.events:
                raise _stale(connection, row, expected)
            work = Writing(connection, row.id, _state_of(row), row.events, row.head, actor, self.clock)
            yield work
            work.finish()
        if work.added and self.written is not None:
            self.written(site, row.events, work)

    @contextmanager
    def in_turn(self, site: str) -> Iterator[None]:
        """Wait for this process's other long work on a site, writers above all, before asking the database.

        There, each writer would hold a connection while it waits, which readers then lack, and on SQLite it would poll.
        Who waits too long goes on; the database then says so.
        """
        turn = _turns[hash((id(self.engine), site)) % len(_turns)]
        taken = turn.acquire(timeout=LOCK_SECONDS)
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
        """Give a site's key, its state, and how many events it has."""
        row = connection.execute(sa.select(schema.sites).where(schema.sites.c.name == name)).one_or_none()
        if row is None:
            raise self._unknown(connection, name)
        return row.id, _state_of(row), row.events

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

    def _unknown(self, connection: sa.Connection, name: str) -> InvalidInput:
        return Unknown("site", name, f"does not exist; there are: {', '.join(self._names(connection)) or 'none'}")

    @contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """Begin a transaction that writes; on SQLite it takes the lock at once, so that no read turns into a write."""
        with clear_errors(self.engine), begun_to_write(self.engine) as connection:
            yield connection


_turns = tuple(threading.RLock() for _ in range(64))


def _stale(connection: sa.Connection, row: Any, expected: int) -> Stale:
    """Give the error of somebody who looked at an earlier version: it tells what happened since."""
    from crewlearn.advisor.narration import told

    people = read_people(connection, row.id)
    proposals = {one.id: one for one in read_proposals(connection, row.id)}
    calendar = _state_of(row).config.calendar
    changed = [
        f"{event.actor} {told(event, people, proposals, calendar)} ({event.at[:16].replace('T', ' ')} UTC)"
        for event in read_events(connection, row.id, expected)
        if event.type != ADVISED
    ]
    remedy = f"is at version {row.events} by now; look at what changed, then do it again"
    return Stale("version", expected, remedy, changed[:20])


def _state_of(row: Any) -> Site:
    """Read the kept state; one that somebody spoiled is an error that says what to do."""
    try:
        return Site.from_json(json.loads(row.state))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        remedy = f"has a kept state that cannot be read ({error}); see: crewlearn ledger verify, and restore a backup"
        raise InvalidInput("site", row.name, remedy) from error


def state_text(site: Site) -> str:
    """Give a state as it is kept."""
    return json.dumps(site.to_json(), allow_nan=False)


@dataclass
class Writing:
    """What a command writes to one site within its transaction."""

    connection: sa.Connection
    key: int
    state: Site | None
    number: int
    head: str
    actor: str
    clock: Clock
    changed: set[int] = field(default_factory=set)
    added: set[str] = field(default_factory=set)

    @property
    def site(self) -> Site:
        """The state so far."""
        assert self.state is not None
        return self.state

    def add(
        self,
        kind: str,
        payload: Mapping[str, Any],
        rows: Sequence[Row] = (),
        replaced: Collection[tuple[int, int, int]] = (),
    ) -> Event:
        """Put an event on record, with the rows of an import, and take it into the state.

        `replaced` names the rows that these correct, by worker, period and the event that brought them.
        """
        before = {} if self.state is None else dict(self.state.proposals)
        seats = [] if self.state is None else self.state.seats
        at = self.clock().astimezone(UTC).isoformat(timespec="milliseconds")
        event = next_event(self.number + 1, at, self.actor, kind, payload, self.head)
        self.connection.execute(
            schema.events.insert().values(**{**vars(event), "payload": canonical(event.payload), "site": self.key})
        )
        if rows:
            self._write_rows(event.number, rows, replaced)
        self.state = apply(self.state, event, rows, self._history)
        self.number, self.head = event.number, event.hash
        self.added.add(kind)
        self.changed |= {number for number, one in self.site.proposals.items() if before.get(number) != one}
        for change in stints.changes(seats, self.site, undone=kind == UNDONE):
            stints.write(self.connection, self.key, change)
        return event

    def finish(self) -> None:
        """Derive advice if it is due; write the state. Without an event nothing changed, and nothing is written."""
        if not self.added:
            return
        if advice.is_due(self.site):
            self.add(ADVISED, advice.derive(self.site))
        self._write_proposals()
        self.connection.execute(
            schema.sites.update()
            .where(schema.sites.c.id == self.key)
            .values(events=self.number, head=self.head, state=state_text(self.site))
        )

    def identities(self, among: Collection[str] | None = None) -> dict[str, int]:
        """Give the numbers of workers by the firm's own ids, of all or of a few."""
        return {external: number for external, (number, _) in self.people(among).items()}

    def people(self, among: Collection[str] | None = None) -> dict[str, tuple[int, str | None]]:
        """Give the numbers and names of workers by the firm's own ids, of all or of a few."""
        table = schema.identities
        query = sa.select(table.c.external_id, table.c.worker, table.c.name).where(
            table.c.site == self.key, table.c.external_id.is_not(None)
        )
        if among is not None and len(among) <= WORKERS_AT_ONCE:
            query = query.where(table.c.external_id.in_(among))
        return {row.external_id: (row.worker, row.name) for row in self.connection.execute(query)}

    def standing(self, given: Sequence[Row]) -> dict[tuple[int, int], tuple[int, Row]]:
        """Give the rows that stand where the given ones would, with their event, by worker and period.

        Rows later than anything known of their worker meet none, so a new day is not looked up at all.
        """
        workers = self.site.workers
        met = [row for row in given if row.period <= workers[row.worker].recorded_to]
        if not met:
            return {}
        first, last = min(row.period for row in met), max(row.period for row in met)
        table, found = schema.output_rows, {}
        query = sa.select(
            table.c.event, table.c.period, table.c.worker, table.c.units, table.c.hours, table.c.attendance
        ).where(table.c.site == self.key, table.c.replaced_in.is_(None), table.c.period.between(first, last))
        for numbers in _batches(sorted({row.worker for row in met}), WORKERS_AT_ONCE):
            for row in self.connection.execute(query.where(table.c.worker.in_(numbers))):
                found[row[2], row[1]] = (row[0], Row._make(row[1:]))
        return found

    def _write_rows(self, number: int, rows: Sequence[Row], replaced: Collection[tuple[int, int, int]]) -> None:
        """Write the rows of an import, in the order they are kept in; those they correct stay, marked as replaced."""
        table = schema.output_rows
        if replaced:
            self.connection.execute(
                table.update()
                .where(
                    table.c.site == self.key,
                    table.c.worker == sa.bindparam("of_worker"),
                    table.c.period == sa.bindparam("of_period"),
                    table.c.event == sa.bindparam("of_event"),
                )
                .values(replaced_in=number),
                [
                    {"of_worker": worker, "of_period": period, "of_event": event}
                    for worker, period, event in sorted(replaced)
                ],
            )
        for batch in _batches(sorted(rows, key=lambda row: (row.worker, row.period)), ROWS_AT_ONCE):
            self.connection.execute(
                table.insert(), [{"site": self.key, "event": number, **row._asdict()} for row in batch]
            )

    def _history(self, worker: int) -> list[Row]:
        table = schema.output_rows
        rows = self.connection.execute(
            sa.select(table.c.period, table.c.worker, table.c.units, table.c.hours, table.c.attendance)
            .where(table.c.site == self.key, table.c.worker == worker, table.c.replaced_in.is_(None))
            .order_by(table.c.period)
        )
        return [Row(*row) for row in rows]

    def _write_proposals(self) -> None:
        table = schema.proposals
        numbers = [number for number in sorted(self.changed) if number in self.site.proposals]
        if not numbers:
            return
        self.connection.execute(table.delete().where(table.c.site == self.key, table.c.id.in_(numbers)))
        self.connection.execute(
            table.insert(), [proposal_row(self.site.proposals[number], self.key) for number in numbers]
        )


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
                raise InvalidInput("db", _shown(engine), remedy)
            if version is None:
                _make(engine)
        if version is not None and version != schema.SCHEMA:
            raise _other_schema(engine, version)
    except BaseException:
        engine.dispose()
        raise
    return Store(engine) if clock is None else Store(engine, clock)


def _may_exist(engine: sa.Engine) -> bool:
    """Say whether there can be a store, without making a file by looking; of a server, that is found by asking."""
    path = engine.url.database or ""
    return engine.dialect.name != "sqlite" or path.startswith("file:") or Path(path).is_file()


def _other_schema(engine: sa.Engine, version: str) -> InvalidInput:
    wanted = f"is of schema {version}, and {schema.SCHEMA} is needed"
    if version > schema.SCHEMA:
        return InvalidInput("db", _shown(engine), f"{wanted}: a newer crewlearn made it; update this one")
    return InvalidInput("db", _shown(engine), f"{wanted}; back it up, then run: crewlearn store upgrade")


def make_engine(url: str) -> sa.Engine:
    """Give an engine whose transactions behave alike on both databases; nothing is opened yet."""
    try:
        address = sa.make_url(url)
        backend = address.get_backend_name()
    except (sa.exc.ArgumentError, ValueError):  # not chained: it holds the address, and that may hold a password
        remedy = "is no database address; write sqlite:///file.db or postgresql://…"
        raise InvalidInput("db", re.sub(r"//.*@", "//***@", url), remedy) from None
    if backend == "sqlite":
        return _sqlite_engine(address)
    if backend != "postgresql":
        raise InvalidInput("db", address.render_as_string(), "must be an SQLite or PostgreSQL database")
    try:
        return _postgresql_engine(address.set(drivername="postgresql+psycopg"))
    except ModuleNotFoundError as error:
        remedy = "needs the PostgreSQL driver; run: pip install 'crewlearn[postgres]'"
        raise InvalidInput("db", address.render_as_string(), remedy) from error


def _sqlite_engine(address: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        address.set(drivername="sqlite"), connect_args={"timeout": LOCK_SECONDS}, hide_parameters=True
    )

    @sa.event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, record: Any) -> None:
        connection.isolation_level = None  # transactions begin as we say, not as the driver guesses
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", "cache_size=-32768"):
            connection.execute(f"PRAGMA {pragma}").close()

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("crewlearn_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql_engine(address: sa.URL) -> sa.Engine:
    wait = {} if "connect_timeout" in address.query else {"connect_timeout": 10}
    engine = sa.create_engine(address, connect_args=wait, pool_pre_ping=True, hide_parameters=True)
    milliseconds = max(1, int(LOCK_SECONDS * 1000))  # 0 would be for ever

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        if connection.get_execution_options().get("crewlearn_writes"):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")

    return engine


@contextmanager
def begun_to_write(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Begin a transaction that writes, waiting for others; as long as it has not begun, trying again is safe."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        connection = engine.connect().execution_options(crewlearn_writes=True)
        try:
            transaction = connection.begin()
            break
        except sa.exc.DBAPIError as error:
            connection.close()
            if not _is_busy(error) or time.monotonic() >= deadline:
                raise
        except BaseException:
            connection.close()
            raise
    with connection, transaction:
        yield connection


@contextmanager
def clear_errors(engine: sa.Engine) -> Iterator[None]:
    """Let errors of the database say what happened and what to do."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        explained = _explained(engine, error)
        if explained is None:
            raise
        raise explained from error


def _explained(engine: sa.Engine, error: sa.exc.DBAPIError) -> InvalidInput | None:
    """Give the error for people; None if it is a fault of the program."""
    said = str(error.orig).strip().partition("\n")[0]
    if _is_busy(error):
        remedy = f"is being written to by somebody else for more than {LOCK_SECONDS:g} s; nothing was done, try again"
        return Conflict("db", _shown(engine), remedy)
    if isinstance(error, sa.exc.IntegrityError) or _code_of(error) in _CLASHES:
        return Conflict("db", _shown(engine), f"somebody else was quicker ({said}); nothing was done, try again")
    if error.connection_invalidated:
        remedy = f"broke off ({said}); do it again: what is on record by now is passed over or refused as done"
        return InvalidInput("db", _shown(engine), remedy)
    refused = _code_of(error) == "42501"  # insufficient privilege
    if refused or not isinstance(error, (sa.exc.ProgrammingError, sa.exc.DataError)):
        return InvalidInput("db", _shown(engine), f"cannot be used ({said}); nothing was done")
    return None


_CLASHES = ("40001", "40P01")
"""PostgreSQL's codes of a serialization failure and of a deadlock."""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def _is_busy(error: sa.exc.DBAPIError) -> bool:
    """Say whether somebody else holds the lock."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return _code_of(error) == "55P03" if code is None else code & 0xFF in _BUSY


def _code_of(error: sa.exc.DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)


def _shown(engine: sa.Engine) -> str:
    """Give the address without its password."""
    return engine.url.render_as_string(hide_password=True)


def schema_version(engine: sa.Engine) -> str | None:
    """Give the schema's revision; None if the database is empty. One with other tables is not ours and is refused."""
    with engine.connect() as connection, connection.begin():
        tables = sa.inspect(connection).get_table_names()
        if not tables:
            return None
        versions: Sequence[Any] = []
        if schema.VERSION_TABLE in tables:
            versions = connection.execute(sa.text(f"SELECT * FROM {schema.VERSION_TABLE}")).scalars().all()
    if len(versions) != 1:
        remedy = f"is no store of crewlearn: it has the table {tables[0]}; give an empty database or a new file"
        raise InvalidInput("db", _shown(engine), remedy)
    return str(versions[0])


def _make(engine: sa.Engine) -> None:
    """Make the tables in an empty database. Only then is SQLite's way of writing set: the file keeps it."""
    deadline = time.monotonic() + LOCK_SECONDS
    while engine.dialect.name == "sqlite":
        try:
            with engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                assert raw is not None
                raw.execute("PRAGMA journal_mode=WAL").close()
            break
        except sqlite3.OperationalError as error:  # another makes it too, and SQLite does not wait for this lock
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() >= deadline:
                raise InvalidInput("db", _shown(engine), f"cannot be used ({error})") from error
            time.sleep(0.01)
    with clear_errors(engine), begun_to_write(engine) as connection:
        _migrate(connection)


def upgrade(engine: sa.Engine) -> None:
    """Bring a store to the newest revision, and what is kept of each site to what its events come to by now."""
    from crewlearn.advisor.rebuild import rebuild

    with clear_errors(engine):
        version = schema_version(engine)
        if version is None:
            _make(engine)
        elif version > schema.SCHEMA:
            raise _other_schema(engine, version)
        with begun_to_write(engine) as connection:
            _migrate(connection)
            rebuild(connection)


def _migrate(connection: sa.Connection) -> None:
    """Bring the tables to the newest revision; whoever comes second finds it done."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATING)))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def read_events(
    connection: sa.Connection,
    key: int,
    after: int | None = None,
    *,
    before: int | None = None,
    types: Sequence[str] | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> Iterator[Event]:
    """Give a site's events in order: all of them, or those between two numbers, of some types, or no more than some."""
    table = schema.events
    query = sa.select(table).where(table.c.site == key).limit(limit)
    query = query.order_by(table.c.number.desc() if newest_first else table.c.number)
    if after is not None:
        query = query.where(table.c.number > after)
    if before is not None:
        query = query.where(table.c.number < before)
    if types is not None:
        query = query.where(table.c.type.in_(types))
    for row in connection.execute(query):
        payload = _object_in(row.payload)
        yield Event(row.number, row.at, row.actor, row.rule_version, row.type, payload, row.previous, row.hash)


def _object_in(text: str) -> dict[str, Any]:
    """Read what was written as JSON; if somebody spoiled it, it is given as something that was never written."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"unreadable": text}


def rows_of_event(connection: sa.Connection, key: int, number: int) -> list[Row]:
    """Give the rows that an import brought, in the order they were hashed in."""
    table = schema.output_rows
    rows = connection.execute(
        sa.select(table.c.period, table.c.worker, table.c.units, table.c.hours, table.c.attendance)
        .where(table.c.site == key, table.c.event == number)
        .order_by(table.c.period, table.c.worker)
    )
    return [Row(*row) for row in rows]


def read_proposals(
    connection: sa.Connection,
    key: int,
    after: int | None = None,
    *,
    before: int | None = None,
    statuses: Sequence[str] | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> list[Proposal]:
    """Give the proposals ever made, in order: all, or those between two numbers, that stand so, or some of them."""
    table = schema.proposals
    query = sa.select(table).where(table.c.site == key).limit(limit)
    query = query.order_by(table.c.id.desc() if newest_first else table.c.id)
    if after is not None:
        query = query.where(table.c.id > after)
    if before is not None:
        query = query.where(table.c.id < before)
    if statuses is not None:
        query = query.where(table.c.status.in_(statuses))
    rows = connection.execute(query).mappings()
    return [
        Proposal(**{name: value for name, value in {**row, "why": _object_in(row["why"])}.items() if name != "site"})
        for row in rows
    ]


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def proposal_row(proposal: Proposal, key: int) -> dict[str, Any]:
    """Give a proposal as it is kept."""
    return {**vars(proposal), "why": json.dumps(proposal.why), "site": key}


def is_import(event: Event) -> bool:
    """Say whether an event has rows."""
    return event.type == OUTPUT
