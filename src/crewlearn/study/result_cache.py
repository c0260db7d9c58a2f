"""A disk cache of results, keyed by a hash of everything they depend on."""

import io
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from crewlearn.engine.caching.disk_cache import MOST_BYTES, cache_folder, prune, used
from crewlearn.engine.caching.identity import result_key
from crewlearn.engine.caching.sealing import sealed, unsealed
from crewlearn.engine.caching.sources import is_covered
from crewlearn.engine.local import Simulation
from crewlearn.engine.results import Curve, PolicyResult, SimulationResult
from crewlearn.engine.tuning import settled
from crewlearn.policies.contract import Policy

Arrays = Mapping[str, Any]
"""Arrays, or numbers, by name."""

_BY_RUN = (
    "regret",
    "normalized_loss",
    "net",
    "replacements",
    "completed",
    "largest_frontier",
    "heuristics",
    "loss_bound",
)
_CURVES = ("regret_curve", "loss_curve")


class ResultCache:
    """Results on disk, up to `most_bytes`; with `fresh`, each is recomputed once and then cached.

    The default folder lies in the user's cache. It may be deleted at any time.
    """

    def __init__(self, fresh: bool = False, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self.fresh, self.most_bytes = fresh, most_bytes
        self.folder = cache_folder("results", "results") if folder is None else folder
        self._made: set[str] = set()

    def arrays(self, key: str, make: Callable[[], Arrays]) -> Arrays:
        """Return the cached arrays of a key, computing them if missing."""
        path = self.folder / f"{key}.npz"
        if not self.fresh or key in self._made:
            cached = _read(path)
            if cached is not None:
                used(path)
                return cached
        arrays = make()
        if not self._made:  # once in a while is enough
            prune(self.folder, self.most_bytes)
        self._made.add(key)
        _write(path, arrays)
        return arrays

    def run(self, simulation: Simulation, tell: Callable[[str], None] = lambda name: None) -> SimulationResult:
        """Run the policies of a simulation whose results are not cached; `tell` is called with the label of each."""
        results = {}
        for label, policy in simulation.to_play.items():

            def make(label: str = label) -> Arrays:
                tell(label)
                simulation.compile()  # those of all policies, so that missing ones are compiled at the same time
                return _to_arrays(simulation.play(label))

            played = settled(policy, simulation.problem, simulation.seed, simulation.player)
            own = [type(policy), *map(type, simulation.problem.laws)]
            if not all(map(is_covered, own)):  # a user's class may change from one call to the next
                results[label] = _from_arrays(played, make())
                continue
            asked = (simulation.runs, simulation.seed, simulation.at, simulation.conventions)
            key = result_key(simulation.problem, policy, *asked)
            results[label] = _from_arrays(played, self.arrays(key, make))
        return simulation.result_of(results)


def _read(path: Path) -> Arrays | None:
    """Return the arrays in a file, or None if it is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = unsealed(data)
    if content is None:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return dict(file)


def _write(path: Path, arrays: Arrays) -> None:
    """Write arrays behind their digest, atomically."""
    content = io.BytesIO()
    np.savez(content, **arrays)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        file.write(sealed(content.getvalue()))
    os.replace(file.name, path)


def _to_arrays(result: PolicyResult) -> Arrays:
    arrays: dict[str, Any] = {name: getattr(result, name) for name in _BY_RUN}
    for name in _CURVES:
        arrays[f"{name}_mean"], arrays[f"{name}_std"] = getattr(result, name).mean, getattr(result, name).std
    return {**arrays, "seconds": result.seconds, "played": result.played}


def _from_arrays(policy: Policy[Any], arrays: Arrays) -> PolicyResult:
    parts: dict[str, Any] = {name: arrays[name] for name in _BY_RUN}
    parts |= {name: Curve(arrays[f"{name}_mean"], arrays[f"{name}_std"]) for name in _CURVES}
    return PolicyResult(policy=policy, **parts, seconds=float(arrays["seconds"]), played=str(arrays["played"]))
