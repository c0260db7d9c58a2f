"""The source digest of a user's own class: what it covers, and what it cannot."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from crewlearn.engine.caching.identity import result_identity
from crewlearn.engine.caching.sources import is_covered, source_coverage
from crewlearn.policies.baselines import KeepTeam
from crewlearn.policies.dr_ucb.policy import DRUCB
from crewlearn.problem.instances import benchmark

CLASS = "class Mine(KeepTeam):\n    def limit(self):\n        return {limit}\n"
POLICY = f"from crewlearn import KeepTeam\n{CLASS}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to import modules from; they are unloaded afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # otherwise edits within a second would use the old bytecode
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def load(name: str) -> ModuleType:
    importlib.invalidate_caches()
    return importlib.import_module(name)


def coverage_of(module: ModuleType, name: str = "Mine") -> tuple[str, str | None]:
    covered = source_coverage({getattr(module, name)})
    return covered.digest, covered.gap


def test_our_classes_need_no_coverage() -> None:
    assert is_covered(DRUCB)
    assert is_covered(KeepTeam)


def test_an_edit_of_the_class_or_of_a_module_it_imports_changes_the_digest(folder: Path) -> None:
    package = folder / "mypolicies"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rule.py").write_text("from . import deep\n")
    (package / "deep.py").write_text("LIMIT = 1\n")
    (package / "late.py").write_text("X = 1\n")
    late = "    def later(self):\n        from mypolicies import late\n        return late.X\n"
    (package / "policy.py").write_text(
        "import numpy\nfrom .rule import deep\n" + POLICY.format(limit="deep.LIMIT") + late
    )
    digests = [coverage_of(load("mypolicies.policy"))]
    for name in ("deep", "rule", "late", "__init__"):
        path = package / f"{name}.py"
        path.write_text(path.read_text() + "# edited\n")
        digests.append(coverage_of(sys.modules["mypolicies.policy"]))
    assert [gap for _, gap in digests] == [None] * 5
    assert len({digest for digest, _ in digests}) == 5


def test_code_edited_after_it_was_loaded_is_a_gap_until_it_is_loaded_again(folder: Path) -> None:
    path = folder / "mine_edited.py"
    path.write_text(POLICY.format(limit=1))
    module = load("mine_edited")
    before = coverage_of(module)
    path.write_text(POLICY.format(limit=22))
    _, gap = coverage_of(module)
    assert gap is not None
    assert "changed after it was loaded" in gap
    after = coverage_of(importlib.reload(module))
    assert after[1] is None
    assert after[0] != before[0]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import importlib\nhelper = importlib.import_module('json')\n", "calls import_module"),
        ("exec('X = 1')\n", "calls exec"),
    ],
)
def test_code_that_runs_other_code_by_name_is_a_gap(folder: Path, source: str, reason: str) -> None:
    (folder / "mine_dynamic.py").write_text(source + POLICY.format(limit=1))
    _, gap = coverage_of(load("mine_dynamic"))
    assert gap is not None
    assert reason in gap


def test_an_optional_module_that_is_missing_is_no_gap(folder: Path) -> None:
    optional = "try:\n    import no_such_module_here\nexcept ImportError:\n    pass\n"
    (folder / "mine_optional.py").write_text(optional + POLICY.format(limit=1))
    assert coverage_of(load("mine_optional"))[1] is None


def test_a_class_without_a_file_is_a_gap() -> None:
    module = ModuleType("typed_at_a_prompt")
    sys.modules[module.__name__] = module
    try:
        exec(POLICY.format(limit=1), module.__dict__)
        _, gap = coverage_of(module)
    finally:
        del sys.modules[module.__name__]
    assert gap is not None
    assert "has no source file; put the class into a .py file" in gap


def test_a_class_typed_after_a_script_began_is_not_taken_for_the_script_s(folder: Path) -> None:
    (folder / "mine_script.py").write_text(POLICY.format(limit=1))
    module = load("mine_script")
    exec(compile(CLASS.replace("Mine", "Typed").format(limit=2), "<stdin>", "exec"), module.__dict__)
    _, gap = coverage_of(module, "Typed")
    assert gap is not None
    assert "not in the source" in gap


SWEEP = """
import json, sys
from crewlearn import benchmark
from crewlearn.engine.sweep import plan_cells, run_sweep
swept = run_sweep(plan_cells(benchmark(3, horizon=20), [Mine()], {}, runs=2), sys.argv[1])
print(json.dumps([swept.skipped, swept.records[0]["replacements"]["mean"], swept.records[0].get("not_reusable")]))
"""
HASTY = """
from dataclasses import dataclass
from crewlearn import KeepTeam
FIRST = 1
@dataclass(frozen=True)
class Mine(KeepTeam):
    name = "mine"
    def decide(self, state, situation):
        roster = situation.roster
        outside = [worker for worker in range(roster.workers) if worker not in roster.stations]
        return ([(roster.stations[0], outside[0])] if situation.period == FIRST else []), state
"""


def run(program: str, out: Path, script: Path | None = None) -> list[object]:
    command = [sys.executable, "-" if script is None else str(script), str(out)]
    if script is not None:
        script.write_text(program)
    done = subprocess.run(
        command, input=program if script is None else None, capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    document: list[object] = json.loads(done.stdout)
    return document


def test_a_sweep_never_reuses_cells_of_a_class_from_a_pipe(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    first = run(HASTY + SWEEP, out)
    changed = run(HASTY.replace("FIRST = 1", "FIRST = 99") + SWEEP, out)
    assert first[:2] == [0, 1.0]
    assert changed[:2] == [0, 0.0]
    assert "no source file" in str(changed[2])


def test_a_sweep_skips_cells_of_a_script_s_class_until_a_module_it_imports_changes(tmp_path: Path) -> None:
    out, script = tmp_path / "results.jsonl", tmp_path / "study.py"
    program = HASTY.replace("FIRST = 1", "from when import FIRST") + SWEEP
    (tmp_path / "when.py").write_text("FIRST = 1\n")
    assert run(program, out, script) == [0, 1.0, None]
    assert run(program, out, script) == [1, 1.0, None]
    (tmp_path / "when.py").write_text("FIRST = 9999\n")
    assert run(program, out, script) == [0, 0.0, None]


def test_parameters_that_cannot_be_compared_are_a_gap() -> None:
    problem = benchmark(3, horizon=20)
    policy = DRUCB(gamma=1.0)
    object.__setattr__(policy, "gamma", lambda: 1.0)
    identity = result_identity(problem, policy, 1, 1, (20,), "as-written")
    assert identity.gap == "a parameter is a function, which cannot be compared"
