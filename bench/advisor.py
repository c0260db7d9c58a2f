"""How fast the live advisor is at 1,000 workers; writes bench-advisor.json and says which limits are missed."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from crewlearn.advisor import commands, imports
from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.csv_in import OutputRow, WorkerRow, read_output
from crewlearn.advisor.explain import sentence
from crewlearn.advisor.identities import read_people
from crewlearn.advisor.store import Store, open_store
from crewlearn.advisor.units import Units

WORKERS, PERIODS = 1000, 1000
LIBRARIES = "import numpy, sqlalchemy, typer, rich.console, rich.table, pydantic"
"""The last is loaded by typer itself, as soon as a command has parameters."""


def timed(work: Callable[[], object]) -> float:
    """Give the seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def best_of(times: int, work: Callable[[], object]) -> float:
    """Give the shortest of several timings: what the machine can do when nobody else uses it."""
    return min(timed(work) for _ in range(times))


def new_site(store: Store) -> None:
    """Set up a site of 1,000 workers."""
    calendar = WorkCalendar(date(2015, 1, 1), weekdays=(0, 1, 2, 3, 4, 5, 6))
    config = SiteConfig(300, 100.0, Units(0.0, 100.0), calendar, 2000, 3.0)
    commands.create_site(store, "s", config, "bench")
    rows = [WorkerRow(f"w{n}", active=n < 300) for n in range(WORKERS)]
    imports.import_workers(store, "s", rows, b"", "bench")


def a_file(periods: range) -> bytes:
    """Give a CSV file with everybody's output in these periods."""
    rng = np.random.default_rng(1)
    lines = ["period,worker_id,units"]
    for period in periods:
        lines += [f"{period},w{n},{units:.2f}" for n, units in enumerate(rng.uniform(20, 80, WORKERS))]
    return "\n".join(lines).encode()


def main() -> None:
    """Measure, write, and say what was missed."""
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/bench.db"
        store = open_store(url)
        new_site(store)
        data = a_file(range(1, PERIODS + 1))

        def bulk() -> None:
            imports.import_output(store, "s", read_output(data), data, "bench")

        results["bulk_import_of_a_million_rows"] = {"seconds": timed(bulk), "at_most": 60.0}

        def read() -> None:
            with store.reading() as connection:
                key, site, _ = store.site(connection, "s")
                sentence(site, read_people(connection, key))

        results["advice_in_a_running_process"] = {"seconds": best_of(5, read), "at_most": 0.05}

        def day() -> None:
            with store.reading() as connection:
                period = store.site(connection, "s")[1].period
            rows = [OutputRow(2, None, period, f"w{n}", 50.0 + n % 7, None, "worked") for n in range(WORKERS)]
            imports.import_output(store, "s", rows, b"", "bench")

        results["recording_a_day_with_advice"] = {"seconds": best_of(3, day), "at_most": 1.0}
        bare = best_of(5, lambda: subprocess.run([sys.executable, "-c", LIBRARIES], check=True))
        command = [sys.executable, "-m", "crewlearn", "advise", "s", "--db", url]
        shell = best_of(5, lambda: subprocess.run(command, check=True, capture_output=True))
        results["advise_from_a_shell_above_bare_imports"] = {"seconds": shell - bare, "bare": bare, "at_most": 0.3}
        store.engine.dispose()
    missed = [name for name, one in results.items() if one["seconds"] > one["at_most"]]
    Path("bench-advisor.json").write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(results, indent=2))
    print("every limit kept" if not missed else f"MISSED: {', '.join(missed)}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
