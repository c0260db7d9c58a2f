"""Errors of the ledger.

- `StoreUnavailable`: the database cannot be used, whatever was asked for; `StoreBusy` if that is for others' writing.
- `Conflict`: the request contradicts the ledger; `Stale` if it was made for an earlier version of the site.
- `UnusablePolicy`: the policy that a site names cannot be built here.

All are `InvalidInput`, name the field, the value and the remedy, and cross process borders whole.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crewlearn.problem.errors import InvalidInput

if TYPE_CHECKING:  # events are made of what may raise these errors
    from crewlearn.advisor.ledger.events import Event
    from crewlearn.advisor.ledger.identities import People
    from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
    from crewlearn.advisor.ledger.site import Proposal


class _Whole(InvalidInput):
    """An error that keeps its class when it is pickled."""

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, object, str]]:
        """Rebuild from the three parts."""
        return type(self), (self.field, self.value, self.remedy)


class StoreUnavailable(_Whole):
    """The store cannot be used: out of reach, broken, of another schema, or not there. Another attempt may succeed."""

    def __init__(self, value: object, remedy: str) -> None:
        super().__init__("db", value, remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from address and remedy."""
        return type(self), (self.value, self.remedy)


class Conflict(_Whole):
    """What is asked for contradicts what is on record."""


class StoreBusy(StoreUnavailable, Conflict):
    """Somebody else is writing to the store; nothing was done, and the same request may succeed later."""


class UnusablePolicy(_Whole):
    """A site's policy cannot be built: it is unknown here, not installed, or needs what no site knows."""


@dataclass(frozen=True)
class Retold:
    """Events with what is needed to tell them: who is who, the proposals they are about, and the site's calendar."""

    events: "tuple[Event, ...]"
    people: "People"
    proposals: "dict[int, Proposal]"
    calendar: "WorkCalendar"


class Stale(Conflict):
    """The site has moved on since it was looked at; `since` has what people recorded meanwhile, if that is known."""

    def __init__(self, field: str, value: object, remedy: str, since: Retold | None = None) -> None:
        super().__init__(field, value, remedy)
        self.since = since

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from all parts."""
        return Stale, (self.field, self.value, self.remedy, self.since)


class NotTheLastAnswer(Conflict):
    """Undoing was asked for an answer that is not the last one, which `last` has."""

    def __init__(self, field: str, value: object, remedy: str, last: Retold) -> None:
        super().__init__(field, value, remedy)
        self.last = last

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from all parts."""
        return NotTheLastAnswer, (self.field, self.value, self.remedy, self.last)
