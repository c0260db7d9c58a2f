"""Rate limit on failed sign-ins, by the network they come from."""

import ipaddress
import threading

import sqlalchemy as sa
from fastapi import Request
from starlette.exceptions import HTTPException

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.language import _
from crewlearn.web.auth.secrets import now_of

MOST_FAILURES = 10
FAILURE_SECONDS = 900.0

MOST_AT_ONCE = 4
"""How many failures wait to be written at a time: others need the threads and the connections."""

_counting = threading.BoundedSemaphore(MOST_AT_ONCE)
_LOCK_KEY = 7_302_519_181
"""The advisory lock for counting failures on PostgreSQL; SQLite has only one writer."""


def address_of(request: Request) -> str:
    """Return the network a request comes from: an IPv4 address, or the /64 of an IPv6 one.

    A /64 belongs to one subscriber, who could otherwise try from any number of addresses.
    """
    return network_of(request.client.host if request.client else "")


def network_of(host: str) -> str:
    """Return the network of an address.

    >>> network_of("192.0.2.7"), network_of("2001:db8:1:2:3::4"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8:1:2::/64', '192.0.2.7')
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def count_failure(store: Store, address: str) -> None:
    """Count a failed sign-in; raise 429 if the network has had too many.

    A valid token or link is accepted even then: it cannot be guessed, and a script with an old token must not lock out
    everybody who shares its address.
    """
    now = now_of(store)
    with store.reading() as connection:  # a network that is refused already need not wait for a writer
        _refuse_if_many(connection, address, now)
    if not _counting.acquire(blocking=False):
        raise _too_many(1)
    try:
        _write_failure(store, address, now)
    finally:
        _counting.release()


def _write_failure(store: Store, address: str, now: float) -> None:
    table = schema.sign_in_failures
    with store.changing() as connection:
        if connection.dialect.name == "postgresql":  # several servers share one count
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK_KEY)))
        _refuse_if_many(connection, address, now)
        networks = table.c.address.not_like("% %")  # other counts are kept here too, under keys with a space
        passed = sa.or_(table.c.at <= now - FAILURE_SECONDS, table.c.at > now + FAILURE_SECONDS)
        connection.execute(sa.delete(table).where(networks, passed))
        connection.execute(table.insert().values(address=address, at=now))


def _refuse_if_many(connection: sa.Connection, address: str, now: float) -> None:
    """Refuse a network with too many failures; those of a clock that was far ahead do not count."""
    table = schema.sign_in_failures
    oldest = connection.execute(
        sa.select(table.c.at)
        .where(table.c.address == address, table.c.at.between(now - FAILURE_SECONDS, now + FAILURE_SECONDS))
        .order_by(table.c.at.desc())
        .offset(MOST_FAILURES - 1)
        .limit(1)
    ).scalar()
    if oldest is not None:
        raise _too_many(round(min(max(1.0, oldest + FAILURE_SECONDS - now), FAILURE_SECONDS)))


def _too_many(wait: int) -> HTTPException:
    """Return the 429 refusal, for some seconds."""
    return HTTPException(
        429,
        _("Too many failed attempts; try again in {wait} minutes.", wait=wait // 60 + 1),
        {"Retry-After": str(wait)},
    )
