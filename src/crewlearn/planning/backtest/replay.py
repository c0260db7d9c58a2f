"""The replay of a record: the same days with advice from some day on, as often as everything unknown is drawn.

In each draw, people's levels and the days are those that the whole record tells. The policy sees only what it would
have seen: what it has learned before the first day of the replay, and the output of those who then work. Whoever has
really worked on a day has the luck they really had on it. The rest of the answer is the model's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from crewlearn.advisor.ledger.text import counted
from crewlearn.engine.compiled.kernel import ARRIVAL, QUIT
from crewlearn.engine.event_log import events_of_runs
from crewlearn.planning.futures.record import Record
from crewlearn.planning.futures.worlds import (
    Played,
    Seats,
    Terms,
    continued,
    draw_all,
    draws_for,
    past_of,
    play_all,
    sets_of,
)
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.contract import Policy
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.problem.arrays import NOBODY, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Problem

FEWEST_BEFORE, FEWEST_AFTER = 10, 20
"""Days on record that are needed before the first day of a replay, and from it on."""

FEWEST_DAYS_WORKED = 200
"""Days worked, by all together, below which a record says too little."""

LOGGED_DRAWS = 20
"""In how many draws it is counted who worked when."""

ADVICE, KEPT = "advice", "keep-team"


@dataclass(frozen=True, eq=False)
class Replay:
    """The results of a replay in the policy's units, by future; `sets` are those that share what is unknown.

    `real_output` and `real_arrivals` are those on record. `on_record` is the share of the days worked in the replay
    that were really worked by the same person.
    """

    first: int
    days: int
    played: Mapping[str, Played]
    sets: IntArray
    real_output: float
    real_arrivals: int
    on_record: float


def check_record(record: Record, first: int) -> None:
    """Refuse a replay for which the record says too little."""
    worked = ~np.isnan(record.output)
    days_worked = int(worked.sum())
    if days_worked < FEWEST_DAYS_WORKED:
        remedy = f"a backtest needs at least {FEWEST_DAYS_WORKED} days worked on record, all people together"
        raise InvalidInput("record", f"{days_worked} days worked", remedy)
    last = record.days - FEWEST_AFTER + 1
    if not FEWEST_BEFORE < first <= last:
        remedy = (
            f"{counted(record.days, 'day')} {'is' if record.days == 1 else 'are'} on record; the first day of advice "
            f"must leave {FEWEST_BEFORE} before it and {FEWEST_AFTER} from it on"
        )
        remedy += f": choose {FEWEST_BEFORE + 1} to {last}" if last > FEWEST_BEFORE else ", which this record cannot"
        raise InvalidInput("from", first, remedy)
    if int(worked.any(axis=1).sum()) <= record.team and record.arrivals == 0:
        remedy = (
            "nobody ever changed on record, so it does not tell what others would have done; "
            "import the days of more people, or make a plan"
        )
        raise InvalidInput("record", f"{int(worked.any(axis=1).sum())} people at work", remedy)


def replay(
    record: Record,
    policy: Policy[Any],
    terms: Terms,
    first: int,
    *,
    runs: int = 200,
    seed: int = 1,
    may_enter: tuple[bool, ...] = (),
    may_leave: tuple[bool, ...] = (),
    progress: Callable[[int], None] | None = None,
) -> Replay:
    """Play advice from day `first` on, and keeping the team of the day before, over the days on record."""
    check_record(record, first)
    waiting = None if progress is None else partial(progress, 0)
    past = record.before(first)
    drawn = draw_all(record, ValueOfReplacementEvolving(), draws_for(runs), seed, waiting)
    there = (past.gone == 0).tolist()
    seats = Seats(
        stations=tuple(int(worker) for worker in record.stations[:, first - 2]),
        may_enter=tuple(
            here and allowed for here, allowed in zip(there, may_enter or (True,) * len(there), strict=True)
        ),
        may_leave=may_leave or (True,) * record.workers,
        tenure=tuple(_tenure(past).tolist()),
        worked=past.worked[:, -1],
    )
    problems = [past_of(draw, record, past, terms, seats) for draw in drawn]
    policies = continued({ADVICE: policy, KEPT: KeepTeam()}, past)
    played = play_all(problems, policies, runs, seed, progress)
    held = record.held[:, first - 1 :] == 1
    return Replay(
        first=first,
        days=terms.periods,
        played=played,
        sets=sets_of(runs, len(problems)),
        real_output=float(np.nansum(np.where(held, record.output[:, first - 1 :], 0.0))),
        real_arrivals=int(record.arrivals_by_day[first - 1 :].sum()),
        on_record=float(
            np.mean([_on_record(problem, policies[ADVICE], record, first) for problem in problems[:LOGGED_DRAWS]])
        ),
    )


def _tenure(past: Record) -> IntArray:
    """Return for how many days each has held a station without a break at the end of a record."""
    backwards = past.held[:, ::-1]
    return np.where(backwards.all(axis=1), past.days, np.argmin(backwards, axis=1))


def _on_record(problem: Problem, policy: Policy[Any], record: Record, first: int) -> float:
    """Return the share of the days at stations, in one future, on which that person really held one."""
    held = record.held[:, first - 1 :]
    team = {worker for worker in problem.first_stations if worker != NOBODY}
    changes: dict[int, list[tuple[int, int, int]]] = {}
    for _, period, kind, out, into in events_of_runs(problem, policy, 1, 1).tolist():
        if kind in (ARRIVAL, QUIT):
            changes.setdefault(period, []).append((kind, out, into))
    known = total = 0
    for period in range(1, problem.horizon + 1):
        for kind, out, into in changes.get(period, ()):
            team.discard(out)
            if kind == ARRIVAL:
                team.add(into)
        total += len(team)
        known += sum(int(held[worker, period - 1]) for worker in team)
    return known / max(total, 1)
