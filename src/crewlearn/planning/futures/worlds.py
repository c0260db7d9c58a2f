"""Worlds to play in: problems made of one draw of everything unknown each."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from crewlearn.beliefs.evolving.copying import moved_back
from crewlearn.beliefs.evolving.model import OWN_RAMP
from crewlearn.engine.blocks import Block
from crewlearn.engine.local import load_loops
from crewlearn.engine.scale_out.player import choose_player
from crewlearn.planning.futures.beliefs import Drawn, draw_beliefs
from crewlearn.planning.futures.record import Record, learn_record
from crewlearn.policies.brakes import Braked
from crewlearn.policies.contract import Policy
from crewlearn.policies.evolving.continued import Continued
from crewlearn.policies.evolving.policy import ValueOfReplacementEvolving
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.laws import DelayLaw, TruncatedNormalOutput
from crewlearn.problem.model import Pool, Problem, Start
from crewlearn.problem.people import LONGEST_EXPERIENCE, Presence, Ramp
from crewlearn.problem.script import Script

WEEK = 5
"""Days that follow each other are drawn again together, so that a bad week stays one."""

LATEST_DAYS, FEWEST_DAYS = 80, 20
"""Days to come are like the latest on record, if there are enough of them."""

TREND_DAYS, SHORTEST_TREND, TREND_LASTS = 60, 15, 80.0
"""Over how many days at most, and at least, somebody's pace is taken, and how long a trend lasts on average."""

PACE_SD = 0.002
"""The standard deviation of the pace of trends, in output a day."""

FEWEST_DRAWS, RUNS_A_DRAW = 20, 4
"""At least so many draws of what is unknown and, beyond them, so many futures for each."""


@dataclass(frozen=True)
class Terms:
    """What a simulated site is told and pays, in the policy's units."""

    team: int
    periods: int
    cost: float
    delay: DelayLaw
    rolling: int | None = None
    fee_due: str = "initiation"


@dataclass(frozen=True, eq=False)
class Seats:
    """Where everybody is on the first day: stations, who may be hired or let go, tenure, and days worked."""

    stations: tuple[int, ...]
    may_enter: tuple[bool, ...]
    may_leave: tuple[bool, ...]
    tenure: tuple[int, ...]
    worked: IntArray


@dataclass(frozen=True, eq=False)
class Played:
    """The results of a policy in all worlds, those of one draw side by side, in the policy's units."""

    net: FloatArray
    initiated: IntArray
    completed: IntArray


def draws_for(runs: int) -> int:
    """Return how many draws of what is unknown serve so many futures.

    >>> draws_for(2), draws_for(100), draws_for(500)
    (2, 25, 125)
    """
    return min(runs, max(FEWEST_DRAWS, -(-runs // RUNS_A_DRAW)))


def draw_all(
    record: Record, policy: ValueOfReplacementEvolving, draws: int, seed: int, waiting: Callable[[], None] | None = None
) -> list[Drawn]:
    """Return draws of everything unknown, given a record."""
    learned = learn_record(policy, record)
    drawn = []
    for number in range(draws):
        if waiting is not None:
            waiting()
        drawn.append(draw_beliefs(record, learned, policy.guess_weight, np.random.default_rng((seed, number))))
    return drawn


def future_of(drawn: Drawn, record: Record, terms: Terms, seats: Seats, rng: np.random.Generator) -> Problem:
    """Return the time after a record as a problem: levels drift on, and days are like the latest."""
    steps = rng.standard_normal((record.workers, terms.periods)) * drawn.drift[:, None]
    steps += _trends(drawn, record, terms.periods, rng)
    levels = np.clip(drawn.levels[:, -1:] + np.cumsum(steps, axis=1), 0.0, 1.0)
    script = Script(levels=levels, refill=True)
    return _problem(drawn, record, terms, seats, _days_ahead(drawn, terms.periods, rng), script)


def _trends(drawn: Drawn, record: Record, periods: int, rng: np.random.Generator) -> FloatArray:
    """Return the steps by which people who have been moving go on doing so, by worker and period.

    A level that moves at random also moves one way for a while. So a movement goes on with the probability, by Bayes'
    rule, that its pace is a trend's rather than one of chance, and it ends after a while.
    """
    paces = np.zeros(record.workers)
    last = np.where(np.isnan(record.output), 0, np.arange(1, record.days + 1)).max(axis=1) - 1
    first = np.argmax(~np.isnan(record.output), axis=1)
    for worker in np.flatnonzero((drawn.drift > 0.0) & (last - first >= SHORTEST_TREND)):
        end = int(last[worker])
        begin = max(int(first[worker]), end - TREND_DAYS)
        pace = (drawn.levels[worker, end] - drawn.levels[worker, begin]) / (end - begin)
        chance, trend = drawn.drift[worker] ** 2 / (end - begin), PACE_SD * PACE_SD
        part = trend / (chance + trend)
        odds = math.sqrt(1.0 - part) * math.exp(min(0.5 * part * pace * pace / chance, 50.0))
        if rng.random() < odds / (1.0 + odds):
            paces[worker] = pace
    ends = rng.exponential(TREND_LASTS, record.workers)
    return np.where(np.arange(periods) < ends[:, None], paces[:, None], 0.0)


def _days_ahead(drawn: Drawn, periods: int, rng: np.random.Generator) -> FloatArray:
    """Return the effects of days to come: weeks of the latest days on record, or normal where there are few."""
    past = drawn.effects[-LATEST_DAYS:]
    if len(past) < FEWEST_DAYS:
        return np.maximum(rng.normal(drawn.day_mean, drawn.day_sd, periods), -0.95)
    weeks = rng.integers(0, len(past) - WEEK + 1, -(-periods // WEEK))
    return np.concatenate([past[first : first + WEEK] for first in weeks])[:periods]


def past_of(drawn: Drawn, record: Record, past: Record, terms: Terms, seats: Seats) -> Problem:
    """Return the days of a record after its `past` as a problem: people and days are as drawn from all of it.

    Where somebody has worked on a day, their own luck of that day counts; where somebody held a station, they were
    there or absent as on record, and stayed.
    """
    first = past.days + 1
    days = slice(past.days, record.days)
    output, levels, effects = record.output[:, days], drawn.levels[:, days], drawn.effects[days]
    expected = levels * drawn.shares(record.worked[:, days]) * (1.0 + effects)
    held = record.held[:, days] == 1
    presence = np.where(~np.isnan(output), 1, np.where(held, 0, -1))
    script = Script(
        levels=levels,
        noise=output - np.clip(expected, 0.0, 1.0),
        presence=presence,
        leaves=np.where(record.gone >= first, record.gone - first + 1, 0),
        joins=np.where(record.joined > first, record.joined - first + 1, 0),
        refill=True,
    )
    return _problem(drawn, past, terms, seats, effects, script)


def _problem(drawn: Drawn, record: Record, terms: Terms, seats: Seats, effects: FloatArray, script: Script) -> Problem:
    estimates = record.estimates()
    shocks = tuple((period, period, float(effect)) for period, effect in enumerate(effects, start=1))
    worked = tuple(np.minimum(seats.worked, LONGEST_EXPERIENCE).tolist())
    own = OWN_RAMP * drawn.ramp_depth
    return Problem(
        team=terms.team,
        horizon=terms.periods,
        cost=terms.cost,
        workers=Pool(tuple(script.levels[:, 0].tolist())),
        delay=terms.delay,
        output=TruncatedNormalOutput(drawn.noise, shocks=shocks),
        fee_due=terms.fee_due,
        rolling=terms.rolling,
        ramp=Ramp({"mean": drawn.ramp_depth, "sd": own}, drawn.ramp_days, worked) if drawn.ramp_depth > 0.0 else None,
        presence=Presence(min(drawn.absence, 0.5), min(drawn.quits, 0.5), (), drawn.declines),
        start=Start(
            stations=seats.stations,
            counts=tuple(estimates.counts.tolist()),
            sums=tuple(np.maximum(estimates.sums, 0.0).tolist()),
            squares=tuple(np.maximum(estimates.squares, 0.0).tolist()),
            prior_counts=tuple(record.prior_counts.tolist()),
            prior_sums=tuple(record.prior_sums.tolist()),
            may_enter=seats.may_enter,
            may_leave=seats.may_leave,
            tenure=seats.tenure,
        ),
        script=script,
    )


def continued(policies: Mapping[str, Policy[Any]], record: Record) -> dict[str, Policy[Any]]:
    """Return policies as they go on after a record: those that learn by day, from what they have learned."""
    return {label: _continued(policy, record) for label, policy in policies.items()}


def _continued(policy: Policy[Any], record: Record) -> Policy[Any]:
    if isinstance(policy, Braked):
        return replace(policy, policy=_continued(policy.policy, record))
    if not isinstance(policy, ValueOfReplacementEvolving):
        return policy
    return Continued(policy, moved_back(learn_record(policy, record), record.days, record.workers))


def play_all(
    problems: Sequence[Problem],
    policies: Mapping[str, Policy[Any]],
    runs: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
    threads: int | None = None,
) -> dict[str, Played]:
    """Play policies in all problems, `runs` futures in all; the same for every policy."""
    load_loops("local", problems[0], policies.values(), seed)
    player, waiting = choose_player("local", threads), None if progress is None else partial(progress, 0)
    sizes = [len(part) for part in np.array_split(np.arange(runs), len(problems))]
    played = {}
    for label, policy in policies.items():
        first, blocks = 0, []
        for problem, count in zip(problems, sizes, strict=True):
            blocks.append(Block(problem, policy, seed, first, count, (problem.horizon,)))
            first += count
        results = []
        with closing(player(blocks, waiting)) as blocks_played:
            for result, _ in blocks_played:
                results.append(result)
                if progress is not None:
                    progress(len(result.regret))
        played[label] = Played(
            np.concatenate([result.net[:, -1] for result in results]),
            np.concatenate([result.initiated for result in results]),
            np.concatenate([result.completed for result in results]),
        )
    return played


def sets_of(runs: int, draws: int) -> IntArray:
    """Return the draw that each future belongs to.

    >>> sets_of(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    return np.concatenate(
        [np.full(len(part), number) for number, part in enumerate(np.array_split(np.arange(runs), draws))]
    )
