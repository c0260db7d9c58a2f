"""Benchmark of the demo site and of plans.

Plans are timed after compiling, which happens only once per version.
"""

import tempfile
from datetime import date
from typing import Any

import numpy as np

from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.settings.calendar import WorkCalendar
from crewlearn.advisor.ledger.settings.config import STATIONARY_POLICY, SiteConfig
from crewlearn.advisor.ledger.settings.units import Units
from crewlearn.advisor.ledger.site import Site, Worker
from crewlearn.beliefs.estimates import Estimates
from crewlearn.planning.backtest.replay import replay
from crewlearn.planning.demo import make_demo
from crewlearn.planning.futures.record import Record
from crewlearn.planning.futures.worlds import Terms
from crewlearn.planning.plan import plan
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.problem.laws import GeometricDelay
from crewlearn.problem.roster import Roster
from limits import Results, run_part, timed


def a_site(workers: int, team: int, horizon: int, days: int = 100) -> Site:
    """Return a site whose team was observed for `days` days, with the noise of a warehouse."""
    rng = np.random.default_rng(1)
    output = np.clip(rng.normal(rng.normal(0.5, 0.05, (team, 1)), 0.15, (team, days)), 0.0, 1.0)
    unseen = np.zeros(workers - team)
    estimates = Estimates(
        np.repeat([days, 0], [team, workers - team]),
        np.concatenate([output.sum(axis=1), unseen]),
        np.concatenate([(output**2).sum(axis=1), unseen]),
    )
    units, calendar = Units(30.0, 130.0, 0.22, 7.5), WorkCalendar(date(2026, 1, 5))
    config = SiteConfig(
        team,
        500.0,
        units,
        calendar,
        horizon,
        mean_delay=3.0,
        rolling=True,
        policy=STATIONARY_POLICY,
        least_tenure=0,
        most_a_week=None,
    )
    roster = Roster.start(workers, range(team), team)
    return Site(config, roster, estimates, [Worker(since=1) for _ in range(workers)], period=days + 1)


def a_year_replayed(workers: int = 200, team: int = 60, days: int = 250) -> dict[str, Any]:
    """Time the backtest of a year of 200 people, one of whom changes every other day."""
    rng = np.random.default_rng(2)
    levels, stations = rng.normal(0.6, 0.06, workers), np.zeros((team, days), dtype=np.int64)
    output, holders = np.full((workers, days), np.nan), np.arange(team)
    for day in range(days):
        if day % 2:
            holders[rng.integers(team)] = rng.choice(np.setdiff1d(np.arange(workers), holders))
        stations[:, day] = holders
        output[holders, day] = np.clip(levels[holders] + rng.normal(0.0, 0.05, team), 0.0, 1.0)
    nothing, experience = np.zeros(workers, dtype=np.int64), np.zeros(workers, dtype=np.int64)
    experience[:team] = 10**6
    record = Record(
        output, stations, experience, nothing, np.zeros(workers), np.zeros(days, np.int64), nothing, nothing
    )
    terms = Terms(team, days - 30, 1.85, GeometricDelay(3.5, first=1), 120)
    policy = ValueOfReplacementEvolving()
    return {"seconds": timed(lambda: replay(record, policy, terms, 31, runs=200)), "at_most": 60.0}


def the_demo() -> dict[str, Any]:
    """Time the creation of the demo site in a new file."""
    with tempfile.TemporaryDirectory() as folder:

        def make() -> None:
            with open_store(f"sqlite:///{folder}/demo.db") as store:
                make_demo(store)

        return {"seconds": timed(make), "at_most": 10.0}


def a_plan(workers: int, team: int, horizon: int, runs: int, at_most: float) -> dict[str, Any]:
    """Time a plan with the default policies."""
    site = a_site(workers, team, horizon)
    plan(site, runs=2)
    return {"seconds": timed(lambda: plan(site, runs=runs)), "at_most": at_most}


def measure(quick: bool) -> Results:
    """Measure the demo, plans and a backtest; if `quick`, skip the larger ones."""
    results = {
        "demo": the_demo(),
        "plan, 25 workers, 10 stations, 365 periods, 500 runs": a_plan(25, 10, 365, 500, 10.0),
    }
    if not quick:
        results["backtest of a year, 200 workers, 60 stations, 200 draws"] = a_year_replayed()
        results["plan, 1000 workers, 100 stations, 250 periods, 100 runs"] = a_plan(1000, 100, 250, 100, 10.0)
    return results


if __name__ == "__main__":
    run_part("planning", measure, __doc__)
