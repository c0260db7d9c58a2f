"""The contract between a policy and the world, which may be simulated or real.

A policy is an immutable configuration. Its memory is a separate state of plain data. Facts (setting, roster, estimates,
who may be hired and let go) belong to the world and are passed in each `Situation`.
"""

import copy
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from crewlearn.beliefs.estimates import Estimates, Prior
from crewlearn.policies.explanations import Level, PolicyWait, Readings, Reason
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws import FIXED_DELAY, DelayForm, pair_delay
from crewlearn.problem.model import Setting
from crewlearn.problem.roster import Roster

Pair = tuple[int, int]
"""A replacement (out, in); out = -1 leaves the outgoing worker open, or fills an empty station."""

State = TypeVar("State")


class Foresight(NamedTuple):
    """What an oracle knows of a floor that changes; empty `levels` say that nothing does.

    `levels[i, t-1]` is worker i's level in period t, to the true end. `depth` and `fading` give everybody's ramp: after
    n days worked the share 1 - depth fading[n] of the level. `day_shares` are everybody's share of an ordinary day by
    weekday and shock. `quits` and `declines` are chances; whom they strike is not foreseen. `fee_if_declined` says
    whether a declined offer costs its fee. Where levels are not `known` ahead, only the present ones count.
    """

    known: bool
    levels: FloatArray
    depth: FloatArray
    fading: FloatArray
    day_shares: FloatArray
    quits: float
    declines: float
    fee_if_declined: bool


NO_FORESIGHT = Foresight(True, np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0), 0.0, 0.0, True)


class Hidden(NamedTuple):
    """Facts for oracles only: true means, and the law and key that give the delay of any pair in any period.

    Where people or days change, `means` are the present levels, and `foresight` tells what is to come.
    """

    means: FloatArray
    delay_form: DelayForm
    delay_key: int
    foresight: Foresight = NO_FORESIGHT

    def delay(self, period: int, out: int, into: int) -> int:
        """Return the delay of a pair if initiated in `period`."""
        return pair_delay(self.delay_form, self.delay_key, period, out, into)


NOTHING_HIDDEN = Hidden(np.zeros(0), DelayForm(FIXED_DELAY, 0, 0, np.zeros(0)), 0)
"""The hidden facts passed to the rule of a policy that is not an oracle: none."""


NOT_INTERVIEWED = -1e300
"""The interview score of newcomers and others who were not interviewed, so that they rank last."""


class Interview(NamedTuple):
    """Interview scores that a policy buys before period 1: their correlation with true means, and their total fee."""

    rho: float
    fee: float


Shown = TypeVar("Shown")


def read_only(facts: Shown) -> Shown:
    """Return a view of an array, a named tuple of arrays or a roster that shows every change and allows none.

    >>> counts = np.zeros(2)
    >>> shown = read_only(counts)
    >>> counts[0] = 3.0
    >>> float(shown[0])
    3.0
    >>> shown[0] = 4.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    view: Any = facts
    if isinstance(facts, np.ndarray):
        view = facts.view()
        view.flags.writeable = False
    elif isinstance(facts, Roster):
        view = Roster(read_only(facts.arrays))
    elif isinstance(facts, tuple) and hasattr(facts, "_fields"):
        view = type(facts)(*map(read_only, facts))
    shown: Shown = view
    return shown


@dataclass(frozen=True)
class Situation:
    """The facts that a policy may read at the start of a period; arrays and roster are read-only views.

    `period` is t, the period about to be played, from 1. `may_enter` and `may_leave` say who may be hired and who may
    be let go. On a live site they reflect pins, blocks and leavers; in a simulation those who quit may not come back.
    `prior` is the part of the estimates from prior data, whose spread is unknown; None if there is none. `experience`
    counts the days that each has worked here; None for as many as were observed.
    """

    period: int
    setting: Setting
    roster: Roster
    estimates: Estimates
    may_enter: BoolArray
    may_leave: BoolArray
    hidden: Hidden | None = None
    prior: Prior | None = None
    experience: IntArray | None = None

    def __post_init__(self) -> None:
        for name in ("roster", "estimates", "may_enter", "may_leave", "hidden", "prior", "experience"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def open_to_all(
        cls, period: int, setting: Setting, roster: Roster, estimates: Estimates, hidden: Hidden | None = None
    ) -> "Situation":
        """Build a situation in which everybody may be hired and let go."""
        everybody = np.ones(setting.workers, dtype=np.bool_)
        return cls(period, setting, roster, estimates, everybody, everybody, hidden)


@dataclass(frozen=True)
class Report:
    """The events of a period: output by worker, pairs that completed, pairs that failed.

    `output` is a read-only view. At a live site, those with a station come first, by station, as in a simulation.
    `left` are those who left the team without being replaced; it is told to policies that learn by day, at live sites
    only.
    """

    period: int
    output: Mapping[int, float] = field(default_factory=dict)
    completed: tuple[Pair, ...] = ()
    failed: tuple[Pair, ...] = ()
    left: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "output", MappingProxyType(self.output))

    def __reduce__(self) -> tuple[type["Report"], tuple[Any, ...]]:
        """Copy and pickle the output itself, as views cannot be; a policy may keep reports in its state."""
        return Report, (self.period, dict(self.output), self.completed, self.failed, self.left)


@dataclass(frozen=True)
class Policy(ABC, Generic[State]):
    """A policy: decides who should replace whom, given what is known.

    Subclasses are frozen dataclasses with `start` and `decide`. The other methods have defaults that suit a policy
    which leaves no hires open and ignores events. `reasons`, `break_even`, `waiting` and `levels` are optional: by
    default they return None, for "not available". `crewlearn.check_policy` checks a policy against this contract.
    """

    state_type: ClassVar[type[Any]]
    """The dataclass of plain data that holds the policy's state between periods."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The policy's name."""

    @property
    def oracle(self) -> bool:
        """Whether the policy needs hidden facts; the live advisor refuses such policies."""
        return False

    @abstractmethod
    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> State:
        """Return the state at the start of a run.

        `stream_key` is the key of the policy's own random stream, and `interview` holds the scores that it buys.
        """

    @abstractmethod
    def decide(self, state: State, situation: Situation) -> tuple[list[Pair], State]:
        """Return the replacements to initiate this period, and the new state."""

    def assign(self, state: State, situation: Situation, incoming: int) -> int:
        """Return who makes room for a worker whose hire was left open: an active worker, or -1 for an empty station."""
        return NOBODY

    def observe(self, state: State, report: Report) -> State:
        """Return the state after the events of a period; the world itself keeps the estimates."""
        return state

    def revise(self, state: State, situation: Situation) -> State:
        """Return the state after the setting, the pool, or who may be hired and let go has changed."""
        return state

    def interview(self, setting: Setting) -> Interview | None:
        """Return the interview scores that the policy buys before period 1, if any."""
        return None

    @property
    def refilled(self) -> bool:
        """Whether a simulation refills the places of those who quit, at random and for the fee: the policy does not."""
        return False

    def candidates(self, setting: Setting) -> Sequence["Policy[Any]"]:
        """Return policies of which the best is to be found by simulating the problem before play; none by default."""
        return ()

    @property
    def learns_by_day(self) -> bool:
        """Whether the policy learns from each day's output, rather than from the sums in the situation.

        Then `observe` must be told of every period with output, oldest first. After a correction of an earlier day the
        policy starts again and is told of all periods anew.

        A live site keeps what `start` and `observe` made of the state, and `revise` where newcomers were enrolled. What
        `decide` left in it serves to explain that decision and is dropped, so that advice is a function of the facts on
        record. Such a policy starts live with a horizon of 1, no fee and no delay: what it learns must not depend on
        them. A day may have output of more people than there are stations.
        """
        return False

    @property
    def weighs_fees(self) -> bool:
        """Whether the policy requests only replacements that it expects to be worth their fee."""
        return False

    def reasons(
        self, state: State, situation: Situation, pairs: Sequence[Pair], costs: Sequence[float] | None = None
    ) -> Sequence[Reason] | None:
        """Return the reason for each pair, or None.

        `pairs` were requested together in this situation, and `state` is the state after that decision. Further pairs
        with the same outgoing worker are alternatives to the first, each judged by what that entrant alone brings.
        `costs` are the fees of the pairs in the policy's units, if fees differ between people.
        """
        return None

    def break_even(self, situation: Situation, reason: Reason) -> float | None:
        """Return the fee, in the policy's units, above which it would not have requested the pair, or None."""
        return None

    def waiting(self, state: State, situation: Situation) -> PolicyWait | None:
        """Return what the policy waits for before it decides again, or None; `state` follows the decision."""
        return None

    def levels(self, state: State, situation: Situation) -> Sequence[Level] | None:
        """Return the policy's belief about the mean output of each of the k workers, or None."""
        return None

    def readings(self, state: State, situation: Situation) -> Readings | None:
        """Return what the policy has learned about people who change and days that differ, or None."""
        return None

    def state_to_json(self, state: State) -> dict[str, Any]:
        """Return a state as plain data."""
        return dataclasses.asdict(state)  # type: ignore[call-overload, no-any-return]  # states are dataclasses

    def state_from_json(self, data: Mapping[str, Any]) -> State:
        """Rebuild a state from the data that `state_to_json` returned."""
        copied = copy.deepcopy(dict(data))  # the policy may change its state, but must not change the data
        plain = {key: tuple(value) if isinstance(value, list) else value for key, value in copied.items()}
        state: State = self.state_type(**plain)
        return state


def hidden_from(policy: Policy[Any], situation: Situation) -> Hidden:
    """Return the hidden facts if the policy is an oracle, else `NOTHING_HIDDEN`."""
    if not policy.oracle:
        return NOTHING_HIDDEN
    if situation.hidden is None:
        raise InvalidInput("policy", policy.name, "needs hidden means and delays, which only a simulation has")
    return situation.hidden
