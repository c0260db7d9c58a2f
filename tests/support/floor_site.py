"""A site whose people ramp up, tire and have bad days, fed with the output of such a floor."""

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import PROPOSED, Site
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.arrays import NOBODY

FIRST = date(2026, 6, 1)
DAYS, TEAM, POOL = 80, 8, 18
DECLINER, TIRES_FROM, TIRES = 7, 25, 0.006
"""Who declines, from which day, and by which share of their level a day."""

DEPTH, FADES = 0.4, 5.0
"""What newcomers lack at first, and the days over which it fades."""

BAD_DAY, LOSS = 76, 0.35
"""A day on which everybody puts out less, and by how much."""

LEAVING = {12: 0, 20: 1, 28: 2, 36: 3, 44: 4, 77: 5}
"""Who leaves before which day; whoever the policy proposes then takes the station at once."""


def floor_site(
    store: Store, name: str = "hall", *, set_up: Callable[[], object] = lambda: None, **settings: Any
) -> None:
    """Create a site and record its days; of what the policy proposes, only empty stations are filled.

    `set_up` is called once the site exists, before its first day.
    """
    calendar = WorkCalendar(FIRST)
    given: dict[str, Any] = {"units": Units(0.0, 120.0), "rolling": True, "horizon": 200, **settings}
    commands.create_site(store, name, SiteConfig(TEAM, 400.0, calendar=calendar, mean_delay=3.0, **given), "ann")
    rows = [WorkerRow(f"W{n}", active=n < TEAM) for n in range(POOL)]
    worker_imports.import_workers(store, name, rows, b"workers", "ann")
    set_up()
    rng = np.random.default_rng(5)
    levels = rng.normal(70.0, 5.0, POOL)
    days, noise = rng.normal(0.0, 0.03, DAYS + 1), rng.normal(0.0, 0.05, (DAYS + 1, POOL))
    worked = [1000 if worker < TEAM else 0 for worker in range(POOL)]
    for day in range(1, DAYS + 1):
        if day in LEAVING:
            _replace(store, name, f"W{LEAVING[day]}")
        rows_made = []
        for worker in site_of(store, name).roster.active:
            ramp = 1.0 - DEPTH * np.exp(-worked[worker] / FADES)
            tired = 1.0 - TIRES * max(0, day - TIRES_FROM) if worker == DECLINER else 1.0
            shock = 1.0 - LOSS if day == BAD_DAY else 1.0
            units = levels[worker] * ramp * tired * shock * (1.0 + days[day]) * (1.0 + noise[day, worker])
            rows_made.append(OutputRow(2, calendar.date_of(day), None, f"W{worker}", round(units, 1), None, "worked"))
            worked[worker] += 1
        output_imports.import_output(store, name, rows_made, f"day {day}".encode(), "ann", accept_unusual=True)


def site_of(store: Store, name: str) -> Site:
    """Return the state of a site."""
    with store.reading() as connection:
        return store.site(connection, name)[1]


def _replace(store: Store, name: str, leaver: str) -> None:
    """Let somebody leave, and bring in whomever the policy proposes for the empty station."""
    commands.change_worker(store, name, leaver, "ann", status="left")
    proposals = site_of(store, name).open_proposals(PROPOSED)
    filling = next(proposal for proposal in proposals if proposal.out == NOBODY)
    commands.approve(store, name, filling.id, "ann")
    commands.record_offer(store, name, filling.id, "started", "ann")
