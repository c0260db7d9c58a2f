"""Sessions: signing in by a token or a one-time link, and signing out."""

import math
from collections.abc import Callable

import sqlalchemy as sa
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.language import _
from crewlearn.web.auth.access import COOKIE, Caller, not_signed_in, owner_of_code, owner_of_token
from crewlearn.web.auth.failures import count_failure
from crewlearn.web.auth.secrets import DAY, digest_of, new_secret, now_of
from crewlearn.web.settings import Settings

SignIn = Callable[[Store, Settings, str, str], tuple[Caller, str]]
"""A way to sign in: takes a secret and the network it comes from; returns the caller and the new session's secret."""


def sign_in_by_token(store: Store, settings: Settings, token: str, address: str) -> tuple[Caller, str]:
    """Begin a session for a token; return the caller and the session's secret."""
    with store.reading() as connection:
        owner = owner_of_token(connection, now_of(store), token.strip())
    if owner is None:
        count_failure(store, address)
        raise not_signed_in(_("This token is wrong, expired or revoked."))
    with store.changing() as connection:
        return owner.caller, begin(connection, now_of(store), settings, owner.user, owner.token, owner.expires)


def owner_of_link(store: Store, code: str, address: str) -> Caller:
    """Return the user of a one-time link, without using the link."""
    with store.reading() as connection:
        owner = owner_of_code(connection, now_of(store), code)
    if owner is None:
        raise _no_link(store, address)
    return owner[0]


def sign_in_by_link(store: Store, settings: Settings, code: str, address: str) -> tuple[Caller, str]:
    """Begin a session for a one-time link and delete the link."""
    table = schema.sign_in_links
    with store.changing() as connection:
        owner = owner_of_code(connection, now_of(store), code)
        used = connection.execute(sa.delete(table).where(table.c.digest == digest_of(code))).rowcount
        if owner is not None and used:
            caller, user = owner
            return caller, begin(connection, now_of(store), settings, user)
    raise _no_link(store, address)


def _no_link(store: Store, address: str) -> HTTPException:
    """Count a failed sign-in and return its 401 error."""
    count_failure(store, address)
    return not_signed_in(
        _(
            "This link is incomplete, was used already or is too old. Ask whoever runs this server for "
            "another, or sign in by your token."
        )
    )


def sign_out(store: Store, session: str | None) -> bytes | None:
    """End a session; return what was kept with it for signing out elsewhere too."""
    if session is None:
        return None
    table, digest = schema.sessions, digest_of(session)
    with store.changing() as connection:
        kept = connection.execute(sa.select(table.c.sign_on).where(table.c.digest == digest)).scalar()
        connection.execute(sa.delete(table).where(table.c.digest == digest))
    return None if kept is None else bytes(kept)


def keep(connection: sa.Connection, session: str, kept: bytes) -> None:
    """Keep with a session what signing out elsewhere takes."""
    table = schema.sessions
    connection.execute(sa.update(table).where(table.c.digest == digest_of(session)).values(sign_on=kept))


def set_cookie(response: Response, settings: Settings, session: str) -> None:
    """Set the session cookie.

    It is `lax`, not `strict`, so that a link in a mail opens the page instead of the sign-in. Requests from other
    sites' pages that would change something are refused anyway.
    """
    response.set_cookie(
        settings.cookie(COOKIE),
        session,
        max_age=int(settings.session_days * DAY),
        path=settings.cookie_path,
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )


def begin(
    connection: sa.Connection,
    now: float,
    settings: Settings,
    user: int,
    token: int | None = None,
    token_expires: float = math.inf,
    hours: float = math.inf,
) -> str:
    """Begin a session and return its secret; it lasts so many hours at most, and no longer than the token it is by."""
    session, digest = new_secret()
    table, expires = schema.sessions, min(now + settings.session_days * DAY, token_expires, now + hours * 3600.0)
    connection.execute(sa.delete(table).where(table.c.expires <= now))
    connection.execute(table.insert().values(digest=digest, user=user, token=token, expires=expires))
    return session
