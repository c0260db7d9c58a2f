"""Polling for a condition in tests, with a timeout that suits a loaded machine."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds a loaded machine may need for what takes one or two on an idle one."""


def until(what: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Poll `what` until it returns something true; return that, or fail after `seconds`."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        result = what()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError("waited in vain")
