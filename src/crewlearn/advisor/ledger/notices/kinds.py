"""The kinds of notices, and what each one says.

A notice holds facts and numbers, no names. It names workers by their number in the record; the firm's id is looked up
when a notice is sent, so that an erased person's id is nowhere in the outbox.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from crewlearn.language import noted
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import InvalidInput, one_of

Kind = Literal["advice.new", "offer.overdue", "import.failed", "trend.found"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NEW_ADVICE, OVERDUE_OFFER, FAILED_IMPORT, FOUND_TREND = KINDS
TEST = "test"
"""The kind of a notice that only tries out a webhook."""

ABOUT: Mapping[str, str] = {
    NEW_ADVICE: noted("advice for a new day, or other proposals for the same day"),
    OVERDUE_OFFER: noted("an offer takes much longer than usual"),
    FAILED_IMPORT: noted("a file of output was not recorded"),
    FOUND_TREND: noted("somebody's output shows a trend for the first time"),
}

_WORKERS = ("worker", "out", "in")


@dataclass(frozen=True)
class Notice:
    """A notice: its kind, and plain data about what happened."""

    kind: str
    facts: Mapping[str, Any]


def checked_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return kinds in their usual order; refuse unknown ones, and none at all."""
    wanted = {one_of("kinds", kind, KINDS) for kind in kinds}
    if not wanted:
        raise InvalidInput("kinds", [], f"must name at least one of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in wanted)


def workers_in(facts: Any) -> set[int]:
    """Return the numbers of the workers that facts name.

    >>> workers_in({"proposals": [{"id": 4, "out": -1, "in": 7}]})
    {7}
    """
    if isinstance(facts, Mapping):
        named = {value for name, value in facts.items() if name in _WORKERS and value != NOBODY}
        return named.union(*(workers_in(value) for name, value in facts.items() if name not in _WORKERS))
    return set().union(*map(workers_in, facts)) if isinstance(facts, (list, tuple)) else set()


def with_ids(facts: Any, ids: Mapping[int, str | None]) -> Any:
    """Return facts in which workers have the firm's ids in place of numbers; None for an empty station or if erased.

    >>> with_ids({"proposals": [{"id": 4, "out": 0, "in": 7}, {"id": 5, "out": -1, "in": 8}]}, {0: "A1", 7: "B2"})
    {'proposals': [{'id': 4, 'out': 'A1', 'in': 'B2'}, {'id': 5, 'out': None, 'in': None}]}
    """
    if isinstance(facts, Mapping):
        return {
            name: (None if value == NOBODY else ids.get(value)) if name in _WORKERS else with_ids(value, ids)
            for name, value in facts.items()
        }
    return [with_ids(item, ids) for item in facts] if isinstance(facts, (list, tuple)) else facts
