"""Several processes that serve one socket, and the one that starts, replaces and stops them.

The supervisor holds the socket, so connections wait while workers come and go. Each worker is this program once more,
with the same arguments: it finds in its environment that it is one. A pair of sockets links it to the supervisor: it
writes when it is ready to serve, and stops when the other end closes.

SIGTERM and SIGINT stop all workers, which finish the requests under way. SIGHUP replaces them by new ones in turn, each
of which is ready before an old one stops; so a new version of the program, or a renewed policy, takes over without a
pause.
"""

import importlib.util
import logging
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from crewlearn.web.observing.meters import SHARED

LOG = logging.getLogger("crewlearn.web")
VARIABLE = "CREWLEARN_WORKER"
"""In the environment of a worker: the descriptors of the listening socket and of its link."""

MOST_WORKERS = 64
START_SECONDS = 120.0
"""Seconds after which a new worker that is not ready is given up."""

STOP_SECONDS = 45.0
"""Seconds after which a worker that was asked to stop is killed: more than it gives to requests, jobs and notices."""

PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
"""Seconds before a worker that could not be started is tried again: twice as many each time, up to the longest."""

READY = b"ready\n"


@dataclass(frozen=True)
class Link:
    """A worker's end of the link to its supervisor, and the socket that it serves."""

    taken: socket.socket
    end: socket.socket

    def tell_ready(self) -> None:
        """Tell the supervisor that this worker serves now, and stop when the supervisor is gone."""
        self.end.sendall(READY)
        threading.Thread(target=self._watch, name="supervisor", daemon=True).start()

    def _watch(self) -> None:
        while True:
            try:
                if not self.end.recv(1):
                    break
            except InterruptedError:
                continue
            except OSError:
                break
        os.kill(os.getpid(), signal.SIGTERM)


def link_of_worker() -> Link | None:
    """Return the link of this process to its supervisor; None if it is no worker."""
    given = os.environ.pop(VARIABLE, "")  # not for the programs that it starts
    if not given:
        return None
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a terminal that closes sends it to all; it is the supervisor's
    taken, end = (socket.socket(fileno=int(number)) for number in given.split(","))
    return Link(taken, end)


@dataclass(eq=False)
class _Worker:
    process: "subprocess.Popen[bytes]"
    link: socket.socket
    stopped_at: float | None = None
    """When it was asked to stop."""

    def stop(self) -> None:
        self.stopped_at = time.monotonic()
        if self.process.poll() is None:
            self.process.terminate()


@dataclass
class Supervisor:
    """Keeps `count` workers serving a socket until a signal ends it."""

    taken: socket.socket
    count: int
    arguments: Sequence[str]
    _workers: list[_Worker] = field(default_factory=list, init=False)
    _leaving: list[_Worker] = field(default_factory=list, init=False)
    _ending: bool = field(default=False, init=False)
    _renewing: bool = field(default=False, init=False)
    _environment: dict[str, str] = field(default_factory=dict, init=False)
    _bell: socket.socket = field(init=False)
    _pause: float = field(default=PAUSE_SECONDS, init=False)
    _retry_at: float = field(default=0.0, init=False)

    def run(self, announce: Callable[[], None]) -> bool:
        """Serve until a signal, calling `announce` once all workers are ready; return whether they could be started."""
        with self._signals(), _shared_counters() as self._environment:
            try:
                if not all(self._add() for _ in range(self.count)):
                    return self._ending
                announce()
                while not self._ending:
                    if self._renewing:
                        self._renew()
                    self._replace_ended()
                    self._wait(None, 1.0)
                return True
            finally:
                self._stop()

    def _start(self) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            numbers = (self.taken.fileno(), theirs.fileno())
            try:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "crewlearn", *self.arguments],
                    env={**os.environ, **self._environment, VARIABLE: ",".join(map(str, numbers))},
                    pass_fds=numbers,
                )
            except OSError:
                ours.close()
                raise
        return _Worker(process, ours)

    def _add(self) -> bool:
        """Start a worker and wait until it is ready; return whether it is."""
        try:
            worker = self._start()
        except OSError as error:  # such as too many open files; the others go on
            LOG.error("a worker could not be started: %s", error)
            return False
        give_up = time.monotonic() + START_SECONDS
        while not self._ending and time.monotonic() < give_up:
            said = self._wait(worker, 1.0)
            if said == READY:
                self._workers.append(worker)
                return True
            if said is not None:
                break  # it closed the link: it has ended, or is about to
        if not self._ending:
            LOG.error("a worker could not be started; its own lines say why")
        worker.stop()
        self._leaving.append(worker)
        return False

    def _renew(self) -> None:
        """Replace the workers in turn; if a new one cannot start, the old ones stay."""
        self._renewing = False
        for old in list(self._workers):
            if self._ending or not self._add():
                return
            self._workers.remove(old)
            old.stop()
            self._leaving.append(old)
        LOG.info("%d workers were replaced", self.count)

    def _replace_ended(self) -> None:
        """Start workers for those that ended by themselves, and forget those that have left."""
        for worker in [worker for worker in self._workers if worker.process.poll() is not None]:
            self._workers.remove(worker)
            self._forget(worker)
            LOG.warning("worker %d ended with status %s; another is started", worker.process.pid, worker.process.poll())
        for worker in list(self._leaving):
            if worker.process.poll() is None:
                if time.monotonic() - (worker.stopped_at or 0.0) > STOP_SECONDS:
                    worker.process.kill()
                continue
            self._leaving.remove(worker)
            self._forget(worker)
        if len(self._workers) < self.count and not self._ending and time.monotonic() >= self._retry_at:
            if self._add():
                self._pause = PAUSE_SECONDS
            else:
                self._retry_at = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def _stop(self) -> None:
        """Stop all workers, and wait for them."""
        for worker in self._workers:
            worker.stop()
        give_up = time.monotonic() + STOP_SECONDS
        for worker in [*self._workers, *self._leaving]:
            try:
                worker.process.wait(max(0.0, give_up - time.monotonic()))
            except subprocess.TimeoutExpired:
                LOG.warning("worker %d did not stop in time, and is killed", worker.process.pid)
                worker.process.kill()
                worker.process.wait()
            worker.link.close()

    def _forget(self, worker: _Worker) -> None:
        """Close the link of a worker that has ended, and drop its counts of requests under way."""
        worker.link.close()
        if SHARED in self._environment:
            from prometheus_client.multiprocess import mark_process_dead

            mark_process_dead(worker.process.pid, self._environment[SHARED])  # type: ignore[no-untyped-call]  # the library leaves it out

    def _wait(self, worker: _Worker | None, seconds: float) -> bytes | None:
        """Wait for a signal, or for what a worker says: empty if it closed its link, None if it said nothing."""
        with selectors.PollSelector() as selector:  # it opens no file: there may be none left
            selector.register(self._bell, selectors.EVENT_READ)
            if worker is not None:
                selector.register(worker.link, selectors.EVENT_READ)
            rung = {key.fileobj for key, _ in selector.select(seconds)}
        if self._bell in rung:
            self._bell.recv(4096)
        if worker is None or worker.link not in rung:
            return None
        try:
            return worker.link.recv(len(READY))
        except OSError:
            return b""

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Note signals, and let them end a wait."""

        def note(number: int, frame: FrameType | None) -> None:
            if number == signal.SIGHUP:
                self._renewing = True
            else:
                self._ending = True

        self._bell, ring = socket.socketpair()
        ring.setblocking(False)
        noted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, note) for number in noted}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda number, frame: None)
        fd = signal.set_wakeup_fd(ring.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(fd)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._bell.close()
            ring.close()


@contextmanager
def _shared_counters() -> Iterator[dict[str, str]]:
    """Yield the environment with a folder for the counters of all workers; empty without prometheus-client."""
    if importlib.util.find_spec("prometheus_client") is None:
        yield {}
        return
    folder = tempfile.mkdtemp(prefix="crewlearn-counters-")
    try:
        yield {SHARED: folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
