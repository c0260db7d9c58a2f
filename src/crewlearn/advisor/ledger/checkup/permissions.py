"""Checks of who may read the store: the modes of its files, or the rights of the account on PostgreSQL."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from crewlearn.advisor.ledger.checkup.findings import FAILURE, OK, WARNING, Finding
from crewlearn.advisor.ledger.notices.addresses import is_loopback


def check_files(file: Path) -> Iterator[Finding]:
    """Check that the files of a store belong to us and are for nobody else, and that SQLite may write beside them."""
    wrong = list(_wrong_files(file))
    yield from wrong
    if not wrong and file.is_file():
        yield Finding("permissions", OK, f"{file} is for its owner alone")


def _wrong_files(file: Path) -> Iterator[Finding]:
    for part in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        if not part.is_file():
            continue
        status = part.stat()
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            remedy = f"it holds people's names; run: chmod 600 {part}"
            yield Finding("permissions", WARNING, f"others on this machine may use {part} (mode {mode:04o})", remedy)
        if status.st_uid != os.geteuid():
            remedy = f"run as the server's user, or give it the file: chown {os.geteuid()} {part}"
            yield Finding("permissions", WARNING, f"{part} belongs to user {status.st_uid}", remedy)
        if not os.access(part, os.R_OK | os.W_OK):
            yield Finding(
                "permissions", FAILURE, f"{part} cannot be written", "let the server's user read and write it"
            )
    folder = file.absolute().parent
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        remedy = "let the server's user write there: SQLite makes files beside the store"
        yield Finding("permissions", FAILURE, f"the folder {folder} cannot be written", remedy)


def check_account(connection: sa.Connection) -> Iterator[Finding]:
    """Check what the account on PostgreSQL may do, and that the way there is encrypted."""
    row = connection.execute(sa.text(_ACCOUNT)).one()
    wrong = []
    if not row.temporary:
        remedy = f'checking files takes temporary tables; run: GRANT TEMPORARY ON DATABASE "{row.name}" TO "{row.role}"'
        wrong.append(Finding("permissions", FAILURE, f"{row.role} may not make temporary tables", remedy))
    if row.super:
        remedy = "give the server an account that owns this database and nothing else"
        wrong.append(Finding("permissions", WARNING, f"{row.role} is a superuser of PostgreSQL", remedy))
    host = connection.engine.url.host or ""
    if host and not host.startswith("/") and not is_loopback(host) and not row.encrypted:
        remedy = "add ?sslmode=verify-full to its address, and let PostgreSQL accept TLS"
        wrong.append(Finding("permissions", WARNING, f"the connection to {host} is not encrypted", remedy))
    yield from wrong or [Finding("permissions", OK, f"{row.role} has the rights that the server needs")]


_ACCOUNT = """
SELECT current_user AS role, current_database() AS name,
  has_database_privilege(current_database(), 'TEMPORARY') AS temporary,
  (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS super,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted
"""
