"""Conformance of every store: the same tests on SQLite and on PostgreSQL."""

import math
import struct
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports, worker_imports
from crewlearn.advisor.files.columns import OutputRow, WorkerRow
from crewlearn.advisor.ledger.errors import Conflict
from crewlearn.advisor.ledger.events import canonical
from crewlearn.advisor.ledger.queries import rows_of_event
from crewlearn.advisor.ledger.site import FAILURES
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.verify import verify
from crewlearn.advisor.wording.past.undoing import undo
from support.stores import (
    CALENDAR,
    ME,
    Database,
    config,
    contents,
    day,
    payload_of,
    proposed,
    refused,
    site_with_proposals,
    sound,
    state_of,
    types_of,
    workers,
)

ODD = 'O\'Brien "x"; DROP TABLE sites; --\n\t🙂 %s {} :name \\ é\u0301'
ODD_ID = ODD.replace("\n\t", " ").removesuffix("é\u0301") + "é"
"""As odd as an id may be: one line, composed accents."""


# --- sites


def test_a_site_is_created_and_read_back(store: Store) -> None:
    commands.create_site(store, "Werk 1 (Nord)", config(fee=1 / 3), ME)
    assert store.names() == ["Werk 1 (Nord)"]
    assert state_of(store, "Werk 1 (Nord)").config == config(fee=1 / 3)
    sound(store, "Werk 1 (Nord)")


def test_sites_do_not_touch_each_other(store: Store) -> None:
    site_with_proposals(store, "one")
    before = contents(store)
    site_with_proposals(store, "two")
    output_imports.import_output(store, "two", day(1), b"", ME)
    commands.approve(store, "two", proposed(store, "two")[0], ME)
    for table, rows in contents(store).items():
        assert [row for row in rows if row[0] == "one"] == before[table]
    sound(store, "one")
    sound(store, "two")


def test_a_name_is_taken_once(store: Store) -> None:
    commands.create_site(store, "site", config(), ME)
    refused(store, lambda: commands.create_site(store, "site", config(team=3), ME), "exists already", Conflict)


def test_a_name_that_could_do_harm_is_refused(store: Store) -> None:
    for name in ("", " x", "../x", "a/b", "a\0b", "x" * 101, "a\nb", "a;b", "'"):
        refused(store, partial(commands.create_site, store, name, config(), ME), "must be letters")


def test_the_longest_name_is_kept(store: Store) -> None:
    commands.create_site(store, "Ä" * 100, config(), ME)
    sound(store, "Ä" * 100)


def test_unknown_names_are_refused(store: Store) -> None:
    site_with_proposals(store)
    refused(store, lambda: commands.undo(store, "nowhere", ME), r"does not exist; there are: site")
    refused(store, lambda: verify(store, "nowhere"), "does not exist")
    refused(store, lambda: commands.erase_worker(store, "site", "zz", ME), "not known at this site")
    refused(store, lambda: commands.change_worker(store, "site", "zz", ME, pinned=True), "not known at this site")
    refused(store, lambda: commands.approve(store, "site", 99, ME), "does not exist", Conflict)
    refused(store, lambda: commands.record_offer(store, "site", 1, "lost", ME), "unknown")
    refused(store, lambda: commands.change_site(store, "site", {"colour": 1}, ME), "unknown; Known: team, fee")
    refused(store, lambda: commands.change_worker(store, "site", "a", ME, since=3), "unknown")


def test_settings_change_from_now_on(store: Store) -> None:
    site_with_proposals(store)
    output_imports.import_output(store, "site", day(1), b"", ME)
    count = len(types_of(store))
    commands.change_site(store, "site", {"team": 3, "fee": 7.5, "policy": "dr-ucb"}, ME)
    assert types_of(store)[count:] == ["site-changed", "advised"]
    assert (state_of(store).config.team, state_of(store).roster.team, state_of(store).config.fee) == (3, 3, 7.5)
    commands.change_site(store, "site", {"team": 3}, ME)
    assert len(types_of(store)) == count + 2
    refused(store, lambda: commands.change_site(store, "site", {"team": 0}, ME), "team")
    moved = replace(CALENDAR, weekdays=(1, 2, 3)).to_json()
    refused(store, lambda: commands.change_site(store, "site", {"calendar": moved}, ME), "has recorded output")
    sound(store)


# --- workers


def test_the_same_workers_again_change_nothing(store: Store) -> None:
    site_with_proposals(store)
    before = contents(store)
    done = worker_imports.import_workers(store, "site", workers(), b"workers", ME)
    assert (done.recorded, done.known) == (0, 6)
    assert contents(store) == before


def test_newcomers_changes_and_new_names(store: Store) -> None:
    site_with_proposals(store)
    rows = [WorkerRow("a", name="Renamed", fee=9.0), WorkerRow("g", name=ODD), WorkerRow("b", status="left")]
    assert worker_imports.import_workers(store, "site", rows, b"", ME).recorded == 3
    people = {row[2]: row[3] for row in contents(store)["identities"]}
    assert (people["a"], people["g"], people["b"]) == ("Renamed", ODD, "Person b")
    assert state_of(store).workers[0].fee == 9.0
    sound(store)
    before, state = contents(store), state_of(store)
    worker_imports.import_workers(store, "site", [WorkerRow("a", name="Again")], b"", ME)
    after = contents(store)
    assert after.pop("identities") != before.pop("identities")
    (event,) = set(after.pop("events")) - set(before.pop("events"))
    assert payload_of(store, event[1])["renamed"] == [0]
    assert "Again" not in repr((after, event)), "the record has whose name changed, but not the name"
    assert state_of(store).advice == state.advice, "the policy knows no names"


BAD_WORKERS = [
    (WorkerRow("b\0"), "NUL"),
    (WorkerRow("x", name="\0"), "NUL"),
    (WorkerRow("\ud800"), "surrogate"),
    (WorkerRow(""), "from 1 to 100 characters"),
    (WorkerRow("x" * 101), "from 1 to 100 characters"),
    (WorkerRow("x", name="x" * 201), "from 0 to 200 characters"),
    (WorkerRow("a"), "twice"),
    (WorkerRow("x", fee=math.nan), "fee"),
    (WorkerRow("x", fee=-1.0), "fee"),
    (WorkerRow("x", prior_n=-3), "prior_n"),
    (WorkerRow("x", prior_n=3), "prior_mean"),
    (WorkerRow("x", prior_n=3, prior_mean=math.inf), "finite"),
    (WorkerRow("x", interview=math.inf), "interview"),
    (WorkerRow("x", status="gone"), "unknown"),
]


def test_a_bad_worker_spoils_the_whole_file(store: Store) -> None:
    commands.create_site(store, "site", config(), ME)
    for row, match in BAD_WORKERS:
        refused(store, partial(worker_imports.import_workers, store, "site", [*workers(), row], b"", ME), match)


def test_no_more_start_than_there_are_stations(store: Store) -> None:
    commands.create_site(store, "site", config(), ME)
    refused(store, lambda: worker_imports.import_workers(store, "site", workers("abc"), b"", ME), "2 stations")


def test_odd_text_is_harmless_everywhere(store: Store) -> None:
    commands.create_site(store, "site", config(), ODD)
    odd = [WorkerRow(ODD_ID, name=ODD), WorkerRow("x" * 100, name="🙂" * 200)]
    worker_imports.import_workers(store, "site", [*workers(), *odd], b"", ODD)
    commands.reject(store, "site", proposed(store)[0], ODD, ODD)
    output_imports.import_output(store, "site", [*day(1), replace(day(1)[0], worker_id=ODD_ID)], b"", ODD)
    tables = contents(store)
    assert {row[2:4] for row in tables["identities"]} >= {(ODD_ID, ODD), ("x" * 100, "🙂" * 200)}
    assert ODD in {row[8] for row in tables["proposals"]}
    assert {row[3] for row in tables["events"]} == {ODD}
    sound(store)
    refused(store, lambda: commands.reject(store, "site", proposed(store)[0], ME, "no\0"), "NUL")
    refused(store, lambda: commands.undo(store, "site", "x" * 201), "actor")
    refused(store, lambda: commands.undo(store, "site", "a\0"), "NUL")


def test_erasing_removes_the_person_and_keeps_the_record(store: Store, database: Database) -> None:
    site_with_proposals(store)
    worker_imports.import_workers(store, "site", [WorkerRow("secret-id", name="Erika Mustermann")], b"", ME)
    output_imports.import_output(store, "site", [*day(1), *_of("secret-id", 1)], b"", ME)
    before = contents(store)
    commands.erase_worker(store, "site", "secret-id", ME)
    after = contents(store)
    assert after["output_rows"] == before["output_rows"]
    assert [row[2:] for row in after["identities"] if row[1] == 6] == [(None, None, None)]
    assert "secret-id" not in repr(after)
    assert state_of(store).workers[6].status == "left"
    sound(store)
    if database.backend == "sqlite":
        for path in Path(database.url.removeprefix("sqlite:///")).parent.iterdir():
            assert b"Mustermann" not in path.read_bytes(), path
    worker_imports.import_workers(store, "site", [WorkerRow("secret-id")], b"", ME)  # a new person to the record
    assert len(state_of(store).workers) == 8
    sound(store)


def test_somebody_in_the_team_leaves_and_returns(store: Store) -> None:
    site_with_proposals(store)
    commands.change_worker(store, "site", "a", ME, status="left")
    assert state_of(store).roster.empty == 1
    count = len(types_of(store))
    commands.change_worker(store, "site", "a", ME, status="left")
    assert len(types_of(store)) == count
    commands.change_worker(store, "site", "a", ME, status="pool", pinned=True, fee=np.float64(3.0))
    sound(store)


# --- output


def _of(worker: str, period: int, **changes: Any) -> list[OutputRow]:
    return [replace(day(period, "a")[0], worker_id=worker, **changes)]


def test_the_same_file_again_changes_nothing(store: Store) -> None:
    site_with_proposals(store)
    rows = [*day(1), *day(2, attendance="partial"), *_of("b", 2, units=None, attendance="absent")]
    assert output_imports.import_output(store, "site", rows, b"file", ME).recorded == 5
    before = contents(store)
    done = output_imports.import_output(store, "site", rows, b"file", ME)
    assert (done.recorded, done.known, done.corrected) == (0, 5, 0)
    assert contents(store) == before
    done = output_imports.import_output(store, "site", [*rows, *day(3)], b"longer", ME)
    assert (done.recorded, done.known) == (2, 5)
    sound(store)


def test_other_values_are_a_conflict_and_nothing_is_half_done(store: Store) -> None:
    site_with_proposals(store)
    output_imports.import_output(store, "site", day(1), b"", ME)
    rows = [*day(2), *day(1, units=60.0)]
    match = "2 rows.*line 2, worker a: 52.0 is on record, the file has 62.0.*`correct`"
    refused(store, lambda: output_imports.import_output(store, "site", rows, b"", ME), match, Conflict)
    sound(store)


def test_a_correction_is_kept_beside_the_old_row(store: Store) -> None:
    site_with_proposals(store)
    output_imports.import_output(store, "site", [*day(1), *day(2)], b"", ME)
    done = output_imports.import_output(store, "site", day(1, "a", 60.0), b"", ME, correct=True)
    assert (done.recorded, done.corrected) == (1, 1)
    sound(store)
    output_imports.import_output(store, "site", day(1, "a", 70.0), b"", ME, correct=True)
    rows = [row for row in contents(store)["output_rows"] if row[1:3] == (0, 1)]
    assert [(row[4], row[7]) for row in sorted(rows, key=lambda row: row[3])] == [(52.0, 6), (62.0, 8), (72.0, None)]
    prior = 30 * 0.10
    assert state_of(store).estimates.sums[0] == pytest.approx(prior + 0.72 + 0.52)
    sound(store)


def test_corrected_statistics_are_those_of_never_having_erred(store: Store) -> None:
    site_with_proposals(store, "erred")
    site_with_proposals(store, "right")
    for period in range(1, 6):
        output_imports.import_output(store, "erred", day(period, units=period * 3.1), b"", ME)
        output_imports.import_output(store, "right", day(period, units=period * 3.1 + (period == 2)), b"", ME)
    output_imports.import_output(store, "erred", day(2, units=2 * 3.1 + 1), b"", ME, correct=True)
    erred, right = state_of(store, "erred"), state_of(store, "right")
    assert [array.tolist() for array in erred.estimates] == [array.tolist() for array in right.estimates]
    sound(store, "erred")


def test_late_rows_inform(store: Store) -> None:
    site_with_proposals(store)
    output_imports.import_output(store, "site", day(3), b"", ME)
    output_imports.import_output(store, "site", [*day(1), *_of("b", 2)], b"", ME)
    assert state_of(store).period == 4
    assert state_of(store).estimates.counts.tolist() == [32, 31, 32, 30, 30, 30]
    sound(store)


def test_the_same_row_twice_in_a_file_is_one(store: Store) -> None:
    site_with_proposals(store)
    done = output_imports.import_output(store, "site", [*day(1), *day(1)], b"", ME)
    assert (done.recorded, done.known) == (2, 2)
    sound(store)
    twice = [*day(2), *_of("a", 2, line=9, units=1.0)]
    refused(
        store,
        lambda: output_imports.import_output(store, "site", twice, b"", ME),
        r"\n9 +worker_id +'a' +the same values as line 2",
    )


BAD_OUTPUT: list[tuple[dict[str, Any], str]] = [
    ({"worker_id": "zz"}, r"\n2 +worker_id +'zz' +a worker known here"),
    ({"units": math.nan}, r"\n2 +units "),
    ({"units": math.inf}, r"\n2 +units "),
    ({"units": math.nan, "attendance": "absent"}, r"\n2 +units "),
    ({"hours": -1.0}, r"\n2 +hours "),
    ({"hours": math.nan}, r"\n2 +hours "),
    ({"attendance": "asleep" * 10}, r"\n2 +attendance "),
    ({"day": None, "period": 0}, r"\n2 +period "),
    ({"day": None, "period": None}, r"\n2 +period "),
    ({"day": None, "period": 10**9}, "period"),
    ({"day": CALENDAR.date_of(2).replace(month=1, day=6)}, r"\n2 +date .*Saturday"),
    ({"day": CALENDAR.date_of(10_000)}, "future"),
]


def test_a_bad_row_spoils_the_whole_file(store: Store) -> None:
    site_with_proposals(store)
    for changes, match in BAD_OUTPUT:
        rows = [*day(1), replace(day(2)[0], **changes)]
        refused(store, partial(output_imports.import_output, store, "site", rows, b"", ME, overtime=False), match)


NUMBERS = [0.1, 1 / 3, -0.0, 0.0, 5e-324, 1.7e308, 2.0**53 + 2, 1e15 + 0.3, math.nextafter(50.0, 51.0), -7.25, 123456.0]


def test_numbers_come_back_to_the_last_bit(store: Store) -> None:
    site_with_proposals(store)
    hours = [max(5e-324, abs(value) % 1e9) for value in NUMBERS]
    pairs = zip(NUMBERS, hours, strict=True)
    rows = [_of("a", period, units=made, hours=worked)[0] for period, (made, worked) in enumerate(pairs, start=1)]
    output_imports.import_output(store, "site", rows, b"", ME)
    with store.reading() as connection:
        key, _, count = store.site(connection, "site")
        back = rows_of_event(connection, key, count - 1)
    wanted = [(made + 0.0, worked) for made, worked in zip(NUMBERS, hours, strict=True)]  # negative zero becomes zero
    assert [struct.pack("dd", row.units, row.hours) for row in back] == [struct.pack("dd", *pair) for pair in wanted]
    sound(store)
    assert output_imports.import_output(store, "site", rows, b"", ME).known == len(rows)


def test_whole_numbers_and_numpy_numbers_are_numbers(store: Store) -> None:
    site_with_proposals(store)
    period: Any = np.int64(1)
    units: Any = np.int64(40)
    hours: Any = np.float32(7.5)
    row = OutputRow(2, None, period, "a", units, hours, "worked")
    output_imports.import_output(store, "site", [row], b"", ME)
    output_imports.import_output(store, "site", _of("a", 2, units=41, hours=8), b"", ME)
    rows = [row[4:6] for row in contents(store)["output_rows"]]
    assert rows == [(40.0, 7.5), (41.0, 8.0)]
    assert {type(value) for row in rows for value in row} == {float}
    sound(store)


def test_what_rules_over_arrays_give_back_can_be_put_on_record() -> None:
    assert canonical({"out": np.int64(3), "fee": np.float64(0.5), "due": np.bool_(True)}) == canonical(
        {"out": 3, "fee": 0.5, "due": True}
    )
    with pytest.raises(TypeError, match="cannot be recorded"):
        canonical({"what": object()})


# --- proposals


def test_each_answer_stands_on_record(store: Store) -> None:
    site_with_proposals(store)
    first, second = proposed(store)
    commands.approve(store, "site", first, ME)
    commands.reject(store, "site", second, ME, "knows the customers")
    commands.record_offer(store, "site", first, "offered", ME)
    commands.record_offer(store, "site", first, "accepted", ME)
    commands.record_offer(store, "site", first, "started", ME)
    kept = {row[1]: (row[5], row[8]) for row in contents(store)["proposals"]}
    assert (kept[first], kept[second]) == (("started", ""), ("rejected", "knows the customers"))
    refused(store, lambda: commands.approve(store, "site", first, ME), "is started", Conflict)
    refused(store, lambda: commands.reject(store, "site", second, ME), "is rejected", Conflict)
    sound(store)


def test_another_may_leave_than_was_proposed(store: Store) -> None:
    site_with_proposals(store)
    number = proposed(store)[0]
    refused(store, lambda: commands.approve(store, "site", number, ME, out="f"), "not in the team")
    commands.approve(store, "site", number, ME, out="c")
    commands.record_offer(store, "site", number, "started", ME, out="a")
    assert state_of(store).roster.active == (2, 3)
    sound(store)


@pytest.mark.parametrize("fee_due", ["initiation", "completion"])
@pytest.mark.parametrize("answer", ["approve", "reject", "offered", "accepted", "started", *FAILURES])
def test_undo_takes_back_each_answer(store: Store, answer: str, fee_due: str) -> None:
    site_with_proposals(store, fee_due=fee_due)
    number = proposed(store)[0]
    if answer not in ("approve", "reject"):
        commands.approve(store, "site", number, ME)
    before, count = state_of(store), len(types_of(store))
    if answer == "approve":
        commands.approve(store, "site", number, ME)
    elif answer == "reject":
        commands.reject(store, "site", number, ME, "a slip")
    else:
        commands.record_offer(store, "site", number, answer, ME)
    verb = {"approve": "approved", "reject": "rejected"}.get(answer, "recorded")
    assert undo(store, "site", ME).startswith(f"{ME} {verb} proposal {number}")
    after = state_of(store)
    assert types_of(store)[count] != types_of(store)[-1]
    assert "undone" in types_of(store)[count + 1 :]
    assert after.roster.stations == before.roster.stations
    assert after.roster.pending == before.roster.pending
    assert (after.fees, after.delays, after.workers) == (before.fees, before.delays, before.workers)
    assert after.proposals[number].status == before.proposals[number].status
    sound(store)
    refused(store, lambda: commands.undo(store, "site", ME), "no answer to take back")
    output_imports.import_output(store, "site", day(1), b"", ME)
    sound(store)


def test_nothing_is_undone_over_later_facts(store: Store) -> None:
    site_with_proposals(store)
    commands.approve(store, "site", proposed(store)[0], ME)
    output_imports.import_output(store, "site", day(1), b"", ME)
    refused(store, lambda: commands.undo(store, "site", ME), "other facts were recorded since")


def test_a_firm_that_never_answers_gathers_nothing_but_the_record(store: Store) -> None:
    site_with_proposals(store)
    for period in range(1, 9):
        output_imports.import_output(store, "site", day(period, units=30.0 + 40.0 * (period % 2)), b"", ME)
        commands.change_worker(store, "site", "d", ME, status="pool" if period % 2 == 0 else "blocked")
    kept, state = contents(store)["proposals"], state_of(store)
    assert {row[1] for row in kept if row[5] == "withdrawn" and row[2] < 7}, "the record has the withdrawn ones"
    assert all(proposal.period >= 8 for proposal in state.proposals.values() if proposal.status == "withdrawn")
    assert len(kept) > len(state.proposals)
    sound(store)
