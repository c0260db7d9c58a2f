"""A copy of a whole store in one file, and its way back; PostgreSQL has programs of its own for that."""

import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from crewlearn.advisor import database, schema
from crewlearn.advisor.database import clear_errors, make_engine, shown
from crewlearn.advisor.tables import other_schema, schema_version
from crewlearn.problem.errors import InvalidInput

_BACKUP = "is on PostgreSQL, whose own programs do this: pg_dump -Fc DATABASE > FILE"
_RESTORE = (
    "is on PostgreSQL, whose own programs do this: "
    "pg_restore --clean --if-exists --single-transaction -d DATABASE FILE, with the servers stopped"
)


def back_up(engine: sa.Engine, file: Path) -> None:
    """Copy a store as it stands at one moment, whoever writes to it meanwhile; a file that is there is left alone."""
    _only_sqlite(engine, _BACKUP)
    if file.exists():
        raise InvalidInput("file", str(file), "exists already; choose another name")
    _check(engine)
    with closing(_connected(engine)) as source, closing(sqlite3.connect(file)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE").close()  # one file, with nothing beside it


def restore(engine: sa.Engine, file: Path) -> None:
    """Put a copy in the place of what the store holds, in one transaction: all of it, or nothing.

    Copying the file itself would leave what SQLite keeps beside the old one, to be applied to the new one.
    """
    _only_sqlite(engine, _RESTORE)
    if not file.is_file():
        raise InvalidInput("file", str(file), "does not exist")
    copied = make_engine(f"sqlite:///{file}")
    try:
        _check(copied)
        with clear_errors(engine), closing(_connected(copied)) as copy, closing(_connected(engine)) as target:
            copy.backup(target)
            target.execute("PRAGMA journal_mode=WAL").close()
    except sqlite3.OperationalError as error:
        remedy = f"is in use ({error}); stop the servers, then try again; nothing was done"
        raise InvalidInput("db", shown(engine), remedy) from error
    finally:
        copied.dispose()


def _only_sqlite(engine: sa.Engine, remedy: str) -> None:
    if engine.dialect.name != "sqlite":
        raise InvalidInput("db", shown(engine), remedy)


def _check(engine: sa.Engine) -> None:
    """See that there is a store that this program can read."""
    with clear_errors(engine):
        found = schema_version(engine) if Path(engine.url.database or "").is_file() else None
    if found is None:
        raise InvalidInput("db", shown(engine), "there is no store here")
    if found > schema.SCHEMA:
        raise other_schema(engine, found)


def _connected(engine: sa.Engine) -> sqlite3.Connection:
    return sqlite3.connect(engine.url.database or "", timeout=database.LOCK_SECONDS)
