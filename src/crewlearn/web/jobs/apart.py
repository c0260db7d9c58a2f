"""Simulations in a process of their own: what ends that process, such as damaged compiled code, ends no server.

The server writes an order to the process and reads what it says, one JSON document a line: how far it is, then its
result or why there is none. The pipe to the process stays open for as long as the server lives.
"""

import base64
import json
import logging
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.jobs.queue import Job
from crewlearn.web.jobs.runner import Interrupted, Progress

LOG = logging.getLogger("crewlearn.web")

LOOK_SECONDS = 0.5
"""Seconds after which a silent process is looked after: the job may have been cancelled."""

ENDING = (signal.SIGTERM, signal.SIGINT)
"""Signals by which a process is stopped on purpose. Service managers send them to every process of a server."""

PROGRESS, RESULT, REFUSED, FAILED = "progress", "result", "refused", "failed"
_COMMAND = (sys.executable, "-P", "-m", "crewlearn.web.jobs.simulating")
_END: None = None

_OUT_OF_MEMORY = "the system ended it, most likely for lack of memory; ask for fewer runs or a shorter horizon"
_DAMAGED = (
    "it broke down, and nothing else was touched; submit it again. If it does so again, its compiled code may be "
    "damaged: whoever runs the server deletes the folder `compiled` below CREWLEARN_CACHE or ~/.cache/crewlearn"
)


class SimulationEnded(InvalidInput):
    """A simulation's process ended before it had a result."""


def simulate_apart(store: Store, job: Job, progress: Progress) -> Any:
    """Run a job in a process of its own and return its result; end the process if the job must end."""
    order = {"db": store.engine.url.render_as_string(hide_password=False), "job": job.id, "path": sys.path}
    process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdin is not None
    assert process.stdout is not None
    said: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    listening = threading.Thread(target=_listen, args=(process.stdout, said), name=f"job {job.id}", daemon=True)
    listening.start()
    try:
        with suppress(OSError):  # it ended already, which is told below
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
        return _outcome(process, said, progress)
    finally:
        process.kill()
        process.wait()
        listening.join()
        process.stdout.close()
        with suppress(OSError):
            process.stdin.close()


def _listen(lines: Iterable[bytes], said: "queue.SimpleQueue[bytes | None]") -> None:
    for line in lines:
        said.put(line)
    said.put(_END)


def _outcome(process: "subprocess.Popen[bytes]", said: "queue.SimpleQueue[bytes | None]", progress: Progress) -> Any:
    """Report how far the process is until it has a result, and return that."""
    last: tuple[float, str] | None = None
    while True:
        try:
            line = said.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            if last is not None:
                progress(*last)  # raises if the job must end
            continue
        if line is _END:
            raise _ended(process.wait())
        kind, content = _read(line)
        if kind == PROGRESS:
            last = content
            progress(*content)
        elif kind == RESULT:
            return content
        elif kind == REFUSED:
            raise pickle.loads(base64.b64decode(content))
        else:
            raise RuntimeError(f"in the process of a simulation:\n{content}")


def _read(line: bytes) -> tuple[str, Any]:
    try:
        kind, content = json.loads(line)
    except ValueError:  # broken off in the middle
        return FAILED, f"it said {line[:200]!r}"
    return kind, content


def _ended(status: int) -> Exception:
    """Return the error for a process that ended without a result; a negative status is a signal."""
    if status >= 0:
        return RuntimeError(f"the process of a simulation ended with status {status} and no result")
    if -status in ENDING:
        return Interrupted()
    name = signal.Signals(-status).name
    LOG.error("the process of a simulation was ended by %s", name)
    return SimulationEnded("simulation", name, _OUT_OF_MEMORY if -status == signal.SIGKILL else _DAMAGED)
