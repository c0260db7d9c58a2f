"""How long the demo site and plans take; says which limits are missed.

Plans are timed once compiled: what compiling takes is paid once for a version.
"""

import json
import sys
import tempfile
import time
from datetime import date
from typing import Any

import numpy as np

from crewlearn.advisor.calendar import WorkCalendar
from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.site import Site, Worker
from crewlearn.advisor.store import open_store
from crewlearn.advisor.units import Units
from crewlearn.planning.demo import make_demo
from crewlearn.planning.plan import plan
from crewlearn.policies.estimates import Estimates
from crewlearn.problem.roster import Roster


def a_site(workers: int, team: int, horizon: int, days: int = 100) -> Site:
    """Give a site whose team was seen on so many days, in a warehouse's noise."""
    rng = np.random.default_rng(1)
    output = np.clip(rng.normal(rng.normal(0.5, 0.05, (team, 1)), 0.15, (team, days)), 0.0, 1.0)
    unseen = np.zeros(workers - team)
    estimates = Estimates(
        np.repeat([days, 0], [team, workers - team]),
        np.concatenate([output.sum(axis=1), unseen]),
        np.concatenate([(output**2).sum(axis=1), unseen]),
    )
    units, calendar = Units(30.0, 130.0, 0.22, 7.5), WorkCalendar(date(2026, 1, 5))
    config = SiteConfig(team, 500.0, units, calendar, horizon, mean_delay=3.0, rolling=True)
    roster = Roster.start(workers, range(team), team)
    return Site(config, roster, estimates, [Worker(since=1) for _ in range(workers)], period=days + 1)


def the_demo() -> dict[str, Any]:
    """Make the demo site in a fresh file."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        store = open_store(f"sqlite:///{folder}/demo.db")
        make_demo(store)
        store.engine.dispose()
        return {"seconds": time.perf_counter() - started, "at_most": 10.0}


def a_plan(workers: int, team: int, horizon: int, runs: int, at_most: float) -> dict[str, Any]:
    """Plan with the policies that are compared by default."""
    site = a_site(workers, team, horizon)
    plan(site, runs=2)
    started = time.perf_counter()
    plan(site, runs=runs)
    return {"seconds": time.perf_counter() - started, "at_most": at_most}


def main() -> None:
    """Measure, and say what was missed."""
    results = {
        "demo": the_demo(),
        "plan, 25 workers, 10 stations, 365 periods, 500 runs": a_plan(25, 10, 365, 500, 10.0),
        "plan, 1000 workers, 100 stations, 250 periods, 100 runs": a_plan(1000, 100, 250, 100, 10.0),
    }
    print(json.dumps(results, indent=2))
    sys.exit(any(one["seconds"] > one["at_most"] for one in results.values()))


if __name__ == "__main__":
    main()
