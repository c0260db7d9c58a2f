"""Benchmark of the live advisor with 1,000 workers."""

import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import imports, output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import STATIONARY_POLICY, SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.explain import sentence
from limits import Results, best_of, run_part, timed
from support.workbooks import workbook

WORKERS, PERIODS = 1000, 1000
LIBRARIES = "import numpy, sqlalchemy, typer, rich.console, rich.table, pydantic"
"""The bare imports of a command; typer loads the last one itself if a command has parameters."""


def new_site(store: Store) -> None:
    """Create a site with 1,000 workers."""
    calendar = WorkCalendar(date(2015, 1, 1), weekdays=(0, 1, 2, 3, 4, 5, 6))
    config = SiteConfig(
        300, 100.0, Units(0.0, 100.0), calendar, 2000, 3.0, policy=STATIONARY_POLICY, least_tenure=0, most_a_week=None
    )
    commands.create_site(store, "s", config, "bench")
    rows = [WorkerRow(f"w{n}", active=n < 300) for n in range(WORKERS)]
    worker_imports.import_workers(store, "s", rows, b"", "bench")


def a_file(periods: range) -> bytes:
    """Return a CSV file with everybody's output in these periods."""
    rng = np.random.default_rng(1)
    lines = ["period,worker_id,units"]
    for period in periods:
        lines += [f"{period},w{n},{units:.2f}" for n, units in enumerate(rng.uniform(20, 80, WORKERS))]
    return "\n".join(lines).encode()


def an_export(days: int) -> list[list[Any]]:
    """Return the cells of a workbook with everybody's output on so many days, dates as Excel keeps them."""
    units = np.random.default_rng(1).uniform(20, 80, (days, WORKERS)).round(2).tolist()
    first = (date(2015, 1, 1) - date(1899, 12, 30)).days
    rows = [[first + day, f"w{n}", units[day][n]] for day in range(days) for n in range(WORKERS)]
    return [["Date", "Employee", "Units"], *rows]


def workbook_import(folder: str, days: int) -> Results:
    """Measure the import of a workbook by the command: seconds, and the peak memory of its process."""
    url, path = f"sqlite:///{folder}/workbook.db", Path(folder) / "export.xlsx"
    store = open_store(url)
    new_site(store)
    store.engine.dispose()
    path.write_bytes(workbook(an_export(days)))
    command = [sys.executable, "-m", "crewlearn", "output", "import", "s", str(path), "--yes", "--db", url]
    seconds = timed(lambda: subprocess.run(command, check=True, capture_output=True))
    kibibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        f"workbook_import_of_{WORKERS * days}_rows": {"seconds": seconds, "at_most": 180.0},
        "peak_memory_of_a_workbook_import": {"gibibytes": kibibytes / 2**20, "at_most": 1.5},
    }


def measure(quick: bool) -> Results:
    """Measure imports and advice at a large site; if `quick`, with a tenth of the record."""
    periods = PERIODS // 10 if quick else PERIODS
    with tempfile.TemporaryDirectory() as folder:
        results = workbook_import(folder, periods)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/bench.db"
        store = open_store(url)
        new_site(store)
        data = a_file(range(1, periods + 1))

        def bulk() -> None:
            imports.take_in(store, "s", imports.ImportFile("output", data), "bench")

        results[f"bulk_import_of_{WORKERS * periods}_rows"] = {"seconds": timed(bulk), "at_most": 60.0}

        def read() -> None:
            with store.reading() as connection:
                key, site, _ = store.site(connection, "s")
                sentence(site, read_people(connection, key))

        results["advice_in_a_running_process"] = {"seconds": best_of(5, read), "at_most": 0.05}

        def day() -> None:
            with store.reading() as connection:
                period = store.site(connection, "s")[1].period
            rows = [OutputRow(2, None, period, f"w{n}", 50.0 + n % 7, None, "worked") for n in range(WORKERS)]
            output_imports.import_output(store, "s", rows, b"", "bench", accept_unusual=True)

        results["recording_a_day_with_advice"] = {"seconds": best_of(3, day), "at_most": 1.0}
        bare = best_of(5, lambda: subprocess.run([sys.executable, "-c", LIBRARIES], check=True))
        command = [sys.executable, "-m", "crewlearn", "advise", "s", "--db", url]
        shell = best_of(5, lambda: subprocess.run(command, check=True, capture_output=True))
        results["advise_from_a_shell_above_bare_imports"] = {"seconds": shell - bare, "bare": bare, "at_most": 0.3}
        store.engine.dispose()
    return results


if __name__ == "__main__":
    run_part("advisor", measure, __doc__)
