"""Waiting in tests: as long as a loaded machine may take, and no longer than it does take."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds that a loaded machine may take for what takes one or two on a quiet one."""


def until(what: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until something is so; give it."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("waited in vain")
