"""The envelope of events: who recorded what and when, chained by hashes."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.events.canonical import canonical
from crewlearn.advisor.ledger.events.fact import Fact, parse_fact
from crewlearn.advisor.ledger.site.request_keys import RequestKey

RULE_VERSION = "6"
"""The version of the rules that derive advice; the same facts give the same event under each of them."""

LIMIT_ON_REFILLS = "2"
"""The rules under which the limit a week counted those who fill empty stations, too."""

WHOLE_MEMORY = "3"
"""The last rules under which advice held the policy's state before and after it in full."""

LEARNED_OTHERWISE = ("4", "5")
"""The rules under which policies that learn by day learned, or told, something else from the same days."""

DERIVABLE = (LIMIT_ON_REFILLS, WHOLE_MEMORY, *LEARNED_OTHERWISE, RULE_VERSION)
"""The versions of the rules under which advice can be derived again."""

REQUEST = "request"
"""The payload's key for the request that an event was recorded for, in events of any kind."""

BATCH = "batch"
"""The payload's key for the first of several answers given together, in the later ones."""

FIRST_HASH = "0" * 64


@dataclass(frozen=True)
class LedgerEntry:
    """A stored event with its raw payload; `number` counts from 1 without gaps, `at` is UTC in ISO form."""

    number: int
    at: str
    actor: str
    rule_version: str
    type: str
    payload: Mapping[str, Any]
    previous: str
    hash: str

    @property
    def is_intact(self) -> bool:
        """Whether the entry matches its hash."""
        try:
            again = hash_of(self.number, self.at, self.actor, self.rule_version, self.type, self.payload, self.previous)
        except (TypeError, ValueError, RecursionError):  # bytes, NaN, half a character, or nested too deep to write
            return False
        return again == self.hash


@dataclass(frozen=True)
class Event:
    """An event of a site, with its payload as a typed fact."""

    number: int
    at: str
    actor: str
    rule_version: str
    fact: Fact
    previous: str
    hash: str
    request: RequestKey | None = None
    batch: int | None = None

    @classmethod
    def of(cls, entry: LedgerEntry) -> "Event":
        """Parse a stored event."""
        payload = {name: value for name, value in entry.payload.items() if name not in (REQUEST, BATCH)}
        sent = entry.payload.get(REQUEST)
        request = None if sent is None else RequestKey.from_json(sent)
        fact = parse_fact(entry.type, payload)
        return cls(
            entry.number,
            entry.at,
            entry.actor,
            entry.rule_version,
            fact,
            entry.previous,
            entry.hash,
            request,
            entry.payload.get(BATCH),
        )


def hash_of(number: int, at: str, actor: str, rule_version: str, kind: str, payload: Any, previous: str) -> str:
    """Hash an event and, through the previous hash, everything before it."""
    text = canonical([number, at, actor, rule_version, kind, payload, previous])
    return hashlib.sha256(text.encode()).hexdigest()


def next_entry(
    number: int,
    at: str,
    actor: str,
    fact: Fact,
    previous: str,
    request: RequestKey | None = None,
    batch: int | None = None,
) -> LedgerEntry:
    """Return the entry that follows the one with hash `previous`; `request` is the key of the request behind it.

    `batch` is the first of several answers given together, if this is a later one of them.
    """
    added = {REQUEST: None if request is None else request.to_json(), BATCH: batch}
    sent = {name: value for name, value in added.items() if value is not None}
    plain = json.loads(canonical({**fact.to_payload(), **sent}))  # hash exactly what will be read back
    digest = hash_of(number, at, actor, RULE_VERSION, fact.type, plain, previous)
    return LedgerEntry(number, at, actor, RULE_VERSION, fact.type, plain, previous, digest)
