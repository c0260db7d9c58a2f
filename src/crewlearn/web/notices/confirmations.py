"""How many confirmation messages may be asked for: whoever names a stranger's address must not flood it.

Requests are counted in the table of failed sign-ins, under keys that no network has.
"""

import hashlib

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.problem.errors import InvalidInput

MOST_BY_USER = 5
MOST_TO_ADDRESS = 3
"""Confirmations that a user may ask for in a day, and that go to one address in a day, whoever asks."""
DAY_SECONDS = 86_400.0

PREFIX = "confirmation "
_LOCK_KEY = 7_302_519_182
"""The advisory lock for counting on PostgreSQL; SQLite has only one writer."""


def count_confirmation(connection: sa.Connection, user: int, email: str, now: float) -> None:
    """Count a confirmation that a user asks for; refuse it if there were too many within a day."""
    table = schema.sign_in_failures
    if connection.dialect.name == "postgresql":  # several servers share one count
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK_KEY)))
    ours = table.c.address.startswith(PREFIX, autoescape=True)
    passed = sa.or_(table.c.at <= now - DAY_SECONDS, table.c.at > now + DAY_SECONDS)
    connection.execute(table.delete().where(ours, passed))
    address = hashlib.sha256(email.lower().encode()).hexdigest()[:40]
    for key, most, who in (
        (f"{PREFIX}by {user}", MOST_BY_USER, "you have changed it"),
        (f"{PREFIX}{address}", MOST_TO_ADDRESS, "it was asked to confirm"),
    ):
        count = sa.select(sa.func.count()).select_from(table).where(table.c.address == key)
        if connection.execute(count).scalar_one() >= most:
            raise InvalidInput("email", email, f"cannot be confirmed now: {who} {most} times within a day; wait a day")
        connection.execute(table.insert().values(address=key, at=now))
