"""crewlearn: learn whom to keep and whom to replace in a contingent workforce.

The public names below are loaded when first used, so that importing the package stays cheap.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "InvalidInput": "problem.errors",
    "Setting": "problem.model",
    "Problem": "problem.model",
    "Pool": "problem.model",
    "Recipe": "problem.recipes",
    "Roster": "problem.roster",
    "read_problem": "problem.toml",
    "problem_from_toml": "problem.toml",
    "problem_to_toml": "problem.toml",
    "benchmark": "problem.instances",
    "gamma1": "theory.gamma",
    "gamma2": "theory.gamma",
    "gamma_star": "theory.gamma",
    "regret_bound": "theory.bounds",
    "instance_bound": "theory.bounds",
    "Policy": "policies.contract",
    "Situation": "policies.contract",
    "Report": "policies.contract",
    "DRUCB": "policies.dr_ucb",
    "ValueOfReplacement": "policies.value",
    "KeepTeam": "policies.baselines",
    "Oracle": "policies.baselines",
    "make_policy": "policies.registry",
    "World": "engine.world",
    "play": "engine.interpreted",
    "simulate": "engine.local",
    "trace": "engine.trace",
    "write_trace": "engine.trace",
    "reproduce": "study.studies",
    "FAMILIES": "study.families",
}

__all__ = ["__version__", *_HOME]  # noqa: PLE0604  # the names are strings, built from the table above


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'crewlearn' has no attribute {name!r}")
    return getattr(importlib.import_module(f"crewlearn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
