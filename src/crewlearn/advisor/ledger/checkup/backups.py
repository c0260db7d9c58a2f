"""Checks of backups: that there is a recent one, which could be restored, and not on the disk of the store."""

import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from crewlearn.advisor.ledger.checkup.findings import FAILURE, OK, WARNING, Finding, size_words, time_words
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.integrity import damage_to

DUMP = b"PGDMP"
"""How a custom-format dump of PostgreSQL begins."""

_SQLITE = b"SQLite format 3\0"


def check_backups(store: Path | None, folder: Path | None, hours: float) -> Iterator[Finding]:
    """Check the newest backup in a folder, which may be so many hours old; `store` is the file of a SQLite store."""
    make = "crewlearn store backup FILE" if store is not None else 'pg_dump -Fc "$CREWLEARN_DB" > FILE'
    if folder is None:
        detail = "no folder of backups was named, so they were not looked at"
        yield Finding("backups", WARNING, detail, f"make one daily ({make}), and name it: --backups FOLDER")
        return
    if not folder.is_dir():
        yield Finding("backups", FAILURE, f"there is no folder {folder}", "name where backups are: --backups FOLDER")
        return
    files = [file for file in folder.iterdir() if file.is_file()]
    newest = max(files, key=lambda file: file.stat().st_mtime, default=None)
    if newest is None:
        yield Finding("backups", FAILURE, f"there is no backup in {folder}", f"make one: {make}")
        return
    wrong = list(_wrong(newest, store, hours, make))
    age = time_words(max(0.0, time.time() - newest.stat().st_mtime))
    size = size_words(newest.stat().st_size)
    yield from wrong or [Finding("backups", OK, f"{newest.name}, {age} old, {size}, could be restored")]


def _wrong(newest: Path, store: Path | None, hours: float, make: str) -> Iterator[Finding]:
    status = newest.stat()
    age = time.time() - status.st_mtime
    if age > hours * 3600:
        detail = f"the newest backup, {newest.name}, is {time_words(age)} old"
        yield Finding("backups", FAILURE, detail, f"see why no newer one was made; make one: {make}")
    if fault := fault_of(newest):
        yield Finding("backups", FAILURE, f"{newest.name} could not be restored: {fault}", f"make another: {make}")
    if stat.S_IMODE(status.st_mode) & 0o077:
        remedy = f"it holds people's names; run: chmod 600 {newest}"
        yield Finding("backups", WARNING, f"others on this machine may use {newest.name}", remedy)
    if store is not None and store.is_file() and store.stat().st_dev == status.st_dev:
        remedy = "copy backups to another machine: what destroys the disk takes both"
        yield Finding("backups", WARNING, f"{newest.parent} is on the disk of the store", remedy)


def fault_of(backup: Path) -> str | None:
    """Return why a backup could not be restored, or None; of a dump only the beginning is looked at."""
    with backup.open("rb") as opened:
        begins = opened.read(len(_SQLITE))
    if begins.startswith(DUMP):
        return None
    if begins != _SQLITE:
        return "it is neither a SQLite database nor a dump made by pg_dump -Fc"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(backup))}?mode=ro&immutable=1", uri=True)) as copy:
            fault = damage_to(copy)
            if fault is not None:
                return f"it is damaged ({fault})"
            version = copy.execute(f"SELECT * FROM {schema.VERSION_TABLE}").fetchone()
    except sqlite3.DatabaseError as error:
        return f"it is no store ({error})"
    newer = version is not None and str(version[0]) > schema.SCHEMA
    return f"its schema {version[0]} is newer than {schema.SCHEMA}" if newer else None
