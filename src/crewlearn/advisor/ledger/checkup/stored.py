"""Checks of the store itself: its schema, its file, whether it can be written, its clock, and its users."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import sqlalchemy as sa

from crewlearn.advisor.ledger.checkup.findings import FAILURE, OK, WARNING, Finding, time_words
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import begun_to_write, clear_errors, now_on, shown, snapshot_begun
from crewlearn.advisor.ledger.db.integrity import damage_to_store
from crewlearn.advisor.ledger.db.upgrade import other_schema, schema_version
from crewlearn.advisor.ledger.text import counted, some_of
from crewlearn.problem.errors import InvalidInput

APART = 2.0
"""Seconds that the clocks of server and database may differ."""

AHEAD = 60.0
"""Seconds that the newest event may be ahead of the clock."""

SOON = 14 * 86_400.0
"""Seconds before its end at which a token is named."""

_CLOCK = "set the clock, and let it follow a time server: timedatectl set-ntp true"


def check_schema(engine: sa.Engine) -> Finding | None:
    """Return what is wrong with a store's revision; None if it is ours."""
    version = schema_version(engine)
    if version is None:
        remedy = "run: crewlearn serve, which makes the tables, or restore a backup"
        return Finding("store", FAILURE, f"{shown(engine)} is empty", remedy)
    if version == schema.SCHEMA:
        return None
    update = "stop the servers, back up the store, then run: crewlearn store upgrade"
    remedy = "update crewlearn on this machine" if version > schema.SCHEMA else update
    return Finding("store", FAILURE, str(other_schema(engine, version)), remedy)


def check_store(engine: sa.Engine) -> Iterator[Finding]:
    """Check that a store is sound and can be written."""
    with clear_errors(engine), snapshot_begun(engine) as connection:
        damage = damage_to_store(connection)
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar() if _is_sqlite(engine) else "wal"
        sites, events = connection.execute(_SIZE).one()
    wrong = []
    if damage is not None:
        remedy = "stop the servers, move the file away, and restore the last sound backup: crewlearn store restore FILE"
        wrong.append(Finding("store", FAILURE, f"the file is damaged ({damage})", remedy))
    if mode != "wal":
        remedy = f'readers wait for writers; run: sqlite3 {engine.url.database} "PRAGMA journal_mode=WAL"'
        wrong.append(Finding("store", WARNING, f"its journal mode is {mode}, not wal", remedy))
    try:
        with clear_errors(engine), begun_to_write(engine) as connection:
            connection.execute(schema.sites.update().where(sa.false()).values(events=0))
            connection.rollback()
    except InvalidInput as error:
        remedy = "see that disk and database are not read-only, and that no program holds the store for long"
        wrong.append(Finding("store", FAILURE, f"it cannot be written: {error}", remedy))
    size = f"{counted(sites, 'site')}, {counted(events, 'event')}, schema {schema.SCHEMA}"
    yield from wrong or [Finding("store", OK, f"{shown(engine)} can be read and written: {size}")]


def check_clock(connection: sa.Connection) -> Iterator[Finding]:
    """Check this machine's clock against the database's and against the newest event."""
    here, there = time.time(), now_on(connection)
    wrong = []
    if abs(here - there) > APART:
        detail = f"the clocks of this machine and the database are {time_words(abs(here - there))} apart"
        wrong.append(Finding("clock", WARNING, detail, _CLOCK))
    last = connection.execute(_LAST).all()
    newest = max((datetime.fromisoformat(at).timestamp(), site) for site, at in last) if last else (0.0, "")
    if newest[0] > here + AHEAD:
        ahead = f"the newest event of {newest[1]} is {time_words(newest[0] - here)} in the future"
        remedy = f"either it was recorded by a wrong clock, or this one is behind: {_CLOCK}"
        wrong.append(Finding("clock", FAILURE, ahead, remedy))
    local = datetime.fromtimestamp(here).astimezone()
    yield from wrong or [Finding("clock", OK, f"it is {local:%Y-%m-%d %H:%M %Z} here; sites' days begin by this time")]


def check_users(connection: sa.Connection) -> Iterator[Finding]:
    """Check that somebody may manage users, and that no token ends soon."""
    users, tokens = schema.users, schema.tokens
    admins = connection.execute(
        sa.select(sa.func.count()).where(users.c.role == "admin", users.c.everywhere, sa.not_(users.c.disabled))
    ).scalar_one()
    wrong = []
    if not admins:
        remedy = "run: crewlearn users add NAME --role admin, then: crewlearn users link NAME"
        wrong.append(Finding("users", WARNING, "nobody may manage users and sites", remedy))
    now = now_on(connection)
    ending = connection.execute(
        sa.select(users.c.name, sa.func.min(tokens.c.expires))
        .join(tokens)
        .where(tokens.c.revoked.is_(None), tokens.c.expires > now, tokens.c.expires < now + SOON)
        .where(sa.not_(users.c.disabled))
        .group_by(users.c.name)
    ).all()
    if ending:
        named = some_of([f"{name} on {datetime.fromtimestamp(at, UTC):%Y-%m-%d}" for name, at in ending], 5)
        remedy = "give them new ones in time: crewlearn users token NAME"
        wrong.append(Finding("users", WARNING, f"tokens end soon: {named}", remedy))
    yield from wrong or [
        Finding("users", OK, f"{counted(admins, 'admin')} of all sites, and no token ends within 14 days")
    ]


def _is_sqlite(engine: sa.Engine) -> bool:
    return engine.dialect.name == "sqlite"


_SIZE = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(schema.sites.c.events), 0)).select_from(schema.sites)
_LAST = sa.select(schema.sites.c.name, schema.events.c.at).where(
    schema.events.c.site == schema.sites.c.id, schema.events.c.number == schema.sites.c.events
)
