"""The policy `value-of-replacement`: the rule of `worth` with its memory, what it believes, and its reasons."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from crewlearn.beliefs.posterior import (
    BETWEEN,
    CENTRE,
    GUESS_WEIGHT,
    NOISE,
    NOISE_GUESS,
    Assumed,
    Beliefs,
    assume,
    chance_above,
    learned,
)
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.explanations import Belief, Level, PolicyWait, Reason
from crewlearn.policies.rule import Rule, RuleFacts, as_lists, facts_of
from crewlearn.policies.teams.rules import NEXT, SETTLED, nothing_to_ask
from crewlearn.policies.value.rule import (
    ENTERS,
    OUTSIDE,
    VALUE_RULE,
    ValueMemory,
    ValueParameters,
    decide_learned,
    fresh_value_memory,
    next_outside,
    periods_left,
    queue_of,
    rank_outside,
    trial_of,
)
from crewlearn.policies.value.trials import gain_of
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.errors import real, whole
from crewlearn.problem.model import MOST, Setting


@dataclass(frozen=True)
class ValueState:
    """What the policy remembers: when to look again, the key of its queue, and who came with data of unknown spread.

    `known` counts the workers there were when that was noted.
    """

    settled: bool
    look_again: int
    stream_key: int
    spared_workers: tuple[int, ...] = ()
    spared_counts: tuple[int, ...] = ()
    spared_sums: tuple[float, ...] = ()
    known: int = 0


@dataclass(frozen=True)
class PoolBelief:
    """What is believed of the pool: its centre, the spread between workers, and that of a worker's own output."""

    centre: float
    between_sd: float
    noise_sd: float


@dataclass(frozen=True, kw_only=True)
class ValueReason(Reason):
    """The expected gain of a pair as a trial that may be undone, and what it rests on."""

    out_belief: Belief = field()
    in_belief: Belief = field()
    chance_better: float = field()
    periods: float = field()
    trial: float = field()
    fallback: float = field()
    gain: float = field()
    fee: float = field()

    @property
    def value(self) -> float:
        """The expected gain, net of the fee."""
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
    noise_guess: float = NOISE_GUESS
    guess_weight: float = GUESS_WEIGHT
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    recheck: int = 16
    state_type: ClassVar[type[ValueState]] = ValueState
    rule: ClassVar[Rule] = VALUE_RULE

    def __post_init__(self) -> None:
        real("margin", self.margin, 0.0, 100.0)
        whole("recheck", self.recheck, 1, MOST)
        self._assumed()

    @property
    def name(self) -> str:
        """The name people know the policy by."""
        return "value-of-replacement"

    def parameters(self, setting: Setting) -> ValueParameters:
        """Return the numbers that the rule takes."""
        return ValueParameters(int(self.recheck), float(self.margin), self._assumed())

    def _assumed(self) -> Assumed:
        return assume(self.noise_guess, self.guess_weight, self.centre, self.between_sd, self.noise_sd)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> ValueState:
        """Begin, noting whose earlier output came without its spread."""
        return _sparing_newcomers(ValueState(settled=False, look_again=0, stream_key=stream_key), situation)

    def decide(self, state: ValueState, situation: Situation) -> tuple[list[Pair], ValueState]:
        """Ask for the replacements that pay and are not better decided later."""
        if nothing_to_ask((int(state.settled), state.look_again), situation.period):
            return [], state
        parameters, team = self.parameters(situation.setting), situation.roster.team
        memory = _memory(state, situation, parameters)
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        n = decide_learned(parameters, memory, situation.period, _facts(self, situation), outs, ins)
        state = replace(state, settled=bool(memory.numbers[SETTLED]), look_again=int(memory.numbers[NEXT]))
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state

    def observe(self, state: ValueState, report: Report) -> ValueState:
        """Look again after anything came about or failed."""
        return replace(state, settled=False) if report.completed or report.failed else state

    def revise(self, state: ValueState, situation: Situation) -> ValueState:
        """Look again after any change; earlier output of newcomers came without its spread too."""
        return _sparing_newcomers(replace(state, settled=False), situation)

    def beliefs(self, state: ValueState, situation: Situation) -> tuple[PoolBelief, list[Belief]]:
        """Return what is believed of the pool and of everybody's mean output."""
        beliefs = _learned(state, situation, self.parameters(situation.setting))
        pool = PoolBelief(float(beliefs.pool[CENTRE]), math.sqrt(beliefs.pool[BETWEEN]), math.sqrt(beliefs.pool[NOISE]))
        pairs = zip(beliefs.means, beliefs.variances, strict=True)
        return pool, [Belief(mean, math.sqrt(variance)) for mean, variance in pairs]

    @property
    def weighs_fees(self) -> bool:
        """The expected gain is held against the fee."""
        return True

    def reasons(
        self, state: ValueState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> list[ValueReason]:
        """Return what spoke for each pair at the start of the situation's period.

        `pairs` are all that were proposed together: each counts on somebody else outside to go back to. The policy
        decides by the setting's fee, so that is the fee it gives, whatever the `costs`.
        """
        parameters = self.parameters(situation.setting)
        memory, facts = _memory(state, situation, parameters), _facts(self, situation)
        left = periods_left(facts, situation.period)
        rank_outside(memory, facts)
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
            trial = trial_of(memory, facts.cost, into, leaving.mean, left, other)
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

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the fee that the gain exceeds by just the margin."""
        return None if reason.gain is None else reason.gain / (1.0 + self.margin)

    def waiting(self, state: ValueState, situation: Situation) -> PolicyWait:
        """Return when it looks again; the period after the horizon stands for never."""
        return PolicyWait(look_again=min(int(state.look_again), situation.setting.horizon + 1))

    def levels(self, state: ValueState, situation: Situation) -> list[Level]:
        """Return everybody's posterior mean and sd, with a 95% interval cut to the range of output."""
        _, everybody = self.beliefs(state, situation)
        return [Level.of_normal(belief.mean, belief.sd) for belief in everybody]


def _sparing_newcomers(state: ValueState, situation: Situation) -> ValueState:
    """Note who came with output whose spread is not known; where the situation has none, keep what was noted."""
    known = len(situation.estimates.counts)
    if situation.prior is None:
        return replace(state, known=known)
    counts, sums = (array.tolist() for array in situation.prior)
    spared = [worker for worker in range(len(counts)) if counts[worker] > 0]
    return replace(
        state,
        spared_workers=tuple(spared),
        spared_counts=tuple(counts[worker] for worker in spared),
        spared_sums=tuple(sums[worker] for worker in spared),
        known=known,
    )


def _facts(policy: Policy[Any], situation: Situation) -> RuleFacts:
    return as_lists(facts_of(policy, situation))


def _memory(state: ValueState, situation: Situation, parameters: ValueParameters) -> ValueMemory:
    """Return what the rule works with, all that was seen learned."""
    queue = np.array(queue_of(situation.setting.workers, state.stream_key), dtype=np.int64)
    beliefs = _learned(state, situation, parameters)
    room = fresh_value_memory(situation.roster.team, beliefs.spared_counts, beliefs.spared_sums, queue)
    return as_lists(room._replace(beliefs=beliefs))


def _learned(state: ValueState, situation: Situation, parameters: ValueParameters) -> Beliefs:
    workers = situation.setting.workers
    counts, sums = np.zeros(workers, dtype=np.int64), np.zeros(workers, dtype=np.float64)
    counts[list(state.spared_workers)] = state.spared_counts
    sums[list(state.spared_workers)] = state.spared_sums
    return learned(situation.estimates, counts, sums, parameters.assumed)
