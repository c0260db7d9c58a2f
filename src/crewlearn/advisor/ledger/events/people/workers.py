"""Events about workers: an import, a change, an erasure."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from crewlearn.advisor.ledger.events.advice.offers import release
from crewlearn.advisor.ledger.events.fact import Cached, FoldStep, Happening, Names, Subject, event_kind
from crewlearn.advisor.ledger.events.output.learning import in_order, sum_again
from crewlearn.advisor.ledger.events.rows import observation
from crewlearn.advisor.ledger.site import LEFT, POOL, Site, Worker
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.beliefs.estimates import grown
from crewlearn.language import _, localized
from crewlearn.problem.roster import Roster

Commitments = tuple[tuple[int, str], ...]
"""Workers' numbers, each with a hash that binds it to who they are; see `ledger.identities`."""


class WorkerFacts(TypedDict, total=False):
    """The facts recorded about a worker; missing keys are unchanged."""

    status: str
    pinned: bool
    fee: float | None
    prior_n: int
    prior_mean: float
    prior_given: float | None
    interview: float | None


def worker_facts(plain: Mapping[str, Any]) -> WorkerFacts:
    """Return plain data as facts about a worker; refuse unknown keys."""
    unknown = plain.keys() - WorkerFacts.__annotations__.keys()
    if unknown:
        raise TypeError(f"a worker has no {', '.join(sorted(unknown))}")
    return cast(WorkerFacts, dict(plain))


_NEWCOMER = {"status", "fee", "prior_n", "prior_mean", "interview"}

_LEARNED_FROM = {"prior_n", "prior_mean", "interview"}
"""The facts that a policy that learns by day starts from."""


@dataclass(frozen=True)
class WorkerUpdate:
    """What an import changes for one worker, by number; `active` seats them in the first team."""

    worker: int
    facts: WorkerFacts
    active: bool = False

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "WorkerUpdate":
        """Rebuild the update from its wire form."""
        facts = {name: value for name, value in payload.items() if name not in ("worker", "active")}
        return cls(payload["worker"], worker_facts(facts), bool(payload.get("active")))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain = {"worker": self.worker, **self.facts}
        return {**plain, "active": True} if self.active else plain

    @property
    def is_newcomer(self) -> bool:
        """Whether it has all the facts of a newcomer."""
        return self.facts.keys() >= _NEWCOMER


class StaffFact(Happening):
    """A fact about workers, which may cancel the hires of those who left."""

    @abstractmethod
    def leavers(self) -> Collection[int]:
        """Return the workers who left."""


@event_kind("workers-imported")
@dataclass(frozen=True)
class WorkersImported(StaffFact):
    """An import of workers: the file's digest, newcomers, changes to others, and whose name changed.

    Names are stored apart from the record, which has commitments to those of newcomers and of the renamed. The oldest
    records lack who was renamed, and older ones the commitments.
    """

    digest: str
    workers: tuple[WorkerUpdate, ...]
    renamed: tuple[int, ...] | None = ()
    commitments: Commitments = ()

    internal = frozenset({"identities"})
    invalidates = frozenset({Cached.PAST, Cached.PEOPLE})

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "WorkersImported":
        """Rebuild the fact from its wire form."""
        renamed = payload.get("renamed")
        workers = tuple(WorkerUpdate.from_payload(update) for update in payload["workers"])
        commitments = tuple((worker, digest) for worker, digest in payload.get("identities", ()))
        return cls(payload["digest"], workers, None if renamed is None else tuple(renamed), commitments)

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"digest": self.digest, "workers": [update.to_payload() for update in self.workers]}
        renamed = {} if self.renamed is None else {"renamed": list(self.renamed)}
        return {**plain, **renamed, **({"identities": list(map(list, self.commitments))} if self.commitments else {})}

    def cause(self) -> Cause:
        """Return the cause, without details, which would be too many."""
        return Cause(self.type, {})

    def change(self, site: Site, step: FoldStep) -> None:
        """Add newcomers and apply changes; seat the first team if nobody is seated yet."""
        known = len(site.workers)
        for update in self.workers:
            if update.worker == len(site.workers):
                site.workers.append(Worker(**update.facts))
            else:
                site.set_worker(update.worker, **update.facts)
        count = len(site.workers)
        site.roster, site.estimates = site.roster.grown(count), grown(site.estimates, count)
        for update in self.workers:
            if update.worker >= known:
                sum_again(site, update.worker, ())
            elif "prior_n" in update.facts:
                rows = in_order(site, step.history(update.worker))
                sum_again(site, update.worker, ((row, observation(site.config.units, row)) for row in rows))
        if count > known:
            site.enrolled = [*(pair for pair in site.enrolled if pair[0] < site.period), (site.period, count)]
        if any(update.worker < known and _LEARNED_FROM & update.facts.keys() for update in self.workers):
            site.checkpoints = []
        seated = [update.worker for update in self.workers if update.active]
        if seated:
            site.roster = Roster.start(count, seated, site.config.team)
            site.first_team = list(seated)
            for number in seated:
                site.set_worker(number, since=site.period)
        for update in self.workers:
            if site.workers[update.worker].status == LEFT:
                release(site, update.worker)
        site.revised = site.revised or bool(self.workers)  # a new name alone does not affect the policy

    def statuses(self) -> Mapping[int, str]:
        """Return the statuses that the file gives, by worker."""
        return {update.worker: update.facts["status"] for update in self.workers if "status" in update.facts}

    def leavers(self) -> Collection[int]:
        """Return the workers who left according to the file."""
        return [update.worker for update in self.workers if update.facts.get("status") == LEFT]

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        joined = sum(update.is_newcomer for update in self.workers)
        changed = {update.worker for update in self.workers} | set(self.renamed or ())
        return _(
            "imported workers: {joined} joined, {changed} changed",
            joined=localized(f"{joined:,}"),
            changed=localized(f"{len(changed) - joined:,}"),
        )

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the import."""
        return _("the list of workers changed")


@event_kind("worker-changed")
@dataclass(frozen=True)
class WorkerChanged(StaffFact):
    """A worker left, returned, was blocked, was pinned or has another fee."""

    worker: int
    changes: WorkerFacts

    undoable = True

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "WorkerChanged":
        """Rebuild the fact from its wire form."""
        return cls(payload["worker"], worker_facts(payload["changes"]))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"worker": self.worker, "changes": dict(self.changes)}

    @property
    def subject(self) -> Subject:
        """The worker."""
        return Subject(worker=self.worker)

    def change(self, site: Site, step: FoldStep) -> None:
        """Change the worker; one who left vacates their station."""
        site.set_worker(self.worker, **self.changes)
        lifted = [kind for name, kind in (("pinned", "protected"), ("status", "blocked")) if name in self.changes]
        site.remarks = site.remarks.without(self.worker, *lifted)
        if self.changes.get("status") == LEFT:
            release(site, self.worker)
        site.revised = True

    def statuses(self) -> Mapping[int, str]:
        """Return the worker's new status, if it changed."""
        return {self.worker: self.changes["status"]} if "status" in self.changes else {}

    def leavers(self) -> Collection[int]:
        """Return the worker, if they left."""
        return [self.worker] if self.changes.get("status") == LEFT else []

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        if self.changes == {"status": LEFT}:
            return _("recorded that {person} left", person=names.person(self.worker))
        changed = ", ".join(_change(name, value) for name, value in self.changes.items())
        return _("recorded that {person} {changed}", person=names.person(self.worker), changed=changed)

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return who changed."""
        return _("{person} changed", person=names.person(details["worker"]))

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name what was taken back."""
        assert subject.worker is not None
        return _("what was last said of {person}", person=names.person(subject.worker))


def _change(name: str, value: Any) -> str:
    if name == "status":
        return {POOL: _("is in the pool"), LEFT: _("left")}.get(value) or _("is {status}", status=_(value))
    if name == "pinned":
        return _("is pinned") if value else _("is no longer pinned")
    if name == "fee":
        return _("costs the site's fee") if value is None else _("costs a fee of {fee}", fee=localized(f"{value:,.2f}"))
    return _("has another {setting}", setting=name.replace("_", " "))


@event_kind("worker-erased")
@dataclass(frozen=True)
class WorkerErased(StaffFact):
    """A person was erased: their number stays on record, with status left."""

    worker: int

    invalidates = frozenset(Cached)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "WorkerErased":
        """Rebuild the fact from its wire form."""
        return cls(payload["worker"])

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {"worker": self.worker}

    @property
    def erased(self) -> Collection[int]:
        """The person's number."""
        return (self.worker,)

    def change(self, site: Site, step: FoldStep) -> None:
        """Mark the worker as left."""
        site.set_worker(self.worker, status=LEFT, pinned=False)
        site.remarks = site.remarks.without(self.worker, "protected", "blocked", "notes")
        release(site, self.worker)
        site.revised = True

    def leavers(self) -> Collection[int]:
        """Return the worker."""
        return [self.worker]

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        return _("erased worker {worker}", worker=self.worker)

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the erasure."""
        return _("a worker was erased")
