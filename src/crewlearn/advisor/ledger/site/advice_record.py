"""Recorded advice: the reasons for each proposal, and what changed since the first advice for the period.

The JSON form of these classes is part of stored states and of `advised` events, so it does not change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.problem.arrays import NOBODY


@dataclass(frozen=True)
class Believed:
    """A worker's estimate in the policy's units: days observed here, earlier observations, mean and sd.

    If the policy learns ramp-up, the estimate is of the level `after_ramp_up`. `ramp_up` has then the day and the days
    of ramp-up, unless it is over, and `trend` the change, since when, and the chance that it is real, if one shows.
    """

    days: int
    prior: int
    mean: float
    sd: float
    after_ramp_up: bool = False
    ramp_up: Mapping[str, int] | None = None
    trend: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as plain data, without what is not set."""
        added = {"after_ramp_up": self.after_ramp_up, "ramp_up": self.ramp_up, "trend": self.trend}
        plain = {"days": self.days, "mean": self.mean, "prior": self.prior, "sd": self.sd}
        return dict(sorted({**plain, **{name: value for name, value in added.items() if value}}.items()))


@dataclass(frozen=True)
class Reasons:
    """The reasons for a proposal at the time it was made; fees are money, at the value of a unit then.

    `leaver` is who makes room, -1 for an empty station. `break_even` is the fee above which it would not have been
    proposed, if the policy says so. `by` names the policy, and `policy` is its own explanation, in its own form. `cost`
    is the fee in the policy's units, recorded only under rules 1.
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
        """Return these reasons, which are complete."""
        return self


@dataclass(frozen=True)
class EarlyReasons:
    """Reasons as recorded under rules 1: estimates and a cost, in the policy's units.

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
        """Return complete reasons, filling what rules 1 left out from the site at the time."""
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
    """Rebuild the reasons of an `advised` event, under either version of the rules."""
    return Reasons.from_json(data) if "leaver" in data else EarlyReasons(**data)


_UNSEEN = Believed(0, 0, 0.0, 0.0)

NO_REASONS = Reasons(_UNSEEN, _UNSEEN, NOBODY, 0.5, 0, 0.0, 0.0, None, 1.0, "", None)
"""Replaces missing or corrupt reasons; no recorded proposal has these values."""


@dataclass(frozen=True)
class Cause:
    """A fact that may change the advice: its kind and, except for imports, its payload."""

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
    """The first advice for a period whose advice was derived again."""

    period: int
    kind: str
    proposals: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Describe the advice as plain data."""
        return {"period": self.period, "kind": self.kind, "proposals": list(self.proposals)}


@dataclass(frozen=True)
class StandingAdvice:
    """The current advice: its period and proposals, and what the policy waits for, in its own form.

    `before` is the first advice for the same period, if it was different, and `because` what happened in between.
    Period 0 means that there is no advice yet.
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
        """Return the advice as plain data; empty if there is none."""
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
        """Return the first advice for a period and what happened since; (None, ()) if this is for another period."""
        if self.period != period:
            return None, ()
        if self.before is not None:
            return self.before, self.because
        return FirstAdvice(self.period, self.kind, self.proposals), ()


NO_ADVICE = StandingAdvice(0, "", (), (), {}, None, ())
