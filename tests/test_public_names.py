"""The public names of `crewlearn`: one table at run time, the same names with types for type checkers."""

import ast
import importlib
from pathlib import Path
from typing import assert_type

import pytest

import crewlearn
from crewlearn import (
    DRUCB,
    FAMILIES,
    Braked,
    InvalidInput,
    Problem,
    Thompson,
    benchmark,
    gamma_star,
    make_policy,
    simulate,
)
from crewlearn.engine.results import SimulationResult
from crewlearn.policies.registry import REGISTRY
from crewlearn.study.families import Family


def test_the_typed_imports_are_the_table_of_lazy_names() -> None:
    tree = ast.parse(Path(crewlearn.__file__).read_text())
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    assert [ast.unparse(block.test) for block in blocks] == ["TYPE_CHECKING"]
    imports = [node for node in blocks[0].body if isinstance(node, ast.ImportFrom)]
    typed = {
        (name.asname, f"{node.module}.{name.name}")
        for node in imports
        for name in node.names  # `X as X` is what makes a name public to type checkers
    }
    assert typed == {(name, f"crewlearn.{home}.{name}") for name, home in crewlearn._HOME.items()}
    assert len(imports) == len(blocks[0].body)


@pytest.mark.parametrize("name", crewlearn._HOME)
def test_a_public_name_is_the_object_of_its_module(name: str) -> None:
    module = importlib.import_module(f"crewlearn.{crewlearn._HOME[name]}")
    assert getattr(crewlearn, name) is getattr(module, name)
    assert name in dir(crewlearn)


def test_every_registered_policy_is_public() -> None:
    kinds = {entry.policy for entry in REGISTRY.values()} | {type(make_policy("threshold:least_tenure=5"))}
    assert {kind: getattr(crewlearn, kind.__name__) for kind in kinds} == {kind: kind for kind in kinds}


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        getattr(crewlearn, "simulat")  # noqa: B009  # mypy refuses the plain spelling, as it should
    with pytest.raises(ImportError):
        exec("from crewlearn import simulat")


def test_users_get_types_and_not_any() -> None:
    """`make types` checks these like a user's own script; an untyped name would be `Any` and fail there."""
    problem = assert_type(benchmark(team=2, horizon=3), Problem)
    assert_type(simulate(problem, [DRUCB(gamma=2.0), "keep-team"], runs=1), SimulationResult)
    assert_type(Braked(Thompson(), most_a_week=2), Braked)
    assert_type(gamma_star(problem.setting), float)
    assert_type(FAMILIES, dict[str, Family])
    with pytest.raises(InvalidInput) as refused:
        make_policy("dr-ubc")
    assert_type(refused.value, InvalidInput)
