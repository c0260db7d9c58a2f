"""Days at a live site whose policy learns by day: output is recorded and learned from, and advice derived."""

import tempfile
import time
from collections.abc import Iterable
from datetime import date
from functools import partial

import numpy as np

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from limits import Results, timed

SITES = {
    "1,000 people, 100 stations": (1000, 100, False, 1.0),
    "1,000 people, 300 stations, all with prior data": (1000, 300, True, 1.0),
    "10,000 people, 100 stations": (10_000, 100, False, 5.0),
    "10,000 people, 100 stations, all with prior data": (10_000, 100, True, 5.0),
}
"""People, stations, whether everybody has prior data, and the most seconds a day may take."""

MEASURED = (1, 2, 3, 4, 5, 8, 12, 30, 50, 100, 300)
"""The days that are timed; those in between are imported at once."""


def slowest_day(people: int, stations: int, with_prior: bool) -> tuple[float, float, int]:
    """Return the seconds of the slowest of the measured days, its processor time, and which one that was.

    The store is opened anew for each of them, so that whatever a restart has to do counts. Every other day somebody new
    works instead of somebody else.
    """
    rng = np.random.default_rng(1)
    levels = np.clip(rng.normal(50.0, 12.0, people), 5.0, 95.0)

    def worker(number: int) -> WorkerRow:
        if not with_prior:
            return WorkerRow(f"w{number}", active=number < stations)
        count = int(rng.integers(1, 30))
        mean = float(np.clip(levels[number] + rng.normal(0.0, 8.0 / np.sqrt(count)), 0.0, 100.0))
        return WorkerRow(f"w{number}", active=number < stations, prior_n=count, prior_mean=mean)

    def output(days: Iterable[int]) -> list[OutputRow]:
        rows = []
        for day in days:
            effect = 1.0 + rng.normal(0.0, 0.03)
            for number in range(day // 2, day // 2 + stations):
                share = 1.0 if number < stations else 1.0 - 0.3 * np.exp(-(day - 2 * (number - stations)) / 4.0)
                made = float(np.clip(levels[number] * share * effect + rng.normal(0.0, 6.0), 0.0, 100.0))
                rows.append(OutputRow(2, None, day, f"w{number}", made, None, "worked"))
        return rows

    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/days.db"

        def record(rows: list[OutputRow]) -> None:
            store = open_store(url)
            output_imports.import_output(store, "s", rows, b"", "bench", accept_unusual=True)
            store.engine.dispose()

        store = open_store(url)
        calendar = WorkCalendar(date(2015, 1, 1), weekdays=(0, 1, 2, 3, 4, 5, 6))
        commands.create_site(store, "s", SiteConfig(stations, 100.0, Units(0.0, 100.0), calendar, 2000, 3.0), "bench")
        worker_imports.import_workers(store, "s", [worker(number) for number in range(people)], b"", "bench")
        store.engine.dispose()
        slowest, recorded = (0.0, 0.0, 0), 0
        for day in MEASURED:
            if day > recorded + 1:
                record(output(range(recorded + 1, day)))
            rows = output([day])
            before = time.process_time()
            seconds = timed(partial(record, rows))
            slowest, recorded = max(slowest, (seconds, time.process_time() - before, day)), day
        return slowest


def live_days() -> Results:
    """Return the slowest day at sites of several sizes; `busy` is its processor time, less if the machine is loaded."""
    results: Results = {}
    for label, (people, stations, with_prior, most) in SITES.items():
        seconds, busy, day = slowest_day(people, stations, with_prior)
        results[f"a day with {label}"] = {"seconds": seconds, "busy": busy, "slowest_day": day, "at_most": most}
    return results
