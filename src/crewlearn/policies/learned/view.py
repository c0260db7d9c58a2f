"""What an agent sees of a situation, which of its choices are legal, and the replacements that they ask for.

These are rule functions over arrays. The environments of `crewlearn.engine.gym` call them, compiled or as plain Python,
and so does the policy that plays a trained agent. So an agent sees the same numbers wherever it plays.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from crewlearn.beliefs.estimates import Estimates, mean
from crewlearn.problem.arrays import NOBODY, BoolArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.transitions import FREE, PENDING, RosterArrays

KEEP = 0
"""The choice that requests no replacement; choice j+1 requests worker j."""

DAYS = 10.0
"""Days seen or worked, periods waited and the mean delay are shown as n / (n + 10)."""

PERIODS = 100.0
"""The periods left are shown as n / (n + 100)."""

FEE = 1.0
"""The fee, in best outputs of a period, is shown as c / (c + 1)."""

Observation = Mapping[str, Any]
"""Arrays by name."""


class View(NamedTuple):
    """What an agent sees at the beginning of a period, with m stations and k workers; every number is in [0, 1].

    - `means` (k): each worker's mean output so far; 0 if none was seen.
    - `seen`, `worked` (k): the outputs seen of each worker, with prior data, and the days that they have worked, as
      n / (n + 10). 0 is none, 1/2 is ten; those who begin experienced are at about 1.
    - `may_enter`, `may_leave` (k): 1 if the worker may be hired, and may be replaced, at all.
    - `stations` (m, k): 1 where the worker holds the station.
    - `arriving` (m, k): 1 where a requested worker will take over the station. Hires for empty stations are shown at
      these in order.
    - `waiting` (m): periods since that request, as n / (n + 10).
    - `periods_left` (1): the periods still to be played, this one included, as n / (n + 100).
    - `time_left` (1): the same as a share of the horizon.
    - `fee`, `delay` (1): the fee of a replacement as c / (c + 1), and the mean delay as w / (w + 10).
    - `action_mask` (m, k+1): 1 where a choice is legal by itself: 0 keeps the station's worker, j+1 requests worker j.
      In the last period nobody can be requested.

    Arrays of a whole batch of environments have one more axis in front.
    """

    means: Any
    seen: Any
    worked: Any
    may_enter: Any
    may_leave: Any
    stations: Any
    arriving: Any
    waiting: Any
    periods_left: Any
    time_left: Any
    fee: Any
    delay: Any
    action_mask: Any


def empty_view(team: int, workers: int, batch: tuple[int, ...] = ()) -> View:
    """Return the arrays of a view, all zero; `batch` is the shape of the axes in front.

    >>> empty_view(2, 5, (4,)).action_mask.shape
    (4, 2, 6)
    """
    shares = dict.fromkeys(("means", "seen", "worked"), (workers,))
    shares |= {"waiting": (team,), "periods_left": (1,), "time_left": (1,), "fee": (1,), "delay": (1,)}
    flags = {"may_enter": (workers,), "may_leave": (workers,), "action_mask": (team, workers + 1)}
    flags |= {"stations": (team, workers), "arriving": (team, workers)}
    return View(
        **{name: np.zeros((*batch, *shape), dtype=np.float32) for name, shape in shares.items()},
        **{name: np.zeros((*batch, *shape), dtype=np.int8) for name, shape in flags.items()},
    )


def share(amount: float, half: float) -> float:
    """Return `amount` as a number from 0 to 1: 0 for none, 1/2 for `half`, and 1 beyond all bounds.

    >>> share(10.0, 10.0), share(90.0, 10.0)
    (0.5, 0.9)
    """
    return amount / (amount + half)


def show(
    view: View,
    roster: RosterArrays,
    estimates: Estimates,
    experience: IntArray,
    may_enter: BoolArray,
    may_leave: BoolArray,
    period: int,
    horizon: int,
    cost: float,
    mean_delay: float,
) -> None:
    """Fill in a view, whose arrays must be zero; `period` counts from 1, and `horizon` is what policies are told."""
    for worker in range(len(roster.station_of)):
        view.means[worker] = mean(estimates, worker)
        view.seen[worker] = share(float(estimates.counts[worker]), DAYS)
        view.worked[worker] = share(float(experience[worker]), DAYS)
        view.may_enter[worker] = may_enter[worker]
        view.may_leave[worker] = may_leave[worker]
    hire = _open_hire(roster, 0)
    for station in range(len(roster.stations)):
        worker = roster.stations[station]
        if worker != NOBODY:
            view.stations[station, worker] = 1
        elif hire >= 0:
            _show_hire(view, roster, station, hire, period)
            hire = _open_hire(roster, hire + 1)
    for slot in range(roster.counts[PENDING]):
        out = roster.pending_out[slot]
        if out != NOBODY:
            _show_hire(view, roster, roster.station_of[out], slot, period)
    left = float(max(horizon + 1 - period, 0))
    view.periods_left[0] = share(left, PERIODS)
    view.time_left[0] = left / horizon
    view.fee[0] = share(cost, FEE)
    view.delay[0] = share(mean_delay, DAYS)
    if period < horizon:
        mask_choices(view.action_mask, roster, may_enter, may_leave)
    else:
        mask_all(view.action_mask)


def _open_hire(roster: RosterArrays, first: int) -> int:
    """Return the first slot, from `first` on, of a hire that replaces nobody in particular, or -1."""
    for slot in range(first, roster.counts[PENDING]):
        if roster.pending_out[slot] == NOBODY:
            return slot
    return -1


def _show_hire(view: View, roster: RosterArrays, station: int, slot: int, period: int) -> None:
    view.arriving[station, roster.pending_in[slot]] = 1
    view.waiting[station] = share(float(max(period - roster.pending_since[slot], 0)), DAYS)


def mask_all(mask: Any) -> None:
    """Leave every station only the choice to keep its worker."""
    for station in range(mask.shape[0]):
        mask[station, KEEP] = 1


def mask_choices(mask: Any, roster: RosterArrays, may_enter: BoolArray, may_leave: BoolArray) -> None:
    """Fill in which choices are legal by themselves, in a mask (m, k+1) of zeros.

    Somebody may be requested for a station whose holder may leave and is not being replaced, or that nobody holds or is
    to fill. Whoever comes must be outside, not on the way, and may enter.
    """
    mask_all(mask)
    if roster.counts[PENDING] >= len(roster.stations):
        return
    hire = _open_hire(roster, 0)
    for station in range(len(roster.stations)):
        worker = roster.stations[station]
        if worker == NOBODY and hire >= 0:
            hire = _open_hire(roster, hire + 1)
        elif worker == NOBODY or (roster.role[worker] == FREE and may_leave[worker]):
            for into in range(len(roster.station_of)):
                if roster.station_of[into] == NOBODY and roster.role[into] == FREE and may_enter[into]:
                    mask[station, into + 1] = 1


def list_requests(mask: Any, roster: RosterArrays, choices: IntArray, outs: IntArray, ins: IntArray) -> int:
    """List the replacements that the stations' choices ask for, station by station; return their number.

    Choices that the mask forbids are dropped. If two stations choose the same worker, the first gets them.
    """
    n = 0
    for station in range(len(roster.stations)):
        choice = choices[station]
        if choice == KEEP or mask[station, choice] == 0 or roster.counts[PENDING] + n >= len(roster.stations):
            continue
        taken = False
        for earlier in range(n):
            if ins[earlier] == choice - 1:
                taken = True
        if not taken:
            outs[n] = roster.stations[station]
            ins[n] = choice - 1
            n += 1
    return n


def checked_choices(action: object, shape: tuple[int, ...], workers: int) -> IntArray:
    """Return an action as an array of choices of the given shape, the last axis of which is the stations."""
    try:
        choices = np.asarray(action)
    except ValueError:  # nested lists of unequal length
        choices = np.empty(0)
    whole_numbers = choices.shape == shape and np.issubdtype(choices.dtype, np.integer)
    if not whole_numbers or choices.min() < 0 or choices.max() > workers:
        rows = "" if len(shape) == 1 else f"{shape[0]} rows of "
        remedy = f"must be {rows}{shape[-1]} whole numbers, one per station, "
        raise InvalidInput("action", action, f"{remedy}from 0 (keep) to {workers} (worker {workers - 1})")
    return choices.astype(np.int64)
