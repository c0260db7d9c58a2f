"""The errors of those who are not alone: what they ask for contradicts the record, or what they saw is no longer so."""

from collections.abc import Sequence
from typing import Any

from crewlearn.problem.errors import InvalidInput


class Conflict(InvalidInput):
    """What is asked for contradicts what is on record."""

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, object, str]]:
        """Stay a conflict across process borders."""
        return Conflict, (self.field, self.value, self.remedy)


class Stale(Conflict):
    """The site has moved on since it was looked at; `changed` tells what happened, by whom and when."""

    def __init__(self, field: str, value: object, remedy: str, changed: Sequence[str] = ()) -> None:
        super().__init__(field, value, remedy)
        self.changed = tuple(changed)

    def __reduce__(self) -> tuple[Any, ...]:
        """Stay what it is across process borders."""
        return Stale, (self.field, self.value, self.remedy, self.changed)
