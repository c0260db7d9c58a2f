"""What the numbers of a simulation depend on, as a hash: results kept under it are never taken for others."""

import hashlib
import importlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import crewlearn
from crewlearn.engine.cache import sources_digest
from crewlearn.engine.forms import KINDS
from crewlearn.policies.contract import Policy
from crewlearn.problem.model import Problem
from crewlearn.problem.toml import problem_to_table

AROUND_THE_KERNEL = (
    "problem.recipes",
    "problem.model",
    "theory.gamma",
    "engine.forms",
    "engine.world",
    "engine.interpreted",
    "engine.blocks",
    "engine.results",
)
"""Modules that shape the numbers beside those which are compiled."""


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
    """Hash the code that a policy's numbers come from: the engine's, and that of a class of the user's own as well."""
    from crewlearn.engine.compiled import kernel_digest

    around = sources_digest([importlib.import_module(f"crewlearn.{name}") for name in AROUND_THE_KERNEL], [])
    try:
        own = "" if kind in KINDS else inspect.getsource(kind)
    except (OSError, TypeError):  # a class made on the fly has no source to read
        own = ""
    return hashlib.sha256(f"{kernel_digest()}{around}{own}".encode()).hexdigest()


def _same_form(value: Any) -> Any:
    """Write equal values alike."""
    if isinstance(value, Mapping):
        return {key: _same_form(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_same_form(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
