"""ETags: the version of a site that a reader saw and a writer's change is based on.

A version is the number of the last event with the first digits of its hash. Numbers alone repeat after a backup is
restored; the hash covers all events before it, so it tells apart two histories with the same number.
"""

import re

from crewlearn.advisor.ledger.errors import Stale
from crewlearn.advisor.ledger.queries import read_entries
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.snapshots import Snapshot

SEAL = 12
"""Hex digits of the hash in a version: enough that two histories do not share them by chance."""

PATTERN = rf"[0-9]{{1,9}}(-[0-9a-f]{{{SEAL}}})?"
"""A version as text: with the hash, or the bare number."""

_ANOTHER = "is from another record, as before a backup was restored; look at the site as it is now, then try again"


def written(snapshot: Snapshot) -> str:
    """Return the version of a site as text."""
    return f"{snapshot.version}-{snapshot.standing.version.head[:SEAL]}"


def meant(store: Store, snapshot: Snapshot, text: str) -> int:
    """Return the event number of the version that a change is based on; the writer checks that it is the last.

    A hash that differs from the record's raises `Stale`. Events are only appended, so a hash that matches now still
    matches when the change is written.
    """
    if not re.fullmatch(PATTERN, text):
        raise InvalidInput("version", text, "must be a version of the site, such as 41-5f0c1a2b3c4d or 41")
    number, _, seal = text.partition("-")
    if seal and not _seal_of(store, snapshot, int(number)).startswith(seal):
        raise Stale("version", text, _ANOTHER)
    return int(number)


def _seal_of(store: Store, snapshot: Snapshot, number: int) -> str:
    if number == snapshot.version:
        return snapshot.standing.version.head
    with store.reading() as connection:
        return next((entry.hash for entry in read_entries(connection, snapshot.key, number - 1, limit=1)), "")
