"""One worker alone under a price on places: the best plan, its value, and where it puts the worker.

Arrays have the shape (periods, rows, columns): a row is a pool with its own prices, a column a worker. In each period a
worker who is out may be asked for, at the fee, and works once the delay is over. A worker who holds a station earns the
mean less the period's price. Leaving is free. Where the leaver must be named beforehand it takes a delay of its own.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import BoolArray, FloatArray
from crewlearn.study.limit.waiting import Flow, Waiting


@dataclass(frozen=True)
class Terms:
    """The fee, whether it is due at completion, the delays, and whether a leaver is named when a hire is asked for."""

    cost: float
    at_completion: bool
    waiting: Waiting
    named: bool


def leaving_chance(terms: Terms) -> float:
    """Return the chance that a leaver goes in a period, once the least delay is over; delays are fixed or geometric."""
    return 1.0 if terms.waiting.success is None else float(terms.waiting.success.flat[0])


class Plan(NamedTuple):
    """The best plan of workers whose means are known: values from each period on, and where it stays and asks."""

    inside: FloatArray
    """The value of holding a station at the start of a period; the last entry, after the end, is 0."""
    outside: FloatArray
    """The value of being out, in the first period."""
    stays: BoolArray
    asks: BoolArray
    takes: BoolArray | None
    """Where the fee, if due at completion, is paid for whoever arrives; None if it was due before."""


class TrialPlan(NamedTuple):
    """The best plan of untried workers who are out: its value in the first period, and where it works and asks."""

    outside: FloatArray
    works: BoolArray
    asks: BoolArray


def plan_known(prices: FloatArray, levels: FloatArray, terms: Terms) -> Plan:
    """Solve the problem of workers with known means, given prices (periods, rows) and levels (rows, columns)."""
    periods, shape = len(prices), levels.shape
    inside = np.zeros((periods + 1, *shape))
    stays, asks = np.zeros((periods, *shape), dtype=np.bool_), np.zeros((periods, *shape), dtype=np.bool_)
    out_next, entering = np.zeros(shape), np.zeros(shape)
    arriving = np.zeros((periods + 1, *shape)) if terms.at_completion else inside
    takes = np.zeros((periods, *shape), dtype=np.bool_) if terms.at_completion else None
    earned = gone = leaving = None
    if terms.named:
        earned = _earned_before(prices, levels)
        gone = np.empty((periods + 1, *shape))
        gone[periods] = leaving = earned[periods]
    fee = 0.0 if terms.at_completion else terms.cost
    for period in range(periods - 1, -1, -1):
        staying = levels - prices[period][:, None] + inside[period + 1]
        if earned is None or gone is None or leaving is None:
            quitting = out_next
        else:
            gone[period] = earned[period] + out_next
            leaving = terms.waiting.expect(gone, leaving, period)
            quitting = leaving - earned[period]
        np.greater_equal(staying, quitting, out=stays[period])
        np.maximum(staying, quitting, out=inside[period])
        if takes is not None:
            np.greater_equal(inside[period] - terms.cost, out_next, out=takes[period])
            np.maximum(inside[period] - terms.cost, out_next, out=arriving[period])
        entering = terms.waiting.expect(arriving, entering, period)
        asking = entering - fee
        np.greater(asking, out_next, out=asks[period])
        out_next = np.maximum(asking, out_next)
    return Plan(inside, out_next, stays, asks, takes)


def plan_untried(trials: FloatArray, terms: Terms) -> TrialPlan:
    """Solve the problem of untried workers; `trials` are the values of working first in each period, and onwards."""
    periods, shape = len(trials), trials.shape[1:]
    works, asks = np.zeros(trials.shape, dtype=np.bool_), np.zeros(trials.shape, dtype=np.bool_)
    arriving = np.zeros((periods + 1, *shape))
    out_next, entering = np.zeros(shape), np.zeros(shape)
    due, fee = (terms.cost, 0.0) if terms.at_completion else (0.0, terms.cost)
    for period in range(periods - 1, -1, -1):
        working = trials[period] - due
        np.greater_equal(working, out_next, out=works[period])
        np.maximum(working, out_next, out=arriving[period])
        entering = terms.waiting.expect(arriving, entering, period)
        asking = entering - fee
        np.greater(asking, out_next, out=asks[period])
        out_next = np.maximum(asking, out_next)
    return TrialPlan(out_next, works, asks)


def places_held(
    plan: Plan, trial: TrialPlan, inside: FloatArray, outside: FloatArray, untried: FloatArray, terms: Terms
) -> FloatArray:
    """Return the expected number of workers at work by period and row, from masses of workers by first state."""
    periods = len(plan.stays)
    tried_entries, first_entries, departures = (Flow(terms.waiting, inside.shape) for _ in range(3))
    leaving = np.zeros(inside.shape)
    held = np.empty((periods, len(inside)))
    for period in range(periods):
        asked = np.where(plan.asks[period], outside, 0.0)
        arrived = tried_entries.step(asked)
        first_asked = np.where(trial.asks[period], untried, 0.0)
        first_arrived = first_entries.step(first_asked)
        if plan.takes is not None:
            taken = np.where(plan.takes[period], arrived, 0.0)
            outside, arrived = outside + arrived - taken, taken
        inside = inside + arrived
        giving_up = np.where(plan.stays[period], 0.0, inside)
        inside = inside - giving_up
        if terms.named:
            leaving = leaving + giving_up
            gone = departures.step(giving_up)
            leaving = leaving - gone
        else:
            gone = giving_up
        outside = outside - asked + gone
        turned_away = np.where(trial.works[period], 0.0, first_arrived)
        untried = untried - first_asked + turned_away
        inside = inside + first_arrived - turned_away
        held[period] = (inside + leaving).sum(axis=1)
    return held


def _earned_before(prices: FloatArray, levels: FloatArray) -> FloatArray:
    """Return what a worker who works throughout earns, less the prices, before each period and in all."""
    paid = np.concatenate([np.zeros((1, prices.shape[1])), np.cumsum(prices, axis=0)])
    counts = np.arange(len(prices) + 1, dtype=np.float64)
    earned: FloatArray = counts[:, None, None] * levels[None] - paid[:, :, None]
    return earned
