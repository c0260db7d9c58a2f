"""The limit of a problem: a lower bound on the regret of any policy, with its error."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crewlearn.engine.local import MOST_RUNS, checked_runs
from crewlearn.engine.results import Summary
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import InvalidInput, one_of, whole
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table
from crewlearn.study.limit.gradual import Gradual, learns_gradually
from crewlearn.study.limit.mean_law import laws_of
from crewlearn.study.limit.pools import best_output_expected, draw_pools, luck_above
from crewlearn.study.limit.relaxation import FINE, Relaxation

LEAVERS = ("named", "open")
"""Whether policies name who leaves when they ask for a hire, as in the paper, or may leave it open until arrival."""

POOLS = 200
FEWEST_CONTROLLED = 20
"""Pools below which the coefficients of control variates cannot be estimated well enough to be of use."""

_CELLS = 8_000
"""Workers, or levels that stand for them, that are worked on at a time."""


@dataclass(frozen=True)
class Limit:
    """A lower bound on the mean regret of any policy that does not see hidden facts, over fresh pools.

    - `method`: "learning" if means have to be learned, "foresight" if a policy may know them beforehand.
    - `leavers`: the policies that it holds for: "named" or "open"; the latter are all.
    - `regrets`: one entry a pool; their mean is the bound.
    - `best`: the expected output of each pool's best team over the horizon, given the first team.
    """

    problem: Problem
    seed: int
    method: str
    leavers: str
    regrets: FloatArray
    best: FloatArray

    @property
    def regret(self) -> Summary:
        """The bound on regret: mean, standard error, and spread over pools."""
        return Summary.of(self.regrets)

    @property
    def earned(self) -> Summary:
        """The bound on what can be earned: output less fees, over the horizon."""
        return Summary.of(self.best - self.regrets)

    def to_json(self) -> dict[str, Any]:
        """Return the bound as plain data."""
        return {
            "problem": problem_to_table(self.problem),
            "method": self.method,
            "leavers": self.leavers,
            "pools": len(self.regrets),
            "seed": self.seed,
            "regret_at_least": _figure(self.regret),
            "earned_at_most": _figure(self.earned),
        }


def _figure(summary: Summary) -> dict[str, float]:
    return {"mean": summary.mean, "stderr": summary.stderr}


def limit(
    problem: Problem,
    pools: int = POOLS,
    seed: int = 1,
    leavers: str = "named",
    *,
    progress: Callable[[int], None] = lambda pools: None,
) -> Limit:
    """Return a bound on what any policy can earn in a problem, averaged over so many pools.

    The pools and first teams are those of a simulation with the same seed. `progress` is called with the number of
    pools just finished.

    >>> from crewlearn.problem.instances import benchmark
    >>> found = limit(benchmark(horizon=10), pools=8)
    >>> found.method, found.leavers, len(found.regrets)
    ('learning', 'named', 8)
    """
    whole("pools", pools, 2, MOST_RUNS)
    _, seed = checked_runs(pools, seed)
    one_of("leavers", leavers, LEAVERS)
    check_reach(problem)
    laws = laws_of(problem)
    relaxed = Relaxation.of(problem, laws, named=leavers == "named")
    held_for = "named" if relaxed.terms.named else "open"
    regrets, best, controls = np.empty(pools), np.empty(pools), np.zeros((2, pools))
    gradual = None
    cells = max(problem.workers.count, len(FINE) * len(relaxed.laws))
    if learns_gradually(problem, laws):
        gradual = Gradual.of(problem, laws, relaxed, seed, pools)
        cells = problem.workers.count * (gradual.lessons[0].count + 1)
    rows = max(1, math.floor(_CELLS / cells))
    for first in range(0, pools, rows):
        part = slice(first, min(first + rows, pools))
        runs = range(part.start, part.stop)
        drawn = draw_pools(problem, laws, seed, runs, team_known=gradual is None)
        best[part] = problem.horizon * best_output_expected(drawn, laws, problem.team)
        if relaxed.laws:
            if gradual is None:
                _, prices = relaxed.strangers_prices(drawn)
                values = relaxed.penalised_values(drawn, prices, relaxed.first_rewards(drawn, prices))
                luck = luck_above(drawn, laws, prices[problem.horizon // 2])
            else:
                values = gradual.values(drawn, runs)
                luck = luck_above(drawn, laws, np.full(len(drawn), gradual.price))
            realised = np.sort(drawn.levels, axis=1)[:, -problem.team :].sum(axis=1)
            controls[:, part] = problem.horizon * luck, problem.horizon * realised - best[part]
        else:
            start = np.tile(np.sort(drawn.levels, axis=1)[:, -problem.team], (problem.horizon, 1))
            values = relaxed.penalised_values(drawn, start, None)
        regrets[part] = best[part] - values
        progress(part.stop - part.start)
    method = "learning" if relaxed.laws else "foresight"
    return Limit(problem, seed, method, held_for, controlled(regrets, controls), best)


def controlled(values: FloatArray, controls: FloatArray) -> FloatArray:
    """Return values with the part taken off that controls with mean 0 explain; the mean stays right, with less noise.

    Each half of the values is corrected with coefficients from the other half, so that none depends on its own noise.

    >>> noise = np.linspace(-1.0, 1.0, 40)
    >>> bool(np.allclose(controlled(5.0 + 3.0 * noise, noise[None]), 5.0))
    True
    """
    if len(values) < FEWEST_CONTROLLED:
        return values
    corrected = values.copy()
    first, second = slice(0, None, 2), slice(1, None, 2)
    for own, other in ((first, second), (second, first)):
        seen = controls[:, other] - controls[:, other].mean(axis=1, keepdims=True)
        coefficients = np.linalg.lstsq(seen.T, values[other] - values[other].mean(), rcond=None)[0]
        corrected[own] -= coefficients @ controls[:, own]
    return corrected


def check_reach(problem: Problem) -> None:
    """Raise if the bound does not cover a problem: one in which people or days change."""
    for name in ("ramp", "drift", "presence"):
        table = getattr(problem, name)
        if table is not None and not table.neutral:
            remedy = "the limit covers people who do not change; leave the table out, or compare with the oracle"
            raise InvalidInput(f"[{name}]", "given", remedy)
    if problem.warmup > 0:
        raise InvalidInput("[start] warmup", problem.warmup, "the limit covers problems without a warm-up; set 0")
    if problem.output.days_differ:
        remedy = "the limit covers days that do not differ; leave out weekdays, shocks and relative spreads"
        raise InvalidInput("[output]", problem.output.law, remedy)
