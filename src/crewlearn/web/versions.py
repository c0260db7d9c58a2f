"""Versions of a site, as they are told to who reads it and taken from who changes it.

A version is the number of the last event with the beginning of its seal. Numbers alone come again after a backup was
restored; a seal covers all that came before it, so that another history under the same number is told apart.
"""

import re

from crewlearn.advisor.conflict import Stale
from crewlearn.advisor.record import read_events
from crewlearn.advisor.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.reads import Snapshot

SEAL = 12
"""How many letters of the seal are told: nobody finds another history with the same ones by chance."""

PATTERN = rf"[0-9]{{1,9}}(-[0-9a-f]{{{SEAL}}})?"
"""How a version is written: with the seal, or the bare number."""

_ANOTHER = "was of another record, as before a backup was restored; look at the site as it is now, then do it again"


def written(snapshot: Snapshot) -> str:
    """Write the version of a site."""
    return f"{snapshot.version}-{snapshot.standing.version.head[:SEAL]}"


def meant(store: Store, snapshot: Snapshot, text: str) -> int:
    """Give the number of the version that a change is meant for; it is for the writer to see that it is the last.

    A seal that the record does not have under this number is stale. Events are only ever added, so that one which is
    there now is still there when the change is made.
    """
    if not re.fullmatch(PATTERN, text):
        raise InvalidInput("version", text, "must be a version as the site told it, such as 41-5f0c1a2b3c4d or 41")
    number, _, seal = text.partition("-")
    if seal and not _seal_of(store, snapshot, int(number)).startswith(seal):
        raise Stale("version", text, _ANOTHER)
    return int(number)


def _seal_of(store: Store, snapshot: Snapshot, number: int) -> str:
    if number == snapshot.version:
        return snapshot.standing.version.head
    with store.reading() as connection:
        return next((event.hash for event in read_events(connection, snapshot.key, number - 1, limit=1)), "")
