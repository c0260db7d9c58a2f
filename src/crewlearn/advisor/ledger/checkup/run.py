"""Running all checks of a store."""

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from crewlearn.advisor.ledger.checkup import backups, machine, permissions, queues, stored
from crewlearn.advisor.ledger.checkup.findings import FAILURE, OK, Finding
from crewlearn.advisor.ledger.db.engine import clear_errors, shown, snapshot_begun
from crewlearn.problem.errors import InvalidInput

CHECKS = ("versions", "store", "permissions", "clock", "disk", "backups", "webhooks", "jobs", "users")

_RESTORE = "stop the servers, move the file away, and restore the last sound backup: crewlearn store restore FILE"


def check_up(engine: sa.Engine, folder: Path | None, backup_hours: float) -> list[Finding]:
    """Return what all checks find, in the order of `CHECKS`; a check that finds nothing wrong says so.

    `folder` is where backups are kept, the newest of which may be so many hours old. Nothing is changed. Where the
    store cannot be read, checks that need it are left out.
    """
    found = list(_all(engine, folder, backup_hours))
    return sorted(found, key=lambda finding: CHECKS.index(finding.check))


def _all(engine: sa.Engine, folder: Path | None, backup_hours: float) -> Iterator[Finding]:
    yield from machine.check_versions()
    file = file_of(engine)
    if file is not None:
        yield from machine.check_disk(file)
        yield from permissions.check_files(file)
    yield from backups.check_backups(file, folder, backup_hours)
    fault = _unusable(engine, file)
    if fault is not None:
        yield fault
        return
    yield from stored.check_store(engine)
    try:
        yield from _read(engine, file)
    except InvalidInput as error:
        yield Finding("store", FAILURE, str(error), _RESTORE)


def _read(engine: sa.Engine, file: Path | None) -> Iterator[Finding]:
    """Yield what the tables tell."""
    with clear_errors(engine), snapshot_begun(engine) as connection:
        if file is None:
            yield from permissions.check_account(connection)
            yield Finding("disk", OK, "the disk of PostgreSQL is not looked at from here")
        yield from stored.check_clock(connection)
        yield from stored.check_users(connection)
        yield from queues.check_webhooks(connection)
        yield from queues.check_jobs(connection)


def file_of(engine: sa.Engine) -> Path | None:
    """Return the file of a SQLite store; None for one on PostgreSQL."""
    return Path(engine.url.database or "") if engine.dialect.name == "sqlite" else None


def _unusable(engine: sa.Engine, file: Path | None) -> Finding | None:
    """Return why the tables cannot be read, or None."""
    if file is not None and not file.is_file():
        remedy = "name the store with --db or CREWLEARN_DB; `crewlearn serve` makes a new one"
        return Finding("store", FAILURE, f"there is no store at {shown(engine)}", remedy)
    try:
        with clear_errors(engine):
            return stored.check_schema(engine)
    except InvalidInput as error:
        remedy = "see that the database runs, and that address and password are right"
        if file is not None:
            remedy = _RESTORE
        return Finding("store", FAILURE, str(error), remedy)
