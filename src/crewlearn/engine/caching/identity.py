"""Cache keys of simulation results: hashes of everything that the numbers depend on."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import crewlearn
from crewlearn.engine.caching.sources import is_covered, source_coverage
from crewlearn.policies.contract import Policy
from crewlearn.problem.extras import extra_for
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table

ROOMS = ("problem", "theory", "beliefs", "policies", "engine")
"""Subpackages whose code affects the numbers."""


class ResultIdentity(NamedTuple):
    """A result's cache key; `gap` says why results under it must not be reused, None if they may be."""

    key: str
    gap: str | None


def result_identity(
    problem: Problem, policy: Policy[Any], runs: int, seed: int, at: Sequence[int], conventions: str
) -> ResultIdentity:
    """Hash everything that a policy's numbers depend on; 3 and 3.0 are the same number.

    For a user's own policy or law this includes the source of every module it reaches. If some of that cannot be
    hashed, the identity has a gap.
    """
    kinds: set[type[Any]] = set()
    opaque: list[str] = []
    description = _described(policy, kinds, opaque)
    own = [_described(law, kinds, opaque) for law in problem.laws if not is_covered(type(law))]
    coverage = source_coverage({kind for kind in kinds if not is_covered(kind)})
    gap = f"a parameter is a {opaque[0]}, which cannot be compared" if opaque else coverage.gap
    key = digest_of(
        {
            "problem": problem_to_table(problem),
            "policy": description,
            **({"laws": own} if own else {}),
            "runs": runs,
            "seed": seed,
            "at": at,
            "conventions": conventions,
            "version": crewlearn.__version__,
            "sources": [code_digest(), coverage.digest, gap],
        }
    )
    return ResultIdentity(key, gap)


def classes_of(problem: Problem, policy: Policy[Any]) -> set[type[Any]]:
    """Return the classes of a policy, of its parameters and of the problem's laws."""
    kinds: set[type[Any]] = set()
    _described([policy, *problem.laws], kinds, [])
    return kinds


def result_key(problem: Problem, policy: Policy[Any], runs: int, seed: int, at: Sequence[int], conventions: str) -> str:
    """Return the key of the result's identity."""
    return result_identity(problem, policy, runs, seed, at, conventions).key


def digest_of(made_of: Mapping[str, Any]) -> str:
    """Hash a description; equal values have equal hashes.

    >>> digest_of({"cost": 3, "at": (1, 2)}) == digest_of({"at": [1, 2], "cost": 3.0})
    True
    """
    text = json.dumps(_same_form(made_of), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _described(value: Any, kinds: set[type[Any]], opaque: list[str]) -> Any:
    """Describe a policy or one of its parameters as plain data.

    Add the classes involved to `kinds`, and the types of values that cannot be described to `opaque`.
    """
    if isinstance(value, Mapping):
        return {str(key): _described(item, kinds, opaque) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(item, kinds, opaque) for item in value]
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic)):
        return value
    kind = value if isinstance(value, type) else type(value)
    kinds.add(kind)
    if isinstance(value, type):
        return [kind.__module__, kind.__qualname__]
    if not is_dataclass(value):
        opaque.append(kind.__qualname__)
        return repr(value)
    parameters = {field.name: _described(getattr(value, field.name), kinds, opaque) for field in fields(value)}
    return [kind.__module__, kind.__qualname__, parameters]


@cache
def code_digest() -> str:
    """Hash every source file that affects the numbers, and the versions of Python and the numerical libraries."""
    digest = hashlib.sha256(sys.version.encode())
    with extra_for("simulating"):
        for library in ("numpy", "numba", "llvmlite"):
            digest.update(version(library).encode())
    package = Path(crewlearn.__file__).parent
    for path in sorted(path for room in ROOMS for path in (package / room).rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return digest.hexdigest()


def _same_form(value: Any) -> Any:
    """Return plain data in which equal values are written alike."""
    if isinstance(value, Mapping):
        return {key: _same_form(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_same_form(item) for item in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
