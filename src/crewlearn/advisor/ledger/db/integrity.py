"""Damage to the file of an SQLite store, below anything that the record's hashes can tell."""

import sqlite3
from typing import Any

import sqlalchemy as sa

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def damage_to(connection: sqlite3.Connection) -> str | None:
    """Return what is damaged in a database, or None."""
    try:
        report = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
        if report != "ok":
            return report.splitlines()[-1]
        lost = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return str(error)
    return None if lost is None else f"a row of {lost[0]} belongs to one of {lost[2]} that is missing"


def damage_to_store(connection: sa.Connection) -> str | None:
    """Return what is damaged in the file of a store, or None; PostgreSQL looks after its own files."""
    if connection.dialect.name != "sqlite":
        return None
    raw: Any = connection.connection.dbapi_connection
    return damage_to(raw)


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Return whether an error tells of damage, rather than of a full disk, say."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
