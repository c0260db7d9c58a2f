"""What every kind of event has in common, and the registry of kinds by their name on the wire.

A kind is a frozen dataclass with the `event_kind` decorator: its fields are those of the payload, and its methods say
how it changes a site, what caches it invalidates and how it is told. A new kind is one class in one module.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, ClassVar, Protocol, TypeVar

from crewlearn.advisor.ledger.advice_record import Cause
from crewlearn.advisor.ledger.events.rows import History, RecordedRow
from crewlearn.advisor.ledger.site import Site, Slip
from crewlearn.advisor.ledger.stints import seats_now
from crewlearn.problem.errors import InvalidInput


class Cached(Enum):
    """What is kept beside a site's state and becomes stale with some events.

    The state itself is kept by version and becomes stale with every event.
    """

    PEOPLE = auto()
    """Names and the firm's own ids by worker number."""
    PAST = auto()
    """Who held which station when, and the proposals that were acted on."""
    QUOTATIONS = auto()
    """Text from files, in finished jobs and in the database's log, that may name an erased person."""


class Names(Protocol):
    """Words for what events have as numbers; the wording layer supplies them."""

    def person(self, worker: int) -> str:
        """Name a worker."""

    def exchange(self, proposal: int) -> str:
        """Return ` (IN for OUT)` of a proposal; empty if it is not known."""

    def incoming(self, proposal: int) -> str | None:
        """Name who would come in by a proposal; None if it is not known."""

    def day(self, period: int) -> str:
        """Write the day of a period."""


@dataclass(frozen=True)
class Subject:
    """What an event is about; None where it is about no such thing."""

    proposal: int | None = None
    outcome: str | None = None
    worker: int | None = None

    def to_payload(self) -> dict[str, Any]:
        """Return the parts that are set, by their names on the wire."""
        return {name: value for name, value in vars(self).items() if value is not None}


NO_SUBJECT = Subject()


@dataclass(frozen=True)
class FoldStep:
    """What applying an event may need beside the site: the event's number and rows, and each worker's history.

    `observed` has the observation of each row, or is None if they are yet to be measured.
    """

    number: int
    rows: Sequence[RecordedRow]
    history: History
    observed: Sequence[float | None] | None = None


class Fact(ABC):
    """What an event records, apart from who recorded it and when."""

    type: ClassVar[str]
    """The kind's name on the wire."""
    undoable: ClassVar[bool] = False
    """Whether it can be taken back while no other fact follows."""
    by_people: ClassVar[bool] = True
    """Whether a person recorded it; advice is derived."""
    has_rows: ClassVar[bool] = False
    """Whether rows of output belong to it."""
    invalidates: ClassVar[frozenset[Cached]] = frozenset({Cached.PAST})
    """What becomes stale with it, beside the state."""
    heading: ClassVar[str] = ""
    """What lists call events of this kind, where people can choose to see these alone; empty where they cannot."""
    internal: ClassVar[frozenset[str]] = frozenset()
    """Keys of the payload that say nothing to people."""

    @classmethod
    @abstractmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "Fact":
        """Rebuild the fact from its wire form."""

    @abstractmethod
    def to_payload(self) -> dict[str, Any]:
        """Return the wire form: plain data, without the keys that are not set."""

    @abstractmethod
    def apply(self, site: Site, step: FoldStep) -> Site:
        """Return the site after the event; the given site may be changed on the way."""

    @abstractmethod
    def tell(self, names: Names) -> str:
        """Return what was done, in words that follow the name of who did it."""

    def begin(self) -> Site:
        """Return the site that the event begins a record with."""
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
        """Return what is wrong with the event, given the site's name and the rows stored with it; None if nothing."""
        return None

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return a few words on an event of this kind as a cause of other advice; empty if there is nothing to say."""
        return ""

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name an event of this kind that was taken back; empty for kinds that cannot be."""
        return ""


class Happening(Fact):
    """A fact that bears on advice: it is noted as a cause, seats follow from it, and what it changes can be kept."""

    @abstractmethod
    def change(self, site: Site, step: FoldStep) -> None:
        """Change the site."""

    def cause(self) -> Cause:
        """Return what is noted until the next advice."""
        return Cause(self.type, dict(sorted(self.to_payload().items())))

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Note the cause, change the site, seat people, and keep what an undoable event changed."""
        before = (site.answered_json(), list(site.workers)) if self.undoable else None
        site.because.append(self.cause())
        self.change(site, step)
        site.seats = seats_now(site.seats, site)
        site.undo = None if before is None else Slip.between(step.number, *before, site)
        return site


KINDS: dict[str, type[Fact]] = {}
"""Every kind by its name on the wire."""

K = TypeVar("K", bound=type[Fact])


def event_kind(name: str) -> Callable[[K], K]:
    """Register a class as the kind that has this name on the wire."""

    def register(kind: K) -> K:
        assert name not in KINDS, f"{name} is registered twice"
        kind.type = name
        KINDS[name] = kind
        return kind

    return register


def kinds_of(*bases: type) -> tuple[type[Fact], ...]:
    """Return the registered kinds that are of one of these classes."""
    return tuple(kind for kind in KINDS.values() if issubclass(kind, bases))


def invalidated_by(names: Iterable[str]) -> frozenset[Cached]:
    """Return what becomes stale with events of these kinds, by name; a kind that is not known invalidates all."""
    everything = frozenset(Cached)
    kinds = (KINDS.get(name) for name in names)
    return frozenset[Cached]().union(*(everything if kind is None else kind.invalidates for kind in kinds))


def parse_fact(name: str, payload: Mapping[str, Any]) -> Fact:
    """Rebuild a fact from its kind's name and its payload; what nobody here wrote is an error that says what to do."""
    kind = KINDS.get(name)
    if kind is None:
        remedy = f"is no kind of event known here ({', '.join(KINDS)}); if a newer crewlearn wrote it, update this one"
        raise InvalidInput("event", name, remedy)
    try:
        return kind.from_payload(payload)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, InvalidInput):  # which says itself what is wrong
            raise
        remedy = f"has a payload that cannot be read ({error!r}); see: crewlearn ledger verify, and restore a backup"
        raise InvalidInput("event", name, remedy) from error
