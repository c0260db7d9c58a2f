"""A small sealed plan of a pilot, and a site to run one at."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.pilots.sealed import NET, PilotGroup, SealedPlan
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import Site
from crewlearn.advisor.ledger.store import Store


def pilot_plan(
    site: str, stations: int, first: date, days: int, *, steps: int = 1, looks: tuple[date, ...] = (), run_in: int = 0
) -> SealedPlan:
    """Return a plan in which each station of a site is a group, for so many calendar days from the first."""
    return SealedPlan(
        groups=tuple(PilotGroup(f"station {n + 1}", site, (n,)) for n in range(stations)),
        baseline=first - timedelta(days=30),
        steps=tuple(first + timedelta(days=days // steps * step) for step in range(steps)),
        last=first + timedelta(days=days - 1),
        run_in=run_in,
        measure=NET,
        outside_fee=1.0,
        carried=0.5,
        alpha=0.05,
        looks=looks,
        promised_gain=1.0,
        promised_power=0.8,
    )


TEAM, RECORD = 14, 40
CALENDAR = WorkCalendar(date(2025, 9, 1))


def pilot_site(store: Store, name: str = "hall", days: int = RECORD, **settings: Any) -> None:
    """Create a site whose station s makes 50 + s pieces, give or take 4, for so many days; 5 untried people wait."""
    config = SiteConfig(
        TEAM, 30.0, calendar=CALENDAR, units=Units(0.0, 100.0), mean_delay=1.0, horizon=200, rolling=True
    )
    commands.create_site(store, name, replace(config, **settings), "ann")
    rows = [WorkerRow(f"W{n}", active=n < TEAM) for n in range(TEAM + 5)]
    worker_imports.import_workers(store, name, rows, b"w", "ann")
    work_days(store, days, {}, name)


def work_days(store: Store, days: int, gains: Mapping[int, float], name: str = "hall") -> None:
    """Record working days; the stations in `gains` make so much more."""
    site = site_of(store, name)
    rows = []
    for period in range(site.period, site.period + days):
        noise = np.random.default_rng(period).normal(0.0, 4.0, TEAM)
        for station, worker in enumerate(site.roster.stations):
            if worker >= 0:
                made = round(50.0 + station + float(noise[station]) + gains.get(station, 0.0), 2)
                rows.append(OutputRow(2, CALENDAR.date_of(period), None, f"W{worker}", made, None, "worked"))
    output_imports.import_output(store, name, rows, f"{site.period}".encode(), "ann", accept_unusual=True)


def site_of(store: Store, name: str = "hall") -> Site:
    """Return the state of a site."""
    with store.reading() as connection:
        return store.site(connection, name)[1]


def advised_stations(store: Store, name: str = "hall") -> set[int]:
    """Return the stations that get advice first in the pilot under way."""
    running = site_of(store, name).pilot
    assert running is not None
    return {
        station
        for group, wave in zip(running.plan.groups, running.waves, strict=True)
        if wave == 0 and group.site == name
        for station in group.stations
    }
