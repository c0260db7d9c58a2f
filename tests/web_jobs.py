"""What tests of jobs share: work that is quick, waits at a gate or must not be stopped, and a second server's store."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from crewlearn.advisor import schema
from crewlearn.advisor.store import Store
from crewlearn.web import jobs
from crewlearn.web.jobs import Job
from crewlearn.web.runner import Interrupted, Progress
from stores import ME, Database
from web_app import Clock, opened

QUICK: dict[str, Any] = {"poll_seconds": 0.02, "beat_seconds": 0.05, "lost_seconds": 0.6}


@pytest.fixture
def other(store: Store, database: Database) -> Iterator[Store]:
    """The same database, as another server process has it."""
    with opened(database.url, Clock()) as made:
        yield made


def submit(store: Store, kind: str = "work", site: str = "north", **given: Any) -> Job:
    return jobs.submit(store, site, kind, ME, given)


def doubled(store: Store, job: Job, progress: Progress) -> Any:
    progress(0.5, "half way")
    return {"twice": 2 * job.input["number"]}


class Gate:
    """Work that says how far it is and waits there until it is let go on."""

    def __init__(self) -> None:
        self.open, self.begun, self.sent_away = threading.Event(), 0, 0

    def __call__(self, store: Store, job: Job, progress: Progress) -> Any:
        self.begun += 1
        try:
            progress(0.25, "waiting at the gate")
            while not self.open.wait(0.02):
                progress(0.25, "waiting at the gate")
        except Interrupted:
            self.sent_away += 1
            raise
        return self.begun


def let_time_pass(store: Store) -> None:
    """Let every job's last heartbeat be a minute ago."""
    with store.changing() as connection:
        connection.execute(schema.jobs.update().values(heartbeat=schema.jobs.c.heartbeat - 60))


def cancel(store: Store, id: int, actor: str = "ann") -> Job:
    return jobs.cancel(store, id, actor, unstoppable)


def unstoppable(job: Job) -> str | None:
    return "cannot be stopped halfway" if job.kind == "writes" else None
