"""The event that turns a proposal down as one of three things, none of which punishes the other of the pair."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from crewlearn.advisor.ledger.events.advice.answers import Refusal
from crewlearn.advisor.ledger.events.fact import FoldStep, Names, event_kind
from crewlearn.advisor.ledger.events.people.remarks import block, day_in, ending, protect, until_words
from crewlearn.advisor.ledger.site import REJECTED, Site
from crewlearn.advisor.ledger.site.remarks import Remark
from crewlearn.language import _, noted
from crewlearn.problem.arrays import NOBODY
from crewlearn.problem.errors import one_of

KEEP, NOT_CANDIDATE, NOT_NOW = "keep", "not-candidate", "not-now"
"""Keep who would leave; another candidate; neither now nor for a while."""

REFUSALS = (KEEP, NOT_CANDIDATE, NOT_NOW)

_WORDS = {KEEP: noted("keep the person"), NOT_CANDIDATE: noted("not this candidate"), NOT_NOW: noted("not now")}


@event_kind("proposal-turned-down")
@dataclass(frozen=True)
class ProposalTurnedDown(Refusal):
    """A proposal was turned down, with a reason for the record.

    `how` says as what. With `keep`, who would leave is kept until a day; the candidate stays available. With
    `not-candidate`, the candidate is blocked until a day; who would leave may be replaced by others. No day means no
    end. With `not-now`, the same exchange is not proposed for `ask_again_after` periods.
    """

    proposal: int
    how: str
    until: date | None = None
    reason: str = ""

    heading = noted("Rejections, by kind")

    def __post_init__(self) -> None:
        one_of("as", self.how, REFUSALS)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "ProposalTurnedDown":
        """Rebuild the fact from its wire form."""
        return cls(payload["proposal"], payload["as"], day_in(payload), payload.get("reason", ""))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain = {"proposal": self.proposal, "as": self.how, **ending(self.until)}
        return {**plain, "reason": self.reason} if self.reason else plain

    def change(self, site: Site, step: FoldStep) -> None:
        """Reject the proposal, and keep, block or set aside what the answer names."""
        proposal = site.set_proposal(self.proposal, status=REJECTED, reason=self.reason, decided_in=site.period)
        remark = Remark(self.reason, step.actor, step.at, self.until)
        pair = (proposal.out, proposal.into)
        if self.how == KEEP:
            protect(site, leaving(proposal.out, proposal.why.leaver), remark)
        elif self.how == NOT_CANDIDATE:
            block(site, proposal.into, remark)
        else:
            end = site.period + site.config.ask_again_after
            site.remarks = site.remarks.setting_aside(pair, end, site.period)
        site.failed.append(pair)
        site.changed = site.revised = True

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        reason = f": {self.reason}" if self.reason else ""
        return _(
            "rejected proposal {proposal}{exchange}, {words}{until_words}{reason}",
            proposal=self.proposal,
            exchange=names.exchange(self.proposal),
            words=_(_WORDS[self.how]),
            until_words=until_words(self.until, names),
            reason=reason,
        )

    def reply(self) -> str:
        """Return the answer in a few words."""
        return _("rejected it ({words})", words=_(_WORDS[self.how]))

    def full_reply(self, outcomes: Mapping[str, str]) -> str:
        """Return the answer in full."""
        until = "" if self.until is None else _(" until {until}", until=self.until)
        reason = f": {self.reason}" if self.reason else ""
        return _("rejected it, {words}{until}{reason}", words=_(_WORDS[self.how]), until=until, reason=reason)

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Return who was rejected, and as what."""
        who = names.incoming(details["proposal"])
        return (
            ""
            if who is None
            else _("the proposal of {who} was rejected ({words})", who=who, words=_(_WORDS[details["as"]]))
        )


def leaving(out: int, leaver: int) -> int:
    """Return who would leave: the worker named or, for a hire settled on arrival, who would make room now."""
    return leaver if out == NOBODY else out
