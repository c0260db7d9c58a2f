"""Who calls, and what they may do.

Tokens, sessions and links are 256 random bits each; the store has their digests only. A plain digest suffices: nobody
can try all keys of that length, so there is nothing that a slow one would slow down.
"""

import hashlib
import ipaddress
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import sqlalchemy as sa
from fastapi import Depends, Request, Security
from fastapi.responses import Response
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from crewlearn.advisor import schema
from crewlearn.advisor.store import Store
from crewlearn.problem.errors import Unknown
from crewlearn.web.settings import Settings

Role = Literal["viewer", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
VIEWER, MANAGER, ADMIN = ROLES
COOKIE = "crewlearn_session"
TOKEN_PREFIX = "crew_"
DAY = 86_400.0
MOST_FAILURES = 10
FAILURE_SECONDS = 900.0
LONGEST_SECRET = 200

_FAILING = 7_302_519_181
"""The lock under which failures are counted on PostgreSQL; SQLite has but one writer."""


@dataclass(frozen=True)
class Caller:
    """Somebody who is signed in: their name, role, and the sites they may see (None: all)."""

    name: str
    role: str
    sites: frozenset[str] | None = None

    def sees(self, site: str) -> bool:
        """Say whether a site is one of theirs."""
        return self.sites is None or site in self.sites

    def may(self, role: str, site: str | None = None) -> bool:
        """Say whether they may do what takes a role at a site, or, without one, at all of them.

        >>> ann = Caller("ann", MANAGER, frozenset({"north"}))
        >>> ann.may(MANAGER, "north"), ann.may(ADMIN, "north"), ann.may(VIEWER, "south")
        (True, False, False)

        What is no site's own, such as setting up a site, takes somebody who is limited to none; looking does not.

        >>> ann.may(VIEWER), ann.may(MANAGER)
        (True, False)
        """
        enough = ROLES.index(self.role) >= ROLES.index(role)
        if site is None:
            return enough and (role == VIEWER or self.sites is None)
        return enough and self.sees(site)


def require(role: str) -> Any:
    """Give the dependency that lets in who has the role, at the path's `site` if it has one, and gives the `Caller`."""

    def permitted(request: Request, given: Given) -> Caller:
        store: Store = request.app.state.store
        with store.reading() as connection:
            caller = caller_in(connection, now_of(store), given)
        return let_in(request, given, caller, role)

    return Depends(permitted)


_bearer = HTTPBearer(auto_error=False, description="A token, as `crewlearn users token NAME` shows it once.")
_cookie = APIKeyCookie(name=COOKIE, auto_error=False, description="The session of a browser that is signed in.")


@dataclass(frozen=True)
class Credentials:
    """What a request says of who sends it."""

    token: str | None
    session: str | None


async def _credentials(
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    session: Annotated[str | None, Security(_cookie)],
) -> Credentials:
    return Credentials(None if bearer is None else bearer.credentials, session)


Given = Annotated[Credentials, Depends(_credentials)]


def caller_in(connection: sa.Connection, now: float, given: Credentials) -> Caller | None:
    """Give who calls, by their token or else their session; None if nobody is known by it."""
    if given.token is not None:
        found = _by_token(connection, now, given.token)
        return None if found is None else found[0]
    return None if given.session is None else _by_session(connection, now, given.session)


def let_in(request: Request, given: Credentials, caller: Caller | None, role: str) -> Caller:
    """Give the caller if they have a role, at the path's `site` if it has one.

    Nobody known is refused, and who tries too often is told to wait.
    """
    if caller is None and given.token is not None:
        count_failure(request.app.state.store, address_of(request))
        raise not_signed_in("the token is wrong, expired or revoked")
    if caller is None:
        raise not_signed_in("sign in, or send a token: Authorization: Bearer …")
    request.state.caller = caller
    site = request.path_params.get("site")
    if site is not None and not caller.sees(site):
        raise Unknown("site", site, "is not one of yours")
    if not caller.may(role, site):
        where = "" if caller.sites is None else " for all sites" if site is None else f" at {site}"
        raise HTTPException(403, f"this takes the role {role}{where}; {caller.name} is {caller.role}")
    return caller


def not_signed_in(detail: str) -> HTTPException:
    """Make the refusal of somebody unknown."""
    return HTTPException(401, detail, {"WWW-Authenticate": 'Bearer realm="crewlearn"'})


def new_secret(prefix: str = "") -> tuple[str, str]:
    """Make a secret; give it and its digest."""
    secret = prefix + secrets.token_urlsafe(32)
    return secret, digest_of(secret)


def digest_of(secret: str) -> str:
    """Give what the store may know of a secret."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def now_of(store: Store) -> float:
    """Give the time in seconds."""
    return store.clock().timestamp()


# --- signing in and out

SignIn = Callable[[Store, Settings, str, str], tuple[Caller, str]]
"""A way to sign in: takes the secret and the network it comes from; gives the caller and the new session's secret."""


def sign_in_by_token(store: Store, settings: Settings, token: str, address: str) -> tuple[Caller, str]:
    """Begin a session for a token; give the caller and the session's secret."""
    with store.reading() as connection:
        found = _by_token(connection, now_of(store), token.strip())
    if found is None:
        count_failure(store, address)
        raise not_signed_in("This token is wrong, expired or revoked.")
    caller, user, key, expires = found
    with store.changing() as connection:
        return caller, _begin(connection, now_of(store), settings, user, key, expires)


def owner_of_link(store: Store, code: str, address: str) -> Caller:
    """Give whom a one-time link would sign in; it stays as good as it was."""
    with store.reading() as connection:
        user = connection.execute(_LINK, {"digest": digest_of(code), "now": now_of(store)}).one_or_none()
        caller = None if user is None else _caller(connection, user)
    if caller is None:
        raise _no_link(store, address)
    return caller


def sign_in_by_link(store: Store, settings: Settings, code: str, address: str) -> tuple[Caller, str]:
    """Begin a session for a one-time link, which is gone with this."""
    table, digest = schema.sign_in_links, digest_of(code)
    with store.changing() as connection:
        user = connection.execute(_LINK, {"digest": digest, "now": now_of(store)}).one_or_none()
        used = connection.execute(sa.delete(table).where(table.c.digest == digest)).rowcount
        if user is not None and used:
            return _caller(connection, user), _begin(connection, now_of(store), settings, user.id)
    raise _no_link(store, address)


def _no_link(store: Store, address: str) -> HTTPException:
    """Count the failure and make the refusal of a link that signs nobody in."""
    count_failure(store, address)
    return not_signed_in(
        "This link is incomplete, was used already or is too old. Ask whoever runs this server for another, or sign in "
        "by your token."
    )


def sign_out(store: Store, session: str | None) -> None:
    """End a session."""
    if session is not None:
        with store.changing() as connection:
            connection.execute(sa.delete(schema.sessions).where(schema.sessions.c.digest == digest_of(session)))


def set_cookie(response: Response, settings: Settings, session: str) -> None:
    """Give a browser its session. Not strict about links from elsewhere: a link in a mail should show the page, not a
    sign-in, and whatever changes something is refused when it comes from elsewhere.
    """
    response.set_cookie(
        COOKIE,
        session,
        max_age=int(settings.session_days * DAY),
        path="/",
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )


def _begin(
    connection: sa.Connection,
    now: float,
    settings: Settings,
    user: int,
    token: int | None = None,
    token_expires: float = math.inf,
) -> str:
    """Begin a session; one by a token ends with it."""
    session, digest = new_secret()
    table, expires = schema.sessions, min(now + settings.session_days * DAY, token_expires)
    connection.execute(sa.delete(table).where(table.c.expires <= now))
    connection.execute(table.insert().values(digest=digest, user=user, token=token, expires=expires))
    return session


def _by_token(connection: sa.Connection, now: float, token: str) -> tuple[Caller, int, int, float] | None:
    """Find whose token this is; give the caller, the keys of user and token, and when it expires."""
    if not token.startswith(TOKEN_PREFIX) or len(token) > LONGEST_SECRET:
        return None
    row = connection.execute(_TOKEN, {"digest": digest_of(token), "now": now}).one_or_none()
    return None if row is None else (_caller(connection, row), row.id, row.token, row.expires)


def _by_session(connection: sa.Connection, now: float, session: str) -> Caller | None:
    row = connection.execute(_SESSION, {"digest": digest_of(session[:LONGEST_SECRET]), "now": now}).one_or_none()
    return None if row is None else _caller(connection, row)


def _caller(connection: sa.Connection, user: Any) -> Caller:
    """Give a user as a caller."""
    if user.everywhere:
        return Caller(user.name, user.role, None)
    own = schema.user_sites
    names = connection.execute(sa.select(schema.sites.c.name).join(own).where(own.c.user == user.id)).scalars()
    return Caller(user.name, user.role, frozenset(names))


# Written once: putting them together would take each request longer than having them answered.

_USER = sa.select(schema.users.c.id, schema.users.c.name, schema.users.c.role, schema.users.c.everywhere).where(
    schema.users.c.disabled.is_(False)
)
_VALID = (schema.tokens.c.revoked.is_(None), schema.tokens.c.expires > sa.bindparam("now"))
_TOKEN = (
    _USER.add_columns(schema.tokens.c.id.label("token"), schema.tokens.c.expires)
    .join(schema.tokens, schema.tokens.c.user == schema.users.c.id)
    .where(schema.tokens.c.digest == sa.bindparam("digest"), *_VALID)
)
_SESSION = (
    _USER.join(schema.sessions, schema.sessions.c.user == schema.users.c.id)
    .outerjoin(schema.tokens, schema.tokens.c.id == schema.sessions.c.token)
    .where(
        schema.sessions.c.digest == sa.bindparam("digest"),
        schema.sessions.c.expires > sa.bindparam("now"),
        sa.or_(schema.sessions.c.token.is_(None), sa.and_(*_VALID)),
    )
)
_LINK = _USER.join(schema.sign_in_links, schema.sign_in_links.c.user == schema.users.c.id).where(
    schema.sign_in_links.c.digest == sa.bindparam("digest"), schema.sign_in_links.c.expires > sa.bindparam("now")
)


# --- failures


def address_of(request: Request) -> str:
    """Give the network a request comes from: an IPv4 address, or the 64 bits that one IPv6 subscriber has.

    Whoever has a network of that size could otherwise try from as many addresses as they like.
    """
    host = request.client.host if request.client else ""
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
    """Count a failure, unless there are too many already: then refuse.

    Who has a right token or link is let in all the same: guessing one is out of reach, while a script with an old token
    must not lock out everybody who shares its address.
    """
    table, now = schema.sign_in_failures, now_of(store)
    with store.changing() as connection:
        if connection.dialect.name == "postgresql":  # so that several servers count as one
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_FAILING)))
        _refuse_if_many(connection, address, now)
        connection.execute(sa.delete(table).where(table.c.at <= now - FAILURE_SECONDS))
        connection.execute(table.insert().values(address=address, at=now))


def _refuse_if_many(connection: sa.Connection, address: str, now: float) -> None:
    table = schema.sign_in_failures
    oldest = connection.execute(
        sa.select(table.c.at)
        .where(table.c.address == address, table.c.at > now - FAILURE_SECONDS)
        .order_by(table.c.at.desc())
        .offset(MOST_FAILURES - 1)
        .limit(1)
    ).scalar()
    if oldest is not None:
        wait = max(1, round(oldest + FAILURE_SECONDS - now))
        raise HTTPException(
            429, f"Too many failed attempts; try again in {wait // 60 + 1} minutes.", {"Retry-After": str(wait)}
        )
