"""The policy `value-of-replacement-evolving`: its parameters, state, reasons and readings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from crewlearn.beliefs.evolving.filters import summarise
from crewlearn.beliefs.evolving.learning import fresh_evolving, meet
from crewlearn.beliefs.evolving.model import (
    DAY_MEAN,
    DAYS_WORKED,
    QUITS,
    SLOTS,
    Evolving,
    Told,
    share_put_out,
    variance_now,
)
from crewlearn.beliefs.evolving.packing import pack, unpack, with_room
from crewlearn.beliefs.evolving.pool import mean_of_pool, variance_of_pool
from crewlearn.beliefs.evolving.reading import (
    Spread,
    change_of,
    days_learned,
    days_noted,
    noise_learned,
    pool_learned,
    ramp_learned,
    ramp_up_days,
)
from crewlearn.beliefs.posterior import LEARN
from crewlearn.policies.contract import Pair, Policy, Report, Situation
from crewlearn.policies.evolving.rule import (
    EVOLVING_RULE,
    EvolvingMemory,
    EvolvingParameters,
    memory_around,
    observe_day,
    prospect_of,
    rank_outside,
    stakes_of,
    worth_now,
)
from crewlearn.policies.evolving.trials import best_length, gain_of
from crewlearn.policies.explanations import (
    Belief,
    DayReading,
    Estimate,
    Level,
    PersonReading,
    PolicyWait,
    Readings,
    Reason,
    Trend,
)
from crewlearn.policies.rule import Rule, RuleFacts, as_lists, ask, facts_of, happened_in
from crewlearn.policies.value.fallbacks import fallbacks
from crewlearn.policies.value.policy import ValueReason
from crewlearn.policies.value.rule import queue_of
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.errors import InvalidInput, real
from crewlearn.problem.model import Setting

POOL_WEIGHT = 5.0
"""The weight, in people, of what is told about the pool."""


@dataclass(frozen=True, eq=False)
class EvolvingState:
    """The policy's state: what was learned, and the key of its queue. The arrays are never changed in place.

    States are equal if they agree in everything that can matter later.
    """

    stream_key: int
    learned: Evolving

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EvolvingState):
            return NotImplemented
        return self.stream_key == other.stream_key and pack(self.learned) == pack(other.learned)

    def __hash__(self) -> int:
        return hash((self.stream_key, self.learned.numbers.tobytes()))


@dataclass(frozen=True)
class ValueOfReplacementEvolving(Policy[EvolvingState]):
    """Makes the replacements whose expected gain exceeds the fees, where people ramp up, drift and vary.

    - `margin`: the gain must exceed the fee by this many fees, as in `ValueOfReplacement`.
    - `noise_guess`, `guess_weight`: prior guess of the output's standard deviation, and its weight in observations.
    - `centre`, `between_sd`: the pool's centre and the spread between workers, if known; with the weight of POOL_WEIGHT
      people, so that data overrule them where they are wrong.
    - `noise_sd`: the noise, if known.
    - `ramp_depth`, `ramp_days`: the share of their level that newcomers lack at first, and the days over which it fades
      by a factor e, if known. Whatever is not given is learned from data.
    - `stay_guess`: days worked without a quit that are taken for granted when the rate of quits is estimated.
    """

    margin: float = 1.0
    noise_guess: float = 0.25
    guess_weight: float = 2.0
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    ramp_depth: float | None = None
    ramp_days: float | None = None
    stay_guess: float = 500.0
    state_type: ClassVar[type[EvolvingState]] = EvolvingState
    rule: ClassVar[Rule] = EVOLVING_RULE

    def __post_init__(self) -> None:
        real("margin", self.margin, 0.0, 100.0)
        real("noise_guess", self.noise_guess, 0.0, 0.5, above=True)
        real("guess_weight", self.guess_weight, 0.0, 1e6, above=True)
        real("stay_guess", self.stay_guess, 1.0, 1e9)
        limits = {
            "centre": (0.0, 1.0),
            "between_sd": (0.001, 0.5),
            "noise_sd": (0.0, 0.5),
            "ramp_depth": (0.0, 0.95),
            "ramp_days": (0.1, 50.0),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if value is not None:
                real(name, value, low, high)
        if self.ramp_depth is not None and self.ramp_depth > 0.0 and self.ramp_days is None:
            raise InvalidInput("ramp_days", None, "must be given with ramp_depth")

    @property
    def name(self) -> str:
        """The policy's name."""
        return "value-of-replacement-evolving"

    @property
    def learns_by_day(self) -> bool:
        """True: beliefs are updated by each day's output."""
        return True

    @property
    def weighs_fees(self) -> bool:
        """True: the expected gain is compared with the fee."""
        return True

    def parameters(self, setting: Setting) -> EvolvingParameters:
        """Return the rule's parameters."""
        told = Told(
            noise_guess=float(self.noise_guess),
            guess_weight=float(self.guess_weight),
            centre=_told(self.centre),
            between_sd=_told(self.between_sd),
            noise_sd=_told(self.noise_sd),
            ramp_depth=_told(self.ramp_depth),
            ramp_days=_told(self.ramp_days),
            pool_weight=POOL_WEIGHT,
        )
        return EvolvingParameters(float(self.margin), float(self.stay_guess), told)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> EvolvingState:
        """Return the initial state: everybody's experience and earlier observations."""
        facts, team = facts_of(self, situation), situation.roster.team
        told, seen = self.parameters(situation.setting).told, int((facts.prior.counts > 0).sum())
        learned = fresh_evolving(told, facts.experience, facts.prior.counts, facts.prior.sums, team, seen)
        return EvolvingState(stream_key, learned._replace(scratch=_NO_SCRATCH))

    def decide(self, state: EvolvingState, situation: Situation) -> tuple[list[Pair], EvolvingState]:
        """Request the replacements that pay, unless deciding later pays more; nothing is learned from that."""
        memory, facts = self._at_work(state, situation)
        return ask(self.rule, self.parameters(situation.setting), memory, situation.period, facts), state

    def observe(self, state: EvolvingState, report: Report) -> EvolvingState:
        """Learn from the day's output, and from who left."""
        people = state.learned.people
        workers = max(len(people.slot), *(worker + 1 for worker in report.output), 0)
        newcomers = sum(worker >= len(people.slot) or people.slot[worker] < 0 for worker in report.output)
        memory = _memory(state, workers, 1, newcomers)
        happened = happened_in(report)
        plain = happened._replace(workers=happened.workers.tolist(), output=happened.output.tolist())
        observe_day(self.parameters(_ANY_SETTING), memory, plain)
        learned: Evolving = _as_arrays(memory.learned, state.learned)
        return replace(state, learned=learned._replace(scratch=_NO_SCRATCH))

    def revise(self, state: EvolvingState, situation: Situation) -> EvolvingState:
        """Take in newcomers to the pool, with their experience and earlier data."""
        return self._grown(state, situation)

    def reasons(
        self, state: EvolvingState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> list[ValueReason]:
        """Return the reason for each pair; the policy decides by the setting's fee, and ignores `costs`."""
        parameters = self.parameters(situation.setting)
        memory, facts = self._at_work(state, situation)
        stakes = stakes_of(parameters, memory, situation.period, facts)
        rank_outside(memory, facts, stakes)
        reasons = []
        for (out, into), other in zip(pairs, fallbacks(memory, pairs), strict=True):
            level, prospect = worth_now(memory, stakes, out), prospect_of(memory, into)
            length = best_length(stakes, prospect, level, other)
            leaving, entering = _belief(memory, out), _belief(memory, into)
            reasons.append(
                ValueReason(
                    out=out,
                    into=into,
                    out_belief=leaving,
                    in_belief=entering,
                    chance_better=entering.chance_above(leaving),
                    periods=stakes.left,
                    trial=length,
                    fallback=max(other, level),
                    gain=gain_of(stakes, prospect, level, other, length, stakes.left) + stakes.fee,
                    fee=stakes.fee,
                )
            )
        return reasons

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the fee that the gain exceeds by exactly the margin."""
        return None if reason.gain is None else reason.gain / (1.0 + self.margin)

    def waiting(self, state: EvolvingState, situation: Situation) -> PolicyWait:
        """Return the period of the next decision, and the newcomer at a station whose ramp-up takes longest."""
        learned = self._grown(state, situation).learned
        learning, longest, needed = ramp_up_days(learned) or 0, NOBODY, 0
        for worker in situation.roster.stations:
            if worker != NOBODY and learning - int(learned.people.days[worker]) > needed:
                longest, needed = worker, learning - int(learned.people.days[worker])
        next_decision = min(situation.period, situation.setting.horizon) + 1
        if longest == NOBODY:
            return PolicyWait(look_again=next_decision)
        return PolicyWait(look_again=next_decision, least_observed=longest, still_needed=needed)

    def levels(self, state: EvolvingState, situation: Situation) -> list[Level]:
        """Return each worker's level after ramp-up on today's scale, with a 95% interval clipped to [0, 1]."""
        learned = self._grown(state, situation).learned
        return [_level(learned, worker) for worker in range(situation.setting.workers)]

    def readings(self, state: EvolvingState, situation: Situation) -> Readings:
        """Return everything learned, each with its doubt."""
        learned = self._grown(state, situation).learned
        (depth, days), (centre, between) = ramp_learned(learned), pool_learned(learned)
        quits, worked = int(learned.counts[QUITS]), int(learned.counts[DAYS_WORKED])
        return Readings(
            people=tuple(_person(learned, worker) for worker in range(situation.setting.workers)),
            days=tuple(
                DayReading(note.period, Estimate(note.effect, note.sd), note.unusual) for note in days_noted(learned)
            ),
            ramp_depth=_estimate(depth),
            ramp_days=_estimate(days),
            noise_sd=_estimate(noise_learned(learned, self.guess_weight)),
            day_sd=_estimate(days_learned(learned)),
            centre=_estimate(centre),
            between_sd=_estimate(between),
            stay=(self.stay_guess + worked) / quits if quits else math.inf,
        )

    def state_to_json(self, state: EvolvingState) -> dict[str, Any]:
        """Return a state as plain data, with packed arrays."""
        return {"stream_key": state.stream_key, "learned": pack(state.learned)}

    def state_from_json(self, data: Mapping[str, Any]) -> EvolvingState:
        """Rebuild a state from the data that `state_to_json` returned."""
        return EvolvingState(data["stream_key"], unpack(data["learned"])._replace(scratch=_NO_SCRATCH))

    def _at_work(self, state: EvolvingState, situation: Situation) -> tuple[EvolvingMemory, RuleFacts]:
        """Return the rule's memory and the facts, as lists."""
        grown = self._grown(state, situation)
        memory = _memory(grown, situation.setting.workers, situation.roster.team, 0)
        return memory, as_lists(facts_of(self, situation))

    def _grown(self, state: EvolvingState, situation: Situation) -> EvolvingState:
        """Return the state with everybody who has joined the pool since, by their experience and earlier data."""
        known, workers = len(state.learned.people.slot), situation.setting.workers
        if workers <= known:
            return state
        facts = facts_of(self, situation)
        joined = [worker for worker in range(known, workers) if facts.prior.counts[worker] > 0]
        learned = with_room(state.learned, workers, int(state.learned.counts[SLOTS]) + len(joined))
        learned = learned._replace(counts=learned.counts.copy())
        people = learned.people
        days = np.maximum(facts.experience[known:workers], facts.prior.counts[known:workers])
        people.first_days[known:] = people.days[known:] = days
        people.prior_counts[known:] = facts.prior.counts[known:workers]
        people.prior_sums[known:] = facts.prior.sums[known:workers]
        people.means[known:], people.variances[known:] = mean_of_pool(learned.pool), variance_of_pool(learned.pool)
        for worker in joined:
            meet(learned, worker)
            summarise(learned, worker, 0)
        return replace(state, learned=learned._replace(scratch=_NO_SCRATCH))


_ANY_SETTING = Setting(workers=2, team=1, horizon=2, cost=1.0, mean_delay=1.0)
"""The parameters do not depend on the setting."""


def _told(number: float | None) -> float:
    return LEARN if number is None else float(number)


_NO_SCRATCH = np.zeros(0, dtype=np.float64)


def _memory(state: EvolvingState, workers: int, team: int, newcomers: int) -> EvolvingMemory:
    """Return the rule's memory as lists, which are copies, with room for so many people seen for the first time."""
    learned = with_room(state.learned, workers, int(state.learned.counts[SLOTS]) + newcomers)
    queue = np.array(queue_of(workers, state.stream_key), dtype=np.int64)
    return as_lists(memory_around(learned, queue, team))


def _as_arrays(lists: Any, like: Any) -> Any:
    """Convert a named tuple of lists back to one of arrays, of the same types as another."""
    pairs = zip(lists, like, strict=True)
    return type(like)(
        *(_as_arrays(item, old) if isinstance(old, tuple) else np.array(item, dtype=old.dtype) for item, old in pairs)
    )


def _belief(memory: EvolvingMemory, worker: int) -> Belief:
    if worker == NOBODY:
        return Belief(0.0, 0.0)
    mean, sd = float(memory.learned.people.means[worker]), math.sqrt(variance_now(memory.learned, worker))
    scale = 1.0 + float(memory.learned.numbers[DAY_MEAN])
    return Belief(scale * mean, scale * sd)


def _level(learned: Evolving, worker: int) -> Level:
    scale = 1.0 + float(learned.numbers[DAY_MEAN])
    mean, sd = float(learned.people.means[worker]), math.sqrt(variance_now(learned, worker))
    return Level.of_normal(min(1.0, max(0.0, scale * mean)), scale * sd)


def _person(learned: Evolving, worker: int) -> PersonReading:
    days, ramp_days, change = int(learned.people.days[worker]), ramp_up_days(learned), change_of(learned, worker)
    return PersonReading(
        level=_level(learned, worker),
        days=days,
        share=share_put_out(learned.pool, days),
        ramp_days=ramp_days if ramp_days is not None and days < ramp_days else None,
        trend=None if change is None else Trend(change.change, change.since, change.chance),
    )


def _estimate(spread: Spread) -> Estimate:
    return Estimate(spread.mean, spread.sd)
