"""Events: what is ever put on record for a site, each chained to the one before by a hash."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from crewlearn.problem.errors import InvalidInput

RULE_VERSION = "2"
"""Names the rules by which advice is derived from facts; it changes when the same facts would give other advice."""

FIRST_HASH = "0" * 64

CREATED = "site-created"
CHANGED = "site-changed"
WORKERS = "workers-imported"
WORKER = "worker-changed"
ERASED = "worker-erased"
OUTPUT = "output-imported"
ADVISED = "advised"
APPROVED = "proposal-approved"
REJECTED = "proposal-rejected"
OFFER = "offer-recorded"
UNDONE = "undone"


@dataclass(frozen=True)
class Event:
    """One event of a site; `number` counts from 1 without gaps, `at` is UTC in ISO form."""

    number: int
    at: str
    actor: str
    rule_version: str
    type: str
    payload: Mapping[str, Any]
    previous: str
    hash: str


def canonical(data: Any) -> str:
    """Write plain data in the one form that is hashed; numbers that JSON does not know are refused.

    >>> canonical({"b": [1, 2.5], "a": "ä"})
    '{"a":"ä","b":[1,2.5]}'
    """
    try:
        return json.dumps(
            data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain
        )
    except ValueError as error:
        raise InvalidInput("payload", "NaN or infinity", "cannot be put on record; give finite numbers") from error


def _plain(value: Any) -> Any:
    """Give the plain number in a number of numpy's, which rules over arrays give back."""
    if not callable(getattr(value, "item", None)):
        raise TypeError(f"{type(value).__name__} {value!r} cannot be put on record")
    return value.item()


def hash_of(number: int, at: str, actor: str, rule_version: str, kind: str, payload: Any, previous: str) -> str:
    """Hash an event and, through the previous hash, everything before it."""
    text = canonical([number, at, actor, rule_version, kind, payload, previous])
    return hashlib.sha256(text.encode()).hexdigest()


def next_event(
    number: int,
    at: str,
    actor: str,
    kind: str,
    payload: Mapping[str, Any],
    previous: str,
    rule_version: str = RULE_VERSION,
) -> Event:
    """Make the event that follows the one with hash `previous`."""
    plain = json.loads(canonical(payload))  # what is hashed is what will be read back
    digest = hash_of(number, at, actor, rule_version, kind, plain, previous)
    return Event(number, at, actor, rule_version, kind, plain, previous, digest)


def is_intact(event: Event) -> bool:
    """Say whether an event is as it was written."""
    again = hash_of(event.number, event.at, event.actor, event.rule_version, event.type, event.payload, event.previous)
    return again == event.hash


class Row(NamedTuple):
    """A row of recorded output, in people's units; None where nothing was given."""

    period: int
    worker: int
    units: float | None
    hours: float | None
    attendance: str


ATTENDANCE = ("worked", "partial", "absent", "no-show", "sent-home")

OBSERVED = ("worked", "partial")
"""Attendance that gives an observation; a partial day does so only where output is a rate."""

AWAY = ("absent", "no-show")
"""Attendance without output; who is sent home may have made something, which is paid and not learned from."""

_AT_ONCE = 10_000


def digest_of_rows(rows: Sequence[Row]) -> str:
    """Hash the rows of an import, so that the chain covers them too: as one JSON list, made piece by piece.

    >>> rows = [Row(1, 0, 0.5, None, "worked"), Row(1, 1, None, None, "absent")]
    >>> digest_of_rows(rows) == hashlib.sha256(canonical(rows).encode()).hexdigest()
    True
    """
    digest = hashlib.sha256(b"[")
    for start in range(0, len(rows), _AT_ONCE):
        piece = canonical(rows[start : start + _AT_ONCE])[1:-1]
        digest.update((f",{piece}" if start else piece).encode())
    digest.update(b"]")
    return digest.hexdigest()
