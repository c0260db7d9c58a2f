"""What the process of a simulation runs: one job, as `apart` orders it, and then it ends."""

import base64
import json
import os
import pickle
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any

NICENESS = 5
"""How far a simulation stands back for the server's answers to requests."""


def main() -> None:
    """Read an order, run its job and say what came of it."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    order = json.loads(_line())
    threading.Thread(target=_end_with_server, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    sys.path[:] = order["path"]

    def say(kind: str, content: Any) -> None:
        out.write(json.dumps([kind, content], allow_nan=False) + "\n")

    _run(order, say)
    out.flush()
    os._exit(0)  # the thread that waits for the server's end would delay an orderly one


def _line() -> bytes:
    """Read a line from the pipe, and nothing of what follows it."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            os._exit(1)
        line += byte
    return bytes(line)


def _end_with_server() -> None:
    """End this process when the server is gone, however it went, whatever this process is doing."""
    with suppress(OSError):
        os.read(0, 1)
    os._exit(1)


def _run(order: dict[str, Any], say: Any) -> None:
    from crewlearn.advisor.advice.opening import open_store
    from crewlearn.problem.errors import InvalidInput
    from crewlearn.web.jobs import queue
    from crewlearn.web.jobs.apart import FAILED, PROGRESS, REFUSED, RESULT
    from crewlearn.web.jobs.work import SIMULATIONS

    try:
        with open_store(order["db"], make=False) as store:
            job = queue.read(store, order["job"])
            made = SIMULATIONS[job.kind](store, job, lambda share, message: say(PROGRESS, [share, message]))
        say(RESULT, made)
    except InvalidInput as error:
        say(REFUSED, base64.b64encode(pickle.dumps(error)).decode())
    except Exception:
        say(FAILED, traceback.format_exc())


if __name__ == "__main__":
    main()
