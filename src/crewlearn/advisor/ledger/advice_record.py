"""Advice as it stands on record: what spoke for each proposal, and what led from the first advice to the present one.

The JSON form of these classes is part of stored states and of `advised` events, so it does not change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.problem.arrays import NOBODY


@dataclass(frozen=True)
class Believed:
    """What was believed of a worker, in the policy's units: days observed here and brought along, mean and sd."""

    days: int
    prior: int
    mean: float
    sd: float

    def to_json(self) -> dict[str, Any]:
        """Describe it as plain data."""
        return {"days": self.days, "mean": self.mean, "prior": self.prior, "sd": self.sd}


@dataclass(frozen=True)
class Reasons:
    """What spoke for a proposal when it was made; fees are money, the value of a unit is as it was then.

    `leaver` is who makes room, -1 for an empty station; `break_even` is the fee above which it would not have been
    proposed, if the policy says. `by` names the policy and `policy` is what it says of itself, in its own form. `cost`
    is the fee in the policy's units, which only advice under rules 1 has.
    """

    out: Believed
    into: Believed
    leaver: int
    chance_better: float
    periods_left: int
    mean_delay: float
    fee: float
    break_even: float | None
    value_per_unit: float
    by: str
    policy: Mapping[str, Any] | None
    cost: float | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Reasons":
        """Rebuild what `to_json` described."""
        return cls(**{**data, "out": Believed(**data["out"]), "into": Believed(**data["into"])})

    def to_json(self) -> dict[str, Any]:
        """Describe the reasons as plain data."""
        plain = {**vars(self), "out": self.out.to_json(), "into": self.into.to_json()}
        if self.cost is None:
            del plain["cost"]
        return dict(sorted(plain.items()))

    def completed(self, out: int, units: Units, policy: str) -> "Reasons":
        """Return the reasons in full, which these are."""
        return self


@dataclass(frozen=True)
class EarlyReasons:
    """Reasons as rules 1 recorded them: estimates and one cost, in the policy's units.

    `out` and `into` have days, mean and sd.
    """

    out: Mapping[str, Any]
    into: Mapping[str, Any]
    chance_better: float
    periods_left: int
    mean_delay: float
    cost: float
    policy: Mapping[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """Describe the reasons as plain data."""
        return dict(sorted(vars(self).items()))

    def completed(self, out: int, units: Units, policy: str) -> Reasons:
        """Return the reasons in full: what rules 1 left out is as it was at the site then."""
        return Reasons(
            out=Believed(**{"prior": 0, **self.out}),
            into=Believed(**{"prior": 0, **self.into}),
            leaver=out,
            chance_better=self.chance_better,
            periods_left=self.periods_left,
            mean_delay=self.mean_delay,
            fee=units.money(self.cost),
            break_even=None,
            value_per_unit=units.value_per_unit,
            by=policy,
            policy=self.policy,
            cost=self.cost,
        )


def reasons_from_json(data: Mapping[str, Any]) -> Reasons | EarlyReasons:
    """Rebuild the reasons of an `advised` event, of whichever rules."""
    return Reasons.from_json(data) if "leaver" in data else EarlyReasons(**data)


_UNSEEN = Believed(0, 0, 0.0, 0.0)

NO_REASONS = Reasons(_UNSEEN, _UNSEEN, NOBODY, 0.5, 0, 0.0, 0.0, None, 1.0, "", None)
"""Stands in where reasons are missing or somebody spoiled them; no proposal on record has these."""


@dataclass(frozen=True)
class Cause:
    """A fact that bears on the next advice: its kind and, except of imports, its payload."""

    type: str
    details: Mapping[str, Any]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Cause":
        """Rebuild what `to_json` described."""
        return cls(data["type"], {name: value for name, value in data.items() if name != "type"})

    def to_json(self) -> dict[str, Any]:
        """Describe the cause as plain data."""
        return {"type": self.type, **self.details}


@dataclass(frozen=True)
class FirstAdvice:
    """What was first advised for a period that was advised on again."""

    period: int
    kind: str
    proposals: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Describe the advice as plain data."""
        return {"period": self.period, "kind": self.kind, "proposals": list(self.proposals)}


@dataclass(frozen=True)
class StandingAdvice:
    """The advice that stands: for which period, which proposals, and what the policy waits for, in its own form.

    `before` is what was first advised for the same period, if that was another advice, and `because` what happened in
    between. Period 0 means that nothing was advised yet.
    """

    period: int
    kind: str
    proposals: tuple[int, ...]
    held_back: tuple[tuple[int, int], ...]
    waiting: Mapping[str, Any]
    before: FirstAdvice | None
    because: tuple[Cause, ...]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "StandingAdvice":
        """Rebuild what `to_json` described."""
        if not data:
            return NO_ADVICE
        before = data["before"]
        return cls(
            period=data["period"],
            kind=data["kind"],
            proposals=tuple(data["proposals"]),
            held_back=tuple((out, into) for out, into in data["held_back"]),
            waiting=data["waiting"],
            before=FirstAdvice(before["period"], before["kind"], tuple(before["proposals"])) if before else None,
            because=tuple(Cause.from_json(cause) for cause in data["because"]),
        )

    def to_json(self) -> dict[str, Any]:
        """Describe the advice as plain data; nothing if there is none."""
        if not self.period:
            return {}
        return {
            "period": self.period,
            "kind": self.kind,
            "proposals": list(self.proposals),
            "held_back": [list(pair) for pair in self.held_back],
            "waiting": self.waiting,
            "before": {} if self.before is None else self.before.to_json(),
            "because": [cause.to_json() for cause in self.because],
        }

    def first_for(self, period: int) -> tuple[FirstAdvice | None, tuple[Cause, ...]]:
        """Return what was first advised for a period and what happened since; nothing if this is no such advice."""
        if self.period != period:
            return None, ()
        if self.before is not None:
            return self.before, self.because
        return FirstAdvice(self.period, self.kind, self.proposals), ()


NO_ADVICE = StandingAdvice(0, "", (), (), {}, None, ())
