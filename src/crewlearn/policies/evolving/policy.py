"""The policy `value-of-replacement-evolving`: its parameters, state, reasons and readings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from crewlearn.beliefs.evolving.allocation import empty_evolving, rows_kept
from crewlearn.beliefs.evolving.crowd import expect_all, join_crowd
from crewlearn.beliefs.evolving.learning import begin
from crewlearn.beliefs.evolving.model import (
    DAY_MEAN,
    DAYS_WORKED,
    QUITS,
    SLOTS,
    Evolving,
    Told,
    has_no_filters,
    share_put_out,
    variance_now,
)
from crewlearn.beliefs.evolving.packing import as_arrays, as_plain, pack, unpack, with_room
from crewlearn.beliefs.evolving.reading import (
    Spread,
    change_of,
    days_learned,
    days_noted,
    drift_of,
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
    chance_in_place_of,
    days_of_patience,
    memory_around,
    observe_day,
    prospect_of,
    rank_outside,
    stakes_of,
    worth_now,
)
from crewlearn.policies.evolving.trials import best_length, empty_tables, fill_tables, gain_of
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
    - `patience`, `sure`: until `patience` times as much is known of a person as the pool tells, they are let go only
      for somebody who is better with probability `sure`.
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
    patience: float = 12.0
    sure: float = 0.75
    state_type: ClassVar[type[EvolvingState]] = EvolvingState
    rule: ClassVar[Rule] = EVOLVING_RULE

    def __post_init__(self) -> None:
        real("margin", self.margin, 0.0, 100.0)
        real("noise_guess", self.noise_guess, 0.0, 0.5, above=True)
        real("guess_weight", self.guess_weight, 0.0, 1e6, above=True)
        real("stay_guess", self.stay_guess, 1.0, 1e9)
        real("patience", self.patience, 0.0, 1e6)
        real("sure", self.sure, 0.0, 1.0)
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
        return EvolvingParameters(
            float(self.margin), float(self.stay_guess), float(self.patience), float(self.sure), told
        )

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> EvolvingState:
        """Return the initial state: everybody's experience and earlier observations."""
        facts, told = facts_of(self, situation), self.parameters(situation.setting).told
        learned = empty_evolving(len(facts.experience), rows_kept(situation.roster.team), 0)
        plain = as_plain(learned)
        prior = as_lists(facts.prior)
        begin(plain, told, facts.experience.tolist(), prior.counts, prior.sums)
        return EvolvingState(stream_key, as_arrays(plain, learned))

    def decide(self, state: EvolvingState, situation: Situation) -> tuple[list[Pair], EvolvingState]:
        """Request the replacements that pay, unless deciding later pays more; nothing is learned from that."""
        memory, facts = self._at_work(state, situation)
        return ask(self.rule, self.parameters(situation.setting), memory, situation.period, facts), state

    def observe(self, state: EvolvingState, report: Report) -> EvolvingState:
        """Learn from the day's output, and from who left."""
        slots = state.learned.people.slot
        workers = max(len(slots), *(worker + 1 for worker in report.output), 0)
        newcomers = sum(worker >= len(slots) or has_no_filters(slots[worker]) for worker in report.output)
        learned = with_room(state.learned, workers, int(state.learned.counts[SLOTS]) + newcomers)
        memory = _memory(state, learned, 1)
        if workers > len(slots):
            expect_all(memory.learned)  # nothing but the pool is known of those whom nobody announced
        observe_day(self.parameters(_ANY_SETTING), memory, as_lists(happened_in(report)))
        return replace(state, learned=as_arrays(memory.learned, learned))

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
            reasons.append(
                ValueReason(
                    out=out,
                    into=into,
                    out_belief=_belief(memory, out),
                    in_belief=_belief(memory, into),
                    chance_better=chance_in_place_of(memory, stakes, out, prospect),
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
        """Return the period of the next decision, and who at a station is judged last.

        People are judged when they have ramped up and enough is known of them.
        """
        learned = self._grown(state, situation).learned
        parameters = self.parameters(situation.setting)
        tables, ramp_up = empty_tables(), ramp_up_days(learned) or 0
        fill_tables(learned, tables)
        longest, needed = NOBODY, 0
        for worker in situation.roster.stations:
            if worker == NOBODY:
                continue
            patience = days_of_patience(parameters, learned, tables, worker) if situation.setting.cost > 0.0 else 0
            learning = max(ramp_up - int(learned.people.days[worker]), patience)
            if learning > needed:
                longest, needed = worker, learning
        next_decision = min(situation.period, situation.setting.horizon) + 1
        if longest == NOBODY:
            return PolicyWait(look_again=next_decision)
        return PolicyWait(look_again=next_decision, least_observed=longest, still_needed=needed)

    def levels(self, state: EvolvingState, situation: Situation) -> list[Level]:
        """Return each worker's level after ramp-up on today's scale, with a 95% interval clipped to [0, 1]."""
        learned = as_plain(self._grown(state, situation).learned)
        return [_level(learned, worker) for worker in range(situation.setting.workers)]

    def readings(self, state: EvolvingState, situation: Situation) -> Readings:
        """Return everything learned, each with its doubt."""
        learned = self._grown(state, situation).learned
        (depth, days), (centre, between) = ramp_learned(learned), pool_learned(learned)
        quits, worked = int(learned.counts[QUITS]), int(learned.counts[DAYS_WORKED])
        plain, ramp_days = as_plain(learned), ramp_up_days(learned)
        return Readings(
            people=tuple(_person(plain, ramp_days, worker) for worker in range(situation.setting.workers)),
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
        return EvolvingState(data["stream_key"], unpack(data["learned"]))

    def _at_work(self, state: EvolvingState, situation: Situation) -> tuple[EvolvingMemory, RuleFacts]:
        """Return the rule's memory and the facts, as lists."""
        grown = self._grown(state, situation)
        return _memory(grown, grown.learned, situation.roster.team), as_lists(facts_of(self, situation))

    def _grown(self, state: EvolvingState, situation: Situation) -> EvolvingState:
        """Return the state with everybody who has joined the pool since, by their experience and earlier data."""
        known, workers = len(state.learned.people.slot), situation.setting.workers
        if workers <= known:
            return state
        facts = facts_of(self, situation)
        learned = with_room(state.learned, workers, int(state.learned.counts[SLOTS]))
        people = learned.people
        days = np.maximum(facts.experience[known:workers], facts.prior.counts[known:workers])
        people.first_days[known:] = people.days[known:] = days
        people.prior_counts[known:] = facts.prior.counts[known:workers]
        people.prior_sums[known:] = facts.prior.sums[known:workers]
        plain = as_plain(learned)
        for worker in range(known, workers):
            if plain.people.prior_counts[worker] > 0:
                join_crowd(plain, worker)
        expect_all(plain)
        return replace(state, learned=as_arrays(plain, learned))


_ANY_SETTING = Setting(workers=2, team=1, horizon=2, cost=1.0, mean_delay=1.0)
"""The parameters do not depend on the setting."""


def _told(number: float | None) -> float:
    return LEARN if number is None else float(number)


def _memory(state: EvolvingState, learned: Evolving, team: int) -> EvolvingMemory:
    """Return the rule's memory in the form that plain Python reads fast, around what was learned."""
    queue = np.array(queue_of(len(learned.people.slot), state.stream_key), dtype=np.int64)
    return as_lists(memory_around(as_plain(learned), queue, team))


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


def _person(learned: Evolving, ramp_days: int | None, worker: int) -> PersonReading:
    days, change, drift = int(learned.people.days[worker]), change_of(learned, worker), drift_of(learned, worker)
    return PersonReading(
        level=_level(learned, worker),
        days=days,
        share=share_put_out(learned.pool, days),
        ramp_days=ramp_days if ramp_days is not None and days < ramp_days else None,
        trend=None if change is None else Trend(change.change, change.since, change.chance),
        drift=None if drift is None else _estimate(drift),
    )


def _estimate(spread: Spread) -> Estimate:
    return Estimate(spread.mean, spread.sd)
