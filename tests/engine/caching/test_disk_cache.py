"""The disk cache stays within its bound: what was used longest ago goes first, and nothing that may be in use."""

import os
import time
from pathlib import Path

import pytest

from crewlearn.engine.caching import disk_cache
from crewlearn.engine.caching.disk_cache import DAY_SECONDS, cache_folder, prune, used
from crewlearn.study.result_cache import ResultCache

NOW = time.time()


def put(folder: Path, name: str, size: int, days_ago: float) -> Path:
    """Put a file, or with a slash in its name a folder with a file, that was used some days ago."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    at = NOW - days_ago * DAY_SECONDS
    os.utime(path, (at, at))
    os.utime(path.parent, (at, at))
    return path


def test_what_was_used_longest_ago_is_removed(tmp_path: Path) -> None:
    for days, name in enumerate(("a.npz", "b.npz", "c.npz", "d.npz"), start=2):
        put(tmp_path, name, 100, days)
    prune(tmp_path, 250, NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]
    prune(tmp_path, 250, NOW)
    assert len(list(tmp_path.iterdir())) == 2


def test_what_may_be_in_use_stays(tmp_path: Path) -> None:
    for hours in (1, 2, 3):
        put(tmp_path, f"{hours}.npz", 100, hours / 24)
    prune(tmp_path, 0, NOW)
    assert len(list(tmp_path.iterdir())) == 3


def test_folders_count_with_all_that_is_in_them(tmp_path: Path) -> None:
    for days in (2, 3):
        put(tmp_path, f"{days}/code.nbc", 100, days)
    prune(tmp_path, 199, NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["2"]


def test_new_compiled_code_makes_room_and_touches_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREWLEARN_CACHE", str(tmp_path))
    monkeypatch.setattr(disk_cache, "MOST_BYTES", 150)
    foreign = put(tmp_path, "of somebody else", 1_000, 90)
    old = put(tmp_path, "compiled/old/code.nbc", 100, 9).parent
    older = put(tmp_path, "compiled/older/code.nbc", 100, 90).parent
    cache_folder("results", "results")
    cache_folder("compiled/old", "compiled code")
    assert older.exists()
    cache_folder("compiled/new", "compiled code")
    assert (foreign.exists(), old.exists(), older.exists()) == (True, True, False)


def test_results_are_pruned_when_one_is_added(tmp_path: Path) -> None:
    put(tmp_path, "old.npz", 10_000, 90)
    kept = put(tmp_path, "kept.npz", 100, 90)
    used(kept)
    cache = ResultCache(folder=tmp_path, most_bytes=5_000)
    cache.arrays("new", lambda: {"a": 1.0})
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["kept", "new"]
