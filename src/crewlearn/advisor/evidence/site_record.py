"""A site's record in the form that the gain is derived from, and what was learned of noise, ramps and the pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from crewlearn.advisor.evidence.levels import Learned
from crewlearn.advisor.evidence.record import Advised, Spent, WorkRecord, outsiders_of
from crewlearn.advisor.ledger.events.rows import RecordedRow, observation
from crewlearn.advisor.ledger.queries import read_proposals, standing_rows
from crewlearn.advisor.ledger.site import FAILURES, POOL, STARTED, UNDER_WAY, Proposal, Site
from crewlearn.advisor.ledger.team.stints import Stint, read_stints
from crewlearn.beliefs.evolving.learning import fresh_evolving, learn_day
from crewlearn.beliefs.evolving.model import Evolving, Told
from crewlearn.beliefs.evolving.packing import as_plain
from crewlearn.beliefs.posterior import LEARN
from crewlearn.problem.arrays import NOBODY

OTHERS = 60
"""How many people whom advice did not concern are looked at, to tell what days were like."""

LEARNED_PEOPLE, LEARNED_DAYS = 24, 150
"""From how many people and days noise, ramp and pool are learned where the policy does not learn them."""


@dataclass(frozen=True)
class Past:
    """The data behind the gain: who held which station when, and the proposals that were acted on."""

    stints: tuple[Stint, ...]
    proposals: tuple[Proposal, ...]


def read_past(connection: sa.Connection, key: int) -> Past:
    """Read the data behind a site's gain, but for output."""
    acted_on = read_proposals(connection, key, statuses=(STARTED, *UNDER_WAY, *FAILURES))
    return Past(tuple(read_stints(connection, key)), tuple(acted_on))


def read_rows(connection: sa.Connection, key: int, past: Past) -> tuple[RecordedRow, ...]:
    """Read the output that the gain is derived from; nothing where advice has changed nothing."""
    started = [proposal for proposal in past.proposals if proposal.status == STARTED]
    if not started:
        return ()
    workers = {proposal.into for proposal in started} | {proposal.leaver for proposal in started} - {NOBODY}
    changed = {stint.station for stint in past.stints if stint.worker in workers}
    workers |= {stint.worker for stint in past.stints if stint.station in changed}
    others = sorted({stint.worker for stint in past.stints} - workers)
    workers |= set(others[:: max(1, len(others) // OTHERS)])
    return tuple(row for _, row in standing_rows(connection, key, sorted(workers)))


@dataclass(frozen=True)
class SiteWork:
    """A site's record with the places in time of its working days, and the proposals by number."""

    record: WorkRecord
    places: tuple[int, ...]


def work_of(site: Site, past: Past, rows: Sequence[RecordedRow]) -> SiteWork | None:
    """Return a site's record; None if advice has changed nothing or there is no output."""
    calendar, units = site.config.calendar, site.config.units
    now = calendar.order_of(site.period)
    seen = [
        (calendar.order_of(row.period), row, value) for row in rows if (value := observation(units, row)) is not None
    ]
    seen = sorted((one for one in seen if one[0] < now), key=lambda one: (one[0], one[1].worker))
    places = sorted({place for place, _, _ in seen})
    day_of = {place: day for day, place in enumerate(places)}
    days = len(places)

    def day_from(period: int) -> int:
        return int(np.searchsorted(places, calendar.order_of(period)))

    spent = [
        Spent(min(day_from(proposal.paid_in), max(0, days - 1)), proposal.fee)
        for proposal in past.proposals
        if proposal.paid and proposal.status != STARTED
    ]
    if site.interviews:
        spent.append(Spent(0, site.interviews))
    advised = _advised(site, past, day_from, days)
    if not days or not (advised or spent):
        return None
    stations = 1 + max((stint.station for stint in past.stints), default=0)
    holders = np.full((stations, days), NOBODY, dtype=np.int64)
    for stint in past.stints:
        end = days if stint.until is None else day_from(stint.until)
        holders[stint.station, day_from(stint.since) : end] = stint.worker
    station_of = {
        (int(holders[station, day]), day): station
        for station in {change.station for change in advised}
        for day in range(days)
        if holders[station, day] != NOBODY
    }
    price = np.array([site.value_in(calendar.period_at(place)) for place in places]) / units.value_per_unit
    worth = np.repeat((price * units.money_of_one)[None, :], stations, axis=0)
    offset = np.repeat((price * units.money_of_output(0.0))[None, :], stations, axis=0)
    earned = np.zeros((stations, days))
    for place, row, _ in seen:
        day = day_of[place]
        station = station_of.get((row.worker, day))
        if station is not None and row.units is not None:
            earned[station, day] = units.worth(row.units, row.hours) * site.value_in(row.period)
            if units.hours_per_period is not None and row.hours is not None:
                worth[station, day] *= row.hours / units.hours_per_period
                offset[station, day] *= row.hours / units.hours_per_period
    started = [proposal for proposal in past.proposals if proposal.status == STARTED]
    failed = sum(proposal.status in FAILURES for proposal in past.proposals)
    delays = [max(0, calendar.between(proposal.decided_in, proposal.settled_in)) for proposal in started]
    active = set(site.roster.active)
    idle = [n for n, worker in enumerate(site.workers) if worker.status == POOL and n not in active]
    record = WorkRecord(
        holders=holders,
        worker=np.array([row.worker for _, row, _ in seen], dtype=np.int64),
        day=np.array([day_of[place] for place, _, _ in seen], dtype=np.int64),
        output=np.array([value for _, _, value in seen], dtype=np.float64),
        earned=earned,
        worth=worth,
        offset=offset,
        experience=site.experience_before(),
        outsiders=outsiders_of(advised, idle),
        advised=tuple(advised),
        spent=tuple(spent),
        quits=_quits(past, started),
        delays=tuple(delays) or (max(1, round(site.mean_delay)),),
        fee=site.config.fee,
        offers=len(started) + failed,
        declined=failed,
        fee_due_at_start=site.config.fee_due == "completion",
        exposure=int((holders != NOBODY).sum()),
    )
    return SiteWork(record, tuple(places))


def _advised(site: Site, past: Past, day_from: Any, days: int) -> list[Advised]:
    """Return the changes by advice that are on record; filling a station that nobody had held is none."""
    order_of = site.config.calendar.order_of
    begun: dict[int, list[Stint]] = {}
    first: dict[int, Stint] = {}
    for stint in sorted(past.stints, key=lambda stint: order_of(stint.since)):
        begun.setdefault(stint.worker, []).append(stint)
        first.setdefault(stint.station, stint)
    advised = []
    for proposal in past.proposals:
        if proposal.status != STARTED:
            continue
        own = [s for s in begun.get(proposal.into, ()) if order_of(s.since) >= order_of(proposal.settled_in)]
        if not own or first[own[0].station] == own[0]:
            continue
        day = day_from(own[0].since)
        if day >= days:
            continue
        paid = min(day_from(proposal.paid_in), days - 1) if proposal.paid else day
        fee = proposal.fee if proposal.paid else 0.0
        advised.append(Advised(proposal.id, own[0].station, day, proposal.leaver, proposal.into, fee, paid))
    return advised


def _quits(past: Past, started: Sequence[Proposal]) -> int:
    """Return how many left their station without being replaced or moved."""
    let_go = {(proposal.leaver, proposal.settled_in) for proposal in started}
    begun = {(stint.worker, stint.since) for stint in past.stints}
    return sum(
        stint.until is not None
        and (stint.worker, stint.until) not in let_go
        and (stint.worker, stint.until) not in begun
        for stint in past.stints
    )


def learned_of(state: Any, record: WorkRecord) -> Learned:
    """Return what the policy has learned of noise, ramp and pool or, if it learns no such thing, learn it."""
    learned = getattr(state, "learned", None)
    return Learned.of(learned if isinstance(learned, Evolving) else learned_from(record))


def learned_from(record: WorkRecord) -> Evolving:
    """Learn the evolving model from a part of a record: those who came by advice first, and the latest days."""
    came = [change.into for change in record.advised] + [change.out for change in record.advised]
    others = np.unique(record.worker).tolist()
    chosen = list(dict.fromkeys(worker for worker in (*came, *others) if worker != NOBODY))[:LEARNED_PEOPLE]
    number_of: Mapping[int, int] = {worker: number for number, worker in enumerate(chosen)}
    worked = np.array([int(record.experience[worker]) for worker in chosen], dtype=np.int64)
    first = max(0, record.days - LEARNED_DAYS)
    by_day: dict[int, tuple[list[int], list[float]]] = {}
    for worker, day, output in zip(record.worker.tolist(), record.day.tolist(), record.output.tolist(), strict=True):
        number = number_of.get(worker)
        if number is None:
            continue
        if day < first:
            worked[number] += 1
            continue
        workers, outputs = by_day.setdefault(day, ([], []))
        workers.append(number)
        outputs.append(output)
    nothing = np.zeros(len(chosen), dtype=np.int64)
    told = Told(0.25, 2.0, LEARN, LEARN, LEARN, LEARN, LEARN)
    team = max((len(workers) for workers, _ in by_day.values()), default=1)
    learned = as_plain(fresh_evolving(told, worked, nothing, np.zeros(len(chosen)), team, len(chosen)))
    for day in sorted(by_day):
        workers, outputs = by_day[day]
        learn_day(learned, told, day, workers, outputs, 0)  # type: ignore[arg-type]  # lists are read faster
    return learned
