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
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType


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
        folder.mkdir(parents=True, exist_ok=True)
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
