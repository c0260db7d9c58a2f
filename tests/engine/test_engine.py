"""The engine: numbers independent of threads, streamed results, clean interruption, a cache that is never stale."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq
import pytest

import crewlearn
from crewlearn.engine import blocks as engine_blocks
from crewlearn.engine import local
from crewlearn.engine.blocks import block_size, blocks_of
from crewlearn.engine.caching.disk_cache import cache_folder, sources_digest
from crewlearn.engine.compiled import forms, kernel
from crewlearn.engine.compiled import loops as compiled
from crewlearn.engine.compiled.reach import sources_of
from crewlearn.engine.interpreted import play
from crewlearn.engine.local import simulate
from crewlearn.engine.results import Collector, SimulationResult, same_numbers
from crewlearn.engine.scale_out import threads as engine_threads
from crewlearn.engine.scale_out.threads import timed
from crewlearn.engine.world import World
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.brakes import Braked
from crewlearn.policies.compilable import rule_of
from crewlearn.policies.contract import Policy
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.policies.registry import REGISTRY, make_policy
from crewlearn.policies.rule import Rule
from crewlearn.problem.errors import InvalidInput
from crewlearn.problem.instances import benchmark
from crewlearn.problem.recipes import Recipe
from support.interrupting import check_an_interrupt_ends

PROBLEM = benchmark(5, horizon=60)
POLICIES = ["dr-ucb:gamma=2", "a-omm", "work-trial:trial=9", "keep-team"]


def test_threads_do_not_change_a_bit() -> None:
    single, two, five = (simulate(PROBLEM, POLICIES, 300, 7, [10, 60], threads=n) for n in (1, 2, 5))
    assert same_numbers(single, two)
    assert same_numbers(single, five)
    other = simulate(PROBLEM, POLICIES, 300, 8, [10, 60], threads=2)
    assert not same_numbers(single, other)


def test_processes_and_any_order_of_work_do_not_change_a_bit() -> None:
    local = simulate(PROBLEM, ["dr-ucb"], 300, 7, [10, 60])
    blocks = blocks_of(PROBLEM, make_policy("dr-ucb"), 300, 7, (10, 60))
    assert len(blocks) > 3
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        backwards = list(pool.map(timed, blocks[::-1]))
    collector = Collector(make_policy("dr-ucb"), 300, (10, 60), 60)
    for result, seconds in backwards[::-1]:
        collector.add(result, seconds)
    spread = SimulationResult(PROBLEM, 300, 7, (10, 60), "as-written", {"dr-ucb": collector.result()})
    assert same_numbers(local, spread)


def test_a_longer_simulation_begins_with_the_shorter_one() -> None:
    short, long = (simulate(PROBLEM, ["dr-ucb"], runs, 7).policies["dr-ucb"].regret for runs in (40, 130))
    assert long[:40].tolist() == short.tolist()


def test_numpy_numbers_and_whole_gammas_are_welcome() -> None:
    plain = simulate(PROBLEM, [DRUCB(gamma=2.0)], 3, 7, [5, 60])
    runs, seed, at = (cast(Any, number) for number in (np.int64(3), np.int64(7), np.array([5, 60])))
    fancy = simulate(PROBLEM, [DRUCB(gamma=2)], runs, seed, at)
    assert plain.policies["dr-ucb"].regret.tolist() == fancy.policies["dr-ucb"].regret.tolist()
    from crewlearn.engine.compiled.loops import LoopKind, compiled_loop

    loop: Any = compiled_loop(LoopKind(DRUCB.rule))
    assert len(loop.signatures) == 1  # nothing compiled twice
    with pytest.raises(InvalidInput, match="was not asked for"):
        plain.regret("dr-ucb", 4)
    with pytest.raises(InvalidInput, match="did you mean 'dr-ucb'"):
        plain.regret("dr-ubc", 5)


def test_curves_are_those_of_the_runs() -> None:
    result = simulate(PROBLEM, ["dr-ucb:gamma=2"], 150, 7, list(range(1, 61))).policies["dr-ucb:gamma=2"]
    assert result.regret_curve.mean == pytest.approx(result.regret.mean(axis=0))
    assert result.regret_curve.std == pytest.approx(result.regret.std(axis=0))
    assert result.loss_curve.mean == pytest.approx(result.normalized_loss.mean(axis=0))
    assert result.loss_curve.std == pytest.approx(result.normalized_loss.std(axis=0))
    steps = list(play(World(PROBLEM, 7, 149), make_policy("dr-ucb:gamma=2")))
    assert result.regret[149].tolist() == np.cumsum([step.regret for step in steps]).tolist()
    assert result.replacements[149] == sum(len(step.requested) for step in steps)


@dataclass(frozen=True)
class Renamed(DRUCB):
    """A researcher's own class: the same decisions, another name."""

    @property
    def name(self) -> str:
        return "renamed"


def test_a_policy_of_one_s_own_faces_the_same_world() -> None:
    result = simulate(PROBLEM, ["dr-ucb", Renamed()], 20, 7, [10, 60])
    assert result.policies["renamed"].regret.tolist() == result.policies["dr-ucb"].regret.tolist()
    assert result.policies["renamed"].regret_curve.mean.tolist() == result.policies["dr-ucb"].regret_curve.mean.tolist()


def test_blocks_are_short_for_large_problems() -> None:
    assert block_size(PROBLEM) == 64
    assert block_size(benchmark(20, horizon=20_000)) == 5
    assert block_size(benchmark(20, horizon=10**6)) == 1


def test_a_result_says_what_made_it(tmp_path: Path) -> None:
    result = simulate(PROBLEM, ["dr-ucb:gamma=2", "keep-team"], 30, 7, [10, 60], "as-released")
    document = json.loads(json.dumps(result.to_json()))
    assert document["version"] == crewlearn.__version__
    assert (document["conventions"], document["seed"], document["runs"]) == ("as-released", 7, 30)
    assert document["problem"]["horizon"] == 60
    assert document["policies"]["dr-ucb:gamma=2"]["parameters"]["radius"] == "log-t"
    result.to_parquet(tmp_path / "runs.parquet")
    table = pq.read_table(tmp_path / "runs.parquet")
    assert table.num_rows == 2 * 30 * 2
    made_by = json.loads(table.schema.metadata[b"crewlearn"])
    assert made_by["problem"] == document["problem"]
    assert made_by["policies"]["dr-ucb:gamma=2"]["gamma"] == 2.0
    frame = table.to_pylist()
    mine = [row["regret"] for row in frame if row["policy"] == "dr-ucb:gamma=2" and row["at"] == 60]
    assert mine == result.policies["dr-ucb:gamma=2"].regret[:, 1].tolist()


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"runs": 0}, "runs = 0"),
        ({"runs": 1.5}, "runs = 1.5"),
        ({"seed": -1}, "seed = -1"),
        ({"at": [61]}, "choose periods from 1 to 60"),
        ({"at": [0]}, "at = 0"),
        ({"at": 5}, "at = 5"),
        ({"runs": 10**12}, "runs = "),
        ({"policies": "keep-team"}, "must be a list"),
        ({"policies": [1]}, "must be a list"),
        ({"policies": ["dr-ucb:gamma=2,gamma=3"]}, "given twice"),
        ({"policies": ["a-omm:gamma=2"]}, "unknown; .*Known: least_tenure, most_a_week"),
        ({"policies": ["dr-ucb:frontier_cap=99999999999999999999"]}, "frontier_cap"),
        ({"policies": ["work-trial:trial=99999999999999999999"]}, "trial"),
        ({"policies": []}, "at least one policy"),
        ({"policies": ["dr-ucb", "dr-ucb"]}, "named twice"),
        ({"policies": ["epsilon-gredy"]}, "did you mean 'epsilon-greedy'"),
        ({"conventions": "as-printed"}, "conventions"),
        ({"threads": 0}, "threads = 0"),
    ],
)
def test_bad_calls_are_refused_before_anything_runs(changes: dict[str, Any], remedy: str) -> None:
    def must_not_run(done: int) -> None:
        raise AssertionError("something ran")

    arguments = {"policies": ["dr-ucb"], "runs": 5, **changes}
    with pytest.raises(InvalidInput, match=remedy):
        simulate(PROBLEM, progress=must_not_run, **arguments)


def test_an_interrupt_stops_cleanly_within_a_second(tmp_path: Path) -> None:
    simulate(PROBLEM, ["a-omm"], 1)  # so that the other process finds compiled code
    long = dataclasses.replace(PROBLEM, workers=Recipe("uniform", 100_000, 0.5, 0.2), team=10, horizon=10**6)
    check_an_interrupt_ends(long, "a-omm", tmp_path)  # one run of it takes minutes on any machine


class Enough(Exception):
    """Raised by a progress callback to end the work."""


def test_what_progress_raises_ends_even_a_long_run_at_once() -> None:
    simulate(PROBLEM, ["a-omm"], 1)  # so that compiling does not count
    long = dataclasses.replace(PROBLEM, workers=Recipe("uniform", 1000, 0.5, 0.2), team=10, horizon=10**6)
    threads = threading.active_count()
    told: list[int] = []

    def one_tick(done: int) -> None:
        told.append(done)
        if len(told) == 3:
            raise Enough

    asked = time.perf_counter()
    with pytest.raises(Enough):
        simulate(long, ["a-omm"], 2, progress=one_tick)  # one run of it takes seconds
    assert time.perf_counter() - asked < 5  # a second where the machine is free; not a benchmark
    assert told == [0, 0, 0], "no run was done, and progress reported that"
    assert threading.active_count() == threads, "no thread is left running"


def test_nobody_looks_up_while_there_is_nobody_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def look(block: Sequence[Any], seconds: float) -> Any:
        looks.append(seconds)
        return wait(block, seconds)

    monkeypatch.setattr(engine_threads, "wait", look)
    alone = simulate(PROBLEM, ["dr-ucb"], 3)
    assert looks == []
    told: list[int] = []
    watched = simulate(PROBLEM, ["dr-ucb"], 3, progress=told.append)
    assert looks
    assert sum(told) == 3
    assert np.array_equal(alone.policies["dr-ucb"].regret, watched.policies["dr-ucb"].regret)


def test_the_cache_is_keyed_by_every_source_that_takes_part() -> None:
    """Every crewlearn module that a function of the compiled loop refers to is covered by the hash."""
    for name in REGISTRY:
        rule = rule_of(make_policy(name))
        assert rule is not None
        parts = compiled.all_of(compiled.LoopKind(rule))
        hashed = {module.__name__ for module in sources_of(parts)}
        named = [item for function in parts.functions for item in names_in(function)]
        origins = {item.__module__ for item in named if item.__module__.startswith("crewlearn.")}
        assert {"crewlearn.engine.compiled.kernel", "crewlearn.engine.streams", rule.decide.__module__} <= hashed
        assert origins <= hashed
        assert "crewlearn.policies.registry" not in hashed


def names_in(function: Any) -> list[Any]:
    """Return the functions and classes that a function's code refers to by name."""
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [item for item in named if callable(item)]


def test_a_changed_source_or_version_names_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWLEARN_CACHE", str(tmp_path / "cache"))
    module = type(sys)("some_rules")
    module.__file__ = str(tmp_path / "some_rules.py")
    folders = []
    for text, version in (("a = 1", "1"), ("a = 2", "1"), ("a = 2", "2"), ("a = 1", "1")):
        Path(module.__file__).write_text(text)
        folders.append(cache_folder(sources_digest([module], [version]), "code"))
    assert len(set(folders)) == 3
    assert folders[0] == folders[3]
    assert all(folder.is_relative_to(tmp_path) for folder in folders)


KEEP = """
from crewlearn import benchmark, simulate
print(simulate(benchmark(5, horizon=20), ["keep-team"], 3).regret("keep-team", 20).mean)
"""


def keep_team_in(folder: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CREWLEARN_CACHE": folder, "NUMBA_OPT": "0"}
    return subprocess.run([sys.executable, "-c", KEEP], env=environment, capture_output=True, text=True, check=True)


def test_a_cache_folder_that_cannot_be_used_is_said_and_never_replaced_by_a_stale_one() -> None:
    done = keep_team_in("/dev/null/nowhere")
    assert "cannot cache compiled code in" in done.stderr
    assert not list(Path(kernel.__file__).parent.glob("__pycache__/*.nb?"))
    assert float(done.stdout) > 0.0


def test_a_damaged_cache_heals(tmp_path: Path) -> None:
    simulate(PROBLEM, ["keep-team"], 1)  # so that there is compiled code to copy
    part = compiled.loop_folder(compiled.LoopKind(KeepTeam.rule))
    shutil.copytree(cache_folder(part, "compiled code"), tmp_path / part)
    expected = simulate(benchmark(5, horizon=20), ["keep-team"], 3).regret("keep-team", 20).mean
    for kind in ("*.nbc", "*.nbi"):
        damaged = list(tmp_path.rglob(kind))
        assert damaged
        for path in damaged:
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        again = keep_team_in(str(tmp_path))
        assert "damaged" in again.stderr
        assert float(again.stdout) == expected
    assert keep_team_in(str(tmp_path)).stderr == ""


PROGRAM = """
from crewlearn import benchmark, make_policy, play, simulate, World
problem = benchmark(5, "as-released", horizon=40)
result = simulate(problem, ["threshold"], 2)
steps = list(play(World(problem, 1, 1), make_policy("threshold")))
compiled = result.policies["threshold"].regret
print(compiled.mean(), compiled[1, 0] == sum(step.regret for step in steps))
"""


def test_an_edited_rule_takes_effect_and_a_second_process_does_not_compile(tmp_path: Path) -> None:
    """Use a copy of the package, and a policy whose loop compiles in a few seconds without optimisation.

    The edited rule is one that the loop calls only through a rule of another file.
    """
    source = Path(crewlearn.__file__).parent
    shutil.copytree(source, tmp_path / "crewlearn", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "CREWLEARN_CACHE": str(tmp_path / "cache"),
        "NUMBA_OPT": "0",
    }

    def run() -> tuple[str, bool]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        value, agrees = done.stdout.split()
        assert agrees == "True"
        return value, "compiling" in done.stderr

    first, said_first = run()
    second, said_second = run()
    estimates = tmp_path / "crewlearn" / "beliefs" / "estimates.py"
    text = estimates.read_text()
    assert "return total / n if" in text
    estimates.write_text(text.replace("return total / n if", "return 0.5 * total / n if"))
    third, said_third = run()
    assert (said_first, said_second, said_third) == (True, False, True)
    assert first == second != third


def test_every_registered_policy_names_a_rule_of_its_class() -> None:
    rules = {rule_of(make_policy(name)) for name in REGISTRY}
    assert None not in rules
    kinds = {entry.policy for entry in REGISTRY.values()}
    assert len(rules) == len([kind for kind in kinds if "rule" in vars(kind)])  # others derive from one of these


def test_the_engine_knows_no_policy_by_name() -> None:
    for module in (engine_blocks, compiled, forms, kernel, local):
        items = vars(module).values()
        assert not [item for item in items if isinstance(item, (Policy, Rule))]
        kinds = [item for item in items if isinstance(item, type) and issubclass(item, Policy)]
        assert set(kinds) <= {Policy, Braked}  # brakes hold back any policy
