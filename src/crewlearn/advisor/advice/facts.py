"""The reasons for a proposal in the site's units: output as it is recorded, fees and gains in money."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from crewlearn.advisor.advice.readings import PeopleTrend, RampUp, people_trend
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, REJECTED, WITHDRAWN, Proposal, Site
from crewlearn.advisor.ledger.site.advice_record import Believed
from crewlearn.beliefs.posterior import TWO_SIDED_95
from crewlearn.policies.explanations import Trend
from crewlearn.problem.arrays import NOBODY

SURE = TWO_SIDED_95
"""Half-width, in standard deviations, of the 95% intervals shown to people."""


@dataclass(frozen=True)
class PeopleEstimate:
    """A worker's expected output in the site's units, with the ends of a 95% interval.

    `days` counts observations here, `prior` those from before. If the policy learns ramp-up, it is the level
    `after_ramp_up`, with how far they are in `ramp_up` and a `trend` that shows.
    """

    days: int
    prior: int
    mean: float
    low: float
    high: float
    after_ramp_up: bool = False
    ramp_up: RampUp | None = None
    trend: PeopleTrend | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as plain data, without what the policy does not learn."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in ("days", "prior", "mean", "low", "high")}
        if self.after_ramp_up:
            plain["after_ramp_up"] = True
            plain["ramp_up"] = None if self.ramp_up is None else asdict(self.ramp_up)
            plain["trend"] = None if self.trend is None else self.trend.to_json()
        return plain


@dataclass(frozen=True)
class ProposalFacts:
    """The numbers behind a proposal as they were when it was made.

    `leaver` is who makes room, or would if the hire arrived now; -1 is an empty station, and `out` is then None.
    Of the `periods_left` after the wait, the exchange is expected to last for `periods`, as people quit. `gain` is the
    expected gain over `periods` before the fee, if the replacement is permanent; at an empty station it is the whole
    output, and `chance_better` means nothing. `break_even` is the fee above which it would not have been proposed.
    """

    out: PeopleEstimate | None
    into: PeopleEstimate
    leaver: int
    settled_on_arrival: bool
    chance_better: float | None
    periods: float
    periods_left: float
    mean_delay: float
    gain: float
    fee: float
    break_even: float | None
    optimistic_gain: float | None
    needed_gain: float | None
    trial_periods: float | None
    trial_value: float | None

    @property
    def value(self) -> float:
        """The expected gain net of the fee; of a trial that may be reversed, if the policy values it so."""
        return (self.gain if self.trial_value is None else self.trial_value) - self.fee

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain data, without internal worker numbers; `periods_left` only if it says more."""
        out = None if self.out is None else self.out.to_json()
        omitted = {"leaver", *(["periods_left"] if self.periods_left == self.periods else [])}
        return {
            name: {"out": out, "into": self.into.to_json()}.get(name, value)
            for name, value in vars(self).items()
            if name not in omitted
        }


def people_estimate(units: Units, estimate: Mapping[str, Any]) -> PeopleEstimate:
    """Convert an estimate to the site's units; `low` is the smaller number even where less is better."""
    mean, reach = estimate["mean"], SURE * estimate["sd"]
    ends = [units.people_output(min(1.0, max(0.0, end))) for end in (mean - reach, mean + reach)]
    return PeopleEstimate(estimate["days"], estimate["prior"], units.people_output(mean), min(ends), max(ends))


def _believed(site: Site, units: Units, recorded: Believed) -> PeopleEstimate:
    """Return a recorded estimate in the site's units."""
    trend = None
    if recorded.trend is not None:
        trend = people_trend(units, site.config.calendar, recorded.mean, Trend(**recorded.trend))
    return replace(
        people_estimate(units, vars(recorded)),
        after_ramp_up=recorded.after_ramp_up,
        ramp_up=None if recorded.ramp_up is None else RampUp(**recorded.ramp_up),
        trend=trend,
    )


def facts(site: Site, proposal: Proposal) -> ProposalFacts:
    """Return the numbers behind a proposal, in the units and at the value of a unit then.

    After approval, the fee is the agreed one.
    """
    why, own = proposal.why, proposal.why.policy or {}
    units = replace(site.units_of(proposal.id), value_per_unit=why.value_per_unit)
    left = max(0.0, why.periods_left - why.mean_delay)
    lasting = min(left, max(0.0, own.get("periods", left)))
    vacancy = why.leaver == NOBODY
    if vacancy:
        gain = lasting * units.money_of_output(why.into.mean)
    else:
        gain = units.money(lasting * (why.into.mean - why.out.mean))
    agreed = proposal.status not in (PROPOSED, REJECTED, WITHDRAWN)
    optimistic, needed, value = (own.get(name) for name in ("optimistic_gain", "threshold", "gain"))
    return ProposalFacts(
        out=None if vacancy else _believed(site, units, why.out),
        into=_believed(site, units, why.into),
        leaver=why.leaver,
        settled_on_arrival=proposal.out == NOBODY and not vacancy,
        chance_better=None if vacancy else why.chance_better,
        periods=lasting,
        periods_left=left,
        mean_delay=why.mean_delay,
        gain=gain,
        fee=proposal.fee if agreed else why.fee,
        break_even=why.break_even,
        optimistic_gain=None if optimistic is None else units.people_difference(optimistic),
        needed_gain=None if needed is None else units.people_difference(needed),
        trial_periods=own.get("trial"),
        trial_value=None if value is None else units.money(value),
    )
