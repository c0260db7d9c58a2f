"""A policy's rule: functions over arrays that its compiled and its plain-Python play share.

A policy class that names a `Rule` is played by the engine's compiled loop, which knows no policy by name. The functions
are plain Python: loops over arrays, named tuples and `math`. They import no compiler. What a rule remembers is a named
tuple of arrays, which the functions change in place.

`RulePolicy` makes a whole policy of a rule: it offers the calls of the contract and keeps the state as plain data.
"""

import dataclasses
import typing
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from crewlearn.beliefs.estimates import Estimates, Prior, no_prior
from crewlearn.policies.contract import NOT_INTERVIEWED, Hidden, Pair, Policy, Report, Situation, hidden_from
from crewlearn.problem.arrays import NOBODY, BoolArray, FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.model import Setting
from crewlearn.problem.transitions import RosterArrays


class RuleFacts(NamedTuple):
    """What a rule may look at and must not change.

    `prior` is the part of the estimates that people brought along, of which only count and sum are known. `interview`
    holds the scores that the policy buys and is empty for any other. `hidden` has no means for a policy that is no
    oracle.
    """

    roster: RosterArrays
    estimates: Estimates
    may_enter: BoolArray
    may_leave: BoolArray
    horizon: int
    cost: float
    mean_delay: float
    prior: Prior
    interview: FloatArray
    hidden: Hidden


class Happened(NamedTuple):
    """What happened in a period: who worked and their output, the pairs that completed and the pairs that failed."""

    period: int
    workers: IntArray
    output: FloatArray
    completed_out: IntArray
    completed_in: IntArray
    failed_out: IntArray
    failed_in: IntArray


class NoMemory(NamedTuple):
    """The memory of a rule that remembers nothing."""


class NoParameters(NamedTuple):
    """The parameters of a rule that has none."""


def no_memory(parameters: Any, facts: RuleFacts, stream_key: int) -> NoMemory:
    """Begin with nothing to remember."""
    return NoMemory()


def always_decide(parameters: Any, memory: Any, period: int, facts: RuleFacts, behind: int) -> bool:
    """Decide in every period."""
    return False


def nobody_makes_room(parameters: Any, memory: Any, period: int, facts: RuleFacts, incoming: int) -> int:
    """Fill empty stations only."""
    return NOBODY


def ignore(parameters: Any, memory: Any, happened: Happened) -> None:
    """Take no notice."""


@dataclass(frozen=True)
class Rule:
    """The functions of a rule; `parameters` is a named tuple of numbers, `memory` what `fresh` returned.

    - `fresh(parameters, facts, stream_key)` returns the memory of a new run: a named tuple of arrays. `stream_key`
      names the policy's own random stream.
    - `decide(parameters, memory, period, facts, outs, ins)` fills in the replacements to ask for, at most one for each
      station, and returns their number.
    - `nothing_to_decide(parameters, memory, period, facts, behind)` returns True to skip `decide` in this period. It
      sees counts of the active workers that lag `behind` by so many periods, and sums that lag likewise: writing them
      up takes time, which the compiled loop saves in periods without a decision.
    - `assign(parameters, memory, period, facts, incoming)` returns who makes room for a worker whose hire was left
      open, or -1 for an empty station. It must not change the memory.
    - `after_moves(parameters, memory, happened)` is called at the end of periods in which a replacement completed or
      failed. It is not told of output.
    - `observe(parameters, memory, happened)` is called at the end of every period, with everybody's output.
    - `diagnose(parameters, memory, period, numbers)` is called after `decide`, by the compiled loop alone. It returns
      whether this was a decision worth logging, and fills in two whole numbers about it.
    """

    fresh: Callable[..., Any]
    decide: Callable[..., int]
    nothing_to_decide: Callable[..., bool] = always_decide
    assign: Callable[..., int] = nobody_makes_room
    after_moves: Callable[..., None] = ignore
    observe: Callable[..., None] | None = None
    diagnose: Callable[..., bool] | None = None

    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the functions that the rule has."""
        named = (getattr(self, field.name) for field in dataclasses.fields(self))
        return tuple(function for function in named if function is not None)


class Ruled(Protocol):
    """A policy that names its rule."""

    rule: ClassVar[Rule]

    def parameters(self, setting: Setting) -> Any:
        """Return the named tuple of numbers that the rule takes."""


def facts_of(policy: Policy[Any], situation: Situation, interview: Sequence[float] = ()) -> RuleFacts:
    """Return a situation as rules take it; newcomers count as not interviewed."""
    workers, setting = len(situation.estimates.counts), situation.setting
    scores = np.full(workers if len(interview) else 0, NOT_INTERVIEWED)
    scores[: len(interview)] = interview
    return RuleFacts(
        roster=situation.roster.arrays,
        estimates=situation.estimates,
        may_enter=situation.may_enter,
        may_leave=situation.may_leave,
        horizon=setting.horizon,
        cost=setting.cost,
        mean_delay=setting.mean_delay,
        prior=no_prior(workers) if situation.prior is None else situation.prior,
        interview=scores,
        hidden=hidden_from(policy, situation),
    )


Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


def as_lists(arrays: Arrays) -> Arrays:
    """Return a named tuple of arrays as one of lists, which plain Python reads and writes several times as fast."""
    items = (item.tolist() if isinstance(item, np.ndarray) else item for item in arrays)
    return type(arrays)(*(as_lists(item) if isinstance(item, tuple) else item for item in items))


def happened_in(report: Report) -> Happened:
    """Return a report as rules take it."""
    completed, failed = (np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in (report.completed, report.failed))
    return Happened(
        period=report.period,
        workers=np.array(list(report.output), dtype=np.int64),
        output=np.array(list(report.output.values()), dtype=np.float64),
        completed_out=completed[:, 0],
        completed_in=completed[:, 1],
        failed_out=failed[:, 0],
        failed_in=failed[:, 1],
    )


def ask(rule: Rule, parameters: Any, memory: Any, period: int, facts: RuleFacts) -> list[Pair]:
    """Return the replacements that a rule asks for, in plain Python; changes the memory."""
    if rule.nothing_to_decide(parameters, memory, period, facts, 0):
        return []
    team = len(facts.roster.stations)
    outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
    n = rule.decide(parameters, memory, period, facts, outs, ins)
    if n > team:
        remedy = f"a rule may ask for {team}, one a station; return how many were filled in"
        raise InvalidInput("replacements", n, remedy)
    return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True))


@dataclass(frozen=True)
class RuleState:
    """What a `RulePolicy` remembers: the rule's memory as plain data, and what else its functions need again.

    `setting` is the setting last seen, as the numbers of a `Setting`. `memory` has, for each field of the rule's
    memory, the type, shape and values of its array.
    """

    setting: tuple[float, ...]
    stream_key: int
    interview: tuple[float, ...]
    memory: dict[str, Any]


@dataclass(frozen=True)
class RulePolicy(Policy[RuleState]):
    """A policy made of a rule: a subclass has fields for its parameters, a `name` and a `rule`.

    When the pool grows, workers keep their places in arrays with one entry a worker; newcomers have what `fresh` makes
    for them.
    """

    state_type: ClassVar[type[RuleState]] = RuleState
    rule: ClassVar[Rule]

    def parameters(self, setting: Setting) -> Any:
        """Return the fields of the policy as a named tuple of numbers; override to translate anything else."""
        numbers, hints = {}, typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value, kind = getattr(self, field.name), hints.get(field.name)
            if not isinstance(value, (bool, int, float, np.number)):
                remedy = "a rule takes numbers; override `parameters` to translate this field"
                raise InvalidInput(f"policy {self.name} parameter {field.name}", value, remedy)
            numbers[field.name] = kind(value) if kind in (bool, int, float) else value
        return _tuple_type(type(self).__name__, tuple(numbers))(**numbers)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> RuleState:
        """Begin a run with fresh memory."""
        setting, scores = situation.setting, () if interview is None else tuple(interview.tolist())
        memory = self.rule.fresh(self.parameters(setting), facts_of(self, situation, scores), stream_key)
        return RuleState(dataclasses.astuple(setting), stream_key, scores, _described(self.name, memory))

    def decide(self, state: RuleState, situation: Situation) -> tuple[list[Pair], RuleState]:
        """Ask the rule."""
        parameters, facts = self.parameters(situation.setting), facts_of(self, situation, state.interview)
        memory = self._memory(state, parameters, facts)
        pairs = ask(self.rule, parameters, memory, situation.period, facts)
        setting = dataclasses.astuple(situation.setting)
        return pairs, replace(state, setting=setting, memory=_described(self.name, memory))

    def assign(self, state: RuleState, situation: Situation, incoming: int) -> int:
        """Ask the rule who makes room."""
        parameters, facts = self.parameters(situation.setting), facts_of(self, situation, state.interview)
        memory = self._memory(state, parameters, facts)
        return int(self.rule.assign(parameters, memory, situation.period, facts, incoming))

    def observe(self, state: RuleState, report: Report) -> RuleState:
        """Show the rule what happened."""
        moved = bool(report.completed or report.failed)
        if self.rule.observe is None and not moved:
            return state
        workers, team, horizon, cost, mean_delay = state.setting
        parameters = self.parameters(Setting(int(workers), int(team), int(horizon), cost, mean_delay))
        memory, happened = _remembered(state.memory), happened_in(report)
        if moved:
            moves = happened._replace(workers=happened.workers[:0], output=happened.output[:0])
            self.rule.after_moves(parameters, memory, moves)
        if self.rule.observe is not None:
            self.rule.observe(parameters, memory, happened)
        return replace(state, memory=_described(self.name, memory))

    def _memory(self, state: RuleState, parameters: Any, facts: RuleFacts) -> Any:
        """Return the memory as arrays, with room for the pool and the team as they are now."""
        memory = _remembered(state.memory)
        if state.setting[:2] != (len(facts.estimates.counts), len(facts.roster.stations)):
            larger = self.rule.fresh(parameters, facts, state.stream_key)
            _refill(larger, memory)
            return larger
        return memory


def _described(name: str, memory: Any) -> dict[str, Any]:
    """Describe a rule's memory as plain data."""
    data: dict[str, Any] = {}
    for field, item in zip(getattr(memory, "_fields", ()), memory, strict=True):
        if isinstance(item, np.ndarray):
            data[field] = {"dtype": str(item.dtype), "shape": list(item.shape), "values": item.ravel().tolist()}
        elif isinstance(item, tuple) and hasattr(item, "_fields"):
            data[field] = {"fields": _described(name, item)}
        else:
            remedy = "what a rule remembers must be a named tuple of arrays, which its functions change in place"
            raise InvalidInput(f"policy {name} memory {field}", item, remedy)
    return data


def _remembered(data: Any) -> Any:
    """Return the memory that `_described` described, as arrays under the same names."""
    arrays = {}
    for field, item in data.items():
        if "fields" in item:
            arrays[field] = _remembered(item["fields"])
        else:
            arrays[field] = np.array(item["values"], dtype=item["dtype"]).reshape(item["shape"])
    return _tuple_type("Memory", tuple(arrays))(**arrays)


def _refill(memory: Any, older: Any) -> None:
    """Copy what was remembered before into memory of another size, as far as both reach."""
    for item, was in zip(memory, older, strict=True):
        if isinstance(item, np.ndarray):
            common = tuple(slice(min(sizes)) for sizes in zip(item.shape, was.shape, strict=True))
            item[common] = was[common]
        else:
            _refill(item, was)


@cache
def _tuple_type(name: str, fields: tuple[str, ...]) -> Any:
    """Return a named tuple type, the same for the same name and fields: the compiler tells types apart."""
    return namedtuple(name, fields)  # its fields are known only now
