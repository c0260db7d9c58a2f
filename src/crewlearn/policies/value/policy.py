"""The policies `value-of-replacement` and `value-of-replacement-2`.

Both are the rule of `value.rule`, with its state, beliefs and reasons.
"""

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
    learned,
)
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.explanations import Belief, Level, PolicyWait, Reason
from crewlearn.policies.rule import Rule, RuleFacts, as_lists, facts_of
from crewlearn.policies.teams.rules import NEXT, SETTLED, nothing_to_ask
from crewlearn.policies.value.fallbacks import fallbacks
from crewlearn.policies.value.rule import (
    VALUE_RULE,
    ValueMemory,
    ValueParameters,
    decide_learned,
    fresh_value_memory,
    periods_left,
    queue_of,
    rank_outside,
    set_market,
    trial_of,
)
from crewlearn.policies.value.trials import gain_of
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.errors import real, whole
from crewlearn.problem.model import MOST, Setting


@dataclass(frozen=True)
class ValueState:
    """The policy's state: when to decide again, the key of its queue, and prior data of unknown spread.

    `known` is the number of workers when the prior data were recorded.
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
    """The belief about the pool: its centre, the spread between workers, and the noise of a worker's output."""

    centre: float
    between_sd: float
    noise_sd: float


@dataclass(frozen=True, kw_only=True)
class ValueReason(Reason):
    """The expected gain of a pair as a trial that may be reversed, and the numbers behind it."""

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
    """Makes exactly the replacements whose expected gain over the remaining periods exceeds the fees.

    - `margin`: the gain must exceed the fee by this many fees. A replacement that looks barely worth its fee is the
      most likely to be a mistake, and the least costly to forgo.
    - `noise_guess`, `guess_weight`: prior guess of the output's standard deviation (by default the largest possible),
      and its weight in observations.
    - `centre`, `between_sd`, `noise_sd`: the pool's centre, the spread between workers and the noise, if known; they
      are then taken as certain. By default they are learned from data.
    - `recheck`: if nothing is pending and nothing pays, the policy decides again after the least-observed active
      worker's observations have grown by one `recheck`-th.

    `search`, fixed by the class, says whether a station goes on searching after a failed trial, rather than going back.
    Then nobody is displaced who would be hired back later.
    """

    margin: float = 1.0
    noise_guess: float = NOISE_GUESS
    guess_weight: float = GUESS_WEIGHT
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    recheck: int = 16
    search: ClassVar[bool] = False
    state_type: ClassVar[type[ValueState]] = ValueState
    rule: ClassVar[Rule] = VALUE_RULE

    def __post_init__(self) -> None:
        real("margin", self.margin, 0.0, 100.0)
        whole("recheck", self.recheck, 1, MOST)
        self._assumed()

    @property
    def name(self) -> str:
        """The policy's name."""
        return "value-of-replacement"

    def parameters(self, setting: Setting) -> ValueParameters:
        """Return the rule's parameters."""
        return ValueParameters(int(self.recheck), float(self.margin), self._assumed(), self.search)

    def _assumed(self) -> Assumed:
        return assume(self.noise_guess, self.guess_weight, self.centre, self.between_sd, self.noise_sd)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> ValueState:
        """Return the initial state, with the prior data of unknown spread."""
        return _sparing_newcomers(ValueState(settled=False, look_again=0, stream_key=stream_key), situation)

    def decide(self, state: ValueState, situation: Situation) -> tuple[list[Pair], ValueState]:
        """Request the replacements that pay, unless deciding later pays more."""
        if nothing_to_ask((int(state.settled), state.look_again), situation.period):
            return [], state
        parameters, team = self.parameters(situation.setting), situation.roster.team
        memory = _memory(state, situation, parameters)
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        n = decide_learned(parameters, memory, situation.period, _facts(self, situation), outs, ins)
        state = replace(state, settled=bool(memory.numbers[SETTLED]), look_again=int(memory.numbers[NEXT]))
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state

    def observe(self, state: ValueState, report: Report) -> ValueState:
        """Decide again after a replacement completed or failed."""
        return replace(state, settled=False) if report.completed or report.failed else state

    def revise(self, state: ValueState, situation: Situation) -> ValueState:
        """Decide again after any change, and record the prior data of newcomers."""
        return _sparing_newcomers(replace(state, settled=False), situation)

    def beliefs(self, state: ValueState, situation: Situation) -> tuple[PoolBelief, list[Belief]]:
        """Return the beliefs about the pool and about each worker's mean output."""
        beliefs = _learned(state, situation, self.parameters(situation.setting))
        pool = PoolBelief(float(beliefs.pool[CENTRE]), math.sqrt(beliefs.pool[BETWEEN]), math.sqrt(beliefs.pool[NOISE]))
        return pool, [Belief.of(beliefs, worker) for worker in range(len(beliefs.means))]

    @property
    def weighs_fees(self) -> bool:
        """True: the expected gain is compared with the fee."""
        return True

    def reasons(
        self, state: ValueState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> list[ValueReason]:
        """Return the reason for each pair at the start of the situation's period.

        `pairs` must be all that were proposed together, since each has a different worker as its fallback. The policy
        decides by the setting's fee, so it reports that fee and ignores `costs`.
        """
        parameters = self.parameters(situation.setting)
        memory, facts = _memory(state, situation, parameters), _facts(self, situation)
        left = periods_left(facts, situation.period)
        set_market(parameters, memory, facts, left)
        rank_outside(memory, facts)
        reasons = []
        for (out, into), other in zip(pairs, fallbacks(memory, pairs), strict=True):
            leaving, entering = Belief.of(memory.beliefs, out), Belief.of(memory.beliefs, into)
            trial = trial_of(memory, facts.cost, into, leaving.mean, left, other)
            reasons.append(
                ValueReason(
                    out=out,
                    into=into,
                    out_belief=leaving,
                    in_belief=entering,
                    chance_better=entering.chance_above(leaving),
                    periods=left,
                    trial=trial.length,
                    fallback=max(other, leaving.mean, trial.price),
                    gain=gain_of(trial, leaving.mean, left) + trial.fee,
                    fee=trial.fee,
                )
            )
        return reasons

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the fee that the gain exceeds by exactly the margin."""
        return None if reason.gain is None else reason.gain / (1.0 + self.margin)

    def waiting(self, state: ValueState, situation: Situation) -> PolicyWait:
        """Return the period of the next decision; the period after the horizon means never."""
        return PolicyWait(look_again=min(int(state.look_again), situation.setting.horizon + 1))

    def levels(self, state: ValueState, situation: Situation) -> list[Level]:
        """Return each worker's posterior mean and sd, with a 95% interval clipped to [0, 1]."""
        _, everybody = self.beliefs(state, situation)
        return [Level.of_normal(belief.mean, belief.sd) for belief in everybody]


@dataclass(frozen=True)
class ValueOfReplacement2(ValueOfReplacement):
    """Value of replacement for stations that search: a failed trial is followed by the next one.

    The parameters are those of `ValueOfReplacement`, with other defaults. The prior guess of the noise has the weight
    of one observation: what is learned of the noise in the first two periods is worth acting on.
    """

    guess_weight: float = 1.0
    search: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The policy's name."""
        return "value-of-replacement-2"


def _sparing_newcomers(state: ValueState, situation: Situation) -> ValueState:
    """Record the prior data of unknown spread; if the situation has no prior, keep what was recorded."""
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
    """Return the rule's memory, with up-to-date beliefs."""
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
