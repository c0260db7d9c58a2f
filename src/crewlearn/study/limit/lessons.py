"""What 0/1 output tells of a mean, day by day: posteriors, and the value of a worker who is learned under prices."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.study.limit.mean_law import MeanLaw
from crewlearn.study.limit.worker import Terms, leaving_chance, plan_known

CELLS = 4096
"""Cells of [0, 1] that a law of the mean is integrated on."""


@dataclass(frozen=True)
class Lessons:
    """The first `count` days of work of somebody with 0/1 output. The last of them tells the mean, found at `nodes`.

    A state is (days worked, successes). States are numbered day by day: those after some days begin at `first(days)`.

    >>> from crewlearn.study.limit.mean_law import uniform_law
    >>> lessons = Lessons(uniform_law(0.5, 0.5 / 3.0**0.5), 3, np.linspace(0.0, 1.0, 5))
    >>> np.round(lessons.chances, 3).tolist()  # Laplace's rule of succession
    [0.5, 0.333, 0.667, 0.25, 0.5, 0.75]
    """

    law: MeanLaw
    count: int
    nodes: FloatArray

    @staticmethod
    def first(days: int) -> int:
        """Return the number of the state without success after so many days."""
        return days * (days + 1) // 2

    @cached_property
    def _cells(self) -> tuple[FloatArray, FloatArray]:
        """Masses of the law on small cells, and the mean within each; what lies at 0 or 1 has cells of its own."""
        mass, moment = self.law.below(np.linspace(0.0, 1.0, CELLS + 1))
        below_one = self.law.below(np.array([np.nextafter(1.0, 0.0)]))
        masses, moments = (
            np.diff(np.concatenate([[0.0], whole[:-1], inner, whole[-1:]]))
            for whole, inner in zip((mass, moment), below_one, strict=True)
        )
        held = masses > 0.0
        return masses[held], np.clip(moments[held] / masses[held], 0.0, 1.0)

    @cached_property
    def _likelihoods(self) -> FloatArray:
        """Mass of each cell times the likelihood of each number of successes in all days but the last."""
        masses, levels = self._cells
        successes = np.arange(self.count)[:, None]
        likelihoods: FloatArray = masses * levels**successes * (1.0 - levels) ** (self.count - 1 - successes)
        return likelihoods

    @cached_property
    def chances(self) -> FloatArray:
        """The posterior mean in each state, which is the chance that the next day is a success."""
        chances = np.empty(self.first(self.count))
        totals, moments = self._likelihoods.sum(axis=1), self._likelihoods @ self._cells[1]
        for days in range(self.count - 1, -1, -1):
            chances[self.first(days) : self.first(days + 1)] = moments / totals
            totals, moments = totals[1:] + totals[:-1], moments[1:] + moments[:-1]
        return chances

    @cached_property
    def last_weights(self) -> FloatArray:
        """Weights of the nodes in the states before the last day; no less than E for a convex function."""
        levels, width = self._cells[1], self.nodes[1] - self.nodes[0]
        hats = np.maximum(1.0 - np.abs(levels[:, None] - self.nodes) / width, 0.0)
        weights: FloatArray = self._likelihoods @ hats / self._likelihoods.sum(axis=1)[:, None]
        return weights

    @cached_property
    def _a_failure_on(self) -> IntArray:
        """The state after a failure, for states before the last day; after a success it is the next one."""
        start = self.first(self.count - 1)
        return np.arange(start) + np.repeat(np.arange(1, self.count), np.arange(1, self.count))

    def a_day_on(self, values: FloatArray, at_nodes: FloatArray) -> FloatArray:
        """Return the expectation, in each state, of values a day of work later; `at_nodes` are those of known means."""
        start, ahead = len(self._a_failure_on), self._a_failure_on
        chances = self.chances[:start]
        return np.concatenate(
            [chances * values[ahead + 1] + (1.0 - chances) * values[ahead], self.last_weights @ at_nodes]
        )


def value_learning(prices: FloatArray, lessons: Lessons, terms: Terms) -> tuple[FloatArray, FloatArray]:
    """Return the values of holding a station, from each period on: in each state, and for known means at the nodes.

    Prices have one entry a period. Who is to leave and meanwhile has had the last lesson may stay: the values only make
    the penalty, for which any would do.
    """
    periods, states = len(prices), len(lessons.chances)
    known = plan_known(prices[:, None], lessons.nodes[None], terms).inside[:, 0]
    fee, due = (0.0, terms.cost) if terms.at_completion else (terms.cost, 0.0)
    low, chance = terms.waiting.low, leaving_chance(terms)
    inside = np.zeros((periods + 1, states))
    arriving = np.zeros((periods + 1, states)) if terms.at_completion else inside
    out_next, entering = np.zeros(states), np.zeros(states)
    leaving = [np.zeros(states)] * (low + 1)
    for period in range(periods - 1, -1, -1):
        net, at_nodes = lessons.chances - prices[period], known[period + 1]
        quitting = out_next
        if terms.named:
            last = chance * out_next + (1.0 - chance) * (net + lessons.a_day_on(leaving[low], at_nodes))
            leaving = [*(net + lessons.a_day_on(later, at_nodes) for later in leaving[1:]), last]
            quitting = leaving[0]
        inside[period] = np.maximum(net + lessons.a_day_on(inside[period + 1], at_nodes), quitting)
        if terms.at_completion:
            arriving[period] = np.maximum(inside[period] - due, out_next)
        entering = terms.waiting.expect(arriving, entering, period)
        out_next = np.maximum(entering - fee, out_next)
    return inside, known
