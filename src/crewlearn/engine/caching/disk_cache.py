"""Where compiled code and results are kept, so that a second process need not compile or compute again.

The compiler's own disk cache does not notice that a function which the compiled one calls has changed. So the folder is
named by a hash of every source file that takes part, and of the versions of interpreter and libraries.
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
    """Hash the sources of modules and the versions of what they are compiled with."""
    digest = hashlib.sha256("\0".join([sys.version, *versions]).encode())
    for module in sorted(modules, key=lambda module: module.__name__):
        digest.update(module.__name__.encode() + Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:20]


def cache_folder(part: str, what: str) -> Path:
    """Return the folder for a part of the cache: below CREWLEARN_CACHE, or the user's cache folder.

    If that cannot be written, it is a temporary one, and standard error says so: `what` would be made anew each time.
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
            f"crewlearn: {what} cannot be kept in {folder} ({error.strerror}) and will be made anew each time. "
            "Set CREWLEARN_CACHE to a folder that can be written.",
            file=sys.stderr,
        )
        return _throwaway_folder()


@cache
def _throwaway_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="crewlearn-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
