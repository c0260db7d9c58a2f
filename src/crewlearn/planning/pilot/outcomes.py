"""What a pilot compares, from the record: each group's output in money a station and day, and fees where they fell due.

A station where nobody worked on a day on which the site did counts as 0. A fee is charged to the station that the
newcomer took, on the day on which it fell due; a change of holder outside advice costs the plan's `outside_fee`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from crewlearn.advisor.evidence.site_record import Past, read_past
from crewlearn.advisor.ledger.events import RecordedRow, observation
from crewlearn.advisor.ledger.pilots.sealed import NET, PilotGroup, SealedPlan
from crewlearn.advisor.ledger.queries import standing_rows
from crewlearn.advisor.ledger.site import STARTED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.stints import Stint
from crewlearn.planning.pilot.comparison import Cells
from crewlearn.problem.arrays import FloatArray


@dataclass(frozen=True)
class SiteDays:
    """A site's recorded days: dates, output in money, fees, and fees of changes outside advice if each cost 1.

    The arrays are (stations, days). `advised` are the stations and days on which somebody came by advice.
    """

    days: tuple[date, ...]
    output: FloatArray
    fees: FloatArray
    outside: FloatArray
    advised: tuple[tuple[int, date], ...]


@dataclass(frozen=True)
class GroupDays:
    """Groups' days side by side: all dates, and arrays (groups, days) a station; NaN where a site was closed."""

    days: tuple[date, ...]
    output: FloatArray
    fees: FloatArray

    def measured(self, measure: str, counts: Sequence[bool]) -> FloatArray:
        """Return output, or output net of fees.

        A fee of a day that does not count is charged on the next day that does, for every group alike: what is
        compared must not depend on the assignment otherwise than through advice.
        """
        if measure != NET:
            return self.output
        charged = np.zeros_like(self.fees)
        owed = np.zeros(len(self.fees))
        for day, does_count in enumerate(counts):
            owed += self.fees[:, day]
            due = ~np.isnan(self.output[:, day]) & does_count
            charged[due, day] = owed[due]
            owed[due] = 0.0
        net: FloatArray = self.output - charged
        return net

    def until(self, last: date) -> "GroupDays":
        """Return the days up to the last one."""
        many = sum(day <= last for day in self.days)
        return GroupDays(self.days[:many], self.output[:, :many], self.fees[:, :many])


def read_site_days(store: Store, name: str) -> SiteDays:
    """Read a site's days from the record."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        rows = [row for _, row in standing_rows(connection, key, range(len(site.workers)))]
        past = read_past(connection, key)
    return site_days(site, rows, past)


def site_days(site: Site, rows: Iterable[RecordedRow], past: Past) -> SiteDays:
    """Return a site's days, given its current rows, who held which station, and the proposals acted on."""
    calendar, team = site.config.calendar, site.config.team
    rows = list(rows)
    moments = {period: calendar.moment_of(period) for period in {row.period for row in rows}}
    dates = tuple(sorted({day for day, _ in moments.values()}))
    place = {day: index for index, day in enumerate(dates)}
    output, fees, outside = (np.zeros((team, len(dates))) for _ in range(3))
    held: dict[int, list[Stint]] = {}
    for stint in past.stints:
        held.setdefault(stint.worker, []).append(stint)
    order = {period: calendar.order_of(period) for period in moments}
    spans = {
        worker: [
            (calendar.order_of(stint.since), None if stint.until is None else calendar.order_of(stint.until), stint)
            for stint in stints
        ]
        for worker, stints in held.items()
    }
    for row in rows:
        when = order[row.period]
        for since, until, stint in spans.get(row.worker, ()):
            if since <= when and (until is None or when < until) and stint.station < team:
                output[stint.station, place[moments[row.period][0]]] += _money(site, row)
    begun = {
        (proposal.into, proposal.settled_in): proposal for proposal in past.proposals if proposal.status == STARTED
    }
    advised: list[tuple[int, date]] = []
    first = dates[0] if dates else date.max
    for stint in past.stints:
        day = calendar.date_of(stint.since)
        if stint.station >= team or day <= first:
            continue
        proposal = begun.get((stint.worker, stint.since))
        if proposal is not None:
            advised.append((stint.station, day))
            _charge(fees, stint.station, dates, calendar.date_of(proposal.paid_in), proposal.fee)
        elif not any(other.until == stint.since for other in held[stint.worker] if other is not stint):
            _charge(outside, stint.station, dates, day, 1.0)
    for proposal in past.proposals:
        if proposal.paid and proposal.status != STARTED and proposal.out in held:
            day = calendar.date_of(proposal.paid_in)
            _charge(fees, held[proposal.out][-1].station, dates, day, proposal.fee)
    return SiteDays(dates, output, fees, outside, tuple(advised))


def _money(site: Site, row: RecordedRow) -> float:
    """Return the money value of a row, by the units and their value in its period."""
    units = site.units_in(row.period)
    if row.units is None or (units.lower_is_better and observation(units, row) is None):
        return 0.0
    return units.worth(row.units, row.hours) * site.value_in(row.period)


def _charge(fees: FloatArray, station: int, dates: Sequence[date], day: date, fee: float) -> None:
    """Charge a fee on a day, or on the next one on record."""
    later = next((index for index, other in enumerate(dates) if other >= day), None)
    if later is not None and station < len(fees):
        fees[station, later] += fee


def group_days(sites: dict[str, SiteDays], groups: Sequence[PilotGroup], outside_fee: float) -> GroupDays:
    """Return the groups' days a station, on all dates on which any of the sites worked."""
    dates = tuple(sorted({day for site in sites.values() for day in site.days}))
    place = {day: index for index, day in enumerate(dates)}
    output = np.full((len(groups), len(dates)), np.nan)
    fees = np.zeros((len(groups), len(dates)))
    for row, group in enumerate(groups):
        site, stations = sites[group.site], list(group.stations)
        columns = [place[day] for day in site.days]
        output[row, columns] = site.output[stations].mean(axis=0)
        fees[row, columns] = (site.fees[stations] + outside_fee * site.outside[stations]).mean(axis=0)
    return GroupDays(dates, output, fees)


def cells_of(plan: SealedPlan, days: Sequence[date]) -> Cells:
    """Return the cells of a plan over recorded days."""
    ends = [*plan.steps[1:], plan.last + timedelta(days=1)]
    steps = [
        [i for i, day in enumerate(days) if first <= day < end] for first, end in zip(plan.steps, ends, strict=True)
    ]
    run_ins = [
        sum(days[i] < first + timedelta(days=plan.run_in) for i in step)
        for first, step in zip(plan.steps, steps, strict=True)
    ]
    baseline = [i for i, day in enumerate(days) if plan.baseline <= day < plan.steps[0]]
    return Cells.of(baseline, steps, run_ins)


def counted_days(plan: SealedPlan, days: Sequence[date]) -> list[bool]:
    """Return which days are in no run-in; if nothing follows a run-in, its last day counts as well."""
    run_in = timedelta(days=plan.run_in)
    ends = [*plan.steps[1:], plan.last + timedelta(days=1)]
    spans = list(
        zip(plan.steps, [min(first + run_in, end) for first, end in zip(plan.steps, ends, strict=True)], strict=True)
    )
    counts = [not any(first <= day < end for first, end in spans) for day in days]
    return [*counts[:-1], True] if counts else counts
