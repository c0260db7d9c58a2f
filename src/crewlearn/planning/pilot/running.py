"""A pilot under way and at its end: begin it, see how far it is, take a planned look, and analyse it once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from crewlearn.advisor.advice import pilots
from crewlearn.advisor.advice.pilots import ANY_VERSION, Expected, PilotRecord, record_of, running_pilot
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import PilotStarted
from crewlearn.advisor.ledger.pilots.assignment import digest_of
from crewlearn.advisor.ledger.pilots.sealed import LOOK_LEVEL, NET, OUTPUT, RunningPilot, SealedPlan
from crewlearn.advisor.ledger.store import Store
from crewlearn.planning.pilot.analysis import Effect, analyse
from crewlearn.planning.pilot.outcomes import SiteDays, cells_of, counted_days, group_days, read_site_days
from crewlearn.planning.pilot.planning import PilotRequest, plan_pilot


@dataclass(frozen=True)
class PilotStatus:
    """How far a pilot is, without its effect: it is told at the end, or at a planned look that allows to stop.

    `recorded` are the working days on record since it began. `came` counts who came by advice, in advice and in usual
    practice; the second are departures from the plan. `look_due` says whether a planned look may be taken now.
    """

    record: PilotRecord
    recorded: int
    through: date | None
    came: tuple[int, int]
    look_due: bool
    complete: bool

    @property
    def plan(self) -> SealedPlan:
        """The sealed plan."""
        return self.record.started.plan

    @property
    def waves(self) -> tuple[int, ...]:
        """The wave of each group."""
        return self.record.started.waves

    @property
    def state(self) -> str:
        """Whether it runs, awaits its analysis, has ended or was given up."""
        if self.record.ended is not None:
            return "ended" if self.record.ended.result is not None else "given-up"
        return "complete" if self.complete else "running"

    def to_json(self) -> dict[str, Any]:
        """Describe the status as plain data."""
        started, ended = self.record.started, self.record.ended
        return {
            "state": self.state,
            "digest": started.digest,
            "seed": started.seed,
            "plan": self.plan.to_json(),
            "waves": list(self.waves),
            "started_at": self.record.at,
            "started_by": self.record.by,
            "recorded_days": self.recorded,
            "recorded_through": None if self.through is None else self.through.isoformat(),
            "came_by_advice": self.came[0],
            "departures": self.came[1],
            "looks_taken": len(self.record.looks),
            "look_due": self.look_due,
            "may_stop": any(look.stop for look in self.record.looks),
            "result": None if ended is None or ended.result is None else dict(ended.result),
            "reason": "" if ended is None else ended.reason,
        }


def start(
    store: Store, request: PilotRequest, actor: str, *, seed: str | None = None, expected: Expected = ANY_VERSION
) -> PilotStarted:
    """Plan a pilot, seal the plan and begin it."""
    proposal = plan_pilot(store, request, durations=False)
    return pilots.start_pilot(store, proposal.plan, actor, seed=seed, expected=expected)


def status(store: Store, name: str) -> PilotStatus | None:
    """Return how far the newest pilot of a site is; None if it never had one."""
    with store.reading() as connection:
        key, _, _ = store.site(connection, name)
        record = record_of(connection, key)
    if record is None:
        return None
    plan, waves = record.started.plan, record.started.waves
    sites = {site: read_site_days(store, site) for site in plan.sites}
    through = _through(store, sites, plan.sites)
    days = {day for site in sites.values() for day in site.days if plan.steps[0] <= day <= plan.last}
    due = record.ended is None and len(record.looks) < len(plan.looks)
    return PilotStatus(
        record,
        len(days),
        through,
        _came(plan, waves, sites),
        due and through is not None and through >= plan.looks[len(record.looks)],
        through is not None and through >= plan.last,
    )


def _through(store: Store, sites: Mapping[str, SiteDays], names: tuple[str, ...]) -> date | None:
    """Return the last day that every site has on record, working or not; None if one has none."""
    lasts: list[date] = []
    with store.reading() as connection:
        for name in names:
            if not sites[name].days:
                return None
            _, site, _ = store.site(connection, name)
            calendar = site.config.calendar
            day = max(sites[name].days[-1], calendar.date_of(calendar.period_at(calendar.order_of(site.period) - 1)))
            lasts.append(day)
    return min(lasts)


def _came(plan: SealedPlan, waves: tuple[int, ...], sites: Mapping[str, SiteDays]) -> tuple[int, int]:
    """Return how many came by advice during the pilot, to groups in advice and in usual practice."""
    counts = [0, 0]
    for group, wave in zip(plan.groups, waves, strict=True):
        for station, day in sites[group.site].advised:
            if station in group.stations and plan.steps[0] <= day <= plan.last:
                counts[day < plan.turns_on(wave)] += 1
    return counts[0], counts[1]


def look(store: Store, name: str, actor: str, *, expected: Expected = ANY_VERSION) -> tuple[bool, Effect | None]:
    """Take the planned look that is due; return whether the pilot may stop, and then the effect."""
    running, current = _running(store, name)
    plan, taken = running.plan, running.looks
    if taken >= len(plan.looks):
        planned = f"all {len(plan.looks)} planned looks were taken" if plan.looks else "none was planned"
        raise Conflict("look", name, f"{planned}: looking more often finds effects by chance; wait for {plan.last}")
    if not current.look_due:
        remedy = f"the next planned look takes output through {plan.looks[taken]}; record it first"
        raise Conflict("look", f"look {taken + 1}", remedy)
    effect = analysed(store, plan, running.waves, plan.measure, plan.looks[taken], LOOK_LEVEL)
    stop = pilots.record_look(store, plan, taken + 1, effect.p, actor, expected=expected)
    return stop, effect if stop else None


def end(
    store: Store, name: str, actor: str, *, give_up: str = "", expected: Expected = ANY_VERSION
) -> Mapping[str, Any] | None:
    """Analyse a pilot that is complete, or that a look allowed to stop, and end it; return the result.

    With a reason to `give_up`, it ends without a result at any time.
    """
    running, current = _running(store, name)
    plan = running.plan
    if give_up:
        pilots.end_pilot(store, plan, None, actor, give_up, expected=expected)
        return None
    if not current.complete and not running.may_stop:
        remedy = f"output is to be recorded through {plan.last} first; before, only: give it up, with a reason"
        raise Conflict("pilot", f"recorded through {current.through}", remedy)
    last = plan.last if current.complete else plan.looks[running.looks - 1]
    level = plan.final_level if current.complete else LOOK_LEVEL
    effect = analysed(store, plan, running.waves, plan.measure, last, level)
    other = OUTPUT if plan.measure == NET else NET
    second = analysed(store, plan, running.waves, other, last, level)
    stations = sum(len(group.stations) for group in plan.groups)
    result = {
        **effect.to_json(),
        "detected": effect.detected,
        "measure": plan.measure,
        "through": last.isoformat(),
        "groups": len(plan.groups),
        "stations": stations,
        "recorded_days": current.recorded,
        "came_by_advice": current.came[0],
        "departures": current.came[1],
        "second": {"measure": other, **{key: second.to_json()[key] for key in ("gain", "low", "high", "p")}},
    }
    pilots.end_pilot(store, plan, result, actor, expected=expected)
    return result


def _running(store: Store, name: str) -> tuple[RunningPilot, PilotStatus]:
    with store.reading() as connection:
        _, site, _ = store.site(connection, name)
    running, current = running_pilot(site, name), status(store, name)
    assert current is not None
    assert current.record.started.digest == digest_of(running.plan)
    return running, current


def analysed(store: Store, plan: SealedPlan, waves: tuple[int, ...], measure: str, last: date, level: float) -> Effect:
    """Analyse a pilot as its plan says, with the output through a day."""
    sites = {site: read_site_days(store, site) for site in plan.sites}
    days = group_days(sites, plan.groups, plan.outside_fee).until(last)
    values = days.measured(measure, counted_days(plan, days.days))
    return analyse(values, cells_of(plan, days.days), waves, plan.carried, level)
