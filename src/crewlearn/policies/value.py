"""The policy `value-of-replacement`: the rule of `worth` with its memory, what it believes, and its reasons."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import numpy as np

from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.posterior import BETWEEN, CENTRE, LEARN, NOISE, Beliefs, learned
from crewlearn.policies.teams import NEXT, SETTLED, Facts, nothing_to_ask
from crewlearn.policies.trials import chance_above, gain_of
from crewlearn.policies.worth import (
    ENTERS,
    OUTSIDE,
    ValueMemory,
    assumed_of,
    decide_learned,
    draw_queue,
    fresh_value_memory,
    next_outside,
    periods_left,
    rank_outside,
    trial_of,
)
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.errors import real, whole
from crewlearn.problem.model import MOST, Setting


@dataclass(frozen=True)
class ValueState:
    """What the policy remembers: when to look again, the key of its queue, and who came with data of unknown spread.

    `known` counts the workers looked at for such data.
    """

    settled: bool
    look_again: int
    stream_key: int
    spared_workers: tuple[int, ...] = ()
    spared_counts: tuple[int, ...] = ()
    spared_sums: tuple[float, ...] = ()
    known: int = 0


@dataclass(frozen=True)
class Belief:
    """What is thought of a worker's mean output: expected value and standard deviation; an empty station has both 0."""

    mean: float
    sd: float


@dataclass(frozen=True)
class PoolBelief:
    """What is thought of the pool: its centre, the spread between workers, and that of a worker's own output."""

    centre: float
    between_sd: float
    noise_sd: float


@dataclass(frozen=True)
class ValueReason:
    """Why a pair was proposed, in numbers.

    `chance_better` is the chance that the incoming worker's mean is above the outgoing one's. `gain` is the expected
    gain in output over the `periods` that the incoming worker can be expected to stay, counting what it costs to undo a
    trial that fails after `trial` periods, to the `fallback` a period; what is left after the fee is the value.
    """

    out: int
    into: int
    out_belief: Belief
    in_belief: Belief
    chance_better: float
    periods: float
    trial: float
    fallback: float
    gain: float
    fee: float

    @property
    def value(self) -> float:
        """What the replacement is expected to bring, its fee paid."""
        return self.gain - self.fee


@dataclass(frozen=True)
class ValueOfReplacement(Policy[ValueState]):
    """Makes the replacements whose expected gain over the periods left exceeds the fees, and no others.

    The gain must exceed the fees by `margin` fees: what looks barely worth its fee is where the beliefs err most, and
    where least is lost by keeping. What output varies by is guessed, as the standard deviation `noise_guess` (the
    largest there is) with the weight of `guess_weight` observations, and learned; so are the pool's centre and spread.
    Who knows them may tell them: `centre`, `between_sd` and `noise_sd` are then taken for certain. Where nothing is
    pending and nothing pays, the policy looks again after the least-seen active worker was seen one `recheck`-th more.
    """

    margin: float = 1.0
    noise_guess: float = 0.5
    guess_weight: float = 4.0
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    recheck: int = 16
    state_type: ClassVar[type[ValueState]] = ValueState

    def __post_init__(self) -> None:
        real("margin", self.margin, 0.0, 100.0)
        real("noise_guess", self.noise_guess, 0.0, 0.5, above=True)
        real("guess_weight", self.guess_weight, 0.0, 1e6, above=True)
        whole("recheck", self.recheck, 1, MOST)
        if self.centre is not None:
            real("centre", self.centre, 0.0, 1.0)
        if self.between_sd is not None:
            real("between_sd", self.between_sd, 0.001, 0.5)
        if self.noise_sd is not None:
            real("noise_sd", self.noise_sd, 0.0, 0.5)

    @property
    def name(self) -> str:
        """The name people know the policy by."""
        return "value-of-replacement"

    def parameters(self, setting: Setting) -> FloatArray:
        """Give the numbers that the rule takes."""
        told = (LEARN if number is None else number for number in (self.centre, self.between_sd, self.noise_sd))
        own, assumed = (self.recheck, self.margin), (self.noise_guess, self.guess_weight, *told)
        return np.array([*own, setting.horizon, setting.cost, setting.mean_delay, *assumed], dtype=np.float64)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> ValueState:
        """Begin, noting whose earlier output came without its spread: its squares then equal its sums."""
        return _sparing_newcomers(ValueState(settled=False, look_again=0, stream_key=stream_key), situation)

    def decide(self, state: ValueState, situation: Situation) -> tuple[list[Pair], ValueState]:
        """Ask for the replacements that pay and are not better decided later."""
        if nothing_to_ask((int(state.settled), state.look_again), situation.period):
            return [], state
        parameters, team = self.parameters(situation.setting), situation.roster.team
        memory = _memory(state, situation, parameters)
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        n = decide_learned(parameters, memory, situation.period, _facts(situation), outs, ins)
        state = replace(state, settled=bool(memory.numbers[SETTLED]), look_again=int(memory.numbers[NEXT]))
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state

    def observe(self, state: ValueState, report: Report) -> ValueState:
        """Look again after anything came about or failed."""
        return replace(state, settled=False) if report.completed or report.failed else state

    def revise(self, state: ValueState, situation: Situation) -> ValueState:
        """Look again after any change; earlier output of newcomers came without its spread too."""
        return _sparing_newcomers(replace(state, settled=False), situation)

    def beliefs(self, state: ValueState, situation: Situation) -> tuple[PoolBelief, list[Belief]]:
        """Show what is thought of the pool and of everybody's mean output."""
        beliefs = _learned(state, situation, self.parameters(situation.setting))
        pool = PoolBelief(float(beliefs.pool[CENTRE]), math.sqrt(beliefs.pool[BETWEEN]), math.sqrt(beliefs.pool[NOISE]))
        pairs = zip(beliefs.means, beliefs.variances, strict=True)
        return pool, [Belief(mean, math.sqrt(variance)) for mean, variance in pairs]

    def reasons(self, state: ValueState, situation: Situation, pairs: Sequence[Pair]) -> list[ValueReason]:
        """Give, for each pair, what spoke for it at the start of the situation's period.

        `pairs` are all that were proposed together: each counts on somebody else outside to go back to.
        """
        parameters = self.parameters(situation.setting)
        memory, left = _memory(state, situation, parameters), periods_left(parameters, situation.period)
        rank_outside(memory, _facts(situation))
        means, variances = memory.beliefs.means, memory.beliefs.variances
        for _, into in pairs:
            memory.standing[into] = ENTERS
        reasons, place = [], 0
        for out, into in pairs:
            leaving = Belief(0.0, 0.0) if out == NOBODY else Belief(float(means[out]), math.sqrt(variances[out]))
            entering = Belief(float(means[into]), math.sqrt(variances[into]))
            place = next_outside(memory, place)
            other = float(memory.others[place]) if place < memory.numbers[OUTSIDE] else 0.0
            place += 1
            trial = trial_of(parameters, memory, into, leaving.mean, left, other)
            reasons.append(
                ValueReason(
                    out=out,
                    into=into,
                    out_belief=leaving,
                    in_belief=entering,
                    chance_better=chance_above(entering.mean, math.hypot(leaving.sd, entering.sd), leaving.mean),
                    periods=left,
                    trial=trial.length,
                    fallback=max(other, leaving.mean),
                    gain=gain_of(trial, leaving.mean, left) + trial.fee,
                    fee=trial.fee,
                )
            )
        return reasons


def _sparing_newcomers(state: ValueState, situation: Situation) -> ValueState:
    """Note which of the workers not known before came with output whose spread is not known; all, where it is told."""
    if situation.prior is not None:
        state = replace(state, spared_workers=(), spared_counts=(), spared_sums=(), known=0)
    counts, sums, squares = (array.tolist() for array in situation.prior or situation.estimates)
    news = range(state.known, len(counts))
    spared = [worker for worker in news if counts[worker] > 0 and squares[worker] == sums[worker]]
    return replace(
        state,
        spared_workers=(*state.spared_workers, *spared),
        spared_counts=(*state.spared_counts, *(counts[worker] for worker in spared)),
        spared_sums=(*state.spared_sums, *(sums[worker] for worker in spared)),
        known=len(counts),
    )


def _facts(situation: Situation) -> Facts:
    return _plain(Facts(situation.roster.arrays, situation.estimates, situation.may_enter, situation.may_leave))


Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


def _plain(arrays: Arrays) -> Arrays:
    """Give a named tuple of arrays as one of lists, which plain Python reads and writes several times as fast."""
    lists = (item.tolist() if isinstance(item, np.ndarray) else _plain(item) for item in arrays)
    return type(arrays)(*lists)


def _memory(state: ValueState, situation: Situation, parameters: FloatArray) -> ValueMemory:
    """Give what the rule works with, all that was seen learned."""
    queue = np.array(_queue(situation.setting.workers, state.stream_key), dtype=np.int64)
    beliefs = _learned(state, situation, parameters)
    room = fresh_value_memory(situation.roster.team, beliefs.spared_counts, beliefs.spared_sums, queue)
    return _plain(room._replace(beliefs=beliefs))


def _learned(state: ValueState, situation: Situation, parameters: FloatArray) -> Beliefs:
    workers = situation.setting.workers
    counts, sums = np.zeros(workers, dtype=np.int64), np.zeros(workers, dtype=np.float64)
    counts[list(state.spared_workers)] = state.spared_counts
    sums[list(state.spared_workers)] = state.spared_sums
    return learned(situation.estimates, counts, sums, assumed_of(parameters))


@lru_cache(maxsize=64)
def _queue(workers: int, stream_key: int) -> tuple[int, ...]:
    """Draw the queue, once for each pool: in plain Python, that takes as long as much of the rule."""
    return tuple(draw_queue(workers, stream_key).tolist())
