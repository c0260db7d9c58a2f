"""A user's own rule is compiled like the built-in ones, plays as in plain Python, and is recompiled when it changes."""

import dataclasses
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from crewlearn.engine.caching.disk_cache import cache_folder
from crewlearn.engine.compiled import loops as compiled
from crewlearn.engine.interpreted import play
from crewlearn.engine.local import simulate
from crewlearn.engine.world import World
from crewlearn.policies.compilable import rule_of
from crewlearn.policies.contract import Pair, Situation
from crewlearn.policies.dr_ucb.policy import DRUCB, DRUCBState
from crewlearn.policies.rule import Happened, NoParameters, Rule, RuleFacts, RulePolicy, no_memory
from crewlearn.policies.teams.omm import AOMM
from crewlearn.problem.arrays import FloatArray, IntArray
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.laws import BernoulliOutput, UniformDelay
from crewlearn.problem.model import Pool, Problem, Start

PROBLEM = benchmark(5, horizon=60)
EMPTY_STATIONS = Problem(
    3, 80, 0.5, Pool((0.2, 0.8, 0.5, 0.6, 0.9)), UniformDelay(0, 4), BernoulliOutput(), start=Start((-1, 0, 3))
)


class SmoothMemory(NamedTuple):
    """Smoothed output of each worker, and the number of moves and outputs observed."""

    level: FloatArray
    seen: IntArray


def fresh_smooth(parameters: Any, facts: RuleFacts, stream_key: int) -> SmoothMemory:
    return SmoothMemory(np.full(len(facts.roster.role), 0.5), np.zeros(3, dtype=np.int64))


def decide_smooth(
    parameters: Any, memory: SmoothMemory, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Replace the worst smoothed level by the best outside, if that is better by a margin."""
    roster = facts.roster
    worst, best = -1, -1
    for worker in range(len(roster.role)):
        if roster.role[worker] != 0:
            continue
        if roster.station_of[worker] >= 0:
            if worst < 0 or memory.level[worker] < memory.level[worst]:
                worst = worker
        elif best < 0 or memory.level[worker] > memory.level[best]:
            best = worker
    if worst < 0 or best < 0 or period >= facts.horizon:
        return 0
    if memory.level[best] <= memory.level[worst] + parameters.margin:
        return 0
    outs[0] = -1 if parameters.late else worst
    ins[0] = best
    return 1


def wait_smooth(parameters: Any, memory: SmoothMemory, period: int, facts: RuleFacts, behind: int) -> bool:
    return facts.estimates.counts[facts.roster.stations[1]] + behind < 3 or period % 2 == 0


def assign_smooth(parameters: Any, memory: SmoothMemory, period: int, facts: RuleFacts, incoming: int) -> int:
    """The lowest level makes room, unless it is high."""
    for station in range(len(facts.roster.stations)):
        if facts.roster.stations[station] < 0:
            return -1
    worst = -1
    for worker in facts.roster.stations:
        if facts.roster.role[worker] == 0 and (worst < 0 or memory.level[worker] < memory.level[worst]):
            worst = worker
    return worst if worst >= 0 and memory.level[worst] < 0.6 else -1


def moved_smooth(parameters: Any, memory: SmoothMemory, happened: Happened) -> None:
    memory.seen[0] += len(happened.completed_in)
    memory.seen[1] += len(happened.failed_in)
    for pair in range(len(happened.failed_in)):
        memory.level[happened.failed_in[pair]] -= 0.25


def observe_smooth(parameters: Any, memory: SmoothMemory, happened: Happened) -> None:
    for place in range(len(happened.workers)):
        worker = happened.workers[place]
        memory.level[worker] += parameters.rate * (happened.output[place] - memory.level[worker])
        memory.seen[2] += 1


@dataclasses.dataclass(frozen=True)
class Smooth(RulePolicy):
    """Learns from every period's output; has every function that a rule may have."""

    rate: float = 0.3
    margin: float = 0.02
    late: bool = False
    rule: ClassVar[Rule] = Rule(
        fresh_smooth, decide_smooth, wait_smooth, assign_smooth, after_moves=moved_smooth, observe=observe_smooth
    )

    @property
    def name(self) -> str:
        return "smooth"


def compare(policy: Any, problem: Problem = PROBLEM, runs: int = 3) -> list[float]:
    """Play compiled and in plain Python; all numbers must be the same."""
    assert rule_of(policy) is not None
    result = simulate(problem, [policy], runs, 7, range(1, problem.horizon + 1)).policies[policy.name]
    for run in range(runs):
        steps = list(play(World(problem, 7, run), policy))
        assert result.regret[run].tolist() == np.cumsum([step.regret for step in steps]).tolist()
        assert result.replacements[run] == sum(len(step.requested) for step in steps)
        assert result.completed[run] == sum(len(step.completed) for step in steps)
    regrets: list[float] = result.regret[:, -1].tolist()
    assert result.replacements.sum() > 0
    return regrets


@pytest.mark.parametrize("problem", [PROBLEM, EMPTY_STATIONS])
@pytest.mark.parametrize("policy", [Smooth(), Smooth(late=True), Smooth(rate=1, margin=0)])
def test_a_rule_of_a_module_plays_as_in_plain_python(policy: Smooth, problem: Problem) -> None:
    compare(policy, problem)


def decide_turns(
    parameters: NoParameters, memory: Any, period: int, facts: RuleFacts, outs: IntArray, ins: IntArray
) -> int:
    """Replace whoever has worked longest by whoever has worked least."""
    roster, _, _, _, horizon, _, _, _, _, _, worked = facts
    longest = least = -1
    for worker in range(len(worked)):
        if roster.role[worker] != 0:
            continue
        if roster.station_of[worker] >= 0:
            if longest < 0 or worked[worker] > worked[longest]:
                longest = worker
        elif least < 0 or worked[worker] < worked[least]:
            least = worker
    if longest < 0 or least < 0 or period >= horizon:
        return 0
    outs[0] = longest
    ins[0] = least
    return 1


@dataclasses.dataclass(frozen=True)
class Turns(RulePolicy):
    """Lets everybody work in turn, by the days worked."""

    rule: ClassVar[Rule] = Rule(no_memory, decide_turns)

    @property
    def name(self) -> str:
        return "turns"


@pytest.mark.parametrize("problem", [PROBLEM, EMPTY_STATIONS])
def test_a_rule_is_told_the_days_worked_even_if_it_does_not_name_them(problem: Problem) -> None:
    compare(Turns(), problem)


def test_its_state_survives_json_and_a_pool_that_grows() -> None:
    policy = Smooth()
    steps = list(play(World(PROBLEM, 7, 0), policy))
    assert steps == list(play(World(PROBLEM, 7, 0), Again()))


class Again(Smooth):
    """Sends its state through JSON before every decision."""

    def decide(self, state: Any, situation: Situation) -> Any:
        text = json.dumps(self.state_to_json(state))
        return super().decide(self.state_from_json(json.loads(text)), situation)


SOURCE = """
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
import numpy as np
from crewlearn.policies.ranking import rank_descending
from crewlearn.policies.rule import Rule, RulePolicy

EVERY = 5

class Dates(NamedTuple):
    last: np.ndarray

def fresh(parameters, facts, stream_key):
    return Dates(np.zeros(1, dtype=np.int64))

def worst_of(facts):
    return WORST

def decide(parameters, memory, period, facts, outs, ins):
    if period - memory.last[0] < EVERY:
        return 0
    memory.last[0] = period
    order = np.empty(len(facts.estimates.sums), dtype=np.int64)
    rank_descending(facts.estimates.sums, order, len(order))
    for worker in order:
        if facts.roster.station_of[worker] < 0 and facts.roster.role[worker] == 0:
            out = facts.roster.stations[worst_of(facts)]
            if facts.roster.role[out] != 0:
                return 0
            outs[0], ins[0] = out, worker
            return 1
    return 0

@dataclass(frozen=True)
class Rota(RulePolicy):
    rule: ClassVar[Rule] = Rule(fresh, decide)

    @property
    def name(self):
        return "rota"
"""


def test_source_without_a_file_is_compiled_and_what_changed_takes_effect() -> None:
    """As in a notebook: after a cell is run, a helper or constant is redefined in another cell."""
    cell: dict[str, Any] = {"__name__": "no_such_module"}
    exec(SOURCE.replace("WORST", "0"), cell)
    before = compare(cell["Rota"]())
    kept = len(compiled._own)
    assert compare(cell["Rota"]()) == before
    assert len(compiled._own) == kept  # nothing was compiled twice
    exec("EVERY = 2", cell)
    other_constant = compare(cell["Rota"]())
    exec("def worst_of(facts):\n    return len(facts.roster.stations) - 1", cell)
    other_helper = compare(cell["Rota"]())
    assert before != other_constant != other_helper


def test_a_module_of_one_s_own_is_followed_into_what_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_helper.py").write_text("def worst_of(facts):\n    return 0\n")
    called = SOURCE.replace("def worst_of(facts):\n    return WORST\n", "import own_helper")
    (tmp_path / "own_policy.py").write_text(called.replace("worst_of(facts)]", "own_helper.worst_of(facts)]"))
    module = importlib.import_module("own_policy")
    before = compare(module.Rota())
    assert not list(Path(cache_folder("compiled", "")).rglob("*own_policy*"))
    helper = sys.modules["own_helper"]
    exec("def worst_of(facts):\n    return 2", vars(helper))
    assert compare(module.Rota()) != before


PIPED = (
    SOURCE
    + """
from crewlearn import benchmark, simulate
print(simulate(benchmark(5, horizon=60), [Rota()], 3, 7).regret("rota", 60).mean)
"""
)


def test_a_program_piped_to_python_is_compiled_and_never_stale() -> None:
    means = []
    for worst in ("0", "3", "0"):
        done = subprocess.run(
            [sys.executable, "-"], input=PIPED.replace("WORST", worst), capture_output=True, text=True, check=True
        )
        assert "compiling the loop of rota (once per process" in done.stderr
        means.append(float(done.stdout))
    assert means[0] == means[2] != means[1]


@dataclasses.dataclass(frozen=True)
class Watching(DRUCB):
    """Overrides a method that the rule implements."""

    def decide(self, state: DRUCBState, situation: Situation) -> tuple[list[Pair], DRUCBState]:
        return [], state


def test_an_overridden_method_is_not_played_by_the_parent_s_rule() -> None:
    assert rule_of(DRUCB()) is not None
    assert rule_of(Watching()) is None
    assert simulate(PROBLEM, [Watching()], 2).policies["dr-ucb"].replacements.tolist() == [0, 0]
    for method in ("start", "decide", "assign", "observe"):
        assert rule_of(type("Odd", (AOMM,), {method: getattr(AOMM, method)})()) is None
    assert rule_of(type("Same", (AOMM,), {"name": "same"})()) is AOMM.rule


def broken(parameters: NoParameters, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    names = vars(RuleFacts)  # fine in plain Python; compiled code has no namespaces
    return 0 * len(names)


def formatted(parameters: NoParameters, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    return 0 * len(f"{period:03d}")


def illegal(parameters: NoParameters, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    outs[0] = facts.roster.stations[0]
    ins[0] = facts.roster.stations[1]
    return 1


def beyond(parameters: NoParameters, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    outs[len(outs)] = 0
    return 0


def policy_deciding(decide: Any) -> Any:
    return type("Deciding", (RulePolicy,), {"rule": Rule(no_memory, decide), "name": "deciding"})()


def test_what_cannot_be_compiled_is_named_by_function_and_line() -> None:
    line = broken.__code__.co_firstlineno + 1
    with pytest.raises(InvalidInput, match=rf"broken, line {line}, cannot be compiled: .*'vars'"):
        simulate(PROBLEM, [policy_deciding(broken)], 1)
    line = formatted.__code__.co_firstlineno + 1
    with pytest.raises(InvalidInput, match=rf"formatted, line {line}, cannot be compiled: format spec in f-strings"):
        simulate(PROBLEM, [policy_deciding(formatted)], 1)


def undefined(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> Any:
    return period * no_such_name  # type: ignore[name-defined] # noqa: F821


def texts(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> Any:
    return "two"


def takes_three(parameters: Any, memory: Any, period: int) -> int:
    return 0


def mixes(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    names = {period: "one"}
    names["x"] = period  # type: ignore[index,assignment]
    return 0


def broken_helper(period: int) -> Any:
    return str(period) + 1  # type: ignore[operator]


def is_helped(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> Any:
    return broken_helper(period)


def raises_from(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    try:
        return int(outs[0])
    except Exception as error:
        raise ValueError("none") from error


def captures(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    return sorted(range(3), key=lambda worker: facts.estimates.sums[worker])[0]


def refuses(parameters: Any, memory: Any, period: int, facts: RuleFacts, outs: Any, ins: Any) -> int:
    if period > 2:
        raise ValueError("its own error")
    return 0


BADLY_WRITTEN = [
    (undefined, "undefined", 1, "the name 'no_such_name' is not defined"),
    (
        texts,
        "texts",
        0,
        "the loop cannot use what it returns or is given; there is no compiled form of gt('two', int64)",
    ),
    (takes_three, "takes_three", 0, "it takes (parameters, memory, period), and is called with too many positional"),
    (mixes, "mixes", 2, "there is no compiled form of setitem(DictType[int64,str], 'x', int64)"),
    (is_helped, "broken_helper", 1, "there is no compiled form of add(str, 1)"),
    (raises_from, "raises_from", 4, "`raise ... from ...` is not supported"),
    (captures, "captures", 1, "Cannot capture the non-constant value"),
]


@pytest.mark.filterwarnings("ignore:.*unsafe cast")
@pytest.mark.parametrize(("decide", "where", "after", "why"), BADLY_WRITTEN, ids=lambda case: str(case)[:20])
def test_what_is_wrong_is_said(decide: Any, where: str, after: int, why: str) -> None:
    line = globals()[where].__code__.co_firstlineno + after
    with pytest.raises(InvalidInput) as refused:
        simulate(PROBLEM, [policy_deciding(decide)], 1)
    assert f"{where}, line {line}, cannot be compiled: {why}" in str(refused.value)
    assert ".." not in str(refused.value).replace("...", "")


def test_an_error_that_a_rule_raises_is_not_taken_for_the_compiler_s() -> None:
    with pytest.raises(ValueError, match=r"^its own error$"):
        simulate(PROBLEM, [policy_deciding(refuses)], 1)


def test_illegal_requests_and_indices_out_of_range_are_refused_as_in_plain_python() -> None:
    policy = policy_deciding(illegal)
    for attempt in (lambda: simulate(PROBLEM, [policy], 1), lambda: list(play(World(PROBLEM, 1, 0), policy))):
        with pytest.raises(InvalidInput, match="the incoming worker is in the active team already"):
            attempt()
    policy = policy_deciding(beyond)
    for attempt in (lambda: simulate(PROBLEM, [policy], 1), lambda: list(play(World(PROBLEM, 1, 0), policy))):
        with pytest.raises(IndexError):
            attempt()
