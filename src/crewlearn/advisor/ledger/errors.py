"""Errors of the ledger.

- `StoreUnavailable`: the database cannot be used; `StoreBusy` if another writer holds its lock, `Overloaded` if too
  many of this server wait for it.
- `Conflict`: the request contradicts the ledger; `Stale` if it used an earlier version of the site.
- `UnusablePolicy`: a site's policy cannot be built here.

All are `InvalidInput`: they name the field, the value and the remedy. All can be pickled.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crewlearn.problem.errors import InvalidInput

if TYPE_CHECKING:  # these modules import this one
    from crewlearn.advisor.ledger.events import Event
    from crewlearn.advisor.ledger.identities import People
    from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
    from crewlearn.advisor.ledger.site import Proposal

RETRY_SECONDS = 5
"""Seconds after which a writer that was refused may try again."""


class _Whole(InvalidInput):
    """An error that keeps its class when it is pickled."""

    def __reduce__(self) -> tuple[type[InvalidInput], tuple[str, object, str]]:
        """Rebuild from the three parts."""
        return type(self), (self.field, self.value, self.remedy)


class StoreUnavailable(_Whole):
    """The store cannot be used: unreachable, damaged, of another schema, or missing. A retry may succeed."""

    def __init__(self, value: object, remedy: str) -> None:
        super().__init__("db", value, remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from address and remedy."""
        return type(self), (self.value, self.remedy)


class Conflict(_Whole):
    """The request contradicts the record."""


class StoreBusy(StoreUnavailable, Conflict):
    """Another writer holds the store's lock; nothing was done, and a retry may succeed."""


class Overloaded(StoreUnavailable):
    """Too many wait to write already, or waiting took too long; nothing was done, and a retry may succeed."""

    def __init__(self, waited: float) -> None:
        why = f"others were writing for {waited:g} s" if waited else "too many others wait to write"
        super().__init__("", f"{why}; nothing was done, try again in {RETRY_SECONDS} seconds")
        self.waited = waited

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the seconds waited."""
        return Overloaded, (self.waited,)


class UnusablePolicy(_Whole):
    """A site's policy cannot be built: it is unknown, not installed, or needs hidden values."""


@dataclass(frozen=True)
class Retold:
    """Events with what describing them takes: identities, the proposals they refer to, and the calendar."""

    events: "tuple[Event, ...]"
    people: "People"
    proposals: "dict[int, Proposal]"
    calendar: "WorkCalendar"


class SecondApproverNeeded(Conflict):
    """A first approval stands: a different user gives the second one, of the exchange that was approved first."""


class Stale(Conflict):
    """The site has changed since the version the request is for; `since` has what people recorded, if known."""

    def __init__(self, field: str, value: object, remedy: str, since: Retold | None = None) -> None:
        super().__init__(field, value, remedy)
        self.since = since

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from all parts."""
        return Stale, (self.field, self.value, self.remedy, self.since)


class NotTheLastAnswer(Conflict):
    """The answer to undo is no longer the last one, which is in `last`."""

    def __init__(self, field: str, value: object, remedy: str, last: Retold) -> None:
        super().__init__(field, value, remedy)
        self.last = last

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from all parts."""
        return NotTheLastAnswer, (self.field, self.value, self.remedy, self.last)
