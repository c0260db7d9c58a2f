"""Workers with known means and outputs who go through stages as they work, alone under a price on places.

Arrays have the shape (rows, columns, stages): a row is a pool, a column a worker. A period of work leads to the next
stage; the last stage leads to itself.
"""

from typing import NamedTuple

import numpy as np

from crewlearn.problem.arrays import BoolArray, FloatArray
from crewlearn.study.limit.waiting import Flow
from crewlearn.study.limit.worker import Terms, leaving_chance


class StagedPlan(NamedTuple):
    """The best plan: values in the first period, and by period and stage where it stays, asks and takes."""

    inside: FloatArray
    outside: FloatArray
    stays: BoolArray
    asks: BoolArray
    takes: BoolArray | None


def plan_stages(prices: FloatArray, rewards: FloatArray, terms: Terms) -> StagedPlan:
    """Solve the problem of workers whose work yields `rewards` (periods, rows, columns, stages), given prices."""
    periods, shape = len(prices), rewards.shape[1:]
    low, chance = terms.waiting.low, leaving_chance(terms)
    inside = np.zeros((periods + 1, *shape))
    stays, asks = np.zeros((periods, *shape), dtype=np.bool_), np.zeros((periods, *shape), dtype=np.bool_)
    takes = np.zeros((periods, *shape), dtype=np.bool_) if terms.at_completion else None
    arriving = np.zeros((periods + 1, *shape)) if terms.at_completion else inside
    out_next, entering = np.zeros(shape), np.zeros(shape)
    leaving = [np.zeros(shape)] * (low + 1)
    fee = 0.0 if terms.at_completion else terms.cost
    for period in range(periods - 1, -1, -1):
        net = rewards[period] - prices[period][:, None, None]
        staying = net + _a_stage_on(inside[period + 1])
        quitting = out_next
        if terms.named:
            last = net + _a_stage_on(leaving[low])
            last = chance * out_next + (1.0 - chance) * last
            leaving = [*(net + _a_stage_on(leaving[waited + 1]) for waited in range(low)), last]
            quitting = leaving[0]
        np.greater_equal(staying, quitting, out=stays[period])
        np.maximum(staying, quitting, out=inside[period])
        if takes is not None:
            np.greater_equal(inside[period] - terms.cost, out_next, out=takes[period])
            np.maximum(inside[period] - terms.cost, out_next, out=arriving[period])
        entering = terms.waiting.expect(arriving, entering, period)
        asking = entering - fee
        np.greater(asking, out_next, out=asks[period])
        out_next = np.maximum(asking, out_next)
    return StagedPlan(inside[0], out_next, stays, asks, takes)


def places_held_in_stages(plan: StagedPlan, inside: FloatArray, outside: FloatArray, terms: Terms) -> FloatArray:
    """Return the expected number of workers at work by period and row, from masses of workers by first stage."""
    periods, shape = len(plan.stays), inside.shape
    low, chance = terms.waiting.low, leaving_chance(terms)
    entries = Flow(terms.waiting, shape)
    leaving = [np.zeros(shape)] * (low + 1)
    held = np.empty((periods, shape[0]))
    for period in range(periods):
        asked = np.where(plan.asks[period], outside, 0.0)
        arrived = entries.step(asked)
        if plan.takes is not None:
            taken = np.where(plan.takes[period], arrived, 0.0)
            outside, arrived = outside + arrived - taken, taken
        inside = inside + arrived
        gone = np.where(plan.stays[period], 0.0, inside)
        inside = inside - gone
        held[period] = inside.sum(axis=(1, 2))
        inside = _worked(inside)
        if terms.named:
            leaving[0] = leaving[0] + gone
            gone = chance * leaving[low]
            leaving[low] = leaving[low] - gone
            held[period] += sum(waiting.sum(axis=(1, 2)) for waiting in leaving)
            moved = [_worked(waiting) for waiting in leaving]
            leaving = [np.zeros(shape), *moved[:low]]
            leaving[low] = leaving[low] + moved[low]
        outside = outside - asked + gone
    return held


def _a_stage_on(values: FloatArray) -> FloatArray:
    return np.concatenate([values[..., 1:], values[..., -1:]], axis=-1)


def _worked(mass: FloatArray) -> FloatArray:
    moved = np.empty_like(mass)
    moved[..., 0] = 0.0
    moved[..., 1:] = mass[..., :-1]
    moved[..., -1] += mass[..., -1]
    return moved
