"""The paper's benchmark instances, as stated in its text and as used for its printed tables.

- Means: the text draws a new pool in each run from a normal(0.5, 0.3) truncated to [0, 1]. The tables use a single
  pool, NumPy's `default_rng(12345).normal(0.5, 0.3, 25)` clipped to [0, 1].
- Delays: in the text an incoming worker is free in each later period with probability 1/mean, so delays are 1, 2, ...
  The tables count failures before a success, so delays are 0, 1, ...
"""

import dataclasses

from crewlearn.problem.errors import InvalidInput, one_of, real
from crewlearn.problem.laws import AvailabilityDelay, DelayLaw, GeometricDelay, NoDelay, UniformOutput
from crewlearn.problem.model import CONVENTIONS, Problem
from crewlearn.problem.recipes import Recipe

MONTHS = {3: 91, 6: 182, 12: 365, 24: 730}
"""Periods by number of months, as in the paper."""


def check_conventions(conventions: str) -> str:
    """Check the name of the conventions, and return it."""
    return one_of("conventions", conventions, CONVENTIONS)


def followed_conventions(problem: Problem, explicit: str | None) -> str:
    """Return the conventions that policies given by name follow: the explicit ones, else the problem's own.

    >>> followed_conventions(benchmark(conventions="as-released"), None)
    'as-released'
    """
    return problem.conventions if explicit is None else check_conventions(explicit)


def benchmark(
    team: int = 10,
    conventions: str = "as-written",
    *,
    horizon: int = 730,
    cost: float = 5.0,
    mean_delay: float = 3.0,
    instance_seed: int = 12345,
) -> Problem:
    """Return the benchmark of the paper's Section 6: 25 workers, 24 months, cost 5, mean delay 3.

    >>> benchmark(team=5, conventions="as-released").setting
    Setting(workers=25, team=5, horizon=730, cost=5.0, mean_delay=3.0)
    """
    delay: DelayLaw
    real("mean_delay", mean_delay, 0.0)
    if check_conventions(conventions) == "as-written":
        if 0.0 < mean_delay < 1.0:
            raise InvalidInput("mean_delay", mean_delay, "as written a delay is none or at least 1; choose 0 or >= 1")
        pool = Recipe("truncated-normal", count=25, mean=0.5, sd=0.3, seed=instance_seed, per_run=True)
        delay = AvailabilityDelay(p=1.0 / mean_delay) if mean_delay > 0 else NoDelay()
    else:
        pool = Recipe("clipped-normal", count=25, mean=0.5, sd=0.3, seed=instance_seed)
        delay = GeometricDelay(mean=mean_delay, first=0) if mean_delay > 0 else NoDelay()
    return Problem(
        team=team,
        horizon=horizon,
        cost=cost,
        workers=pool,
        output=UniformOutput(half_width=0.1),
        delay=delay,
        conventions=conventions,
    )


def design_choices(horizon: int, conventions: str = "as-written", *, cost: float = 5.0) -> Problem:
    """Return the benchmark of the design-choice and high-cost tables, whose horizons are 90 and 365."""
    return _short_delays(benchmark(conventions=conventions, horizon=horizon, cost=cost), conventions)


def gamma_curve(conventions: str = "as-written") -> Problem:
    """Return the five-year instance on which the paper compares values of gamma."""
    return _short_delays(benchmark(conventions=conventions, horizon=1825, instance_seed=1), conventions)


def _short_delays(problem: Problem, conventions: str) -> Problem:
    """Under as-released conventions, draw delays with mean 2 but tell policies 3, as the paper's code did."""
    if conventions == "as-written":
        return problem
    return dataclasses.replace(problem, delay=GeometricDelay(mean=2.0, first=0), assumed_mean_delay=3.0)
