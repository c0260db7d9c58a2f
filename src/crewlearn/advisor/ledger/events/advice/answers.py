"""Events that answer a proposal: approval, rejection, and the outcome of its offer."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from crewlearn.advisor.ledger.events.advice.offers import bar, fail, seat_in_advice, start
from crewlearn.advisor.ledger.events.fact import FoldStep, Happening, Names, Subject, event_kind
from crewlearn.advisor.ledger.site import (
    ACCEPTED,
    APPROVED,
    BLOCKED,
    FAILURES,
    OFFERED,
    REJECTED,
    STARTED,
    FirstApproval,
    Site,
)
from crewlearn.advisor.ledger.site.advice_record import Cause, Reasons
from crewlearn.language import _, noted
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import one_of

OUTCOMES = (OFFERED, ACCEPTED, STARTED, *FAILURES)
"""The possible outcomes of an offer."""


@dataclass(frozen=True)
class AnswerTrail:
    """Who answered a proposal and when (UTC), when it was offered and accepted, and how and when it was settled.

    `first_approved_by` is who approved it before somebody else did, where two people approve.
    """

    answered_by: str | None = None
    answered_at: str | None = None
    offered_at: str | None = None
    accepted_at: str | None = None
    outcome: str | None = None
    settled_by: str | None = None
    settled_at: str | None = None
    settled_in: int | None = None
    first_approved_by: str | None = None
    first_approved_at: str | None = None

    def settled(self, outcome: str, actor: str, at: str, period: int | None = None) -> "AnswerTrail":
        """Return the trail with the proposal settled."""
        return replace(self, outcome=outcome, settled_by=actor, settled_at=at, settled_in=period)


class ProposalAnswer(Happening):
    """An answer to a proposal, by its number."""

    proposal: int

    undoable = True

    @property
    def subject(self) -> Subject:
        """The proposal."""
        return Subject(proposal=self.proposal)

    @abstractmethod
    def reply(self) -> str:
        """Return the answer in a few words, which refer to the proposal as `it`."""

    @abstractmethod
    def full_reply(self, outcomes: Mapping[str, str]) -> str:
        """Return the answer with its reason; `outcomes` has the words for an offer's outcome."""

    @abstractmethod
    def traced(self, trail: AnswerTrail, actor: str, at: str) -> AnswerTrail:
        """Return the trail of the proposal after this answer."""


@event_kind("proposal-approved")
@dataclass(frozen=True)
class ProposalApproved(ProposalAnswer):
    """A proposal was approved; `out` is who makes room, possibly chosen by the person, -1 for an empty station.

    `into` is who comes in instead of the worker proposed, if the person chose somebody else, and `why` are the numbers
    behind that exchange.
    """

    proposal: int
    out: int
    into: int | None = None
    why: Reasons | None = None

    heading = noted("Approvals")

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "ProposalApproved":
        """Rebuild the fact from its wire form."""
        why = payload.get("why")
        reasons = None if why is None else Reasons.from_json(why)
        return cls(payload["proposal"], payload["out"], payload.get("into"), reasons)

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"proposal": self.proposal, "out": self.out}
        if self.into is not None:
            plain["into"] = self.into
        return plain if self.why is None else {**plain, "why": self.why.to_json()}

    def cause(self) -> Cause:
        """Return the cause, without the numbers."""
        plain = self.to_payload()
        return Cause(self.type, {name: plain[name] for name in sorted(plain) if name != "why"})

    def change(self, site: Site, step: FoldStep) -> None:
        """Begin the replacement at the current fee, which later changes do not affect."""
        if self.into is not None:
            self._choose(site)
        into = site.proposals[self.proposal].into
        site.roster.initiate(self.out, into, site.period)
        fee = site.fee_of(into)
        due = site.config.fee_due == "initiation"
        if due:
            site.fees += fee
        paid_in = site.period if due else 0
        site.set_proposal(
            self.proposal, status=APPROVED, out=self.out, decided_in=site.period, fee=fee, paid_in=paid_in
        )

    def _choose(self, site: Site) -> None:
        """Bring in the chosen worker; the policy is told that its own exchange failed, and asked again.

        The worker who was proposed stays available.
        """
        assert self.into is not None
        proposal = site.proposals[self.proposal]
        site.failed.append((proposal.out, proposal.into))
        site.set_proposal(self.proposal, into=self.into, why=proposal.why if self.why is None else self.why)
        site.changed = True

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        chosen = "" if self.into is None else _(", with a candidate of their own choice")
        return _(
            "approved proposal {proposal}{exchange}{chosen}",
            proposal=self.proposal,
            exchange=names.exchange(self.proposal),
            chosen=chosen,
        )

    def reply(self) -> str:
        """Return the answer in a few words."""
        return _("approved it") if self.into is None else _("approved it with another candidate")

    def full_reply(self, outcomes: Mapping[str, str]) -> str:
        """Return the answer in full."""
        return self.reply()

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return who was approved."""
        return about_incoming(details, names, _("was approved"))

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name what was taken back."""
        return _("the approval of {proposal_words}", proposal_words=proposal_words(subject, names))

    def traced(self, trail: AnswerTrail, actor: str, at: str) -> AnswerTrail:
        """Return the trail of the proposal after this answer."""
        return replace(trail, answered_by=actor, answered_at=at)


@event_kind("proposal-approved-first")
@dataclass(frozen=True)
class ProposalApprovedFirst(ProposalAnswer):
    """The first of two approvals, of the exchange with `out` and `into`: it starts nothing, and the advice stands."""

    proposal: int
    out: int
    into: int

    heading = noted("First approvals")
    is_cause = False
    invalidates = frozenset()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "ProposalApprovedFirst":
        """Rebuild the fact from its wire form."""
        return cls(payload["proposal"], payload["out"], payload["into"])

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return dict(vars(self))

    def change(self, site: Site, step: FoldStep) -> None:
        """Note who approved what; it takes the place of an earlier first approval."""
        site.approve_first(self.proposal, FirstApproval(step.actor, step.at, self.out, self.into))

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        return _(
            "approved proposal {proposal}{exchange} first; a second approval is needed",
            proposal=self.proposal,
            exchange=names.exchange(self.proposal),
        )

    def reply(self) -> str:
        """Return the answer in a few words."""
        return _("approved it first")

    def full_reply(self, outcomes: Mapping[str, str]) -> str:
        """Return the answer in full."""
        return self.reply()

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name what was taken back."""
        return _("the first approval of {proposal_words}", proposal_words=proposal_words(subject, names))

    def traced(self, trail: AnswerTrail, actor: str, at: str) -> AnswerTrail:
        """Return the trail of the proposal after this answer."""
        return replace(trail, first_approved_by=actor, first_approved_at=at)


class Refusal(ProposalAnswer):
    """A proposal was not approved."""

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name what was taken back."""
        return _("the rejection of {proposal_words}", proposal_words=proposal_words(subject, names))

    def traced(self, trail: AnswerTrail, actor: str, at: str) -> AnswerTrail:
        """Return the trail of the proposal after this answer."""
        return replace(trail, answered_by=actor, answered_at=at).settled("rejected", actor, at)


@event_kind("proposal-rejected")
@dataclass(frozen=True)
class ProposalRejected(Refusal):
    """A proposal was rejected, with a reason for the record; `keep_out` blocks its incoming worker permanently."""

    proposal: int
    reason: str
    keep_out: bool = False

    heading = noted("Rejections")

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "ProposalRejected":
        """Rebuild the fact from its wire form."""
        return cls(payload["proposal"], payload["reason"], bool(payload.get("keep_out")))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"proposal": self.proposal, "reason": self.reason}
        return {**plain, "keep_out": True} if self.keep_out else plain

    def change(self, site: Site, step: FoldStep) -> None:
        """Reject the proposal; its incoming worker is not proposed again for a while, or is blocked."""
        proposal = site.set_proposal(self.proposal, status=REJECTED, reason=self.reason, decided_in=site.period)
        bar(site, proposal.into)
        if self.keep_out:
            site.set_worker(proposal.into, status=BLOCKED)
            site.revised = True
        site.failed.append((proposal.out, proposal.into))
        site.changed = True

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        reason = f": {self.reason}" if self.reason else ""
        kept = _(", for good") if self.keep_out else ""
        return _(
            "rejected proposal {proposal}{exchange}{kept}{reason}",
            proposal=self.proposal,
            exchange=names.exchange(self.proposal),
            kept=kept,
            reason=reason,
        )

    def reply(self) -> str:
        """Return the answer in a few words."""
        return _("rejected it")

    def full_reply(self, outcomes: Mapping[str, str]) -> str:
        """Return the answer in full."""
        return _("rejected it: {reason}", reason=self.reason) if self.reason else _("rejected it")

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return who was rejected."""
        return about_incoming(details, names, _("was rejected"))


@event_kind("offer-recorded")
@dataclass(frozen=True)
class OfferRecorded(ProposalAnswer):
    """The outcome of an offer, and its period; on a start, `leaver` made room, -1 for an empty station."""

    proposal: int
    outcome: str
    period: int
    leaver: int | None = None

    heading = noted("Offers")

    def __post_init__(self) -> None:
        one_of("outcome", self.outcome, OUTCOMES)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "OfferRecorded":
        """Rebuild the fact from its wire form."""
        return cls(payload["proposal"], payload["outcome"], payload["period"], payload.get("leaver"))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def subject(self) -> Subject:
        """The proposal, and the outcome of its offer."""
        return Subject(proposal=self.proposal, outcome=self.outcome)

    def change(self, site: Site, step: FoldStep) -> None:
        """Apply the outcome of the offer."""
        proposal = site.proposals[self.proposal]
        if self.outcome in (OFFERED, ACCEPTED):
            site.set_proposal(proposal.id, status=self.outcome)
            return
        site.forget_from(self.period)
        if self.outcome in FAILURES:
            fail(site, proposal, self.outcome, self.period)
            if self.outcome != "cancelled":
                bar(site, proposal.into)
            site.changed = True
        else:
            self._start(site)

    def _start(self, site: Site) -> None:
        """Seat the incoming worker; a fee that is due at completion is paid."""
        assert self.leaver is not None
        proposal = site.proposals[self.proposal]
        site.roster.complete(proposal.into, self.leaver)
        if self.leaver == NOBODY and site.pilot is not None:
            seat_in_advice(site, proposal.into)
        start(site, proposal, self.leaver, self.period)
        site.set_worker(proposal.into, since=self.period)
        if self.leaver != NOBODY:
            site.set_worker(self.leaver, since=0)

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        return _(
            "recorded proposal {proposal}{exchange} as {outcome}",
            proposal=self.proposal,
            exchange=names.exchange(self.proposal),
            outcome=_(self.outcome),
        )

    def reply(self) -> str:
        """Return the answer in a few words."""
        return _("recorded it as {outcome}", outcome=_(self.outcome))

    def full_reply(self, outcomes: Mapping[str, str]) -> str:
        """Return the answer in full."""
        return _("recorded: {outcomes}", outcomes=outcomes[self.outcome])

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return the outcome of the offer."""
        outcome: str = details["outcome"]
        return about_incoming(details, names, _("is {outcome}", outcome=_(outcome)))

    @classmethod
    def slip(cls, subject: Subject, names: Names) -> str:
        """Name what was taken back."""
        return _(
            "that {proposal_words} is {outcome}",
            proposal_words=proposal_words(subject, names),
            outcome="" if subject.outcome is None else _(subject.outcome),
        )

    def traced(self, trail: AnswerTrail, actor: str, at: str) -> AnswerTrail:
        """Return the trail of the proposal after this answer."""
        if self.outcome == OFFERED:
            return replace(trail, offered_at=at)
        if self.outcome == ACCEPTED:
            return replace(trail, accepted_at=at)
        return trail.settled(self.outcome, actor, at, self.period)


def proposal_words(subject: Subject, names: Names) -> str:
    """Name a proposal, and the two people."""
    number = subject.proposal or 0
    return _("proposal {number}{exchange}", number=number, exchange=names.exchange(number))


def about_incoming(details: Mapping[str, Any], names: Names, verb: str) -> str:
    """Return what happened to the incoming worker; empty if the proposal is no longer known."""
    who = names.incoming(details["proposal"])
    return "" if who is None else f"{who} {verb}"
