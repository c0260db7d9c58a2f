"""Who is who: the record is bound to ids and names by commitments, which outlive the erasing of a person."""

import json
import re
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import exports, imports, worker_imports
from crewlearn.advisor.files.columns import OUTPUT, WorkerRow
from crewlearn.advisor.files.intake.import_file import ImportFile, ImportOptions
from crewlearn.advisor.ledger import identities
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.identities import Identity, commitment
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from support.stores import ME, site_with_proposals, sound

TABLE = schema.identities


@pytest.fixture
def fixed_salts() -> None:
    """Real salts, in place of those of other tests."""


@pytest.fixture
def site(store: Store) -> Store:
    """A site with two people of the same kind, one named later, and a newcomer from a file of output."""
    site_with_proposals(store)
    people = [WorkerRow("g", name="Gil"), WorkerRow("h", name="Han"), WorkerRow("a", name="Ann")]
    worker_imports.import_workers(store, "site", people, b"people", ME)
    export = b"worker_id,name,date,units\na,,2024-01-01,50\ni,Ida,2024-01-01,50\n"
    imports.take_in(store, "site", ImportFile(OUTPUT.kind, export, ImportOptions(yes=True)), ME)
    return store


def rows(store: Store) -> dict[str | None, Any]:
    with store.reading() as connection:
        return {row.external_id: row for row in connection.execute(sa.select(TABLE))}


def change(store: Store, worker: int, **values: Any) -> None:
    with store.changing() as connection:
        connection.execute(TABLE.update().where(TABLE.c.worker == worker).values(**values))


def committed(store: Store) -> dict[int, str]:
    """The commitments in the record as it is exported, the last one of each worker."""
    events = map(json.loads, "".join(exports.events_as_json_lines(store, "site")).splitlines())
    return {worker: digest for event in events for worker, digest in event["payload"].get("identities", ())}


def test_everybody_has_a_commitment_by_a_salt_of_their_own(site: Store) -> None:
    sound(site)
    people = rows(site)
    assert people.keys() == set("abcdefghi")
    expected = {
        row.worker: commitment(Identity(row.worker, row.external_id, row.name), row.salt) for row in people.values()
    }
    assert committed(site) == expected
    assert len({row.salt for row in people.values()}) == len(people)
    assert all(re.fullmatch("[0-9a-f]{32}", row.salt) for row in people.values())


@pytest.mark.parametrize(
    "columns", [("external_id",), ("name",), ("external_id", "name"), ("external_id", "name", "salt")]
)
@pytest.mark.parametrize("pair", ["gh", "ai"])
def test_two_people_exchanged_are_found(site: Store, columns: tuple[str, ...], pair: str) -> None:
    one, other = (rows(site)[name] for name in pair)
    change(site, other.worker, external_id="passing")
    change(site, one.worker, **{name: getattr(other, name) for name in columns})
    change(site, other.worker, **{"external_id": other.external_id, **{name: getattr(one, name) for name in columns}})
    faults = verify(site, "site").faults
    assert [fault.partition(" is not")[0] for fault in faults] == [
        f"the id or the name of worker {worker}" for worker in sorted((one.worker, other.worker))
    ]
    assert not any(name in fault for fault in faults for name in ("Gil", "Han", "Ann", "Ida"))


def test_a_changed_name_is_found_and_a_recorded_one_is_not(site: Store) -> None:
    worker_imports.import_workers(site, "site", [WorkerRow("g", name="Gilda")], b"again", ME)
    sound(site)
    change(site, rows(site)["g"].worker, name="Gil")
    assert not verify(site, "site").sound


def test_an_erased_person_leaves_a_commitment_and_no_salt(site: Store) -> None:
    gil = rows(site)["g"]
    before = committed(site)
    commands.erase_worker(site, "site", "g", ME)
    sound(site)
    assert committed(site) == before
    with site.reading() as connection:
        left = connection.execute(sa.select(TABLE).where(TABLE.c.worker == gil.worker)).one()
    assert (left.external_id, left.name, left.salt) == (None, None, None)
    everything = json.dumps([list(map(str, row)) for row in _all_rows(site)])
    assert gil.salt not in everything, "without the salt, a guess at the name cannot be tested"
    assert commitment(Identity(gil.worker, "g", "Gil"), "") != before[gil.worker]
    change(site, gil.worker, salt=gil.salt)
    assert verify(site, "site").faults == ("the identities do not belong to the workers on record",)


def _all_rows(store: Store) -> list[Any]:
    with store.reading() as connection:
        return [row for table in schema.metadata.sorted_tables for row in connection.execute(sa.select(table))]


def test_people_of_an_earlier_version_verify_and_are_bound_when_they_are_renamed(
    store: Store, monkeypatch: Any
) -> None:
    with monkeypatch.context() as earlier:  # records without commitments, as they were written
        earlier.setattr(identities, "enrol", _enrol_without)
        site_with_proposals(store)
    sound(store)
    assert committed(store) == {}
    commands.erase_worker(store, "site", "f", ME)
    worker_imports.import_workers(store, "site", [WorkerRow("b", name="Ben"), WorkerRow("g")], b"", ME)
    sound(store)
    assert committed(store).keys() == {rows(store)[name].worker for name in "bg"}
    change(store, rows(store)["b"].worker, name="Bob")
    assert not verify(store, "site").sound


def _enrol_without(connection: sa.Connection, key: int, people: list[Identity]) -> tuple[()]:
    connection.execute(TABLE.insert(), [{"site": key, **who._asdict()} for who in people])
    return ()
