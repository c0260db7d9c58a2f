"""A copy of a whole store in one file, and its way back; PostgreSQL has programs of its own for that."""

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
from crewlearn.advisor.ledger.db.upgrade import other_schema, schema_version
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.problem.errors import InvalidInput

_BACKUP = 'is on PostgreSQL, whose own programs do this: pg_dump -Fc "$CREWLEARN_DB" > FILE'
_RESTORE = (
    "is on PostgreSQL, whose own programs do this, with the servers stopped: "
    'pg_restore --clean --if-exists --single-transaction -d "$CREWLEARN_DB" FILE'
)
_PASSING = (schema.sessions, schema.sign_in_links)
"""What must not come back with a copy: who was signed in when it was made."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _InUse(sqlite3.OperationalError):
    """Somebody else kept a copy waiting for too long."""


def back_up(engine: sa.Engine, file: Path) -> None:
    """Copy a store as it stands at one moment, whoever writes to it meanwhile; a file that is there is left alone.

    Nobody may read the copy who may not read the store.
    """
    source = _file_of(engine, _BACKUP)
    if _version(engine, source) is None:
        raise StoreUnavailable(shown(engine), "there is no store here")
    if file.exists():
        raise _exists(file)
    with _as_ours(partial(InvalidInput, "file", str(file)), "cannot be written"), _beside(file) as unfinished:
        _fill(source, unfinished)
        with closing(sqlite3.connect(unfinished)) as copy:
            copy.execute("PRAGMA journal_mode=DELETE").close()  # one file, with nothing beside it
        _name(unfinished, file)


def restore(engine: sa.Engine, file: Path) -> None:
    """Put a copy in the place of what the store holds, in one transaction: all of it, or nothing.

    Copying the file itself would leave what SQLite keeps beside the old one, to be applied to the new one. What is
    there must be a store, or nothing: anything else is somebody's own, or so damaged that it is better kept aside.
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
        raise InvalidInput("file", str(file), "holds no store")
    with _as_ours(partial(StoreUnavailable, shown(engine)), "cannot be restored"), _beside(target) as prepared:
        fault = _prepare(file, prepared)
        if fault is not None:
            raise InvalidInput("file", str(file), f"is damaged ({fault}); nothing was done: give another copy")
        if target.exists():
            _copy(prepared, target)
        else:
            _fill(prepared, target)


def _prepare(file: Path, prepared: Path) -> str | None:
    """Make of a copy what a store is to be: whole, nobody signed in, written as stores are. Return what is damaged."""
    try:
        _fill(file, prepared)
        with closing(sqlite3.connect(prepared)) as copy:
            report = str(copy.execute("PRAGMA integrity_check(1)").fetchone()[0])
            if report != "ok":
                return report.splitlines()[-1]
            lost = copy.execute("PRAGMA foreign_key_check").fetchone()
            if lost is not None:
                return f"a row of {lost[0]} belongs to one of {lost[2]} that is missing"
            copy.execute("PRAGMA secure_delete=ON").close()
            tables = {row[0] for row in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table in _PASSING:
                if table.name in tables:  # the oldest stores have none
                    copy.execute(f"DELETE FROM {table.name}").close()
            copy.commit()
            copy.execute("PRAGMA journal_mode=WAL").close()
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
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
    """Name a finished copy, if the name is still free: renaming would replace what others put there."""
    try:
        if not _linked(unfinished, file):
            _fill(unfinished, file)
    except FileExistsError as error:
        raise _exists(file) from error


def _linked(unfinished: Path, file: Path) -> bool:
    """Link a file to a second name; return whether the disk supports links."""
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
    """Copy a database to a file that is not there yet and that nobody may read or write who may not the first."""
    like = source.stat()
    made = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, stat.S_IMODE(like.st_mode) & 0o666 | 0o600)
    try:
        status = os.fstat(made)
    finally:
        os.close(made)
    try:
        if status.st_gid != like.st_gid:  # that group is other people
            new.chmod(stat.S_IMODE(status.st_mode) & ~0o070)
        _copy(source, new)
    except _InUse:  # somebody took it for a new store
        raise
    except BaseException:
        for left in (new, new.with_name(f"{new.name}-journal")):
            left.unlink(missing_ok=True)
        raise


def _file_of(engine: sa.Engine, remedy: str) -> Path:
    """Return the file that an address names."""
    if engine.dialect.name != "sqlite":
        raise StoreUnavailable(shown(engine), remedy)
    name = engine.url.database or ""
    if name in ("", ":memory:") or name.startswith("file:"):
        raise StoreUnavailable(shown(engine), "must name the file itself here, as in sqlite:///crewlearn.db")
    return Path(name)


def _version(engine: sa.Engine, file: Path) -> str | None:
    """Return the schema of the store in a file, None if there is nothing; what is no store of ours is refused."""
    if not file.is_file():
        return None
    with clear_errors(engine):
        version = schema_version(engine)
    if version is not None and version > schema.SCHEMA:
        raise other_schema(engine, version)
    return version


def _copy(source: Path, target: Path) -> None:
    """Copy a database into another, waiting for whoever uses it as long as writers wait for each other."""
    with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there, progress=_until(time.monotonic() + database.LOCK_SECONDS), sleep=0.05)


def _until(deadline: float) -> Callable[[int, int, int], None]:
    """End a copy that is kept waiting for too long: by itself it would wait for ever."""

    def tell(status: int, remaining: int, total: int) -> None:
        if status & 0xFF in database.BUSY and time.monotonic() > deadline:
            raise _InUse("somebody else is using it; stop the servers, then try again")

    return tell


@contextmanager
def _as_ours(error_of: Callable[[str], InvalidInput], what: str) -> Iterator[None]:
    """Raise errors of files and databases as ours, made from their remedy."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise error_of(f"{what} ({error}); nothing was done") from error
