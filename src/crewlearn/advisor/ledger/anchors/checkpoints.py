"""Signed checkpoints: how far a site's record went at a time, signed with a key that the database does not hold.

The hashes of a record tell of edits. Whoever can write to the database can also cut off its end, or write a whole
record anew with hashes that fit. Both contradict a checkpoint that is kept elsewhere.
"""

import base64
import binascii
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.anchors.keys import public_key, public_text
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import FIRST_HASH, canonical
from crewlearn.advisor.ledger.queries import read_entries
from crewlearn.advisor.ledger.rebuild import chain_faults
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_DOMAIN = b"crewlearn checkpoint\n"
"""Signed in front of every checkpoint, so that the signature is good for nothing else."""
_FORM = 1
_MOST_BYTES = 100_000_000


@dataclass(frozen=True)
class SignedCheckpoint:
    """The number of a site's events at a time (UTC), with the hashes of the first and the last, and the signature.

    `key` is the public half of the key that signed it. The first hash tells the record of one store from another's.
    """

    site: str
    first: str
    events: int
    head: str
    at: str
    key: str
    signature: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the checkpoint as plain data."""
        return {"checkpoint": _FORM, **asdict(self)}

    @property
    def told(self) -> str:
        """What to call it in messages."""
        return f"the checkpoint of {_shown(self.at)} at event {self.events}"

    @property
    def content(self) -> bytes:
        """What is signed: everything but the signature."""
        plain = self.to_json()
        del plain["signature"]
        return _DOMAIN + canonical(plain).encode()

    def signed(self, key: "Ed25519PrivateKey") -> "SignedCheckpoint":
        """Return the checkpoint with its signature."""
        return replace(self, signature=base64.b64encode(key.sign(self.content)).decode())

    def signature_fault(self, trusted: str) -> str | None:
        """Return why it must not be trusted, given the public key that is, or None."""
        from cryptography.exceptions import InvalidSignature

        if self.key != trusted:
            return f"{self.told} was signed by another key ({_shown(self.key)}) than the trusted one ({trusted})"
        try:
            public_key(trusted).verify(base64.b64decode(self.signature, validate=True), self.content)
        except (InvalidSignature, ValueError, binascii.Error):
            return f"{self.told} was altered or forged: its signature is wrong"
        return None


def _shown(text: str) -> str:
    """Return text for a message; whoever forged it must not steer a terminal."""
    return text if text.isprintable() else repr(text)


_TYPES = {field.name: int if field.name == "events" else str for field in fields(SignedCheckpoint)}


def make_checkpoints(
    store: Store, sites: Sequence[str], key: "Ed25519PrivateKey", earlier: Sequence[SignedCheckpoint] = ()
) -> list[SignedCheckpoint]:
    """Return signed checkpoints of sites as they are now.

    A record whose hashes are wrong, or that contradicts an earlier checkpoint, is not signed.
    """
    at = store.clock().astimezone(UTC).isoformat(timespec="milliseconds")
    made, trusted = [], public_text(key)
    with store.reading() as connection:
        for site in sites:
            version = store.version(connection, site)
            if version is None:
                store.key(connection, site)  # raises, naming the sites there are
            assert version is not None
            first = _checked_first(connection, site, version)
            anchors = Anchors(tuple(checkpoint for checkpoint in earlier if checkpoint.site == site), trusted)
            contradictions = anchors.faults(connection, version.key)
            if contradictions:
                raise _damaged(site, contradictions[0])
            unsigned = SignedCheckpoint(site, first, version.events, version.head, at, trusted)
            made.append(unsigned.signed(key))
    return made


def _checked_first(connection: sa.Connection, site: str, version: tuple[int, int, str]) -> str:
    """Return the hash of a site's first event, once all of its hashes are checked."""
    stored, events, head = version
    number, last, first = 0, FIRST_HASH, FIRST_HASH
    for entry in read_entries(connection, stored):
        faults = chain_faults(entry, number, last)
        if faults:
            raise _damaged(site, faults[0])
        number, last = entry.number, entry.hash
        first = entry.hash if number == 1 else first
    if (number, last) != (events, head):
        raise _damaged(site, f"it ends at event {number}, and the site has {events}")
    return first


def _damaged(site: str, fault: str) -> InvalidInput:
    remedy = f"has a record that is not signed ({fault}); see: crewlearn ledger verify {site} --against FILE"
    return InvalidInput("site", site, remedy)


def lines_of(checkpoints: Sequence[SignedCheckpoint]) -> str:
    """Return checkpoints as JSON Lines."""
    return "".join(f"{canonical(checkpoint.to_json())}\n" for checkpoint in checkpoints)


def append(file: Path, checkpoints: Sequence[SignedCheckpoint]) -> None:
    """Add checkpoints to a file, which is made if it is missing; they are on the disk when this returns."""
    try:
        with file.open("a+b") as opened:
            end = opened.seek(0, os.SEEK_END)
            opened.seek(max(0, end - 1))
            unended = b"\n" if opened.read(1) not in (b"", b"\n") else b""
            try:
                opened.write(unended + lines_of(checkpoints).encode())
                opened.flush()
                os.fsync(opened.fileno())
            except OSError:
                os.ftruncate(opened.fileno(), end)  # no half line
                raise
    except OSError as error:
        remedy = f"cannot be written ({error.strerror}); no checkpoint was added"
        raise InvalidInput("out", str(file), remedy) from error


def read_checkpoints(field: str, file: Path) -> list[SignedCheckpoint]:
    """Read a file of checkpoints; `field` is the option that names it."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise InvalidInput(field, str(file), f"is larger than {_MOST_BYTES:,} bytes; give the newest checkpoints")
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(field, str(file), f"cannot be read ({error})") from error
    return list(_parsed(field, file, text))


def _parsed(field: str, file: Path, text: str) -> Iterator[SignedCheckpoint]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            plain = json.loads(line)
            if plain.pop("checkpoint") != _FORM:
                raise ValueError(line)
            checkpoint = SignedCheckpoint(**plain)
            if any(type(value) is not _TYPES[name] for name, value in asdict(checkpoint).items()):
                raise ValueError(line)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            remedy = "is not a checkpoint as crewlearn ledger checkpoint writes them; give the file as it was written"
            raise InvalidInput(field, f"{file}, line {number}", remedy) from error
        yield checkpoint


@dataclass(frozen=True)
class Anchors:
    """Checkpoints of one site to compare its record with, and the public key that is trusted."""

    checkpoints: tuple[SignedCheckpoint, ...]
    trusted: str

    @classmethod
    def read(cls, site: str, field: str, file: Path, trusted: str) -> "Anchors":
        """Read the checkpoints of a site from a file, which must have some; `field` is the option that names it."""
        public_key(trusted)  # refused here, rather than once for each checkpoint
        found = read_checkpoints(field, file)
        own = tuple(checkpoint for checkpoint in found if checkpoint.site == site)
        if not own:
            others = ", ".join(sorted({checkpoint.site for checkpoint in found})) or "no site"
            raise InvalidInput(field, str(file), f"has checkpoints of {others}, and none of {site}; give another file")
        return cls(own, trusted)

    def faults(self, connection: sa.Connection, site: int) -> list[str]:
        """Return how the checkpoints contradict the record of a site, given its key."""
        table = schema.events
        last = connection.execute(sa.select(sa.func.max(table.c.number)).where(table.c.site == site)).scalar_one() or 0
        if type(last) is not int:
            return ["the numbers of the events cannot be read"]
        faults = (self._fault(connection, site, checkpoint, last) for checkpoint in self.checkpoints)
        return [fault for fault in faults if fault is not None]

    def _fault(self, connection: sa.Connection, site: int, checkpoint: SignedCheckpoint, last: int) -> str | None:
        fault = checkpoint.signature_fault(self.trusted)
        if fault is not None:
            return fault
        if checkpoint.events > last:
            return f"the record ends at event {last}: events were removed since {checkpoint.told}"
        table, numbers = schema.events, (1, checkpoint.events)
        query = sa.select(table.c.number, table.c.hash).where(table.c.site == site, table.c.number.in_(numbers))
        hashes = {row.number: row.hash for row in connection.execute(query)}
        if hashes.get(1) != checkpoint.first:
            return f"{checkpoint.told} has another first event: all was written anew, or it is of another store"
        if hashes.get(checkpoint.events) != checkpoint.head:
            return f"{checkpoint.told} has another hash there: the record was written anew since"
        return None
