"""Backup and restore of SQLite stores; for PostgreSQL there are pg_dump and pg_restore."""

import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import engine as database
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import clear_errors, make_engine, shown
from crewlearn.advisor.ledger.db.integrity import damage_to, is_damage
from crewlearn.advisor.ledger.db.upgrade import other_schema, schema_version
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.problem.errors import InvalidInput

_BACKUP = 'is on PostgreSQL; use its own tool: pg_dump -Fc "$CREWLEARN_DB" > FILE'
_RESTORE = (
    "is on PostgreSQL; stop the servers and use its own tool: "
    'pg_restore --clean --if-exists --single-transaction -d "$CREWLEARN_DB" FILE'
)
_PASSING = (schema.sessions, schema.sign_in_links)
"""Tables that a restore empties: nobody stays signed in from the time of the backup."""


class _InUse(sqlite3.OperationalError):
    """Another program held the database's lock for too long."""


def back_up(engine: sa.Engine, file: Path) -> None:
    """Write a consistent copy of a store, which others may use meanwhile; never overwrite a file.

    The copy is readable only by those who may read the store.
    """
    source = _file_of(engine, _BACKUP)
    if _version(engine, source) is None:
        raise StoreUnavailable(shown(engine), "there is no store here")
    if file.exists():
        raise _exists(file)
    with _as_ours(partial(InvalidInput, "file", str(file)), "cannot be written"), _beside(file) as unfinished:
        _fill(source, unfinished)
        with closing(sqlite3.connect(unfinished)) as copy:
            fault = damage_to(copy)  # a copy that could not be restored is none
            if fault is not None:
                remedy = f"is damaged ({fault}); no copy was made: restore the last sound one, and keep this file"
                raise StoreUnavailable(shown(engine), remedy)
            copy.execute("PRAGMA journal_mode=DELETE").close()  # a single file, without a -wal file
        _name(unfinished, file)


def restore(engine: sa.Engine, file: Path) -> None:
    """Replace the contents of a store by those of a backup, in one transaction.

    Copying the file would leave the old -wal file, which SQLite would apply to the new database. The target must be a
    store or missing: anything else may be another program's file, or a damaged store worth keeping.
    """
    target = _file_of(engine, _RESTORE)
    if not file.is_file():
        raise InvalidInput("file", str(file), "does not exist")
    if target.exists() and target.samefile(file):
        raise InvalidInput("file", str(file), "is the store itself; give a copy of it")
    _version(engine, target)
    copied = make_engine(sa.URL.create("sqlite", database=str(file)))
    try:
        version = _version(copied, file)
    finally:
        copied.dispose()
    if version is None:
        raise InvalidInput("file", str(file), "is not a store")
    with _as_ours(partial(StoreUnavailable, shown(engine)), "cannot be restored"), _beside(target) as prepared:
        fault = _prepare(file, prepared)
        if fault is not None:
            raise InvalidInput("file", str(file), f"is damaged ({fault}); nothing was done: give another copy")
        if target.exists():
            _copy(prepared, target)
        else:
            _fill(prepared, target)


def _prepare(file: Path, prepared: Path) -> str | None:
    """Check a backup, sign everybody out and set the journal mode; return what is damaged, or None."""
    try:
        _fill(file, prepared)
        with closing(sqlite3.connect(prepared)) as copy:
            fault = damage_to(copy)
            if fault is not None:
                return fault
            copy.execute("PRAGMA secure_delete=ON").close()
            tables = {row[0] for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table in _PASSING:
                if table.name in tables:  # the oldest stores have none
                    copy.execute(f"DELETE FROM {table.name}").close()
            copy.commit()
            copy.execute("PRAGMA journal_mode=WAL").close()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return str(error)
    return None


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """Yield a path in a temporary folder on the same disk as a file; the folder is removed at the end."""
    with tempfile.TemporaryDirectory(
        prefix="crewlearn-unfinished-", dir=file.parent, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder) / "store.db"


def _name(unfinished: Path, file: Path) -> None:
    """Link a finished copy to its name unless that is taken; a rename would replace another program's file."""
    try:
        if not _linked(unfinished, file):
            _fill(unfinished, file)
    except FileExistsError as error:
        raise _exists(file) from error


def _linked(unfinished: Path, file: Path) -> bool:
    """Hard-link a file to a second name; return False if the file system does not support it."""
    try:
        os.link(unfinished, file)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def _exists(file: Path) -> InvalidInput:
    return InvalidInput("file", str(file), "exists already; choose another name")


def _fill(source: Path, new: Path) -> None:
    """Copy a database to a new file, which is accessible only to those who may access the first."""
    like = source.stat()
    made = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, stat.S_IMODE(like.st_mode) & 0o666 | 0o600)
    try:
        status = os.fstat(made)
    finally:
        os.close(made)
    try:
        if status.st_gid != like.st_gid:  # another group: give it no access
            new.chmod(stat.S_IMODE(status.st_mode) & ~0o070)
        _copy(source, new)
    except _InUse:  # another program opened it as a new store: leave it
        raise
    except BaseException:
        for left in (new, new.with_name(f"{new.name}-journal")):
            left.unlink(missing_ok=True)
        raise


def _file_of(engine: sa.Engine, remedy: str) -> Path:
    """Return the file of an SQLite address."""
    if engine.dialect.name != "sqlite":
        raise StoreUnavailable(shown(engine), remedy)
    name = engine.url.database or ""
    if name in ("", ":memory:") or name.startswith("file:"):
        raise StoreUnavailable(shown(engine), "must name the file itself here, as in sqlite:///crewlearn.db")
    return Path(name)


def _version(engine: sa.Engine, file: Path) -> str | None:
    """Return the schema of the store in a file, or None if there is none; refuse other databases."""
    if not file.is_file():
        return None
    with clear_errors(engine):
        version = schema_version(engine)
    if version is not None and version > schema.SCHEMA:
        raise other_schema(engine, version)
    return version


def _copy(source: Path, target: Path) -> None:
    """Copy a database into another, waiting for its lock for up to `LOCK_SECONDS`."""
    with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there, progress=_until(time.monotonic() + database.LOCK_SECONDS), sleep=0.05)


def _until(deadline: float) -> Callable[[int, int, int], None]:
    """Return a progress callback that gives up on the lock after a deadline; SQLite would wait forever."""

    def tell(status: int, remaining: int, total: int) -> None:
        if status & 0xFF in database.BUSY and time.monotonic() > deadline:
            raise _InUse("it is in use; stop the servers, then try again")

    return tell


@contextmanager
def _as_ours(error_of: Callable[[str], InvalidInput], what: str) -> Iterator[None]:
    """Convert errors of files and databases, with `error_of` making the error from a remedy."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise error_of(f"{what} ({error}); nothing was done") from error
