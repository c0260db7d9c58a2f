"""Rules: a policy's decisions as functions over arrays, shared by compiled and plain-Python runs.

A policy class that names a `Rule` is played by the engine's compiled loop, which is generic over rules. The functions
are plain Python, with loops over arrays, named tuples and `math`, and import no compiler. A rule's memory is a named
tuple of arrays, which the functions change in place.

`RulePolicy` turns a rule into a policy: it implements the contract and stores the state as plain data.
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
    """The facts that a rule may read and must not change.

    `prior` is the part of the estimates from prior data, of which only count and sum are known. `interview` holds the
    interview scores if the policy buys them, and is empty otherwise. `hidden` has no means unless the policy is an
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
    experience: IntArray


class Happened(NamedTuple):
    """The events of a period: who worked and their output, pairs that completed or failed, and who left unasked."""

    period: int
    workers: IntArray
    output: FloatArray
    completed_out: IntArray
    completed_in: IntArray
    failed_out: IntArray
    failed_in: IntArray
    left: IntArray


class NoMemory(NamedTuple):
    """The memory of a rule that remembers nothing."""


class NoParameters(NamedTuple):
    """The parameters of a rule that has none."""


def no_memory(parameters: Any, facts: RuleFacts, stream_key: int) -> NoMemory:
    """Return an empty memory."""
    return NoMemory()


def always_decide(parameters: Any, memory: Any, period: int, facts: RuleFacts, behind: int) -> bool:
    """Return False: decide in every period."""
    return False


def nobody_makes_room(parameters: Any, memory: Any, period: int, facts: RuleFacts, incoming: int) -> int:
    """Return NOBODY: open hires fill empty stations only."""
    return NOBODY


def ignore(parameters: Any, memory: Any, happened: Happened) -> None:
    """Do nothing."""


def nothing_to_revise(parameters: Any, memory: Any) -> None:
    """Revise nothing."""


@dataclass(frozen=True)
class Rule:
    """The functions of a rule; `parameters` is a named tuple of numbers, `memory` what `fresh` returned.

    - `fresh(parameters, facts, stream_key)` returns the memory of a new run: a named tuple of arrays. `stream_key` is
      the key of the policy's own random stream.
    - `decide(parameters, memory, period, facts, outs, ins)` fills in the replacements to request, at most one per
      station, and returns their number.
    - `nothing_to_decide(parameters, memory, period, facts, behind)` returns True to skip `decide` in this period. The
      estimates it sees lack the last `behind` periods of the active workers: the compiled loop updates them only for
      decisions, to save time.
    - `assign(parameters, memory, period, facts, incoming)` returns who makes room for a worker whose hire was left
      open, or -1 for an empty station. It must not change the memory.
    - `after_moves(parameters, memory, happened)` is called at the end of periods in which a replacement completed or
      failed. It is not given any output.
    - `revise(parameters, memory)` is called at the start of a period in which somebody left the pool or, live, the
      setting or the pool changed.
    - `observe(parameters, memory, happened)` is called at the end of every period, with everybody's output.
    - `diagnose(parameters, memory, period, numbers)` is called after `decide`, by the compiled loop only. It returns
      whether to log this period as a decision, and fills in four numbers about it: two whole ones for the log, 1 if it
      may fall short of the optimum and else 0, and a bound on what it then loses.
    """

    fresh: Callable[..., Any]
    decide: Callable[..., int]
    nothing_to_decide: Callable[..., bool] = always_decide
    assign: Callable[..., int] = nobody_makes_room
    after_moves: Callable[..., None] = ignore
    revise: Callable[..., None] = nothing_to_revise
    observe: Callable[..., None] | None = None
    diagnose: Callable[..., bool] | None = None

    def functions(self) -> tuple[Callable[..., Any], ...]:
        """Return the rule's functions, without those that are None."""
        named = (getattr(self, field.name) for field in dataclasses.fields(self))
        return tuple(function for function in named if function is not None)


class Ruled(Protocol):
    """A policy that names a rule."""

    rule: ClassVar[Rule]

    def parameters(self, setting: Setting) -> Any:
        """Return the named tuple of numbers that the rule takes."""


def facts_of(policy: Policy[Any], situation: Situation, interview: Sequence[float] = ()) -> RuleFacts:
    """Convert a situation to the form that rules take; newcomers count as not interviewed."""
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
        experience=situation.estimates.counts if situation.experience is None else situation.experience,
    )


Arrays = TypeVar("Arrays", bound=tuple[Any, ...])


def as_lists(arrays: Arrays) -> Arrays:
    """Convert a named tuple of arrays to one of lists, which plain Python accesses several times as fast."""
    items = (item.tolist() if isinstance(item, np.ndarray) else item for item in arrays)
    return type(arrays)(*(as_lists(item) if isinstance(item, tuple) else item for item in items))


def happened_in(report: Report) -> Happened:
    """Convert a report to the form that rules take."""
    completed, failed = (np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in (report.completed, report.failed))
    return Happened(
        period=report.period,
        workers=np.array(list(report.output), dtype=np.int64),
        output=np.array(list(report.output.values()), dtype=np.float64),
        completed_out=completed[:, 0],
        completed_in=completed[:, 1],
        failed_out=failed[:, 0],
        failed_in=failed[:, 1],
        left=np.array(report.left, dtype=np.int64),
    )


def ask(rule: Rule, parameters: Any, memory: Any, period: int, facts: RuleFacts) -> list[Pair]:
    """Run a rule's `decide` in plain Python and return the replacements requested; this changes the memory."""
    if rule.nothing_to_decide(parameters, memory, period, facts, 0):
        return []
    team = len(facts.roster.stations)
    outs, ins = np.empty(team, dtype=np.int64), np.empty(team, dtype=np.int64)
    n = rule.decide(parameters, memory, period, facts, outs, ins)
    if n > team:
        remedy = f"a rule may request at most {team}, one per station; return the number filled in"
        raise InvalidInput("replacements", n, remedy)
    return list(zip(outs[:n].tolist(), ins[:n].tolist(), strict=True))


@dataclass(frozen=True)
class RuleState:
    """The state of a `RulePolicy`: the rule's memory as plain data, and the other arguments of its functions.

    `setting` holds the fields of the last `Setting`. `memory` has the type, shape and values of each array in the
    rule's memory.
    """

    setting: tuple[float, ...]
    stream_key: int
    interview: tuple[float, ...]
    memory: dict[str, Any]


@dataclass(frozen=True)
class RulePolicy(Policy[RuleState]):
    """A policy defined by a rule: a subclass has fields for its parameters, a `name` and a `rule`.

    When the pool grows, existing entries of the memory's arrays are kept, and newcomers get those of `fresh`.
    """

    state_type: ClassVar[type[RuleState]] = RuleState
    rule: ClassVar[Rule]

    def parameters(self, setting: Setting) -> Any:
        """Return the policy's fields as a named tuple of numbers; override it to convert other types."""
        numbers, hints = {}, typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value, kind = getattr(self, field.name), hints.get(field.name)
            if not isinstance(value, (bool, int, float, np.number)):
                remedy = "a rule takes numbers; override `parameters` to convert this field"
                raise InvalidInput(f"policy {self.name} parameter {field.name}", value, remedy)
            numbers[field.name] = kind(value) if kind in (bool, int, float) else value
        return _tuple_type(type(self).__name__, tuple(numbers))(**numbers)

    def start(self, situation: Situation, stream_key: int, interview: FloatArray | None = None) -> RuleState:
        """Begin a run with fresh memory."""
        setting, scores = situation.setting, () if interview is None else tuple(interview.tolist())
        memory = self.rule.fresh(self.parameters(setting), facts_of(self, situation, scores), stream_key)
        return RuleState(dataclasses.astuple(setting), stream_key, scores, _described(self.name, memory))

    def decide(self, state: RuleState, situation: Situation) -> tuple[list[Pair], RuleState]:
        """Return the rule's replacements."""
        parameters, facts = self.parameters(situation.setting), facts_of(self, situation, state.interview)
        memory = self._memory(state, parameters, facts)
        pairs = ask(self.rule, parameters, memory, situation.period, facts)
        setting = dataclasses.astuple(situation.setting)
        return pairs, replace(state, setting=setting, memory=_described(self.name, memory))

    def assign(self, state: RuleState, situation: Situation, incoming: int) -> int:
        """Return the rule's choice of who makes room."""
        parameters, facts = self.parameters(situation.setting), facts_of(self, situation, state.interview)
        memory = self._memory(state, parameters, facts)
        return int(self.rule.assign(parameters, memory, situation.period, facts, incoming))

    def observe(self, state: RuleState, report: Report) -> RuleState:
        """Update the rule's memory."""
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

    def revise(self, state: RuleState, situation: Situation) -> RuleState:
        """Tell the rule that the setting or the pool changed."""
        if self.rule.revise is nothing_to_revise:
            return state
        parameters, facts = self.parameters(situation.setting), facts_of(self, situation, state.interview)
        memory = self._memory(state, parameters, facts)
        self.rule.revise(parameters, memory)
        setting = dataclasses.astuple(situation.setting)
        return replace(state, setting=setting, memory=_described(self.name, memory))

    def _memory(self, state: RuleState, parameters: Any, facts: RuleFacts) -> Any:
        """Return the memory as arrays, resized to the current pool and team."""
        memory = _remembered(state.memory)
        if state.setting[:2] != (len(facts.estimates.counts), len(facts.roster.stations)):
            larger = self.rule.fresh(parameters, facts, state.stream_key)
            _refill(larger, memory)
            return larger
        return memory


def _described(name: str, memory: Any) -> dict[str, Any]:
    """Return a rule's memory as plain data."""
    data: dict[str, Any] = {}
    for field, item in zip(getattr(memory, "_fields", ()), memory, strict=True):
        if isinstance(item, np.ndarray):
            data[field] = {"dtype": str(item.dtype), "shape": list(item.shape), "values": item.ravel().tolist()}
        elif isinstance(item, tuple) and hasattr(item, "_fields"):
            data[field] = {"fields": _described(name, item)}
        else:
            remedy = "a rule's memory must be a named tuple of arrays, which its functions change in place"
            raise InvalidInput(f"policy {name} memory {field}", item, remedy)
    return data


def _remembered(data: Any) -> Any:
    """Rebuild a memory from the data that `_described` returned."""
    arrays = {}
    for field, item in data.items():
        if "fields" in item:
            arrays[field] = _remembered(item["fields"])
        else:
            arrays[field] = np.array(item["values"], dtype=item["dtype"]).reshape(item["shape"])
    return _tuple_type("Memory", tuple(arrays))(**arrays)


def _refill(memory: Any, older: Any) -> None:
    """Copy an older memory into one of another size, as far as both reach."""
    for item, old_item in zip(memory, older, strict=True):
        if isinstance(item, np.ndarray):
            common = tuple(slice(min(sizes)) for sizes in zip(item.shape, old_item.shape, strict=True))
            item[common] = old_item[common]
        else:
            _refill(item, old_item)


@cache
def _tuple_type(name: str, fields: tuple[str, ...]) -> Any:
    """Return a named tuple type, cached because the compiler treats equal but distinct types as different."""
    return namedtuple(name, fields)  # the fields are known only at run time
