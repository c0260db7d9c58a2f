"""The job queue, kept in the store so that every server process sees it: submitting, reading and cancelling jobs."""

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.store import LONGEST_ACTOR, Store
from crewlearn.advisor.ledger.text import checked_text
from crewlearn.problem.errors import Unknown
from crewlearn.web import job_words

Status = Literal["queued", "running", "done", "failed", "cancelled"]
STATUSES: tuple[Status, ...] = get_args(Status)
QUEUED, RUNNING, DONE, FAILED, CANCELLED = STATUSES

MOST_WAITING = 20
"""The most jobs of a kind that one person may have queued at a site."""

_LOCK_KEY = 7302
"""The advisory lock for submitting jobs on PostgreSQL, per site: an arbitrary number."""


@dataclass(frozen=True)
class Job:
    """A job; `result` is its result or, if it failed, a problem document, if there is one."""

    id: int
    site: str
    kind: str
    actor: str
    input: Mapping[str, Any]
    status: str
    progress: float
    message: str
    result: Any
    created: datetime
    started: datetime | None
    finished: datetime | None
    attempts: int

    @property
    def over(self) -> bool:
        """Whether the job is done, failed or cancelled."""
        return self.status in (DONE, FAILED, CANCELLED)


Unstoppable = Callable[[Job], str | None]
"""Returns why a running job cannot be stopped, as when it changes the record; None if it can be."""


def submit(
    store: Store,
    site: str,
    kind: str,
    actor: str,
    input: Mapping[str, Any],
    file: bytes | None = None,
    *,
    again: bool = False,
) -> Job:
    """Queue a job and return it; its file is stored until the job is over.

    If the same person has submitted the same job before, that one is returned, provided it is unfinished or (unless
    `again`) done. Beyond `MOST_WAITING` queued jobs of a kind, submitting is a conflict.
    """
    checked_text("actor", actor, LONGEST_ACTOR)
    table = schema.jobs
    digest = {} if file is None else {"digest": hashlib.sha256(file).hexdigest()}
    packed = json.dumps({**input, **digest}, allow_nan=False, sort_keys=True)
    with store.changing() as connection:
        key = store.key(connection, site)
        if connection.dialect.name == "postgresql":  # SQLite has one writer anyway
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK_KEY, key)))
        wanted = (QUEUED, RUNNING) if again else (QUEUED, RUNNING, DONE)
        theirs = sa.and_(table.c.site == key, table.c.kind == kind, table.c.actor == actor)
        same = connection.execute(
            sa.select(table.c.id)
            .where(theirs, table.c.input == packed, table.c.status.in_(wanted))
            .order_by(table.c.id.desc())
            .limit(1)
        ).scalar()
        if same is not None:
            return read_in(connection, same)
        waiting = sa.select(sa.func.count()).select_from(table).where(theirs, table.c.status == QUEUED)
        if connection.execute(waiting).scalar_one() >= MOST_WAITING:
            remedy = (
                f"{MOST_WAITING} such jobs of {actor} are queued here already; wait for one to begin, or cancel one"
            )
            raise Conflict("job", kind, remedy)
        made = connection.execute(
            table.insert().values(
                site=key,
                kind=kind,
                actor=actor,
                input=packed,
                file=None if file is None else zlib.compress(file),
                status=QUEUED,
                progress=0.0,
                message=job_words.WAITS,
                created=now_on(connection),
                attempts=0,
            )
        ).inserted_primary_key
        assert made is not None
        return read_in(connection, made[0])


def read(store: Store, id: int) -> Job:
    """Return a job."""
    with store.reading() as connection:
        return read_in(connection, id)


def file_of(store: Store, id: int) -> bytes:
    """Return the file of a job."""
    with store.reading() as connection:
        packed = connection.execute(sa.select(schema.jobs.c.file).where(schema.jobs.c.id == id)).scalar()
    if packed is None:
        raise Unknown("job", id, "has no file any more")
    return zlib.decompress(packed)


def jobs_of(
    store: Store, site: str, *, before: int | None = None, limit: int = 100, kind: str | None = None
) -> list[Job]:
    """Return a site's jobs, the newest first: all, or those with a number below `before`."""
    table = schema.jobs
    with store.reading() as connection:
        key = store.key(connection, site)
        query = _query().where(table.c.site == key).order_by(table.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(table.c.id < before)
        if kind is not None:
            query = query.where(table.c.kind == kind)
        return [_job(row) for row in connection.execute(query)]


def cancel(store: Store, id: int, actor: str, unstoppable: Unstoppable) -> Job:
    """Cancel a job and return it; cancelling again changes nothing, and a finished job is a conflict.

    A queued job can always be cancelled; a running one unless it is `unstoppable`.
    """
    checked_text("actor", actor, LONGEST_ACTOR)
    table = schema.jobs
    with store.changing() as connection:
        connection.execute(sa.select(table.c.id).where(table.c.id == id).with_for_update())
        job = read_in(connection, id)
        if job.status == CANCELLED:
            return job
        if job.over:
            raise Conflict("job", id, f"is over: it is {job.status}")
        if job.status == RUNNING and (why := unstoppable(job)) is not None:
            raise Conflict("job", id, why)
        outcome = {
            "status": CANCELLED,
            "message": job_words.CANCELLED.format(actor=actor),
            "finished": now_on(connection),
        }
        connection.execute(table.update().where(table.c.id == id).values(**outcome, owner=None, file=None))
        return read_in(connection, id)


def _query() -> sa.Select[Any]:
    columns = [column for column in schema.jobs.c if column is not schema.jobs.c.file]
    return sa.select(*columns, schema.sites.c.name).join(schema.sites)


def read_in(connection: sa.Connection, id: int) -> Job:
    """Return a job within a transaction."""
    row = connection.execute(_query().where(schema.jobs.c.id == id)).one_or_none()
    if row is None:
        raise Unknown("job", id, "does not exist")
    return _job(row)


def _job(row: Any) -> Job:
    return Job(
        id=row.id,
        site=row.name,
        kind=row.kind,
        actor=row.actor,
        input=json.loads(row.input),
        status=row.status,
        progress=row.progress,
        message=row.message,
        result=None if row.result is None else json.loads(row.result),
        created=datetime.fromtimestamp(row.created, UTC),
        started=None if row.started is None else datetime.fromtimestamp(row.started, UTC),
        finished=None if row.finished is None else datetime.fromtimestamp(row.finished, UTC),
        attempts=row.attempts,
    )
