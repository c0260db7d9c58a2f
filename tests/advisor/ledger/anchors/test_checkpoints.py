"""Signed checkpoints: what the hashes of a record cannot tell is found by them, on SQLite and on PostgreSQL."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.anchors import checkpoints
from crewlearn.advisor.ledger.anchors.checkpoints import Anchors, SignedCheckpoint, lines_of, make_checkpoints
from crewlearn.advisor.ledger.anchors.keys import make_key, public_text, read_key
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.rebuild import rebuild
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import Verified, verify
from crewlearn.problem.errors import InvalidInput
from support.stores import ME, Database, busy_site, config, day, site_with_proposals, sound


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Any:
    file = tmp_path_factory.mktemp("keys") / "signing.key"
    make_key(file)
    return read_key(file)


@pytest.fixture
def at_day_two(store: Store, key: Any) -> tuple[SignedCheckpoint, ...]:
    """A site, of which a checkpoint was signed before its last day."""
    site_with_proposals(store)
    output_imports.import_output(store, "site", [*day(1), *day(2)], b"", ME)
    signed = make_checkpoints(store, ["site"], key)
    output_imports.import_output(store, "site", day(3), b"", ME)
    return tuple(signed)


def against(store: Store, signed: tuple[SignedCheckpoint, ...], key: Any) -> Verified:
    return verify(store, "site", against=Anchors(signed, public_text(key)))


def found(checked: Verified, match: str) -> None:
    assert not checked.sound
    assert all(re.search(match, fault) for fault in checked.faults), checked.faults


def test_earlier_and_present_checkpoints_agree_with_the_record(
    store: Store, at_day_two: tuple[SignedCheckpoint, ...], key: Any
) -> None:
    signed = (*at_day_two, *make_checkpoints(store, ["site"], key, at_day_two))
    checked = against(store, signed, key)
    assert (checked.sound, checked.checkpoints) == (True, 2)
    assert signed[0].events < signed[1].events == checked.events
    assert signed[0].first == signed[1].first
    assert signed[0].at == "2026-03-04T05:06:07.089+00:00"


def test_a_record_whose_end_was_cut_off_is_found(
    store: Store, at_day_two: tuple[SignedCheckpoint, ...], key: Any
) -> None:
    _cut_to(store, 3)
    sound(store)  # nothing in the database tells
    found(
        against(store, at_day_two, key),
        "^the record ends at event 3: events were removed since the checkpoint of 2026-",
    )


def _cut_to(store: Store, number: int) -> None:
    """Remove all later events with what follows from them, as one could who knows the whole program."""
    site = schema.sites.c.id
    with store.changing() as connection:
        later = schema.output_rows.c.event > number
        connection.execute(schema.output_rows.delete().where(later))
        connection.execute(schema.events.delete().where(schema.events.c.number > number))
        head = connection.execute(sa.select(schema.events.c.hash).where(schema.events.c.number == number)).scalar_one()
        connection.execute(schema.sites.update().where(site > 0).values(events=number, head=head))
        rebuild(connection)


def test_a_record_that_was_written_anew_is_found(
    store: Store, database: Database, at_day_two: tuple[SignedCheckpoint, ...], key: Any
) -> None:
    """The same site with one other number in it, by the program itself: all hashes fit."""
    _forget(store)
    with database.open() as again:
        site_with_proposals(again)
        output_imports.import_output(again, "site", [*day(1, units=60.0), *day(2)], b"", ME)
        output_imports.import_output(again, "site", day(3), b"", ME)
        sound(again)
        found(against(again, at_day_two, key), "has another hash there: the record was written anew since")


def test_a_record_written_anew_from_its_first_event_is_found(
    store: Store, database: Database, at_day_two: tuple[SignedCheckpoint, ...], key: Any
) -> None:
    _forget(store)
    with database.open() as again:
        commands.create_site(again, "site", config(fee=1.0), ME)
        sound(again)
        began = replace(at_day_two[0], events=1, head=at_day_two[0].first).signed(key)
        found(against(again, (began,), key), "has another first event: all was written anew, or it is of another store")


def _forget(store: Store) -> None:
    """Remove the site from the store."""
    with store.changing() as connection:
        for table in (
            schema.output_rows,
            schema.identities,
            schema.proposals,
            schema.stints,
            schema.learned_states,
            schema.events,
            schema.sites,
        ):
            connection.execute(table.delete())


def test_a_checkpoint_that_was_changed_is_found(
    store: Store, at_day_two: tuple[SignedCheckpoint, ...], key: Any
) -> None:
    (signed,) = at_day_two
    for changes in ({"events": 1, "head": signed.first}, {"at": "2027"}, {"signature": "AAAA"}, {"signature": "ä"}):
        found(against(store, (replace(signed, **changes),), key), "was altered or forged: its signature is wrong")


def test_a_checkpoint_of_another_key_is_found(
    store: Store, at_day_two: tuple[SignedCheckpoint, ...], key: Any, tmp_path: Path
) -> None:
    make_key(tmp_path / "other.key")
    other = read_key(tmp_path / "other.key")
    found(against(store, tuple(make_checkpoints(store, ["site"], other)), key), "was signed by another key")
    pretended = replace(at_day_two[0].signed(other), key=public_text(key))
    found(against(store, (pretended,), key), "its signature is wrong")


def test_a_damaged_record_is_not_signed(store: Store, at_day_two: tuple[SignedCheckpoint, ...], key: Any) -> None:
    _cut_to(store, 3)
    with pytest.raises(InvalidInput, match=r"is not signed .the record ends at event 3"):
        make_checkpoints(store, ["site"], key, at_day_two)
    with store.changing() as connection:
        connection.execute(schema.events.update().where(schema.events.c.number == 2).values(actor="another"))
    with pytest.raises(InvalidInput, match=r"is not signed .event 2 .* was altered"):
        make_checkpoints(store, ["site"], key)


def test_every_site_has_its_own(store: Store, key: Any, tmp_path: Path) -> None:
    busy_site(store)
    commands.create_site(store, "empty", config(), ME)
    file = tmp_path / "checkpoints.jsonl"
    file.write_text("")
    checkpoints.append(file, make_checkpoints(store, ["site", "empty"], key))
    file.write_bytes(file.read_bytes()[:-1])  # an editor that leaves out the last end of line
    checkpoints.append(file, make_checkpoints(store, ["empty"], key))
    assert [checkpoint.site for checkpoint in checkpoints.read_checkpoints("against", file)] == [
        "site",
        "empty",
        "empty",
    ]
    trusted = public_text(key)
    assert verify(store, "site", against=Anchors.read("site", "against", file, trusted)).checkpoints == 1
    assert verify(store, "empty", against=Anchors.read("empty", "against", file, trusted)).checkpoints == 2
    with pytest.raises(InvalidInput, match="has checkpoints of empty, site, and none of north"):
        Anchors.read("north", "against", file, trusted)


def test_a_line_that_is_no_checkpoint_is_named(key: Any, tmp_path: Path) -> None:
    signed = SignedCheckpoint("site", "0", 1, "0", str(datetime.now(UTC)), public_text(key)).signed(key)
    plain = signed.to_json()
    file = tmp_path / "checkpoints.jsonl"
    hostile = [
        {**plain, "events": "1"},
        {**plain, "site": None},
        {**plain, "more": 1},
        {**plain, "checkpoint": 2},
        [1],
        7,
    ]
    for line in ["{", "[" * 100_000, *map(json.dumps, [*hostile, {**plain, "events": True}])]:
        file.write_text(lines_of([signed]) + line)
        with pytest.raises(InvalidInput, match="line 2': is not a checkpoint"):
            checkpoints.read_checkpoints("against", file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="cannot be read"):
        checkpoints.read_checkpoints("against", file)


def test_a_forged_time_does_not_steer_the_terminal(key: Any) -> None:
    signed = SignedCheckpoint("site", "0", 1, "0", "\x1b[2J2026", public_text(key)).signed(key)
    assert signed.signature_fault(public_text(key)) is None
    told = [replace(signed, signature="").signature_fault(public_text(key)), signed.signature_fault("\x1b[2Jother")]
    assert all(fault is not None and "2026" in fault for fault in told)
    assert not any("\x1b[2J2026" in str(fault) for fault in told)
