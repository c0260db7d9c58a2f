"""What the numbers of a simulation depend on, as a hash: results kept under it are never taken for others."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import crewlearn
from crewlearn.policies.contract import Policy
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table

ROOMS = ("problem", "theory", "policies", "engine")
"""Rooms whose code shapes the numbers."""


def result_key(problem: Problem, policy: Policy[Any], runs: int, seed: int, at: Sequence[int], conventions: str) -> str:
    """Hash all that a policy's numbers depend on; 3 and 3.0 are the same number."""
    kind = type(policy)
    return digest_of(
        {
            "problem": problem_to_table(problem),
            "policy": [kind.__module__, kind.__qualname__, asdict(policy)],
            "runs": runs,
            "seed": seed,
            "at": at,
            "conventions": conventions,
            "version": crewlearn.__version__,
            "sources": _sources_of(kind),
        }
    )


def digest_of(made_of: Mapping[str, Any]) -> str:
    """Hash a description, writing equal values alike.

    >>> digest_of({"cost": 3, "at": (1, 2)}) == digest_of({"at": [1, 2], "cost": 3.0})
    True
    """
    text = json.dumps(_same_form(made_of), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def _sources_of(kind: type[Policy[Any]]) -> str:
    """Hash the code that a policy's numbers come from: all of ours, and the modules of a class of the user's own.

    What those modules import is not seen.
    """
    own = {base.__module__ for base in kind.__mro__ if not base.__module__.startswith("crewlearn.")}
    files = sorted(file for name in own if (file := getattr(sys.modules.get(name), "__file__", None)))
    return code_digest() + hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


@cache
def code_digest() -> str:
    """Hash every source file of the rooms that shape the numbers, and the versions of what they run on."""
    digest = hashlib.sha256(sys.version.encode())
    for library in ("numpy", "numba", "llvmlite"):
        digest.update(version(library).encode())
    package = Path(crewlearn.__file__).parent
    for path in sorted(path for room in ROOMS for path in (package / room).rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return digest.hexdigest()


def _same_form(value: Any) -> Any:
    """Write equal values alike."""
    if isinstance(value, Mapping):
        return {key: _same_form(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_same_form(item) for item in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
