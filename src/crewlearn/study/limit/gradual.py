"""The relaxed problem where output is 0/1: means are learned day by day, and luck known beforehand is paid for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from crewlearn.engine.world import World
from crewlearn.problem.arrays import BoolArray, FloatArray
from crewlearn.problem.laws import BernoulliOutput
from crewlearn.problem.model import Problem
from crewlearn.study.limit.lessons import Lessons, value_learning
from crewlearn.study.limit.mean_law import MeanLaw
from crewlearn.study.limit.pools import Pools, draw_pools
from crewlearn.study.limit.prices import lowest
from crewlearn.study.limit.relaxation import FINE, Relaxation
from crewlearn.study.limit.stages import places_held_in_stages, plan_stages
from crewlearn.study.limit.waiting import Waiting
from crewlearn.study.limit.worker import Terms, plan_known

LEAST_LESSONS, MOST_LESSONS = 64, 256
PRECISION = 8.0
"""Lessons are as many as tell a mean this many times as precisely as its law, within the limits above."""

STORED = 25_000_000
"""Most numbers that a table of values holds; with fewer lessons the bound is valid and less tight."""

ROUNDS, PILOT_ROUNDS = 40, 20
"""Steps of each minimisation, and of those in pilot pools."""

PILOTS = 4
"""Pools, beside those of the bound, in which the price of the penalty is chosen."""

ABOVE_ORACLE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Prices to choose from: standard deviations of the means above the last place of the best team."""


def learns_gradually(problem: Problem, laws: Sequence[MeanLaw | None]) -> bool:
    """Return whether the bound follows learning day by day: with independent 0/1 output and means to be learned."""
    output = problem.output
    return isinstance(output, BernoulliOutput) and output.day_effect_sd == 0.0 and any(law is not None for law in laws)


@dataclass(frozen=True)
class Gradual:
    """The relaxed problem, with `lessons` for each kind of worker and the price that the penalty is made at."""

    problem: Problem
    laws: Sequence[MeanLaw | None]
    relaxed: Relaxation
    seed: int
    lessons: tuple[Lessons, ...]
    price: float = 0.0

    @classmethod
    def of(
        cls, problem: Problem, laws: Sequence[MeanLaw | None], relaxed: Relaxation, seed: int, pools: int
    ) -> "Gradual":
        """Return the relaxation of a problem, with a penalty chosen in runs beyond the bound's `pools`."""
        weights = [law.weights(FINE) for law in relaxed.laws]
        variance = min(float(chance @ FINE**2 - (chance @ FINE) ** 2) for chance in weights)
        count = min(max(math.ceil(PRECISION * 0.25 / variance), LEAST_LESSONS), MOST_LESSONS, problem.horizon)
        count = min(count, math.isqrt(2 * STORED // (len(relaxed.laws) * problem.horizon)))
        count = max(1, min(count, STORED // (problem.workers.count * problem.horizon) - 1))
        lessons = tuple(Lessons(law, count, FINE) for law in relaxed.laws)
        found = cls(problem, laws, relaxed, seed, lessons)
        runs = range(pools, pools + PILOTS)
        drawn = found.draw(runs)
        last = float(np.sort(drawn.levels, axis=1)[:, -problem.team].mean())
        values = {}
        for share in ABOVE_ORACLE:
            priced = replace(found, price=last + share * math.sqrt(variance))
            values[priced.price] = float(priced.values(drawn, runs, PILOT_ROUNDS).mean())
        return replace(found, price=min(values, key=lambda price: values[price]))

    def draw(self, runs: range) -> Pools:
        """Draw the pools of some runs, in which the team, too, is to be learned."""
        return draw_pools(self.problem, self.laws, self.seed, runs, team_known=False)

    def values(self, pools: Pools, runs: range, rounds: int = ROUNDS) -> FloatArray:
        """Return the lowest duals found where means and outputs are known, and luck is paid for."""
        return self.penalised_values(pools, self.rewards(pools, self._days_won(runs)), rounds)

    @property
    def _count(self) -> int:
        return self.lessons[0].count

    def _days_won(self, runs: range) -> BoolArray:
        """Return which days of work, before the last lesson, are successes: (runs, workers, days)."""
        won = np.zeros((len(runs), self.problem.workers.count, self._count - 1), dtype=np.bool_)
        for row, run in enumerate(runs):
            world = World(self.problem, self.seed, run)
            for worker in range(won.shape[1]):
                won[row, worker] = [world.output(day + 1, worker) > 0.5 for day in range(won.shape[2])]
        return won

    @cached_property
    def _learned_at_price(self) -> list[tuple[FloatArray, FloatArray]]:
        prices = np.full(self.relaxed.periods, self.price)
        success = self.relaxed.kind_success
        return [
            value_learning(prices, lessons, self._terms(None if success is None else success[kind : kind + 1]))
            for kind, lessons in enumerate(self.lessons)
        ]

    def _terms(self, success: FloatArray | None) -> Terms:
        """Return the terms with these chances; leavers of whom delays are uniform may leave at once."""
        terms = self.relaxed.terms
        waiting = Waiting(terms.waiting.low, terms.waiting.high, success)
        fixed = success is not None or waiting.low == waiting.high
        return replace(terms, waiting=waiting, named=terms.named and fixed)

    def rewards(self, pools: Pools, won: BoolArray) -> FloatArray:
        """Return what a period of work yields by period, pool, worker and lesson; the last entry is for known means.

        It is the posterior mean, less the penalty: by how much the value at the price of what the day tells exceeds
        what was to be expected.
        """
        periods, count, first = self.relaxed.periods, self._count, Lessons.first
        yields = np.zeros((periods, *pools.levels.shape, count + 1))
        yields[..., count] = pools.levels
        own = plan_known(np.full((periods, len(pools)), self.price), pools.levels, self.relaxed.terms).inside
        before = np.concatenate([np.zeros((*won.shape[:2], 1), dtype=np.int64), won.cumsum(axis=2)], axis=2)
        for kind, (inside, at_nodes) in enumerate(self._learned_at_price):
            lessons, mine = self.lessons[kind], np.flatnonzero(self.relaxed.kinds == kind)
            for day in range(count - 1):
                successes = before[:, mine, day]
                chances = lessons.chances[first(day) + successes]
                failed = first(day + 1) + successes
                differs = inside[1:][:, failed + 1] - inside[1:][:, failed]
                yields[:, :, mine, day] = chances - (won[:, mine, day] - chances) * differs
            successes = before[:, mine, count - 1]
            expected = (at_nodes[1:] @ lessons.last_weights.T)[:, successes]
            yields[:, :, mine, count - 1] = (
                lessons.chances[first(count - 1) + successes] + expected - own[1:][:, :, mine]
            )
        return yields

    def penalised_values(self, pools: Pools, yields: FloatArray, rounds: int) -> FloatArray:
        """Return the lowest duals found where a period of work yields these rewards."""
        relaxed, success = self.relaxed, self.relaxed.terms.waiting.success
        terms = self._terms(None if success is None else success[:, None])
        inside, outside = (np.zeros(yields.shape[1:]) for _ in range(2))
        for stage, untried in ((0, pools.untried), (-1, ~pools.untried)):
            inside[..., stage] = untried & pools.in_team
            outside[..., stage] = untried & ~pools.in_team

        def dual(prices: FloatArray) -> tuple[FloatArray, FloatArray]:
            plan = plan_stages(prices, yields, terms)
            values = (plan.inside * inside + plan.outside * outside).sum(axis=(1, 2))
            held = places_held_in_stages(plan, inside, outside, terms)
            return values + relaxed.team * prices.sum(axis=0), relaxed.team - held

        start = np.full((relaxed.periods, len(pools)), self.price)
        return lowest(dual, start, relaxed.team, len(relaxed.kinds), rounds, never_negative=relaxed.may_be_empty)[0]
