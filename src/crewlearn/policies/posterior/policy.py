"""The base class of policies that act on the pool posterior: its parameters, state and levels."""

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
from crewlearn.problem.arrays import FloatArray
from crewlearn.problem.model import Setting


@dataclass(frozen=True)
class PosteriorState:
    """The policy's memory: the key of its random stream. Everything else follows from the situation."""

    stream_key: int


@dataclass(frozen=True)
class PosteriorPolicy(Policy[PosteriorState]):
    """A policy that decides each period by the pool posterior.

    `noise_guess` is the prior standard deviation of output, with the weight of `guess_weight` observations. `centre`,
    `between_sd` and `noise_sd` are known parameters of the pool; those left out are learned from data.
    """

    noise_guess: float = NOISE_GUESS
    guess_weight: float = GUESS_WEIGHT
    centre: float | None = None
    between_sd: float | None = None
    noise_sd: float | None = None
    state_type: ClassVar[type[PosteriorState]] = PosteriorState
    rule: ClassVar[Rule]
    decide_learned: ClassVar[Callable[..., int]]
    """The rule's `decide`, given up-to-date beliefs."""

    def __post_init__(self) -> None:
        self.assumed()

    def assumed(self) -> Assumed:
        """Return the assumptions about the pool."""
        return assume(self.noise_guess, self.guess_weight, self.centre, self.between_sd, self.noise_sd)

    @abstractmethod
    def parameters(self, setting: Setting) -> Any:
        """Return the rule's parameters."""

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> PosteriorState:
        """Return the initial state."""
        return PosteriorState(stream_key)

    def decide(self, state: PosteriorState, situation: Situation) -> tuple[list[Pair], PosteriorState]:
        """Ask the rule, with cached beliefs."""
        memory, facts = self.at_work(state, situation)
        team = situation.roster.team
        outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
        decide_learned = type(self).decide_learned
        n = decide_learned(self.parameters(situation.setting), memory, situation.period, facts, outs, ins)
        return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True)), state

    def beliefs(self, situation: Situation) -> Beliefs:
        """Return the posterior of the pool and of each worker."""
        prior = no_prior(situation.setting.workers) if situation.prior is None else situation.prior
        return learned(situation.estimates, prior.counts, prior.sums, self.assumed())

    def at_work(self, state: PosteriorState, situation: Situation) -> tuple[ExchangeMemory, RuleFacts]:
        """Return the rule's memory, with up-to-date beliefs, and the facts, as lists."""
        queue = np.array(queue_of(situation.setting.workers, state.stream_key), dtype=np.int64)
        room = fresh_exchange_memory(situation.roster.team, self.beliefs(situation), queue, state.stream_key)
        return as_lists(room), as_lists(facts_of(self, situation))

    def levels(self, state: PosteriorState, situation: Situation) -> list[Level]:
        """Return each worker's posterior mean and sd, with a 95% interval clipped to [0, 1]."""
        beliefs = self.beliefs(situation)
        everybody = [Belief.of(beliefs, worker) for worker in range(len(beliefs.means))]
        return [Level.of_normal(belief.mean, belief.sd) for belief in everybody]
