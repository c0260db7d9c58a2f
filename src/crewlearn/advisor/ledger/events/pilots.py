"""Events of a pilot: it began with its plan sealed, a planned look was taken, it ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crewlearn.advisor.ledger.events.fact import Fact, FoldStep, Happening, Names, event_kind
from crewlearn.advisor.ledger.events.rows import RecordedRow
from crewlearn.advisor.ledger.pilots.assignment import assigned, digest_of
from crewlearn.advisor.ledger.pilots.sealed import RunningPilot, SealedPlan
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.site.advice_record import Cause
from crewlearn.language import _, localized, noted, plural


@event_kind("pilot-started")
@dataclass(frozen=True)
class PilotStarted(Happening):
    """A pilot was begun: `plan` is sealed by its `digest`, and `waves` is the assignment that follows from the `seed`.

    Each site that takes part has the same event, apart from `site`, its own name.
    """

    site: str
    plan: SealedPlan
    digest: str
    seed: str
    waves: tuple[int, ...]

    heading = noted("Pilot")
    invalidates = frozenset()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "PilotStarted":
        """Rebuild the fact from its wire form."""
        plan = SealedPlan.from_json(payload["plan"])
        return cls(payload["site"], plan, payload["digest"], payload["seed"], tuple(payload["waves"]))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return {**vars(self), "plan": self.plan.to_json(), "waves": list(self.waves)}

    def cause(self) -> Cause:
        """Return the cause, without details."""
        return Cause(self.type, {})

    def change(self, site: Site, step: FoldStep) -> None:
        """Begin the pilot; the policy is asked anew, as some stations are no longer advised on."""
        site.pilot = RunningPilot(self.plan, self.site, self.waves)
        site.revised = True

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        plan = self.plan
        days = _("from {date} to {date_2}", date=names.date(plan.steps[0]), date_2=names.date(plan.last))
        return _(
            "sealed and began a pilot {days}, with {groups} (plan {digest})",
            days=days,
            groups=plural("{n} group", "{n} groups", len(plan.groups)),
            digest=self.digest[:12],
        )

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the beginning."""
        return _("a pilot began")

    def fault(self, site: str, number: int, rows: Sequence[RecordedRow]) -> str | None:
        """Return a fault if the plan does not match its digest, or the assignment its seed."""
        if self.site != site:
            return _("the pilot of event {number} is that of site {site}", number=number, site=self.site)
        if digest_of(self.plan) != self.digest:
            return _("the plan of the pilot in event {number} is not the one that was sealed", number=number)
        if assigned(self.plan, self.seed) != self.waves:
            return _("the assignment of the pilot in event {number} does not follow from its seed", number=number)
        return None


@event_kind("pilot-looked")
@dataclass(frozen=True)
class PilotLooked(Fact):
    """A planned early look was taken: the data so far are strong enough to stop, or they are not.

    `p` is the p-value; the effect is not told unless the pilot may stop.
    """

    digest: str
    look: int
    p: float
    stop: bool

    heading = noted("Pilot")
    invalidates = frozenset()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "PilotLooked":
        """Rebuild the fact from its wire form."""
        return cls(payload["digest"], payload["look"], payload["p"], payload["stop"])

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        return dict(vars(self))

    def apply(self, site: Site, step: FoldStep) -> Site:
        """Count the look, and note whether the pilot may stop."""
        if site.pilot is not None:
            site.pilot = replace(site.pilot, looks=self.look, may_stop=self.stop)
        return site

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        outcome = _("the pilot may stop") if self.stop else _("the pilot goes on")
        return _("took planned look {look} at the pilot: {outcome}", look=self.look, outcome=outcome)


@event_kind("pilot-ended")
@dataclass(frozen=True)
class PilotEnded(Happening):
    """A pilot ended, with the `result` of its one analysis, or None if it was given up for a `reason`."""

    digest: str
    result: Mapping[str, Any] | None = None
    reason: str = ""

    heading = noted("Pilot")
    invalidates = frozenset()

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> "PilotEnded":
        """Rebuild the fact from its wire form."""
        return cls(payload["digest"], payload.get("result"), payload.get("reason", ""))

    def to_payload(self) -> dict[str, Any]:
        """Return the wire form."""
        plain: dict[str, Any] = {"digest": self.digest}
        if self.result is not None:
            plain["result"] = dict(self.result)
        return {**plain, "reason": self.reason} if self.reason else plain

    def cause(self) -> Cause:
        """Return the cause, without details."""
        return Cause(self.type, {})

    def change(self, site: Site, step: FoldStep) -> None:
        """End the pilot; every station is advised on again."""
        site.pilot = None
        site.revised = True

    def tell(self, names: Names) -> str:
        """Return what was done, in words."""
        if self.result is None:
            return _("gave the pilot up, without a result: {reason}", reason=self.reason)
        low, high = (self.result[name] for name in ("low", "high"))
        if low is None or high is None:
            return _("ended the pilot: its groups are too few to bound the gain")
        return _(
            "ended the pilot: the gain a station and day lies between {low} and {high}",
            low=localized(f"{low:+,.2f}"),
            high=localized(f"{high:+,.2f}"),
        )

    @classmethod
    def retell(cls, details: Mapping[str, Any], names: Names) -> str:
        """Describe the end."""
        return _("the pilot ended")
