"""The users that single sign-on makes, and their sessions."""

import base64
import hashlib
import json

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.auth import sessions, users
from crewlearn.web.auth.access import Caller, caller_of_row
from crewlearn.web.auth.secrets import DAY, digest_of, now_of
from crewlearn.web.auth.sign_on.claims import Entry
from crewlearn.web.auth.sign_on.refusals import SignOnRefused, not_valid
from crewlearn.web.settings import Settings, SignOn


def sign_in(
    store: Store, settings: Settings, provider: SignOn, entry: Entry, state: str, id_token: str
) -> tuple[Caller, str]:
    """Begin a session for a person, whose role and sites become those of their claims; return its secret.

    A state leads to one session only. A person who was blocked here stays out.
    """
    now = now_of(store)
    with store.changing() as connection:
        _use(connection, state, now)
        user = _user_of(store, connection, provider, entry)
        role_and_sites(store, connection, user, entry)
        table = schema.users
        row = connection.execute(sa.select(table).where(table.c.id == user)).one()
        caller = caller_of_row(connection, row)
        session = sessions.begin(connection, now, settings, user, hours=provider.session_hours)
        farewell = json.dumps({"provider": provider.name, "id_token": id_token})
        sessions.keep(connection, session, _cipher(session).encrypt(farewell.encode()))
        return caller, session


def role_and_sites(store: Store, connection: sa.Connection, user: int, entry: Entry) -> None:
    """Set a user's role and sites to those of their claims; names of sites that do not exist are left out."""
    table = schema.users
    known = None if entry.sites is None else [site for site in entry.sites if site in store.names()]
    if known is not None and not known:
        words = "None of the sites of your account exists here. Ask whoever runs this server."
        raise SignOnRefused(words, f"subject {entry.subject!r} has no known site in {entry.sites!r}", 403)
    connection.execute(sa.update(table).where(table.c.id == user).values(role=entry.role))
    users.set_sites(store, connection, user, known)


def end_sessions(store: Store, provider: SignOn, subject: str) -> None:
    """End the sessions of a person who lost their role at the provider."""
    user = sa.select(_IDENTITIES.c.user).where(_identity(provider.issuer, subject)).scalar_subquery()
    with store.reading() as connection:
        known = connection.execute(sa.select(user)).scalar()
    if known is not None:
        with store.changing() as connection:
            connection.execute(sa.delete(schema.sessions).where(schema.sessions.c.user == known))


def farewell_of(session: str, kept: bytes | None) -> tuple[str, str] | None:
    """Return the provider and the ID token of a session that single sign-on began, or None."""
    if kept is None:
        return None
    try:
        said = json.loads(_cipher(session).decrypt(kept))
        return str(said["provider"]), str(said["id_token"])
    except (InvalidToken, ValueError, KeyError, TypeError):
        return None


_IDENTITIES = schema.sign_on_identities


def _identity(issuer: str, subject: str) -> sa.ColumnElement[bool]:
    return sa.and_(_IDENTITIES.c.issuer == issuer, _IDENTITIES.c.subject == subject)


def _use(connection: sa.Connection, state: str, now: float) -> None:
    table, digest = schema.used_sign_ons, digest_of(state)
    connection.execute(sa.delete(table).where(table.c.expires <= now))
    if connection.execute(sa.select(table.c.digest).where(table.c.digest == digest)).first() is not None:
        raise not_valid("a state that has led to a session already")
    connection.execute(table.insert().values(digest=digest, expires=now + DAY))


def _user_of(store: Store, connection: sa.Connection, provider: SignOn, entry: Entry) -> int:
    """Return the key of a person's user, who is added the first time; never that of somebody with the same name."""
    table = schema.users
    query = sa.select(table.c.id, table.c.disabled).join(_IDENTITIES, _IDENTITIES.c.user == table.c.id)
    row = connection.execute(query.where(_identity(provider.issuer, entry.subject))).one_or_none()
    if row is not None:
        if row.disabled:
            words = "Your account is blocked here. Ask whoever runs this server."
            raise SignOnRefused(words, f"subject {entry.subject!r} is blocked", 403)
        return int(row.id)
    taken = users.name_like(connection, entry.name)
    if taken is not None:
        raise SignOnRefused(
            f"There is another user called {taken} here, who does not sign in this way. If that is you, an admin "
            "can join the two with: crewlearn users sign-on",
            f"subject {entry.subject!r} of {provider.issuer} has the name of the user {taken!r}; if they are the "
            "same person, run: crewlearn users sign-on NAME --issuer ISSUER --subject SUBJECT",
            409,
        )
    user = users.insert(store, connection, entry.name, entry.role, None)
    connection.execute(_IDENTITIES.insert().values(issuer=provider.issuer, subject=entry.subject, user=user))
    return user


def _cipher(session: str) -> Fernet:
    """Return the cipher of a session, made from its secret: who has only the store cannot read it."""
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"sign-on {session}".encode()).digest()))
