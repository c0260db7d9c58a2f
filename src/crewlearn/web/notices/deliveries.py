"""The deliveries of a webhook, and taking turns at them: one server at a time, in order, until each one is through.

A server owns a webhook for as long as its `beat` changes, which it does before every attempt. Other servers time that
by their own monotonic clocks, as they do with jobs. Writes are conditional on still owning the webhook.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.notices.kinds import with_ids, workers_in
from crewlearn.advisor.ledger.notices.outbox import DELIVERED, FAILED, WAITING
from crewlearn.advisor.ledger.notices.webhooks import known
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import Unknown
from crewlearn.web.notices.posting import Outcome

HOUR, DAY = 3600.0, 86_400.0
FIRST_PAUSE, LONGEST_PAUSE = 2.0, HOUR
GIVE_UP_AFTER = 3 * DAY
"""Seconds after which a delivery that nobody took is marked as failed."""
MOST_WAITING = 10_000
"""The most deliveries that wait for a webhook; beyond that, the oldest ones are marked as failed."""
KEEP_DELIVERED, KEEP_FAILED = 7 * DAY, 30 * DAY
MOST_KEPT = 1000
"""The most deliveries of a webhook that are kept once they are through or failed."""


@dataclass(frozen=True)
class Delivery:
    """A delivery: what it says, and what became of it."""

    id: str
    number: int
    kind: str
    facts: dict[str, Any]
    status: str
    created: datetime
    attempts: int
    outcome: str
    finished: datetime | None


def list_deliveries(
    store: Store, site: str, webhook: int, *, before: int | None = None, limit: int = 50
) -> list[Delivery]:
    """Return the deliveries of a webhook, the newest first: all, or those with a number below `before`."""
    table = schema.deliveries
    with store.reading() as connection:
        known(connection, store.key(connection, site), webhook)
        query = sa.select(table).where(table.c.webhook == webhook).order_by(table.c.id.desc()).limit(limit)
        rows = connection.execute(query if before is None else query.where(table.c.id < before)).all()
        return [_delivery(row) for row in rows]


def get(store: Store, site: str, webhook: int, uid: str) -> Delivery:
    """Return a delivery of a webhook."""
    table = schema.deliveries
    with store.reading() as connection:
        known(connection, store.key(connection, site), webhook)
        mine = sa.and_(table.c.webhook == webhook, table.c.uid == uid)
        return _delivery(connection.execute(sa.select(table).where(mine)).one())


def send_again(store: Store, site: str, webhook: int, uid: str) -> Delivery:
    """Put a delivery that failed or was taken back in the outbox; one that waits is tried at once."""
    table, hooks = schema.deliveries, schema.webhooks
    with store.changing() as connection:
        known(connection, store.locked_key(connection, site), webhook)
        mine = sa.and_(table.c.webhook == webhook, table.c.uid == uid)
        row = None if "\0" in uid else connection.execute(sa.select(table.c.status).where(mine)).one_or_none()
        if row is None:
            raise Unknown("delivery", uid, "is not a delivery of this webhook, or was deleted since")
        values = {"status": WAITING, "queued": now_on(connection), "attempts": 0, "outcome": "", "finished": None}
        if row.status != WAITING:
            connection.execute(table.update().where(mine).values(values))
        connection.execute(hooks.update().where(hooks.c.id == webhook).values(next_try=0.0))
        return _delivery(connection.execute(sa.select(table).where(mine)).one())


def _delivery(row: Any) -> Delivery:
    return Delivery(
        id=row.uid,
        number=row.id,
        kind=row.kind,
        facts=json.loads(row.facts),
        status=row.status,
        created=datetime.fromtimestamp(row.created, UTC),
        attempts=row.attempts,
        outcome=row.outcome,
        finished=None if row.finished is None else datetime.fromtimestamp(row.finished, UTC),
    )


# --- taking turns


@dataclass(frozen=True)
class Sight:
    """A webhook with something due, and who owns it at which beat."""

    webhook: int
    owner: str | None
    beat: int


@dataclass(frozen=True)
class Turn:
    """An attempt at the oldest delivery of a webhook, with what it takes to make it."""

    webhook: int
    delivery: int
    uid: str
    url: str
    secrets: tuple[str, ...]
    timestamp: int
    body: bytes


def due(store: Store) -> list[Sight]:
    """Return the webhooks that have something to deliver now."""
    hooks, sent = schema.webhooks, schema.deliveries
    waits = sa.exists().where(sent.c.webhook == hooks.c.id, sent.c.status == WAITING)
    with store.reading() as connection:
        now = now_on(connection)
        query = sa.select(hooks.c.id, hooks.c.owner, hooks.c.beat).where(hooks.c.next_try <= now, waits)
        return [Sight(*row) for row in connection.execute(query.order_by(hooks.c.next_try, hooks.c.id))]


def claim(store: Store, sight: Sight, owner: str) -> Turn | None:
    """Take a webhook if nobody else did since it was seen; return the first attempt to make."""
    hooks = schema.webhooks
    unchanged = sa.and_(hooks.c.id == sight.webhook, hooks.c.owner == sight.owner, hooks.c.beat == sight.beat)
    with store.changing() as connection:
        taken = connection.execute(hooks.update().where(unchanged).values(owner=owner, beat=hooks.c.beat + 1))
        if taken.rowcount != 1:
            return None
        turn = _next_turn(connection, sight.webhook)
        if turn is None:
            connection.execute(hooks.update().where(hooks.c.id == sight.webhook).values(owner=None))
        return turn


def settle(store: Store, turn: Turn, owner: str, outcome: Outcome, *, go_on: bool) -> Turn | None:
    """Write the outcome of an attempt; return the next one, or give the webhook back.

    The next one comes at once after a success, and after a pause otherwise. If another server took the webhook
    meanwhile, nothing is written: it makes the same attempt again.
    """
    hooks, sent = schema.webhooks, schema.deliveries
    ours = sa.and_(hooks.c.id == turn.webhook, hooks.c.owner == owner)
    with store.changing() as connection:
        now = now_on(connection)
        values: dict[str, Any] = {"beat": hooks.c.beat + 1, "failures": 0, "next_try": 0.0}
        if not outcome.taken:
            failures = connection.execute(sa.select(hooks.c.failures).where(ours)).scalar() or 0
            values |= {"failures": failures + 1, "next_try": now + pause_after(failures + 1)}
        if connection.execute(hooks.update().where(ours).values(values)).rowcount != 1:
            return None
        told = {"attempts": sent.c.attempts + 1, "outcome": outcome.words[:300]}
        if outcome.taken:
            told |= {"status": DELIVERED, "finished": now}
        connection.execute(sent.update().where(sent.c.id == turn.delivery).values(told))
        if not outcome.taken:
            _give_up(connection, turn.webhook, now)
        following = _next_turn(connection, turn.webhook) if outcome.taken and go_on else None
        if following is None:
            connection.execute(hooks.update().where(ours).values(owner=None))
        return following


def pause_after(failures: int) -> float:
    """Return the seconds to wait after so many failures in a row.

    >>> [pause_after(failures) for failures in (1, 2, 3, 10, 11, 12, 10_000)]
    [2.0, 4.0, 8.0, 1024.0, 2048.0, 3600.0, 3600.0]
    """
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 30))


def _give_up(connection: sa.Connection, webhook: int, now: float) -> None:
    """Mark deliveries as failed that waited too long, and those beyond the most that may wait."""
    sent = schema.deliveries
    waiting = sa.and_(sent.c.webhook == webhook, sent.c.status == WAITING)
    kept = sa.select(sent.c.id).where(waiting).order_by(sent.c.id.desc()).offset(MOST_WAITING - 1).limit(1)
    oldest = connection.execute(kept).scalar() or 0
    over = sa.or_(sent.c.queued <= now - GIVE_UP_AFTER, sent.c.id < oldest)
    never = "not tried: those before it were not taken for too long"
    words = sa.case((sent.c.attempts > 0, sent.c.outcome), else_=never)
    connection.execute(sent.update().where(waiting, over).values(status=FAILED, finished=now, outcome=words))


def _next_turn(connection: sa.Connection, webhook: int) -> Turn | None:
    hooks, sent, sites = schema.webhooks, schema.deliveries, schema.sites
    row = connection.execute(
        sa.select(sent, hooks.c.url, hooks.c.secret, hooks.c.old_secret, hooks.c.old_until, hooks.c.site, sites.c.name)
        .join(hooks, hooks.c.id == sent.c.webhook)
        .join(sites, sites.c.id == hooks.c.site)
        .where(sent.c.webhook == webhook, sent.c.status == WAITING)
        .order_by(sent.c.id)
        .limit(1)
    ).one_or_none()
    if row is None:
        return None
    now, facts = now_on(connection), json.loads(row.facts)
    both = row.old_secret is not None and row.old_until is not None and now < row.old_until
    document = {
        "delivery": row.uid,
        "number": row.id,
        "kind": row.kind,
        "site": row.name,
        "created": datetime.fromtimestamp(row.created, UTC).isoformat(timespec="milliseconds"),
        "facts": with_ids(facts, _ids_of(connection, row.site, sorted(workers_in(facts)))),
    }
    body = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    secrets = (row.secret, row.old_secret) if both else (row.secret,)
    return Turn(webhook, row.id, row.uid, row.url, secrets, int(now), body)


def _ids_of(connection: sa.Connection, site: int, workers: Sequence[int]) -> dict[int, str | None]:
    """Return the firm's ids of some workers; None for those who were erased."""
    table = schema.identities
    query = sa.select(table.c.worker, table.c.external_id).where(table.c.site == site, table.c.worker.in_(workers))
    return {row.worker: row.external_id for row in connection.execute(query)} if workers else {}


def prune(store: Store) -> None:
    """Delete old deliveries that are through or failed."""
    hooks, sent = schema.webhooks, schema.deliveries
    with store.changing() as connection:
        now = now_on(connection)
        for status, seconds in ((DELIVERED, KEEP_DELIVERED), (FAILED, KEEP_FAILED)):
            connection.execute(sent.delete().where(sent.c.status == status, sent.c.finished <= now - seconds))
        for webhook in connection.execute(sa.select(hooks.c.id)).scalars().all():
            over = sa.and_(sent.c.webhook == webhook, sent.c.status != WAITING)
            last = sa.select(sent.c.id).where(over).order_by(sent.c.id.desc()).offset(MOST_KEPT).limit(1)
            beyond = connection.execute(last).scalar()
            if beyond is not None:
                connection.execute(sent.delete().where(over, sent.c.id <= beyond))
