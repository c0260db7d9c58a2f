"""What can be planned: something that lies ahead, and not so much that a machine is busy with it for days."""

import dataclasses
from typing import Any

from crewlearn.advisor.config import SiteConfig
from crewlearn.advisor.site import Site
from crewlearn.advisor.text import counted
from crewlearn.problem.errors import InvalidInput

MOST_PERIODS = 100_000
MOST_WORK = 2e10
"""Workers times periods times runs times policies: some minutes at the most."""


def periods_left(site: Site, config: SiteConfig) -> int:
    """Give how many periods lie ahead."""
    left = config.horizon if config.rolling else config.horizon - site.period + 1
    if left < 1:
        remedy = f"the planned periods are over, the coming one is {site.period}; try a horizon beyond it"
        raise InvalidInput("horizon", config.horizon, remedy)
    return left


def check_work(site: Site, runs: int, policies: int, **changes: Any) -> None:
    """Refuse at once what could not be simulated, or only in too long a time."""
    if not site.workers:
        raise InvalidInput("workers", 0, "there is nobody to plan with; import workers first")
    periods = periods_left(site, dataclasses.replace(site.config, **changes))
    if periods > MOST_PERIODS:
        raise InvalidInput("horizon", periods, f"must be at most {MOST_PERIODS:,} periods ahead")
    most = int(MOST_WORK / (len(site.workers) * periods * policies))
    if runs > most:
        whom, how_long = counted(len(site.workers), "worker"), counted(periods, "period")
        raise InvalidInput("runs", runs, f"must be at most {most:,} for {whom} over {how_long}")
