"""Jobs for tests: quick ones, ones that wait at a gate or cannot be stopped, and a second server's store."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.ledger.errors import StoreBusy
from crewlearn.advisor.ledger.store import Store
from crewlearn.web.jobs import queue
from crewlearn.web.jobs.queue import Job
from crewlearn.web.jobs.runner import Interrupted, Progress
from support.stores import ME, Database
from support.web.app import Clock, opened

QUICK: dict[str, Any] = {"poll_seconds": 0.02, "beat_seconds": 0.05, "lost_seconds": 0.6}
BUSY = StoreBusy("somewhere", "has been locked by another writer")


@pytest.fixture
def other(store: Store, database: Database) -> Iterator[Store]:
    """The same database, opened as by another server process."""
    with opened(database.url, Clock()) as made:
        yield made


def submit(store: Store, kind: str = "work", site: str = "north", **input: Any) -> Job:
    return queue.submit(store, site, kind, ME, input)


def doubled(store: Store, job: Job, progress: Progress) -> Any:
    progress(0.5, "half way")
    return {"twice": 2 * job.input["number"]}


class Gate:
    """A job that reports progress and waits until it is released."""

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


def failing(store: Store, monkeypatch: pytest.MonkeyPatch, when: Callable[[int], bool], error: Exception) -> list[int]:
    """Make the chosen write transactions of a store fail, by their number."""
    plain, changes = store.changing, [0]

    @contextmanager
    def changing() -> Iterator[sa.Connection]:
        changes[0] += 1
        if when(changes[0]):
            raise error
        with plain() as connection:
            yield connection

    monkeypatch.setattr(store, "changing", changing)
    return changes


def cancel(store: Store, id: int, actor: str = "ann") -> Job:
    return queue.cancel(store, id, actor, unstoppable)


def unstoppable(job: Job) -> str | None:
    return "cannot be stopped halfway" if job.kind == "writes" else None
