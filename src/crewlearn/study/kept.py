"""Results kept on disk under a hash of what made them, so that a rerun only reads."""

import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crewlearn.engine.cache import cache_folder
from crewlearn.engine.identity import result_key
from crewlearn.engine.local import checked_periods, checked_policies, simulate
from crewlearn.engine.results import Curve, PolicyResult, SimulationResult
from crewlearn.policies.contract import Policy
from crewlearn.problem.model import Problem

Arrays = Mapping[str, Any]
"""Arrays, or numbers, by name."""

_BY_RUN = ("regret", "normalized_loss", "replacements", "completed", "largest_frontier")
_CURVES = ("regret_curve", "loss_curve")


class Kept:
    """The results on disk; `fresh` makes everything anew, once, and keeps that.

    They are in the user's cache, unless another folder is named; it may be deleted at any time.
    """

    def __init__(self, fresh: bool = False, folder: Path | None = None) -> None:
        self.fresh = fresh
        self.folder = cache_folder("results", "results") if folder is None else folder
        self._made: set[str] = set()

    def arrays(self, key: str, make: Callable[[], Arrays]) -> Arrays:
        """Give the arrays kept under a key, made first if need be."""
        path = self.folder / f"{key}.npz"
        if not self.fresh or key in self._made:
            try:
                with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                    return dict(file)
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                pass  # never made, or damaged: make it
        arrays = make()
        self._made.add(key)
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".part", delete=False) as file:
            np.savez(file, **arrays)
        os.replace(file.name, path)  # a reader sees the whole file or none
        return arrays

    def simulate(
        self,
        problem: Problem,
        policies: Sequence[str | Policy[Any]],
        runs: int,
        seed: int,
        at: Sequence[int] | None,
        conventions: str,
        tell: Callable[[str], None] = lambda name: None,
    ) -> SimulationResult:
        """Simulate as the engine does, but only those policies whose results are not on disk; `tell` hears of each."""
        periods = checked_periods(problem, runs, seed, at)
        results = {}
        for label, policy in checked_policies(policies, conventions).items():

            def make(policy: Policy[Any] = policy, label: str = label) -> Arrays:
                tell(label)
                result = simulate(problem, [policy], runs, seed, periods, conventions)
                return _to_arrays(result.policies[policy.name])

            key = result_key(problem, policy, runs, seed, periods, conventions)
            results[label] = _from_arrays(policy, self.arrays(key, make))
        return SimulationResult(problem, runs, seed, periods, conventions, results)


def _to_arrays(result: PolicyResult) -> Arrays:
    arrays: dict[str, Any] = {name: getattr(result, name) for name in _BY_RUN}
    for name in _CURVES:
        arrays[f"{name}_mean"], arrays[f"{name}_std"] = getattr(result, name).mean, getattr(result, name).std
    return {**arrays, "seconds": result.seconds}


def _from_arrays(policy: Policy[Any], arrays: Arrays) -> PolicyResult:
    parts: dict[str, Any] = {name: arrays[name] for name in _BY_RUN}
    parts |= {name: Curve(arrays[f"{name}_mean"], arrays[f"{name}_std"]) for name in _CURVES}
    return PolicyResult(policy=policy, **parts, seconds=float(arrays["seconds"]))
