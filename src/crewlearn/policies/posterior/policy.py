"""What the policies of this family share: parameters of the posterior, a state of one key, and levels."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from crewlearn.beliefs.estimates import no_prior
from crewlearn.beliefs.posterior import GUESS_WEIGHT, NOISE_GUESS, Assumed, Beliefs, assume, learned
from crewlearn.policies.contract import Pair, Policy, Situation
from crewlearn.policies.explanations import Belief, Level
from crewlearn.policies.posterior.exchange import ExchangeMemory, fresh_exchange_memory
from crewlearn.policies.rule import Rule, RuleFacts, as_lists, facts_of
from crewlearn.policies.value.rule import queue_of
from crewlearn.problem.arrays import NOBODY, FloatArray
from crewlearn.problem.model import Setting


@dataclass(frozen=True)
class PosteriorState:
    """What the policies remember: the key of their own random stream. All else follows from the situation."""

    stream_key: int


@dataclass(frozen=True)
class PosteriorPolicy(Policy[PosteriorState]):
    """A policy that decides each period by the pool posterior.

    What output varies by is guessed, as the standard deviation `noise_guess` with the weight of `guess_weight`
    observations, and learned; so are the pool's centre and spread. What is told as `centre`, `between_sd` and
    `noise_sd` is taken for certain.
    """

    noise_guess: float = NOISE_GUESS
    guess_weight: float = GUESS_WEIGHT
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    state_type: ClassVar[type[PosteriorState]] = PosteriorState
    rule: ClassVar[Rule]
    decide_learned: ClassVar[Callable[..., int]]
    """The rule's `decide` for beliefs that were learned already."""

    def __post_init__(self) -> None:
        self.assumed()

    def assumed(self) -> Assumed:
        """Return what the parameters say about the pool."""
        return assume(self.noise_guess, self.guess_weight, self.centre, self.between_sd, self.noise_sd)

    @abstractmethod
    def parameters(self, setting: Setting) -> Any:
        """Return the numbers that the rule takes."""

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> PosteriorState:
        """Begin a run."""
        return PosteriorState(stream_key)

    def decide(self, state: PosteriorState, situation: Situation) -> tuple[list[Pair], PosteriorState]:
        """Ask the rule; the same data are not learned from twice."""
        memory, facts = self.at_work(state, situation)
        team = situation.roster.team
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        decide_learned = type(self).decide_learned
        n = decide_learned(self.parameters(situation.setting), memory, situation.period, facts, outs, ins)
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state

    def beliefs(self, situation: Situation) -> Beliefs:
        """Return what the data of a situation say about the pool and everybody in it."""
        prior = no_prior(situation.setting.workers) if situation.prior is None else situation.prior
        return learned(situation.estimates, prior.counts, prior.sums, self.assumed())

    def at_work(self, state: PosteriorState, situation: Situation) -> tuple[ExchangeMemory, RuleFacts]:
        """Return what the rule works with, as lists, all that was seen learned."""
        queue = np.array(queue_of(situation.setting.workers, state.stream_key), dtype=np.int64)
        room = fresh_exchange_memory(situation.roster.team, self.beliefs(situation), queue, state.stream_key)
        return as_lists(room), as_lists(facts_of(self, situation))

    def levels(self, state: PosteriorState, situation: Situation) -> list[Level]:
        """Return everybody's posterior mean and sd, with a 95% interval cut to the range of output."""
        beliefs = self.beliefs(situation)
        return [Level.of_normal(*_normal(beliefs, worker)) for worker in range(len(beliefs.means))]


def belief_of(beliefs: Beliefs, worker: int) -> Belief:
    """Return what is believed of a worker; an empty station is known to put out nothing."""
    return Belief(0.0, 0.0) if worker == NOBODY else Belief(*_normal(beliefs, worker))


def _normal(beliefs: Beliefs, worker: int) -> tuple[float, float]:
    return float(beliefs.means[worker]), math.sqrt(beliefs.variances[worker])
