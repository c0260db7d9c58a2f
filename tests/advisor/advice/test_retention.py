"""Retention: who left long enough ago is erased by the daily pass, and nobody else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.advice.retention import due_for_erasure, erase_departed, retention_pass
from crewlearn.advisor.files import worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from support.stores import config

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Clock:
    """A clock that tests set."""

    now = BEGIN

    def __call__(self) -> datetime:
        return self.now

    def after(self, days: int) -> None:
        self.now = BEGIN + timedelta(days=days)


@contextmanager
def hall(make_database: Callable[[str], Any], **changes: Any) -> Iterator[tuple[Store, Clock]]:
    """A site with five people, of whom `e` left by an import."""
    clock = Clock()
    with open_store(make_database("sqlite").url, clock) as store:
        commands.create_site(store, "hall", config(policy="dr-ucb", **changes), "ann")
        rows = [
            WorkerRow(name, name.upper(), name == "a", status="left" if name == "e" else "pool") for name in "abcde"
        ]
        worker_imports.import_workers(store, "hall", rows, b"", "ann")
        yield store, clock


def due(store: Store, days: int | None = None) -> dict[str | None, date]:
    with store.reading() as connection:
        key, site, _ = store.site(connection, "hall")
        ids = read_people(connection, key).ids
        listed = due_for_erasure(connection, key, site, store.clock().date(), days)
        return {ids[person.worker]: person.left for person in listed}


def test_who_left_is_erased_after_so_many_days_by_an_actor_of_its_own(make_database: Callable[[str], Any]) -> None:
    with hall(make_database, erase_after=30) as (store, clock):
        clock.after(10)
        commands.change_worker(store, "hall", "b", "ann", status="left")
        commands.change_worker(store, "hall", "c", "ann", status="left")
        clock.after(20)
        commands.change_worker(store, "hall", "c", "ann", status="pool")  # came back
        clock.after(29)
        assert retention_pass(store) == []
        clock.after(30)
        assert due(store) == {"e": BEGIN.date()}
        assert retention_pass(store) == ["hall"]
        assert retention_pass(store) == []  # once a day
        clock.after(39)
        assert due(store) == {}
        assert due(store, 29) == {"b": BEGIN.date() + timedelta(days=10)}  # a look at another number erases nobody
        clock.after(400)
        assert retention_pass(store) == ["hall"]
        with store.reading() as connection:
            key, site, _ = store.site(connection, "hall")
            people = read_people(connection, key)
            erasures = [event for event in read_events(connection, key) if event.fact.type == "worker-erased"]
        assert [people.ids[n] for n in range(5)] == ["a", None, "c", "d", None]
        assert [people.names[n] for n in range(5)] == ["A", None, "C", "D", None]
        assert [event.actor for event in erasures] == ["retention", "retention"]
        assert [worker.status for worker in site.workers] == ["pool", "left", "pool", "pool", "left"]
        assert verify(store, "hall").sound


def test_leaving_that_was_taken_back_does_not_count(make_database: Callable[[str], Any]) -> None:
    with hall(make_database, erase_after=5) as (store, clock):
        clock.after(1)
        commands.change_worker(store, "hall", "b", "ann", status="left")
        commands.undo(store, "hall", "ann")
        clock.after(3)
        commands.change_worker(store, "hall", "b", "ann", status="left")
        clock.after(7)
        assert due(store) == {"e": BEGIN.date()}
        clock.after(8)
        assert due(store) == {"e": BEGIN.date(), "b": BEGIN.date() + timedelta(days=3)}
        assert len(erase_departed(store, "hall")) == 2


def test_without_the_setting_nobody_is_erased(make_database: Callable[[str], Any]) -> None:
    with hall(make_database) as (store, clock):
        clock.after(9000)
        assert retention_pass(store) == []
        assert due(store) == {}
        assert due(store, 10) == {"e": BEGIN.date()}
        commands.change_site(store, "hall", {"erase_after": 8000}, "ann")
        clock.after(9001)
        assert retention_pass(store) == ["hall"]
        commands.change_site(store, "hall", {"erase_after": None}, "ann")


def test_the_setting_is_recorded_only_if_it_is_set() -> None:
    plain = config()
    assert "erase_after" not in plain.to_json()
    kept = replace(plain, erase_after=0)
    assert SiteConfig.from_json(kept.to_json()) == kept
    wrong: Any
    for wrong in (-1, 40_000, 1.5):
        with pytest.raises(ValueError, match="erase_after"):
            replace(plain, erase_after=wrong)
