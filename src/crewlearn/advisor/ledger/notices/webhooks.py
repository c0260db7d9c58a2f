"""Webhooks of a site: added, listed, removed, and given new secrets. A secret is returned only when it is made."""

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.notices.addresses import checked_url
from crewlearn.advisor.ledger.notices.kinds import FOUND_TREND, KINDS, TEST, Notice, checked_kinds
from crewlearn.advisor.ledger.notices.outbox import DELIVERED, FAILED, WAITING, put_for
from crewlearn.advisor.ledger.notices.sources import found_trends
from crewlearn.advisor.ledger.store import LONGEST_ACTOR, Store
from crewlearn.advisor.ledger.text import checked_text
from crewlearn.problem.errors import Unknown, real

SECRET_PREFIX = "crewhook_"
OVERLAP_HOURS = 24.0
"""Hours for which the old secret signs too, after a rotation."""
MOST_HOURS = 24.0 * 30
MOST_WEBHOOKS = 20
"""The most webhooks that a site may have: each notice is written once for each."""


@dataclass(frozen=True)
class Webhook:
    """A webhook without its secret. `waiting` and `failed` count deliveries, `fault` is the last one's if it failed.

    `both_until` is when the old secret ceases to sign, after a rotation.
    """

    id: int
    url: str
    kinds: tuple[str, ...]
    created: datetime
    created_by: str
    waiting: int
    failed: int
    failures: int
    next_try: datetime | None
    both_until: datetime | None
    fault: str


def add(store: Store, site: str, url: str, actor: str, kinds: Iterable[str] = KINDS) -> tuple[Webhook, str]:
    """Add a webhook that is told of some kinds of notices; return it with its secret, which is never shown again.

    It is told of what happens from now on: trends that show already are taken as known.
    """
    checked_text("actor", actor, LONGEST_ACTOR)
    checked_url("url", url)
    chosen, secret, table = checked_kinds(kinds), _new_secret(), schema.webhooks
    with store.changing() as connection:
        now = store.snapshot(connection, site, lock=True)
        key = now.version.key
        theirs = connection.execute(sa.select(table.c.url).where(table.c.site == key)).scalars().all()
        if url in theirs:
            raise Conflict(
                "url", url, "is a webhook of this site already; remove that one first, or give it a new secret"
            )
        if len(theirs) >= MOST_WEBHOOKS:
            raise Conflict("url", url, f"would be one too many: a site has at most {MOST_WEBHOOKS} webhooks")
        if FOUND_TREND in chosen:
            found_trends(connection, key, now.site)
        made = connection.execute(
            table.insert().values(
                site=key,
                url=url,
                kinds=json.dumps(chosen),
                secret=secret,
                created=now_on(connection),
                created_by=actor,
                failures=0,
                next_try=0.0,
                beat=0,
            )
        ).inserted_primary_key
        assert made is not None
        return _webhooks(connection, key, made[0])[0], secret


def list_webhooks(store: Store, site: str) -> list[Webhook]:
    """Return a site's webhooks, the oldest first."""
    with store.reading() as connection:
        return _webhooks(connection, store.key(connection, site))


def get(store: Store, site: str, id: int) -> Webhook:
    """Return a webhook of a site."""
    with store.reading() as connection:
        known(connection, store.key(connection, site), id)
        return _webhooks(connection, store.key(connection, site), id)[0]


def remove(store: Store, site: str, id: int) -> None:
    """Remove a webhook with everything in its outbox."""
    table = schema.webhooks
    with store.changing() as connection:
        key = store.locked_key(connection, site)
        known(connection, key, id)
        connection.execute(schema.deliveries.delete().where(schema.deliveries.c.webhook == id))
        connection.execute(table.delete().where(table.c.id == id))


def rotate(store: Store, site: str, id: int, hours: float = OVERLAP_HOURS) -> str:
    """Give a webhook a new secret and return it; for so many hours the old one signs too."""
    real("hours", hours, 0, MOST_HOURS)
    table, secret = schema.webhooks, _new_secret()
    with store.changing() as connection:
        row = known(connection, store.locked_key(connection, site), id)
        until = now_on(connection) + hours * 3600.0
        values = {"secret": secret, "old_secret": row.secret, "old_until": until}
        connection.execute(table.update().where(table.c.id == id).values(values))
    return secret


def send_test(store: Store, site: str, id: int) -> str:
    """Put a test notice in a webhook's outbox, behind what waits there; return the delivery's id."""
    with store.changing() as connection:
        known(connection, store.locked_key(connection, site), id)
        return put_for(connection, [id], Notice(TEST, {}))[0]


def known(connection: sa.Connection, key: int, id: int) -> Any:
    """Return a webhook's row, or raise that the site has no such webhook."""
    table = schema.webhooks
    row = connection.execute(sa.select(table).where(table.c.site == key, table.c.id == id)).one_or_none()
    if row is None:
        raise Unknown("webhook", id, "is not a webhook of this site; see: crewlearn webhook list")
    return row


def _new_secret() -> str:
    return SECRET_PREFIX + secrets.token_urlsafe(32)


def _webhooks(connection: sa.Connection, key: int, id: int | None = None) -> list[Webhook]:
    table, sent = schema.webhooks, schema.deliveries
    query = sa.select(table).where(table.c.site == key).order_by(table.c.id)
    rows = connection.execute(query if id is None else query.where(table.c.id == id)).all()
    counts = {
        (row.webhook, row.status): row.many
        for row in connection.execute(
            sa.select(sent.c.webhook, sent.c.status, sa.func.count().label("many"))
            .where(sent.c.webhook.in_([row.id for row in rows]))
            .group_by(sent.c.webhook, sent.c.status)
        )
    }
    now = now_on(connection)
    return [
        Webhook(
            id=row.id,
            url=row.url,
            kinds=tuple(json.loads(row.kinds)),
            created=_moment(row.created),
            created_by=row.created_by,
            waiting=counts.get((row.id, WAITING), 0),
            failed=counts.get((row.id, FAILED), 0),
            failures=row.failures,
            next_try=_moment(row.next_try) if row.failures and counts.get((row.id, WAITING)) else None,
            both_until=_moment(row.old_until) if row.old_until is not None and row.old_until > now else None,
            fault=_last_fault(connection, row.id) if row.failures else "",
        )
        for row in rows
    ]


def _last_fault(connection: sa.Connection, id: int) -> str:
    """Return what went wrong at the last attempt: with the delivery that waits, or the last one that failed."""
    table = schema.deliveries
    tried = sa.select(table.c.outcome).where(table.c.webhook == id, table.c.attempts > 0, table.c.status != DELIVERED)
    waits_first = sa.case((table.c.status == WAITING, 0), else_=1)
    return connection.execute(tried.order_by(waits_first, table.c.finished.desc(), table.c.id).limit(1)).scalar() or ""


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
