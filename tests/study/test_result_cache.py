"""The result cache: keyed by the inputs, reused, and recomputed where a file is damaged."""

from pathlib import Path
from typing import Any

import pytest

from crewlearn.engine.local import Simulation, prepare, simulate
from crewlearn.engine.results import PolicyResult, SimulationResult, same_numbers
from crewlearn.problem.instances import benchmark
from crewlearn.study.result_cache import ResultCache


def simulated(store: ResultCache, **changes: Any) -> SimulationResult:
    asked: dict[str, Any] = {"runs": 4, "seed": 9, "at": [10, 20], "conventions": "as-written"} | changes
    return store.run(prepare(benchmark(5, horizon=20), ["dr-ucb:gamma=2", "keep-team"], **asked))


def test_results_are_kept_by_what_made_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = simulated(ResultCache(folder=tmp_path))
    direct = simulate(benchmark(5, horizon=20), ["dr-ucb:gamma=2", "keep-team"], 4, 9, [10, 20])
    assert same_numbers(first, direct)
    calls = []
    play = Simulation.play

    def counted(simulation: Simulation, label: str) -> PolicyResult:
        calls.append(label)
        return play(simulation, label)

    monkeypatch.setattr(Simulation, "play", counted)
    again = simulated(ResultCache(folder=tmp_path))
    assert not calls
    assert same_numbers(again, first)
    for changes in ({"runs": 5}, {"seed": 8}, {"at": [20]}):
        simulated(ResultCache(folder=tmp_path), **changes)
    assert len(calls) == 6  # two policies for each change
    fresh = ResultCache(fresh=True, folder=tmp_path)
    assert same_numbers(simulated(fresh), first)
    assert len(calls) == 8
    simulated(fresh)  # a fresh cache recomputes each result only once
    assert len(calls) == 8
    for number, path in enumerate(sorted(tmp_path.glob("*.npz"))):
        data = bytearray(path.read_bytes())
        data[(len(data) * (number + 1)) // 12] ^= 1  # flip a bit, in another place of each file
        path.write_bytes(data)
    assert same_numbers(simulated(ResultCache(folder=tmp_path)), first)
    assert len(calls) == 10
    assert not list(tmp_path.glob("*.part"))
