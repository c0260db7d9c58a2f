"""Where compiled code is kept, so that a second process need not compile again.

The compiler's own disk cache does not notice that a function which the compiled one calls has changed. So the folder is
named by a hash of every source file that takes part, and of the versions of interpreter and libraries.
"""

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType


def cache_folder(modules: Iterable[ModuleType], versions: Iterable[str]) -> Path:
    """Give the folder for code compiled from these modules: below CREWLEARN_CACHE, or the user's cache folder."""
    digest = hashlib.sha256("\0".join([sys.version, *versions]).encode())
    for module in sorted(modules, key=lambda module: module.__name__):
        digest.update(module.__name__.encode() + Path(str(module.__file__)).read_bytes())
    base = os.environ.get("CREWLEARN_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "crewlearn"
    )
    return Path(base) / "compiled" / digest.hexdigest()[:20]
