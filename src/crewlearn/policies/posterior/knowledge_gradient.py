"""The knowledge gradient with fees and delays: the value of one more look, outside the team and inside it.

The knowledge gradient values a measurement by how much it raises the expected level of the choice that follows, as if
it were the last (Frazier, Powell and Dayanik 2008). Online, what is earned meanwhile counts too (Ryzhov, Powell and
Frazier 2012). A station offers two looks: at the worker i who is there, and at an entrant j. Let R be the periods left,
c the fee, L the length of a look. b, m and h are the posterior means of i, of j, and of the best other worker outside.
B and M are the posterior means of i and j after the look. Then

    try  = L m + (R - L) E max(M, max(b, h) - c / (R - L)) - c
    keep = L b + (R - L) E max(B, max(m, h) - c / (R - L))

and j replaces i if try exceeds keep. Both count what the look earns and what it teaches, and after both a fee may be
paid. To look at i costs no fee, so one untried worker is never exchanged for another.

Stations are taken from the lowest b up, entrants from the most valuable look at the first station down. The first pair
that does not pay ends the list.

One period may teach next to nothing where several would teach much. KG(*) of Frazier and Powell (2010) therefore takes
the best length. `look=none` does so, among powers of 2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from crewlearn.beliefs.posterior import NOISE, Assumed, learn
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
from crewlearn.policies.value.excess import upside
from crewlearn.policies.value.rule import LEAST_GAIN, periods_left
from crewlearn.policies.value.trials import sd_of_finding
from crewlearn.problem.arrays import NOBODY, IntArray
from crewlearn.problem.errors import whole
from crewlearn.problem.model import MOST, Setting

BEST = 0
"""The code of a look of the best length."""

NOT_COMPUTED = -math.inf


class GradientParameters(NamedTuple):
    """The periods of a look, or BEST, and the assumptions about the pool."""

    look: int
    assumed: Assumed


class Stakes(NamedTuple):
    """What all looks of a decision share: periods left, fee, noise variance, and the length of a look or BEST."""

    left: float
    fee: float
    noise: float
    look: int


class Outside(NamedTuple):
    """The worker outside with the highest posterior mean, that mean, and the next highest."""

    worker: int
    mean: float
    next_mean: float


def value_of_look(stakes: Stakes, mean: float, variance: float, fallback: float, length: float) -> float:
    """Return the expected output of a station over the periods left, less a fee after the look.

    After `length` periods the worker stays, or is replaced for the fee by somebody with mean `fallback`.
    """
    rest = stakes.left - length
    if rest <= 0.0:
        return stakes.left * mean
    back = fallback - stakes.fee / rest
    return length * mean + rest * (back + upside(mean, sd_of_finding(variance, stakes.noise, length), back))


def length_of_look(stakes: Stakes, mean: float, variance: float, fallback: float) -> float:
    """Return the length of a look: as set, or the power of 2 with the highest value."""
    if stakes.look != BEST:
        return float(stakes.look)
    best, length = 1.0, 2.0
    most = value_of_look(stakes, mean, variance, fallback, best)
    while length < stakes.left:
        value = value_of_look(stakes, mean, variance, fallback, length)
        if value > most:
            best, most = length, value
        length *= 2.0
    return best


def look_at(stakes: Stakes, mean: float, variance: float, fallback: float) -> float:
    """Return the value of a look at a worker, of the length set or best."""
    return value_of_look(stakes, mean, variance, fallback, length_of_look(stakes, mean, variance, fallback))


def advantage(stakes: Stakes, level: float, doubt: float, mean: float, variance: float, other: float) -> float:
    """Return the value of trying an entrant less that of keeping the worker in place, net of fees.

    `level` and `doubt` are the mean and variance of the worker in place, `mean` and `variance` those of the entrant;
    `other` is the highest mean of anybody else outside.

    >>> round(advantage(Stakes(100.0, 5.0, 0.01, 1), 0.5, 0.0, 0.6, 0.0, 0.0), 6)  # now rather than a period later
    0.1
    >>> round(advantage(Stakes(40.0, 5.0, 0.01, 1), 0.5, 0.0, 0.6, 0.0, 0.0), 6)  # 40 periods at 0.1 more, less the fee
    -1.0
    """
    trying = look_at(stakes, mean, variance, max(level, other)) - stakes.fee
    return trying - look_at(stakes, level, doubt, max(mean, other))


def best_outside(memory: ExchangeMemory, n: int) -> Outside:
    """Return the best of the first `n` entrants by posterior mean, with the next best mean."""
    means, worker, first, second = memory.beliefs.means, NOBODY, 0.0, 0.0
    for place in range(n):
        entrant = memory.entrants[place]
        mean = float(means[entrant])
        if worker == NOBODY or mean > first:
            worker, first, second = entrant, mean, first
        elif mean > second:
            second = mean
    return Outside(worker, first, second)


def other_than(outside: Outside, worker: int) -> float:
    """Return the highest mean outside, this worker excluded; 0 if there is nobody else."""
    return outside.next_mean if worker == outside.worker else outside.mean


def decide_gradient(
    parameters: GradientParameters,
    memory: ExchangeMemory,
    period: int,
    facts: RuleFacts,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Update the beliefs and decide."""
    learn(memory.beliefs, facts.estimates, parameters.assumed)
    return decide_by_looks(parameters, memory, period, facts, outs, ins)


def decide_by_looks(
    parameters: GradientParameters,
    memory: ExchangeMemory,
    period: int,
    facts: RuleFacts,
    outs: IntArray,
    ins: IntArray,
) -> int:
    """Pair the lowest stations with the entrants most worth a look, while trying exceeds keeping."""
    left, beliefs = periods_left(facts, period), memory.beliefs
    n_out, n_in = list_leavers(memory, facts), list_entrants(memory, facts)
    if left <= 1.0 or n_out == 0 or n_in == 0:
        return 0
    stakes = Stakes(left, facts.cost, float(beliefs.pool[NOISE]), parameters.look)
    for place in range(n_out):
        worker = memory.leavers[place]
        memory.levels[place] = 0.0 if worker == NOBODY else beliefs.means[worker]
    rank_stations(memory, n_out)
    outside = best_outside(memory, n_in)
    _rank_entrants(memory, facts, stakes, outside, n_in)
    n = 0
    while n < min(n_out, n_in, open_requests(facts)):
        station, entrant = memory.order[n], memory.entrants[memory.ranks[n]]
        leaver, level = memory.leavers[station], float(memory.levels[station])
        doubt = 0.0 if leaver == NOBODY else float(beliefs.variances[leaver])
        mean, variance = float(beliefs.means[entrant]), float(beliefs.variances[entrant])
        if advantage(stakes, level, doubt, mean, variance, other_than(outside, entrant)) <= LEAST_GAIN:
            break
        outs[n] = leaver
        ins[n] = entrant
        n += 1
    return n


def _rank_entrants(memory: ExchangeMemory, facts: RuleFacts, stakes: Stakes, outside: Outside, n: int) -> None:
    """Rank the first `n` entrants by the value of a look at the lowest station."""
    beliefs, level = memory.beliefs, float(memory.levels[memory.order[0]])
    untried = NOT_COMPUTED  # the same for all untried workers but the best outside: computed once
    for place in range(n):
        worker = memory.entrants[place]
        alike = facts.estimates.counts[worker] == 0 and worker != outside.worker
        score = untried if alike else NOT_COMPUTED
        if score == NOT_COMPUTED:
            mean, variance = float(beliefs.means[worker]), float(beliefs.variances[worker])
            score = look_at(stakes, mean, variance, max(level, other_than(outside, worker)))
        if alike:
            untried = score
        memory.scores[place] = score
    rank_descending(memory.scores, memory.ranks, n)


@dataclass(frozen=True)
class KnowledgeGradient(PosteriorPolicy):
    """Replaces where a look at a worker outside is worth more, net of the fee, than one at the worker in place.

    `look` is the length of a look in periods; None takes the best length. The other parameters are those
    of `PosteriorPolicy`.
    """

    look: int | None = 1
    rule: ClassVar[Rule] = Rule(fresh_exchange, decide_gradient)
    decide_learned: ClassVar[Callable[..., int]] = decide_by_looks

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.look is not None:
            whole("look", self.look, 1, MOST)

    @property
    def name(self) -> str:
        """The name people know the policy by."""
        return "knowledge-gradient"

    def parameters(self, setting: Setting) -> GradientParameters:
        """Return the rule's parameters."""
        return GradientParameters(BEST if self.look is None else int(self.look), self.assumed())

    @property
    def weighs_fees(self) -> bool:
        """The value of a look is compared with the fee."""
        return True

    def reasons(
        self, state: PosteriorState, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> list[Reason]:
        """Return the reason for each pair, at the setting's fee.

        `gain` is what trying the entrant gains over keeping the station as it is to the end, before the first fee.
        """
        memory, facts = self.at_work(state, situation)
        outside = best_outside(memory, list_entrants(memory, facts))
        stakes = self._stakes(memory, facts, situation.period)
        reasons = []
        for out, into in pairs:
            leaving, entering = Belief.of(memory.beliefs, out), Belief.of(memory.beliefs, into)
            fallback, variance = max(leaving.mean, other_than(outside, into)), float(memory.beliefs.variances[into])
            reasons.append(
                Reason(
                    out=out,
                    into=into,
                    out_belief=leaving,
                    in_belief=entering,
                    chance_better=entering.chance_above(leaving),
                    periods=stakes.left,
                    trial=length_of_look(stakes, entering.mean, variance, fallback),
                    fallback=fallback,
                    gain=look_at(stakes, entering.mean, variance, fallback) - stakes.left * leaving.mean,
                    fee=stakes.fee,
                )
            )
        return reasons

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the fee at which trying and keeping have the same value, by bisection."""
        memory, facts = self.at_work(PosteriorState(0), situation)
        beliefs, out, into = memory.beliefs, reason.out, reason.into
        level, doubt = (0.0, 0.0) if out == NOBODY else (beliefs.means[out], beliefs.variances[out])
        mean, variance = beliefs.means[into], beliefs.variances[into]
        other = other_than(best_outside(memory, list_entrants(memory, facts)), into)
        stakes = self._stakes(memory, facts, situation.period)
        low, high = 0.0, max(0.0, stakes.left)
        for _ in range(60):
            middle = 0.5 * (low + high)
            pays = advantage(stakes._replace(fee=middle), level, doubt, mean, variance, other) > LEAST_GAIN
            low, high = (middle, high) if pays else (low, middle)
        return low

    def _stakes(self, memory: ExchangeMemory, facts: RuleFacts, period: int) -> Stakes:
        look = BEST if self.look is None else int(self.look)
        return Stakes(periods_left(facts, period), facts.cost, float(memory.beliefs.pool[NOISE]), look)
