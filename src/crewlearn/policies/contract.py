"""The contract between a policy and the world around it, which may be simulated or real.

A policy is an immutable configuration. What it remembers is a separate state of plain data. Facts (setting, roster,
estimates, who may come and go) belong to the world and are shown afresh in each `Situation`.
"""

import copy
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from crewlearn.beliefs.estimates import Estimates, Prior
from crewlearn.policies.explanations import Level, PolicyWait, Reason
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import FIXED_DELAY, DelayForm, pair_delay
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster

Pair = tuple[int, int]
"""A replacement (out, in); out = -1 leaves the outgoing worker open, or fills an empty station."""

State = TypeVar("State")


class Hidden(NamedTuple):
    """What only an oracle is told: true means, and by law and key the delay of any pair in any period."""

    means: FloatArray
    delay_form: DelayForm
    delay_key: int

    def delay(self, period: int, out: int, into: int) -> int:
        """Return the delay that a pair would have if initiated in a period."""
        return pair_delay(self.delay_form, self.delay_key, period, out, into)


NOTHING_HIDDEN = Hidden(np.zeros(0), DelayForm(FIXED_DELAY, 0, 0, np.zeros(0)), 0)
"""What the rules of a policy that is no oracle are given."""


NOT_INTERVIEWED = -1e300
"""The interview score of newcomers and of whoever else was not interviewed: they rank last."""


class Interview(NamedTuple):
    """Interview scores that a policy buys before period 1: their correlation with true means, and what they cost."""

    rho: float
    fee: float


@dataclass(frozen=True)
class Situation:
    """What a policy may look at, and must not change, at the start of a period.

    `period` is t, the period about to be played, from 1. `may_enter` and `may_leave` say who may be hired and who
    may be let go: pins, blocks and leavers of a live site; everybody in a simulation. `prior` is the part of the
    estimates that people brought along, whose spread nobody knows; left out, they brought nothing.
    """

    period: int
    setting: Setting
    roster: Roster
    estimates: Estimates
    may_enter: BoolArray
    may_leave: BoolArray
    hidden: Hidden | None = None
    prior: Prior | None = None

    @classmethod
    def open_to_all(
        cls, period: int, setting: Setting, roster: Roster, estimates: Estimates, hidden: Hidden | None = None
    ) -> "Situation":
        """Build a situation in which everybody may come and go."""
        everybody = np.ones(setting.workers, dtype=np.bool_)
        return cls(period, setting, roster, estimates, everybody, everybody, hidden)


@dataclass(frozen=True)
class Report:
    """What happened in a period: output by worker, pairs that completed, pairs that failed."""

    period: int
    output: Mapping[int, float] = field(default_factory=dict)
    completed: tuple[Pair, ...] = ()
    failed: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Policy(ABC, Generic[State]):
    """A policy: who should replace whom, given what is known.

    Subclasses are frozen dataclasses with `start` and `decide`; the rest has defaults that suit a policy which neither
    leaves hires open nor waits for anything. `reasons`, `break_even`, `waiting` and `levels` are optional: their
    defaults return None, "does not say". `crewlearn.check_policy` checks a policy against this contract.
    """

    state_type: ClassVar[type[Any]]
    """The dataclass of plain data that the policy remembers between periods."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name people know the policy by."""

    @property
    def oracle(self) -> bool:
        """Whether the policy must be told what is hidden; the live advisor refuses such policies."""
        return False

    @abstractmethod
    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> State:
        """Begin a run; `stream_key` names the policy's own random stream, `interview` holds the scores it buys."""

    @abstractmethod
    def decide(self, state: State, situation: Situation) -> tuple[list[Pair], State]:
        """Return the replacements to initiate this period, and the state that follows."""

    def assign(self, state: State, situation: Situation, incoming: int) -> int:
        """Return who makes room for a worker whose hire was left open: an active worker, or -1 for an empty station."""
        return NOBODY

    def observe(self, state: State, report: Report) -> State:
        """Take in what happened in the period; estimates are kept by the world."""
        return state

    def revise(self, state: State, situation: Situation) -> State:
        """Take in that the setting, the pool or who may come and go has changed."""
        return state

    def interview(self, setting: Setting) -> Interview | None:
        """Return the interview scores that the policy buys before period 1, if any."""
        return None

    @property
    def weighs_fees(self) -> bool:
        """Whether the policy asks only for replacements that it expects to be worth their fee."""
        return False

    def reasons(
        self, state: State, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> Sequence[Reason] | None:
        """Return why each pair was asked for, or None.

        `pairs` were asked for together in this situation, and `state` is the state after that decision. `costs` are
        the fees of the pairs in the policy's units, where people have fees of their own.
        """
        return None

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the fee, in the policy's units, above which it would not have asked for the pair, or None."""
        return None

    def waiting(self, state: State, situation: Situation) -> PolicyWait | None:
        """Return what the policy waits for before it decides again, or None; `state` is after the decision."""
        return None

    def levels(self, state: State, situation: Situation) -> Sequence[Level] | None:
        """Return what the policy believes of the mean output of each of the k workers, or None."""
        return None

    def state_to_json(self, state: State) -> dict[str, Any]:
        """Describe a state as plain data."""
        return dataclasses.asdict(state)  # type: ignore[call-overload, no-any-return]  # states are dataclasses

    def state_from_json(self, data: Mapping[str, Any]) -> State:
        """Rebuild the state that `state_to_json` described."""
        own = copy.deepcopy(dict(data))  # a policy may change what it remembers; the data stay as they are
        plain = {key: tuple(value) if isinstance(value, list) else value for key, value in own.items()}
        state: State = self.state_type(**plain)
        return state


def hidden_from(policy: Policy[Any], situation: Situation) -> Hidden:
    """Return the hidden facts for an oracle, and none for any other policy."""
    if not policy.oracle:
        return NOTHING_HIDDEN
    if situation.hidden is None:
        raise InvalidInput("policy", policy.name, "needs hidden means and delays, which only a simulation has")
    return situation.hidden
