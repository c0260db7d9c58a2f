"""Verifying the record: any tampering is detected, on SQLite and on PostgreSQL."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.anchors.checkpoints import Anchors, make_checkpoints
from crewlearn.advisor.ledger.anchors.keys import make_key, public_text, read_key
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.events import FIRST_HASH, RULE_VERSION, canonical, hash_of
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.problem.errors import InvalidInput
from support.stores import (
    BACKENDS,
    ME,
    Database,
    busy_site,
    config,
    contents,
    day,
    payload_of,
    proposed,
    refused,
    site_with_proposals,
    sound,
)


def test_the_chain_can_be_checked_by_hand(store: Store) -> None:
    busy_site(store)
    previous = FIRST_HASH
    for number, at, actor, rules, kind, payload, before, digest in [row[1:] for row in _events(store)]:
        assert before == previous
        assert at == "2026-03-04T05:06:07.089+00:00"
        assert hash_of(number, at, actor, rules, kind, json.loads(payload), before) == digest
        previous = digest
    sound(store)


def _events(store: Store) -> list[tuple[Any, ...]]:
    return sorted(contents(store)["events"], key=lambda row: row[1])


def test_a_reopened_store_is_the_same(store: Store, database: Database) -> None:
    busy_site(store)
    before = contents(store)
    with open_store(database.url) as again:
        assert contents(again) == before
        sound(again)
        output_imports.import_output(again, "site", day(4, "cd"), b"", ME)
    sound(store)


TAMPERING = {
    "an altered payload": (
        'UPDATE events SET payload = replace(payload, \'"reason":"no"\', \'"reason":"ok"\') WHERE type = '
        "'proposal-rejected'",
        "was altered",
    ),
    "an unreadable payload": ("UPDATE events SET payload = '{' WHERE number = 1", r"event 1 \(site-created\) was"),
    "a payload nested too deep": (
        f"UPDATE events SET payload = '{'[' * 100_000}{']' * 100_000}' WHERE number = 1",
        r"event 1 \(site-created\) was altered",
    ),
    "a payload with NaN": ("UPDATE events SET payload = '{\"a\"\\:NaN}' WHERE number = 2", "event 2 .* was altered"),
    "half a character": (
        'UPDATE events SET payload = \'{"a"\\:"\\ud800"}\' WHERE number = 2',
        "event 2 .* was altered",
    ),
    "a number of 5,000 digits": (
        f"UPDATE events SET payload = '{{\"a\"\\:{'9' * 5000}}}' WHERE number = 2",
        "event 2 .* was altered",
    ),
    "a state nested too deep": (f"UPDATE sites SET state = '{'[' * 100_000}'", "stored state cannot be read"),
    "an altered actor": ("UPDATE events SET actor = 'another' WHERE number = 2", "event 2 .* was altered"),
    "an altered time": ("UPDATE events SET at = '2020-01-01' WHERE number = 2", "event 2 .* was altered"),
    "other rules": ("UPDATE events SET rule_version = '0' WHERE number = 3", "event 3 .* was altered"),
    "a deleted first event": ("DELETE FROM events WHERE number = 1", "event 1 is missing"),
    "a deleted event": ("DELETE FROM events WHERE number = 5", "event 5 is missing"),
    "a deleted last event": ("DELETE FROM events WHERE number = (SELECT max(number) FROM events)", "added or lost"),
    "no events": ("DELETE FROM events", "added or lost"),
    "an added event": (
        "INSERT INTO events SELECT site, number + 1, at, actor, rule_version, type, payload, hash, hash FROM events "
        "WHERE number = (SELECT max(number) FROM events)",
        "was altered",
    ),
    "an event before the first": (
        "INSERT INTO events SELECT site, 0, at, actor, rule_version, type, payload, previous, hash FROM events "
        "WHERE number = 1",
        "is missing|was altered",
    ),
    "a shorter count": ("UPDATE sites SET events = events - 1", "added or lost"),
    "another head": ("UPDATE sites SET head = 'x'", "added or lost"),
    "another name": ("UPDATE sites SET name = 'other'", "the record is that of site site"),
    "an altered row": ("UPDATE output_rows SET units = 99 WHERE worker = 2 AND period = 2", "rows of event .* altered"),
    "altered attendance": ("UPDATE output_rows SET attendance = 'absent' WHERE period = 3", "rows of event .* altered"),
    "an added row": (
        "INSERT INTO output_rows (site, worker, period, event, attendance) SELECT id, 4, 2, 1, 'absent' FROM sites",
        "events brought",
    ),
    "an added row of an import": (
        "INSERT INTO output_rows (site, worker, period, event, units, attendance) "
        "SELECT site, 4, 3, event, 50, 'worked' FROM output_rows WHERE period = 3 AND worker = 2",
        "rows of event .* altered",
    ),
    "a deleted row": ("DELETE FROM output_rows WHERE worker = 2 AND period = 2", "rows of event .* altered"),
    "a hidden row": ("UPDATE output_rows SET replaced_in = 3 WHERE worker = 2 AND period = 2", "rows that stand"),
    "a revived row": ("UPDATE output_rows SET replaced_in = NULL", "rows that stand"),
    "altered state": (
        "UPDATE sites SET state = replace(state, '\"fees\": 5.0', '\"fees\": 4.0')",
        "differs .* in fees",
    ),
    "unreadable state": ("UPDATE sites SET state = '{'", "stored state cannot be read"),
    "empty state": ("UPDATE sites SET state = '{}'", "stored state cannot be read"),
    "an altered proposal": ("UPDATE proposals SET status = 'rejected' WHERE id = 1", "proposal 1 differs"),
    "an unreadable proposal": ("UPDATE proposals SET why = '{' WHERE id = 1", "proposal 1 differs"),
    "a deleted proposal": ("DELETE FROM proposals WHERE id = 2", "proposal 2 differs"),
    "an added proposal": (
        'INSERT INTO proposals SELECT site, 99, period, out, "into", status, decided_in, fee, reason, leaver, '
        "settled_in, paid_in, why FROM proposals WHERE id = 1",
        "proposal 99 differs",
    ),
    "another worker at a station": ("UPDATE stints SET worker = 3 WHERE station = 0", "who held which station"),
    "a stint cut short": ("UPDATE stints SET until = 2 WHERE station = 1", "who held which station"),
    "a lost identity": ("DELETE FROM identities WHERE worker = 0", "identities"),
    "an erased person revived": ("UPDATE identities SET name = 'F' WHERE worker = 5", "identities"),
}


@pytest.mark.parametrize("what", list(TAMPERING))
@pytest.mark.parametrize("backend", BACKENDS)
def test_tampering_is_found(prepared: Any, backend: str, what: str) -> None:
    statement, match = TAMPERING[what]
    with prepared(backend, busy_site).open() as store:
        before = contents(store)
        with store.engine.connect() as connection, connection.begin():
            connection.execute(sa.text(statement))
        assert contents(store) != before
        checked = verify(store, store.names()[0])
        assert not checked.sound
        assert any(re.search(match, fault) for fault in checked.faults), checked.faults


def test_a_clock_set_back_is_noted_and_no_damage(tmp_path: Path) -> None:
    times = iter([datetime(2026, 3, 4, 5, tzinfo=UTC) - timedelta(hours=n) for n in range(50)])
    with open_store(f"sqlite:///{tmp_path}/s.db", clock=lambda: next(times)) as store:
        busy_site(store)
        checked = verify(store, "site")
    assert checked.sound
    assert len(checked.notes) == checked.events - 1
    assert checked.notes[0].startswith("event 2 is dated 2026-03-04T0")


def test_what_nobody_tampered_with_is_sound(store: Store) -> None:
    busy_site(store)
    sound(store)


def test_swapped_events_are_found(store: Store) -> None:
    busy_site(store)
    with store.engine.connect() as connection, connection.begin():
        for old, new in ((4, 1004), (5, 4), (1004, 5)):
            connection.execute(schema.events.update().where(schema.events.c.number == old).values(number=new))
    faults = verify(store, "site").faults
    assert any(fault.startswith("event 4 ") for fault in faults)
    assert any(fault.startswith("event 5 ") for fault in faults)


def test_advice_that_does_not_follow_is_found_even_with_a_chain_made_to_fit(store: Store) -> None:
    site_with_proposals(store)
    forged = {**payload_of(store, 3), "kind": "wait", "pairs": [], "reasons": []}
    _replace_last(store, forged, RULE_VERSION)
    assert verify(store, "site").faults[0] == "the advice of event 3 does not follow from the facts"


def test_advice_under_older_rules_is_no_damage(store: Store) -> None:
    site_with_proposals(store)
    _replace_last(store, payload_of(store, 3), "0")
    checked = verify(store, "site")
    assert (checked.sound, checked.advice, checked.older) == (True, 1, 1)


def test_an_event_that_makes_no_sense_is_a_fault_not_a_crash(store: Store) -> None:
    site_with_proposals(store)
    _replace_last(store, {"period": "never"}, "0")
    assert "cannot follow" in verify(store, "site").faults[0]


def _replace_last(store: Store, payload: dict[str, Any], rules: str) -> None:
    """Forge the third event together with its hash."""
    table = schema.events
    with store.engine.connect() as connection, connection.begin():
        row = connection.execute(sa.select(table).where(table.c.number == 3)).one()
        digest = hash_of(3, row.at, row.actor, rules, row.type, payload, row.previous)
        values = {"payload": canonical(payload), "rule_version": rules, "hash": digest}
        connection.execute(table.update().where(table.c.number == 3).values(**values))
        connection.execute(schema.sites.update().values(head=digest))


def test_a_corrupt_state_is_a_clear_error(store: Store, database: Database) -> None:
    site_with_proposals(store)
    with store.engine.connect() as connection, connection.begin():
        connection.execute(schema.sites.update().values(state="{}"))
    with database.open() as other:
        refused(other, lambda: commands.undo(other, "site", ME), "crewlearn ledger verify")
    assert not verify(store, "site").sound
    commands.approve(store, "site", proposed(store)[0], ME)
    assert verify(store, "site").sound, "a store that has this version cached rewrites the state"


def test_a_policy_that_is_not_installed_is_no_fault_of_the_record(
    store: Store, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "from crewlearn.policies.dr_ucb.policy import DRUCB\nclass Mine(DRUCB): pass\n"
    (tmp_path / "firms_own.py").write_text(own)
    with monkeypatch.context() as installed:
        installed.syspath_prepend(tmp_path)
        commands.create_site(store, "site", config(policy="firms_own:Mine"), ME)
        assert verify(store, "site").sound
    monkeypatch.delitem(sys.modules, "firms_own")
    message = r"cannot be used here .*firms_own.*nothing on record is lost"
    with database.open() as other:
        checked = verify(other, "site")
        assert (checked.sound, checked.events) == (True, 1)
        assert re.search(f"policy firms_own:Mine: {message}", checked.unchecked)
        message = f"has policy firms_own:Mine, which {message}"
        with other.reading() as connection, pytest.raises(InvalidInput, match=message):
            other.site(connection, "site")


def test_a_policy_chosen_later_that_is_not_installed_is_no_fault_of_the_record(
    store: Store, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "from crewlearn.policies.dr_ucb.policy import DRUCB\nclass Mine(DRUCB): pass\n"
    (tmp_path / "chosen_later.py").write_text(own)
    with monkeypatch.context() as installed:
        installed.syspath_prepend(tmp_path)
        site_with_proposals(store)
        output_imports.import_output(store, "site", day(1), b"", ME)
        commands.change_site(store, "site", {"policy": "chosen_later:Mine"}, ME)
        output_imports.import_output(store, "site", day(2), b"", ME)
        whole = verify(store, "site")
        assert (whole.sound, whole.unchecked) == (True, "")
    monkeypatch.delitem(sys.modules, "chosen_later")
    with database.open() as other:
        checked = verify(other, "site")
    assert (checked.faults, checked.events, checked.rows) == ((), whole.events, whole.rows)
    assert checked.unchecked.startswith("policy chosen_later:Mine: cannot be used here")


@pytest.mark.parametrize(
    ("column", "forged"),
    [(name, b"\xff") for name in ("payload", "at", "actor", "rule_version", "type", "previous", "hash", "number")]
    + [("number", "abc"), ("number", 1.5)],
)
def test_values_of_other_types_are_faults(column: str, forged: Any, tmp_path: Path) -> None:
    """SQLite keeps bytes or text in any column, and so does whoever can write to the file."""
    key = tmp_path / "signing.key"
    make_key(key)
    with open_store(f"sqlite:///{tmp_path}/s.db") as store:
        site_with_proposals(store)
        signed = make_checkpoints(store, ["site"], read_key(key))
        with store.changing() as connection:
            last = signed[0].events
            connection.exec_driver_sql(f"UPDATE events SET {column} = ? WHERE number = ?", (forged, last))
        checked = verify(store, "site", against=Anchors(tuple(signed), public_text(read_key(key))))
        assert re.search("was altered|is missing", checked.faults[0])
        with pytest.raises(InvalidInput, match="is not signed"):
            make_checkpoints(store, ["site"], read_key(key))
