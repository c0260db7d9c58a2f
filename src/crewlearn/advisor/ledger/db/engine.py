"""The database: SQLite or PostgreSQL, with transactions that behave alike and errors that say what to do.

An engine must not be used across a fork: create it in the process that uses it.
"""

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.errors import StoreBusy, StoreUnavailable
from crewlearn.problem.errors import InvalidInput

LOCK_SECONDS = 30.0
"""Seconds a writer waits for the lock before it fails; read when a store is opened."""

_SCRUB_SECONDS = 2.0
"""Seconds to wait for the readers of a log that is to be emptied; writers wait meanwhile."""

_CLASHES = ("40001", "40P01")
"""PostgreSQL's codes for a serialization failure and a deadlock."""

BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def make_engine(url: str | sa.URL) -> sa.Engine:
    """Return an engine whose transactions behave alike on both databases; nothing is opened yet."""
    try:
        address = sa.make_url(url)
        backend = address.get_backend_name()
    except (sa.exc.ArgumentError, ValueError):  # not chained, because the address may hold a password
        remedy = "is not a database address; write sqlite:///file.db or postgresql://…"
        raise StoreUnavailable(re.sub(r"//.*@", "//***@", str(url)), remedy) from None
    if backend == "sqlite":
        return _sqlite_engine(address)
    if backend != "postgresql":
        raise StoreUnavailable(address.render_as_string(), "must be an SQLite or PostgreSQL database")
    try:
        return _postgresql_engine(address.set(drivername="postgresql+psycopg"))
    except ModuleNotFoundError as error:
        remedy = "needs the PostgreSQL driver; run: pip install 'crewlearn[postgres]'"
        raise StoreUnavailable(address.render_as_string(), remedy) from error


def _sqlite_engine(address: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        address.set(drivername="sqlite"), connect_args={"timeout": LOCK_SECONDS}, hide_parameters=True
    )

    @sa.event.listens_for(engine, "do_connect")
    def connecting(dialect: sa.Dialect, record: Any, arguments: list[Any], options: dict[str, Any]) -> None:
        name = str(arguments[0])
        if name not in ("", ":memory:") and not options.get("uri") and not name.startswith("file:"):
            _make_private(Path(name))

    @sa.event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, record: Any) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", "cache_size=-32768"):
            connection.execute(f"PRAGMA {pragma}").close()

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("crewlearn_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _make_private(file: Path) -> None:
    """Make the file of a new store for its owner alone; SQLite gives the files beside it the same mode."""
    with suppress(OSError):  # it exists, or SQLite says what is wrong
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _postgresql_engine(address: sa.URL) -> sa.Engine:
    wait = {} if "connect_timeout" in address.query else {"connect_timeout": 10}
    engine = sa.create_engine(address, connect_args=wait, pool_pre_ping=True, hide_parameters=True)
    milliseconds = max(1, int(LOCK_SECONDS * 1000))  # 0 would mean no timeout

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        if connection.get_execution_options().get("crewlearn_writes"):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")

    return engine


@contextmanager
def begun_to_write(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Begin a write transaction, retrying for `LOCK_SECONDS`; nothing has been written until it begins."""
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


def truncate_log(engine: sa.Engine) -> bool:
    """Write SQLite's write-ahead log back to the database and empty it; return whether no other reader needs it."""
    try:
        with engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            raw.execute(f"PRAGMA busy_timeout={1000 * _SCRUB_SECONDS:.0f}").close()
            try:
                return int(raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]) == 0
            finally:
                raw.execute(f"PRAGMA busy_timeout={1000 * LOCK_SECONDS:.0f}").close()
    except sqlite3.OperationalError:  # somebody else writes
        return False


def now_on(connection: sa.Connection) -> float:
    """Return the time in seconds on the clock that all servers of a store share."""
    if connection.dialect.name == "postgresql":
        return float(connection.execute(sa.select(sa.extract("epoch", sa.func.clock_timestamp()))).scalar_one())
    return time.time()


@contextmanager
def snapshot_begun(engine: sa.Engine, *, readonly: bool = True) -> Iterator[sa.Connection]:
    """Begin a transaction with one consistent view, whatever others write meanwhile."""
    options: dict[str, Any] = {}
    if engine.dialect.name == "postgresql":
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": readonly}
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


@contextmanager
def clear_errors(engine: sa.Engine) -> Iterator[None]:
    """Convert database errors to ours, which say what happened and what to do."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        explained = _explained(engine, error)
        if explained is None:
            raise
        raise explained from error
    except sa.exc.TimeoutError as error:  # from the connection pool
        raise StoreUnavailable(shown(engine), "has no free connection; nothing was done, try again") from error


def _explained(engine: sa.Engine, error: sa.exc.DBAPIError) -> InvalidInput | None:
    """Return a database error as one of ours, or None if it is a bug."""
    message = str(error.orig).strip().partition("\n")[0]
    if _is_busy(error):
        remedy = f"has been locked by another writer for more than {LOCK_SECONDS:g} s; nothing was done, try again"
        return StoreBusy(shown(engine), remedy)
    if isinstance(error, sa.exc.IntegrityError) or _code_of(error) in _CLASHES:
        return StoreBusy(shown(engine), f"another writer came first ({message}); nothing was done, try again")
    if error.connection_invalidated:
        remedy = f"lost the connection ({message}); try again: what was recorded already is skipped or refused"
        return StoreUnavailable(shown(engine), remedy)
    refused = _code_of(error) == "42501"  # insufficient privilege
    if refused or not isinstance(error, (sa.exc.ProgrammingError, sa.exc.DataError)):
        return StoreUnavailable(shown(engine), f"cannot be used ({message}); nothing was done{_advice_on(error)}")
    return None


def _advice_on(error: sa.exc.DBAPIError) -> str:
    """Return what to do about a disk that takes no more, or a store that may not be written; empty for the rest."""
    extended = getattr(error.orig, "sqlite_errorcode", None) or 0
    code = _code_of(error)
    if extended & 0xFF == sqlite3.SQLITE_FULL or code == "53100":
        return ": the disk is full; free some space, then try again"
    if extended == sqlite3.SQLITE_IOERR_WRITE:
        return ": the disk takes no more, or a limit on the size of files is reached; free some space, then try again"
    if extended & 0xFF == sqlite3.SQLITE_READONLY or code in ("25006", "42501"):
        return ": the store is read-only here; let this account write to its file and folder, or use another --db"
    return ""


def _is_busy(error: sa.exc.DBAPIError) -> bool:
    """Return whether another connection holds the lock."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return _code_of(error) == "55P03" if code is None else code & 0xFF in BUSY


def _code_of(error: sa.exc.DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)


def shown(engine: sa.Engine) -> str:
    """Return the address without its password."""
    return engine.url.render_as_string(hide_password=True)
