"""Workers' identities, stored apart from the record, so that erasing a person leaves the record intact.

The record has a commitment to each: a hash of number, id, name and a salt. So nobody can exchange two people unnoticed.
Erasing a person removes the salt too. Without it, a guessed name cannot be checked against the commitment.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import Commitments, canonical
from crewlearn.language import _
from crewlearn.problem.arrays import NOBODY


@dataclass(frozen=True)
class People:
    """Workers' names and the firm's ids, by number."""

    ids: dict[int, str | None]
    names: dict[int, str | None]

    def label(self, number: int) -> str:
        """Return a worker's name and id, the name alone if it is the id too, or the bare number if they were erased."""
        if number == NOBODY:
            return _("an empty station")
        identifier, name = self.ids.get(number), self.names.get(number)
        if identifier is None:
            return _("worker {number} (erased)", number=number)
        beside = self.identifier_beside_name(number)
        return f"{name} ({beside})" if beside else name or identifier

    def identifier_beside_name(self, number: int) -> str:
        """Return a worker's id where it tells more than the name; empty if there is no name, or the id is the name."""
        identifier, name = self.ids.get(number) or "", self.names.get(number)
        return "" if name is None or name.casefold() == identifier.casefold() else identifier


class Identity(NamedTuple):
    """Who a worker is: their number, the firm's id and, if known, their name."""

    worker: int
    external_id: str
    name: str | None


def new_salt() -> str:
    """Return 128 random bits, so that a commitment cannot be guessed."""
    return secrets.token_hex(16)


def commitment(who: Identity, salt: str) -> str:
    """Return the hash that binds a worker's number to an id and a name, and tells neither without the salt.

    >>> ann = Identity(0, "17", "Ann")
    >>> commitment(ann, "5a17") == hashlib.sha256(b'["identity",0,"17","Ann","5a17"]').hexdigest()
    True
    """
    return hashlib.sha256(canonical(["identity", *who, salt]).encode()).hexdigest()


def enrol(connection: sa.Connection, key: int, people: Sequence[Identity]) -> Commitments:
    """Store the identities of newcomers; return the commitments to them, for the record."""
    salted = [(who, new_salt()) for who in people]
    if salted:
        connection.execute(
            schema.identities.insert(), [{"site": key, "salt": salt, **who._asdict()} for who, salt in salted]
        )
    return tuple((who.worker, commitment(who, salt)) for who, salt in salted)


def rename(connection: sa.Connection, key: int, people: Sequence[Identity]) -> Commitments:
    """Store the new names of people; return the commitments to them, for the record."""
    table, salted = schema.identities, [(who, new_salt()) for who in people]
    if salted:
        whose = (table.c.site == key, table.c.worker == sa.bindparam("of_worker"))
        connection.execute(
            table.update().where(*whose).values(name=sa.bindparam("new_name"), salt=sa.bindparam("new_salt")),
            [{"of_worker": who.worker, "new_name": who.name, "new_salt": salt} for who, salt in salted],
        )
    return tuple((who.worker, commitment(who, salt)) for who, salt in salted)


def erase(connection: sa.Connection, key: int, worker: int) -> None:
    """Remove who a worker is, with the salt."""
    table = schema.identities
    connection.execute(
        table.update()
        .where(table.c.site == key, table.c.worker == worker)
        .values(external_id=None, name=None, salt=None)
    )


def read_people(connection: sa.Connection, key: int) -> People:
    """Read the identities of a site's workers."""
    table = schema.identities
    rows = connection.execute(sa.select(table).where(table.c.site == key)).all()
    return People({row.worker: row.external_id for row in rows}, {row.worker: row.name for row in rows})
