"""The record of a live site as arrays, in which plans and backtests look for what is known."""

import math

import numpy as np
import sqlalchemy as sa

from crewlearn.advisor.ledger.learned.stored_states import StoredDays
from crewlearn.advisor.ledger.queries import ended_proposals
from crewlearn.advisor.ledger.site import FAILURES, LEFT, STARTED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.team.stints import read_stints
from crewlearn.planning.futures.record import Record
from crewlearn.problem.arrays import NOBODY


def read_record(store: Store, name: str) -> tuple[Site, Record]:
    """Read a site and its record in one transaction."""
    with store.reading() as connection:
        key, site, _ = store.site(connection, name)
        return site, record_in(connection, key, site)


def record_in(connection: sa.Connection, key: int, site: Site) -> Record:
    """Return the record of a site: its working days before the coming one, at least one."""
    calendar, workers = site.config.calendar, len(site.workers)
    reports = list(StoredDays(connection, key).reports(site, None))
    coming = calendar.order_of(site.period)
    first = min([recorded.report.period for recorded in reports], default=coming - 1)
    days = max(1, coming - first)
    output, quits = np.full((workers, days), np.nan), np.zeros(days, dtype=np.int64)
    gone = np.zeros(workers, dtype=np.int64)
    for _, report in reports:
        day = report.period - first
        for worker, amount in report.output.items():
            output[worker, day] = amount
        quits[day] += len(report.left)
        for worker in report.left:
            if site.workers[worker].status == LEFT:
                gone[worker] = day + 1
    stations = np.full((site.config.team, days), NOBODY, dtype=np.int64)
    for stint in read_stints(connection, key):
        since = max(0, calendar.order_of(stint.since) - first)
        until = math.inf if stint.until is None else calendar.order_of(stint.until) - first
        if stint.station < site.config.team and until > since:
            stations[stint.station, since : int(min(until, days))] = stint.worker
    joined = np.zeros(workers, dtype=np.int64)
    known = 0
    for number, (period, enrolled) in enumerate(site.enrolled):
        if number > 0:
            joined[known:enrolled] = max(0, calendar.order_of(period) - first + 1)
        known = max(known, enrolled)
    for worker in range(workers):
        worked = np.flatnonzero(~np.isnan(output[worker]))
        if site.workers[worker].status == LEFT and gone[worker] == 0:
            gone[worker] = days  # when they left the pool is not on record as a day
        if len(worked) and joined[worker] > worked[0] + 1:
            joined[worker] = int(worked[0]) + 1
    prior, settled = site.prior(), ended_proposals(connection, key, 1)
    return Record(
        output=output,
        stations=stations,
        experience=site.experience_before(),
        prior_counts=prior.counts,
        prior_sums=prior.sums,
        quits=quits,
        gone=gone,
        joined=joined,
        offers=sum(proposal.status in (STARTED, *FAILURES) for proposal in settled),
        declines=sum(proposal.status in FAILURES for proposal in settled),
    )
