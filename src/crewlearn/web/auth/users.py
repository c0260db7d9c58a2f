"""Users and their tokens, managed by the command line and the API. A secret is returned only when it is created."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import checked_text, spelled_alike
from crewlearn.problem.errors import InvalidInput, Unknown, one_of, real
from crewlearn.web.auth.access import ADMIN, ROLES
from crewlearn.web.auth.secrets import DAY, TOKEN_PREFIX, new_secret, now_of

LONGEST_NAME = 100
LONGEST_LABEL = 100
TOKEN_DAYS = 90.0
MOST_DAYS = 3650.0
LINK_SECONDS = 900.0

_NAME = re.compile(r"[\w.@+-]([\w .@+-]*[\w.@+-])?")


@dataclass(frozen=True)
class Token:
    """A token without its secret."""

    id: int
    label: str
    created: datetime
    expires: datetime
    revoked: datetime | None


@dataclass(frozen=True)
class User:
    """A user; `sites` is None if they may see all, and `origin` is the issuer of their single sign-on, if any."""

    name: str
    role: str
    sites: tuple[str, ...] | None
    disabled: bool
    created: datetime
    tokens: tuple[Token, ...] = ()
    origin: str | None = None


def add(store: Store, name: str, role: str, sites: Sequence[str] | None = None) -> User:
    """Add a user, for some sites or (None) for all."""
    _checked_name(name)
    one_of("role", role, ROLES)
    with store.changing() as connection:
        taken = name_like(connection, name)
        if taken is not None:
            same = "exists already" if taken == name else f"is another spelling of {taken}, who exists already"
            raise Conflict("user", name, f"{same}; choose another name")
        insert(store, connection, name, role, sites)
        return _users(connection, name)[0]


def name_like(connection: sa.Connection, name: str) -> str | None:
    """Return the name of a user which is the same but for its spelling, or None; the very same comes first."""
    alike = spelled_alike(name)
    names = connection.execute(sa.select(schema.users.c.name)).scalars().all()
    return name if name in names else next((other for other in names if spelled_alike(other) == alike), None)


def names_with(store: Store, role: str, site: int) -> tuple[str, ...]:
    """Return the names of the users with at least a role at a site, by its key in the store."""
    users, theirs = schema.users, schema.user_sites
    there = sa.select(theirs.c.user).where(theirs.c.site == site)
    query = sa.select(users.c.name).where(
        users.c.disabled.is_(False),
        users.c.role.in_(ROLES[ROLES.index(role) :]),
        sa.or_(users.c.everywhere, users.c.id.in_(there)),
    )
    with store.reading() as connection:
        return tuple(connection.execute(query.order_by(users.c.name)).scalars())


def add_first(store: Store, name: str) -> User | None:
    """Add an admin if there is no user at all; else return None. A name that is not allowed becomes `admin`."""
    with store.changing() as connection:
        if connection.execute(sa.select(schema.users.c.id).limit(1)).first() is not None:
            return None
        fitting = name if len(name) <= LONGEST_NAME and _NAME.fullmatch(name) else "admin"
        insert(store, connection, fitting, ADMIN, None)
        return _users(connection, fitting)[0]


def any_users(store: Store) -> bool:
    """Return whether any user can sign in."""
    with store.reading() as connection:
        users = schema.users
        return connection.execute(sa.select(users.c.id).where(users.c.disabled.is_(False)).limit(1)).first() is not None


class _Unchanged:
    """The type of `UNCHANGED`."""


UNCHANGED = _Unchanged()
"""Sites that stay as they are, where None means all."""


def update(
    store: Store,
    name: str,
    *,
    role: str | None = None,
    sites: Sequence[str] | _Unchanged | None = UNCHANGED,
    disabled: bool | None = None,
) -> User:
    """Change everything that is given of a user at once, or nothing; None as sites are all of them."""
    table = schema.users
    with store.changing() as connection:
        user = _known(connection, name).id
        values: dict[str, Any] = {} if disabled is None else {"disabled": disabled}
        if role is not None:
            values["role"] = one_of("role", role, ROLES)
        if values:
            connection.execute(sa.update(table).where(table.c.id == user).values(values))
        if not isinstance(sites, _Unchanged):
            set_sites(store, connection, user, sites)
        if disabled:
            _end_sessions(connection, user)
        return _users(connection, name)[0]


def change(store: Store, name: str, role: str | None = None, sites: Sequence[str] | None = None) -> User:
    """Change a user's role or sites, unless None. For all sites, use `everywhere`."""
    return update(store, name, role=role, sites=UNCHANGED if sites is None else sites)


def everywhere(store: Store, name: str) -> User:
    """Let a user see all sites."""
    return update(store, name, sites=None)


def list_users(store: Store) -> list[User]:
    """Return all users with their tokens, by name."""
    with store.reading() as connection:
        return _users(connection)


def get(store: Store, name: str) -> User:
    """Return a user by name."""
    with store.reading() as connection:
        _known(connection, name)
        return _users(connection, name)[0]


def disable(store: Store, name: str) -> None:
    """Disable a user at once; the name stays, because the record may contain it."""
    update(store, name, disabled=True)


def enable(store: Store, name: str) -> None:
    """Let a disabled user sign in again with the tokens they have."""
    update(store, name, disabled=False)


def join(store: Store, name: str, issuer: str, subject: str) -> None:
    """Let a user sign in as a subject of an issuer from now on, instead of any other before."""
    table = schema.sign_on_identities
    checked_text("issuer", issuer, 500, 1)
    checked_text("subject", subject, 255, 1)
    with store.changing() as connection:
        user = _known(connection, name).id
        query = sa.select(schema.users.c.name).join(table).where(table.c.issuer == issuer, table.c.subject == subject)
        held = connection.execute(query).scalar()
        if held is not None and held != name:
            raise Conflict("subject", subject, f"is {held} here already; who acted under that name stays on record")
        connection.execute(sa.delete(table).where(table.c.user == user))
        connection.execute(table.insert().values(issuer=issuer, subject=subject, user=user))
        _end_sessions(connection, user)


def new_token(store: Store, name: str, days: float = TOKEN_DAYS, label: str = "") -> tuple[Token, str]:
    """Create a token; return its description and its secret, which is never shown again."""
    real("days", days, 0, MOST_DAYS, above=True)
    checked_text("label", label, LONGEST_LABEL)
    secret, digest = new_secret(TOKEN_PREFIX)
    now, table = now_of(store), schema.tokens
    with store.changing() as connection:
        user = _able(connection, name)
        made = connection.execute(
            table.insert().values(user=user, label=label, digest=digest, created=now, expires=now + days * DAY)
        ).inserted_primary_key
        assert made is not None
        row = connection.execute(sa.select(table).where(table.c.id == made[0])).one()
    return _token(row), secret


def revoke(store: Store, name: str, token: int | None = None) -> int:
    """Revoke one token with its sessions, or all tokens, sessions and links; return how many tokens were revoked."""
    table = schema.tokens
    with store.changing() as connection:
        user = _known(connection, name).id
        mine = sa.and_(table.c.user == user, table.c.revoked.is_(None))
        if token is None:
            _end_sessions(connection, user)
        else:
            row = connection.execute(sa.select(table.c.id).where(table.c.user == user, table.c.id == token)).first()
            if row is None:
                raise Unknown("token", token, f"is not a token of {name}; see: crewlearn users list")
            mine = sa.and_(mine, table.c.id == token)
            connection.execute(sa.delete(schema.sessions).where(schema.sessions.c.token == token))
        return connection.execute(sa.update(table).where(mine).values(revoked=now_of(store))).rowcount


def new_link(store: Store, name: str) -> str:
    """Return a one-time sign-in code for a user, valid for a quarter of an hour."""
    code, digest = new_secret()
    now, table = now_of(store), schema.sign_in_links
    with store.changing() as connection:
        user = _able(connection, name)
        connection.execute(sa.delete(table).where(table.c.expires <= now))
        connection.execute(table.insert().values(digest=digest, user=user, expires=now + LINK_SECONDS))
    return code


def _checked_name(name: str) -> None:
    checked_text("user", name, LONGEST_NAME, 1)
    if not _NAME.fullmatch(name):
        raise InvalidInput("user", name, "must be letters, digits and . @ + - _, with spaces inside at most")


def insert(store: Store, connection: sa.Connection, name: str, role: str, sites: Sequence[str] | None) -> int:
    """Add a user whose name was checked; return their key."""
    values = {"name": name, "role": role, "everywhere": True, "disabled": False, "created": now_of(store)}
    made = connection.execute(schema.users.insert().values(values)).inserted_primary_key
    assert made is not None
    if sites is not None:
        set_sites(store, connection, made[0], sites)
    return int(made[0])


def set_sites(store: Store, connection: sa.Connection, user: int, sites: Sequence[str] | None) -> None:
    """Limit a user to some sites, which must exist, or to none."""
    if sites is not None and not sites:
        raise InvalidInput("sites", list(sites), "must name at least one site, or be left out for all")
    users, user_sites = schema.users, schema.user_sites
    keys = {store.key(connection, site) for site in sites or ()}
    connection.execute(sa.update(users).where(users.c.id == user).values(everywhere=sites is None))
    connection.execute(sa.delete(user_sites).where(user_sites.c.user == user))
    if keys:
        connection.execute(user_sites.insert(), [{"user": user, "site": key} for key in sorted(keys)])


def _end_sessions(connection: sa.Connection, user: int) -> None:
    for table in (schema.sessions, schema.sign_in_links):
        connection.execute(sa.delete(table).where(table.c.user == user))


def _row(connection: sa.Connection, name: str) -> Any:
    if "\0" in name:  # which PostgreSQL refuses to look for
        return None
    return connection.execute(sa.select(schema.users).where(schema.users.c.name == name)).one_or_none()


def _known(connection: sa.Connection, name: str) -> Any:
    row = _row(connection, name)
    if row is None:
        raise Unknown("user", name, "does not exist; see: crewlearn users list")
    return row


def _able(connection: sa.Connection, name: str) -> int:
    row = _known(connection, name)
    if row.disabled:
        raise Conflict("user", name, "is disabled; first run: crewlearn users enable NAME")
    return int(row.id)


def _users(connection: sa.Connection, name: str | None = None) -> list[User]:
    users, user_sites, tokens = schema.users, schema.user_sites, schema.tokens
    identities = schema.sign_on_identities
    query = sa.select(users, identities.c.issuer).outerjoin(identities).order_by(users.c.name)
    rows = connection.execute(query if name is None else query.where(users.c.name == name)).all()
    sites: dict[int, list[str]] = {}
    places = sa.select(user_sites.c.user, schema.sites.c.name).join(schema.sites).order_by(schema.sites.c.name)
    for user, site in connection.execute(places):
        sites.setdefault(user, []).append(site)
    held: dict[int, list[Token]] = {}
    for row in connection.execute(sa.select(tokens).order_by(tokens.c.id)):
        held.setdefault(row.user, []).append(_token(row))
    return [
        User(
            name=row.name,
            role=row.role,
            sites=None if row.everywhere else tuple(sites.get(row.id, ())),
            disabled=row.disabled,
            created=_moment(row.created),
            tokens=tuple(held.get(row.id, ())),
            origin=row.issuer,
        )
        for row in rows
    ]


def _token(row: Any) -> Token:
    revoked = None if row.revoked is None else _moment(row.revoked)
    return Token(row.id, row.label, _moment(row.created), _moment(row.expires), revoked)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
