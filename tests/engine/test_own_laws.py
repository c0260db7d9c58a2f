"""A user's own laws are compiled where they can be, play as in plain Python, and never as a built-in law."""

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import crewlearn
from crewlearn.engine.blocks import Block, is_compiled, play_block
from crewlearn.engine.caching.identity import result_identity
from crewlearn.engine.caching.sources import is_covered
from crewlearn.engine.compiled import law_checks
from crewlearn.engine.event_log import events_of_runs
from crewlearn.engine.interpreted import play
from crewlearn.engine.local import simulate
from crewlearn.engine.results import same_numbers
from crewlearn.engine.sweep import plan_cells, run_sweep
from crewlearn.engine.world import World
from crewlearn.policies.contract import Policy
from crewlearn.policies.registry import make_policy
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.laws.delay import FixedDelay, NoDelay
from crewlearn.problem.laws.output import OutputLaw, UniformOutput
from crewlearn.problem.model import Pool, Problem
from crewlearn.problem.people import Drift, LevelPath
from crewlearn.problem.toml import problem_from_table, problem_to_table
from support import own_code
from support.own_code import Notice, Outside, Plain, Pulled, Spelled, Triangular

POOL = Pool(tuple(0.3 + 0.04 * worker for worker in range(12)))
ALL_OWN = Problem(3, 60, 0.5, POOL, Notice(), Triangular(), drift=Pulled())
OWN_DELAY = Problem(3, 60, 0.5, POOL, Notice())


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    scale, told = own_code.SCALE, set(law_checks._told)
    yield
    own_code.SCALE = scale
    law_checks._told.clear()
    law_checks._told.update(told)


def compare(problem: Problem, policy: Policy[Any], runs: int = 2) -> list[float]:
    """Play compiled and in plain Python; all numbers must be the same."""
    assert is_compiled(policy, problem)
    block = play_block(Block(problem, policy, 7, 0, runs, tuple(range(1, problem.horizon + 1))))
    assert block.compiled
    for run in range(runs):
        steps = list(play(World(problem, 7, run), policy))
        assert block.regret[run].tolist() == np.cumsum([step.regret for step in steps]).tolist()
        assert block.initiated[run] == sum(len(step.requested) for step in steps)
        assert block.completed[run] == sum(len(step.completed) for step in steps)
        if problem.changes:
            assert block.net[run].tolist() == np.cumsum([step.net for step in steps]).tolist()
    regrets: list[float] = block.regret[:, -1].tolist()
    return regrets


@pytest.mark.parametrize("spec", ["keep-team", "threshold:trial=3", "fixed-schedule-greedy:every=9"])
def test_laws_of_a_module_play_as_in_plain_python(spec: str) -> None:
    compare(ALL_OWN, make_policy(spec))


def test_what_changed_takes_effect_at_once() -> None:
    """As in a notebook: after a cell is run, a constant or the law itself is defined again in another cell."""
    source = """
from dataclasses import dataclass
from typing import ClassVar
from crewlearn import DelayLaw
from crewlearn.problem.chance import unit

MOST = 3

@dataclass(frozen=True)
class Typed(DelayLaw):
    law: ClassVar[str] = "typed"

    @property
    def mean_delay(self):
        return 2.0

    @staticmethod
    def draw(numbers, out, into, key):
        return int(unit(key) * MOST)
"""
    cell: dict[str, Any] = {"__name__": "no_such_module"}
    exec(source, cell)
    policy, problem = (
        make_policy("fixed-schedule-greedy:every=9"),
        dataclasses.replace(OWN_DELAY, delay=cell["Typed"]()),
    )
    before = compare(problem, policy)
    assert compare(problem, policy) == before
    exec("MOST = 15", cell)
    constant = compare(problem, policy)
    exec(source.replace("int(unit(key) * MOST)", "into"), cell)
    defined_again = compare(dataclasses.replace(problem, delay=cell["Typed"]()), policy)
    assert before != constant != defined_again


PIPED = """
from dataclasses import dataclass
from typing import ClassVar
from crewlearn import DelayLaw, Pool, Problem, make_policy, play, simulate, World
from crewlearn.problem.chance import uniform

@dataclass(frozen=True)
class Typed(DelayLaw):
    most: int = 6
    law: ClassVar[str] = "typed"

    @property
    def mean_delay(self):
        return self.most / 2

    @staticmethod
    def draw(numbers, out, into, key):
        return int(uniform(key, out) * numbers.most)

problem = Problem(3, 60, 0.5, Pool(tuple(0.3 + 0.04 * worker for worker in range(12))), Typed())
policy = make_policy("fixed-schedule-greedy:every=9")
result = simulate(problem, [policy], 1, 7).policies[policy.name]
print(result.played, result.regret[0, -1], sum(step.regret for step in play(World(problem, 7, 0), policy)))
"""


def test_a_law_of_a_program_piped_to_python_is_compiled() -> None:
    done = subprocess.run([sys.executable, "-"], input=PIPED, capture_output=True, text=True, check=True)
    played, compiled, interpreted = done.stdout.split()
    assert played == "compiled"
    assert float(compiled) == float(interpreted)


def test_outputs_and_levels_are_cut_to_the_unit_interval_and_delays_are_not_negative() -> None:
    problem = dataclasses.replace(ALL_OWN, output=Outside(), drift=Pulled(sd=5.0))
    steps = list(play(World(problem, 7, 0), make_policy("fixed-schedule-greedy:every=9")))
    assert {output for step in steps for output in step.output.values()} == {0.0, 1.0}
    assert all(0.0 <= step.best <= 3.0 for step in steps)
    world = World(problem, 7, 0)
    assert {world.output(period, 1) for period in range(1, 30)} == {0.0, 1.0}
    drawn = {Notice.draw(Notice().form(12).own, 0, 2, key << 60) for key in range(16)}
    assert min(drawn) == -1
    assert min(world.delay(period, 0, 2) for period in range(1, 60)) == 0


def test_a_law_that_cannot_be_compiled_is_played_interpreted_and_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    problem = Problem(3, 20, 0.5, POOL, NoDelay(), Spelled())
    result = simulate(problem, ["keep-team", "threshold:trial=3", Plain(trial=3)], 3)
    assert {played.played for played in result.policies.values()} == {"interpreted"}
    line = Spelled.draw.__code__.co_firstlineno + 2
    said = capsys.readouterr().err
    assert f"Spelled.draw, line {line}, cannot be compiled: " in said
    assert said.count("played in plain Python") == 1
    assert "compiling" not in said
    steps = list(play(World(problem, 1, 2), make_policy("threshold:trial=3")))
    mine = result.policies["threshold:trial=3"]
    assert mine.regret[2, -1] == np.cumsum([step.regret for step in steps])[-1]
    assert mine.regret.tolist() == result.policies["plain"].regret.tolist()
    assert same_numbers(result, simulate(problem, list(played_again(result)), 3, engine="processes", threads=2))
    assert capsys.readouterr().err == ""
    with pytest.raises(InvalidInput, match="has a law that cannot be compiled; `trace`"):
        events_of_runs(problem, make_policy("keep-team"), 1, 1)


def played_again(result: Any) -> list[Any]:
    return [name if name != "plain" else played.policy for name, played in result.policies.items()]


class Nothing(OutputLaw):
    law: ClassVar[str] = "nothing"

    @staticmethod
    def draw(numbers: Any, centre: float, room: float, key: int) -> Any:
        return (centre, room)


def test_what_a_law_returns_must_be_a_number() -> None:
    fault = law_checks.law_fault(Problem(3, 20, 0.5, POOL, NoDelay(), Nothing()))
    assert fault is not None
    assert "Nothing.draw" in fault
    assert "which is no number" in fault


class Wider(UniformOutput):
    """A subclass that says nothing of its own."""


class Renamed(UniformOutput):
    law: ClassVar[str] = "renamed"


class Disguised(UniformOutput):
    """Draws for itself under the name of its parent."""

    @staticmethod
    def draw(numbers: Any, centre: float, room: float, key: int) -> float:
        return centre


class Bound(OutputLaw):
    law: ClassVar[str] = "bound"

    def draw(self, centre: float, room: float, key: int) -> float:
        return centre


class Longer(FixedDelay):
    law: ClassVar[str] = "longer"


class Steeper(Drift):
    """A subclass that says nothing of its own."""


class Still(LevelPath):
    """A path without a step."""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"output": Wider()}, "must have a name of its own as `law`"),
        ({"output": Renamed()}, "is a subclass of UniformOutput, as which it would be played"),
        ({"output": Disguised()}, "must have a name of its own as `law`"),
        ({"output": Bound()}, "draw must be a static method"),
        ({"delay": Longer(3)}, "is a subclass of FixedDelay"),
        ({"drift": Steeper()}, "is a subclass of Drift"),
        ({"drift": Still()}, "must have a static method step"),
    ],
)
def test_a_subclass_is_never_played_as_its_parent(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        dataclasses.replace(OWN_DELAY, **changes)


def test_what_is_written_of_a_law_is_not_read_as_a_built_in_one() -> None:
    for part in ("output", "delay", "drift"):
        table = problem_to_table(dataclasses.replace(OWN_DELAY, **{"delay": NoDelay(), part: getattr(ALL_OWN, part)}))
        with pytest.raises(InvalidInput, match=r"key = 'own'|'triangular'|'notice'"):
            problem_from_table(table)


def test_the_source_of_a_law_is_part_of_a_result_s_identity() -> None:
    policy = make_policy("keep-team")
    ours = result_identity(dataclasses.replace(OWN_DELAY, delay=NoDelay()), policy, 1, 1, (60,), "as-written")
    assert ours.gap is None
    theirs = result_identity(OWN_DELAY, policy, 1, 1, (60,), "as-written")
    assert theirs.gap is None
    assert not is_covered(Notice)
    nowhere = type("Nowhere", (Notice,), {"__module__": "no_such_module"})()
    assert result_identity(dataclasses.replace(OWN_DELAY, delay=nowhere), policy, 1, 1, (60,), "as-written").gap


def test_a_sweep_varies_the_numbers_of_a_law(tmp_path: Path) -> None:
    problem = Problem(3, 20, 0.5, POOL, NoDelay(), Triangular())
    cells = plan_cells(problem, [Plain(trial=3)], {"output.width": [0.0, 0.2], "cost": [0.5, 1.0]}, runs=2)
    assert [cell.problem.output for cell in cells[::2]] == [Triangular(0.0), Triangular(0.2)]
    swept = run_sweep(cells, tmp_path / "cells.jsonl")
    assert len({cell.key for cell in cells}) == len(swept.records) == 4
    assert run_sweep(cells, tmp_path / "cells.jsonl").skipped == 4
    other = plan_cells(problem, ["keep-team"], {"output.law": ["uniform"]}, runs=2)
    assert isinstance(other[0].problem.output, UniformOutput)
    with pytest.raises(InvalidInput, match=r"output\.widht"):
        plan_cells(problem, ["keep-team"], {"output.widht": [1]})
    with pytest.raises(InvalidInput, match="half_width"):
        plan_cells(problem, ["keep-team"], {"output.half_width": [0.1]})


def test_the_names_that_laws_need_are_public() -> None:
    for name in ("OutputLaw", "DelayLaw", "LevelPath", "Ramp", "Drift", "Presence", "Start", "UniformDelay", "NoDelay"):
        assert getattr(crewlearn, name).__name__ == name
