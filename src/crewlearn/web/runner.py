"""Doing jobs: a server process claims those that nobody does, in lanes, and keeps their heartbeat.

A job belongs to the runner that claimed it for as long as its heartbeat goes on; whatever a runner writes about a job,
it writes on the condition that the job is still its own. So a job is cancelled by taking it from its runner, whose
heartbeat finds that out. A heartbeat goes on if it changes while others look, each by its own stopwatch: clocks of two
machines differ, and any clock may be set. Kinds of job are not known here: each is a function given to a runner, which
takes jobs of its own kinds only. A job may be begun again, so such a function must do no harm when it is run twice.
"""

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor import schema
from crewlearn.advisor.conflict import Conflict
from crewlearn.advisor.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import problems
from crewlearn.web.jobs import DONE, FAILED, QUEUED, RUNNING, WAITS, Job, Unstoppable, now_on, read_in

POLL_SECONDS = 0.5
BEAT_SECONDS = 2.0
LOST_SECONDS = 10.0
"""After so long without a heartbeat a job's server is taken to be gone."""
PAUSE_SECONDS = 30.0
"""How long a job rests that was put back because of the store."""
MOST_ATTEMPTS = 3
PATIENCE_SECONDS = 5.0
"""How long a server that stops waits for its job to notice."""
_GIVEN_UP = f"given up after {MOST_ATTEMPTS} attempts"
_BACK = {"status": QUEUED, "started": None, "progress": 0.0}

LOG = logging.getLogger("crewlearn.web")

Progress = Callable[[float, str], None]
"""Say how far a job is, from 0 to 1, and what it is at; raises `Interrupted` if the job must end.

A job that says so several times a second ends as soon as that when it is cancelled or its server stops.
"""

Handler = Callable[[Store, Job, Progress], Any]
"""What does a kind of job: gives its result, as plain data."""


class Interrupted(Exception):
    """The job is to end here: its server stops, it was cancelled, or another has taken it up."""


@dataclass(frozen=True)
class _Sight:
    """A job as a runner saw it, and when, by that runner's stopwatch, it is free if it stays so."""

    state: tuple[str, str | None, float | None]
    """Its status, owner and heartbeat."""
    free_at: float
    checked: bool = False
    """Whether the store could be written to since: the owner's heartbeat may have waited for that."""

    @property
    def running(self) -> bool:
        """Whether somebody does it, or did."""
        return self.state[0] == RUNNING


class Runner:
    """A lane of a server process: claims a job of its kinds at a time and does it, while a second thread keeps its
    heartbeat.
    """

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, Handler],
        unstoppable: Unstoppable = lambda job: None,
        *,
        poll_seconds: float = POLL_SECONDS,
        beat_seconds: float = BEAT_SECONDS,
        lost_seconds: float = LOST_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self.store, self.handlers, self.unstoppable = store, handlers, unstoppable
        self.owner = secrets.token_hex(16)
        self._poll, self._beat = poll_seconds, beat_seconds
        self._lost_after, self._pause = lost_seconds, pause_seconds
        self._seen: dict[int, _Sight] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._work: _Work | None = None

    def start(self) -> None:
        """Begin to look for jobs."""
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; a job under way goes back to the queue, as if nothing had been tried.

        One that cannot be stopped may yet come to its end: it is left alone until its heartbeat is found to be gone.
        """
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)
            work = self._work
            if self._thread.is_alive() and work is not None and self.unstoppable(work.job) is None:
                work.give_back()

    def ask_to_stop(self) -> None:
        """Begin to end, without waiting for it."""
        self._stopping.set()
        work = self._work
        if work is not None:
            work.end.set()

    def run_one(self) -> bool:
        """Claim a job and do it; say whether there was one."""
        job = self._claim()
        if job is None:
            return False
        self._work = work = _Work(self.store, job, self.owner)
        if self._stopping.is_set():
            work.end.set()
        beats = threading.Thread(target=work.keep_alive, args=(self._beat,), name=f"job {job.id}", daemon=True)
        beats.start()
        try:
            work.do(self.handlers[job.kind])
        finally:
            work.over.set()
            beats.join()
            self._work = None
        return True

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                found = self.run_one()
            except Exception:  # the store is out of reach, or worse: the next round may do better
                LOG.exception("looking for jobs failed")
                found = False
            if not found:
                self._stopping.wait(self._poll)

    def _claim(self) -> Job | None:
        """Take the oldest job that nobody does; of several who try, one gets it.

        Where the store has one writer, a heartbeat may stand still because it waits, as we do then, for a long writing
        to end. So a job that seems lost is taken by who could write, found nothing changed a beat later, and could
        write again without waiting.
        """
        table = schema.jobs
        found = self._look()
        if found is None:
            return None
        sight, asked = self._seen.pop(found), time.monotonic()
        status, owner, heartbeat = sight.state
        unchanged = sa.and_(table.c.status == status, table.c.owner == owner, table.c.heartbeat == heartbeat)
        with self.store.changing() as connection:
            begun = time.monotonic()
            if sight.running and not (sight.checked and begun - asked <= self._beat):
                self._seen[found] = replace(sight, checked=True, free_at=begun + self._beat)
                return None
            now, mine = now_on(connection), table.update().where(table.c.id == found, unchanged)
            given_up = {
                "status": FAILED,
                "finished": now,
                "owner": None,
                "file": None,
                "message": f"{_GIVEN_UP}, the last of which ended with its server; it was at: " + table.c.message,
            }
            worn_out = mine.where(table.c.status == RUNNING, table.c.attempts >= MOST_ATTEMPTS)
            if connection.execute(worn_out.values(given_up)).rowcount:
                return None
            taken = mine.values(
                status=RUNNING,
                owner=self.owner,
                attempts=table.c.attempts + 1,
                started=sa.func.coalesce(table.c.started, now),
                heartbeat=now,
                progress=0.0,
                message="begun",
            )
            return read_in(connection, found) if connection.execute(taken).rowcount == 1 else None

    def _look(self) -> int | None:
        """Find the oldest job that seems free: one that waits, or stood still for long enough while we looked."""
        table = schema.jobs
        with self.store.reading() as connection:
            rows = connection.execute(
                sa.select(table.c.id, table.c.status, table.c.owner, table.c.heartbeat)
                .where(table.c.status.in_((QUEUED, RUNNING)), table.c.kind.in_(list(self.handlers)))
                .order_by(table.c.id)
            ).all()
        now, before = time.monotonic(), self._seen
        self._seen = {}
        for id, status, owner, heartbeat in rows:
            state, known = (status, owner, heartbeat), before.get(id)
            if known is None or known.state != state:
                known = _Sight(state, now + self._rest(status, heartbeat))
            self._seen[id] = known
        return next((id for id, sight in self._seen.items() if sight.free_at <= now), None)

    def _rest(self, status: str, heartbeat: float | None) -> float:
        """Say for how long a job must stand still; what waits with a heartbeat was tried and put back."""
        if status == RUNNING:
            return self._lost_after - self._beat  # and a beat more before it is taken
        return 0.0 if heartbeat is None else self._pause


class Lanes:
    """Runners side by side, each with kinds of its own: what takes minutes in one keeps nothing waiting in another."""

    def __init__(
        self, store: Store, lanes: Sequence[Mapping[str, Handler]], unstoppable: Unstoppable = lambda job: None
    ) -> None:
        self.runners = tuple(Runner(store, handlers, unstoppable) for handlers in lanes)

    def start(self) -> None:
        """Begin to look for jobs."""
        for runner in self.runners:
            runner.start()

    def stop(self) -> None:
        """End all of them, at the same time; jobs under way go back to the queue."""
        for runner in self.runners:
            runner.ask_to_stop()
        for runner in self.runners:
            try:
                runner.stop()
            except Exception:  # its job is found to be lost later; the others can still be given back
                LOG.exception("a job could not be put back in the queue")


class _Work:
    """One job under way. What it says of itself is written by the heartbeat: the job may be amid a transaction."""

    def __init__(self, store: Store, job: Job, owner: str) -> None:
        self.store, self.job, self.owner = store, job, owner
        self.end, self.over = threading.Event(), threading.Event()
        self._said: tuple[float, str] = (job.progress, job.message)
        self._before = f"taken up again (attempt {job.attempts}): " if job.attempts > 1 else ""

    def do(self, handler: Handler) -> None:
        """Do the job and write what came of it."""
        came: dict[str, Any] = {"status": FAILED}
        try:
            result = json.dumps(handler(self.store, self.job, self._progress), allow_nan=False)
            came = {"status": DONE, "progress": 1.0, "message": "done", "result": result}
        except Interrupted:
            return self.give_back()
        except InvalidInput as error:
            if error.field == "db":  # which is no fault of the job: another attempt may find the store in order
                LOG.warning("job %d: attempt %d failed: %s", self.job.id, self.job.attempts, error)
                came = self._after(error)
            else:
                found = problems.of_error(error).model_dump(exclude_none=True)
                came |= {"message": found["detail"], "result": json.dumps(found)}
        except Exception:
            LOG.exception("job %d (%s) failed", self.job.id, self.job.kind)
            came |= {"message": "failed by a fault of the program; the server's log has more"}
        self._settle(came)

    def give_back(self) -> None:
        """Put the job back in the queue, as if it had not been tried."""
        self._settle({**_BACK, "attempts": schema.jobs.c.attempts - 1, "heartbeat": None, "message": WAITS})

    def _after(self, error: InvalidInput) -> dict[str, Any]:
        """Say what becomes of the job after an attempt that failed by the store: it rests, or it was the last."""
        why = "the store could not be used; the server's log says why"
        if isinstance(error, Conflict):
            why = "somebody else was writing at the same time"
        if self.job.attempts < MOST_ATTEMPTS:
            return {**_BACK, "message": f"put back, to be tried again after a pause: {why}"}
        return {"status": FAILED, "message": f"{_GIVEN_UP}; at the last one {why}. It may be asked for again"}

    def _settle(self, came: Mapping[str, Any]) -> None:
        """Write what came of the job, again and again if the store is busy: the work is done, and not to be lost."""
        while True:
            try:
                with self.store.changing() as connection:
                    over = {} if came["status"] == QUEUED else {"finished": now_on(connection), "file": None}
                    self._written(connection, owner=None, **over, **came)
                return
            except InvalidInput as error:
                LOG.warning("job %d: what came of it cannot be written yet: %s", self.job.id, error)
                if self.end.wait(POLL_SECONDS):
                    return

    def keep_alive(self, beat_seconds: float) -> None:
        """Write the heartbeat, and how far the job is whenever that changed, until the job is over.

        In between, look whether the job is still ours.
        """
        step, last, beaten = min(POLL_SECONDS, beat_seconds), self._said, time.monotonic()
        while not self.over.wait(step):
            said = self._said
            try:
                if said == last and time.monotonic() - beaten < beat_seconds:
                    if not self._is_ours():
                        self.end.set()
                    continue
                with self.store.changing() as connection:
                    progress, message = last = said
                    beaten = time.monotonic()
                    if not self._written(connection, progress=progress, message=message, heartbeat=now_on(connection)):
                        self.end.set()
            except Exception as error:  # the store is busy or worse; if it stays so, others cannot take the job either
                LOG.warning("job %d: the heartbeat could not be written: %s", self.job.id, error)

    def _progress(self, progress: float, message: str) -> None:
        if self.end.is_set():
            raise Interrupted
        self._said = (min(1.0, max(0.0, progress)), self._before + message)

    def _written(self, connection: sa.Connection, **values: Any) -> bool:
        """Write about the job if it is still ours."""
        return connection.execute(schema.jobs.update().where(self._ours).values(**values)).rowcount == 1

    def _is_ours(self) -> bool:
        with self.store.reading() as connection:
            return connection.execute(sa.select(schema.jobs.c.id).where(self._ours)).first() is not None

    @property
    def _ours(self) -> sa.ColumnElement[bool]:
        table = schema.jobs
        return sa.and_(table.c.id == self.job.id, table.c.owner == self.owner, table.c.status == RUNNING)
