"""A copy of a whole store in one file, and its way back; PostgreSQL has programs of its own for that."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sa

from crewlearn.advisor import database, schema
from crewlearn.advisor.database import clear_errors, make_engine, shown
from crewlearn.advisor.tables import other_schema, schema_version
from crewlearn.problem.errors import InvalidInput

_BACKUP = 'is on PostgreSQL, whose own programs do this: pg_dump -Fc "$CREWLEARN_DB" > FILE'
_RESTORE = (
    "is on PostgreSQL, whose own programs do this, with the servers stopped: "
    'pg_restore --clean --if-exists --single-transaction -d "$CREWLEARN_DB" FILE'
)
_PASSING = (schema.sessions, schema.sign_in_links)
"""What must not come back with a copy: who was signed in when it was made."""


def back_up(engine: sa.Engine, file: Path) -> None:
    """Copy a store as it stands at one moment, whoever writes to it meanwhile; a file that is there is left alone."""
    source = _file_of(engine, _BACKUP)
    if _version(engine, source) is None:
        raise InvalidInput("db", shown(engine), "there is no store here")
    if file.exists():
        raise InvalidInput("file", str(file), "exists already; choose another name")
    unfinished = file.with_name(f"{file.name}.unfinished")
    try:
        with _told("file", str(file), "cannot be written"):
            unfinished.unlink(missing_ok=True)
            _copy(source, unfinished)
            with closing(sqlite3.connect(unfinished)) as copy:
                copy.execute("PRAGMA journal_mode=DELETE").close()  # one file, with nothing beside it
            unfinished.rename(file)
    finally:
        unfinished.unlink(missing_ok=True)


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
        found = _version(copied, file)
    finally:
        copied.dispose()
    if found is None:
        raise InvalidInput("file", str(file), "holds no store")
    with _told("db", shown(engine), "cannot be restored"):
        _copy(file, target)
        with closing(sqlite3.connect(target, timeout=database.LOCK_SECONDS)) as restored:
            restored.execute("PRAGMA journal_mode=WAL").close()
            if found == schema.SCHEMA:
                for table in _PASSING:
                    restored.execute(f"DELETE FROM {table.name}").close()
                restored.commit()


def _file_of(engine: sa.Engine, remedy: str) -> Path:
    """Give the file that an address names."""
    if engine.dialect.name != "sqlite":
        raise InvalidInput("db", shown(engine), remedy)
    name = engine.url.database or ""
    if name in ("", ":memory:") or name.startswith("file:"):
        raise InvalidInput("db", shown(engine), "must name the file itself here, as in sqlite:///crewlearn.db")
    return Path(name)


def _version(engine: sa.Engine, file: Path) -> str | None:
    """Give the schema of the store in a file, None if there is nothing; what is no store of ours is refused."""
    if not file.is_file():
        return None
    with clear_errors(engine):
        found = schema_version(engine)
    if found is not None and found > schema.SCHEMA:
        raise other_schema(engine, found)
    return found


def _copy(source: Path, target: Path) -> None:
    """Copy a database into another, waiting for whoever uses it as long as writers wait for each other."""
    with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there, progress=_until(time.monotonic() + database.LOCK_SECONDS), sleep=0.05)


def _until(deadline: float) -> Callable[[int, int, int], None]:
    """End a copy that is kept waiting for too long: by itself it would wait for ever."""

    def tell(status: int, remaining: int, total: int) -> None:
        if status & 0xFF in database.BUSY and time.monotonic() > deadline:
            raise sqlite3.OperationalError("somebody else is using it; stop the servers, then try again")

    return tell


@contextmanager
def _told(field: str, value: str, what: str) -> Iterator[None]:
    """Let errors of files and databases say what happened."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise InvalidInput(field, value, f"{what} ({error}); nothing was done") from error
