"""The outbox: notices for a site's webhooks, written in the transaction of whatever causes them.

Whoever writes holds the lock of the site's row, so a site's notices are numbered in the order in which they come about.
"""

import json
import secrets
from collections.abc import Collection, Iterable, Sequence
from datetime import date

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.notices.kinds import Notice

WAITING, DELIVERED, FAILED = "waiting", "delivered", "failed"

ZONED = schema.sites.c.state.contains('"time_zone":', autoescape=True)
"""Whether a site's row has a time zone of its own, without parsing its state."""


def may_be_new_day(passed: int, today: date, *, zoned: bool) -> bool:
    """Return whether a site's day may be later than that of its last pass, if it is `today` on this machine.

    A site's day is today or yesterday; with a time zone of its own it may be up to two days later than here.

    >>> day = date(2026, 11, 16)
    >>> [may_be_new_day(day.toordinal(), day, zoned=zoned) for zoned in (False, True)]
    [False, True]
    """
    return passed < today.toordinal() + (2 if zoned else 0)


def subscribed(connection: sa.Connection, key: int) -> dict[str, list[int]]:
    """Return the webhooks of a site that are told of each kind of notice; empty if there are none."""
    table = schema.webhooks
    rows = connection.execute(sa.select(table.c.id, table.c.kinds).where(table.c.site == key).order_by(table.c.id))
    told: dict[str, list[int]] = {}
    for row in rows:
        for kind in json.loads(row.kinds):
            told.setdefault(kind, []).append(row.id)
    return told


def put(connection: sa.Connection, key: int, notices: Iterable[Notice]) -> None:
    """Put notices in the outbox of every webhook that is told of them; the site's row must be locked."""
    listed = list(notices)
    told = subscribed(connection, key) if listed else {}
    for notice in listed:
        put_for(connection, told.get(notice.kind, ()), notice)


def put_for(connection: sa.Connection, webhooks: Collection[int], notice: Notice) -> list[str]:
    """Put a notice in the outbox of some webhooks; return the ids of the deliveries."""
    if not webhooks:
        return []
    now, facts = now_on(connection), json.dumps(notice.facts, allow_nan=False)
    uids = [secrets.token_hex(16) for _ in webhooks]
    rows = [
        {
            "webhook": webhook,
            "uid": uid,
            "kind": notice.kind,
            "facts": facts,
            "status": WAITING,
            "created": now,
            "queued": now,
            "attempts": 0,
            "outcome": "",
        }
        for webhook, uid in zip(webhooks, uids, strict=True)
    ]
    connection.execute(schema.deliveries.insert(), rows)
    return uids


def marked(connection: sa.Connection, key: int, kind: str, subjects: Sequence[int] | None = None) -> dict[int, int]:
    """Return the day on which each subject was told last, by subject; all, or some."""
    table = schema.notice_marks
    query = sa.select(table.c.subject, table.c.day).where(table.c.site == key, table.c.kind == kind)
    rows = connection.execute(query if subjects is None else query.where(table.c.subject.in_(subjects)))
    return {row.subject: row.day for row in rows}


def mark(connection: sa.Connection, key: int, kind: str, subjects: Iterable[int], day: int) -> None:
    """Note that subjects were told on a day; the site's row must be locked."""
    table, wanted = schema.notice_marks, sorted(set(subjects))
    if not wanted:
        return
    mine = sa.and_(table.c.site == key, table.c.kind == kind, table.c.subject.in_(wanted))
    connection.execute(table.delete().where(mine))
    rows = [{"site": key, "kind": kind, "subject": subject, "day": day} for subject in wanted]
    connection.execute(table.insert(), rows)
