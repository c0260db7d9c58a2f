"""Snapshots of sites: read once, and cached until the site changes."""

from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from crewlearn.advisor.advice import commands
from crewlearn.advisor.evidence.site_record import read_past
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import WorkerRow
from crewlearn.advisor.ledger import site_cache
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.identities import read_people
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording import documents
from crewlearn.web import snapshots
from support.stores import ME, Database, config, day, proposed, site_with_proposals
from support.web.api import SETTINGS, Api, rows, with_crew


def test_a_reader_sees_what_another_process_wrote(store: Store, database: Database) -> None:
    site_with_proposals(store)
    first = snapshots.snapshot(store, "site")
    assert snapshots.snapshot(store, "site") is first, "nothing changed, so nothing is read again"
    with database.open() as other:
        output_imports.import_output(other, "site", day(1), b"1", ME)
        worker_imports.import_workers(other, "site", [WorkerRow("a", name="Ada")], b"2", ME)
    second = snapshots.snapshot(store, "site")
    assert (second.site.period, second.people.names[0]) == (2, "Ada")
    assert first.site.period == 1, "what was read before stays as it was"


def test_old_snapshots_make_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_cache, "CAPACITY", 2)
    for name in ("x", "y", "z"):
        commands.create_site(store, name, config(), ME)
    first = [snapshots.snapshot(store, name) for name in ("x", "y", "z")]
    assert snapshots.snapshot(store, "z") is first[2]
    assert snapshots.snapshot(store, "x") is not first[0]


def test_an_advice_that_has_not_changed_is_not_made_again(
    client: TestClient, mia: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_crew(mia)
    made, make = [], documents.advice

    def counted(*arguments: Any) -> dict[str, Any]:
        made.append(arguments)
        return make(*arguments)

    monkeypatch.setattr(documents, "advice", counted)
    address = "/api/v1/sites/north/advice"
    first, second = (client.get(address, headers=mia.headers).json() for _ in range(2))
    assert first == second
    assert len(made) == 1
    mia.post("/sites/north/output", rows(1))
    assert client.get(address, headers=mia.headers).json()["period"] == 2
    assert len(made) == 2


def test_a_thousand_workers_come_in_pieces(mia: Api) -> None:
    mia.post("/sites", {"site": "north", "settings": {**SETTINGS, "team": 400}}, 201)
    crew = [
        {"worker_id": f"{number:04}", "prior_n": 5, "prior_mean": number % 100, "active": number < 400}
        for number in range(1000)
    ]
    mia.post("/sites/north/workers", {"workers": crew})
    assert len(mia.all("/sites/north/workers", limit=300, sort="estimate")) == 1000


def test_an_advice_that_has_not_changed_asks_the_store_only_who_calls_and_whether_it_has(
    store: Store, client: TestClient, mia: Api
) -> None:
    with_crew(mia)
    client.get("/api/v1/sites/north/advice", headers=mia.headers)
    asked: list[str] = []
    sa.event.listen(store.engine, "before_cursor_execute", lambda *arguments: asked.append(arguments[2]))
    client.get("/api/v1/sites/north/advice", headers=mia.headers)
    assert len([text for text in asked if text.startswith("SELECT") and "jobs" not in text]) == 2, asked


def test_people_are_read_anew_where_the_record_is_not_the_one_they_were_read_with(
    store: Store, database: Database
) -> None:
    """As after a restore: the record lacks the events since, one of which renamed somebody."""
    site_with_proposals(store)
    with database.open() as other:
        worker_imports.import_workers(other, "site", [WorkerRow("a", name="Ada")], b"1", ME)
    assert snapshots.snapshot(store, "site").people.names[0] == "Ada"
    with store.changing() as connection:
        connection.execute(sa.update(schema.identities).values(name="Bea"))
        connection.execute(sa.update(schema.events).values(hash="0" * 64))
        connection.execute(sa.update(schema.sites).values(head="0" * 64))
    assert snapshots.snapshot(store, "site").people.names[0] == "Bea"


def test_a_site_is_told_as_it_stands_when_its_turn_has_come(store: Store) -> None:
    """A reader that waits for a writer sees what it wrote, and nothing older."""
    site_with_proposals(store)
    output_imports.import_output(store, "site", day(1), b"1", ME)
    before = snapshots.snapshot(store, "site")
    commands.approve(store, "site", proposed(store)[0], ME)
    with snapshots.making(store, before, "status_text") as now:
        assert (now.version, now.status["fees"], now.status["gain"]["expected"]) == (before.version + 1, 5.0, -5.0)
    assert before.status["gain"]["expected"] == 0.0, "a snapshot stays consistent, whatever is computed late"
    with snapshots.making(store, before, "status") as known:
        assert known is before


def test_what_a_site_is_told_with_is_read_anew_only_if_something_changed_it(
    store: Store, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_with_proposals(store)
    read: list[str] = []

    def counted(what: str, plain: Any, *arguments: Any) -> Any:
        read.append(what)
        return plain(*arguments)

    for what, plain in (("read_people", read_people), ("read_past", read_past)):
        monkeypatch.setattr(snapshots, what, partial(counted, what, plain))

    def after(change: Any) -> list[str]:
        read.clear()
        with database.open() as other:
            change(other)
        now = snapshots.snapshot(store, "site")
        with store.reading() as connection:
            assert now.people == read_people(connection, now.key)
            assert now.past == read_past(connection, now.key)
        return read[:]

    assert after(lambda other: None) == ["read_people", "read_past"]
    assert after(lambda other: output_imports.import_output(other, "site", day(1), b"1", ME)) == []
    assert after(lambda other: commands.approve(other, "site", proposed(other)[0], ME)) == ["read_past"]
    assert after(lambda other: worker_imports.import_workers(other, "site", [WorkerRow("a", name="Ada")], b"", ME)) == [
        "read_people",
        "read_past",
    ]
