"""The disk cache of compiled code and results, shared by processes.

Numba's own disk cache does not notice changes to the functions that a compiled function calls. So the folder is named
by a hash of every source file involved and of the versions of the interpreter and libraries.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

MOST_BYTES = 1_000_000_000
"""Bytes that each part of the cache may have: compiled code, and results."""

DAY_SECONDS = 86_400.0


def sources_digest(modules: Iterable[ModuleType], versions: Iterable[str]) -> str:
    """Hash the modules' source files, the interpreter's version and other `versions`."""
    digest = hashlib.sha256("\0".join([sys.version, *versions]).encode())
    for module in sorted(modules, key=lambda module: module.__name__):
        digest.update(module.__name__.encode() + Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:20]


def cache_folder(part: str, what: str) -> Path:
    """Return the folder for a part of the cache, below CREWLEARN_CACHE or the user's cache folder.

    If that is not writable, print a warning that `what` cannot be cached and return a temporary folder.
    """
    base = os.environ.get("CREWLEARN_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "crewlearn"
    )
    folder = Path(base) / part
    try:
        if "/" in part and not folder.exists() and folder.parent.is_dir():  # one of many, such as compiled/…
            prune(folder.parent, MOST_BYTES)
        folder.mkdir(parents=True, exist_ok=True)
        used(folder)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        print(
            f"crewlearn: cannot cache {what} in {folder} ({error.strerror}), so every process starts from scratch. "
            "Set CREWLEARN_CACHE to a writable folder.",
            file=sys.stderr,
        )
        return _throwaway_folder()


@cache
def _throwaway_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="crewlearn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def prune(folder: Path, most_bytes: int, now: float | None = None) -> None:
    """Remove the files or folders in a folder that were used longest ago, until the rest have at most so many bytes.

    Those used within a day stay, as another process may be using them. Whoever uses one marks it by `used`.
    """
    newest_first = sorted(_entries(folder), key=lambda entry: -entry[1])
    recently = (time.time() if now is None else now) - DAY_SECONDS
    total = 0
    for path, at, size in newest_first:
        total += size
        if total > most_bytes and at < recently:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def used(path: Path) -> None:
    """Mark a cached file or folder as used now."""
    with suppress(OSError):  # it was removed, or belongs to somebody else
        os.utime(path)


def _entries(folder: Path) -> Iterator[tuple[Path, float, int]]:
    """Yield the files and folders within a folder, with when each was used last and its size in bytes."""
    for path in folder.iterdir():
        with suppress(OSError):  # another process removed it
            inside = [file.stat().st_size for file in path.rglob("*") if file.is_file()] if path.is_dir() else []
            stat = path.stat()
            yield path, stat.st_mtime, sum(inside) if path.is_dir() else stat.st_size
