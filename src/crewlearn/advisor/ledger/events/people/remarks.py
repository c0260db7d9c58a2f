"""Events about what people said of workers: whom to keep or block until a day, and notes."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Self

from crewlearn.advisor.ledger.events.fact import Fact, FoldStep, Happening, Names, Subject, event_kind
from crewlearn.advisor.ledger.site import BLOCKED, POOL, Site
from crewlearn.advisor.ledger.site.remarks import Remark
from crewlearn.language import _, noted


class WorkerHold(Happening):
    """A worker is kept or blocked until a day (None: until it is lifted), for a reason."""

    worker: int
    until: date | None
    reason: str

    undoable = True
    verb: ClassVar[str]
    """What is said of the worker, such as `is pinned`."""

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Rebuild the fact from its wire form."""
        parts = {"worker": payload["worker"], "until": day_in(payload), "reason": payload.get("reason", "")}
        return cls(**parts)

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"worker": self.worker, **ending(self.until), **({"reason": self.reason} if self.reason else {})}

    @property
    def subject(self) -> Subject:
        """The worker."""
        return Subject(worker=self.worker)

    def change(self, site: Site, step: FoldStep) -> None:
        """Note the hold; the policy is asked anew."""
        self.hold(site, Remark(self.reason, step.actor, step.at, self.until))
        site.revised = True

    @abstractmethod
    def hold(self, site: Site, remark: Remark) -> None:
        """Keep or block the worker."""

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        reason = f": {self.reason}" if self.reason else ""
        return _(
            "recorded that {person} {verb}{until_words}{reason}",
            person=names.person(self.worker),
            verb=_(self.verb),
            until_words=until_words(self.until, names),
            reason=reason,
        )

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return who is kept or blocked."""
        return f"{names.person(details['worker'])} {_(cls.verb)}"

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name what was taken back."""
        assert subject.worker is not None
        return _("that {person} {verb}", person=names.person(subject.worker), verb=_(cls.verb))


@event_kind("worker-protected")
@dataclass(frozen=True)
class WorkerProtected(WorkerHold):
    """A worker is not to be replaced until a day, or until they are unpinned."""

    worker: int
    until: date | None = None
    reason: str = ""

    verb = noted("is pinned")

    def hold(self, site: Site, remark: Remark) -> None:
        """Keep the worker."""
        protect(site, self.worker, remark)


@event_kind("worker-blocked")
@dataclass(frozen=True)
class WorkerBlocked(WorkerHold):
    """A worker is not to be brought in until a day, or until they are unblocked."""

    worker: int
    until: date | None = None
    reason: str = ""

    verb = noted("is blocked")

    def hold(self, site: Site, remark: Remark) -> None:
        """Block the worker."""
        block(site, self.worker, remark)


@event_kind("note-added")
@dataclass(frozen=True)
class NoteAdded(Fact):
    """Somebody wrote a note on a worker, which may end on a day; advice does not depend on it."""

    worker: int
    text: str
    until: date | None = None

    invalidates = frozenset()
    heading = noted("Notes")

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "NoteAdded":
        """Rebuild the fact from its wire form."""
        return cls(payload["worker"], payload["text"], day_in(payload))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"worker": self.worker, "text": self.text, **ending(self.until)}

    @property
    def subject(self) -> Subject:
        """The worker."""
        return Subject(worker=self.worker)

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Return the site with the note; the last answer can still be undone."""
        note = Remark(self.text, step.actor, step.at, self.until)
        site.remarks = site.remarks.noting(self.worker, note, site.day)
        return site

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        return _(
            "noted on {person}{until_words}: {text}",
            person=names.person(self.worker),
            until_words=until_words(self.until, names),
            text=self.text,
        )


def protect(site: Site, worker: int, remark: Remark) -> None:
    """Keep a worker until a day, or pin them if there is no end."""
    site.remarks = site.remarks.protecting(worker, remark)
    site.set_worker(worker, pinned=remark.until is None)


def block(site: Site, worker: int, remark: Remark) -> None:
    """Block a worker until a day, or by their status if there is no end; one who left stays so."""
    site.remarks = site.remarks.blocking(worker, remark)
    if site.workers[worker].status in (POOL, BLOCKED):
        site.set_worker(worker, status=BLOCKED if remark.until is None else POOL)


def day_in(payload: Mapping[str, Any]) -> date | None:
    """Return the day on which something ends, or None."""
    return date.fromisoformat(payload["until"]) if "until" in payload else None


def ending(until: date | None) -> dict[str, str]:
    """Return the wire form of an end; nothing if there is none."""
    return {} if until is None else {"until": until.isoformat()}


def until_words(until: date | None, names: Names) -> str:
    """Return the end in words, to follow a verb; empty if there is none."""
    return "" if until is None else _(" until {date}", date=names.date(until))
