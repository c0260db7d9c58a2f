"""The schema revision of a store, creating its tables, and upgrading them."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import engine as database
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import begun_to_write, clear_errors, shown
from crewlearn.advisor.ledger.errors import StoreUnavailable
from crewlearn.problem.errors import InvalidInput

_CREATING = 7_302_519_180
"""Key of the advisory lock for creating tables on PostgreSQL: an arbitrary number."""


def schema_version(engine: sa.Engine) -> str | None:
    """Return the schema's revision, or None if the database is empty; refuse one with other tables."""
    with engine.connect() as connection, connection.begin():
        tables = sa.inspect(connection).get_table_names()
        if not tables:
            return None
        versions: Sequence[Any] = []
        if schema.VERSION_TABLE in tables:
            versions = connection.execute(sa.text(f"SELECT * FROM {schema.VERSION_TABLE}")).scalars().all()
    if len(versions) != 1:
        remedy = f"is not a crewlearn store: it has the table {tables[0]}; give an empty database or a new file"
        raise StoreUnavailable(shown(engine), remedy)
    return str(versions[0])


def other_schema(engine: sa.Engine, version: str) -> InvalidInput:
    """Return the error for a store of another revision, with what to do."""
    wanted = f"has schema {version}, and {schema.SCHEMA} is needed"
    if version > schema.SCHEMA:
        return StoreUnavailable(shown(engine), f"{wanted}: a newer crewlearn made it; update this one")
    return StoreUnavailable(shown(engine), f"{wanted}; back it up, then run: crewlearn store upgrade")


def make_tables(engine: sa.Engine) -> None:
    """Create the tables in an empty database; SQLite's journal mode is set here only, as the file keeps it."""
    deadline = time.monotonic() + database.LOCK_SECONDS
    while engine.dialect.name == "sqlite":
        try:
            with engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                assert raw is not None
                raw.execute("PRAGMA journal_mode=WAL").close()
            break
        except sqlite3.OperationalError as error:  # another process sets it too; SQLite does not wait here
            if error.sqlite_errorcode & 0xFF not in database.BUSY or time.monotonic() >= deadline:
                raise StoreUnavailable(shown(engine), f"cannot be used ({error})") from error
            time.sleep(0.01)
    with clear_errors(engine), begun_to_write(engine) as connection:
        migrate(connection)


def migrate(connection: sa.Connection) -> None:
    """Upgrade the tables to the newest revision; of two processes at once, the second finds it done."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATING)))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
