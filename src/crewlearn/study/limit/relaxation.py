"""The relaxed problem of some pools: workers alone under prices, first as strangers, then known at a penalty."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.model import Problem
from crewlearn.study.limit.mean_law import MeanLaw
from crewlearn.study.limit.pools import Pools
from crewlearn.study.limit.prices import lowest
from crewlearn.study.limit.waiting import Waiting, waiting_of
from crewlearn.study.limit.worker import Plan, Terms, TrialPlan, places_held, plan_known, plan_untried

COARSE, FINE = np.linspace(0.0, 1.0, 33), np.linspace(0.0, 1.0, 129)
"""Levels that stand for unknown means: while prices are sought, and for the penalty."""

ROUNDS = 80
"""Steps of each minimisation."""


@dataclass(frozen=True)
class Relaxation:
    """A problem without what the bound leaves out.

    `kinds` numbers workers with the same law of the mean and the same delays. It is -1 for a mean that is known.
    """

    periods: int
    team: int
    terms: Terms
    laws: tuple[MeanLaw, ...]
    kinds: IntArray
    kind_success: FloatArray | None
    may_be_empty: bool

    @classmethod
    def of(cls, problem: Problem, laws: Sequence[MeanLaw | None], *, named: bool) -> "Relaxation":
        """Return the relaxation of a problem."""
        waiting = waiting_of(problem)
        numbers: dict[tuple[object, float], int] = {}
        distinct: list[MeanLaw] = []
        kinds = np.full(problem.workers.count, -1)
        for worker, law in enumerate(laws):
            if law is None:
                continue
            success = 1.0 if waiting.success is None else float(waiting.success[worker])
            if (law.name, success) not in numbers:
                numbers[law.name, success] = len(distinct)
                distinct.append(law)
            kinds[worker] = numbers[law.name, success]
        return cls(
            periods=problem.horizon,
            team=problem.team,
            terms=Terms(
                float(problem.cost), problem.fee_due == "completion", waiting, named=named and waiting.is_common
            ),
            laws=tuple(distinct),
            kinds=kinds,
            kind_success=None if waiting.success is None else np.array([success for _, success in numbers]),
            may_be_empty=-1 in problem.first_stations,
        )

    @cached_property
    def _coarse_weights(self) -> FloatArray:
        return np.array([law.weights(COARSE) for law in self.laws])

    @cached_property
    def _fine_weights(self) -> FloatArray:
        return np.array([law.weights(FINE) for law in self.laws])

    @cached_property
    def _kind_terms(self) -> Terms:
        return self._terms_with(self.kind_success)

    def _terms_with(self, success: FloatArray | None) -> Terms:
        waiting = self.terms.waiting
        own = waiting if waiting.success is None else Waiting(waiting.low, waiting.high, success)
        return Terms(self.terms.cost, self.terms.at_completion, own, self.terms.named)

    def strangers_prices(self, pools: Pools) -> tuple[FloatArray, FloatArray]:
        """Return the lowest duals found where unknown means stay unknown until the first period of work, and prices.

        The duals are bounds themselves: the classical ones, which let the team's size hold on average only.
        """
        columns, counted = pools.known_first()
        known = np.take_along_axis(pools.levels, columns, axis=1)
        in_team = np.take_along_axis(pools.in_team, columns, axis=1) & counted
        n_known, n_nodes, rows = known.shape[1], len(COARSE), len(pools)
        levels = np.concatenate([known, np.tile(COARSE, (rows, len(self.laws)))], axis=1)
        members = np.stack([(pools.untried & (self.kinds == kind)).sum(axis=1) for kind in range(len(self.laws))], 1)
        weights = self._coarse_weights
        waiting = self.terms.waiting
        success = None
        if waiting.success is not None and self.kind_success is not None:
            of_nodes = np.tile(np.repeat(self.kind_success, n_nodes), (rows, 1))
            success = np.concatenate([waiting.success[columns], of_nodes], axis=1)
        terms = self._terms_with(success)
        inside, outside, untried = (np.zeros(levels.shape) for _ in range(3))
        inside[:, :n_known] = in_team
        outside[:, :n_known] = counted & ~in_team
        untried[:, n_known:] = (members[:, :, None] * weights).reshape(rows, -1)
        kind_of = np.concatenate([np.zeros(n_known, dtype=np.int64), np.repeat(np.arange(len(self.laws)), n_nodes)])

        def dual(prices: FloatArray) -> tuple[FloatArray, FloatArray]:
            plan = plan_known(prices, levels, terms)
            of_nodes = plan.inside[:, :, n_known:].reshape(self.periods + 1, rows, len(self.laws), n_nodes)
            first = weights @ COARSE - prices[:, :, None] + (of_nodes[1:] * weights).sum(axis=3)
            trial = plan_untried(first, self._kind_terms)
            values = (plan.inside[0] * inside + plan.outside * outside).sum(axis=1)
            values = values + (trial.outside * members).sum(axis=1) + self.team * prices.sum(axis=0)
            spread = TrialPlan(trial.outside, trial.works[:, :, kind_of], trial.asks[:, :, kind_of])
            return values, self.team - places_held(plan, spread, inside, outside, untried, terms)

        # Unknown means must not show in these prices, not even through where their search begins.
        start = np.tile((known * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1), (self.periods, 1))
        return lowest(dual, start, self.team, len(self.kinds), ROUNDS, never_negative=self.may_be_empty)

    def first_rewards(self, pools: Pools, prices: FloatArray) -> FloatArray:
        """Return what a first period of work yields in each period, for each worker: the mean less the penalty.

        The penalty of a worker is the value, under the prices, of what the first period tells of the mean, less the
        expectation of that value. So the prices must not depend on means that are not known.
        """
        rows = len(pools)
        nodes = np.tile(FINE, (rows, len(self.laws)))
        success = None if self.kind_success is None else np.repeat(self.kind_success, len(FINE))
        drawn = plan_known(prices, nodes, self._terms_with(success)).inside
        drawn = drawn.reshape(self.periods + 1, rows, len(self.laws), len(FINE))
        expected = (drawn[1:] * self._fine_weights).sum(axis=3) + self._fine_weights @ FINE
        own = plan_known(prices, pools.levels, self.terms).inside
        return np.where(pools.untried, expected[:, :, self.kinds] - own[1:], 0.0)

    def penalised_values(self, pools: Pools, start: FloatArray, rewards: FloatArray | None) -> FloatArray:
        """Return the lowest duals found where all means are known and first periods of work yield `rewards`."""
        inside, outside = (np.asarray(mask, dtype=np.float64) for mask in (pools.in_team, ~pools.in_team))
        untried = np.asarray(pools.untried, dtype=np.float64)
        outside = outside - untried
        nothing = np.zeros((self.periods, *pools.levels.shape), dtype=np.bool_)

        def dual(prices: FloatArray) -> tuple[FloatArray, FloatArray]:
            plan: Plan = plan_known(prices, pools.levels, self.terms)
            trial = TrialPlan(np.zeros(pools.levels.shape), nothing, nothing)
            if rewards is not None:
                trial = plan_untried(rewards - prices[:, :, None] + plan.inside[1:], self.terms)
            values = (plan.inside[0] * inside + plan.outside * outside + trial.outside * untried).sum(axis=1)
            held = places_held(plan, trial, inside, outside, untried, self.terms)
            return values + self.team * prices.sum(axis=0), self.team - held

        return lowest(dual, start, self.team, len(self.kinds), ROUNDS, never_negative=self.may_be_empty)[0]
