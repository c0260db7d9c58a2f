"""Thompson sampling with fees and delays: act as if a sample from the posterior were the truth.

Each worker's level is sampled from their posterior. The lowest sampled level in the team is compared with the highest
outside, the second lowest with the second highest, and so on. A pair is requested while the difference over the periods
left exceeds the fee.

A sample is a standard normal z; the level is mean + z sd by the current posterior. A new z every period makes near
equals change places again and again, each time for a fee. So everybody's z is redrawn in periods 1, 2, 4, 8 and so on
only. Lazy and batched posterior sampling (Abbasi-Yadkori and Szepesvári 2015; Karbasi, Mirrokni and Shadravan 2021)
redraw as rarely: when the data have doubled. An active worker without observations is not replaced: observing them
costs nothing, and nothing is known that favours the entrant.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from crewlearn.beliefs.posterior import Assumed, learn
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.explanations import Belief, Reason
from crewlearn.policies.posterior.exchange import (
    ExchangeMemory,
    fresh_exchange,
    list_entrants,
    list_leavers,
    open_requests,
    rank_stations,
)
from crewlearn.policies.posterior.policy import PosteriorPolicy, PosteriorState
from crewlearn.policies.ranking import rank_descending
from crewlearn.policies.rule import Rule, RuleFacts
from crewlearn.policies.value.rule import periods_left
from crewlearn.problem.arrays import NOBODY, IntArray
from crewlearn.problem.chance import mix, normal
from crewlearn.problem.errors import one_of
from crewlearn.problem.model import Setting

DOUBLING, EVERY_PERIOD = range(2)

RESAMPLING = {"doubling": DOUBLING, "every-period": EVERY_PERIOD}
"""When levels are resampled: names and codes."""


class ThompsonParameters(NamedTuple):
    """The code of when to resample, and the assumptions about the pool."""

    resample: int
    assumed: Assumed


def draw_number(resample: int, period: int) -> int:
    """Return the number of the sample in use in a period.

    >>> [draw_number(DOUBLING, period) for period in (1, 2, 3, 4, 7, 8, 500, 512)]
    [0, 1, 1, 2, 2, 3, 8, 9]
    """
    if resample == EVERY_PERIOD:
        return period
    number, next_draw = 0, 2
    while next_draw <= period:
        number += 1
        next_draw *= 2
    return number


def sampled_level(memory: ExchangeMemory, worker: int, number: int) -> float:
    """Return a worker's level in the sample of this number."""
    z = normal(mix(int(memory.stream[0]), worker), number)
    return float(memory.beliefs.means[worker] + math.sqrt(memory.beliefs.variances[worker]) * z)


def decide_thompson(
    parameters: ThompsonParameters,
    memory: ExchangeMemory,
    period: int,
    facts: RuleFacts,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Update the beliefs and decide."""
    learn(memory.beliefs, facts.estimates, parameters.assumed)
    return decide_sampled(parameters, memory, period, facts, outs, ins)


def decide_sampled(
    parameters: ThompsonParameters,
    memory: ExchangeMemory,
    period: int,
    facts: RuleFacts,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Pair the lowest sampled levels in the team with the highest outside, while the difference exceeds the fee."""
    left = periods_left(facts, period)
    if left <= 1.0:
        return 0
    number, counts = draw_number(parameters.resample, period), facts.estimates.counts
    n_out, n_in = list_leavers(memory, facts), list_entrants(memory, facts)
    for place in range(n_out):
        worker = memory.leavers[place]
        if worker == NOBODY:
            memory.levels[place] = 0.0
        else:  # workers without observations stay
            memory.levels[place] = sampled_level(memory, worker, number) if counts[worker] > 0 else math.inf
    rank_stations(memory, n_out)
    for place in range(n_in):
        memory.scores[place] = sampled_level(memory, memory.entrants[place], number)
    rank_descending(memory.scores, memory.ranks, n_in)
    n = 0
    while n < min(n_out, n_in, open_requests(facts)):
        station, entrant = memory.order[n], memory.ranks[n]
        if (memory.scores[entrant] - memory.levels[station]) * left <= facts.cost:
            break
        outs[n] = memory.leavers[station]
        ins[n] = memory.entrants[entrant]
        n += 1
    return n


@dataclass(frozen=True, kw_only=True)
class ThompsonReason(Reason):
    """The sampled levels and the posteriors of both workers."""

    out_belief: Belief = field()
    in_belief: Belief = field()
    chance_better: float = field()
    periods: float = field()
    fee: float = field()
    out_sample: float
    in_sample: float

    @property
    def sampled_gain(self) -> float:
        """The gain over the periods left if the sample were the truth, before the fee."""
        return (self.in_sample - self.out_sample) * self.periods


@dataclass(frozen=True)
class Thompson(PosteriorPolicy):
    """Replaces where a sample from the posterior gains more than the fee over the periods left.

    `resample` says when levels are resampled: in periods 1, 2, 4, 8 and so on ("doubling") or in each ("every-period").
    The other parameters are those of `PosteriorPolicy`.
    """

    resample: str = "doubling"
    rule: ClassVar[Rule] = Rule(fresh_exchange, decide_thompson)
    decide_learned: ClassVar[Callable[..., int]] = decide_sampled

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("resample", self.resample, RESAMPLING)

    @property
    def name(self) -> str:
        """The name people know the policy by."""
        return "thompson"

    def parameters(self, setting: Setting) -> ThompsonParameters:
        """Return the rule's parameters."""
        return ThompsonParameters(RESAMPLING[self.resample], self.assumed())

    def reasons(
        self, state: PosteriorState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> list[ThompsonReason]:
        """Return the sampled levels behind each pair; the fee is the setting's, by which the policy decides."""
        memory, facts = self.at_work(state, situation)
        number = draw_number(RESAMPLING[self.resample], situation.period)
        reasons = []
        for out, into in pairs:
            leaving, entering = Belief.of(memory.beliefs, out), Belief.of(memory.beliefs, into)
            reasons.append(
                ThompsonReason(
                    out=out,
                    into=into,
                    out_belief=leaving,
                    in_belief=entering,
                    chance_better=entering.chance_above(leaving),
                    periods=periods_left(facts, situation.period),
                    fee=facts.cost,
                    out_sample=0.0 if out == NOBODY else sampled_level(memory, out, number),
                    in_sample=sampled_level(memory, into, number),
                )
            )
        return reasons

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the sampled gain: at a higher fee the pair is not requested."""
        return reason.sampled_gain if isinstance(reason, ThompsonReason) else None
