"""Planning a pilot: groups, days, and what the pilot can show, from the site's own record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np

from crewlearn.advisor.ledger.pilots.assignment import digest_of
from crewlearn.advisor.ledger.pilots.sealed import (
    LOOK_LEVEL,
    MEASURES,
    MOST_GROUPS,
    MOST_LOOKS,
    MOST_WAVES,
    NET,
    PilotGroup,
    SealedPlan,
)
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.units import MOST_FEE
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.planning.pilot.comparison import attainable_level, possible
from crewlearn.planning.pilot.outcomes import GroupDays, cells_of, group_days, read_site_days
from crewlearn.planning.pilot.power import Power, power_of
from crewlearn.planning.pilot.variation import Products
from crewlearn.problem.errors import InvalidInput, one_of, real, whole

LEAST_RECORD, LEAST_BASELINE = 30, 10
"""Working days that must be on record: in all, and before the pilot as its baseline."""

MOST_DAYS, MOST_RUN_IN = 500, 120
DEFAULT_GROUPS = 20
DURATIONS = (20, 40, 60, 90, 120)
LEAST_SHARE = 0.8
"""A design is refused if it cannot reject with at least this share of its level."""


@dataclass(frozen=True)
class PilotRequest:
    """What a pilot is to be like.

    `days` and `baseline` are working days, `run_in` calendar days. `groups` is the number of groups that the stations
    of a single site are cut into. `gain` is the gain a station and day that people hope for, in money.
    """

    sites: tuple[str, ...]
    groups: int | None = None
    days: int = 60
    waves: int = 2
    run_in: int = 14
    baseline: int = 40
    measure: str = NET
    outside_fee: float | None = None
    alpha: float = 0.05
    looks: int = 0
    power: float = 0.8
    gain: float | None = None

    def __post_init__(self) -> None:
        if not self.sites or len(set(self.sites)) != len(self.sites):
            raise InvalidInput("sites", ", ".join(self.sites), "name each site once, and at least one")
        if self.groups is not None:
            whole("groups", self.groups, 2, MOST_GROUPS)
            if len(self.sites) > 1:
                raise InvalidInput("groups", self.groups, "each of several sites is one group; leave it out")
        whole("waves", self.waves, 2, MOST_WAVES)
        whole("days", self.days, 2 * (self.waves - 1), MOST_DAYS)
        whole("run_in", self.run_in, 0, MOST_RUN_IN)
        whole("baseline", self.baseline, LEAST_BASELINE, MOST_DAYS)
        whole("looks", self.looks, 0, MOST_LOOKS)
        one_of("measure", self.measure, MEASURES)
        real("alpha", self.alpha, 0.01, 0.2)
        real("power", self.power, 0.5, 0.99)
        if self.outside_fee is not None:
            real("outside_fee", self.outside_fee, 0.0, MOST_FEE)
        if self.gain is not None:
            real("gain", self.gain, 0.0, above=True)


@dataclass(frozen=True)
class Duration:
    """A pilot of so many working days: its last day, the gain it can show, and its power for the gain hoped for.

    The gain is None where no day would count.
    """

    days: int
    last: date
    detectable: float | None
    power: float | None


@dataclass(frozen=True)
class PilotProposal:
    """A plan ready to be sealed, with what it promises; `durations` are alternatives, the planned one among them."""

    plan: SealedPlan
    days: int
    gain: float | None
    power: float | None
    durations: tuple[Duration, ...]
    assignments: int
    usual_output: float

    @property
    def shortest(self) -> Duration | None:
        """The shortest pilot listed that shows the gain hoped for with the promised power; None if there is none."""
        enough = (each for each in self.durations if (each.power or 0.0) >= self.plan.promised_power)
        return next(enough, None)

    def to_json(self) -> dict[str, Any]:
        """Describe the proposal as plain data."""
        return {
            "digest": digest_of(self.plan),
            "plan": self.plan.to_json(),
            "days": self.days,
            "detectable_gain": self.plan.promised_gain,
            "usual_output": self.usual_output,
            "gain": self.gain,
            "power": self.power,
            "assignments": self.assignments,
            "durations": [{**vars(each), "last": each.last.isoformat()} for each in self.durations],
        }


def plan_pilot(store: Store, request: PilotRequest, *, durations: bool = True) -> PilotProposal:
    """Plan a pilot from the record; raise if the design or the record is too small, with the remedy."""
    sites: dict[str, Site] = {}
    with store.reading() as connection:
        for name in request.sites:
            _, sites[name], _ = store.site(connection, name)
    groups = _groups(sites, request.groups)
    _check_waves(request, len(groups))
    first = max(site.day for site in sites.values())
    fee = next(iter(sites.values())).config.fee if request.outside_fee is None else request.outside_fee
    past = group_days({name: read_site_days(store, name) for name in sites}, groups, fee).until(
        first - timedelta(days=1)
    )
    if len(past.days) < LEAST_RECORD:
        remedy = f"a plan takes {LEAST_RECORD} days of output on record, to know how it varies; record more first"
        raise InvalidInput("record", f"{len(past.days)} working days", remedy)
    outlook = _Outlook(request, groups, fee, past, next(iter(sites.values())).config.calendar, first)
    plan, power = outlook.planned(request.days)
    listed = sorted({*DURATIONS, request.days}) if durations else [request.days]
    others = [outlook.duration(days, plan, power) for days in listed if days >= 2 * (request.waves - 1)]
    return PilotProposal(
        plan,
        request.days,
        request.gain,
        None if request.gain is None else power.of_gain(request.gain),
        tuple(others),
        possible(plan.sizes),
        float(outlook.usual),
    )


@dataclass(frozen=True)
class _Outlook:
    """What plans of any duration share."""

    request: PilotRequest
    groups: tuple[PilotGroup, ...]
    fee: float
    past: GroupDays
    calendar: WorkCalendar
    first: date

    @property
    def usual(self) -> float:
        """The mean output of a station and day in the baseline."""
        recent = self.past.output[:, -self.request.baseline :]
        return float(np.nanmean(recent))

    def planned(self, days: int) -> tuple[SealedPlan, Power]:
        """Return a plan of so many working days, and its power; refuse a design that can hardly reject."""
        request = self.request
        coming = _working_days(self.calendar, self.first, days)
        each, over = divmod(days, request.waves - 1)
        starts = [step * each + min(step, over) for step in range(request.waves - 1)]
        looks = tuple(coming[days * (look + 1) // (request.looks + 1) - 1] for look in range(request.looks))
        plan = SealedPlan(
            groups=self.groups,
            baseline=self.past.days[-min(request.baseline, len(self.past.days))],
            steps=tuple(coming[start] for start in starts),
            last=coming[-1],
            run_in=request.run_in,
            measure=request.measure,
            outside_fee=self.fee,
            carried=0.0,
            alpha=request.alpha,
            looks=looks,
            promised_gain=0.0,
            promised_power=request.power,
        )
        cells = cells_of(plan, [*self.past.days, *coming])
        if not cells.weights(plan.sizes).any():
            remedy = f"leaves no day that counts in a step of {each} working days; shorten it, or plan more days"
            raise InvalidInput("run_in", request.run_in, remedy)
        _check_level(plan, attainable_level(cells, plan.sizes, plan.final_level))
        products = Products.of(self.past.measured(request.measure, [True] * len(self.past.days)))
        power = power_of(products, cells, plan.sizes, plan.final_level)
        detectable = power.detectable(request.power)
        return replace(plan, carried=round(power.carried, 6), promised_gain=round(detectable, 6)), power

    def duration(self, days: int, own: SealedPlan, power: Power) -> Duration:
        """Return what a pilot of so many working days can show."""
        plan = own
        if days != self.request.days:
            try:
                plan, power = self.planned(days)
            except InvalidInput:  # the run-in is longer than its steps
                return Duration(days, _working_days(self.calendar, self.first, days)[-1], None, 0.0)
        gain = self.request.gain
        return Duration(days, plan.last, plan.promised_gain, None if gain is None else power.of_gain(gain))


def _groups(sites: dict[str, Site], groups: int | None) -> tuple[PilotGroup, ...]:
    """Return the sites as groups, or the stations of the only site cut into groups of neighbours."""
    if len(sites) > 1:
        return tuple(PilotGroup(name, name, tuple(range(site.config.team))) for name, site in sites.items())
    ((name, site),) = sites.items()
    team = site.config.team
    many = min(team, DEFAULT_GROUPS) if groups is None else groups
    if many > team:
        raise InvalidInput("groups", many, f"{name} has {team} stations; a group needs at least one")
    cuts = [team * place // many for place in range(many + 1)]
    spans = [tuple(range(start, end)) for start, end in pairwise(cuts)]
    return tuple(PilotGroup(_called(span), name, span) for span in spans)


def _called(stations: Sequence[int]) -> str:
    first, last = stations[0] + 1, stations[-1] + 1
    return f"station {first}" if first == last else f"stations {first} to {last}"


def _check_waves(request: PilotRequest, groups: int) -> None:
    if groups < max(2, request.waves):
        remedy = f"there are {groups} groups; a wave needs at least one: name more sites or groups, or fewer waves"
        raise InvalidInput("waves", request.waves, remedy)


def _check_level(plan: SealedPlan, level: float) -> None:
    """Refuse designs whose test can hardly reject, or whose early looks never can."""
    number, groups = possible(plan.sizes), len(plan.groups)
    if level < LEAST_SHARE * plan.final_level:
        remedy = (
            f"too few: chance alone allows only {number:,} assignments, so that the test rejects at {level:.1%} "
            f"instead of {plan.final_level:.1%}; use at least 9 groups in parallel, or more steps (waves)"
        )
        raise InvalidInput("groups", groups, remedy)
    if plan.looks and 2.0 / number > LOOK_LEVEL:
        remedy = f"an early look stops at p <= {LOOK_LEVEL}, which {number:,} assignments cannot reach; plan no looks"
        raise InvalidInput("looks", len(plan.looks), remedy)


def _working_days(calendar: WorkCalendar, first: date, many: int) -> list[date]:
    """Return so many working days from a day on."""
    days: list[date] = []
    day = first
    while len(days) < many:
        if calendar.is_working(day):
            days.append(day)
        day += timedelta(days=1)
    return days
