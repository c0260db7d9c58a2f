"""Running jobs: each server process claims free jobs, in lanes, and writes their heartbeats.

A job belongs to the runner that claimed it for as long as its heartbeat changes. Every write of a runner is conditional
on still owning the job, so a job is cancelled by taking it from its runner, whose heartbeat notices. Other runners time
a heartbeat by their own monotonic clocks, because wall clocks differ and may be changed.

The kinds of job are functions given to a runner, which claims only jobs of its own kinds. A job may be started again,
so such a function must be safe to run twice.
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

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.errors import Conflict, StoreUnavailable
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web import job_words
from crewlearn.web.errors import problems
from crewlearn.web.jobs.queue import DONE, FAILED, QUEUED, RUNNING, Job, Unstoppable, read_in
from crewlearn.web.store_waits import StoreWaits

POLL_SECONDS = 0.5
BEAT_SECONDS = 2.0
LOST_SECONDS = 10.0
"""Seconds without a heartbeat after which a job's server counts as gone."""
PAUSE_SECONDS = 30.0
"""Seconds before a job that failed because of the store is retried."""
MOST_ATTEMPTS = 3
PATIENCE_SECONDS = 5.0
"""Seconds that a stopping server waits for its job to notice."""
_GIVEN_UP = f"given up after {MOST_ATTEMPTS} attempts"
_BACK = {"status": QUEUED, "started": None, "progress": 0.0}

LOG = logging.getLogger("crewlearn.web")

Progress = Callable[[float, str], None]
"""Reports progress, from 0 to 1, and a message; raises `Interrupted` if the job must end.

The more often a job reports, the sooner it ends when it is cancelled or its server stops.
"""

Handler = Callable[[Store, Job, Progress], Any]
"""Runs a kind of job; returns its result as plain data."""


OnFailure = Callable[[sa.Connection, Job, Exception | None], None]
"""Called within the transaction in which a job fails, with its error; None if its server ended too often."""


def _untold(connection: sa.Connection, job: Job, error: Exception | None) -> None:
    """Tell nobody of a failure."""


class Interrupted(Exception):
    """The job must end: its server stops, it was cancelled, or another runner claimed it."""


@dataclass(frozen=True)
class _Sight:
    """A job as a runner last saw it, and the time on that runner's clock when it is free unless it changes."""

    state: tuple[str, str | None, float | None]
    """Status, owner and heartbeat."""
    free_at: float
    checked: bool = False
    """Whether the store was writable since then: the owner's heartbeat may have waited for that."""

    @property
    def running(self) -> bool:
        """Whether a runner owns it, or did."""
        return self.state[0] == RUNNING


class JobRunner:
    """A lane of a server process: claims and runs one job at a time, while a second thread writes its heartbeat."""

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, Handler],
        unstoppable: Unstoppable = lambda job: None,
        on_failure: OnFailure = _untold,
        *,
        poll_seconds: float = POLL_SECONDS,
        beat_seconds: float = BEAT_SECONDS,
        lost_seconds: float = LOST_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self.store, self.handlers, self.unstoppable, self.on_failure = store, handlers, unstoppable, on_failure
        self.owner = secrets.token_hex(16)
        self._poll, self._beat = poll_seconds, beat_seconds
        self._lost_after, self._pause = lost_seconds, pause_seconds
        self._seen: dict[int, _Sight] = {}
        self._stopping, self._waits = threading.Event(), StoreWaits("looking for jobs")
        self._thread: threading.Thread | None = None
        self._work: _Work | None = None

    def start(self) -> None:
        """Start looking for jobs."""
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop; a running job goes back to the queue, as if it had not been tried.

        A job that cannot be stopped may still finish; it stays claimed until its heartbeat is missed.
        """
        self.ask_to_stop()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)
            work = self._work
            if self._thread.is_alive() and work is not None and self.unstoppable(work.job) is None:
                work.give_back()

    def ask_to_stop(self) -> None:
        """Request a stop, without waiting."""
        self._stopping.set()
        work = self._work
        if work is not None:
            work.end.set()

    def run_one(self) -> bool:
        """Claim a job and run it; return whether there was one."""
        job = self._claim()
        if job is None:
            return False
        self._work = work = _Work(self.store, job, self.owner, self.on_failure)
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
                busy = self.run_one()
                self._waits.went_well()
            except Exception as error:  # such as an unavailable store: try again in the next round
                self._waits.failed(error)
                busy = False
            if not busy:
                self._stopping.wait(self._waits.pause(self._poll))

    def _claim(self) -> Job | None:
        """Claim the free job whose turn it is; of several runners that try, one gets it.

        On a store with one writer, a heartbeat may be late because it waits for a long write to end. So a job that
        seems lost is claimed only by a runner that could write, saw no change one beat later, and could write again
        without waiting.
        """
        table = schema.jobs
        id = self._look()
        if id is None:
            return None
        sight, asked = self._seen.pop(id), time.monotonic()
        status, owner, heartbeat = sight.state
        unchanged = sa.and_(table.c.status == status, table.c.owner == owner, table.c.heartbeat == heartbeat)
        with self.store.changing() as connection:
            begun = time.monotonic()
            if sight.running and not (sight.checked and begun - asked <= self._beat):
                self._seen[id] = replace(sight, checked=True, free_at=begun + self._beat)
                return None
            now, mine = now_on(connection), table.update().where(table.c.id == id, unchanged)
            given_up = {
                "status": FAILED,
                "finished": now,
                "owner": None,
                "file": None,
                "message": f"{_GIVEN_UP}, the last of which ended with its server; it was at: " + table.c.message,
            }
            worn_out = mine.where(table.c.status == RUNNING, table.c.attempts >= MOST_ATTEMPTS)
            if connection.execute(worn_out.values(given_up)).rowcount:
                self.on_failure(connection, read_in(connection, id), None)
                return None
            taken = mine.values(
                status=RUNNING,
                owner=self.owner,
                attempts=table.c.attempts + 1,
                started=sa.func.coalesce(table.c.started, now),
                heartbeat=now,
                progress=0.0,
                message=job_words.BEGUN,
            )
            return read_in(connection, id) if connection.execute(taken).rowcount == 1 else None

    def _look(self) -> int | None:
        """Return the job that is next of those that seem free: queued, or without a heartbeat for long enough."""
        table = schema.jobs
        with self.store.reading() as connection:
            rows = connection.execute(
                sa.select(table.c.id, table.c.site, table.c.status, table.c.owner, table.c.heartbeat)
                .where(table.c.status.in_((QUEUED, RUNNING)), table.c.kind.in_(list(self.handlers)))
                .order_by(table.c.id)
            ).all()
        now, before = time.monotonic(), self._seen
        self._seen = {}
        for id, _, status, owner, heartbeat in rows:
            state, known = (status, owner, heartbeat), before.get(id)
            if known is None or known.state != state:
                known = _Sight(state, now + self._rest(status, heartbeat))
            self._seen[id] = known
        return self._next({row.id: row.site for row in rows if self._seen[row.id].free_at <= now})

    def _next(self, free: Mapping[int, int]) -> int | None:
        """Return the oldest job of the site that has waited longest since one of its jobs began, of free ones by site.

        So sites take turns, however many jobs one of them has queued.
        """
        if len(set(free.values())) < 2:
            return min(free, default=None)
        table = schema.jobs
        with self.store.reading() as connection:
            began = connection.execute(
                sa.select(table.c.site, sa.func.max(table.c.started))
                .where(
                    table.c.site.in_(set(free.values())),
                    table.c.kind.in_(list(self.handlers)),
                    table.c.started <= now_on(connection),  # not by a clock that was ahead
                )
                .group_by(table.c.site)
            )
            last: dict[int, float] = {row[0]: row[1] for row in began}
        return min(free, key=lambda id: (last.get(free[id], 0.0), id))

    def _rest(self, status: str, heartbeat: float | None) -> float:
        """Return how long a job must stay unchanged to be free; a queued one with a heartbeat was put back."""
        if status == RUNNING:
            return self._lost_after - self._beat  # and one more beat before it is claimed
        return 0.0 if heartbeat is None else self._pause


class Lanes:
    """Parallel runners, each with its own kinds of job, so that a long job delays only its own lane."""

    def __init__(
        self,
        store: Store,
        lanes: Sequence[Mapping[str, Handler]],
        unstoppable: Unstoppable = lambda job: None,
        on_failure: OnFailure = _untold,
    ) -> None:
        self.runners = tuple(JobRunner(store, handlers, unstoppable, on_failure) for handlers in lanes)

    def start(self) -> None:
        """Start looking for jobs."""
        for runner in self.runners:
            runner.start()

    def stop(self) -> None:
        """Stop all runners at the same time; running jobs go back to the queue."""
        for runner in self.runners:
            runner.ask_to_stop()
        for runner in self.runners:
            try:
                runner.stop()
            except Exception:  # another runner will claim that job; still put the others back
                LOG.exception("a job could not be put back in the queue")


class _Work:
    """A running job. Its progress is written by the heartbeat thread, as the job may be within a transaction."""

    def __init__(self, store: Store, job: Job, owner: str, on_failure: OnFailure) -> None:
        self.store, self.job, self.owner, self.on_failure = store, job, owner, on_failure
        self._error: Exception | None = None
        self.end, self.over = threading.Event(), threading.Event()
        self._report: tuple[float, str] = (job.progress, job.message)
        self._before = job_words.RESTARTED.format(attempts=job.attempts) if job.attempts > 1 else ""

    def do(self, handler: Handler) -> None:
        """Run the job and write its outcome."""
        outcome: dict[str, Any] = {"status": FAILED}
        try:
            result = json.dumps(handler(self.store, self.job, self._progress), allow_nan=False)
            outcome = {"status": DONE, "progress": 1.0, "message": job_words.DONE, "result": result}
        except Interrupted:
            return self.give_back()
        except InvalidInput as error:
            self._error = error
            if isinstance(error, StoreUnavailable):  # not the job's fault: a retry may succeed
                LOG.warning("job %d: attempt %d failed: %s", self.job.id, self.job.attempts, error)
                outcome = self._after(error)
            else:
                problem = problems.of_error(error).model_dump(exclude_none=True)
                outcome |= {"message": problem["detail"], "result": json.dumps(problem)}
        except Exception as error:
            self._error = error
            LOG.exception("job %d (%s) failed", self.job.id, self.job.kind)
            outcome |= {"message": "failed because of a bug; the server's log has more"}
        self._settle(outcome)

    def give_back(self) -> None:
        """Put the job back in the queue, as if it had not been tried."""
        self._settle({**_BACK, "attempts": schema.jobs.c.attempts - 1, "heartbeat": None, "message": job_words.WAITS})

    def _after(self, error: InvalidInput) -> dict[str, Any]:
        """Return the outcome of an attempt that failed because of the store: retried after a pause, or failed."""
        why = "the store could not be used; the server's log says why"
        if isinstance(error, Conflict):
            why = "another writer was active at the same time"
        if self.job.attempts < MOST_ATTEMPTS:
            return {**_BACK, "message": f"put back, to be tried again after a pause: {why}"}
        return {"status": FAILED, "message": f"{_GIVEN_UP}; at the last one {why}. It may be submitted again"}

    def _settle(self, outcome: Mapping[str, Any]) -> None:
        """Write the job's outcome, retrying while the store is busy, so that finished work is not lost."""
        while True:
            try:
                with self.store.changing() as connection:
                    over = {} if outcome["status"] == QUEUED else {"finished": now_on(connection), "file": None}
                    if self._written(connection, owner=None, **over, **outcome) and outcome["status"] == FAILED:
                        self.on_failure(connection, self.job, self._error)
                return
            except InvalidInput as error:
                LOG.warning("job %d: the outcome cannot be written yet: %s", self.job.id, error)
                if self.end.wait(POLL_SECONDS):
                    return

    def keep_alive(self, beat_seconds: float) -> None:
        """Write the heartbeat, and the progress whenever it changed, until the job is over.

        In between, check that the job is still ours.
        """
        step, last, beaten = min(POLL_SECONDS, beat_seconds), self._report, time.monotonic()
        while not self.over.wait(step):
            report = self._report
            try:
                if report == last and time.monotonic() - beaten < beat_seconds:
                    if not self._is_ours():
                        self.end.set()
                    continue
                with self.store.changing() as connection:
                    progress, message = last = report
                    beaten = time.monotonic()
                    if not self._written(connection, progress=progress, message=message, heartbeat=now_on(connection)):
                        self.end.set()
            except Exception as error:  # such as a busy store; meanwhile no other runner can claim the job
                LOG.warning("job %d: the heartbeat could not be written: %s", self.job.id, error)

    def _progress(self, progress: float, message: str) -> None:
        if self.end.is_set():
            raise Interrupted
        self._report = (min(1.0, max(0.0, progress)), self._before + message)

    def _written(self, connection: sa.Connection, **values: Any) -> bool:
        """Update the job if it is still ours; return whether it was."""
        return connection.execute(schema.jobs.update().where(self._ours).values(**values)).rowcount == 1

    def _is_ours(self) -> bool:
        with self.store.reading() as connection:
            return connection.execute(sa.select(schema.jobs.c.id).where(self._ours)).first() is not None

    @property
    def _ours(self) -> sa.ColumnElement[bool]:
        table = schema.jobs
        return sa.and_(table.c.id == self.job.id, table.c.owner == self.owner, table.c.status == RUNNING)
