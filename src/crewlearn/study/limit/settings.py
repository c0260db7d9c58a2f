"""The settings whose limit is published: the paper's benchmark as written, with one or two things changed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import BernoulliOutput
from crewlearn.problem.model import Problem


def _with_workers(problem: Problem, **changes: Any) -> Problem:
    """Return the problem with another recipe for its workers."""
    recipe: Any = problem.workers
    return replace(problem, workers=replace(recipe, **changes))


def published_settings() -> Mapping[str, Problem]:
    """Return the settings by name: 25 workers, 10 stations, fee 5, 730 periods and mean delay 3 unless named.

    >>> published_settings()["k = 200, c = 30"].setting
    Setting(workers=200, team=10, horizon=730, cost=30.0, mean_delay=3.0)
    """
    base, failing = benchmark(), BernoulliOutput()
    return {
        "base": base,
        "c = 1": replace(base, cost=1.0),
        "c = 30": replace(base, cost=30.0),
        "c = 60": replace(base, cost=60.0),
        "m = 5": replace(base, team=5),
        "m = 20": replace(base, team=20),
        "T = 90": replace(base, horizon=90),
        "delay 14": benchmark(mean_delay=14.0),
        "k = 100": _with_workers(base, count=100),
        "k = 200": _with_workers(base, count=200),
        "k = 200, c = 30": replace(_with_workers(base, count=200), cost=30.0),
        "k = 500, m = 50": replace(_with_workers(base, count=500), team=50),
        "0/1 output": replace(base, output=failing),
        "0/1 output, c = 30": replace(base, output=failing, cost=30.0),
        "0/1 output, levels ± 0.08": replace(_with_workers(base, sd=0.08), output=failing),
    }
