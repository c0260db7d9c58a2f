"""The event that records the advice for the coming period."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.events.fact import Fact, FoldStep, Names, event_kind
from crewlearn.advisor.ledger.learned.checkpoints import Checkpoint, thinned
from crewlearn.advisor.ledger.site import PROPOSED, WITHDRAWN, Proposal, Site
from crewlearn.advisor.ledger.site.advice_record import EarlyReasons, Reasons, StandingAdvice, reasons_from_json
from crewlearn.language import _, noted, plural
from crewlearn.policies.contract import Pair


@event_kind("advised")
@dataclass(frozen=True)
class Advised(Fact):
    """Advice for a period, derived from the facts before it.

    `pairs` are the replacements proposed, `held_back` those beyond the weekly limit, `reasons` the reasons for each
    pair. `waiting`, `memory` and `after` are the policy's own data: what it waits for, and its state before and after
    it was asked. `memory` is None if it is as the last advice left it, `after` if asking did not change it; rules 3 and
    earlier recorded both. `interviews` is their cost in money; None under rules 1, which did not charge it.

    `learned` is the digest of what a policy that learns by day has learned. Its state is stored apart, and `memory` and
    `after` are None.
    """

    period: int
    kind: str
    pairs: tuple[Pair, ...]
    held_back: tuple[Pair, ...]
    reasons: tuple[Reasons | EarlyReasons, ...]
    waiting: Mapping[str, Any]
    memory: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    interviews: float | None = None
    learned: str | None = None

    by_people = False
    heading = noted("Advice")
    invalidates = frozenset()
    internal = frozenset({"memory", "after", "learned"})

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "Advised":
        """Rebuild the fact from its wire form."""
        return cls(
            period=payload["period"],
            kind=payload["kind"],
            pairs=tuple((out, into) for out, into in payload["pairs"]),
            held_back=tuple((out, into) for out, into in payload["held_back"]),
            reasons=tuple(reasons_from_json(reasons) for reasons in payload["reasons"]),
            waiting=dict(payload["waiting"]),
            memory=_state(payload, "memory"),
            after=_state(payload, "after"),
            interviews=payload.get("interviews"),
            learned=payload.get("learned"),
        )

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain = {
            **vars(self),
            "pairs": [list(pair) for pair in self.pairs],
            "held_back": [list(pair) for pair in self.held_back],
            "reasons": [reasons.to_json() for reasons in self.reasons],
        }
        unset = [name for name in ("memory", "after", "interviews", "learned") if plain[name] is None]
        return {name: value for name, value in plain.items() if name not in unset}

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Apply the advice: unchanged proposals keep their number, others are withdrawn or created."""
        standing = {(proposal.out, proposal.into): proposal.id for proposal in site.open_proposals(PROPOSED)}
        for pair, number in standing.items():
            if pair not in self.pairs:
                site.set_proposal(number, status=WITHDRAWN)
        ids = []
        for (out, into), reasons in zip(self.pairs, self.reasons, strict=True):
            number = standing.get((out, into), site.next_proposal)
            site.next_proposal += number == site.next_proposal
            why = reasons.completed(out, site.config.units, site.config.policy)
            site.proposals[number] = Proposal(number, site.period, out, into, why=why)
            ids.append(number)
        site.held_back = list(self.held_back)
        self._remember(site, step.number)
        site.decided, site.changed, site.revised = site.period, False, False
        site.completed, site.failed = [], []
        site.interviews += self.interviews or 0.0
        site.fees += self.interviews or 0.0
        first, because = site.advice.first_for(site.period)
        site.advice = StandingAdvice(
            period=self.period,
            kind=self.kind,
            proposals=tuple(ids),
            held_back=self.held_back,
            waiting=self.waiting,
            before=first,
            because=(*because, *site.because),
        )
        site.because = []
        return site

    def _remember(self, site: Site, number: int) -> None:
        """Set the policy's memory; what it has learned by day becomes a checkpoint, from the first recorded day on."""
        if self.learned is None:
            memory = site.after if self.memory is None else dict(self.memory)
            site.memory, site.after = memory, memory if self.after is None else dict(self.after)
            return
        site.memory, site.after = {"learned": self.learned}, None
        calendar = site.config.calendar
        last = calendar.order_of(self.period) - 1
        if last >= calendar.first_order and (not site.checkpoints or site.checkpoints[-1].digest != self.learned):
            period = calendar.period_at(last)
            site.forget_from(period)
            checkpoints = [*site.checkpoints, Checkpoint(period, number, self.learned)]
            site.checkpoints = thinned(checkpoints, calendar.order_of)

    def tell(self, names: Names) -> str:
        """Return what was advised, in words."""
        advice = plural("{n} replacement", "{n} replacements", len(self.pairs)) if self.pairs else _("wait")
        return _("Advice for {period}: {advice}", period=names.day(self.period), advice=advice)

    def told(self, actor: str, names: Names) -> str:
        """Return what was advised; who recorded what led to it is told there."""
        return self.tell(names)


def _state(payload: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    return dict(payload[name]) if name in payload else None
