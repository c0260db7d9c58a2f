"""The event that undoes the last answer, the last answers given together, or the last change to a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crewlearn.advisor.ledger.events.fact import KINDS, NO_SUBJECT, Fact, FoldStep, Names, Stints, Subject, event_kind
from crewlearn.advisor.ledger.site import WITHDRAWN, Site
from crewlearn.advisor.ledger.team.stints import Change, Seat, changes
from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput


@event_kind("undone")
@dataclass(frozen=True)
class AnswerUndone(Fact):
    """Event `number` was undone; `undone` is its kind and `about` its subject, if the record has them.

    `since` is the first of several answers given together, which were all undone.
    """

    number: int
    undone: str | None = None
    about: Subject = NO_SUBJECT
    since: int | None = None

    @property
    def numbers(self) -> range:
        """The numbers of the events that were undone."""
        return range(self.since or self.number, self.number + 1)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "AnswerUndone":
        """Rebuild the fact from its wire form."""
        about = Subject(payload.get("proposal"), payload.get("outcome"), payload.get("worker"))
        return cls(payload["number"], payload.get("type"), about, payload.get("since"))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"number": self.number, **self.about.to_payload()}
        added = {"type": self.undone, "since": self.since}
        return plain | {name: value for name, value in added.items() if value is not None}

    @property
    def subject(self) -> Subject:
        """The subject of the event that was undone."""
        return self.about

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Return the site as it was before the answer; proposals made since are kept as withdrawn."""
        slip = site.undo
        if slip is None or slip.number != self.number:
            raise InvalidInput("undo", self.number, _("is not the last answer given; only that can be taken back"))
        written_if_set = ("remarks", "first_approvals")
        now = {name: value for name, value in site.to_json().items() if name not in written_if_set}
        earlier = Site.from_json({**now, **slip.before, "undo": None})
        earlier.remarks = replace(earlier.remarks, notes=site.remarks.notes)  # a note is not undone with an answer
        for number, worker in slip.workers.items():
            earlier.workers[number] = worker
        for proposal in site.proposals.values():
            if proposal.id not in earlier.proposals:
                earlier.proposals[proposal.id] = replace(proposal, status=WITHDRAWN)
        kept = set(site.checkpoints)  # what the answer made stale was deleted, and is learned again when it is needed
        earlier.checkpoints = [checkpoint for checkpoint in earlier.checkpoints if checkpoint in kept]
        return earlier

    def stint_changes(self, stints: Stints, seats: Sequence[Seat], site: Site) -> list[Change]:
        """Return how stints change: those that the answer began are removed, and those that it ended continue."""
        return list(changes(seats, site, undone=True))

    def tell(self, names: Names) -> str:
        """Return what was taken back, in words."""
        kind = KINDS.get(self.undone or "")
        slip = "" if kind is None else kind.slip(self.about, names)
        several = (
            _("{numbers} answers given together, the last ", numbers=len(self.numbers))
            if self.since is not None
            else ""
        )
        return _("took back {several}{answer}", several=several, answer=slip or _("event {number}", number=self.number))
