"""Idempotency keys: a request that a program sends twice is recorded once.

The key is stored with the first event that the request recorded, as digests: a key may say anything, and people must
stay erasable.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crewlearn.problem.errors import InvalidInput

MOST_KEYS = 100
"""Keys that a site remembers, the newest."""

_DIGITS = 32


@dataclass(frozen=True)
class RequestKey:
    """The key of a request and its content, as digests, and counts of its answer that no event has."""

    key: str
    content: str
    answer: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, actor: str, key: str, content: bytes) -> "RequestKey":
        """Return the key that an actor sent with a request of this content; others may use the same key."""
        return cls(_digest(f"{actor}\0{key}".encode()), _digest(content))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RequestKey":
        """Rebuild what `to_json` described."""
        return cls(data["key"], data["content"], dict(data.get("answer", {})))

    def to_json(self) -> dict[str, Any]:
        """Describe the key as plain data."""
        plain: dict[str, Any] = {"key": self.key, "content": self.content}
        return {**plain, "answer": dict(self.answer)} if self.answer else plain


@dataclass(frozen=True)
class UsedKey:
    """A key that was used before: its content, and the event that the request recorded."""

    key: str
    content: str
    event: int


class RequestRepeated(Exception):
    """The request was recorded before, in event `event`; nothing is recorded again."""

    def __init__(self, event: int) -> None:
        super().__init__(f"recorded before, in event {event}")
        self.event = event


def check_unused(used: Sequence[UsedKey], request: RequestKey) -> None:
    """Raise `RequestRepeated` if a request was recorded before, and an error if its key was used for another."""
    for before in used:
        if before.key == request.key and before.content == request.content:
            raise RequestRepeated(before.event)
        if before.key == request.key:
            remedy = (
                f"was used for another request, which recorded event {before.event}; use a new key for each request"
            )
            raise InvalidInput("Idempotency-Key", None, remedy)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]
