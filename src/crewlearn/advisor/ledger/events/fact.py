"""The base of all kinds of event, and the registry of kinds by their wire name.

A kind is a frozen dataclass with the `event_kind` decorator. Its fields are those of the payload; its methods define
how it changes a site, which caches it invalidates and how it is described. A new kind is one class in one module.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from typing import Any, ClassVar, Protocol, TypeVar

from crewlearn.advisor.ledger.events.rows import History, RecordedRow
from crewlearn.advisor.ledger.site import Site, Slip
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.advisor.ledger.team.stints import Change, Seat, Stint, changes, seats_now
from crewlearn.problem.errors import InvalidInput


class Cached(Enum):
    """Data cached beside a site's state that some events invalidate.

    The state itself is cached by version, which every event changes.
    """

    PEOPLE = auto()
    """Names and the firm's ids, by worker number."""
    PAST = auto()
    """Who held which station when, and the proposals that were acted on."""
    QUOTATIONS = auto()
    """Text from files, in finished jobs and in the database's log, that may name an erased person."""


class Names(Protocol):
    """Words for the numbers in events, supplied by the wording layer."""

    def person(self, worker: int) -> str:
        """Name a worker."""

    def exchange(self, proposal: int) -> str:
        """Return ` (IN for OUT)` for a proposal; empty if it is unknown."""

    def incoming(self, proposal: int) -> str | None:
        """Name the incoming worker of a proposal; None if it is unknown."""

    def day(self, period: int) -> str:
        """Format the day of a period."""

    def date(self, day: date) -> str:
        """Format a day."""


@dataclass(frozen=True)
class Subject:
    """The proposal, outcome or worker that an event is about; None where there is none."""

    proposal: int | None = None
    outcome: str | None = None
    worker: int | None = None

    def to_payload(self) -> dict[str, Any]:
        """Return the parts that are set, by their wire names."""
        return {name: value for name, value in vars(self).items() if value is not None}


NO_SUBJECT = Subject()


Stints = Callable[[], Sequence[Stint]]
"""Returns who held which station when, before the event being applied."""


def no_stints() -> Sequence[Stint]:
    """Return no stints."""
    return ()


@dataclass(frozen=True)
class FoldStep:
    """What applying an event may need besides the site: its number and rows, each worker's history, and all stints.

    `observed` are the rows' observations, or None if they are not measured yet. `actor` recorded the event, at time
    `at` (UTC). `batch` is the first of several answers given together, if this is a later one of them.
    """

    number: int
    rows: Sequence[RecordedRow]
    history: History
    observed: Sequence[float | None] | None = None
    stints: Stints = no_stints
    actor: str = ""
    at: str = ""
    batch: int | None = None


class Fact(ABC):
    """What an event records, apart from who recorded it and when."""

    type: ClassVar[str]
    """The kind's wire name."""
    undoable: ClassVar[bool] = False
    """Whether it can be undone as long as no other fact follows."""
    by_people: ClassVar[bool] = True
    """Whether a person recorded it, as opposed to derived advice."""
    has_rows: ClassVar[bool] = False
    """Whether rows of output belong to it."""
    invalidates: ClassVar[frozenset[Cached]] = frozenset({Cached.PAST})
    """The cached data that it invalidates, besides the state."""
    heading: ClassVar[str] = ""
    """What lists call events of this kind, where people can choose to see these alone; empty where they cannot."""
    internal: ClassVar[frozenset[str]] = frozenset()
    """Payload keys that only programs use."""

    @classmethod
    @abstractmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "Fact":
        """Rebuild the fact from its wire form."""

    @abstractmethod
    def to_payload(self) -> dict[str, Any]:
        """Return the wire form: plain data, without unset keys."""

    @abstractmethod
    def apply(self, site: Site, step: FoldStep) -> Site:
        """Return the site after the event; the given site may be modified."""

    @abstractmethod
    def tell(self, names: Names) -> str:
        """Describe the event in words that follow the actor's name."""

    def told(self, actor: str, names: Names) -> str:
        """Return who did what."""
        return f"{actor} {self.tell(names)}"

    def begin(self) -> Site:
        """Return the new site, for the first event of a record."""
        raise InvalidInput("event", self.type, "a record begins with site-created")

    @property
    def subject(self) -> Subject:
        """What the event is about."""
        return NO_SUBJECT

    @property
    def erased(self) -> Collection[int]:
        """The workers whose identity the event erased."""
        return ()

    def fault(self, site: str, number: int, rows: Sequence[RecordedRow]) -> str | None:
        """Return the event's fault, given the site's name and the rows stored with it, or None."""
        return None

    def stint_changes(self, stints: Stints, seats: Sequence[Seat], site: Site) -> list[Change]:
        """Return how stints change, given those before, the seats before, and the site after the event."""
        return list(changes(seats, site, undone=False))

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe an event of this kind as a cause of changed advice; empty if there is nothing to say."""
        return ""

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name an event of this kind that was undone; empty for kinds that cannot be."""
        return ""


class Happening(Fact):
    """A fact that may change the advice: it is noted as a cause, updates the seats and may be undoable."""

    is_cause: ClassVar[bool] = True
    """Whether it is noted as a cause of advice that changes."""

    @abstractmethod
    def change(self, site: Site, step: FoldStep) -> None:
        """Change the site."""

    def cause(self) -> Cause:
        """Return the cause that is noted until the next advice."""
        return Cause(self.type, dict(sorted(self.to_payload().items())))

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Note the cause, change the site, update the seats, and save what an undoable event changed."""
        before = (site.answered_json(), list(site.workers)) if self.undoable else None
        together = site.undo if step.batch is not None else None
        if self.is_cause:
            site.because.append(self.cause())
        self.change(site, step)
        site.seats = seats_now(site.seats, site)
        site.undo = None if before is None else Slip.between(step.number, *before, site.workers).after(together)
        return site


KINDS: dict[str, type[Fact]] = {}
"""Every kind by its wire name."""

K = TypeVar("K", bound=type[Fact])


def event_kind(name: str) -> Callable[[K], K]:
    """Return a decorator that registers a class under this wire name."""

    def register(kind: K) -> K:
        assert name not in KINDS, f"{name} is registered twice"
        kind.type = name
        KINDS[name] = kind
        return kind

    return register


def kinds_of(*bases: type) -> tuple[type[Fact], ...]:
    """Return the registered kinds that are subclasses of these classes."""
    return tuple(kind for kind in KINDS.values() if issubclass(kind, bases))


def invalidated_by(names: Iterable[str]) -> frozenset[Cached]:
    """Return the cached data that events of these kinds invalidate; an unknown kind invalidates all."""
    everything = frozenset(Cached)
    kinds = (KINDS.get(name) for name in names)
    return frozenset[Cached]().union(*(everything if kind is None else kind.invalidates for kind in kinds))


def parse_fact(name: str, payload: Mapping[str, Any]) -> Fact:
    """Rebuild a fact from its wire name and payload; raise an error with a remedy if it cannot be parsed."""
    kind = KINDS.get(name)
    if kind is None:
        remedy = f"is not a known kind of event ({', '.join(KINDS)}); if a newer crewlearn wrote it, update this one"
        raise InvalidInput("event", name, remedy)
    try:
        return kind.from_payload(payload)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, InvalidInput):  # it already has a remedy
            raise
        remedy = f"has a payload that cannot be read ({error!r}); see: crewlearn ledger verify, and restore a backup"
        raise InvalidInput("event", name, remedy) from error
