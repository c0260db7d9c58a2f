"""Roles and callers: who sends a request, and what they may do."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import sqlalchemy as sa
from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.language import _
from crewlearn.problem.errors import Unknown
from crewlearn.web.auth.failures import address_of, count_failure
from crewlearn.web.auth.secrets import LONGEST_SECRET, TOKEN_PREFIX, digest_of, now_of

Role = Literal["viewer", "manager", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
VIEWER, MANAGER, ADMIN = ROLES
COOKIE = "crewlearn_session"


@dataclass(frozen=True)
class Caller:
    """A signed-in user: name, role, and the sites they may see (None: all)."""

    name: str
    role: str
    sites: frozenset[str] | None = None

    def sees(self, site: str) -> bool:
        """Return whether the caller may see a site."""
        return self.sites is None or site in self.sites

    def may(self, role: str, site: str | None = None) -> bool:
        """Return whether the caller has at least `role` at a site, or, without one, at all sites.

        >>> ann = Caller("ann", MANAGER, frozenset({"north"}))
        >>> ann.may(MANAGER, "north"), ann.may(ADMIN, "north"), ann.may(VIEWER, "south")
        (True, False, False)

        Without a site, as for creating one, every role above viewer requires a caller who is not limited to some sites.

        >>> ann.may(VIEWER), ann.may(MANAGER)
        (True, False)
        """
        enough = ROLES.index(self.role) >= ROLES.index(role)
        if site is None:
            return enough and (role == VIEWER or self.sites is None)
        return enough and self.sees(site)


# --- the dependency of routes


def require(role: str) -> Any:
    """Return a dependency that provides the `Caller` if they have `role`, at the path's `site` if it has one."""

    def permitted(request: Request, credentials: SentCredentials) -> Caller:
        store: Store = request.app.state.store
        with store.reading() as connection:
            caller = caller_in(connection, now_of(store), credentials)
        return let_in(request, credentials, caller, role)

    return Depends(permitted)


_bearer = HTTPBearer(auto_error=False, description="A token, as `crewlearn users token NAME` shows it once.")
_cookie = APIKeyCookie(
    name=COOKIE,
    auto_error=False,
    description="The session of a browser that is signed in; over HTTPS `__Host-crewlearn_session`.",
)


@dataclass(frozen=True)
class Credentials:
    """The token and the session that a request carries."""

    token: str | None
    session: str | None


async def _credentials(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    documented: Annotated[str | None, Security(_cookie)],
) -> Credentials:
    session = request.cookies.get(request.app.state.settings.cookie(COOKIE))
    return Credentials(None if bearer is None else bearer.credentials, session)


SentCredentials = Annotated[Credentials, Depends(_credentials)]


def caller_in(connection: sa.Connection, now: float, credentials: Credentials) -> Caller | None:
    """Return the caller by their token or else their session; None if neither is valid."""
    if credentials.token is not None:
        owner = owner_of_token(connection, now, credentials.token)
        return None if owner is None else owner.caller
    return None if credentials.session is None else _owner_of_session(connection, now, credentials.session)


def let_in(request: Request, credentials: Credentials, caller: Caller | None, role: str) -> Caller:
    """Return the caller if they have `role`, at the path's `site` if it has one; otherwise refuse the request.

    A wrong token counts as a failed sign-in.
    """
    if caller is None and credentials.token is not None:
        count_failure(request.app.state.store, address_of(request))
        raise not_signed_in(_("the token is wrong, expired or revoked"))
    if caller is None:
        raise not_signed_in(_("sign in, or send a token: Authorization: Bearer …"))
    request.state.caller = caller
    check_role(caller, role, request.path_params.get("site"))
    return caller


def check_role(caller: Caller, role: str, site: str | None) -> None:
    """Refuse a caller who does not have `role` at a site or, without one, everywhere."""
    if site is not None and not caller.sees(site):
        raise Unknown("site", site, _("is not one of yours"))
    if not caller.may(role, site):
        where = "" if caller.sites is None else _(" for all sites") if site is None else _(" at {site}", site=site)
        raise HTTPException(
            403,
            _(
                "this takes the role {role}{where}; {name} is {own_role}",
                role=role,
                where=where,
                name=caller.name,
                own_role=caller.role,
            ),
        )


def not_signed_in(detail: str) -> HTTPException:
    """Return the 401 refusal."""
    return HTTPException(401, detail, {"WWW-Authenticate": _('Bearer realm="crewlearn"')})


# --- looking up the owner of a secret


@dataclass(frozen=True)
class TokenOwner:
    """The owner of a valid token, with the keys of user and token, and when the token expires."""

    caller: Caller
    user: int
    token: int
    expires: float


def owner_of_token(connection: sa.Connection, now: float, token: str) -> TokenOwner | None:
    """Return the owner of a token, or None if it is not valid."""
    if not token.startswith(TOKEN_PREFIX) or len(token) > LONGEST_SECRET:
        return None
    row = connection.execute(_TOKEN, {"digest": digest_of(token), "now": now}).one_or_none()
    return None if row is None else TokenOwner(caller_of_row(connection, row), row.id, row.token, row.expires)


def _owner_of_session(connection: sa.Connection, now: float, session: str) -> Caller | None:
    row = connection.execute(_SESSION, {"digest": digest_of(session[:LONGEST_SECRET]), "now": now}).one_or_none()
    return None if row is None else caller_of_row(connection, row)


def owner_of_code(connection: sa.Connection, now: float, code: str) -> tuple[Caller, int] | None:
    """Return the user of a one-time link's code, with their key; None if the code is not valid."""
    row = connection.execute(_LINK, {"digest": digest_of(code), "now": now}).one_or_none()
    return None if row is None else (caller_of_row(connection, row), row.id)


def caller_of_row(connection: sa.Connection, user: Any) -> Caller:
    """Return a user's row as a caller."""
    if user.everywhere:
        return Caller(user.name, user.role, None)
    theirs = schema.user_sites
    names = connection.execute(sa.select(schema.sites.c.name).join(theirs).where(theirs.c.user == user.id)).scalars()
    return Caller(user.name, user.role, frozenset(names))


# Built once, at import: building a query takes longer than running it.

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
